"""The tools that answer without showing whole records: ask, get_fact, packet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oracle.app.scans.machine import veiled_claim, veiled_fact
from oracle.domain.records.packets import Request
from oracle.errors import NotInFederation, NotInMemory
from oracle.mcp.results import NOTICE, Answer, fenced, label, refusal, without_lists

if TYPE_CHECKING:
    from oracle.app.answers.reply import Cited, Reply
    from oracle.app.context import Context
    from oracle.app.memories.packets import Routed
    from oracle.mcp.binding import Binding


def ask(context: Context, _: Binding, *, question: str, project: str = "", seat: str = "") -> Answer:
    """Answer a question from the files."""
    from oracle.app.answers.answer import answer as answer_
    from oracle.app.records.succession import standing

    reply = answer_(context, question, project=project, seat=seat)
    data = {**reply.as_json(), **standing(context)}
    if reply.status != "answered":
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
    about = ", ".join(filter(None, (record.kind, record.seat_shown, record.sort_ts[:10], record.effective_status)))
    marks = f" [contradicts {', '.join(item.contradicts)}]" if item.contradicts else ""
    marks += f" [said in {', '.join(item.said_in)} too]" if item.said_in else ""
    names = "; ".join(f"{one.named.name} {one.liveness.value}" for one in item.checked.worst_names)
    marks += f" [{names}]" if names else ""
    place = f"{quote.path}:{quote.lines[0]}-{quote.lines[1]}"
    return f"[{item.handle}] {place} {label(record.title)} ({about}){marks}\n{fenced(quote.text)}"


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
    from oracle.app.records.succession import standing

    routed = route(context, Request(goal, role, project or binding.project, **without_lists(known)))
    sections = [
        f"{name}:\n" + "\n".join(f"{item.id or 'your own words'}\n{fenced(item.text)}" for item in items)
        for name, items in routed.packet.sections.items()
        if items
    ]
    text = "\n\n".join(sections) or "No memory helps with this step."
    return Answer({**_with_quotes(routed), **standing(context)}, text)


def _with_quotes(routed: Routed) -> dict[str, object]:
    """Return the JSON of a packet with the text of memories in fences. The caller's own words are unchanged."""
    data = routed.as_json()
    said = {
        name: [fenced(item.text) if item.id else item.text for item in items]
        for name, items in routed.packet.sections.items()
    }
    packet = data["packet"]
    return {"notice": NOTICE, **data, "packet": {**packet, **said} if isinstance(packet, dict) else said}
