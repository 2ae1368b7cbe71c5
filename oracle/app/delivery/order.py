"""Orders: what one seat asks of another, and the form in which an intent keeps it."""

from __future__ import annotations

from collections.abc import Mapping

from oracle.app import guard
from oracle.domain.values import NOTHING, contents_of, fields_of, value
from oracle.errors import UsageError
from oracle.wording import say

QUERY, TASK = "query", "task"


@value
class Order:
    """What is asked of whom. `queue` and `receipt` are further fields of the queue's entry and of the receipt."""

    project: str
    task_id: str
    source: str
    target: str
    objective: str
    title: str = ""
    reply_to: str = ""
    test_policy: str = "N/A"
    user_summary: str = ""
    notes: str = ""
    kind: str = TASK
    profile: str = ""
    task_type: str = "unspecified"
    needs_review: bool = False
    skill_refs: tuple[str, ...] = ()
    notifies: bool = True
    stacks: bool = False
    """Whether a builder may get a task while another is open."""
    queue: Mapping[str, str] = NOTHING
    receipt: Mapping[str, object] = NOTHING
    secrets: str = guard.REFUSE
    """What becomes of what looks like a secret in it."""

    @property
    def headline(self) -> str:
        """Its title, else the first line of what is asked, else its id."""
        lines = (line.strip() for line in self.objective.splitlines())
        return self.title or next(filter(None, lines), self.task_id)[:120]

    def as_fields(self) -> dict[str, object]:
        """Return the object that an intent keeps."""
        whole = contents_of(self)
        return {**whole, "skill_refs": list(self.skill_refs), "queue": dict(self.queue), "receipt": dict(self.receipt)}


def order_of(fields: Mapping[str, object]) -> Order:
    """Return the order that an intent keeps. Raises UsageError for another object."""
    try:
        known = {key: item for key, item in fields.items() if key in fields_of(Order)}
        refs = known.get("skill_refs")
        known["skill_refs"] = tuple(map(str, refs)) if isinstance(refs, list) else ()
        return Order(**known)  # type: ignore[arg-type]
    except TypeError as error:
        raise UsageError(say("An intent in the inbox holds no dispatch."), hint=say("It is dropped.")) from error
