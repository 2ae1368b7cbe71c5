"""Prepare text for the full-text index, and turn a query into a match expression.

Width, case and form are folded (NFKC, `ß` as `ss`). Chinese, Japanese, Korean and scripts without blanks (Thai, Lao, Burmese,
Khmer, without their marks) become overlapping pairs of characters. Each run ends with its last character alone, so that one
character is found as a prefix, and a word as a phrase of pairs. An emoji becomes a word with its number. Vowel points of Arabic
and Hebrew, accents of Greek, the dots of `ё`, soft hyphens and joiners are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from oracle.domain.compiling import compiled

_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
RUN = f"([{_CJK}]+)"  # milliseconds to compile: text and queries in ASCII don't ask for it
WORD = r"[^\W_]+"
_EMOJI = "[\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
_MARKED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
_UNSEEN = (  # soft hyphens, joiners and directions; vowel points of Hebrew and Arabic
    "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
)
_ACCENTED = "\u0386-\u03ce\u0401\u0451\u1f00-\u1fff"  # Greek, and ё
_ASCII = bytes(range(128))
_COMBINING = "[\u0300-\u036f]"
_NO_CYRILLIC = "[^\u0400-\u04ff]+"
_PLAIN = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_SIGNS = "[\u00a0\u2010-\u2015\u2018-\u201f\u2022\u2026\u2190-\u21ff\u2500-\u257f\u3000-\u3002\uff01\uff0c\uff1a\uff1b\uff1f]+"
"""Signs that are in much text and in no word: a text of ASCII but for them is read as ASCII."""
_HUMP = "[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*"
_STEM = 4
"""Characters that a rough stem keeps at least."""

_WIDE = 0.2
"""Share of Chinese, Japanese or Korean characters from which a text counts as written in one of these."""
STOP_WORDS = frozenset(
    """a an and are as at be but by did do does for from had has have how i in is it its of on or that the their them
    then there these they this to was we were what when where which who whom whose why will with you your""".split()
)


def fold(text: str) -> str:
    """Return `text` as it goes into the index; ASCII text is unchanged, as the tokenizer folds its case."""
    if text.isascii():
        return text
    text = compose(text)
    return compiled(RUN).sub(_pairs, text) if compiled(RUN).search(_beyond_ascii(text)) else text


def _beyond_ascii(text: str) -> str:
    """Return the characters of a text that are not ASCII: in most texts they are so few that looking for a sort is cheap."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def compose(text: str) -> str:
    """Return text in the form in which words are compared, its case kept; an emoji becomes a word of its own."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).replace("ß", "ss").replace("ẞ", "ss")
    rare = _beyond_ascii(text)
    if compiled(_EMOJI).search(rare):
        text = compiled(_EMOJI).sub(lambda match: f" emoji{ord(match[0])} ", text)
    if compiled(f"[{_UNSEEN}{_ACCENTED}]").search(rare):
        text = compiled(f"[{_ACCENTED}]+").sub(_unaccented, compiled(f"[{_UNSEEN}]+").sub("", text))
    if compiled(_MARKED).search(rare):
        text = "".join(char for char in text if not (char >= "\u0e00" and unicodedata.category(char) in ("Mn", "Mc")))
    return text


def classes() -> dict[str, object]:
    """Return how words are folded, for a program in another language: classes of characters, and the stop words."""
    return {
        "run": RUN,
        "emoji": _EMOJI[1:-1],
        "marked": _MARKED[1:-1],
        "unseen": _UNSEEN,
        "accented": _ACCENTED,
        "stop": sorted(STOP_WORDS),
    }


def _unaccented(match: re.Match[str]) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", match[0]) if not "\u0300" <= char <= "\u036f")


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(pairs(run))} {run[-1]} "


def match_expression(query: str) -> str:
    """Return the FTS5 expression for a person's words, or "" when nothing is left to look for.

    Words are joined with OR; a word with inner punctuation (`ARENA-228`, `src/auth.rs`, `v2.1`, `don't`) is a phrase.
    A run of CJK characters is an OR of its pairs. Operators of FTS5 are plain text here.
    English stop words are dropped unless nothing else is there.
    """
    terms: dict[str, None] = {}
    stops: dict[str, None] = {}
    for chunk in compose(query).replace("\0", " ").split():
        for part in split_scripts(words_of(chunk)):
            bucket = stops if len(part) == 1 and part[0].lower() in STOP_WORDS else terms
            bucket.update(dict.fromkeys(_expressions(part)))
    return " OR ".join(terms or stops)


def terms_of(query: str) -> list[str]:
    """Return the words of a query in folded, lower-case form: Latin words, and pairs of CJK characters."""
    words = words_of(compose(query).lower())
    terms = [part for word in words for part in (pairs(word) or [word] if is_run(word) else [word])]
    return [term for term in dict.fromkeys(terms) if term not in STOP_WORDS] or terms


def rough_stems(terms: Iterable[str]) -> frozenset[str]:
    """Return terms without what may be an English ending. It is cheap, and enough to compare texts by their words."""
    return frozenset(term[: max(_STEM, len(term) - 3)] if term.isascii() else term for term in terms)


def words_of(text: str) -> list[str]:
    """Return the runs of CJK characters and the words of letters and digits between them."""
    find = compiled(WORD).findall
    if text.isascii():
        return find(text)
    pieces = compiled(RUN).split(text)  # between, run, between, …
    return [word for at, piece in enumerate(pieces) for word in ([piece] if at % 2 else find(piece))]


def is_run(word: str) -> bool:
    """Return whether a word is a run of characters that are written without blanks."""
    return not word.isascii() and compiled(RUN).match(word) is not None


def split_scripts(words: list[str]) -> list[list[str]]:
    """Group neighbouring words of one chunk: Latin words together, each CJK run alone."""
    groups: list[list[str]] = []
    for word in words:
        joins = groups and not is_run(word) and not is_run(groups[-1][0])
        if joins:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


def _expressions(part: list[str]) -> list[str]:
    if not is_run(part[0]):
        return [quote(" ".join(part))]
    run = part[0]
    return [quote(pair) for pair in pairs(run)] or [f"{quote(run)}*"]


def quote(text: str) -> str:
    """Return text as a string of FTS5's language."""
    return '"' + text.replace('"', " ").replace("\0", " ") + '"'


