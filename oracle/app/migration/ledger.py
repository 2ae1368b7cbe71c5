"""The ledger of a migration: what each file was before it changed, so that the change can be undone.

`ledger.json` lists the files in the order of their changes. Their old bytes are beside it. An undo writes wherever the
ledger says, so it is in the owner's state folder: a Root may come from elsewhere, and a ledger in it is never obeyed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

from oracle.domain.values import NOTHING, value
from oracle.errors import NewerVersion, UsageError
from oracle.store.disk import files, folders, steps
from oracle.store.root.layout import Root
from oracle.wording import say

VERSION = 1
_MODE_BITS = 0o7777


@value
class Undone:
    """What an undo did: the paths it restored, those it removed because they were new, those it left because they changed."""

    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Ledger:
    """The ledger in one folder. Nothing is written before the first change."""

    def __init__(self, folder: str, inside: str = "") -> None:
        self.folder = folder
        self._inside = inside
        self._file = f"{folder}/ledger.json"
        self._entries = self._read()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to undo. Raises UsageError if the only ledger is inside the Root."""
        if not self.paths and self._inside and os.path.lexists(f"{self._inside}/ledger.json"):
            raise UsageError(
                say(
                    "The ledger in {folder} is not used: anybody who wrote the Root may have made it.",
                    folder=self._inside,
                ),
                hint=say("If it is yours, put the files back by hand from the copies beside it."),
            )
        return not self.paths

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

    def old_bytes(self, path: str) -> bytes | None:
        """Return what a file was before the first change, None for no file."""
        saved = next((entry["saved"] for entry in self._entries if entry["path"] == path), None)
        return steps.read(f"{self.folder}/{saved}") if saved else None

    @contextlib.contextmanager
    def keeping(
        self, find: Callable[[], Iterable[str]], planned: Mapping[str, dict[str, Any]] = NOTHING
    ) -> Iterator[None]:
        """Keep the files that `find` names, for a block that changes, creates or removes some of them.

        The ledger is on disk before the block begins, with the `planned` states. `find` is asked again afterwards, for
        files that are new then.
        """
        found = sorted(set(find()))
        own = _missing_folders([self._file] if found else [])
        before = {path: self._keep(path) for path in found}
        for path, state in planned.items():
            before[path]["after"] = state
        fresh = [*own, *_missing_folders(before), *before.values()]
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

    def undo(self, only: Container[str] | None = None) -> Undone:
        """Put back every file that is still as the migration left it, the last change first, and forget its entries.

        With `only`, the other paths keep their entries, and an undo of them is still possible.
        """
        restored: list[str] = []
        removed: list[str] = []
        left: list[str] = []
        wanted = [one for one in self._entries if "folder" not in one and (only is None or one["path"] in only)]
        for entry in reversed(wanted):
            now, was = _state(entry["path"]), self._before(entry)
            if now == was:
                continue
            if now != entry.get("after") or not self._has_copy(entry):
                left.append(entry["path"])
                continue
            self._restore(entry)
            (removed if was is None else restored).append(entry["path"])
        made = [entry["path"] for entry in self._entries if "folder" in entry]
        self._forget(wanted)
        for folder in sorted(made, key=len, reverse=True):
            with contextlib.suppress(OSError):
                folders.remove(folder)
        return Undone(*(tuple(dict.fromkeys(paths)) for paths in (restored, removed, left)))

    def _read(self) -> list[dict[str, Any]]:
        raw = steps.read(self._file)
        if raw is None:
            return []
        self._require_own()
        content: dict[str, Any] = steps.parse_object(raw) or {}
        version, entries = content.get("version"), content.get("entries")
        if isinstance(version, int) and version > VERSION:
            raise NewerVersion(
                say("{path} was written by a newer program.", path=self._file), hint=say("Upgrade this program.")
            )
        if version != VERSION or not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise UsageError(
                say("The ledger {path} is damaged, so nothing was changed.", path=self._file),
                hint=say(
                    "Put the files back by hand from the copies beside it, then remove {folder}.", folder=self.folder
                ),
            )
        return entries

    def _require_own(self) -> None:
        """Raise OwnershipError if another user may change the ledger: an undo writes wherever it says."""
        for path in (os.path.dirname(self.folder), self.folder, self._file):
            files.require_own(path)

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
        own = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]  # files of equal bytes have a copy each
        entry["saved"] = f"{len(self._entries)}-{state['digest'][:16]}-{own}"
        entry["mtime_ns"] = os.stat(path).st_mtime_ns
        steps.replace(f"{self.folder}/{entry['saved']}", steps.read(path) or b"")
        return entry

    def _has_copy(self, entry: dict[str, Any]) -> bool:
        """Whether the old bytes of an entry are still what they were, or it needs none."""
        was = self._before(entry)
        if was is None or not was.get("digest"):
            return True
        raw = steps.read(f"{self.folder}/{entry['saved']}")
        return raw is not None and hashlib.sha256(raw).hexdigest() == was["digest"]

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

    def _forget(self, done: list[dict[str, Any]]) -> None:
        """Remove the entries of files, and all of the ledger with the last of them. Older ledgers share copies of equal bytes."""
        self._entries = [entry for entry in self._entries if entry not in done]
        needed = {entry["saved"] for entry in self._entries}
        for saved in {entry["saved"] for entry in done} - needed - {None}:
            files.discard(f"{self.folder}/{saved}")
        if self.paths:
            self._write()
            return
        files.discard(self._file)
        with contextlib.suppress(OSError):
            folders.remove(self.folder)
        self._entries = []


def open_ledger(root: Root, inside: str) -> Ledger:
    """Return the ledger of a change of a Root. `inside` is where older versions kept it."""
    return Ledger(root.ledger_of(os.path.basename(inside)), inside)


def _is_entry(entry: object) -> bool:
    """Whether an entry of a ledger has the form that `keeping` writes."""
    if not isinstance(entry, dict) or not isinstance(path := entry.get("path"), str) or not os.path.isabs(path):
        return False
    saved, states = entry.get("saved"), (entry.get("before"), entry.get("after"))
    is_copied = isinstance(saved, str) and "/" not in saved and isinstance(entry.get("mtime_ns"), int)
    return (saved is None or is_copied) and all(state is None or _is_state(state) for state in states)


def _is_state(state: object) -> bool:
    if not isinstance(state, dict):
        return False
    is_mode = isinstance(state.get("mode"), int) and isinstance(state.get("digest"), str | None)
    return isinstance(state.get("link"), str) or is_mode


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
