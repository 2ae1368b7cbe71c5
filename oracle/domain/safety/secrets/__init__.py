"""Find credentials in a text before it is written down or sent.

`places` finds tokens in the formats that vendors publish, and values that their place gives away. `assignments` finds
random-looking values behind a telling name, and `declared` those with such a name elsewhere. The patterns are in the
TOML files beside them. Each search starts from a literal, and every repetition is bounded, so the time grows no faster
than the text.
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from oracle.domain.compiling import INVISIBLE
from oracle.domain.safety.secrets.assignments import find_assignments, names_secret
from oracle.domain.safety.secrets.declared import DECLARING, find_declared
from oracle.domain.safety.secrets.places import (
    find_cookies,
    find_places,
    find_private_keys,
    find_shapes,
    long_words,
    markers,
)
from oracle.domain.safety.secrets.rules import MASK, Secret, compiled

_ANY_VENDOR = "api-key"

__all__ = ["MASK", "Secret", "find_secrets", "names_secret", "readings", "redact"]


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the credentials of a text in order, none overlapping another.

    A value that is found once is reported wherever it occurs. No value crosses a marker that `redact` left. The search is
    repeated on the rest, so a redacted text holds no further credential.
    """
    work = _masked_markers(text)
    found: list[Secret] = []
    while round_ := _merged(_scan_as_read(work)):
        found += round_
        work = _replaced(work, round_, mark=lambda secret: MASK * (secret.end - secret.start))
    return tuple(sorted(found, key=lambda secret: secret.start))


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """Replace each credential by `[REDACTED:<kind>]`; return the text and what `find_secrets` found in the original."""
    secrets = find_secrets(text)
    return _replaced(text, secrets, mark=lambda secret: f"[REDACTED:{secret.kind}]"), secrets


def _masked_markers(text: str) -> str:
    if "[REDACTED:" not in text:
        return text
    return compiled("|".join(map(re.escape, markers()))).sub(lambda found: MASK * len(found[0]), text)


def _scan_as_read(text: str) -> list[Secret]:
    """Scan a text as a reader sees it: full-width letters as plain ones, and without invisible characters.

    An invisible character may also separate two words, so the text is searched with blanks in place of them too.
    """
    folded = fold(text)
    read = ReadText(folded)
    parted = part(folded)
    found = _repeated(parted, _scan(parted))
    if read.plain:
        found = [*read.locate(_repeated(read.plain, _scan(read.plain))), *found]
    return found


