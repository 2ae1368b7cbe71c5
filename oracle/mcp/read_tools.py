"""The tools that read: search, show, backlinks, graph, list_records, ask, get_fact, packet."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oracle.app.records.views import backlink_json, chain_json
from oracle.app.scans.machine import veiled_claim, veiled_fact
from oracle.domain.names import is_entity
from oracle.domain.records.packets import Request
from oracle.errors import NotInFederation, NotInMemory
from oracle.mcp.arguments import FILTER_NAMES
from oracle.mcp.results import NOTICE, Answer, fenced, label, refusal, without_lists
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.answers.reply import Cited, Reply
    from oracle.app.context import Context
    from oracle.app.memories.packets import Routed
    from oracle.app.records.views import Hit, Summary
    from oracle.domain.links.graph import Walk
    from oracle.mcp.binding import Binding


LONGEST_SHOWN = 40_000
"""Characters of a record in one answer. Ask for the rest by line."""
_MOST_EDGES = 500
_PLACE = re.compile(r"(.+\.(?:md|json)):(\d{1,9})(?:[-:](\d{1,9}))?")


def search(context: Context, _: Binding, *, query: str, limit: int = 5, strict: bool = False, **filters: str) -> Answer:
    """Find passages by words. Raises UsageError without words."""
    from oracle.app.queries import lookup

    lookup.require_words(query)
    asked = {"text": query, "filters": chosen(filters), "limit": limit, "strict": strict}
    found = lookup.find(context, "search", {**asked, "fresh": False, "lexical": False}, loads_models=True)
    hits: list[Hit] = found.result
    data = {"records": [hit.as_json() for hit in hits], **found.standing}
    if not hits:
        from oracle.app.overview.completion import known_words

        hint = known_words(context, filters) or say("Try fewer words, or fewer filters.")
        return refusal(NotInMemory(say("not_in_memory_db: nothing was found for these words."), hint=hint), data)
    return Answer(data, "\n\n".join(map(_hit, hits)))


def show(context: Context, _: Binding, *, record: str, first_line: int = 1, last_line: int = 0) -> Answer:
    """Read lines of a record. Accepts PATH:FIRST-LAST as a search prints it."""
    from oracle.app.delivery.task_names import pointing_to_task
    from oracle.app.records.naming import show as show_

    place = _PLACE.fullmatch(record)
    if place and (first_line, last_line) == (1, 0):
        record, first_line, last_line = place[1], int(place[2]), int(place[3] or place[2])
    with pointing_to_task(context, record):
        shown = show_(context, record, first_line=first_line, last_line=last_line)
    text, last = _cut(shown.text, shown.first_line)
    data = {**shown.as_json(), "text": text, "lines": f"{shown.first_line}:{last}"}
    head = f"{shown.record.path}:{shown.first_line}-{last} of {shown.total_lines} lines{replaced(shown.record, shown.chain)}"
    head += f"; also replaced by {', '.join(shown.also_by)}" if shown.also_by else ""
    if last < shown.last_line:
        data["next_line"] = last + 1
        head += f"; it goes on at first_line {last + 1}"
    return Answer(data, f"{head}\n{fenced(text)}")


def backlinks(context: Context, _: Binding, *, target: str, types: Sequence[str] = (), limit: int = 50) -> Answer:
    """List what links to a target."""
    from oracle.app.delivery.task_names import pointing_to_task
    from oracle.app.records import listing
    from oracle.app.records.graph import backlinks as backlinks_
    from oracle.app.records.graph import check_types, resolve
    from oracle.app.records.listing import standing
    from oracle.app.records.naming import find

    check_types(types)
    name = resolve(context, target)
    rows = backlinks_(context, name, types=types)
    if not rows:
        with pointing_to_task(context, target):
            name = find(context, name)
        rows = backlinks_(context, name, types=types)
    kept = rows[:limit]
    chains = listing.chains(context, [row[0] for row in kept])
    edges = [backlink_json(name, row, chains.get(row[0], ())) for row in kept]
    data = {"target": name, "count": len(rows), "backlinks": edges, **standing(context)}
    lines = [
        f"{edge['path']}:{edge['line']} {edge['type']}{_mark(edge)}\n{fenced(str(edge['snippet']))}" for edge in edges
    ]
    return Answer(data, "\n".join([f"{len(rows)} backlinks of {name}{_first(len(kept), len(rows))}", *lines]))


def graph(
    context: Context, _: Binding, *, target: str, depth: int = 1, direction: str = "", types: Sequence[str] = ()
) -> Answer:
    """Walk the graph from a target."""
    from oracle.app.delivery.task_names import pointing_to_task
    from oracle.app.records import listing
    from oracle.app.records.graph import check_types
    from oracle.app.records.graph import graph as graph_
    from oracle.app.records.listing import standing
    from oracle.app.records.naming import find

    check_types(types)
    with pointing_to_task(context, target):
        name = find(context, target)
    way = direction or ("in" if is_entity(name) else "out")
    walk = graph_(context, name, depth=depth, direction=way, types=types)
    marks = listing.marks(context, walk.nodes)
    data = {**_walk_json(walk, marks), "direction": way, **standing(context)}
    lines = [
        f"{'  ' * (edge.depth - 1)}{edge.source} --{edge.type}--> {edge.target}{_in_brackets(marks.get(edge.target, ''))}"
        for edge in walk.edges[:_MOST_EDGES]
    ]
    head = f"{len(walk.edges)} edges from {walk.root}, {way}{_first(len(lines), len(walk.edges))}"
    return Answer(data, "\n".join([head, *lines]))


def list_records(context: Context, _: Binding, *, limit: int = 20, **filters: str) -> Answer:
    """List records by filters, newest first."""
    from oracle.app.records import listing
    from oracle.app.records.listing import standing

    found = listing.list_records(context, chosen(filters), limit=limit, newest_first=True)
    chains = listing.chains(context, [item.slug for item in found if item.retired_by])
    records = [{**item.as_json(), **chain_json(chains.get(item.slug, ()))} for item in found]
    data = {"records": records, **standing(context)}
    if not found:
        from oracle.app.overview.completion import known_words

        hint = known_words(context, filters) or say("Try fewer filters.")
        return refusal(NotInMemory(say("not_in_memory_db: no record matches these filters."), hint=hint), data)
    return Answer(data, "\n".join(line_of(item, chains.get(item.slug, ())) for item in found))


def chosen(filters: Mapping[str, str]) -> dict[str, str]:
    """Return the filters that were set."""
    return {name: filters[name] for name in FILTER_NAMES if filters.get(name)}


def line_of(record: Summary, chain: Sequence[str] = ()) -> str:
    """Return a record on one line."""
    about = ", ".join(filter(None, (record.kind, _who(record), record.sort_ts[:10])))
    return f"{record.path} {label(record.title)} ({about}){replaced(record, chain)}"


def _who(record: Summary) -> str:
    """Return the seat of a record; with an author's words beside it in quotation marks."""
    is_plain = record.claims_seat or record.seat_shown == record.seat
    return record.seat_shown if is_plain else label(record.seat_shown)


