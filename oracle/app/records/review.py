"""Find what people should decide: near-duplicates, decisions on one topic, records whose subject was retired.

Nothing is changed. Superseded and retired records are left out. Candidates come from the index, their words from the files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from oracle.app.context import Context
from oracle.app.records.listing import check_filters, list_records
from oracle.app.records.views import Summary
from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import Document
from oracle.domain.records.records import RELATIONS, RETIRING
from oracle.domain.values import value
from oracle.index import fold
from oracle.index.db import Connection, marks
from oracle.index.read import query
from oracle.store.markdown import records
from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

_DUPLICATE, _LONG_DUPLICATE, _LONG = 0.65, 0.8, 60
"""Share of common words (Jaccard) from which two records are near-duplicates; and the share for two long records, which have at
least so many different words. Long records on one subject, or of one template, share half of their words."""

_LINK = r"\[\[[^\]\n]*\]\]|https?://\S+"
_MOST_CHARACTERS = 4_000
"""How much of a text is read: a record states its claim at its beginning."""

_FEWEST = 5
"""Common words that two records need to count as similar."""

_CANDIDATES, _ASKED = 5, 16

SAME_TOPIC = 0.3
"""Share of common words from which two decisions are on one topic. For the words of their titles it is 0.5."""

_SAME_TITLE = 0.5
_RESTS_ON = ("supports", "extends", "derived-from")
_RARE = 12
"""Rarest words of a record by which others are found."""


class RemarkKind(StrEnum):
    """The kinds of remarks."""

    DUPLICATE = "near-duplicate"
    DECISIONS = "one-topic"
    RETIRED_SUBJECT = "retired-subject"


@value
class Remark:
    """Something to decide about two records; `likeness` is the share of common words, from 0 to 1, None if not measured."""

    sort: RemarkKind
    record: Summary
    other: Summary
    likeness: float | None = None
    detail: str = ""

    @property
    def sentence(self) -> Sentence:
        """The remark in words, about the record."""
        slug = self.other.slug
        if self.sort is RemarkKind.DUPLICATE:
            return say(
                "says nearly the same as {slug} ({likeness:.0%} of the words)", slug=slug, likeness=self.likeness or 0.0
            )
        if self.sort is RemarkKind.DECISIONS:
            return say("is on one topic with the decision {slug}, and neither supersedes the other", slug=slug)
        return say(
            "{relation} {slug}, which was {status} by {by}",
            relation=self.detail,
            slug=slug,
            status=self.other.effective_status,
            by=self.other.retired_by,
        )

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        ends = {"record": self.record.as_json(), "other": self.other.as_json()}
        likeness = None if self.likeness is None else round(self.likeness, 2)
        return {"kind": self.sort.value, **ends, "likeness": likeness, "sentence": self.sentence}


@value
class _Known:
    record: Summary
    words: Words


def review(context: Context, project: str = "", *, fresh: bool = False) -> list[Remark]:
    """Return duplicates, decisions, then subjects; with a project, one record is of it. Raises NotInFederation, UsageError."""
    list_records(context, {"project": project} if project else {}, limit=1, fresh=fresh)
    wanted = check_filters({"project": project}) if project else {}

    def look(connection: Connection) -> list[Remark]:
        known = _read_all(context, connection)
        related = _related(connection)
        found = [*_pairs(known.values(), related), *_subjects(connection, known)]
        mine = [item for item in found if not wanted or wanted["project"] in (item.record.project, item.other.project)]
        return sorted(mine, key=_order)

    return context.index.read(look)


def remarks_on(context: Context, connection: Connection, slug: str, document: Document) -> list[Remark]:
    """Return the remarks on one record that was just written, compared with those that full text finds for it."""
    row = query.summary(connection, slug)
    record = Summary.from_row(row) if row is not None else None
    if record is None or not _may_claim(record):
        return []
    mine = _Known(record, words_of(record.title, document.body))
    near = [Summary.from_row(row) for row in query.sharing(connection, mine.words.telling, _CANDIDATES)]
    others = _read(context.root, [item for item in near if item.slug != slug and _holds(item)])
    related = {frozenset((slug, other)) for other in _neighbours(connection, slug)} if others else set()
    pairs = (_compare(mine, other, related) for other in others)
    subjects = _subjects(connection, {slug: mine})
    return sorted([*(item for item in pairs if item is not None), *subjects], key=_order)


def _order(item: Remark) -> tuple[int, float, str, str]:
    return list(RemarkKind).index(item.sort), -(item.likeness or 0.0), item.record.slug, item.other.slug


def _holds(record: Summary) -> bool:
    return record.effective_status not in ("superseded", "retired")


def _read_all(context: Context, connection: Connection) -> dict[str, _Known]:
    rows = query.listing(connection, {}, limit=0, newest_first=False)
    found = _read(context.root, [item for item in map(Summary.from_row, rows) if _holds(item)])
    return {item.record.slug: item for item in found}


def _read(root: Root, records: Iterable[Summary]) -> list[_Known]:
    read = [(item, words_in(root, item.path, item.title)) for item in records if _may_claim(item)]
    return [_Known(record, words) for record, words in read if words is not None]


def _may_claim(record: Summary) -> bool:
    """Return whether a record claims something: JSON files of scanners do not, nor do records that retire others."""
    return record.path.endswith(".md") and not record.title.startswith("Retire ")


def _related(connection: Connection) -> set[frozenset[str]]:
    rows = connection.execute(
        "SELECT record.slug, target.name FROM edge JOIN record ON record.id = source_id JOIN target ON target.id = target_id"  # noqa: S608
        f" WHERE edge.type IN ({marks(RELATIONS)})",
        RELATIONS,
    )
    return {frozenset(pair) for pair in rows}


def _neighbours(connection: Connection, slug: str) -> set[str]:
    edges = [*query.outgoing(connection, [slug], RELATIONS), *query.incoming(connection, [slug], RELATIONS)]
    return {end for source, _, target, _ in edges for end in (source, target)}


# Pairs ----------------------------------------------------------------------------------------------------------------


def _pairs(known: Iterable[_Known], related: set[frozenset[str]]) -> Iterator[Remark]:
    items = list(known)
    for one, other in _sharing(items):
        remark = _compare(items[one], items[other], related)
        if remark is not None:
            yield remark


def _sharing(items: Sequence[_Known]) -> list[tuple[int, int]]:
    """Return the pairs that share at least two of the rarest words of one of them."""
    having: dict[str, list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        for word in item.words.whole:
            having[word].append(number)
    pairs: set[tuple[int, int]] = set()
    for number, item in enumerate(items):
        known = [word for word in item.words.whole if 1 < len(having[word]) <= query.MOST_OF_A_WORD]
        rarest = sorted(known, key=lambda word: (len(having[word]), word))[:_RARE]
        shared = Counter(other for word in rarest for other in having[word] if other != number)
        pairs.update((min(number, other), max(number, other)) for other, times in shared.items() if times > 1)
    return sorted(pairs)


def _compare(one: _Known, other: _Known, related: set[frozenset[str]]) -> Remark | None:
    """Return the remark on a pair, the newer record first, or None. Records with a relation between them get none."""
    newer, older = (one, other) if one.record.sort_ts >= other.record.sort_ts else (other, one)
    if frozenset((newer.record.slug, older.record.slug)) in related:
        return None
    similarity = record_similarity(newer.words, older.words)
    if _is_duplicate(similarity, newer.words, older.words):
        return Remark(RemarkKind.DUPLICATE, newer.record, older.record, similarity)
    are_decisions = (
        newer.record.kind == older.record.kind == "decision" and newer.record.project == older.record.project
    )
    titles = overlap(newer.words.title, older.words.title)
    is_topic = similarity >= SAME_TOPIC or titles >= _SAME_TITLE
    return (
        Remark(RemarkKind.DECISIONS, newer.record, older.record, max(similarity, titles))
        if are_decisions and is_topic
        else None
    )


# Subjects -------------------------------------------------------------------------------------------------------------


def _subjects(connection: Connection, known: Mapping[str, _Known]) -> Iterator[Remark]:
    """Yield the records that rest on a record which was retired after them, or that are about it by their title."""
    slugs = list(known)
    retired: dict[str, tuple[Summary, str] | None] = {}
    for source, kind, target, _ in query.outgoing(connection, slugs, ("references-record", *_RESTS_ON)):
        if target not in retired:
            retired[target] = _retirement(connection, target)
        found = retired[target]
        item = known[source]
        if found is None or found[0].retired_by == source or item.record.sort_ts >= found[1]:
            continue
        is_about = overlap(item.words.title, words_of(found[0].title, "").title) >= _SAME_TITLE
        if kind in _RESTS_ON or is_about:
            yield Remark(RemarkKind.RETIRED_SUBJECT, item.record, found[0], detail=_verb(kind))


def _verb(kind: str) -> str:
    return {"derived-from": say("is derived from"), "references-record": say("is about")}.get(kind, kind)


def _retirement(connection: Connection, slug: str) -> tuple[Summary, str] | None:
    """Return a retired record and when the record that retired it was written, or None for one that is not retired."""
    row = query.summary(connection, slug)
    record = Summary.from_row(row) if row is not None else None
    if record is None or not record.retired_by:
        return None
    by = query.summary(connection, record.retired_by)
    return record, Summary.from_row(by).sort_ts if by is not None else ""


# How similar two records are -------------------------------------------------------------------------------------------


@value
class Words:
    """The words of a record: of its title, its text and both, and the telling ones to look for it by."""

    title: frozenset[str]
    body: frozenset[str]
    whole: frozenset[str]
    telling: tuple[str, ...] = ()


def words_of(title: str, body: str) -> Words:
    """Return the words of a title and a text without its links: a link is no claim."""
    text = compiled(_LINK).sub(" ", body[:_MOST_CHARACTERS])
    named, said = fold.terms_of(title), fold.terms_of(text)
    longest = sorted(set(said), key=lambda word: (-len(word), word))[:_ASKED]
    titled, stated = fold.rough_stems(named), fold.rough_stems(said)
    return Words(titled, stated, titled | stated, tuple(dict.fromkeys((*named, *longest))))


def words_in(root: Root, path: str, title: str) -> Words | None:
    """Return the words of the record at a root-relative path, or None when its file is gone."""
    document = records.read_document(root, path)
    return words_of(title, document.body) if document else None


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common words among all words of two sets; 0 for two empty sets."""
    return len(one & other) / max(1, len(one | other))