def _scan(text: str) -> list[Secret]:
    """Return all finds, also those that overlap, the most telling kind first."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when lowered, and offsets would shift
        lower = text.translate({upper: upper + 32 for upper in range(65, 91)})
    words = long_words(text)
    return [
        *find_private_keys(text),
        *find_shapes(text, words),
        *find_places(text, lower),
        *find_cookies(text, lower),
        *find_assignments(text, lower),
        *(find_declared(text, lower) if any(word in lower for word in DECLARING) else ()),
        *_find_encoded(text, words),
    ]


def _find_encoded(text: str, words: str) -> Iterator[Secret]:
    """Find Base64 or hex of a text with a credential, such as a file of environment variables: all of it is one."""
    for start, end, plain in decoded(text, words):
        for secret in _scan(plain)[:1]:
            yield Secret(secret.kind, start, end)


def _repeated(text: str, found: list[Secret]) -> list[Secret]:
    """Add the other places of each found value, in one pass however many values there are."""
    if not found:
        return found
    heads: dict[str, dict[int, dict[str, str]]] = {}
    for secret in reversed(found):
        value = text[secret.start : secret.end]
        heads.setdefault(value[:4], {}).setdefault(len(value), {})[value] = secret.kind
    everywhere = list(found)
    for at in range(len(text) - 3):
        sizes = heads.get(text[at : at + 4])
        if sizes:
            for size, kinds in sizes.items():
                kind = kinds.get(text[at : at + size])
                if kind:
                    everywhere.append(Secret(kind, at, at + size))
    return everywhere


def _merged(found: list[Secret]) -> list[Secret]:
    """Join finds that overlap into one, of the kind that was listed first.

    The token of an unknown vendor does not count if a known one ends there: letters may be glued to its front.
    """
    known = {secret.end for secret in found if secret.kind != _ANY_VENDOR}
    counted = [secret for secret in found if secret.kind != _ANY_VENDOR or secret.end not in known]
    ranked = sorted(enumerate(counted), key=lambda pair: pair[1].start)
    merged: list[tuple[int, Secret]] = []
    for rank, secret in ranked:
        if merged and secret.start < merged[-1][1].end:
            best, last = merged[-1]
            kind = last.kind if best <= rank else secret.kind
            merged[-1] = (min(best, rank), Secret(kind, last.start, max(last.end, secret.end)))
        else:
            merged.append((rank, secret))
    return [secret for _, secret in merged]


def _replaced(text: str, secrets: tuple[Secret, ...] | list[Secret], *, mark: Callable[[Secret], str]) -> str:
    parts: list[str] = []
    done = 0
    for secret in secrets:
        parts += (text[done : secret.start], mark(secret))
        done = secret.end
    return "".join((*parts, text[done:]))


# What a reader or a program makes of a text: without escapes and invisible characters, or decoded

_UNUSUAL = "[^\x00-\x7f\u3000-\u9fff\uac00-\ud7a3\uff01-\uff0a\uff0c\uff1a-\uff1c]"  # Chinese, Korean and their marks
_JOIN = (  # of most languages, and the comma between long items of a list
    r"(?:\+{1,2}|\.{1,2}|&|\|\||,(?<=[\w-]{8}[\"'`],)(?=[ \t]?[\"'`][\w/+=.-]{8,200}[\"'`][)\],]))"
)
_JOINED = rf"[ \t]{{0,9}}{_JOIN}?[ \t]{{0,9}}"
_PARTED = (  # a literal in two lines, or in two parts on one line
    rf"(?P<quote>[\"'])(?:[ \t]{{0,20}}(?:{_JOIN}|\\)?[ \t]{{0,20}}\r?\n[ \t]{{0,80}}+{_JOIN}?[ \t]{{0,9}}"
    rf"|(?<=\w[\"']){_JOINED}(?=[\"']\w))(?P=quote)|`[ \t]{{0,9}}{_JOIN}[ \t]{{0,9}}`"
)
_BOLD = r"\*\*(?<=\w\*\*)(?=\w)"  # in the middle of a word
_TAG = r"</?(?:b|i|u|s|em|strong|span|wbr|mark|code|kbd|font|sub|sup)>(?=\w)"
_SOFT = r"=(?<=[\w+/.:-]{10}=)(?<![A-Z_]{10}=)\r?\n(?=[\w+/.-]{2,}+(?!=\w))"  # the end of a line in a mail
_UNSEEN = r"&(?:shy|zwn?j|ZeroWidthSpace|#173|#820[345]|#x[aA][dD]|#x200[b-dB-D]);"
_ESCAPED = (  # by Markdown, at the end of a line, or more than once
    r"(?=[_*~#=-])|\r?\n(?:[ \t]{0,80}(?:>[ \t]?)?(?=\w))?|\\{1,9}(?=[\"'`])"
)
_DROPPED = rf"[{INVISIBLE}]|\\(?:{_ESCAPED})|{_PARTED}|{_BOLD}|{_TAG}|{_UNSEEN}|{_SOFT}"
_NAMED = {"&lowbar;": "_", "&hyphen;": "-"}
_HEX = r"(?:[2-6][0-9A-Fa-f]|7[0-9A-Ea-e])"
_OCTET = r"=[2-7][0-9A-F]"
_REFERENCE = (  # a character of HTML, of JSON and code, of mail beside others, or of a URL if it may be part of a token
    rf"(?P<reference>&(?:#0{{0,4}}(?:[3-9]\d|1[01]\d|12[0-6])|#[xX]0{{0,4}}{_HEX}|lowbar|hyphen);"
    rf"|\\(?:u00|U000000|x){_HEX}|\\u\{{0{{0,4}}{_HEX}\}}|\\0?(?:0[4-7]|1[0-7])[0-7]"
    rf"|{_OCTET}(?:(?={_OCTET})|(?<={_OCTET}{_OCTET}))"
    r"|%(?:25)?(?:2[DdEe]|3[\dAa]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee]))"
)
_SIGNS = {
    "\n": _PARTED,
    "`": rf"`[ \t]{{0,9}}{_JOIN}[ \t]{{0,9}}`",
    "<": rf"\w{_TAG}",
    '"': rf'"{_JOINED}"\w',
    "'": rf"'{_JOINED}'\w",
    "**": _BOLD,
    "\\": rf"\\(?:{_ESCAPED}|u00|U000000|u\{{|x|[01][0-7])",
    "=\n": _SOFT,
    "=\r\n": _SOFT,
    "=4": rf"(?:{_OCTET}){{3}}",
    "=6": rf"(?:{_OCTET}){{3}}",
    "&": rf"&(?:#|lowbar;|hyphen;)|{_UNSEEN}",
    "%": rf"%(?:25)?{_HEX}",
}
_BASE64 = (  # of a text that begins with ASCII or a letter of another script, or with a byte order mark
    r"(?<![\w+/-])(?=[A-Za-f056wx][\w+/-]{0,22}[A-Z]|77u/|//[45])[\w+/-]{24,}+"
)
_BASE32 = r"(?<![A-Za-z0-9/+])(?:[A-Z2-7]{24,}+|[a-z2-7]{24,}+)(?![A-Za-z0-9/+])={0,6}"
_BYTE = r"[02-7][0-9A-Fa-f]"
_HEX_TEXT = rf"{_BYTE}(?<![0-9A-Fa-f]..)(?:(?:[ :-]|,[ \n]?0x|\r?\n)?{_BYTE}){{15,}}+"
_LINE_END = r"(?:\r?\n|(?:\\r)?\\n)[ \t]{0,20}(?:[>#*][ \t]?)?"  # also written out, or of a quotation
_NEXT_LINES = rf"(?:(?<=[\w+/-]{{60}}){_LINE_END}[\w+/-]{{1,76}}+)*+={{0,2}}"
_STANDARD = str.maketrans("-_", "+/", " \t\r\n=")
_LAYOUT = str.maketrans("\t\r\n", "   ")


def fold(text: str) -> str:
    """Replace the variants of plain letters, digits and the marks of tokens (NFKC), one character by one."""
    if text.isascii():
        return text
    table = {}
    for character in set(compiled(_UNUSUAL).findall(text)):
        plain = unicodedata.normalize("NFKC", character)
        if len(plain) == 1 and plain.isascii() and (plain.isalnum() or plain in "-_+/=."):
            table[ord(character)] = plain
    return text.translate(table) if table else text


def part(text: str) -> str:
    """Put a blank in the place of each invisible character, which may separate two words."""
    return text if text.isascii() else compiled(f"[{INVISIBLE}]").sub(" ", text)


class ReadText:
    """A text without escapes, references and invisible characters, and where each of its characters was."""

    def __init__(self, text: str) -> None:
        """Read a text. `plain` is what it says, or "" if that is the text itself."""
        parts: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        done = 0
        for found in compiled(f"{_DROPPED}|{_REFERENCE}").finditer(text) if _may_differ(text) else ():
            self._keep(range(done, found.start()))
            parts.append(text[done : found.start()])
            if found["reference"]:
                parts.append(_character(found[0]))
                self._starts.append(found.start())
                self._ends.append(found.end())
            done = found.end()
        if done:
            self._keep(range(done, len(text)))
            parts.append(text[done:])
        self.plain = "".join(parts)

    def _keep(self, places: range) -> None:
        self._starts += places
        self._ends += range(places.start + 1, places.stop + 1)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the text of a part of `plain` that is not empty."""
        return self._starts[start], self._ends[end - 1]

    def locate(self, secrets: Iterable[Secret]) -> Iterator[Secret]:
        """Yield what was found in `plain`, with its place in the text."""
        for secret in secrets:
            yield Secret(secret.kind, *self.place(secret.start, secret.end))


