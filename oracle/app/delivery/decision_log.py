"""The log of decisions: what memory decided on the way. Each entry is a record without links; every writer's is read."""

from __future__ import annotations

import uuid

from oracle.app.records.listing import list_records
from oracle.app.records.once import make_root, write_once
from oracle.app.records.write import write
from oracle.domain import timestamps
from oracle.domain.names import MEMORY
from oracle.domain.records.drafts import Draft
from oracle.domain.records.records import Record
from oracle.domain.values import replace, value
from oracle.errors import NotFound, OracleError, UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.delivery.order import Order
    from oracle.app.delivery.team import Team

DECISION = "decision"
_KEYS = ("issue_id", "ts", "task_id", "project", "seat", "kind", "title", "status", "detail")


@value
class DecisionEntry:
    """One decision: who decided what about which task. `is_auto` when no person was asked."""

    project: str
    task_id: str
    title: str
    detail: str
    seat: str = "planner"
    decision_type: str = "auto"
    reason: str = ""
    is_auto: bool = True


def append(context: Context, entry: DecisionEntry) -> dict[str, object]:
    """Write an entry as an orphan record and return it as the log shows it. Raises UsageError, and what a write raises."""
    for name in ("project", "task_id", "title", "detail"):
        if not getattr(entry, name).strip():
            raise UsageError(
                say("The {field} is empty.", field=name.replace("_", " ")),
                hint=say("Say it in a word or a sentence."),
            )
    make_root(context)
    written = write(context, _draft(entry))
    return {**_shown(_read(context, context.root.relative(written.path))), "path": written.path}


def log_dispatch(context: Context, team: Team, order: Order) -> None:
    """Write down that memory dispatched a task, once; a failure is a warning, since the dispatch is made."""
    what = order.title or order.objective
    title = f"Dispatch {order.task_id} to {order.target}: {' '.join(what.split())}"[:200]
    entry = DecisionEntry(team.project, order.task_id, title, order.objective, order.source, "dispatch")
    try:
        write_once(context, replace(_draft(entry), seat=MEMORY))
    except OracleError as error:
        context.warn(
            say("the decision to dispatch {task} could not be written down: {fault}", task=order.task_id, fault=error)
        )


def read_log(context: Context, project: str, *, limit: int = 50) -> list[dict[str, object]]:
    """Return the last decisions of a project, the oldest first; `limit` 0 means all. A project without any has none."""
    make_root(context)
    try:
        found = list_records(context, {"project": project, "kind": DECISION})
    except NotFound:
        return []
    paths = [item.path for item in found if item.path.split("/")[2:3] == [DECISION]]
    return [_shown(_read(context, path)) for path in paths[-limit:]]


def _draft(entry: DecisionEntry) -> Draft:
    extra = {
        "issue_id": str(uuid.uuid4()),
        "decision_type": entry.decision_type,
        "auto_mode": str(entry.is_auto).lower(),
        "reason": entry.reason or entry.detail,
    }
    return Draft(
        DECISION,
        entry.project,
        entry.title,
        body=f"{entry.detail}\n",
        author=entry.seat,
        detail=" ".join(entry.detail.split())[:500],
        task_id=entry.task_id,
        extra=extra,
    )


def _read(context: Context, path: str) -> Record:
    import os

    from oracle.domain.names import slug_of
    from oracle.domain.records.records import interpret
    from oracle.store.markdown import records

    whole = context.root.join(path)
    document = records.parse(path, records.read(whole))
    return interpret(document, slug_of(path), path, mtime_ns=os.stat(whole).st_mtime_ns)


def _shown(record: Record) -> dict[str, object]:
    """Return an entry with the keys of the log; who decided is its author, for the folder is memory's."""
    fields = record.document.fields
    seat = (record.author or record.claims_seat or record.seat) if record.seat == MEMORY else record.seat
    known = {
        "issue_id": fields.get("issue_id") or fields.get("id") or record.slug.rpartition("/")[2],
        "ts": timestamps.to_utc(record.ts) or record.sort_ts,
        "task_id": record.task_id,
        "project": record.project,
        "seat": seat,
        "kind": record.kind,
        "title": record.title,
        "status": record.status,
        "detail": str(fields.get("detail") or "") or record.document.body.strip(),
    }
    detail = record.document.body.strip() or known["detail"]
    return {
        **{key: known[key] for key in _KEYS},
        "detail": detail,
        "decision_type": str(fields.get("decision_type") or "auto"),
        "auto_mode": fields.get("auto_mode", "true") == "true",
        "reason": str(fields.get("reason") or "") or detail,
    }
