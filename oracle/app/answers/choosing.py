"""Choose what answers a question among the passages that a search found.

These are the relevant ones, the successors of replaced records, and what contradicts them. A replaced record is named with its
successor, and never quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from oracle.app.answers import quotes
from oracle.app.answers.probability import is_answer, is_candidate, probability, read_signals
from oracle.app.answers.question import Question
from oracle.app.answers.quotes import Quote, QuotedFile
from oracle.app.answers.reply import CERTAIN, Cited, Replaced
from oracle.app.codebase.stale_names import ANSWER_BUDGET, Checker
from oracle.app.context import Context
from oracle.app.records import listing
from oracle.app.records.listing import chains
from oracle.app.records.views import Hit, Summary
from oracle.domain.compiling import compiled
from oracle.domain.names import project_of
from oracle.domain.records.drafts import is_retirement
from oracle.domain.values import replace, value
from oracle.index.read import query
from oracle.index.read.holders import naming

_LEAST = 0.18
"""Coverage of the whole question that a passage must reach, even if no record has most of its words."""

_ANY, _WORDS = 0.06, 1.4
"""What the best passage must hold of the question's words that any record holds: this share, and so many words.

Both count, since one word of two is half of a question and says as little as one of ten. See references/answers.md.
"""

_ALL = 0.999

_ABSENT = 1.0
"""What the best passage must cover in addition, times the share of the question's words that no record has."""

_MIN_COVERAGE, _MIN_COVERAGE_WORDS, _NEAR = 0.36, 2.0, 0.08
"""What a passage must hold after a close look, similar words included: this share of the question, and so many words.

The third is what one standard deviation of nearness adds. See references/answers.md.
"""

_OF_RETIREMENT = (
    r"(?i)\bretir|\bwithdr|\bwhy\b|\breason|\bobsolete|\bdeprecat|作废|废弃|废除|撤销|撤回|退役|弃用|为什么|为何|原因"
)
"""Words of a question that asks why a record was retired, so that the retiring record may answer it."""

_STRONGEST = 5
"""Hits among which the most relevant one is looked for."""
_CLAIMS, _MOST_OF_ONE, _CANDIDATES = 5, 2, 24
"""How many passages answer a question, how many of them one record may give, and how many are candidates."""

_BESIDE_BEST, _BESIDE_BEST_HELD, _NEARLY = 0.5, 0.75, 0.8
"""How relevant a claim must be: as a share of the best claim, by words and after a close look, and of the least relevance.

The first hit of the search is always taken.
"""

OVER = ("superseded", "retired")

_Read = Callable[[Summary], QuotedFile | None]


@value
class _Candidate:
    source: QuotedFile
    quote: Quote
    coverage: float
    probability: float
    stands_for: tuple[str, ...] = ()
    said_in: tuple[str, ...] = ()
    """Slugs of other records that say the same, word for word."""


class Moved(Exception):
    """A file is not what the index read; the question is asked once more, with every file stat'ed."""


def choose(
    context: Context, asked: Question, hits: Sequence[Hit], filters: Mapping[str, str], *, is_last: bool
) -> tuple[tuple[Cited, ...], tuple[Replaced, ...]]:
    """Return the claims and the records that no longer hold; nothing where memory knows nothing.

    Unless one of them is an answer, the other passages that were found are claims too, as candidates. Raises Moved.
    """
    hits = _of_those_named(context, asked, hits)
    over = [hit for hit in hits if is_over(hit.record)]
    notes = set() if compiled(_OF_RETIREMENT).search(asked.text) else _notes(context, over)
    now = [hit for hit in hits if not is_over(hit.record) and hit.record.slug not in notes]
    best = max((_relevance(asked, hit) for hit in [*now[:_STRONGEST], *over]), default=0.0)
    if asked.unknown or asked.is_empty:
        return (), ()
    read: _Read = cache(lambda record: quotes.open_source(context, record))
    likely = dict(zip(map(id, hits), _weigh(asked, hits), strict=True))
    found = [(hit, likely[id(hit)]) for hit in now]
    if best < 1:
        return _cite(context, _among(read, asked, found, is_last=is_last), set()), ()
    beside = best * (_BESIDE_BEST_HELD if any(hit.held for hit in hits) else _BESIDE_BEST)
    least = max(1.0, beside)
    gone = [hit.record for hit in over if _relevance(asked, hit) >= least]
    by = chains(context, (record.slug for record in gone))
    replaced = {record.slug: Replaced(record, by.get(record.slug, ())) for record in gone}
    first = now[:1] if any(_relevance(asked, hit) >= 1 for hit in now[:_STRONGEST]) else []
    least = max(_NEARLY, beside) if first else least
    bearing = [(hit, one) for hit, one in found if _relevance(asked, hit) >= least or hit in first]
    made = (_candidate(read, asked, hit, one, is_last=is_last) for hit, one in bearing)
    kept = _keep((item for item in made if item is not None), _CLAIMS, _MOST_OF_ONE)
    if kept and not any(is_answer(item.probability) for item in kept):
        kept = _among(read, asked, found, kept, is_last=is_last)
    was_best = best > max((_relevance(asked, hit) for hit in now[:_STRONGEST]), default=0.0)
    kept = _with_successors(context, asked, kept, replaced.values(), filters, is_first=was_best, among=now)
    kept, pairs = _beside(context, asked, kept, filters, among=now)
    return _cite(context, kept, pairs), tuple(replaced.values())


