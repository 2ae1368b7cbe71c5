"""A person's question as the answerer sees it: its words, the entities and names in it, and what memory has of them.

A question that names a task, a commit, a file, a key, a component or a UUID is answered from records that hold it: in a passage,
in the frontmatter, or by an edge. When it asks for little more, the passages that name the entity are the answer. Memory must
have the other names of a question somewhere to know anything about them; else whatever is nearest is no answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from oracle.app.answers import quotes
from oracle.app.context import Context
from oracle.app.records.views import Hit, Summary
from oracle.app.search.ranking.query import Term, parse_query
from oracle.app.search.ranking.scoring import SMALL
from oracle.app.search.search import entities_of, search_by_status
from oracle.domain import tables
from oracle.domain.compiling import compiled
from oracle.domain.links.entity_query import FILE, EntityQuery, entities_in, without
from oracle.domain.links.links import reference_key
from oracle.domain.names import is_scanned
from oracle.domain.values import replace, value
from oracle.index import fold
from oracle.index.db import Connection
from oracle.index.read import candidates, holders, query
from oracle.index.read.names import with_words
from oracle.store.root import facts

_MARKS = "?!,;:.()[]\"'？！，。：；（）"
_MOST_READ = 40
"""Records whose passages are searched for the entity."""
_PASSAGES = 2
_BESIDE_BEST = 0.5
_STEM = 4
_QUOTED = re.compile(r"[\"“”「」『』《》«»]")
_LATIN = re.compile(r"[A-Za-z0-9\u00c0-\u024f][A-Za-z0-9\u00c0-\u024f+#]*")
_ID = re.compile(r"[0-9]+[A-Za-z]+[0-9]")
_MEASURE = re.compile(r"(?i)(?:[0-9]+[hmsdwxpk]?)+|[0-9]+e[0-9]+")
"""What begins with a digit and is no id: `2h30m`, `1920x1080`, `1e6`."""
_VERSION = re.compile(r"(?<![\w.])(v?)([0-9]+(?:\.[0-9]+)+)(?!\w|\.[0-9])")
_BEFORE_VERSION = re.compile(r"(?i:\b(?:version|release|tag)s?|版本?)\s*\Z|\S\s+[A-Z][A-Za-z]+ \Z")
_BEGINNINGS = ("", ".", "?", "!", ":", ";", "。")
_BEFORE_BEGINNINGS = " \t-*>#•(["
"""What may come before the first word."""
_MANY = 3
"""Words from which a text in capitals alone shouts: its capitals say nothing."""
_LONGEST = 4000
"""Characters of a question that are read."""


@value
class Subject:
    """The entities of a question; `held` are the slugs of records that hold one, with how many and whether in the frontmatter.

    `rest` is what else the question asks, "" when that is little; `unknown` are the entities that no record holds. `kind` is the
    kind of record that it asks for, "" for any.
    """

    entities: tuple[EntityQuery, ...] = ()
    held: Mapping[str, tuple[int, bool]] = {}
    rest: str = ""
    unknown: tuple[EntityQuery, ...] = ()
    kind: str = ""

    def is_answered_by(self, record: Summary) -> bool:
        """Return whether the question asks what there is on the entity, and this is a record of the kind asked for."""
        return record.slug in self.held and not self.rest and self.kind in ("", record.kind)


@value
class Question:
    """A question with its words and names; `unknown` are the names that no record holds, of those asked.

    `asking` is the number of words, or of pairs of characters, that may be found. `absent` is the share of the words on its
    topic, 0 to 1, that no record of the Root has, as far as that says anything.
    """

    text: str
    words: frozenset[str]
    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    asking: int = 0
    absent: float = 0.0
    subject: Subject = Subject()
    is_empty: bool = False
    """It has nothing to look for."""
    is_open: bool = False
    """It asks what there is on its names."""

    def is_answered_by(self, hit: Hit) -> bool:
        """Return whether the question asks what there is on an entity or a name, and this passage is on it."""
        if self.subject.held:
            return self.subject.is_answered_by(hit.record)
        said = fold.fold(f"{hit.record.title}\n{hit.snippet}").lower()
        return self.is_open and any(fold.fold(name).lower() in said for name in self.names)

    def share_in(self, text: str) -> float:
        """Return the share, 0 to 1, of the question's words that a text holds, `retried` for `retry` too."""
        held = set(re.findall(r"[^\W_]+", fold.fold(text).lower()))
        return sum(_holds(held, word) for word in self.words) / len(self.words) if self.words else 0.0


