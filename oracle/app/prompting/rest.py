"""Whether the prompt hook is silent for a while. `scripts/hooks/session_event.py` counts and decides; a test compares the two."""

from __future__ import annotations

import os

from oracle.domain import timestamps
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.store.root.layout import Root
    from oracle.wording import Sentence

MISSED = "deadlines-missed"
MISSES, REST = 3, 600
"""Deadlines in a row after which the hook is silent, and for how many seconds."""


def resting(root: Root, now_ns: int) -> tuple[Sentence, Sentence] | None:
    """Return since when the prompt hook is silent, and the way out; None if it works."""
    path = os.path.join(root.state, MISSED)
    try:
        found = os.lstat(path)
    except OSError:
        return None
    last = found.st_mtime_ns // 10**9
    if found.st_size < MISSES or now_ns // 10**9 - last >= REST:
        return None
    since, until = timestamps.print_second(last), timestamps.print_second(last + REST)
    what = say(
        "the prompt hook is silent from {since} to {until}: {count} answers in a row came too late",
        since=since,
        until=until,
        count=found.st_size,
    )
    import shlex

    return what, say(
        "Run `oracle daemon start`, which answers in time. To try at once: rm {path}", path=shlex.quote(path)
    )