def record_similarity(one: Words, other: Words) -> float:
    """Return how similar two records are, 0 to 1: by all their words or by their texts alone, whichever is more."""
    whole = overlap(one.whole, other.whole) if len(one.whole & other.whole) >= _FEWEST else 0.0
    body = overlap(one.body, other.body) if len(one.body & other.body) >= _FEWEST else 0.0
    return max(whole, body)


def says_nearly_the_same(one: Words, other: Words) -> bool:
    """Return whether two texts say nearly the same, by their words."""
    return _is_duplicate(record_similarity(one, other), one, other)


def _is_duplicate(similarity: float, one: Words, other: Words) -> bool:
    """Return whether two records say nearly the same."""
    is_long = min(len(one.whole), len(other.whole)) >= _LONG
    return similarity >= (_LONG_DUPLICATE if is_long else _DUPLICATE)


def near_duplicates(connection: Connection, root: Root, slug: str, limit: int = 5) -> list[str]:
    """Return the current records that say nearly the same as `slug`, the most similar first.

    What was written in its place is left out: it may well say nearly the same.
    """
    row = query.summary(connection, slug)
    words = words_in(root, str(row[1]), str(row[5])) if row is not None else None
    if row is None or words is None:
        return []
    aside = {slug, *(source for source, *_ in query.incoming(connection, [slug], RETIRING))}
    near: list[tuple[float, str]] = []
    for summary in query.sharing(connection, words.telling, _CANDIDATES):
        if summary[0] not in aside and summary[-2] is None:
            other = words_in(root, str(summary[1]), str(summary[5]))
            found = record_similarity(words, other) if other is not None else 0.0
            near += [(-found, str(summary[0]))] if other and _is_duplicate(found, words, other) else []
    return [name for _, name in sorted(near)][:limit]
