"""What was begun and must be finished: an intent lies in the inbox while its steps are done, and whoever comes next looks.

App room. An intent names the process and the thread that work on it, so that others leave it alone as long as that process lives.
"""

from __future__ import annotations

import os
from _thread import get_native_id
from contextlib import contextmanager

from oracle.errors import DiskFailure, HandoffFailed, LockTimeout, OracleError
from oracle.store.delivery import inbox
from oracle.store.delivery.inbox import Entry, Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oracle.app.context import Context

LONGEST_WORK = 120.0
"""Seconds after which nobody is believed to work on an intent any more: each of its locks is waited for at most 30 s."""

HOOK_TIME = 12.0
"""Seconds after which a hook is dead for sure: its host ends it after ten."""


KEPT = (DiskFailure, HandoffFailed, LockTimeout)
"""Failures after which an intent stays: what the disk or a lock refused can be done later."""


def keep(context: Context, what: str, subject: tuple[str, ...], content: Mapping[str, object]) -> Entry | None:
    """Put an intent on disk before its work begins; None when another has put the same. Raises DiskFailure."""
    fields = {"do": what, "owner": _myself(), "content": dict(content)}
    entry = Entry(Kind.INTENT, (what, *subject), fields, due_at=context.now_seconds())
    return entry if inbox.add(context.root, entry) else None


@contextmanager
def until_done(context: Context, entry: Entry | None) -> Iterator[None]:
    """Do the work of an intent in a block, which takes it out of the inbox: it is done, or after any failure but KEPT can never be.

    That of another process (None) is left to it.
    """
    try:
        yield
    except KEPT:
        raise
    except OracleError:
        _finish(context, entry)
        raise
    _finish(context, entry)


def _finish(context: Context, entry: Entry | None) -> None:
    if entry is not None:
        inbox.finish(context.root, entry)


def is_worked_on(context: Context, entry: Entry) -> bool:
    """Tell whether another thread of a process that lives works on an intent, as far as can be seen from here."""
    age = context.now_seconds() - entry.due_at
    owner = entry.fields.get("owner")
    if not isinstance(owner, dict):
        return age < HOOK_TIME
    return age < LONGEST_WORK and owner != _myself() and _is_alive(owner)


def _myself() -> dict[str, object]:
    pid = os.getpid()
    return {"pid": pid, "since": _since(pid), "thread": get_native_id()}


def _is_alive(owner: Mapping[str, object]) -> bool:
    pid = owner.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return _since(pid) == owner.get("since")


def _since(pid: int) -> str:
    """Return when a process began, in the system's own ticks; "" where that is not told, "dead" for one not yet buried."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            state, *rest = stream.read().rpartition(b")")[2].split()
    except (OSError, ValueError):
        return ""
    return "dead" if state in (b"Z", b"X") else rest[18].decode()