def read_question(context: Context, text: str, filters: Mapping[str, str], *, fresh: bool = False) -> Question:
    """Read a question; its names are looked for in the records that pass `filters` (project, seat)."""
    text = text[:_LONGEST]

    def look(connection: Connection) -> Question:
        subject = _read_subject(context, connection, text, filters)
        plain = without(text, (*subject.entities, *subject.unknown))
        names = names_in(plain)
        unknown = _whole(plain, [name for name in names if not _is_known(connection, name, filters)])
        unknown = [*(asked.text for asked in subject.unknown), *unknown]
        words = fold.terms_of(text)
        rest = subject.rest if subject.held else text
        understood = parse_query(rest)
        terms = [(term, at in understood.about) for at, term in enumerate(understood.terms) if term.weight == 1]
        about = [term for term, is_about in terms if is_about]
        held = about if fold.is_wide_text(rest) else _held(connection, about)
        absent = _absent(connection, len(held), len(about))
        asking = len(terms) - len(about) + len(held)
        is_empty = not subject.held and fold.STOP_WORDS.issuperset(words)
        is_open = bool(names) and not _beside(_without_names(plain, names))
        return Question(
            text, frozenset(words), tuple(names), tuple(unknown), asking, absent, subject, is_empty, is_open=is_open
        )

    return context.index.read(look, fresh=fresh)


# The entities that it names -------------------------------------------------------------------------------------------


def _read_subject(context: Context, connection: Connection, text: str, filters: Mapping[str, str]) -> Subject:
    """Look for the entities of a question among the records that pass the filters."""
    condition = query.conditions({f"record.{name}": wanted for name, wanted in filters.items()})
    counts: dict[int, tuple[int, bool]] = {}
    known: list[EntityQuery] = []
    unknown: list[EntityQuery] = []
    for asked in entities_of(context, text, filters.get("project", "")):
        found = holders.holders(connection, asked, condition)
        for identifier, is_own in found.items():
            count, owned = counts.get(identifier, (0, False))
            counts[identifier] = (count + 1, owned or is_own)
        if found:
            known.append(asked)
        elif asked.is_sure and not (asked.space == FILE and _is_fact_file(context, asked.text)):
            unknown.append(asked)
    best = sorted(counts, key=lambda identifier: (-counts[identifier][0], -identifier))[: holders.MOST]
    slugs = query.slugs_of(connection, best)
    held = {slugs[identifier]: counts[identifier] for identifier in best if identifier in slugs}
    kind, rest = _asked_kind(without(text, known))
    return Subject(tuple(known), held, _beside(rest), tuple(unknown), kind)


def _asked_kind(text: str) -> tuple[str, str]:
    """Return the kind of record that a text asks for, "" for any, and the text without the word that says so."""
    for kind, pattern in tables.load("questions")["kinds"].items():
        rest, count = compiled(tables.expand(pattern)).subn(" ", text)
        if count:
            return kind, rest
    return "", text


def _is_fact_file(context: Context, name: str) -> bool:
    ending = f"/{name}"
    files = (*facts.fact_files(context.root), *facts.project_files(context.root))
    return any(f"/{path}".endswith(ending) for _, path in files)


def _beside(text: str) -> str:
    """Return what a question says beside its entities, without the words that ask for whatever there is; "" when that is little."""
    table = tables.load("questions")
    about = frozenset(table["about"].split())
    kept = [
        word
        for word in compiled(tables.expand(table["zh_about"])).sub(" ", text).split()
        if fold.compose(word).lower().strip(_MARKS) not in about
    ]
    plain = compiled(table["zh_about_character"]).sub(" ", " ".join(kept))
    words = fold.words_of(fold.compose(plain).lower())
    return " ".join(kept) if any(len(word) > 1 and word not in fold.STOP_WORDS for word in words) else ""


# The names in it ------------------------------------------------------------------------------------------------------


def _is_known(connection: Connection, name: str, filters: Mapping[str, str]) -> bool:
    """Return whether a record that passes `filters` holds a name, in its text or in the name of its file."""
    if not compiled(holders.SIGNED).fullmatch(name):
        is_said = query.search(connection, _expression(name), filters, limit=1)
        return bool(is_said or with_words(connection, reference_key(name), filters, limit=1))
    rows = query.search(connection, _expression(name), filters, limit=holders.MOST)
    return bool(holders.naming(connection, {Summary.from_row(row[2:]).slug for row in rows}, [name]))


def _held(connection: Connection, terms: Sequence[Term]) -> list[Term]:
    """Return the terms that a record has, in whatever form."""
    stems = candidates.stemmer().stems(token for term in terms for form in term.forms for token in form)
    found = candidates.frequencies(connection, stems.values())
    held = {token for token, stem in stems.items() if found[stem][0]}
    return [term for term in terms if any(map(held.issuperset, term.forms))]


def _absent(connection: Connection, held: int, terms: int) -> float:
    """Return the share of a question's terms that no record holds; in a small Root, where many a word is missing, less."""
    records = candidates.size(connection)
    return (terms - held) / terms * records / (records + SMALL) if terms else 0.0


def names_in(text: str) -> list[str]:
    """Return the names in a question: versions, words with a capital or digit inside, or a capital where no sentence begins.

    Among Chinese characters every Latin word is one. Titles in quotation marks are skipped, and so are words that only ask.
    """
    text = unicodedata.normalize("NFKC", text)
    if text.isupper() and len(text.split()) >= _MANY:
        text = text.lower()
    no_names = fold.STOP_WORDS.union(tables.load("questions")["no_names"].split())
    has_wide = any(char >= "\u2e80" and char.isalpha() for char in text)
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
            if compiled(holders.SIGNED).fullmatch(word):
                found[word] = None
                continue
            is_name = has_wide or is_odd or (word[0].isupper() and not begins)
            if is_name and len(word) > 2 and word.lower() not in no_names:
                found[word] = None
    return list(found)


