"""The steps of an answered handoff, each of which looks first whether it is done. App room; the hand behind every delivery.

Order: response, completion receipt, dispatch consumed, DELIVERY.md, queue, task table, dispatch log, journal, wake-up. The
receipt is the fact: whoever creates it has delivered, everybody else finds it. All of it is repeated from the intent when the
process dies on the way.
"""

from __future__ import annotations

import os

from oracle.app.delivery import dispatches, divergent, wakeups
from oracle.app.delivery import team as teams
from oracle.app.delivery.team import Team
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import (
    CONSUMED,
    Kind,
    Receipt,
    ReceiptName,
    new_receipt,
    receipt_name,
)
from oracle.domain.values import replace, value
from oracle.errors import Conflict, UsageError
from oracle.store.delivery import handoffs, responses
from oracle.store.delivery.handoffs import Outcome
from oracle.store.root.profile import PLANNER_ROLES
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.app.context import Context
    from oracle.store.delivery.inbox import Entry

REFUSE, SUPERSEDE, REWORK = "refuse", "supersede", "rework"
"""What becomes of another answer that stands: it stays and the new one is a conflict; it is replaced and kept aside, response
and receipt; its receipt alone is replaced and kept aside."""


@value
class Work:
    """A delivery, ready to be carried out: the completion receipt, the response if it has one, and what to do about others."""

    receipt: Receipt
    response: Mapping[str, object] | None = None
    policy: str = REFUSE
    notifies: bool = True

    def as_fields(self, team: Team) -> dict[str, object]:
        """Return the object that an intent keeps."""
        return {
            "project": team.project,
            "profile": team.profile.path,
            "receipt": dict(self.receipt.fields),
            "response": None if self.response is None else dict(self.response),
            "policy": self.policy,
            "notifies": self.notifies,
        }


