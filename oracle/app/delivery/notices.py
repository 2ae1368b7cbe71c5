"""Send a seat a notice, and keep a receipt of it beside the handoffs."""

from __future__ import annotations

import json

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.delivery import wakeups
from oracle.app.delivery.team import open_team
from oracle.domain.delivery.task_files import one_line
from oracle.domain.values import value
from oracle.store.delivery import inbox
from oracle.store.disk import steps
from oracle.wording import say

FOLDER = "notices"
"""Where the receipts of notices lie, below the handoff folder."""


@value
class Notice:
    """What to tell whom. A `task_id` makes it leave a receipt."""

    project: str
    source: str
    target: str
    message: str
    task_id: str = ""
    reply_to: str = ""
    kind: str = "notice"
    profile: str = ""
    leaves_receipt: bool = True


@value
class Notified:
    """How it went: `sent` tells whether the text was seen to be taken."""

    sent: bool
    detail: str
    receipt_path: str = ""


def notify(context: Context, notice: Notice) -> Notified:
    """Send a notice at once; one that fails is recorded as not sent. Raises UsageError for an unknown seat or a bad text."""
    team = open_team(context, notice.project, path=notice.profile)
    name = team.receipt(notice.task_id or "notice", notice.source, notice.target)
    text = _text(notice)
    from oracle.wake.outcomes import check_text

    check_text(text)
    guard.require_clean(context, {say("its text"): text}, what=say("The notice"))
    moment = context.now()
    topic = f"{notice.kind} {moment.isoformat()}"
    entry = wakeups.enqueue(context, team, name, seat=name.target, text=text, topic=topic)
    outcome = wakeups.send_once(context, entry)
    inbox.finish(context.root, entry)  # a notice is worth nothing later
    sent = outcome.result == "sent"
    path = ""
    if notice.task_id and notice.leaves_receipt:
        stamp = f"{moment:%Y%m%dT%H%M%S%fZ}"
        path = f"{team.folder}/{FOLDER}/{name.file_name.removesuffix('.json')}__{stamp}.json"
        content = {
            "kind": notice.kind,
            "task_id": name.task_id,
            "source": name.source,
            "target": name.target,
            "reply_to": notice.reply_to or None,
            "message": text,
            "notified_at": context.stamp() if sent else None,
            "transport": "tmux",
            "detail": outcome.detail,
        }
        data = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True).encode("utf-8", "backslashreplace")
        steps.create_once(path, data + b"\n")
    return Notified(sent, outcome.detail, path)


def _text(notice: Notice) -> str:
    task = f"{notice.task_id} " if notice.task_id else ""
    text = f"{task}{notice.kind} from {notice.source} to {notice.target}: {one_line(notice.message)}"
    if notice.reply_to:
        text += f" Reply to {notice.reply_to} if follow-up or completion is required."
    return text
