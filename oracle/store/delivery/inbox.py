"""The inbox: what a hook set out to do, wake-ups that wait and questions that failed, one file each under `_state/inbox/`.

Store room.

An entry is written before its work begins, so that whoever comes next can finish it. Its name is made of what it is about, so
the same intent twice is one file. Whoever works on an entry takes it by a rename, which one of many wins.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from enum import StrEnum

from oracle.domain.values import replace, value
from oracle.errors import DiskFailure
from oracle.store.disk import steps
from oracle.store.root.layout import Root
from oracle.wording import from_json, say, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Protocol

    class Chance(Protocol):
        """The source of jitter; `random.Random` is one."""

        def random(self) -> float:
            """Return a number from 0 up to 1."""
            ...


MAX_TRIES = 5
FIRST_DELAY = 2.0
LONGEST_DELAY = 600.0
LEASE = 60.0
"""Seconds after which an entry that somebody took is free again: they are dead."""

_LONGEST_ERROR = 500
"""Characters of an error that are kept."""

_NAME = re.compile(r"(?P<kind>intent|wake|query)-[0-9a-f]{24}\.json(?P<suffix>\.taken|\.poison)?")


class Kind(StrEnum):
    """What waits: a hook's delivery that was begun, a wake-up to send, a question that could not be taken up just now."""

    INTENT = "intent"
    WAKE = "wake"
    QUERY = "query"


@value
class Entry:
    """One thing that waits. Times are in seconds since 1970; `subject` says what it is about and makes its name."""

    kind: Kind
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


@value
class Inbox:
    """What the inbox holds: entries that wait, by due time; those that others work on; those given up; files that are none."""

    waiting: tuple[Entry, ...] = ()
    taken: tuple[Entry, ...] = ()
    poisoned: tuple[Entry, ...] = ()
    problems: tuple[str, ...] = ()

    def due(self, now: float) -> tuple[Entry, ...]:
        """Return the waiting entries whose time has come, the earliest first."""
        return tuple(entry for entry in self.waiting if entry.due_at <= now)


def add(root: Root, entry: Entry) -> bool:
    """Put an entry in; tell whether it is new. One about the same that waits, is taken or was given up is left alone.

    Raises DiskFailure.
    """
    path = _path(root, entry)
    if os.path.exists(path + ".taken") or os.path.exists(path + ".poison"):
        return False
    return steps.create_once(path, _render(entry))


def take(root: Root, entry: Entry, now: float) -> bool:
    """Take a waiting entry to work on it; of several who try one gets True."""
    path = _path(root, entry)
    try:
        os.utime(path, (now, now))  # the lease begins before the name changes, so that it never looks over
        os.rename(path, path + ".taken")
    except FileNotFoundError:
        return False
    return True


def finish(root: Root, entry: Entry) -> None:
    """Remove an entry whose work is done. Raises DiskFailure."""
    steps.remove(_path(root, entry) + ".taken")
    steps.remove(_path(root, entry))


def defer(root: Root, entry: Entry, *, now: float, error: str, chance: Chance, most: int = MAX_TRIES) -> Entry:
    """Put a taken entry back for later, or give it up after `most` tries; return it as it is now.

    It waits 2 s, 4 s, 8 s … up to ten minutes, each time between half and all of that. Raises DiskFailure.
    """
    tries = entry.tries + 1
    delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(tries - 1, 32)) * (0.5 + chance.random() / 2)
    later = replace(entry, tries=tries, due_at=now + delay, last_error=_bounded(error))
    path = _path(root, entry)
    steps.replace(f"{path}.poison" if tries >= most else path, _render(later))
    steps.remove(f"{path}.taken")
    if tries >= most:
        steps.remove(path)
    return later


def revive(root: Root, entry: Entry, now: float) -> None:
    """Let a poisoned entry wait again, due now, as if it had never been tried."""
    path = _path(root, entry)
    steps.replace(path, _render(replace(entry, tries=0, due_at=now, last_error="")))
    steps.remove(f"{path}.poison")


