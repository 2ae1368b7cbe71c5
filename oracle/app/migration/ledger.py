"""The ledger of a migration: what each file was before it changed, so that the change can be undone.

`ledger.json` lists the files in the order of their changes. Their old bytes are beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from oracle.domain.values import NOTHING, value
from oracle.errors import NewerVersion
from oracle.store.disk import files, folders, steps
from oracle.wording import say

VERSION = 1
_MODE_BITS = 0o7777


@value
class Undone:
    """What an undo did: the paths it restored, and those it left because they changed since."""

    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Ledger:
    """The ledger in one folder. Nothing is written before the first change."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._file = f"{folder}/ledger.json"
        self._entries = self._read()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to undo."""
        return not self._entries

    def write(self, planned: Mapping[str, tuple[bytes, int]]) -> None:
        """Write files, each with its content and mode, after the ledger knows them."""

        def paths() -> Iterable[str]:
            return planned

        after = {path: _state_of(data, mode) for path, (data, mode) in planned.items()}
        with self.keeping(paths, after):
            for path, (data, mode) in planned.items():
                steps.replace(path, data)
                files.set_mode(path, mode)

    @property
    def paths(self) -> list[str]:
        """The files that changed, the first change first."""
        return [entry["path"] for entry in self._entries if "folder" not in entry]

    @contextlib.contextmanager
    def keeping(
        self, find: Callable[[], Iterable[str]], planned: Mapping[str, dict[str, Any]] = NOTHING
    ) -> Iterator[None]:
        """Keep the files that `find` names, for a block that changes, creates or removes some of them.

        The ledger is on disk before the block begins, with the `planned` states. `find` is asked again afterwards, for
        files that are new then.
        """
        before = {path: self._keep(path) for path in sorted(set(find()))}
        for path, state in planned.items():
            before[path]["after"] = state
        fresh = [*_missing_folders(before), *before.values()]
        self._entries += fresh
        self._write()
        try:
            yield
        finally:
            new = sorted(set(find()) - before.keys())
            made: list[dict[str, Any]] = [{"path": path, "saved": None} for path in new]
            self._entries += made
            for entry in [*before.values(), *made]:
                entry["after"] = _state(entry["path"])
            self._entries = [entry for entry in self._entries if not self._is_idle(entry)]
            self._write()

    def undo(self) -> Undone:
        """Put back every file that is still as the migration left it, the last change first, and forget the ledger."""
        restored, left = [], []
        for entry in reversed([one for one in self._entries if "folder" not in one]):
            now, was = _state(entry["path"]), self._before(entry)
            if now == was:
                continue
            if now != entry.get("after"):
                left.append(entry["path"])
                continue
            self._restore(entry)
            restored.append(entry["path"])
        for entry in sorted((one for one in self._entries if "folder" in one), key=lambda one: -len(one["path"])):
            with contextlib.suppress(OSError):
                folders.remove(entry["path"])
        self._forget()
        return Undone(tuple(dict.fromkeys(restored)), tuple(dict.fromkeys(left)))

    def _read(self) -> list[dict[str, Any]]:
        raw = steps.read(self._file)
        content: dict[str, Any] = json.loads(raw) if raw else {"version": VERSION, "entries": []}
        if content["version"] > VERSION:
            raise NewerVersion(
                say("{path} was written by a newer program.", path=self._file), hint=say("Upgrade this program.")
            )
        entries: list[dict[str, Any]] = content["entries"]
        return entries

    def _write(self) -> None:
        if not self._entries and not os.path.isdir(self.folder):
            return
        content = {"version": VERSION, "entries": self._entries}
        steps.replace(self._file, json.dumps(content, ensure_ascii=True, indent=1).encode())

    def _keep(self, path: str) -> dict[str, Any]:
        state = _state(path)
        entry: dict[str, Any] = {"path": path, "saved": None, "before": state}
        if state is None or not state.get("digest"):  # nothing there, a link, or a folder whose mode alone changes
            return entry
        entry["saved"] = f"{len(self._entries)}-{state['digest'][:16]}"
        entry["mtime_ns"] = os.stat(path).st_mtime_ns
        steps.replace(f"{self.folder}/{entry['saved']}", steps.read(path) or b"")
        return entry

    def _before(self, entry: dict[str, Any]) -> dict[str, Any] | None:
        found: dict[str, Any] | None = entry.get("before")
        return found

    def _is_idle(self, entry: dict[str, Any]) -> bool:
        """Whether a block left a file as it was. Its copy is removed."""
        if "folder" in entry or "after" not in entry or entry["after"] != self._before(entry):
            return False
        if entry["saved"]:
            files.discard(f"{self.folder}/{entry['saved']}")
        return True

    def _restore(self, entry: dict[str, Any]) -> None:
        path, was = entry["path"], self._before(entry)
        if was is None:
            steps.remove(path)
            return
        if "link" in was:
            steps.remove(path)
            os.symlink(was["link"], path)
            return
        if entry["saved"]:
            steps.replace(path, steps.read(f"{self.folder}/{entry['saved']}") or b"")
            files.set_time(path, entry["mtime_ns"])
        files.set_mode(path, was["mode"])

    def _forget(self) -> None:
        for entry in self._entries:
            if entry.get("saved"):
                files.discard(f"{self.folder}/{entry['saved']}")
        files.discard(self._file)
        with contextlib.suppress(OSError):
            folders.remove(self.folder)
        self._entries = []


def _state_of(data: bytes, mode: int) -> dict[str, Any]:
    return {"mode": mode, "digest": hashlib.sha256(data).hexdigest()}


def _state(path: str) -> dict[str, Any] | None:
    """Return mode and digest of a file, or None if it does not exist. A folder has no digest, a link only its target."""
    if os.path.islink(path):
        return {"link": os.readlink(path)}
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    digest = hashlib.sha256(steps.read(path) or b"").hexdigest() if stat.S_ISREG(mode) else None
    return {"mode": mode & _MODE_BITS, "digest": digest}


def _missing_folders(paths: Iterable[str]) -> list[dict[str, Any]]:
    """Return an entry for each folder that a change will create."""
    missing: set[str] = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder and not os.path.isdir(folder):
            missing.add(folder)
            folder = os.path.dirname(folder)
    return [{"path": folder, "folder": True, "saved": None} for folder in sorted(missing)]
