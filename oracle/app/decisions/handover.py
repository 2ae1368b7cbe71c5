"""Hand a decision to people with a receipt, and record what they decided.

An invalid payload is never sent. The question is a dispatch receipt that contains the payload; the wake-up names its file.
The answer is a completion receipt and one record. Each is written once.
"""

from __future__ import annotations

import contextlib

from oracle.app.context import Context
from oracle.app.decisions import payload as decision_payloads
from oracle.app.delivery import wakeups
from oracle.app.delivery.team import Team, open_team
from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import PAYLOAD, Receipt, ReceiptKind, ReceiptName, new_receipt
from oracle.domain.names import FRONT, MEMORY, OPERATOR
from oracle.domain.records import decisions as rules
from oracle.domain.records.decisions import ABORT, WAIT, DecisionPayload
from oracle.domain.spelling import suggest
from oracle.domain.values import contents_of, value
from oracle.errors import Conflict, NotFound, UsageError
from oracle.store.delivery import handoffs
from oracle.store.delivery.handoffs import Outcome
from oracle.wording import say

DECISION = "decision"


@value
class Sent:
    """A question to people, as it is on disk. `is_new` is false if it was sent before."""

    name: ReceiptName
    receipt_path: str
    is_new: bool
    wake_up: wakeups.WakeUp = wakeups.WakeUp()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "decision_id": self.name.task_id,
            "source": self.name.source,
            "target": self.name.target,
            "receipt": self.receipt_path,
            "sent": self.is_new,
            "wake_up": self.wake_up.as_json(),
        }


@value
class Resolution:
    """What was decided: `choice` "" while the default is to wait."""

    decision_id: str
    choice: str
    label: str = ""
    by: str = ""
    record: str = ""
    receipt_path: str = ""
    is_new: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        whole = contents_of(self)
        return {**whole, "record": self.record or None, "receipt_path": self.receipt_path or None}


# Send -----------------------------------------------------------------------------------------------------------------


def send(
    context: Context, raw: bytes, *, session: str = "", project: str = "", profile: str = "", notifies: bool = True
) -> Sent:
    """Check a payload and hand it over, once. Raises InvalidRecord, SecretFound, TaskAlreadyQueued, UsageError, NoProfile."""
    payload = decision_payloads.validate(raw)
    team = _team(context, payload, session, project=project, profile=profile)
    name = _name(team, payload, session)
    due_at = payload.due_at
    fields = {
        "assigned_at": context.stamp(),
        "correlation_id": receipts.correlation_id(team.project, name.task_id),
        "due_at": timestamps.print_moment(due_at) if due_at else None,
        "objective": payload.text("context"),
        "task_kind": DECISION,
        "title": f"Decision: {payload.text('context')}"[:120],
        PAYLOAD: dict(payload.fields),
    }
    outcome = handoffs.publish(team.folder, new_receipt(ReceiptKind.DISPATCH, name, fields))
    path = handoffs.path_of(team.folder, name)
    is_new = outcome is Outcome.CREATED
    if is_new:
        context.note("decision", {**team.ends_of(name), "severity": payload.text("severity")})
    standing = handoffs.read(team.folder, name)
    if not notifies or standing is None or standing.text("notified_at"):
        return Sent(name, path, is_new)
    return Sent(name, path, is_new, _wake(context, team, name, seat=name.target, text=_text(team, payload, name, path)))


def _wake(context: Context, team: Team, name: ReceiptName, *, seat: str, text: str) -> wakeups.WakeUp:
    woken = wakeups.send(context, wakeups.enqueue(context, team, name, seat=seat, text=text))
    wakeups.warn_of(context, woken)
    return woken


def _team(context: Context, payload: DecisionPayload, session: str, *, project: str, profile: str) -> Team:
    found = (rules.split_seat(text)[0] for text in (session, payload.text("from_seat")))
    named = project or next(filter(None, found), "")
    if not named and not profile:
        raise UsageError(
            say("The project of this decision is unknown."),
            hint=say("Give --project, or --session PROJECT-koder."),
        )
    return open_team(context, named, path=profile)


def _name(team: Team, payload: DecisionPayload, session: str) -> ReceiptName:
    """Return the receipt's name. No profile has to name the front seat, because it is outside the team."""
    source = rules.split_seat(payload.text("from_seat"))[1]
    target = rules.split_seat(session or payload.text("to_seat") or FRONT)[1]
    name = receipts.receipt_name(payload.text("decision_id").lower(), source, target)
    for seat in (source, target):
        if seat not in (FRONT, team.profile.heartbeat_owner):
            team.profile.require_seat(seat)
    if source == target:
        raise UsageError(
            say("The seat {source} asks itself.", source=source), hint=say("Name the session of another seat.")
        )
    return name


def _text(team: Team, payload: DecisionPayload, name: ReceiptName, path: str) -> str:
    """Return the line that the seat is woken with: names and fixed words, since it may end at a shell's prompt."""
    default = payload.text("default_if_timeout")
    after = "the question stays open" if default == WAIT else f"{default} holds"
    return (
        f"DECISION_PAYLOAD {name.task_id} from {name.source} to {name.target}, {payload.text('severity')}:"
        f" Read {path}. Choose one of {', '.join(payload.choices)}. Without a choice within"
        f" {payload.text('timeout_minutes')} min {after}."
        f" What settles it is oracle team decision resolve {name.task_id} --project {team.project}."
    )


