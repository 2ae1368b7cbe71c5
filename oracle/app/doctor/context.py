"""Results of checks, and what the checks read: each costly scan is done once and only when needed."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from oracle.app.doctor import diagnosis
from oracle.app.doctor.diagnosis import Head, head_of
from oracle.domain.names import FOREIGN
from oracle.domain.values import AsJson, value
from oracle.index.listing import printable
from oracle.store.markdown import records
from oracle.store.root.layout import LEGACY_PLURALS, RECORD_TREES, SKIPPED_FOLDERS, Root
from oracle.wording import LIST, Sentence, joined, say

ERROR = "error"
WARNING = "warning"
NOTE = "note"
_RANKS = (ERROR, WARNING, NOTE)

CAP = 20
"""Faults of one check that are listed; the rest is counted."""

FIX = "oracle doctor --repair"


@value
class Check(AsJson):
    """One invariant and whether it holds.

    `severity` says how bad it is (or would be) when it does not hold; a note never counts as wrong, so its `ok` is true.
    `detail` is one line; `fix` is a command or an action, "" when there is nothing to do.
    """

    name: str
    ok: bool
    detail: str
    fix: str
    severity: str


def passed(name: str, detail: str) -> Check:
    """Report an invariant that holds."""
    return Check(name, True, one_line(detail), "", NOTE)


def note(name: str, detail: str, fix: str = "") -> Check:
    """Report what a person should know although nothing is wrong."""
    return Check(name, True, one_line(detail), one_line(fix), NOTE)


def error(name: str, detail: str, fix: str) -> Check:
    """Report a fault: something does not work until it is fixed."""
    return Check(name, False, one_line(detail), one_line(fix), ERROR)


def warning(name: str, detail: str, fix: str) -> Check:
    """Report a fault that stops nothing else."""
    return Check(name, False, one_line(detail), one_line(fix), WARNING)


def capped(checks: Iterable[Check], cap: int = CAP) -> Iterator[Check]:
    """Yield the first `cap` checks, then one that counts the others by the name and severity of the last one."""
    listed = iter(checks)
    last = None
    for last in islice(listed, cap):
        yield last
    rest = sum(1 for _ in listed)
    if last is not None and rest:
        yield Check(
            last.name,
            last.ok,
            say("… and {rest} more", rest=rest),
            last.fix and say("The others are shown once these are fixed."),
            last.severity,
        )


def in_order(checks: Iterable[Check]) -> list[Check]:
    """Return checks with the worst first: errors, warnings, then what holds with the notes; else in the order given."""
    return sorted(checks, key=lambda check: (check.ok, _RANKS.index(check.severity)))


def first_few(names: Sequence[str], limit: int = 5) -> Sentence:
    """Return "a, b, c and 4 more"."""
    rest = len(names) - limit
    if rest > 0:
        return say("{names} and {rest} more", names=names[:limit], rest=rest)
    return joined(LIST, names[:limit])


def one_line(text: str) -> str:
    """Return text that fits on a line of a terminal: control characters and bytes that are not UTF-8 are escaped."""
    return text.map_text(printable) if isinstance(text, Sentence) else printable(text)


def quoted(path: str) -> str:
    """Return a path as a word for a shell, so that a fix can be pasted."""
    return shlex.quote(path)


class Status(NamedTuple):
    """What the checks ask of a stat. A whole one takes three times as much memory, and a Root may hold 400,000 names."""

    st_mode: int
    st_uid: int
    st_size: int
    st_mtime_ns: int


@value
class TreeEntry:
    """A file, folder or link below the Root; `path` is root-relative."""

    path: str
    status: Status

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def parts(self) -> list[str]:
        """The parts of the path."""
        return self.path.split("/")

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.status.st_mode)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of its own."""
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file."""
        return stat.S_ISREG(self.status.st_mode)

    @property
    def mode(self) -> int:
        """The permission bits."""
        return stat.S_IMODE(self.status.st_mode)


@dataclass(slots=True)
class Tree:
    """What the walk met: `entries` are the truth in order of path, `derived` what may be deleted at any time.

    Projections and records that no check can find fault with are left out: they are nearly all there is.
    """

    entries: list[TreeEntry] = field(default_factory=list)
    derived: list[TreeEntry] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


_PRIVATE_FILE = stat.S_IFREG | 0o600


def walk(root: Root, now_ns: int) -> Tree:
    """Walk the whole Root. Hidden names are left alone; a folder that can't be listed is named in `unreadable`."""
    tree = Tree()
    queue = [("", False)]
    while queue:
        folder, is_derived = queue.pop()
        for entry in _list(root, folder, tree, now_ns):
            below = is_derived or _is_derived(entry)
            (tree.derived if below else tree.entries).append(entry)
            if entry.is_folder:
                queue.append((entry.path, below))
    tree.entries.sort(key=lambda entry: entry.path)
    tree.derived.sort(key=lambda entry: entry.path)
    return tree