def standing(root: Root, entry: Entry) -> Entry | None:
    """Return an entry as it stands now, whether it waits, is taken or was given up; None when there is none about the same."""
    path = _path(root, entry)
    found = (_read(path + suffix, []) for suffix in ("", ".taken", ".poison"))
    return next((one for one in found if one is not None), None)


def read(root: Root, now: float, kind: Kind | None = None) -> Inbox:
    """Return what the inbox holds, of one kind when one is named; entries whose taker was silent for LEASE seconds wait again."""
    groups: dict[str, list[Entry]] = {"": [], ".taken": [], ".poison": []}
    problems: list[str] = []
    for name, suffix in _names(root):
        if kind is not None and not name.startswith(f"{kind}-"):
            continue
        path = f"{root.inbox}/{name}"
        if suffix == ".taken" and _is_over(path, now):
            path, suffix = _give_back(root, path, now), ""
        entry = _read(path, problems) if path else None
        if entry is not None:
            groups[suffix].append(entry)
    waiting, taken, poisoned = (tuple(sorted(group, key=lambda one: one.due_at)) for group in groups.values())
    return Inbox(waiting, taken, poisoned, tuple(problems))


def set_aside(root: Root) -> tuple[tuple[str, Entry], ...]:
    """Return (path, entry) of everything that was given up; changes nothing."""
    paths = [f"{root.inbox}/{name}" for name, suffix in _names(root) if suffix == ".poison"]
    return tuple((path, entry) for path in paths for entry in [_read(path, [])] if entry is not None)


def _names(root: Root) -> Iterator[tuple[str, str]]:
    try:
        names = sorted(os.listdir(root.inbox))
    except OSError:
        return
    for name in names:
        found = _NAME.fullmatch(name)
        if found:
            yield name, found["suffix"] or ""


def _is_over(path: str, now: float) -> bool:
    try:
        return os.stat(path).st_mtime + LEASE < now
    except OSError:
        return False


def _give_back(root: Root, path: str, now: float) -> str:
    """Rename a taken entry to its waiting name; return that, or "" when it has nothing more to tell."""
    free = path.removesuffix(".taken")
    with steps.FileLock(f"{root.inbox}/.inbox"):
        if not _is_over(path, now):
            return ""
        try:
            if os.path.exists(free):
                os.unlink(path)  # put back for later by a taker that died before its last step
                return ""
            os.rename(path, free)
        except FileNotFoundError:
            return ""
    return free


def _path(root: Root, entry: Entry) -> str:
    return f"{root.inbox}/{entry.file_name}"


def _bounded(error: str) -> str:
    """Return an error that may be stored: short, without secrets. It is plain text if either had to be changed."""
    from oracle.domain.safety.secrets import redact

    text = redact(error)[0][:_LONGEST_ERROR]
    return error if text == error else text


def _render(entry: Entry) -> bytes:
    content = {
        "kind": entry.kind.value,
        "subject": list(entry.subject),
        "due_at": entry.due_at,
        "tries": entry.tries,
        "last_error": to_json(entry.last_error),
        "fields": dict(entry.fields),
    }
    return json.dumps(content, indent=2).encode("ascii") + b"\n"


def _read(path: str, problems: list[str]) -> Entry | None:
    try:
        raw = steps.read(path)
    except DiskFailure as error:
        problems.append(error.sentence)
        return None
    if raw is None:
        return None
    try:
        content = json.loads(raw)
        entry: Entry | None = Entry(
            Kind(content["kind"]),
            tuple(map(str, content["subject"])),
            dict(content["fields"]),
            float(content["due_at"]),
            int(content["tries"]),
            from_json(content.get("last_error", "")),
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        entry = None
    if entry is None or not os.path.basename(path).startswith(entry.file_name):
        problems.append(say("{path} is no entry of the inbox; remove it when nothing waits for it.", path=path))
        return None
    return entry
