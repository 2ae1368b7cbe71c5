"""A message to people: who says it, at most four lines, and a footer by which an answer finds its way back. Pure.

    [Memory] The retry policy is settled.

    ---
    _via Memory @ 2026-04-27T18:30:00Z | project=demo | session=demo-memory | task_id=T-1 | verdict=PASS_

A body has no blank line, and a field has no blank. So the last rule with the line below it is the footer, and nothing in a
body can be taken for it.
"""

from __future__ import annotations

import re

from oracle.domain import timestamps
from oracle.domain.names import check_name
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.wording import say

MOST_LINES = 4
MOST_CHARACTERS = 3500
"""How long a body may be before it is cut."""

CUT_AT = 3450
NOTE = "…[truncated, see TUI]"
"""The end of a body that was cut."""

_RULE = "\n\n---\n"
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@value
class Push:
    """One message; a task and a verdict may be absent. Made by `compose`."""

    sender: str
    body: str
    ts: str
    project: str
    session: str
    task_id: str = ""
    verdict: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether the body ends with the note that it was cut."""
        return self.body.endswith(NOTE)

    def text(self) -> str:
        """Return the message as it is sent."""
        extra = [f" | {key}={given}" for key, given in (("task_id", self.task_id), ("verdict", self.verdict)) if given]
        footer = f"_via {self.sender} @ {self.ts} | project={self.project} | session={self.session}{''.join(extra)}_"
        return f"[{self.sender}] {self.body}{_RULE}{footer}"


def compose(body: str, *, seat: str, ts: str, project: str, session: str, task_id: str = "", verdict: str = "") -> Push:
    """Return the message with its body in bounds. Raises InvalidName for a field, UsageError for an invalid body or time."""
    fitted = fit(body)
    if not fitted:
        raise UsageError(say("The message says nothing."), hint=say("Give it a line of text."))
    if timestamps.parse(ts) is None or re.search(r"\s", ts):
        raise UsageError(say("{ts!r} is not a time.", ts=ts), hint=say("Write it as 2026-04-27T18:30:00Z."))
    return Push(
        sender_of(check_name(seat, "seat")),
        fitted,
        ts,
        check_name(project, "project"),
        check_name(session, "session"),
        check_name(task_id, "task id") if task_id else "",
        check_name(verdict, "verdict") if verdict else "",
    )


def sender_of(seat: str) -> str:
    """Return how people see a seat: `Memory` for `memory`."""
    return seat[:1].upper() + seat[1:] if seat[:1].isascii() else seat


def fit(body: str) -> str:
    """Return a body without blank lines and control characters, cut with a note at four lines or 3500 characters."""
    lines = [line.strip() for line in _CONTROL.sub("", body).splitlines()]
    kept = [line for line in lines if line]
    text = "\n".join(kept[:MOST_LINES])
    if len(kept) <= MOST_LINES and len(text) <= MOST_CHARACTERS:
        return text
    cut = text[:CUT_AT].rstrip()
    return cut if cut.endswith(NOTE) else cut + NOTE
