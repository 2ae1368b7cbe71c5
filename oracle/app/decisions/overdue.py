"""Decisions that are open: what each asks, and which are past their deadline. Reads receipts, writes nothing.

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
from oracle.domain.values import AsJson, contents_of, value
from oracle.errors import OracleError
from oracle.store.delivery import handoffs
from oracle.store.root import profile
from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

DECISION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}__")
"""How the file name of a receipt begins whose task is a decision: its id is a UUID."""


@value
class Overdue(AsJson):
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


@value
class OpenDecision:
    """A question that waits for people; `due_at` "" and `seconds_left` None without a deadline, below 0 after it."""

    decision_id: str
    project: str
    asker: str
    question: str
    options: tuple[tuple[str, str], ...]
    default: str
    due_at: str
    seconds_left: float | None

    @property
    def time_left(self) -> Sentence:
        """The time left as people read it."""
        if self.seconds_left is None:
            return say("no deadline")
        age = timestamps.say_age(abs(self.seconds_left))
        return say("{age} left", age=age) if self.seconds_left > 0 else say("{age} overdue", age=age)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; an option has the `id` that settles the decision."""
        left = None if self.seconds_left is None else round(self.seconds_left)
        options = [{"id": choice, "label": label} for choice, label in self.options]
        return {**contents_of(self), "options": options, "seconds_left": left}


def open_decision(project: str, asked: Receipt, now: datetime) -> OpenDecision:
    """Return what the receipt of a question to people asks."""
    payload = _payload(asked)
    due_at = payload.due_at
    return OpenDecision(
        asked.name.task_id,
        project,
        asked.name.source,
        payload.text("context"),
        tuple((choice, payload.label(choice)) for choice in payload.choices),
        payload.text("default_if_timeout"),
        timestamps.print_moment(due_at) if due_at else "",
        (due_at - now).total_seconds() if due_at else None,
    )


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
        found = open_decision(project, asked, now)
        if found.seconds_left is not None and found.seconds_left <= 0:
            yield Overdue(found.decision_id, project, found.due_at, found.default)


def _payload(asked: Receipt) -> DecisionPayload:
    return DecisionPayload(dict(asked.fields[PAYLOAD]))  # type: ignore[call-overload]


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