@value
class Delivered:
    """What a delivery left on disk; `is_new` is false when the same had been delivered before and nothing changed."""

    name: ReceiptName
    is_new: bool
    receipt_path: str
    delivery_path: str
    response_path: str = ""
    all_verified: bool | None = None
    confidence: str = ""
    wake_up: wakeups.WakeUp = wakeups.WakeUp()
    lineage: str = ""
    record: str = ""
    settled: int = 0
    """How many answers that were kept aside this delivery decided against."""
    redacted: tuple[str, ...] = ()
    """What was replaced in it, by rule and place."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "task_id": self.name.task_id,
            "source": self.name.source,
            "target": self.name.target,
            "delivered": self.is_new,
            "already_delivered": not self.is_new,
            "response": self.response_path or None,
            "receipt": self.receipt_path,
            "all_verified": self.all_verified,
            "confidence": self.confidence or None,
            "lineage_status": self.lineage or None,
            "record": self.record or None,
            "settled": self.settled,
            "redacted": list(self.redacted),
            "wake_up": self.wake_up.as_json(),
        }


def work_of(fields: Mapping[str, object]) -> Work:
    """Return the work that an intent keeps. Raises UsageError for an object that is none."""
    receipt, response = fields.get("receipt"), fields.get("response")
    if not isinstance(receipt, dict) or not (response is None or isinstance(response, dict)):
        raise UsageError(say("An intent in the inbox holds no delivery."), hint=say("It is dropped."))
    name = receipt_name(*(str(receipt.get(key, "")) for key in ("task_id", "source", "target")))
    policy = str(fields.get("policy", REFUSE))
    return Work(Receipt(name, Kind.COMPLETION, receipt), response, policy, fields.get("notifies") is not False)


# Carry out ------------------------------------------------------------------------------------------------------------


def carry_out(context: Context, team: Team, work: Work) -> tuple[Delivered, tuple[Entry, ...]]:
    """Do every step for the first time; return what is there now and the wake-ups that are owed.

    The same delivery again changes nothing. Raises Conflict, HandoffFailed, DiskFailure, LockTimeout.
    """
    receipt, is_new, stored = _answer(context, team, work)
    response_path = stored.path if stored else ""
    _consume(team, receipt.name)
    if stored is not None and stored.settled:
        context.note("settle", {**team.ends_of(receipt.name), "superseded": stored.settled})
    if not is_new:
        context.note("skip", {**team.ends_of(receipt.name), "what": "delivery", "reason": "already delivered"})
        return replace(_delivered(team, receipt, response_path), settled=stored.settled if stored else 0), ()
    return _tell(context, team, work, receipt, response_path)


def carry_on(context: Context, team: Team, work: Work) -> tuple[Delivered, tuple[Entry, ...]]:
    """Do what a dead process left undone; the same steps, whoever made the receipt."""
    receipt, _, stored = _answer(context, team, work)
    _consume(team, receipt.name)
    return _tell(context, team, work, receipt, stored.path if stored else "")


def _answer(context: Context, team: Team, work: Work) -> tuple[Receipt, bool, responses.Stored | None]:
    """Store the response and create the receipt; return the receipt that stands, whether it is ours, and the response."""
    try:
        if work.response is not None:
            teams.require_own_response(context, team, work.receipt.name)
        receipt, stored = _respond(context, work)
        outcome = _complete(team.folder, receipt, work.policy, stored)
    except Conflict as error:
        context.note("conflict", {**team.ends_of(work.receipt.name), "reason": error.sentence})
        raise
    standing = handoffs.find(team.folder, receipt.name) or receipt
    return standing, outcome is Outcome.CREATED, stored


def _respond(context: Context, work: Work) -> tuple[Receipt, responses.Stored | None]:
    if work.response is None:
        return work.receipt, None
    put = responses.supersede if work.policy == SUPERSEDE else responses.put
    stored = put(context.root, work.receipt.name.task_id, work.response)
    facts = {"response_path": stored.path, "response_digest": stored.digest}
    return work.receipt.with_fields(facts), stored


def _complete(folder: str, receipt: Receipt, policy: str, stored: responses.Stored | None) -> Outcome:
    """Create the receipt; one that carries the same response is the same delivery, whatever else it says.

    A question and an answer that go the same way have one name: an open question is never put aside for an answer. Raises Conflict.
    """
    standing = handoffs.read(folder, receipt.name)
    if standing is not None and standing.kind is Kind.DISPATCH:
        raise Conflict(
            say(
                "{source} asked {target} under the task id {task_id}, and that is still open; nothing was completed.",
                source=receipt.name.source,
                target=receipt.name.target,
                task_id=receipt.name.task_id,
            ),
            hint=say(
                "It is {target} who completes it, for {source}; another task needs another id.",
                source=receipt.name.source,
                target=receipt.name.target,
            ),
        )
    found = handoffs.find(folder, receipt.name)
    if found is not None and stored is not None and found.kind is Kind.COMPLETION:
        digest = found.text("response_digest")
        if digest == stored.digest or (not digest and stored.outcome is Outcome.ALREADY):
            return Outcome.ALREADY
        if not digest or policy == SUPERSEDE:
            return handoffs.supersede(folder, receipt)
    if policy == REFUSE:
        return handoffs.complete(folder, receipt)
    if found is None:
        try:
            return handoffs.complete(folder, receipt)
        except Conflict:  # another came first
            return handoffs.supersede(folder, receipt)
    if receipts.say_the_same(found, receipt):
        return Outcome.ALREADY
    return handoffs.supersede(folder, receipt)


def _consume(team: Team, name: ReceiptName) -> None:
    """Consume the dispatches that this completion answers; a planner's closeout consumes all that was sent to it."""
    closes = team.profile.role(name.source) in PLANNER_ROLES
    for receipt, is_open in dispatches.dispatches_to(team.folder, name.task_id, name.source):
        if is_open and (closes or dispatches.is_answer(name, receipt)):
            handoffs.consume(team.folder, receipt.name)


# What tells the team --------------------------------------------------------------------------------------------------


def _tell(
    context: Context, team: Team, work: Work, receipt: Receipt, response_path: str
) -> tuple[Delivered, tuple[Entry, ...]]:
    _write_tree(context, team, receipt)
    details = team.ends_of(receipt.name)
    context.note("delivery", {**details, "lineage": receipt.text("lineage_status"), "notifies": work.notifies})
    record = divergent.note(context, team, receipt)
    done = replace(_delivered(team, receipt, response_path), is_new=True, record=record)
    return done, _owe(context, team, done, receipt) if work.notifies else ()


