"""List decisions that are past their deadline and still open. Reads receipts, writes nothing.

None is settled automatically, because the default may do what can't be undone. A person calls `oracle team decision resolve`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime

from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import PAYLOAD, Receipt
from oracle.domain.records.decisions import DecisionPayload
from oracle.domain.values import contents_of, value
from oracle.errors import OracleError
from oracle.store.delivery import handoffs
from oracle.store.root import profile
from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

DECISION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}__")
"""How the file name of a receipt begins whose task is a decision: its id is a UUID."""


@value
class Overdue:
    """A decision past its deadline: its id and project, when its default began to hold, and what that is."""

    decision_id: str
    project: str
    due_at: str
    default: str

    @property
    def sentence(self) -> Sentence:
        """What a listing says of it."""
        return say(
            "{decision_id} of {project}: nobody decided before {due_at}; its default is {default}",
            decision_id=self.decision_id,
            project=self.project,
            due_at=self.due_at,
            default=self.default,
        )

    @property
    def command(self) -> str:
        """The command that settles it."""
        return f"oracle team decision resolve {self.decision_id} --project {self.project}"

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return contents_of(self)


def find_overdue(root: Root, now: datetime) -> list[Overdue]:
    """Return the decisions of all projects past their deadline, the oldest first. A profile that can't be read hides no other."""
    found = [one for project in profile.projects(root) for one in _of_project(root, project, now)]
    return sorted(found, key=lambda one: (one.due_at, one.decision_id))


def _of_project(root: Root, project: str, now: datetime) -> Iterator[Overdue]:
    try:
        folder = profile.load(root, project, os.environ).handoff_dir
        names = sorted(name for name in os.listdir(folder) if DECISION.match(name))
    except (OracleError, OSError):
        return
    for asked in filter(None, (_open_question(folder, name) for name in names)):
        payload = DecisionPayload(dict(asked.fields[PAYLOAD]))  # type: ignore[call-overload]
        due_at = payload.due_at
        if due_at is not None and due_at <= now:
            yield Overdue(
                asked.name.task_id, project, timestamps.print_moment(due_at), payload.text("default_if_timeout")
            )


def _open_question(folder: str, file_name: str) -> Receipt | None:
    """Return the receipt of a question that nobody answered, None for any other file."""
    parsed = receipts.parse_file_name(file_name)
    if parsed is None or parsed[1]:
        return None
    name = parsed[0]
    try:
        asked = handoffs.read(folder, name)
        answer = handoffs.find(folder, name.answered_by())
    except OracleError:
        return None
    return asked if asked is not None and asked.asks_people and answer is None else None
