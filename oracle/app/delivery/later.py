"""Deliveries that another process or machine began: keep one for later, finish one, and do the last steps of one that came."""

from __future__ import annotations

from collections.abc import Mapping

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.delivery import dispatches
from oracle.app.delivery.deliver import (
    REFUSE,
    Delivery,
    Work,
    consume,
    delivered,
    enqueue,
    finish_work,
    intent_of,
    prepare_clean,
)
from oracle.app.delivery.team import Team, note_completion, open_team
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import Receipt, ReceiptKind, ReceiptName, receipt_name
from oracle.errors import UsageError
from oracle.store.delivery import inbox, responses
from oracle.store.delivery.entries import InboxEntry
from oracle.wording import say


def keep(context: Context, delivery: Delivery) -> str:
    """Keep a delivery that the disk refused for `resume`. Return where, "" for nowhere. Raises what `deliver` raises first."""
    team, work, _, _ = prepare_clean(context, delivery)
    entry = inbox.intent("delivery", *intent_of(team, work), context.now_seconds())
    if inbox.find(context.root, entry) is not None:
        return context.root.inbox
    return inbox.keep_outside(context.root, entry)


def finish(context: Context, fields: Mapping[str, object]) -> ReceiptName:
    """Do what a dead process left undone, from the object that its intent keeps.

    Raises UsageError for another object, and SecretFound: any program can write into the inbox.
    """
    receipt, response = fields.get("receipt"), fields.get("response")
    if not isinstance(receipt, dict) or not (response is None or isinstance(response, dict)):
        raise UsageError(say("An intent in the inbox holds no delivery."), hint=say("It is dropped."))
    ends = [str(receipt.get(key, "")) for key in ("task_id", "source", "target")]
    beside = {key: item for key, item in fields.items() if key not in ("receipt", "response")}
    guard.require_unchanged(context, {**beside, "receipt": ends}, fields)
    name = receipt_name(*ends)
    team = open_team(context, "", path=str(fields.get("profile", "")))
    asked = dispatches.dispatch_answered(team.folder, name)
    own = {key: item for key, item in receipt.items() if asked is None or asked.fields.get(key) != item}
    said = {
        key: item for key, item in (response or {}).items() if key != "claim_results"
    }  # made by the check of claims
    guard.require_unchanged(context, {"receipt": own, "response": said}, fields)
    if fault := receipts.find_fault(name, receipt):
        raise UsageError(fault, hint=say("It is dropped."))
    notifies = fields.get("notifies") is not False
    work = Work(Receipt(name, ReceiptKind.COMPLETION, receipt), response, str(fields.get("policy", REFUSE)), notifies)
    finish_work(context, team, work)
    return name


def receive(context: Context, team: Team, receipt: Receipt) -> tuple[InboxEntry, ...]:
    """Do the last steps of a completion that was written on another machine. Wake-ups stay in the inbox."""
    consume(team, receipt.name)
    note_completion(context, team, receipt)
    context.note(
        "delivery", {**team.ends_of(receipt.name), "lineage": receipt.text("lineage_status"), "notifies": True}
    )
    path = responses.path_of(context.root, receipt.name.task_id) if receipt.text("response_path") else ""
    return enqueue(context, team, delivered(team, receipt, path), receipt)
