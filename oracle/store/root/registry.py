"""Change the registry of projects, `projects.json`: under a lock, with a backup, atomically.

Entries of other tools are kept.

It is always written as version 2: `{"version": 2, "projects": [entry, …]}`, sorted by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from oracle.errors import InvalidRecord, NewerVersion
from oracle.store.disk import files, rewriting, steps
from oracle.store.root import projects
from oracle.wording import say

Entry = dict[str, object]
Make = Callable[[Entry], Entry]

VERSION = 2


def change(folder: str, name: str, make: Make) -> tuple[Entry, Entry]:
    """Replace a project's entry ({} if there is none) with the result of `make`. Returns the entry before and after.

    Nothing is written if it stays the same. Raises InvalidRecord for a registry that cannot be read, NewerVersion,
    LockTimeout, DiskFailure.
    """
    path = f"{folder}/projects.json"
    before: Entry = {}
    after: Entry = {}

    def alter(raw: bytes | None) -> bytes:
        nonlocal before, after
        content = _parse(path, raw)
        entries = projects.entries(content)
        before = entries.get(name, {})
        after = make(dict(before))
        if after == before:
            return raw or b""
        if raw is not None:
            steps.replace(f"{path}.bak", raw)
            files.make_private(f"{path}.bak")
        text = json.dumps(_document(content, {**entries, name: after}), ensure_ascii=False, indent=2) + "\n"
        return text.encode("utf-8", "replace")

    with steps.FileLock(path):
        if rewriting.change(path, alter):
            files.make_private(path)
    return before, after


def require_readable(folder: str) -> None:
    """Raise InvalidRecord or DiskFailure if the registry exists and cannot be read. A newer version can be read."""
    path = f"{folder}/projects.json"
    _content(path, steps.read(path))


def _parse(path: str, raw: bytes | None) -> object:
    content = _content(path, raw)
    version = content.get("version") if isinstance(content, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise NewerVersion(
            say("{path} has version {version}, which a newer program wrote.", path=path, version=version),
            hint=say("Upgrade this program."),
        )
    return content


def _content(path: str, raw: bytes | None) -> object:
    if raw is None or not raw.strip():
        return None
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        content = raw
    if not isinstance(content, dict | list):
        raise InvalidRecord(
            say("{path} is not a valid registry of projects; it was not changed.", path=path),
            hint=say("Correct it, or move it away."),
        )
    return content


def _document(content: object, entries: Mapping[str, Entry]) -> dict[str, object]:
    """Return the registry as version 2. Other keys and items are kept."""
    kept: dict[str, object] = {}
    others: list[object] = []
    if isinstance(content, dict):
        kept = content if "projects" in content else {key: item for key, item in content.items() if key not in entries}
    projects_ = content.get("projects") if isinstance(content, dict) else content
    if isinstance(projects_, list):
        others = [item for item in projects_ if _name(item) not in entries]
    elif isinstance(projects_, dict):
        kept = {**kept, **{key: item for key, item in projects_.items() if key not in entries}}
    return {**kept, "version": VERSION, "projects": [*(entries[name] for name in sorted(entries)), *others]}


def _name(item: object) -> object:
    name = item.get("name") if isinstance(item, dict) else item
    return name if isinstance(name, str) else None
