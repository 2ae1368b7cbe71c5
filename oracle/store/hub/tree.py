"""The files of this machine that a hub takes: where each is, its digest, and its content as it travels."""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
from collections.abc import Iterable, Iterator, Mapping

from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED
from oracle.domain.hub import forms
from oracle.domain.hub.paths import FileKind, HubFile, handoff_path, parse
from oracle.domain.hub.rows import MAX_FILE
from oracle.domain.values import value
from oracle.errors import DiskFailure
from oracle.store.disk import files, folders, steps
from oracle.store.root.layout import RECORD_TREES, Root

SETTLE_NS = 2_000_000_000
"""A file that changed less than this many nanoseconds before it was read is read again the next time."""

RESPONSES = "responses"
SHARED_TREES = (*RECORD_TREES, RESPONSES)
"""The folders of the Root whose files a hub takes; receipts lie elsewhere."""

_RECEIPTS = ("", CONSUMED, receipts.CLAIM)

Seen = dict[str, tuple[int, dict[str, str]]]


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
            stamp = _stamp_of(status, now_ns)
            before = seen.get(place)
            held = before[1] if before is not None and stamp and before[0] == stamp else self._digests(place, name)
            after[place] = stamp, held
            for path, sha256 in held.items():
                if path not in found or not place.endswith(CONSUMED):
                    found[path] = Local(sha256, place)
        return found, after

    def known(self, seen: Seen) -> dict[str, Local]:
        """Return every file by its path in the hub as it was when it was last looked at."""
        found: dict[str, Local] = {}
        for place, (_, held) in seen.items():
            for path, sha256 in held.items():
                if path not in found or not place.endswith(CONSUMED):
                    found[path] = Local(sha256, place)
        return found

    def look_again(self, seen: Seen, places: Iterable[str], now_ns: int) -> set[str] | None:
        """Look at some absolute paths, and change what was seen. Return the paths in the hub that they hold or held.

        None if that is not enough: a whole folder came or went, or a profile changed.
        """
        looked: set[str] = set()
        for place in places:
            if os.path.basename(place)[0] == ".":
                continue
            if self._is_more_than_a_file(place, seen):
                return None
            looked.update(seen.pop(place, ((), {}))[1])
            found = self._file_at(place)
            if found is not None:
                project, status = found
                held = self._digests(place, project)
                seen[place] = _stamp_of(status, now_ns), held
                looked.update(held)
        return looked

    def places_of(self, file: HubFile) -> list[str]:
        """Return the absolute paths at which a file may be, or what travels with it."""
        place = self.place_of(file)
        return [place] if file.receipt is None else [place, place + CONSUMED, place + receipts.CLAIM]

    def _is_more_than_a_file(self, place: str, seen: Seen) -> bool:
        if place.startswith(f"{self.root.profiles}/") or os.path.isdir(place):
            return True
        is_gone = place not in seen and not os.path.lexists(place)
        return is_gone and any(known.startswith(f"{place}/") for known in seen)

    def _file_at(self, place: str) -> tuple[str, os.stat_result] | None:
        """Return the project, of a receipt, and the status of a regular file that may leave; None for anything else."""
        try:
            status = os.lstat(place)
        except OSError:
            return None
        project = self._project_of(place)
        inside = place.removeprefix(f"{self.root.path}/")
        if not stat.S_ISREG(status.st_mode) or not (project or self._is_in_trees(inside)):
            return None
        if not project and status.st_size > MAX_FILE:
            self.oversized.add(inside)
            return None
        return project, status

    def _project_of(self, place: str) -> str:
        """Return the project of a receipt, "" for another file."""
        folder, _, name = place.rpartition("/")
        parsed = receipts.parse_file_name(name)
        if parsed is None or parsed[1] not in _RECEIPTS:
            return ""
        return next((project for project in self._projects() if self.folder_of(project) == folder), "")

    def _is_in_trees(self, path: str) -> bool:
        """Return whether a walk through the trees would find a path: it enters no link and no hidden or derived folder."""
        top, *parents = path.split("/")[:-1] or [""]
        if top not in SHARED_TREES or parse(path) is None or any(name[0] in "._" for name in parents):
            return False
        ways = itertools.accumulate(parents, lambda way, name: f"{way}/{name}", initial=f"{self.root.path}/{top}")
        return not any(map(os.path.islink, ways))

    def stamp_of_others(self, now_ns: int) -> str:
        """Return a text that differs once an answer or a receipt changed; "" while one is too young for that."""
        others = [*self._walk(f"{self.root.path}/{RESPONSES}", RESPONSES, {}), *self._receipts()]
        stamps = sorted((place, _stamp_of(status, now_ns)) for place, _, status in others)
        if not all(stamp for _, stamp in stamps):
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
                if parsed is not None and parsed[1] in _RECEIPTS and _is_plain(entry):
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


def _stamp_of(status: os.stat_result, now_ns: int) -> int:
    """Return a number that differs once a file changed, 0 for one that is too young to trust: the clock may be too coarse."""
    if now_ns - max(status.st_mtime_ns, status.st_ctime_ns) < SETTLE_NS:
        return 0
    return hash((status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns))  # a number takes less memory


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