def _is_derived(entry: TreeEntry) -> bool:
    """Return whether a name is derived from the index. `_index` counts within a project only."""
    depth = len(entry.parts)
    if entry.name == "_index":
        return depth == 3 and entry.path.startswith("projects/")
    return depth == 1 and entry.name in SKIPPED_FOLDERS


def _list(root: Root, folder: str, tree: Tree, now_ns: int) -> list[TreeEntry]:
    """Return the entries of a folder. Of projections and records, which are many, only the odd ones."""
    found = []
    user, is_ordinary = os.geteuid(), _ordinary(folder)
    try:
        with os.scandir(root.join(folder) if folder else root.path) as entries:
            for entry in entries:
                if entry.name[0] == ".":
                    continue
                path = f"{folder}/{entry.name}" if folder else entry.name
                try:
                    seen = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if not (seen.st_uid == user and is_ordinary(entry, seen, now_ns)):
                    found.append(TreeEntry(path, Status(seen.st_mode, seen.st_uid, seen.st_size, seen.st_mtime_ns)))
    except FileNotFoundError:
        return found
    except OSError as trouble:
        tree.unreadable[folder] = trouble.strerror or str(trouble)
    return found


def _ordinary(folder: str) -> Callable[[os.DirEntry[str], os.stat_result, int], bool]:
    """Return the test by which our files in a folder are left out of the tree."""
    parts = folder.split("/")
    if folder in ("_links", "_backlinks"):
        return lambda _, seen, __: seen.st_mode == _PRIVATE_FILE
    if parts[0] in RECORD_TREES and folder != "projects" and not {*LEGACY_PLURALS, "_index"}.intersection(parts[2:3]):
        return _is_ordinary_record
    return lambda *_: False


def _is_ordinary_record(entry: os.DirEntry[str], seen: os.stat_result, now_ns: int) -> bool:
    """Return whether a file is plain, readable, not of the future, and has a name that no check looks at."""
    name = entry.name
    return (
        (name.endswith(".md") and name.isascii() and name.isprintable() and " " not in name)
        and (stat.S_ISREG(seen.st_mode) and seen.st_mode & stat.S_IRUSR != 0 and seen.st_mtime_ns <= now_ns)
        and os.access(entry.path, os.R_OK)
    )


class CheckContext:
    """A Root being checked. Nothing here writes."""

    def __init__(self, root: Root, now_ns: int) -> None:
        self.root = root
        self.now_ns = now_ns

    @cached_property
    def tree(self) -> Tree:
        """Every name below the Root."""
        return walk(self.root, self.now_ns)

    @cached_property
    def index(self) -> diagnosis.Diagnosis:
        """The index against the files."""
        return diagnosis.diagnose(self.root, now_ns=self.now_ns)

    @cached_property
    def heads(self) -> list[Head]:
        """The heads of the records that can be read, of those of a sample in a large Root, in order of path."""
        if self.index.sampled:
            return sorted(self.index.heads, key=lambda head: head.path)
        rows = self.index.truth.connect().execute("SELECT path, project FROM record ORDER BY path")
        return list(filter(None, (self._head(path, project) for path, project in rows if not path.startswith(FOREIGN))))

    def _head(self, path: str, project: str) -> Head | None:
        document = records.read_document(self.root, path)
        return head_of(path, project, document) if document else None


Examination = Callable[[CheckContext], Iterator[Check]]
"""A check yields its findings; if it yields nothing, the invariant holds."""
