"""The trees of records: the folders of the Root, and each source. Cheap to import: every query uses it."""

from __future__ import annotations

import os

from oracle.domain.names import RECORD_SUFFIXES
from oracle.domain.sources.source import BEADS, is_wanted, suffix_of
from oracle.store.root.layout import RECORD_TREES, SKIPPED_FOLDERS, Root


def tops_of(root: Root) -> set[str]:
    """Return the root-relative folders in which records are looked for: those of the Root, and each source."""
    return {*RECORD_TREES, *root.load_sources()}


class RecordTree:
    """The Root or a source, as one folder of it is listed: which names count, and where links may lead."""

    __slots__ = ("_base", "_folder", "_root", "_source", "suffixes")

    def __init__(self, root: Root, path: str) -> None:
        self._root = root
        self._source = root.source_of(path)
        self._folder = path[len(self._source.tree) + 1 :] if self._source else ""
        self._base = ""
        self.suffixes: str | tuple[str, ...] = suffix_of(self._source.kind) if self._source else RECORD_SUFFIXES

    @property
    def beads(self) -> str:
        """The folder of issues that beads keeps in one file, "" for other trees."""
        return self._source.folder if self._source is not None and self._source.kind == BEADS else ""

    @property
    def is_foreign(self) -> bool:
        """Whether this is a source."""
        return self._source is not None

    def wants(self, name: str, *, is_folder: bool) -> bool:
        """Return whether a name may be a record, or a folder with some."""
        if self._source is None:
            return name not in SKIPPED_FOLDERS if is_folder else name.endswith(RECORD_SUFFIXES)
        return is_wanted(self._source, self._folder, name, is_folder=is_folder)

    def contains(self, path: str) -> bool:
        """Return whether the real path of `path` is in this tree."""
        return f"{os.path.realpath(path)}/".startswith(f"{self._real()}/")

    def holds_record(self, path: str) -> bool:
        """Return whether the real path of `path` is where records are: a link may not lead elsewhere."""
        if self._source is not None:
            return self.contains(path)
        return os.path.realpath(path).startswith(tuple(f"{self._real()}/{tree}/" for tree in RECORD_TREES))

    def _real(self) -> str:
        if not self._base:
            self._base = os.path.realpath(self._source.folder if self._source else self._root.path).rstrip("/")
        return self._base