def _may_differ(text: str) -> bool:
    """Return whether a text may have something to drop or to replace, by the signs that these begin with."""
    has_quotes = '"' in text or "'" in text or "`" in text
    if any(sign in text and compiled(rest).search(text) for sign, rest in _SIGNS.items() if has_quotes or sign != "\n"):
        return True
    return not text.isascii() and compiled(f"[{INVISIBLE}]").search(text) is not None


def _character(reference: str) -> str:
    if reference in _NAMED:
        return _NAMED[reference]
    is_octal = reference.startswith("\\") and reference[1] in "01"
    is_decimal = reference.startswith("&#") and reference[2] not in "xX"
    digits = reference.replace("%25", "%").strip("=&#;\\Uu%xX{}")
    return chr(int(digits, 8 if is_octal else 10 if is_decimal else 16))


def readings(text: str) -> Iterator[tuple[str, Callable[[int, int], tuple[int, int]]]]:
    """Yield a text, what a reader and a program make of it if that differs, and how to find a place of each in the text."""
    yield text, lambda start, end: (start, end)
    folded = fold(text)
    if folded != text:
        yield folded, lambda start, end: (start, end)
    read = ReadText(folded)
    if read.plain:
        yield read.plain, read.place
    for start, end, plain in decoded(folded, long_words(folded)):
        yield plain, partial(_whole, (start, end))


