"""Read a message to people as its receiver does, so that tests see that its footer can be told from its body."""

from __future__ import annotations

import re

from oracle.domain.delivery.push import Push

_RULE = "\n\n---\n"
_FOOTER = re.compile(
    r"_via (?P<sender>\S+) @ (?P<ts>\S+) \| project=(?P<project>\S+) \| session=(?P<session>\S+)"
    r"(?: \| task_id=(?P<task_id>\S+))?(?: \| verdict=(?P<verdict>\S+))?_"
)


def read_push(text: str) -> Push:
    """Return what a message says."""
    head, _, footer = text.strip().rpartition(_RULE)
    found = _FOOTER.fullmatch(footer)
    assert found is not None, text
    prefix = f"[{found['sender']}] "
    assert head.startswith(prefix), text
    fields = {key: found[key] or "" for key in ("ts", "project", "session", "task_id", "verdict")}
    return Push(found["sender"], head[len(prefix) :], **fields)