def replaced(record: Summary, chain: Sequence[str]) -> str:
    """Return the successors of a record that no longer holds, "" for one that does."""
    if not record.is_retired:
        return ""
    return f" [{record.effective_status}{' by ' + chain[0] if chain else ''}{', now ' + chain[-1] if len(chain) > 1 else ''}]"


def _hit(hit: Hit) -> str:
    place = f"{hit.record.path}:{hit.first_line}-{hit.last_line}"
    about = ", ".join(filter(None, (hit.record.kind, _who(hit.record), hit.record.sort_ts[:10])))
    head = f"{place} {label(hit.record.title)} ({about}){replaced(hit.record, hit.chain)}"
    return f"{head}\n{fenced(hit.snippet)}" if hit.snippet.strip() else head


def _cut(text: str, first_line: int) -> tuple[str, int]:
    """Return as many whole lines as fit, at least one, and the number of the last one."""
    lines = text.split("\n")
    room, count = LONGEST_SHOWN, 0
    while count < len(lines) and room >= len(lines[count]):
        room -= len(lines[count]) + 1
        count += 1
    kept = lines[:count] if count else [lines[0][:LONGEST_SHOWN]]
    return "\n".join(kept), first_line + len(kept) - 1


def _walk_json(walk: Walk, marks: Mapping[str, str]) -> dict[str, object]:
    edges = [
        {"from": edge.source, "to": edge.target, "type": edge.type, "snippet": edge.snippet, "depth": edge.depth}
        for edge in walk.edges[:_MOST_EDGES]
    ]
    return {
        "root": walk.root,
        "depth": walk.depth,
        "count": len(walk.edges),
        "nodes": list(walk.nodes)[: _MOST_EDGES + 1],
        "edges": edges,
        "statuses": dict(marks),
    }


def _first(kept: int, count: int) -> str:
    return f", the first {kept}" if kept < count else ""


def _mark(edge: Mapping[str, object]) -> str:
    return f" [{edge['status']} by {edge['retired_by']}]" if "status" in edge else ""


def _in_brackets(mark: str) -> str:
    return f" [{mark}]" if mark else ""


_NOT_JUDGED = "candidates: found, not judged. Each passage says how probable it is that it holds the answer."


