"""Deliver an answered handoff: check it, keep an intent, do the steps, wake the reader. Every delivery comes through here.

Steps: response, completion receipt, dispatch consumed, DELIVERY.md, queue, task table, dispatch log, journal, wake-up. The
receipt is the fact: the process that creates it has delivered, every other process finds it. Each step first checks whether it
is done, so that the next command can finish from the intent when a process dies. Only the line of the journal may then be repeated.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from oracle.app import claims, guard
from oracle.app.context import Context
from oracle.app.delivery import dispatches, homes, wakeups
from oracle.app.delivery.team import Team, note_completion, open_team, require_memory, require_own_response
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED, Receipt, ReceiptKind, ReceiptName, new_receipt
from oracle.domain.records.responses import require_answer
from oracle.domain.values import replace, value
from oracle.errors import Conflict
from oracle.store.delivery import handoffs, inbox, responses
from oracle.store.delivery.entries import InboxEntry
from oracle.store.delivery.handoffs import Outcome
from oracle.store.root.profile import PLANNER_ROLES
from oracle.wording import Sentence, say

REFUSE, SUPERSEDE, REWORK = "refuse", "supersede", "rework"
"""What to do about another answer on disk: refuse the new one; replace it, response and receipt; replace its receipt alone.

What is replaced is kept under another name.
"""


@value
class Delivery:
    """An answer to deliver: who answers which task to whom, and the response as its writer made it."""

    project: str
    task_id: str
    target: str
    response: Mapping[str, object]
    source: str = "memory"
    profile: str = ""
    summary: str = ""
    verdict: str = ""
    commit: str = ""
    title: str = ""
    sweep: int | None = None
    notifies: bool = True
    supersedes: bool = False
    is_strict: bool = False
    is_unsolicited: bool = False
    """Whether it is confirmed that nobody asked."""
    takes_stranger: bool = False
    """Whether it may go to somebody who is not of the team, and is not woken."""
    needs_question: bool = False
    """Whether an answer that nobody asked for is refused until that is confirmed. Old programs and hooks deliver it."""
    said_at: str = ""
    """When the transcript of the seat says that the answer was said: it tells a message from the same words said again."""
    secrets: str = guard.REFUSE
    """What to do when the answer holds what looks like a secret."""
    wake_until: float | None = None
    """Until when to wait for panes, by the monotonic clock. None waits as a command does; 0 leaves wake-ups in the inbox."""


@value
class Work:
    """A delivery ready for its steps: the completion receipt, the response if it has one, and what to do about another one."""

    receipt: Receipt
    response: Mapping[str, object] | None = None
    policy: str = REFUSE
    notifies: bool = True
    secrets: str = guard.REFUSE


@value
class Delivered:
    """What a delivery left on disk. `is_new` is false when the same had been delivered before and nothing changed."""

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
    """How many conflicting answers this delivery decided against."""
    redacted: tuple[Sentence, ...] = ()
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


def deliver(context: Context, delivery: Delivery) -> Delivered:
    """Deliver once: the same again changes nothing and wakes nobody. A wake-up that fails is a warning and stays in the inbox.

    Raises SecretFound, PrivacyBlocked (nothing is written), ClaimsFailed if strict, HandoffFailed, UsageError, NoProfile.
    Raises OwnershipError unless a memory seat answers. Raises CompletionRefused for a question to people.
    Raises Conflict for another answer, which is kept. Raises OtherAsker for a seat that did not ask while another waits.
    Raises MistypedTask for an id that nobody asked under and that is nearly that of a task that waits. Raises NotAsked for any
    other id that nobody asked under, if the delivery needs a question.
    """
    team, work, verified, redacted = prepare_clean(context, delivery)
    done = hand_over(context, team, work, wake_until=delivery.wake_until)
    if done.is_new and "unsolicited" in work.receipt.fields and not delivery.is_unsolicited:
        context.warn(dispatches.say_unsolicited(team, work.receipt.name))
    return replace(done, all_verified=verified.all_verified, confidence=verified.confidence, redacted=redacted)


def prepare_clean(context: Context, delivery: Delivery) -> tuple[Team, Work, claims.Verified, tuple[str, ...]]:
    """Return the team, the work and the claims of a delivery without credentials, and what was replaced."""
    delivery, redacted = guard.clean_handoff(context, delivery, delivery.secrets)
    team, work, verified = prepare(context, delivery)
    dispatches.refuse_stray(
        team,
        work.receipt.name,
        is_unsolicited=delivery.is_unsolicited,
        needs_question=delivery.needs_question,
    )
    return team, work, verified, redacted


def prepare(context: Context, delivery: Delivery) -> tuple[Team, Work, claims.Verified]:
    """Return the team, the work and its verified claims. Raises what `deliver` raises before it writes, but SecretFound."""
    team = open_team(context, delivery.project, path=delivery.profile)
    dispatches.refuse_decision(team, delivery.task_id)
    require_memory(team, delivery.task_id, delivery.source)
    name = team.receipt(delivery.task_id, delivery.source, delivery.target, takes_stranger=delivery.takes_stranger)
    require_answer(delivery.response)
    verified = claims.verify(context.root, team.profile.repo_root, delivery.response)
    if delivery.is_strict:
        verified.require()
    moment = context.stamp()
    count = "1 claim" if verified.count == 1 else f"{verified.count} claims"
    summary = f"Wrote responses/{name.task_id}.json with {count} (confidence={verified.confidence})."
    whole = {**verified.response, "project": team.project, "delivered_at": moment}
    fields = {
        "summary": delivery.summary or summary,
        "title": delivery.title,
        "verdict": delivery.verdict,
        "commit": delivery.commit,
        "sweep_count": delivery.sweep,
        "said_at": delivery.said_at,
        "correlation_id": receipts.correlation_id(team.project, name.task_id),
        "delivered_at": moment,
        "delivery_path": team.tree.delivery_file(name.source),
        "source_todo_path": team.tree.todo_file(name.source),
        "all_verified": verified.all_verified,
    }
    receipt = completion(name, fields, asked=dispatches.dispatch_answered(team.folder, name))
    policy = SUPERSEDE if delivery.supersedes else REFUSE
    return team, Work(receipt, whole, policy, delivery.notifies, delivery.secrets), verified


def completion(name: ReceiptName, fields: Mapping[str, object], *, asked: Receipt | None) -> Receipt:
    """Return a completion receipt; what `fields` leaves open comes from the dispatch that it answers."""
    whole = dict(fields)
    for key in ("correlation_id", "title", "test_policy", "user_summary"):
        if asked is not None and not whole.get(key):
            whole[key] = asked.fields.get(key)
    if asked is None:
        whole["unsolicited"] = True
    elif asked.kind is ReceiptKind.DISPATCH:
        whole["dispatch_digest"] = receipts.digest_of_round(asked)
    return new_receipt(
        ReceiptKind.COMPLETION, name, {key: item for key, item in whole.items() if item not in (None, "")}
    )


def hand_over(context: Context, team: Team, work: Work, *, wake_until: float | None = None) -> Delivered:
    """Keep an intent, do every step once, and send the wake-ups. Raises Conflict, HandoffFailed, DiskFailure, LockTimeout."""
    if context.has_hub:
        homes.require_here(context, team.project, work.receipt.name.source)
    work = replace(work, receipt=dispatches.mark_stranger(context, team, work.receipt))
    intent = inbox.begin(context.root, "delivery", *intent_of(team, work), context.now_seconds())
    with inbox.until_done(context.root, intent):
        done, pending = _carry_out(context, team, work)
    outcome = done.wake_up
    for entry in pending if wake_until != 0 else ():
        patience = None if wake_until is None else max(0.0, wake_until - time.monotonic())
        outcome = wakeups.send(context, entry, patience=patience)
        wakeups.warn_of(context, outcome)
    return replace(done, wake_up=outcome)


def intent_of(team: Team, work: Work) -> tuple[tuple[str, ...], dict[str, object]]:
    """Return the subject of a delivery's intent, and the object that it keeps."""
    name = work.receipt.name
    digest = responses.digest_of(work.response) if work.response else receipts.fingerprint(work.receipt.fields)[:12]
    fields: dict[str, object] = {
        "project": team.project,
        "profile": team.profile.path,
        "receipt": dict(work.receipt.fields),
        "response": None if work.response is None else dict(work.response),
        "policy": work.policy,
        "notifies": work.notifies,
        "secrets": work.secrets,
    }
    return (team.project, name.task_id, name.source, name.target, digest), fields


