"""Packets that were made, kept for inspection: `_state/packets/<id>.json`, the newest MOST_KEPT. Ephemeral; store room."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

from oracle.store import files
from oracle.store.layout import Root

MOST_KEPT = 200
_NAME = re.compile(r"packet-[0-9a-f]{16}\.json")


def keep(root: Root, packet_id: str, content: Mapping[str, object]) -> str:
    """Keep a packet under its id and let the oldest beyond MOST_KEPT go; return its path. Raises DiskFailure."""
    path = f"{root.packets}/{packet_id}.json"
    data = json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    files.make_folder(root.packets)
    files.replace(path, data, scratch=root.packets)  # beside its name: the common scratch folder is the lock holder's
    for _, name in _by_age(root)[MOST_KEPT:]:
        files.remove(f"{root.packets}/{name}")
    return path


def read(root: Root, limit: int) -> list[dict[str, object]]:
    """Return up to `limit` of the packets that are kept, the newest first; a file that is none is passed over."""
    found: list[dict[str, object]] = []
    for _, name in _by_age(root):
        if len(found) == limit:
            break
        content = _read(f"{root.packets}/{name}") if _NAME.fullmatch(name) else None
        if content is not None:
            found.append(content)
    return found


def _by_age(root: Root) -> list[tuple[int, str]]:
    """Return (mtime ns, name) of what lies in the folder, the newest first."""
    try:
        entries = list(os.scandir(root.packets))
    except OSError:
        return []
    found: list[tuple[int, str]] = []
    for entry in entries:
        try:
            found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
        except OSError:
            continue
    return sorted(found, reverse=True)


def _read(path: str) -> dict[str, object] | None:
    try:
        with open(path, "rb") as stream:
            content = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