# The words of a text, as the ranking of passages compares them: what the index makes of them, but for stems ------------


def lower(text: str) -> str:
    """Return text in lower case, without the marks of Latin and Greek letters; `й` and `ї` are letters of their own."""
    if text.isascii():
        return text.lower()
    parts = compiled(_NO_CYRILLIC).sub(_decomposed, compose(text).lower())
    return unicodedata.normalize("NFC", compiled(_COMBINING).sub("", parts))


def _decomposed(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", found[0])


def tokens(text: str) -> list[str]:
    """Return the words of a text in order; of a run without blanks its pairs of characters, then its characters."""
    if not text.isascii():
        text = compiled(_SIGNS).sub(" ", text)
    if text.isascii():
        return text.translate(_PLAIN).split()
    text = lower(text)
    found: list[str] = []
    for at, piece in enumerate(compiled(RUN).split(text)):
        found += [*pairs(piece), *piece] if at % 2 else compiled(WORD).findall(piece)
    return found


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters of a run; none of a single character."""
    return [run[at : at + 2] for at in range(len(run) - 1)]


def humps(word: str) -> tuple[str, ...]:
    """Return the words of an identifier in small letters: `http` and `server` of `HTTPServer`; () of any other word."""
    if not word.isascii() or word.islower() or word.isupper():
        return ()
    found = tuple(part.lower() for part in compiled(_HUMP).findall(word))
    return found if len(found) > 1 and min(map(len, found)) > 1 and "".join(found) == word.lower() else ()


def count_row(words: Sequence[str], row: tuple[str, ...]) -> int:
    """Return how often the words of `row` follow one another."""
    return sum(tuple(words[at : at + len(row)]) == row for at in range(len(words)))


def has_run(name: str) -> bool:
    """Return whether a name is written without blanks, as in Chinese; digits and Latin letters may be in it."""
    return not name.isascii() and len(name) > 1 and compiled(RUN).search(name) is not None


def is_wide_text(text: str) -> bool:
    """Return whether a text is written in Chinese, Japanese or Korean."""
    letters = sum(char.isalpha() for char in text)
    return sum("\u2e80" <= char <= "\U0003ffff" for char in text) > _WIDE * letters
