"""Read the journal: the last events of a project or a task, and new ones as they come."""

from __future__ import annotations

import json
import os
import re
import time
from collections import deque
from collections.abc import Iterator

from oracle.app.context import Context
from oracle.domain.spelling import guess, guess_task
from oracle.store import journal
from oracle.wording import Sentence, joined, say

Event = dict[str, object]

POLL = 0.2
"""Seconds between two looks for new events."""

_MOST = 1 << 31

_TAIL = 1 << 16
"""Bytes at the end of the journal that a view reads, some 400 events."""


def events(context: Context, *, project: str = "", task: str = "", kind: str = "", limit: int = 0) -> list[Event]:
    """Return the last events that fit, the oldest first; `limit` 0 means all, and `kind` is the name of an event."""
    fitting = (
        event
        for event in journal.read(context.root)
        if _fits(event, project, task) and kind in ("", event.get("event"))
    )
    return list(deque(fitting, maxlen=min(limit, _MOST))) if limit > 0 else list(fitting)


def meant(context: Context, *, project: str, task: str) -> str:
    """Return the question whether a project or a task is meant that events name, "" if none is near."""
    projects: set[str] = set()
    tasks: set[str] = set()
    for event in journal.read(context.root):
        projects.add(str(event.get("project") or ""))
        tasks.update(str(event.get(key) or "") for key in ("task_id", "task"))
    if project and project not in projects:
        return guess(project, sorted(projects - {""}))
    return guess_task(task, sorted(tasks - {""})) if task and task not in tasks else ""


def tail(context: Context, size: int = _TAIL) -> list[Event]:
    """Return the events in the last `size` bytes of the journal, the oldest first."""
    end = _size(context.root.events)
    start = max(0, end - size)
    lines = _read(context.root.events, start, end - start).split(b"\n")
    return [event for line in (lines[1:] if start else lines) for event in _parse(line)]


def follow(context: Context, *, project: str = "", task: str = "", limit: int = 0) -> Iterator[Event]:
    """Yield the last events, then each new whole line; a journal that was replaced or cut is read from its beginning."""
    offset = _size(context.root.events)
    before = _read(context.root.events, 0, offset).split(b"\n")
    rest = before.pop()
    last = [event for line in before for event in _parse(line) if _fits(event, project, task)]
    yield from last[-limit:] if limit > 0 else last
    while True:
        size = _size(context.root.events)
        if size < offset:
            offset, rest = 0, b""
        if size > offset:
            rest += _read(context.root.events, offset, size - offset)
            offset = size
            *lines, rest = rest.split(b"\n")
            yield from (event for line in lines for event in _parse(line) if _fits(event, project, task))
        else:
            time.sleep(POLL)


_UNCLEAR = re.compile(r"[\s\"]")
"""What parts the details of an event, or begins a text of JSON."""


def details_of(event: dict[str, object]) -> str:
    """Return what an event says beside its time, name, project and task, as `key=value key=value`."""
    kept = {key: item for key, item in event.items() if key not in ("ts", "event", "project", "task_id") and item != ""}
    return " ".join(f"{key}={_value(item)}" for key, item in kept.items())


LINEAGES = {
    "in-lineage": say("the repository's head has the commit"),
    "divergent": say("the repository's head lacks the commit"),
    "unknown": "",
}
"""What people read for where the commit of a completion is; nothing where no commit was found."""

_ENDS = ("source", "target")


def told(event: dict[str, object]) -> Sentence:
    """Return for people what `details_of` says: who to whom, whether nobody was woken, where the commit is, then the rest."""
    rest = dict(event)
    parts: list[str] = []
    if all(event.get(end) for end in _ENDS):
        parts.append(say("{source} to {target}", **{end: rest.pop(end) for end in _ENDS}))
    lineage = rest.get("lineage")
    if isinstance(lineage, str) and lineage in LINEAGES:
        parts.append(LINEAGES[str(rest.pop("lineage"))])
    if isinstance(rest.get("notifies"), bool) and not rest.pop("notifies"):
        parts.append(say("nobody was woken"))
    return joined("; ", filter(None, [*parts, details_of(rest)]))


def _value(item: object) -> str:
    """Return a value as it is, the items of a list parted by commas; as JSON what would not be read back from that."""
    if isinstance(item, str) and not _UNCLEAR.search(item):
        return item
    if isinstance(item, list) and item and all(isinstance(one, str) and _is_plain(one) for one in item):
        return ",".join(item)
    return json.dumps(item, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    return bool(text) and "," not in text and not _UNCLEAR.search(text)


def _fits(event: Event, project: str, task: str) -> bool:
    tasks = event.get("task_id"), event.get("task")
    return (not project or event.get("project") == project) and (not task or task in tasks)


def _parse(line: bytes) -> Iterator[Event]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return
    if isinstance(entry, dict):
        yield entry


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _read(path: str, offset: int, count: int) -> bytes:
    try:
        with open(path, "rb") as stream:
            stream.seek(offset)
            return stream.read(count)
    except OSError:
        return b""