def _among(
    read: _Read,
    asked: Question,
    found: Sequence[tuple[Hit, float]],
    kept: Iterable[_Candidate] = (),
    *,
    is_last: bool,
) -> list[_Candidate]:
    """Return what is kept, then other passages: somebody may judge them.

    These are the most probable ones; with models the first ones, since the probability counts words alone.
    """
    if not any(is_candidate(one) for _, one in found):
        return [*kept]
    likeliest = found if any(hit.nearness for hit, _ in found) else sorted(found, key=lambda item: -item[1])
    made = (_candidate(read, asked, hit, one, is_last=is_last) for hit, one in likeliest)
    return _keep((*kept, *(item for item in made if item is not None)), _CANDIDATES, _CANDIDATES)


def _weigh(asked: Question, hits: Sequence[Hit]) -> list[float]:
    """Return how probable it is of each hit that it holds the answer."""
    pairs = zip(hits, read_signals(asked, hits), strict=True)
    return [
        CERTAIN if asked.is_answered_by(hit) and not is_retirement(hit.record.title) else probability(signals)
        for hit, signals in pairs
    ]


def _relevance(asked: Question, hit: Hit) -> float:
    """Return how relevant a passage is to a question; 1 is just enough.

    With models, similar words and nearness count together, since each alone tells too little. Without models, its words count. If
    the question names an entity, every record that was searched holds it, so fewer words are enough.
    """
    number = asked.asking or 1
    if hit.held:
        few = 0.0 if asked.subject.held else _MIN_COVERAGE_WORDS / number
        return (hit.held + _NEAR * hit.nearness) / min(_ALL, _MIN_COVERAGE + few)
    few = 0.0 if asked.subject.held else _WORDS / number
    wanted = min(_ALL, _ANY + few) + _ABSENT * asked.absent
    return min(hit.coverage / hit.known / wanted, hit.coverage / _LEAST)