def _whole(run: tuple[int, int], _start: int, _end: int) -> tuple[int, int]:
    """Return the place of a run of letters that encodes a text: any part of the text is somewhere in it."""
    return run


def decoded(text: str, words: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and meaning of the runs of Base64, Base32 or hex that encode a text; `words` are its long words."""
    has_digits = sum(map(text.count, "234567")) >= 16  # each byte of a letter begins with one of these
    for run in compiled(_HEX_TEXT).finditer(text) if has_digits else ():
        plain = bytes.fromhex("".join(compiled(_BYTE).findall(run[0]))).decode("ascii")
        if plain.translate(_LAYOUT).isprintable():
            yield *run.span(), plain
    for run in compiled(_BASE32).finditer(text) if compiled(_BASE32).search(words) else ():
        if plain := _decode_base32(run[0]):
            yield *run.span(), plain
    for run in compiled(_BASE64 + _NEXT_LINES).finditer(text) if compiled(_BASE64).search(words) else ():
        whole, head = run[0], run[0].rpartition("\n")[0]  # the last line may be another text
        for encoded in (whole, head) if head else (whole,):
            if plain := _decode(encoded):
                yield run.start(), run.start() + len(encoded), plain
                break


def _decode_base32(encoded: str) -> str:
    """Return the encoded text in ASCII, "" if it is not that."""
    from base64 import b32decode  # few texts have a run that may be Base32

    letters = encoded.rstrip("=")
    data = b32decode(letters + "A" * (-len(letters) % 8), casefold=True)
    plain = data[: len(letters) * 5 // 8].decode("ascii", "replace")
    return plain if plain.translate(_LAYOUT).isprintable() and plain.isascii() else ""


def _decode(encoded: str) -> str:
    """Return the encoded text, "" if it is not text."""
    letters = compiled(_LINE_END).sub("", encoded).translate(_STANDARD)
    try:
        data = binascii.a2b_base64(letters + "=" * (-len(letters) % 4))
        code = "utf-16" if data[:1] in b"\xff\xfe" else "utf-16-le" if data[1:2] == b"\0" else "utf-8-sig"
        plain = data.decode(code) if code != "utf-8-sig" or _is_utf8(data) else data.decode("gb18030")
    except ValueError:
        return ""
    return plain if plain.translate(_LAYOUT).isprintable() else ""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