def _owe(context: Context, team: Team, done: Delivered, receipt: Receipt) -> tuple[Entry, ...]:
    """Owe the reader a wake-up unless it was woken, and memory a word about a commit outside of the main line."""
    name = done.name
    owed = [
        divergent.owe_memory(context, team, receipt, seat)
        for seat in team.profile.seats_of("memory")[:1]
        if done.record
    ]
    if not receipt.text("notified_at") and name.target != teams.OPERATOR:
        where = done.response_path or done.delivery_path
        text = f"{name.task_id} complete from {name.source} to {name.target}."
        text += f" Read {where} and write a durable Consumed ACK when handled."
        if done.record:
            text += f" {divergent.PASS_NEEDS_INTEGRATION}: its commit is not in the main line, see {done.record}."
        text += team.how_to_read(name.task_id) if done.response_path else ""
        owed.append(wakeups.owe(context, team, name, seat=name.target, text=text))
    return tuple(owed)


def _delivered(team: Team, receipt: Receipt, response_path: str) -> Delivered:
    path = handoffs.path_of(team.folder, receipt.name)
    return Delivered(
        receipt.name,
        is_new=False,
        receipt_path=path if os.path.exists(path) else path + CONSUMED,
        delivery_path=team.tree.delivery_file(receipt.name.source),
        response_path=response_path,
        lineage=receipt.text("lineage_status"),
    )


def _write_tree(context: Context, team: Team, receipt: Receipt) -> None:
    """Write DELIVERY.md, complete the queue's entry and the table's row, and put a line into the dispatch log."""
    from oracle.store.delivery import task_tree

    name, moment = receipt.name, context.now()
    fields = {
        "task_id": name.task_id,
        "owner": name.source,
        "target": name.target,
        "status": receipt.text("status"),
        "date": receipt.text("delivered_at"),
        **{key: receipt.text(key) for key in ("correlation_id", "branch", "commit", "sweep_count")},
    }
    paragraphs = {
        "Verdict": receipt.text("verdict"),
        "FrontstageDisposition": receipt.text("frontstage_disposition"),
        "UserSummary": receipt.text("user_summary"),
        "NextAction": receipt.text("next_action"),
        "core_ux_gate": receipt.text("core_ux_gate"),
    }
    title = receipt.text("title") or name.task_id
    summary = receipt.text("summary")
    task_tree.write_delivery(team.tree, name.source, fields, title=title, summary=summary, paragraphs=paragraphs)
    task_tree.complete_task(
        team.tree, name.source, name.task_id, day=moment.date().isoformat(), note=receipt.text("status") or "done"
    )
    if any(row.get("ID") == name.task_id for row in task_tree.read_rows(team.tree)):
        task_tree.upsert_row(team.tree, name.task_id, {"Status": receipt.text("status") or "completed"})
    line = f"{name.source} completed {name.task_id} to {name.target} test_policy={receipt.text('test_policy')}"
    for key in ("verdict", "commit"):
        line += f" {key}={receipt.text(key)}" if receipt.text(key) else ""
    log_once(context, team, line, task_id=name.task_id)


def log_once(context: Context, team: Team, line: str, *, task_id: str) -> None:
    """Put a line into the dispatch log unless its last one says the same: a step that is repeated leaves one line."""
    from oracle.store.delivery import task_tree

    last = task_tree.read_log(team.tree)[-1:]
    if not (last and last[0].partition(": ")[2] == line):
        task_tree.append_log(team.tree, line, task_id=task_id, moment=context.now().astimezone())


def send_all(context: Context, done: Delivered, owed: Sequence[Entry]) -> Delivered:
    """Send the wake-ups of a delivery; what fails is a warning and waits in the inbox. The reader's comes last."""
    outcome = wakeups.WakeUp()
    for entry in owed:
        outcome = wakeups.send(context, entry)
        wakeups.warn_of(context, outcome)
    return replace(done, wake_up=outcome)


def completion(name: ReceiptName, fields: Mapping[str, object], *, asked: Receipt | None) -> Receipt:
    """Return a completion receipt; what it leaves open comes from the dispatch that it answers."""
    whole = dict(fields)
    for key in ("correlation_id", "title", "test_policy", "user_summary"):
        if asked is not None and not whole.get(key):
            whole[key] = asked.fields.get(key)
    if asked is None:
        whole["unsolicited"] = True
    return new_receipt(Kind.COMPLETION, name, {key: item for key, item in whole.items() if item not in (None, "")})
