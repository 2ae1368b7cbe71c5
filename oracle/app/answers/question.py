"""A person's question as the answerer sees it: its words, and the names in it that memory does not hold. App room; reads the index.

Names are words that must be somewhere in memory for it to know anything about them: a question that names what no record names
is not answered by whatever is nearest.
"""

from __future__ import annotations

import re
import unicodedata

from oracle.app.answers.subjects import Subject, read_subject
from oracle.app.records.views import Summary
from oracle.app.search.ranking.query import Term, parse_query
from oracle.app.search.ranking.scoring import SMALL
from oracle.domain.links.entity_query import without
from oracle.domain.links.links import reference_key
from oracle.domain.markdown.embedding_chunks import is_wide
from oracle.domain.values import value
from oracle.index import fold
from oracle.index.read import candidates, holders, query
from oracle.index.read.names import with_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.app.context import Context
    from oracle.index.db import Connection

_STEM = 4
_QUOTED = re.compile(r"[\"“”「」『』《》«»]")
_LATIN = re.compile(r"[A-Za-z0-9\u00c0-\u024f][A-Za-z0-9\u00c0-\u024f+#]*")
_ID = re.compile(r"[0-9]+[A-Za-z]+[0-9]")
_MEASURE = re.compile(r"(?i)(?:[0-9]+[hmsdwxpk]?)+|[0-9]+e[0-9]+")
"""What begins with a digit and is no id: `2h30m`, `1920x1080`, `1e6`."""
_VERSION = re.compile(r"(?<![\w.])(v?)([0-9]+(?:\.[0-9]+)+)(?!\w|\.[0-9])")
_BEFORE_VERSION = re.compile(r"(?i:\b(?:version|release|tag)s?|版本?)\s*\Z|\S\s+[A-Z][A-Za-z]+ \Z")
_NO_NAMES = frozenset(
    """mr mrs ms dr prof st vs jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august
    september october november december mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday
    ok id api apis ai ml ui ux url urls db vm vms os ci cd qa pr prs cli sdk gui iac saas paas iaas faq csv json yaml xml html css
    sql http https tls ssl dns ip tcp udp ssh pdf svg todo readme asap fyi btw imo imho eta tbd aka thx pls tldr
    hello hey please thank thanks could would should can may tell show give explain describe list find there here about you your our
    """.split()
)
"""Words with a capital, or among Chinese characters, that name nobody: titles, months, days, what the trade abbreviates, and
what people say around a question."""
_NAMES_NOBODY = _NO_NAMES | fold.STOP_WORDS

_BEGINNINGS = ("", ".", "?", "!", ":", ";", "。")
_BEFORE_BEGINNINGS = " \t-*>#•(["
"""What may stand before the first word of a line."""
_MANY = 3
"""Words from which on a text in capitals alone shouts, and its capitals say nothing."""
_LONGEST = 4000
"""Characters of a question that are read."""


@value
class Question:
    """A question with its words; `names` are the names in it, `unknown` those that no record asked holds.

    `asking` is the number of words, or of pairs of characters, that may be found. `absent` is the share of the words that say
    what it is about, 0 to 1, that stand in no record of the Root, as far as that says anything.
    """

    text: str
    words: frozenset[str]
    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    asking: int = 0
    absent: float = 0.0
    subject: Subject = Subject()
    is_empty: bool = False
    """Whether there is no word in it to look for."""

    def share_in(self, text: str) -> float:
        """Return the share, 0 to 1, of the question's words that a text holds, `retried` for `retry` too."""
        held = set(re.findall(r"[^\W_]+", fold.fold(text).lower()))
        return sum(_holds(held, word) for word in self.words) / len(self.words) if self.words else 0.0