# Resolve --------------------------------------------------------------------------------------------------------------


def resolve(
    context: Context, project: str, decision_id: str, *, choice: str = "", by: str = OPERATOR, reason: str = ""
) -> Resolution:
    """Write down what was decided, once, or a default whose time has come. Raises NotFound, UsageError, Conflict."""
    team = open_team(context, project)
    asked = _find(team, decision_id.lower())
    payload = DecisionPayload(dict(asked.fields[PAYLOAD]))  # type: ignore[call-overload]
    chosen = choice or _default(context, payload)
    decider = by if choice else "timeout"
    if chosen == WAIT:
        return Resolution(asked.name.task_id, "")
    if chosen not in payload.choices:
        raise UsageError(
            say("{chosen!r} is not an option.", chosen=chosen),
            hint=suggest(chosen, payload.choices),
        )
    name = asked.name.answered_by()
    is_new = _settle(context, team, name, payload, chosen=chosen, decider=decider)
    handoffs.consume(team.folder, asked.name)
    path = handoffs.path_of(team.folder, name)
    record = _record(context, team, payload, name, chosen=chosen, decider=decider, reason=reason)
    if is_new:
        context.note("decided", {**team.ends_of(name), "choice": chosen, "by": decider})
    _tell(context, team, name, chosen=chosen, record=record)
    return Resolution(name.task_id, chosen, payload.label(chosen), decider, record, path, is_new)


def _tell(context: Context, team: Team, name: ReceiptName, *, chosen: str, record: str) -> None:
    """Let the asker know, once: memory has it with its own record, any other seat is woken."""
    if team.profile.role(name.target) == "memory":
        handoffs.acknowledge(team.folder, name, {"consumed_at": context.stamp()})
        return
    standing = handoffs.read(team.folder, name)
    if standing is not None and not standing.text("notified_at"):
        text = f"{name.task_id} is decided: {chosen}. Read {record}."
        _wake(context, team, name, seat=name.target, text=text)


def _find(team: Team, decision_id: str) -> Receipt:
    found = [receipt for receipt, _ in handoffs.receipts_of(team.folder, decision_id) if receipt.asks_people]
    if not found:
        raise NotFound(
            say("No decision {decision_id} was asked for in {project}.", decision_id=decision_id, project=team.project),
            hint=say("Its id is the `decision_id` of the payload; `oracle handoffs` lists what is open."),
        )
    return found[0]


def _default(context: Context, payload: DecisionPayload) -> str:
    due_at = payload.due_at
    if due_at is not None and context.now() < due_at:
        raise UsageError(
            say("People may still answer until {moment}.", moment=timestamps.print_moment(due_at)),
            hint=say("Give the choice with --choose, or wait."),
        )
    return payload.text("default_if_timeout")


def _settle(
    context: Context, team: Team, name: ReceiptName, payload: DecisionPayload, *, chosen: str, decider: str
) -> bool:
    """Create the completion receipt; tell whether it is new. Raises Conflict when something else was decided."""
    fields = {
        "chosen_option_id": chosen,
        "decided_by": decider,
        "delivered_at": context.stamp(),
        "status": "aborted" if chosen == ABORT else "completed",
        "summary": payload.label(chosen),
        "title": f"Decision: {payload.text('context')}"[:120],
    }
    if not _standing_choice(team, name):
        with contextlib.suppress(Conflict):  # another came first
            if handoffs.complete(team.folder, new_receipt(ReceiptKind.COMPLETION, name, fields)) is Outcome.CREATED:
                return True
    standing = _standing_choice(team, name)
    if standing != chosen:
        raise Conflict(
            say(
                "{task_id} was decided already: {standing}.",
                task_id=name.task_id,
                standing=standing or say("in a way that can not be read"),
            ),
            hint=say("Ask again with a payload that has a new id."),
        )
    return False


def _standing_choice(team: Team, name: ReceiptName) -> str:
    found = handoffs.find(team.folder, name)
    return found.text("chosen_option_id") if found is not None else ""


def _record(
    context: Context, team: Team, payload: DecisionPayload, name: ReceiptName, *, chosen: str, decider: str, reason: str
) -> str:
    from oracle.app.records.once import write_once
    from oracle.domain.records.drafts import Draft

    title = f"Decided {chosen} ({payload.label(chosen)}) on {name.task_id}"[:200]
    issue = payload.text("issue_id")
    options = "\n".join(f"- {key}: {label}" for key, label in payload.labels.items())
    because = f"\n\nReason: {reason}" if reason else ""
    context_of = payload.text("context")
    head = "Context:\n\n" if context_of.lstrip().startswith("---") else ""  # it must not pass for frontmatter
    body = (
        f"{head}{context_of}\n\n{options}\n\n{payload.text('from_seat')} asked; {decider} decided for {chosen}"
        f" ({payload.label(chosen)}).{because}\n"
    )
    extra = {
        "decision_id": name.task_id,
        "decision_type": "timeout" if decider == "timeout" else "choice",
        "chosen_option_id": chosen,
        "decided_by": decider,
        "severity": payload.text("severity"),
        "category": payload.text("category"),
    }
    task = issue if issue.startswith("#") else ""
    draft = Draft(
        DECISION,
        team.project,
        title,
        body=body,
        author=decider,
        seat=MEMORY,
        task_id=task,
        status="resolved",
        extra=extra,
    )
    return write_once(context, draft)