def finish_work(context: Context, team: Team, work: Work) -> None:
    """Do every step that is not done yet, with the receipt of any process. Wake-ups stay in the inbox."""
    receipt, _, stored = _answer(context, team, work)
    _tell(context, team, work, receipt, stored.path if stored else "")


def _carry_out(context: Context, team: Team, work: Work) -> tuple[Delivered, tuple[InboxEntry, ...]]:
    """Do every step for the first time; return what is there now and the wake-ups that are pending."""
    receipt, is_new, stored = _answer(context, team, work)
    response_path = stored.path if stored else ""
    settled = stored.settled if stored else 0
    if settled:
        context.note("settle", {**team.ends_of(receipt.name), "superseded": settled})
    if is_new:
        done, entries = _tell(context, team, work, receipt, response_path)
        return replace(done, settled=settled), entries
    context.note("skip", {**team.ends_of(receipt.name), "what": "delivery", "reason": "already delivered"})
    return replace(delivered(team, receipt, response_path), settled=settled), ()


def _answer(context: Context, team: Team, work: Work) -> tuple[Receipt, bool, responses.Stored | None]:
    """Store the response, create the receipt, consume dispatches; return the receipt, whether it is new, and the response."""
    receipt, stored = work.receipt, None
    try:
        if work.response is not None:
            require_own_response(context, team, receipt.name)
            put = responses.supersede if work.policy == SUPERSEDE else responses.put
            stored = put(context.root, receipt.name.task_id, work.response)
            receipt = receipt.with_fields({"response_path": stored.path, "response_digest": stored.digest})
        outcome = _complete(team.folder, receipt, work.policy, stored)
    except Conflict as error:
        context.note("conflict", {**team.ends_of(receipt.name), "reason": error.sentence})
        raise
    consume(team, receipt.name)
    return handoffs.find(team.folder, receipt.name) or receipt, outcome is Outcome.CREATED, stored


