"""`events.log`: one JSON line per event, appended with a single write.

The journal is never rewritten or read as a source of records.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping

from oracle.store.disk import files, steps
from oracle.store.root.layout import Root

LONGEST = 16 << 20
"""The largest line in bytes. A longer one is skipped."""


def append(root: Root, event: str, ts: str, details: Mapping[str, object]) -> None:
    """Append one event. `ts` and `event` come first, then the sorted keys of `details`. Raises DiskFailure."""
    append_all(root, [(event, ts, details)])


def append_all(root: Root, events: Iterable[tuple[str, str, Mapping[str, object]]]) -> None:
    """Append several events (name, timestamp, details), one line each, in one write."""
    lines = [_line(event, ts, details) for event, ts, details in events]
    if lines:
        files.append_line(root.events, b"\n".join(lines))


def _line(event: str, ts: str, details: Mapping[str, object]) -> bytes:
    entry = {"ts": ts, "event": event, **{key: details[key] for key in sorted(details)}}
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def read(root: Root) -> Iterator[dict[str, object]]:
    """Yield the events in the order of the file. Lines that are not JSON objects are skipped."""
    if not os.path.isfile(root.events):
        return
    with open(root.events, "rb") as stream:
        for line in iter(lambda: stream.readline(LONGEST), b""):
            if (entry := steps.parse_object(line)) is not None:
                yield entry