def ask(context: Context, _: Binding, *, question: str, project: str = "", seat: str = "") -> Answer:
    """Answer a question from the files."""
    from oracle.app.answers.owner_programs import judge
    from oracle.app.answers.reply import ANSWERED, CANDIDATES
    from oracle.app.queries import lookup

    asked = {"question": question, "project": project, "seat": seat}
    found = lookup.find(context, "ask", asked, loads_models=True)
    reply = judge(context, found.result)
    data = {**reply.as_json(), **found.standing}
    if reply.status == CANDIDATES:
        return Answer(data, "\n\n".join([_NOT_JUDGED, *_paragraphs(reply)]))
    if reply.status != ANSWERED:
        kind = NotInFederation if reply.status == NotInFederation.code else NotInMemory
        near = "; ".join(f"{item.record.path}:{item.lines[0]}-{item.lines[1]}" for item in reply.nearest)
        hint = f"Nearest, but no answer: {near}." if near else "Rephrase the question, or dispatch it to a seat."
        return refusal(kind(f"{reply.status}: {reply.reason}.", hint=hint), data)
    hidden = {item.handle: veiled_claim(item) for item in reply.facts}
    claims = [hidden.get(str(claim["handle"]), claim) for claim in _claims(data)]
    facts = [f"[{claim['handle']}] {claim['path']}\n{fenced(str(claim['statement']))}" for claim in hidden.values()]
    answer = "\n\n".join(f"[{claim['handle']}] {claim['statement']}" for claim in claims)
    return Answer({**data, "claims": claims, "answer": answer}, "\n\n".join([*facts, *_paragraphs(reply)]))


def _claims(data: Mapping[str, object]) -> list[dict[str, object]]:
    claims = data["claims"]
    return claims if isinstance(claims, list) else []


def _paragraphs(reply: Reply) -> list[str]:
    gone = [
        f"not quoted: {item.record.slug} is {item.record.effective_status}{' by ' + item.by[-1] if item.by else ''}"
        for item in reply.replaced
    ]
    return [*map(_claim, reply.claims), *gone]


def _claim(item: Cited) -> str:
    record, quote = item.record, item.quote
    about = ", ".join(filter(None, (record.kind, _who(record), record.sort_ts[:10], record.effective_status)))
    marks = f" [contradicts {', '.join(item.contradicts)}]" if item.contradicts else ""
    marks += f" [said in {', '.join(item.said_in)} too]" if item.said_in else ""
    names = "; ".join(f"{one.named.name} {one.liveness.value}" for one in item.checked.worst_names)
    marks += f" [{names}]" if names else ""
    place = f"{quote.path}:{quote.lines[0]}-{quote.lines[1]}"
    likely = f"{100 * item.probability:.0f} %"
    return f"[{item.handle}] {place} {label(record.title)} ({about}) [{likely}]{marks}\n{fenced(quote.text)}"


def get_fact(context: Context, binding: Binding, *, key: str, project: str = "") -> Answer:
    """Look up a fact. Secrets are described, not shown."""
    from oracle.app.overview.status import find_fact

    fact = find_fact(context, key, project or binding.project)
    shown = veiled_fact(key, fact)
    data = {"key": key, "value": shown, "path": fact.path, "legacy": fact.legacy}
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, indent=2)
    return Answer(data, f"{key}, from {fact.path}\n{fenced(text)}")


def packet(
    context: Context,
    binding: Binding,
    *,
    role: str,
    goal: str,
    project: str = "",
    **known: Any,  # noqa: ANN401 -- the tool's schema names them
) -> Answer:
    """Choose memories for the next step of an agent. `known` is what else a request says."""
    from oracle.app.memories.packets import route
    from oracle.app.records.listing import standing

    routed = route(context, Request(goal, role, project or binding.project, **without_lists(known)))
    sections = [
        f"{name}:\n" + "\n".join(f"{item.id or 'your own words'}\n{fenced(item.text)}" for item in items)
        for name, items in routed.packet.sections.items()
        if items
    ]
    text = "\n\n".join(sections) or "No memory helps with this step."
    return Answer({**_with_quotes(routed), **standing(context)}, text)


def recall_experiences(context: Context, binding: Binding, *, task: str, project: str = "", limit: int = 3) -> Answer:
    """Recall lessons of earlier work for a task."""
    from oracle.app.experiences.recall import as_json, look_up
    from oracle.app.records.listing import standing

    found = look_up(context, task, project=project or binding.project, limit=limit)
    text = "\n\n".join(f"{item.slug} (score {item.score:.2f})\n{fenced(item.text)}" for item in found)
    data = {"experiences": [as_json(item) for item in found], **standing(context)}
    return Answer(data, text or "No experience is near enough to this task.")


def _with_quotes(routed: Routed) -> dict[str, object]:
    """Return the JSON of a packet with the text of memories in fences. The caller's own words are unchanged."""
    data = routed.as_json()
    said = {
        name: [fenced(item.text) if item.id else item.text for item in items]
        for name, items in routed.packet.sections.items()
    }
    packet = data["packet"]
    return {"notice": NOTICE, **data, "packet": {**packet, **said} if isinstance(packet, dict) else said}