def _complete(folder: str, receipt: Receipt, policy: str, stored: responses.Stored | None) -> Outcome:
    """Create the receipt; one with the same response is the same delivery. Raises Conflict, also for an open question."""
    open_ = handoffs.read(folder, receipt.name)
    if open_ is not None and open_.kind is ReceiptKind.DISPATCH:
        name = receipt.name
        raise Conflict(
            say(
                "{source} asked {target} under the task id {task_id}, and that is still open; nothing was completed.",
                source=name.source,
                target=name.target,
                task_id=name.task_id,
            ),
            hint=say(
                "{target} completes it, for {source}; another task needs another id.",
                source=name.source,
                target=name.target,
            ),
        )
    found = handoffs.find(folder, receipt.name)
    if found is not None and stored is not None and found.kind is ReceiptKind.COMPLETION:
        digest = found.text("response_digest")
        if digest == stored.digest or (not digest and stored.outcome is Outcome.ALREADY):
            return Outcome.ALREADY
        is_lost = stored.outcome is Outcome.CREATED  # the answer that the receipt names is gone from the disk
        if not digest or is_lost or policy == SUPERSEDE:
            return handoffs.supersede(folder, receipt)
    if policy == REFUSE:
        return handoffs.complete(folder, receipt)
    if found is None:
        try:
            return handoffs.complete(folder, receipt)
        except Conflict:  # another process was first
            return handoffs.supersede(folder, receipt)
    if receipts.say_the_same(found, receipt):
        return Outcome.ALREADY
    return handoffs.supersede(folder, receipt)


def consume(team: Team, name: ReceiptName) -> None:
    """Consume the dispatches that this completion answers. A planner's closeout consumes all that was sent to it."""
    closes = team.profile.role(name.source) in PLANNER_ROLES
    for receipt, is_open in dispatches.dispatches_to(team.folder, name.task_id, name.source):
        if is_open and not receipt.is_malformed and (closes or dispatches.is_answer(name, receipt)):
            handoffs.consume(team.folder, receipt.name)


def _tell(
    context: Context, team: Team, work: Work, receipt: Receipt, response_path: str
) -> tuple[Delivered, tuple[InboxEntry, ...]]:
    """Write the task tree and the journal; return the delivery and its wake-ups, which are in the inbox."""
    note_completion(context, team, receipt)
    lineage = receipt.text("lineage_status")
    context.note("delivery", {**team.ends_of(receipt.name), "lineage": lineage, "notifies": work.notifies})
    done = replace(delivered(team, receipt, response_path), is_new=True)
    if lineage == "divergent":
        from oracle.app.delivery import unmerged_commit

        done = replace(done, record=unmerged_commit.note(context, team, receipt))
    return done, enqueue(context, team, done, receipt) if work.notifies else ()


def enqueue(context: Context, team: Team, done: Delivered, receipt: Receipt) -> tuple[InboxEntry, ...]:
    """Enqueue a wake-up for memory about an unmerged commit, and one for the reader unless it was woken."""
    name, entries = done.name, []
    text = f"{name.task_id} complete from {name.source} to {name.target}."
    text += f" Read {done.response_path or done.delivery_path} and write a durable Consumed ACK when handled."
    if done.record:
        from oracle.app.delivery import unmerged_commit

        seats = team.profile.seats_of("memory")[:1]
        entries += [unmerged_commit.enqueue(context, team, receipt, seat) for seat in seats]
        text += f" {unmerged_commit.PASS_NEEDS_INTEGRATION}: its commit is not in the main line, see {done.record}."
    if done.response_path:
        text += team.how_to_read(name.task_id)
    if not receipt.text("notified_at") and name.target in team.profile.seats:
        entries.append(wakeups.enqueue(context, team, name, seat=name.target, text=text))
    return tuple(entries)


def delivered(team: Team, receipt: Receipt, response_path: str) -> Delivered:
    """Return a delivery as its receipt says it."""
    path = handoffs.path_of(team.folder, receipt.name)
    return Delivered(
        receipt.name,
        is_new=False,
        receipt_path=path if os.path.exists(path) else path + CONSUMED,
        delivery_path=team.tree.delivery_file(receipt.name.source),
        response_path=response_path,
        lineage=receipt.text("lineage_status"),
    )
