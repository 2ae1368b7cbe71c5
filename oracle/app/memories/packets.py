"""Make a packet for a role: gather candidates from the index, read them from disk, choose, keep the packet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.records.views import Summary
from oracle.app.search.search import search
from oracle.domain import timestamps
from oracle.domain.experiences.experience import is_experience
from oracle.domain.markdown.documents import as_text, find_conflicts
from oracle.domain.names import check_name, entity, is_scanned
from oracle.domain.records import packets as rules
from oracle.domain.records.attention import READS, Candidate, Edge
from oracle.domain.records.drafts import check_task
from oracle.domain.records.memories import Memory, check_session, interpret, session_key, type_keys
from oracle.domain.records.packets import Packet, Request
from oracle.domain.records.records import interpret as interpret_record
from oracle.domain.values import contents_of, replace, value
from oracle.errors import DiskFailure
from oracle.index import fold
from oracle.index.db import Connection
from oracle.index.read import memories as places
from oracle.index.read import query
from oracle.store.delivery import packets as store
from oracle.store.markdown import records
from oracle.wording import say

_HITS = 40
"""Hits of a search, and newest records of a task, a session or a type, that are looked at."""
_RECENT = 20
_SECOND = 0.7
"""What a hit for failures and questions is worth beside one for the goal."""
_LONGEST_READ = 4000
"""Characters of a record by which it is compared."""
_ROUNDS = 3
"""How far contradictions of contradictions are followed."""
_TASK = "entity:taskid:"


@value
class Routed:
    """A packet with the id under which it is kept, made of what it says: the same packet has the same id."""

    id: str
    packet: Packet

    def as_json(self) -> dict[str, object]:
        """Return the JSON form: `packet_id`, `request`, `packet` and `debug`."""
        return {"packet_id": self.id, "request": self.packet.request.as_json(), **self.packet.as_json()}


@value
class _Pool:
    """What was found: records by slug, those of the task and of the session, and the edges among them."""

    records: Mapping[str, Summary]
    in_task: frozenset[str]
    in_session: frozenset[str]
    edges: tuple[Edge, ...]


def route(context: Context, request: Request) -> Routed:
    """Return the packet for a step and keep it. What looks like a credential in the request is replaced first.

    Raises UsageError, InvalidName, NotInFederation for a project without a folder. Where it can't be kept it is returned
    all the same, with a warning.
    """
    request.check()
    _check_names(request)
    cleaned, _ = guard.clean(context, contents_of(request), guard.REDACT, what=say("The request"))
    request = replace(request, **cleaned)
    hits = _search(context, request)
    pool = context.index.read(lambda connection: _gather(connection, request, hits))
    packet = rules.compose(request, _candidates(context, request, hits, pool), pool.edges)
    return _keep(context, packet)


def kept(context: Context, limit: int) -> list[dict[str, object]]:
    """Return the packets that were made, the newest first."""
    context.root.require()
    return store.read(context.root, limit)


def _check_names(request: Request) -> None:
    if request.project:
        check_name(request.project, "project")
    check_task(request.task_id)
    check_session(request.session_id)


# -- where memories are looked for -------------------------------------------------------------------------------------


def _search(context: Context, request: Request) -> dict[str, tuple[Summary, float]]:
    """Return the hits by slug, each with its score as a share of the best."""
    found: dict[str, tuple[Summary, float]] = {}
    for text, worth in ((request.goal, 1.0), (" ".join((*request.failures, *request.questions)), _SECOND)):
        for record, share in _shares(context, text, request.project):
            score = worth * share
            if record.slug not in found or score > found[record.slug][1]:
                found[record.slug] = (record, score)
    return found


def _shares(context: Context, text: str, project: str) -> list[tuple[Summary, float]]:
    """Return the hits for a text, of a project and of none, with their scores as shares of the best."""
    if not text.strip():
        return []
    hits = search(context, text, {"project": project} if project else {}, limit=_HITS)
    if project:
        hits += [hit for hit in search(context, text, {}, limit=_HITS) if hit.record.path.startswith("shared/")]
    hits = [hit for hit in hits if not is_experience(hit.record.kind)]
    best = max((hit.score for hit in hits), default=0.0)
    if best > 0:
        return [(hit.record, max(0.0, hit.score / best)) for hit in hits]
    return [(hit.record, 1 / (1 + place)) for place, hit in enumerate(hits)]


def _gather(connection: Connection, request: Request, hits: Mapping[str, tuple[Summary, float]]) -> _Pool:
    """Return hits and the newest records of the task, of the session, of the types that the role reads, and of any."""

    def mention(target: str) -> list[Summary]:
        rows = places.newest(connection, request.project, limit=_HITS, target=target)
        return [Summary.from_row(row) for row in rows]

    task = mention(entity("taskid", request.task_id.removeprefix(_TASK))) if request.task_id else []
    session = mention(session_key(check_session(request.session_id))) if request.session_id else []
    found = {slug: record for slug, (record, _) in hits.items()}
    found |= {record.slug: record for record in (*task, *session)}
    for key in (key for kind in READS[request.role] for key in type_keys(kind)):
        found |= {record.slug: record for record in mention(key)}
    recent = places.newest(connection, request.project, limit=_RECENT)
    found |= {record.slug: record for record in map(Summary.from_row, recent)}
    edges = _edges(connection, found, request.project)
    return _Pool(
        found, frozenset(record.slug for record in task), frozenset(record.slug for record in session), tuple(edges)
    )


def _edges(connection: Connection, found: dict[str, Summary], project: str) -> list[Edge]:
    """Return who supports and contradicts what was found, and contradicting records of the project; only records that hold."""
    edges: list[Edge] = []
    new = list(found)
    for _ in range(_ROUNDS):
        before = set(found)
        for source, kind, target, _ in list(query.incoming(connection, new, ("supports", "contradicts"))):
            row = query.summary(connection, source)
            record = Summary.from_row(row) if row is not None else None
            is_near = record is not None and (
                not project or record.project == project or record.path.startswith("shared/")
            )
            if record is not None and is_near and _stands(record):
                edges.append(Edge(source, kind, target))
                if kind == "contradicts":
                    found.setdefault(source, record)
        new = [slug for slug in found if slug not in before]
    return edges


def _stands(record: Summary) -> bool:
    return not record.retired_by and record.status not in ("superseded", "retired")


# -- candidates --------------------------------------------------------------------------------------------------------


def _candidates(
    context: Context, request: Request, hits: Mapping[str, tuple[Summary, float]], pool: _Pool
) -> list[Candidate]:
    """Read what was found; a record that is gone, over, not yet or no longer valid is left out."""
    now = timestamps.from_mtime(context.clock.now_ns())
    goal = fold.rough_stems(fold.terms_of(request.goal))
    found: dict[str, Candidate] = {}
    for slug, record in pool.records.items():
        is_memory = _stands(record) and not is_scanned(record.path) and not is_experience(record.kind)
        memory = read_memory(context, record) if is_memory else None
        if memory is None or memory.retires or not memory.holds(now):
            continue
        share = hits[slug][1] if slug in hits else 0.0
        covered = len(goal & memory.words) / max(1, len(goal))
        relevance = max(share * (0.5 + covered / 2), covered / 2)
        in_session = bool(request.session_id) and memory.session_id == request.session_id.strip()
        found[slug] = Candidate(memory, relevance, slug in pool.in_task, in_session or slug in pool.in_session)
    return _inherit(found, pool.edges)


def _inherit(found: Mapping[str, Candidate], edges: Iterable[Edge]) -> list[Candidate]:
    """Let what contradicts a memory fit the goal at least as well as that memory does: it speaks of the same."""
    fits = {slug: candidate.relevance for slug, candidate in found.items()}
    for edge in edges:
        if edge.type == "contradicts" and edge.source in fits and edge.target in fits:
            fits[edge.source] = max(fits[edge.source], found[edge.target].relevance)
    return [
        Candidate(candidate.memory, fits[slug], candidate.in_task, candidate.in_session)
        for slug, candidate in found.items()
    ]


def read_memory(context: Context, record: Summary) -> Memory | None:
    """Read a record from disk as a memory; None when it is gone."""
    document = records.read_document(context.root, record.path)
    if document is None:
        return None
    read = interpret_record(document, record.slug, record.path, mtime_ns=0)
    fields = read.document.fields
    said = _first_paragraph(document.body) or as_text(fields.get("detail") or fields.get("reason") or "")
    listed = (as_text(fields.get(name, "")) for name in ("keywords", "tags", "details"))
    terms = fold.terms_of(" ".join((record.title, document.body[:_LONGEST_READ], *listed)))
    words = fold.rough_stems(terms)
    return replace(interpret(read, said, words), ts=record.sort_ts)


def _first_paragraph(body: str) -> str:
    """Return the first paragraph that is neither a heading nor a side of an unresolved merge."""
    lines = body.split("\n")
    for first, last in find_conflicts(lines):
        lines[first - 1 : last] = [""] * (last - first + 1)
    paragraphs = (part.strip() for part in "\n".join(lines).split("\n\n"))
    return next((part for part in paragraphs if part and not part.startswith(("#", "---"))), "")


# -- keeping -----------------------------------------------------------------------------------------------------------


def _keep(context: Context, packet: Packet) -> Routed:
    content = {"request": packet.request.as_json(), **packet.as_json()}
    canonical = json.dumps(content, ensure_ascii=True, sort_keys=True).encode("ascii")
    routed = Routed(f"packet-{hashlib.sha256(canonical).hexdigest()[:16]}", packet)
    created_at = timestamps.from_mtime(context.clock.now_ns())
    if context.index.database.in_memory:
        context.warn(say("the packet is not kept: the Root can't be written"))
        return routed
    try:
        store.keep(context.root, routed.id, {"created_at": created_at, **routed.as_json()})
    except DiskFailure as error:
        context.warn(say("the packet is not kept: {error}", error=error))
    return routed
