"""What a source is, and which of its files are records. Pure and cheap to import."""

from __future__ import annotations

from oracle.domain.names import FOREIGN
from oracle.domain.values import value

FOLDER = "folder"
KINDS = (FOLDER,)
"""The kinds of sources."""

RECORD_KINDS = {FOLDER: "note"}
"""The kind of record that the files of a source are, whatever their frontmatter says."""

SUFFIX = ".md"
"""How the name of a record in a source ends."""

_SKIPPED = frozenset(("node_modules", "__pycache__"))


@value
class Source:
    """A folder outside of the Root whose files are records. Project, seat and name are the owner's word, not the files'.

    `why_not` says why this machine does not read it, "" if it does.
    """

    name: str
    project: str
    kind: str
    folder: str
    seat: str
    why_not: str = ""

    @property
    def tree(self) -> str:
        """The root-relative folder under which its records are known."""
        return f"{FOREIGN}{self.project}/{self.name}"

    def as_json(self) -> dict[str, str]:
        """Return its entry in the registry."""
        return {
            "name": self.name,
            "project": self.project,
            "kind": self.kind,
            "path": self.folder,
            "seat": self.seat,
        }


def is_wanted(source: Source, folder: str, name: str, *, is_folder: bool) -> bool:
    """Return whether a name in a folder of a source, "" for its top, is a record or may hold some."""
    return name not in _SKIPPED if is_folder else name.endswith(SUFFIX)
