"""Packets kept for inspection: `_state/packets/<id>.json`, the newest MOST_KEPT. They may be deleted at any time.

Beside them, `<task id>.md` is the packet that the memory seat gets for a question the files cannot answer.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping

from oracle.domain.names import check_name, flatten
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root

MOST_KEPT = 200
_NAME = re.compile(r"packet-[0-9a-f]{16}\.json")


def keep(root: Root, packet_id: str, content: Mapping[str, object]) -> str:
    """Keep a packet under its id and remove the oldest beyond MOST_KEPT. Returns its path. Raises DiskFailure."""
    path = f"{root.packets}/{packet_id}.json"
    data = json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    files.make_folder(root.packets)
    files.replace(path, data, scratch=root.packets)  # the common scratch folder belongs to the holder of the write lock
    kept = [name for _, name in _by_age(root) if _NAME.fullmatch(name)]
    for name in kept[MOST_KEPT:]:
        files.remove(f"{root.packets}/{name}")
    return path


def read(root: Root, limit: int) -> list[dict[str, object]]:
    """Return up to `limit` packets, newest first. Invalid files are skipped."""
    found: list[dict[str, object]] = []
    for _, name in _by_age(root):
        if len(found) == limit:
            break
        content = steps.read_object(f"{root.packets}/{name}") if _NAME.fullmatch(name) else None
        if content is not None:
            found.append(content)
    return found


def question_path(root: Root, project: str, task_id: str) -> str:
    """Return the path of a question's packet. If another project has that name, the project is put in front."""
    path = f"{root.packets}/{check_name(task_id, 'task id')}.md"
    first = _first_line(path)
    if first is None or first == question_mark(project, task_id):
        return path
    return f"{root.packets}/{flatten(f'{project}/{task_id}')}.md"


def question_mark(project: str, task_id: str) -> str:
    """Return the first line of a question's packet, which identifies it."""
    return f"# Packet for {task_id} of {project}"


def asked_at(path: str) -> float | None:
    """Return when the packet of a question was written, in seconds since 1970; None if it does not exist."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


def keep_question(path: str, text: str) -> None:
    """Write the packet of a question. Raises DiskFailure."""
    folder = os.path.dirname(path)
    files.make_folder(folder)
    files.replace(path, text.encode("utf-8", "replace"), scratch=folder)


def _first_line(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.readline().rstrip("\n")
    except OSError:
        return None


def forget_questions(root: Root, waiting: Collection[str]) -> None:
    """Remove the packets of questions beyond the newest MOST_KEPT, except for the open questions in `waiting` (paths)."""
    questions = [f"{root.packets}/{name}" for _, name in _by_age(root) if name.endswith(".md")]
    for path in [path for path in questions if path not in waiting][MOST_KEPT:]:
        files.remove(path)


def _by_age(root: Root) -> list[tuple[int, str]]:
    """Return (mtime ns, name) of the files in the folder, newest first."""
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
