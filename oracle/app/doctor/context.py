"""What the checks read: the Root, the time, and the costly scans, each done once and only when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from oracle.app.doctor import diagnosis, tree
from oracle.app.doctor.checks import Check
from oracle.domain.markdown.documents import Value, as_text
from oracle.store.markdown import records
from oracle.store.root.layout import Root


@dataclass(frozen=True, slots=True)
class Head:
    """The checked frontmatter fields of a record, and the line of each key."""

    path: str
    project: str
    fields: Mapping[str, str]
    lines: Mapping[str, int]

    def line(self, key: str) -> int:
        """Return the line of a key, 1 when it is not there."""
        return self.lines.get(key, 1)


class CheckContext:
    """A Root being checked. Nothing here writes."""

    def __init__(self, root: Root, now_ns: int) -> None:
        self.root = root
        self.now_ns = now_ns

    @cached_property
    def tree(self) -> tree.Tree:
        """Every name below the Root."""
        return tree.walk(self.root)

    @cached_property
    def index(self) -> diagnosis.Diagnosis:
        """The index against the files."""
        return diagnosis.diagnose(self.root, now_ns=self.now_ns)

    @cached_property
    def heads(self) -> list[Head]:
        """The heads of all records that can be read, in order of path."""
        rows = self.index.truth.connect().execute("SELECT path, project FROM record ORDER BY path")
        return list(filter(None, (self._head(path, project) for path, project in rows)))

    def _head(self, path: str, project: str) -> Head | None:
        try:
            document = records.parse(path, records.read(self.root.join(path)))
        except OSError:
            return None
        return Head(path, project, {key: _plain(document.fields, key) for key in _KEPT}, document.key_lines)


_KEPT = ("id", "schema_version", "project", "seat")

Examination = Callable[[CheckContext], Iterator[Check]]
"""A check yields its findings; if it yields nothing, the invariant holds."""


def _plain(fields: Mapping[str, Value], key: str) -> str:
    return as_text(fields.get(key, "")).strip()
