"""The files of this machine that a hub takes: where each is, its digest, and its content as it travels."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping

from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED
from oracle.domain.hub import forms
from oracle.domain.hub.paths import FileKind, HubFile, handoff_path, parse
from oracle.domain.hub.rows import MAX_FILE
from oracle.domain.values import value
from oracle.errors import DiskFailure
from oracle.store.disk import files, folders, steps
from oracle.store.hub.ledger import Stamp
from oracle.store.root.layout import RECORD_TREES, Root

SETTLE_NS = 2_000_000_000
"""A file that changed less than this many nanoseconds before it was read is read again the next time."""

RESPONSES = "responses"
SHARED_TREES = (*RECORD_TREES, RESPONSES)
"""The folders of the Root whose files a hub takes; receipts lie elsewhere."""

Seen = dict[str, tuple[Stamp, dict[str, str]]]


@value
class Local:
    """A file that the hub takes, as it is here: its digest and its absolute path."""

    sha256: str
    place: str


class SharedTree:
    """The Root and the handoff folders of its projects, as a hub names their files."""

    def __init__(self, root: Root, folders_by_project: Mapping[str, str]) -> None:
        self.root = root
        self._folders = folders_by_project
        self.oversized: set[str] = set()
        self.unread: set[str] = set()
        """Paths of files that the last scan could not read: they are not gone."""

    def place_of(self, file: HubFile) -> str:
        """Return the absolute path of a file; that of the receipt for what travels beside it."""
        if file.receipt is None:
            return f"{self.root.path}/{file.path}"
        return f"{self.folder_of(file.project)}/{file.receipt.file_name}"

    def folder_of(self, project: str) -> str:
        """Return the folder of a project's receipts."""
        return self._folders.get(project) or self.root.handoffs(project)

    def scan(self, seen: Seen, now_ns: int) -> tuple[dict[str, Local], Seen]:
        """Return every file by its path in the hub, and what was seen. Only files that changed are read."""
        self.oversized, self.unread = set(), set()
        found: dict[str, Local] = {}
        after: Seen = {}
        for place, name, status in self._files(seen):
            stamp = _stamp_of(status)
            before = seen.get(place)
            held = before[1] if before is not None and before[0] == stamp else self._digests(place, name)
            is_settled = now_ns - max(status.st_mtime_ns, status.st_ctime_ns) >= SETTLE_NS
            after[place] = (stamp if is_settled else (), held)
            for path, sha256 in held.items():
                if path not in found or not place.endswith(CONSUMED):
                    found[path] = Local(sha256, place)
        return found, after

    def stamp_of_others(self, now_ns: int) -> str:
        """Return a text that differs once an answer or a receipt changed; "" while one is too young for that."""
        others = [*self._walk(f"{self.root.path}/{RESPONSES}", RESPONSES, {}), *self._receipts()]
        stamps = sorted((place, _stamp_of(status)) for place, _, status in others)
        if any(now_ns - max(stamp[0], stamp[3]) < SETTLE_NS for _, stamp in stamps):
            return ""
        return hashlib.sha256(repr(stamps).encode("utf-8", "surrogateescape")).hexdigest()

    def digest(self, file: HubFile) -> str:
        """Return the digest of a file as it is on disk now, "" for none."""
        data = self.read(file)
        return "" if data is None else hashlib.sha256(data).hexdigest()

    def read(self, file: HubFile) -> bytes | None:
        """Return the content of a file as it travels, None for none."""
        place = self.place_of(file)
        if file.receipt is None:
            return self._forms(place, "").get(file.path)
        suffixes = (receipts.CLAIM,) if file.kind is FileKind.CLAIM else ("", CONSUMED)
        held = (self._forms(place + suffix, file.project).get(file.path) for suffix in suffixes)
        return next((data for data in held if data is not None), None)

    def _digests(self, place: str, project: str) -> dict[str, str]:
        return {path: hashlib.sha256(data).hexdigest() for path, data in self._forms(place, project).items()}

    def _forms(self, place: str, project: str) -> dict[str, bytes]:
        """Return what a file on disk holds by path in the hub: a consumed receipt holds itself and its mark."""
        parsed = receipts.parse_file_name(os.path.basename(place)) if project else None
        path = handoff_path(project, *parsed) if parsed else place[len(self.root.path) + 1 :]
        try:
            data = steps.read(place)
        except DiskFailure:
            self.unread.add(path.removesuffix(CONSUMED))
            return {}
        if data is None:
            return {}
        if parsed is None or parsed[1] == receipts.CLAIM:
            return {path: data}
        receipt = receipts.read_receipt(parsed[0], data)
        form = forms.shared_form(receipt)
        if form is None:
            self.unread.add(path.removesuffix(CONSUMED))
            return {}
        found = {handoff_path(project, parsed[0]): form}
        if parsed[1] == CONSUMED:
            suffix, mark = forms.mark_of(receipt)
            found[handoff_path(project, parsed[0], suffix)] = mark
        return found

    def _files(self, seen: Seen) -> Iterator[tuple[str, str, os.stat_result]]:
        """Yield (absolute path, project of a receipt or "", status) of every regular file that may leave."""
        for top in SHARED_TREES:
            yield from self._walk(f"{self.root.path}/{top}", top, seen)
        yield from self._receipts()

    def _receipts(self) -> Iterator[tuple[str, str, os.stat_result]]:
        for project in self._projects():
            for entry in _entries(self.folder_of(project)):
                parsed = receipts.parse_file_name(entry.name)
                if parsed is not None and parsed[1] in ("", CONSUMED, receipts.CLAIM) and _is_plain(entry):
                    yield entry.path, project, entry.stat(follow_symlinks=False)

    def _projects(self) -> list[str]:
        return sorted({*self._folders, *filter(_is_project, folders.names_in(self.root.tasks))})

    def _walk(self, folder: str, relpath: str, seen: Seen) -> Iterator[tuple[str, str, os.stat_result]]:
        for entry in _entries(folder):
            path = f"{relpath}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name[0] not in "._":
                    yield from self._walk(entry.path, path, seen)
            elif (entry.path in seen or parse(path) is not None) and _is_plain(entry):
                status = entry.stat(follow_symlinks=False)
                if status.st_size > MAX_FILE:
                    self.oversized.add(path)
                else:
                    yield entry.path, "", status


def _stamp_of(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns


def _is_project(name: str) -> bool:
    return parse(f"projects/{name}/x.md") is not None


def _is_plain(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """List a folder; a missing one is empty. Raises DiskFailure, so that what can't be listed does not look removed."""
    with files.failing(folder):
        try:
            with os.scandir(folder) as found:
                return list(found)
        except FileNotFoundError:
            return []
