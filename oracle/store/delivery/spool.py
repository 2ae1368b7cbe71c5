"""Keep an intent outside of a Root that can't be written, and bring it back once it can.

The folder is `$XDG_RUNTIME_DIR/memory-oracle`, or `memory-oracle-<uid>` in the temporary folder. Only its owner may enter.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterator

from oracle.errors import DiskFailure
from oracle.store.delivery import inbox
from oracle.store.delivery.inbox import InboxEntry
from oracle.store.disk import steps
from oracle.store.root.layout import Root

_OWNERS_ALONE = 0o700


def keep(root: Root, entry: InboxEntry) -> str:
    """Keep an entry outside of the Root. Return its path, "" if no folder takes it."""
    data = json.dumps({"root": os.path.realpath(root.path), "entry": inbox.render(entry).decode("ascii")}).encode()
    for folder in _folders():
        path = f"{folder}/{_prefix(root)}{entry.file_name}"
        with contextlib.suppress(OSError, DiskFailure):
            os.makedirs(folder, _OWNERS_ALONE, exist_ok=True)
            if _is_mine(folder):
                steps.create_once(path, data)
                return path
    return ""


def is_anything_kept(root: Root) -> bool:
    """Return whether an entry of a Root is kept outside of it."""
    return any(_kept(root))


def bring_back(root: Root) -> list[str]:
    """Move what was kept for a Root into its inbox. Return the paths that had to stay, since it still can't be written."""
    left = []
    for path in list(_kept(root)):
        try:
            content = json.loads(steps.read(path) or b"")
            entry = inbox.parse(content["entry"].encode()) if content["root"] == os.path.realpath(root.path) else None
        except (DiskFailure, ValueError, TypeError, KeyError, AttributeError):
            continue
        if entry is None:
            continue
        try:
            inbox.add(root, entry)
            steps.remove(path)
        except DiskFailure:
            left.append(path)
    return left


def _kept(root: Root) -> Iterator[str]:
    for folder in _folders():
        try:
            names = sorted(os.listdir(folder)) if _is_mine(folder) else []
        except OSError:
            continue
        yield from (f"{folder}/{name}" for name in names if name.startswith(_prefix(root)))


def _folders() -> list[str]:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    temporary = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - the folder in it is checked
    return [*([f"{runtime}/memory-oracle"] if runtime else []), f"{temporary}/memory-oracle-{os.getuid()}"]


def _is_mine(folder: str) -> bool:
    """Return whether a folder belongs to this user and nobody else may enter it."""
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _prefix(root: Root) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(root.path))).hexdigest()[:12] + "-"
