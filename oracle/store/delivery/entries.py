"""Entries of the inbox: what they say, and who works on them, a process with its start, boot and host.

A process notes itself in a file beside an entry before it takes the entry. So a taken entry of a dead process is free at once.
"""

from __future__ import annotations

import hashlib
import json
import os
from _thread import get_native_id
from collections.abc import Mapping
from enum import StrEnum

from oracle.domain import schemas
from oracle.domain.values import value
from oracle.errors import DiskFailure
from oracle.store.disk import files, folders, steps
from oracle.wording import from_json, to_json

LONGEST_DELAY = 600.0
"""Seconds that an entry waits at most."""

_MARK = ".taker-"
_BOOT = "/proc/sys/kernel/random/boot_id"


class InboxKind(StrEnum):
    """What waits: a delivery or dispatch that was begun, a wake-up to send, a question that failed."""

    INTENT = "intent"
    WAKE = "wake"
    QUERY = "query"


@value
class InboxEntry:
    """One thing that waits. Times are in seconds since 1970; the file name is a hash of `subject`."""

    kind: InboxKind
    subject: tuple[str, ...]
    fields: Mapping[str, object]
    due_at: float
    tries: int = 0
    last_error: str = ""

    @property
    def file_name(self) -> str:
        """`<kind>-<24 hex digits of the subject>.json`."""
        subject = json.dumps([self.kind, *self.subject]).encode("ascii")
        return f"{self.kind}-{hashlib.sha256(subject).hexdigest()[:24]}.json"

    def is_due(self, now: float) -> bool:
        """Return whether the entry is due. The clock was set back since, if it is due later than anything waits."""
        return self.due_at <= now or LONGEST_DELAY * 2 < self.due_at - now < float("inf")

    def text(self, key: str) -> str:
        """Return a field as text, "" when it is absent."""
        return str(self.fields.get(key, ""))


def render(entry: InboxEntry) -> bytes:
    """Return the bytes of an entry's file."""
    content = {
        "kind": entry.kind.value,
        "subject": list(entry.subject),
        "due_at": entry.due_at,
        "tries": entry.tries,
        "last_error": to_json(entry.last_error),
        "fields": dict(entry.fields),
    }
    return json.dumps(content, indent=2).encode("ascii") + b"\n"


def parse(raw: bytes) -> InboxEntry | None:
    """Return the entry that the bytes of a file hold, None for anything else."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if schemas.find_fault("inbox-entry", content) is not None:
        return None
    return InboxEntry(
        InboxKind(content["kind"]),
        tuple(content["subject"]),
        content["fields"],
        float(content["due_at"]),
        int(content["tries"]),
        from_json(content.get("last_error", "")),
    )


# Who works on an entry ------------------------------------------------------------------------------------------------


def myself() -> dict[str, object]:
    """Return what identifies this thread of this process among all processes of all hosts."""
    pid = os.getpid()
    return {
        "pid": pid,
        "since": started_at(pid),
        "thread": get_native_id(),
        "boot": _boot(),
        "host": os.uname().nodename,
    }


def is_alive(owner: Mapping[str, object]) -> bool:
    """Return whether a process lives. One of another host may: only its age tells."""
    if not is_here(owner):
        return True
    pid = owner.get("pid")
    if not isinstance(pid, int) or pid <= 0 or owner.get("boot", _boot()) != _boot():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return started_at(pid) == owner.get("since")


def is_here(owner: Mapping[str, object]) -> bool:
    """Return whether a process runs on this host. One that names no host does."""
    return owner.get("host", os.uname().nodename) == os.uname().nodename


def started_at(pid: int) -> str:
    """Return when a process began, in the system's own ticks; "" where the system does not say, "dead" for a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            state, *rest = stream.read().rpartition(b")")[2].split()
    except (OSError, ValueError):
        return ""
    return "dead" if state in (b"Z", b"X") else rest[18].decode()


def _boot() -> str:
    try:
        with open(_BOOT, encoding="ascii") as stream:
            return stream.read().strip()
    except OSError:
        return ""


# The files ------------------------------------------------------------------------------------------------------------


def note(path: str) -> None:
    """Note that this thread is about to take the entry at `path`. Raises DiskFailure."""
    data = json.dumps(myself()).encode("ascii")
    with files.failing(path):
        handle = files.open_to_change(_file_of(path), os.O_TRUNC)
        try:
            os.write(handle, data)  # not synced: after a crash of the host nobody lives
        finally:
            os.close(handle)


def forget(path: str) -> None:
    """Remove the note of this thread."""
    files.discard(_file_of(path))


def of(path: str) -> list[dict[str, object]]:
    """Return who noted that it takes an entry, dead or alive."""
    return [owner for _, owner in _notes(path)]


def forget_dead(path: str) -> None:
    """Remove the notes of dead processes about an entry."""
    for note_path, owner in _notes(path):
        if not is_alive(owner):
            files.discard(note_path)


def noted_entry(name: str) -> str:
    """Return the name of the entry that the note of this name is about, "" for another file."""
    entry, mark, _ = name.partition(_MARK)
    return entry[1:] if mark else ""


def _notes(path: str) -> list[tuple[str, dict[str, object]]]:
    folder, start = os.path.dirname(path), _prefix(path)
    found = []
    for name in folders.names_in(folder):
        if not name.startswith(start):
            continue
        try:
            content = json.loads(steps.read(f"{folder}/{name}") or b"")
        except (DiskFailure, ValueError):  # it is being written, or its process died over it
            content = {"pid": int(digits) if (digits := name.rpartition("-")[2]).isdecimal() else 0}
            content["since"] = started_at(content["pid"])
        if isinstance(content, dict):
            found.append((f"{folder}/{name}", content))
    return found


def _prefix(path: str) -> str:
    return f".{os.path.basename(path)}{_MARK}"


def _file_of(path: str) -> str:
    return f"{os.path.dirname(path)}/{_prefix(path)}{get_native_id()}-{os.getpid()}"