def read_question(context: Context, text: str, filters: Mapping[str, str], *, fresh: bool = False) -> Question:
    """Read a question; its names are looked for in the records that pass `filters` (project, seat)."""
    text = text[:_LONGEST]

    def look(connection: Connection) -> Question:
        subject = read_subject(context, connection, text, filters)
        plain = without(text, (*subject.entities, *subject.unknown))
        names = names_in(plain)
        unknown = [name for name in names if not _is_known(connection, name, filters)]
        unknown = [*(asked.text for asked in subject.unknown), *unknown]
        words = fold.terms_of(text)
        rest = subject.rest if subject.held else text
        understood = parse_query(rest)
        terms = [(term, at in understood.about) for at, term in enumerate(understood.terms) if term.weight == 1]
        about = [term for term, is_about in terms if is_about]
        held = about if is_wide(rest) else _held(connection, about)
        absent = _absent(connection, len(held), len(about))
        asking = len(terms) - len(about) + len(held)
        is_empty = not subject.held and fold.STOP_WORDS.issuperset(words)
        return Question(text, frozenset(words), tuple(names), tuple(unknown), asking, absent, subject, is_empty)

    return context.index.read(look, fresh=fresh)


def _is_known(connection: Connection, name: str, filters: Mapping[str, str]) -> bool:
    """Tell whether a record that passes `filters` holds a name, in its text or in the name of its file."""
    if not holders.SIGNED.fullmatch(name):
        is_said = query.search(connection, _expression(name), filters, limit=1)
        return bool(is_said or with_words(connection, reference_key(name), filters, limit=1))
    rows = query.search(connection, _expression(name), filters, limit=holders.MOST)
    return bool(holders.naming(connection, {Summary.from_row(row[2:]).slug for row in rows}, [name]))


def _held(connection: Connection, terms: Sequence[Term]) -> list[Term]:
    """Return the terms that stand in a record, in whatever form."""
    stems = candidates.stemmer().stems(token for term in terms for token in (*term.tokens, *term.also))
    found = candidates.frequencies(connection, stems.values())
    held = {token for token, stem in stems.items() if found[stem][0]}
    return [term for term in terms if held.issuperset(term.tokens) or not held.isdisjoint(term.also)]


def _absent(connection: Connection, held: int, terms: int) -> float:
    """Return the share of a question's terms that no record holds; in a small Root, where many a word is missing, less."""
    records = candidates.size(connection)
    return (terms - held) / terms * records / (records + SMALL) if terms else 0.0


def names_in(text: str) -> list[str]:
    """Return the names in a question: versions, words with a capital or digit inside, or a capital where no sentence begins.

    Among Chinese characters every Latin word is one. Titles in quotation marks are not looked into, and what only asks is none.
    """
    text = unicodedata.normalize("NFKC", text)
    if text.isupper() and len(text.split()) >= _MANY:
        text = text.lower()
    is_wide = any(char >= "\u2e80" and char.isalpha() for char in text)
    found: dict[str, None] = {}
    for piece in _QUOTED.split(text)[::2]:
        for match in _VERSION.finditer(piece):
            if match[1] or match[2].count(".") > 1 or _BEFORE_VERSION.search(piece[: match.start()]):
                found[match[0]] = None
        piece = _VERSION.sub(" ", piece)
        for match in _LATIN.finditer(piece):
            word = match[0]
            if word[0].isdigit():
                if _ID.match(word) and not _MEASURE.fullmatch(word):
                    found[word] = None
                continue
            begins = piece[: match.start()].rpartition("\n")[2].rstrip(_BEFORE_BEGINNINGS)[-1:] in _BEGINNINGS
            is_odd = any(char.isupper() or char.isdigit() for char in word[1:])
            if holders.SIGNED.fullmatch(word):
                found[word] = None
                continue
            is_name = is_wide or is_odd or (word[0].isupper() and not begins)
            if is_name and len(word) > 2 and word.lower() not in _NAMES_NOBODY:
                found[word] = None
    return list(found)


def _expression(name: str) -> str:
    """Return what the index is asked for a name; a version may be written with its `v` or without."""
    version = _VERSION.fullmatch(name)
    return (
        " OR ".join(fold.quote(f"{sign}{version[2]}") for sign in ("", "v")) if version else fold.match_expression(name)
    )


def _holds(words: set[str], term: str) -> bool:
    if term in words:
        return True
    if not term.isascii() or len(term) <= _STEM:
        return False
    stem = term[: max(_STEM, len(term) - 3)]
    return any(word.startswith(stem) for word in words)