def _whole(text: str, names: Sequence[str]) -> list[str]:
    """Return names with each that is only a part of an identifier, such as `RETRY` of `RETRY_POLICY`, as that identifier."""
    identifiers = [word for word in re.findall(r"\w+", text) if "_" in word.strip("_")]
    return list(dict.fromkeys(next((word for word in identifiers if name in word.split("_")), name) for name in names))


def _without_names(text: str, names: Sequence[str]) -> str:
    return compiled("|".join(map(re.escape, sorted(names, key=len, reverse=True)))).sub(" ", text)


def _expression(name: str) -> str:
    """Return what the index is asked for a name: a version with its `v` or without, an identifier as one word or several."""
    if version := _VERSION.fullmatch(name):
        return " OR ".join(fold.quote(f"{sign}{version[2]}") for sign in ("", "v"))
    apart = " ".join(fold.humps(name))
    return fold.match_expression(name) + (f" OR {fold.quote(apart)}" if apart else "")


def stem_of(word: str) -> str:
    """Return what a word begins with in its other forms: `retr` for `retried`."""
    return word[: max(_STEM, len(word) - 3)] if word.isascii() else word


def _holds(words: set[str], term: str) -> bool:
    if term in words:
        return True
    if not term.isascii() or len(term) <= _STEM:
        return False
    stem = stem_of(term)
    return any(word.startswith(stem) for word in words)


# Passages about its entities ------------------------------------------------------------------------------------------


def find_passages(
    context: Context, subject: Subject, filters: Mapping[str, str], limits: Mapping[str, int]
) -> Iterator[list[Hit]]:
    """Yield passages of the records that hold a subject, best first, up to so many for each status in `limits`, "" for any."""
    if not subject.rest:
        wanted = {**filters, "kind": subject.kind} if subject.kind else filters
        found = [_naming(context, subject, {**wanted, "status": status})[:limit] for status, limit in limits.items()]
        if subject.kind and not any(found):
            yield from find_passages(context, replace(subject, kind=""), filters, limits)
        yield from found
        return
    for hits in search_by_status(context, subject.rest, filters, limits, among=tuple(subject.held)):
        yield _place(subject, hits)


def _place(subject: Subject, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits in order, without those that name other entities of the kind alone."""
    hits = [hit for hit in hits if not _speaks_of_another(subject, hit)]
    best = max((hit.coverage for hit in hits), default=0.0)

    def place(hit: Hit) -> tuple[bool, int, bool]:
        count, is_own = subject.held[hit.record.slug]
        return hit.coverage < _BESIDE_BEST * best, -count, not (is_own or _names(subject, hit.snippet))

    return sorted(hits, key=place)


def _names(subject: Subject, text: str) -> bool:
    return any(asked.is_named_in(text) for asked in subject.entities)


def _speaks_of_another(subject: Subject, hit: Hit) -> bool:
    """Return whether a passage names others of the kind and not the one asked for, which its record only names elsewhere."""
    _, is_own = subject.held[hit.record.slug]
    if is_own or _names(subject, f"{hit.record.title}\n{hit.snippet}"):
        return False
    spaces = {asked.space for asked in subject.entities}
    return any(other.is_sure and other.space in spaces for other in entities_in(hit.snippet))


def _naming(context: Context, subject: Subject, filters: Mapping[str, str]) -> list[Hit]:
    """Return the passages that name a subject; of a record that only its frontmatter or an edge ties to it, the first lines."""
    condition = query.conditions({f"record.{name}": wanted for name, wanted in filters.items()})
    connection = context.index.database.connect()
    rows = query.summaries(connection, query.ids_of(connection, list(subject.held)), condition)
    records = [record for row in rows if not is_scanned((record := Summary.from_row(row[1:])).path)]
    records.sort(key=lambda record: (record.sort_ts, record.slug), reverse=True)
    records.sort(key=lambda record: _weight(subject, record))
    found = [list(_passages(context, subject, record)) for record in records[:_MOST_READ]]
    return [hits[at] for at in range(_PASSAGES) for hits in found if at < len(hits)]


def _weight(subject: Subject, record: Summary) -> tuple[int, bool, bool]:
    """Return what orders records: those that hold all first, then those named by it, then those that it belongs to."""
    count, is_own = subject.held[record.slug]
    return -count, not _names(subject, record.title), not is_own


def _passages(context: Context, subject: Subject, record: Summary) -> Iterator[Hit]:
    source = quotes.open_source(context, record)
    made: Sequence[quotes.Quote] = quotes.naming_quotes(source, subject.entities, most=_PASSAGES) if source else ()
    for quote in made or (quotes.Quote(record.path, "", (1, 1), ""),):  # a file that moved: the answerer looks again
        yield Hit(record, 1.0, quote.text, *quote.lines, coverage=1.0)
