"""The memories and records that are relevant to a prompt, best first. Experiences and messages of sessions are never among them."""

from __future__ import annotations

import os

from oracle.app.search.search import search, shelf_of
from oracle.domain import timestamps
from oracle.domain.injection import ranking
from oracle.domain.injection.envelope import ContextItem
from oracle.domain.injection.ranking import Signals
from oracle.domain.names import project_of
from oracle.domain.records.remembered import PROJECT, memory_type_in
from oracle.domain.values import value
from oracle.errors import NotInFederation
from oracle.index import fold
from oracle.store.markdown import records
from oracle.store.root import projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.app.codebase.stale_names import Checker
    from oracle.app.context import Context
    from oracle.app.records.views import Hit, Summary
    from oracle.domain.markdown.documents import Document

_LEFT_OUT = ("experience", "session")
"""Kinds that are no memories of a prompt: lessons have a section of their own, and the messages of a session repeat it."""
_HITS = 12
"""Hits that are looked at, at least."""
_READ = 32
"""Records whose files are read for their words, half of what a search reads: a prompt does not wait."""
_LIVENESS_BUDGET = 0.3
"""Seconds for looking up what the memories name."""
_MOST_NAMES = 5


@value
class RankedMemory:
    """A memory for a prompt: the item, how relevant it is, and whether it is about a state that `git log` shows better."""

    item: ContextItem
    relevance: float
    is_of_project: bool


def find_memories(context: Context, query: str, *, project: str, limit: int, threshold: float) -> list[RankedMemory]:
    """Return up to `limit` memories whose relevance reaches the threshold, best first, of equal ones the newest."""
    words = fold.rough_stems(fold.terms_of(query))
    best: dict[str, tuple[Hit, float]] = {}
    for hit in _hits(context, query, project, max(_HITS, 3 * limit)):
        found = _relevance(hit, words)
        if found >= threshold and found > best.get(hit.record.slug, (hit, 0.0))[1]:
            best[hit.record.slug] = (hit, found)
    checker = _checker(context, {project_of(hit.record.path) for hit, _ in best.values()})
    made = (_memory(context, checker, hit, found) for hit, found in best.values())
    newest = sorted((one for one in made if one is not None), key=lambda one: one.item.date, reverse=True)
    return sorted(newest, key=lambda one: round(one.item.score, 6), reverse=True)[:limit]


def _hits(context: Context, query: str, project: str, limit: int) -> list[Hit]:
    """Return the passages of a project and of none; of all projects if the project is unknown."""
    hits: list[Hit] = []
    if project:
        try:
            hits = search(context, query, {"project": project}, limit=limit, strict=True, with_shared=True, most=_READ)
        except NotInFederation:
            project = ""
    if not project:
        hits = search(context, query, {}, limit=limit, strict=True, most=_READ)
    return [hit for hit in hits if hit.record.kind not in _LEFT_OUT and not hit.record.is_retired]


def _checker(context: Context, names: Iterable[str]) -> Checker | None:
    """Return what looks names up in repositories, None where no project has one: it costs a prompt its time."""
    if not any(name and projects.repository(context.root, name, os.environ) for name in names):
        return None
    from oracle.app.codebase.stale_names import Checker

    return Checker(context, budget=_LIVENESS_BUDGET)


def _relevance(hit: Hit, words: frozenset[str]) -> float:
    shared = len(words & fold.rough_stems(fold.terms_of(f"{hit.record.title}\n{hit.snippet}")))
    of_known = hit.coverage / (hit.known or 1.0)
    by_words = ranking.relevance(hit.coverage, of_known, shared=shared, words=len(words))
    return max(by_words, ranking.by_meaning(hit.nearness))


def _memory(context: Context, checker: Checker | None, hit: Hit, relevance: float) -> RankedMemory | None:
    """Return a hit as a memory, None if its file is gone."""
    record = hit.record
    try:
        raw = records.load(context.root, record.path)
    except OSError:
        return None
    fields = shelf_of(context).page(record, raw).fields
    kind = memory_type_in(fields)
    liveness, gone = _look_up(checker, record, records.parse(record.path, raw)) if checker else ("", "")
    moment = timestamps.parse(record.sort_ts)
    signals = Signals(
        relevance,
        (context.now() - moment).total_seconds() / 86_400 if moment else 0.0,
        kind,
        has_evidence=bool(fields.get("evidence")),
        confidence=record.confidence.lower(),
        is_verified=liveness == "live",
        names_gone=liveness == "gone",
        claims_seat=bool(record.claims_seat),
    )
    item = ContextItem(
        title=record.title,
        text=hit.snippet,
        path=record.path,
        lines=(hit.first_line, hit.last_line),
        date=record.sort_ts,
        seat=record.seat,
        status=record.effective_status,
        score=ranking.worth(signals),
        slug=record.slug,
        note=gone,
    )
    return RankedMemory(item, relevance, kind in ("", PROJECT))


def _look_up(checker: Checker, record: Summary, document: Document) -> tuple[str, str]:
    """Return the liveness of what a memory names, and what became of the names that are gone or moved."""
    checked = checker.check_answer(record, document)
    found = [
        f"{one.named.name} is {one.liveness.value}" + (f" ({one.detail})" if one.detail else "")
        for one in checked.worst_names
    ]
    return checked.liveness.value, "; ".join(dict.fromkeys(found[:_MOST_NAMES]))