def _of_those_named(context: Context, asked: Question, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return the hits of records that hold one of the question's names: what is true of another product is no answer."""
    if not asked.names:
        return hits
    held = naming(context.index.database.connect(), {hit.record.slug for hit in hits}, asked.names)
    return [hit for hit in hits if hit.record.slug in held]


def is_over(record: Summary) -> bool:
    """Return whether a record no longer holds."""
    return record.effective_status in OVER


def _notes(context: Context, over: Iterable[Hit]) -> set[str]:
    """Return the slugs of the records that only retire one of these: they repeat its title and not its text."""
    ends = (hit.chain[-1] for hit in over if hit.chain)
    return {slug for slug in dict.fromkeys(ends) if is_retirement(_title(context, slug))}


def _title(context: Context, slug: str) -> str:
    summary = query.summary(context.index.database.connect(), slug)
    return Summary.from_row(summary).title if summary is not None else ""


def _candidate(read: _Read, asked: Question, hit: Hit, likely: float, *, is_last: bool) -> _Candidate | None:
    source = read(hit.record)
    if source is None:
        if not is_last:
            raise Moved
        return None
    if hit.record.path.endswith(".json"):
        quote = quotes.quote_value(source, asked.share_in)
    else:
        quote = quotes.quote_lines(source, hit.first_line, hit.last_line, hit.snippet)
        if quote is None and source.merged:
            quote = quotes.quote_beside_merges(source, hit.first_line, hit.last_line, asked.share_in)
    return None if quote is None else _Candidate(source, quote, hit.coverage, likely)


def _keep(candidates: Iterable[_Candidate], most: int, most_of_one: int) -> list[_Candidate]:
    """Choose up to `most` passages in their order, up to `most_of_one` of a record.

    Of those that say the same, the newest record's is chosen and names the others.
    """
    kept: list[_Candidate] = []
    for item in candidates:
        twin = next((at for at, other in enumerate(kept) if _say_the_same(other, item)), -1)
        if twin >= 0:
            kept[twin] = _merge(kept[twin], item)
            continue
        mine = [other for other in kept if other.source.record.slug == item.source.record.slug]
        overlaps = any(_overlap(other.quote, item.quote) for other in mine)
        if len(kept) < most and len(mine) < most_of_one and not overlaps:
            kept.append(item)
    return kept


def _say_the_same(one: _Candidate, other: _Candidate) -> bool:
    return one.source.record.slug != other.source.record.slug and one.quote.text.split() == other.quote.text.split()


def _merge(one: _Candidate, other: _Candidate) -> _Candidate:
    """Return the newer of two that say the same, with the slug of the older one."""
    old, new = sorted((one, other), key=lambda item: (item.source.record.sort_ts, item.source.record.slug))
    others = {*one.said_in, *other.said_in, old.source.record.slug} - {new.source.record.slug}
    coverage, likely = max(one.coverage, other.coverage), max(one.probability, other.probability)
    return replace(new, coverage=coverage, probability=likely, said_in=tuple(sorted(others)))


def _overlap(one: Quote, other: Quote) -> bool:
    return one.lines[0] <= other.lines[1] and other.lines[0] <= one.lines[1] and one.place == other.place


def _with_successors(
    context: Context,
    asked: Question,
    kept: Sequence[_Candidate],
    over: Iterable[Replaced],
    filters: Mapping[str, str],
    *,
    is_first: bool,
    among: Sequence[Hit],
) -> list[_Candidate]:
    """Add the successor of each replaced record, the end of its chain, and note on each claim what it replaces.

    A successor is added if it is in the same project. Unless the question names an entity, its words must be relevant too. It is
    weighed `among` the hits.
    """
    stands_for: dict[str, list[str]] = {}
    for item in over:
        if by := listing.successor(context, item.record.slug):
            stands_for.setdefault(by, []).append(item.record.slug)
    known = {item.source.record.slug for item in kept}
    added = [
        found
        for slug, replaced in stands_for.items()
        if slug not in known
        and (found := _whole(context, asked, slug, filters, beside=replaced, among=among)) is not None
        if asked.subject.held or _relevance(asked, _as_hit(found.source, found.quote, found.coverage)) >= 1
    ]
    whole = [*added, *kept] if is_first else [*kept, *added]
    return [replace(item, stands_for=tuple(stands_for.get(item.source.record.slug, ()))) for item in whole]


def _whole(
    context: Context,
    asked: Question,
    slug: str,
    filters: Mapping[str, str],
    *,
    beside: Sequence[str],
    among: Sequence[Hit],
) -> _Candidate | None:
    """Return the best quote of a record that holds, passes the filters and is in the project of a record `beside` it."""
    if project_of(slug) not in map(project_of, beside):
        return None
    connection = context.index.database.connect()
    condition = query.conditions({f"record.{name}": wanted for name, wanted in filters.items()})
    rows = query.summaries(connection, query.ids_of(connection, [slug]), condition)
    record = Summary.from_row(rows[0][1:]) if rows else None
    source = quotes.open_source(context, record) if record is not None and not is_over(record) else None
    quote = quotes.best_quote(source, asked.share_in) if source is not None else None
    if source is None or quote is None:
        return None
    coverage = asked.share_in(f"{quote.text}\n{source.record.title}")
    likely, *_ = _weigh(asked, [_as_hit(source, quote, coverage), *among])
    return _Candidate(source, quote, coverage, likely)


def _as_hit(source: QuotedFile, quote: Quote, coverage: float) -> Hit:
    """Return a quote that was not searched for as a hit, so that it is weighed like one."""
    return Hit(source.record, 0.0, quote.text, *quote.lines, coverage=coverage)


def _beside(
    context: Context, asked: Question, kept: list[_Candidate], filters: Mapping[str, str], *, among: Sequence[Hit]
) -> tuple[list[_Candidate], set[frozenset[str]]]:
    """Put behind each claim what its record contradicts or is contradicted by; return the claims and the pairs of slugs.

    A record of another project that was not found itself is left out.
    """
    slugs = [item.source.record.slug for item in kept]
    connection = context.index.database.connect()
    edges = [*query.outgoing(connection, slugs, ["contradicts"]), *query.incoming(connection, slugs, ["contradicts"])]
    pairs = {frozenset((source, target)) for source, _, target, _ in edges if source != target}
    arranged: list[_Candidate] = []
    for item in kept:
        against = sorted({slug for pair in pairs if item.source.record.slug in pair for slug in pair})
        for slug in dict.fromkeys((item.source.record.slug, *against)):
            if all(slug != one.source.record.slug for one in arranged):
                mine = [one for one in kept if one.source.record.slug == slug]
                beside = [item.source.record.slug]
                arranged += mine or filter(None, [_whole(context, asked, slug, filters, beside=beside, among=among)])
    return arranged, pairs


def _cite(context: Context, kept: Sequence[_Candidate], pairs: set[frozenset[str]]) -> tuple[Cited, ...]:
    checker = Checker(context, budget=ANSWER_BUDGET)
    slugs = {f"c{number}": item.source.record.slug for number, item in enumerate(kept)}
    sources = {item.source.record.slug: item.source for item in kept}
    checked = {slug: checker.check_answer(source.record, source.document) for slug, source in sources.items()}
    return tuple(
        Cited(
            handle,
            item.source.record,
            item.quote,
            item.coverage,
            item.probability,
            checked[slugs[handle]],
            tuple(other for other, slug in slugs.items() if frozenset((slug, slugs[handle])) in pairs),
            item.stands_for,
            item.said_in,
        )
        for handle, item in zip(slugs, kept, strict=True)
    )
