"""What a source is, and which of its files are records. Pure and cheap to import."""

from __future__ import annotations

from oracle.domain.names import FOREIGN
from oracle.domain.values import value

FOLDER, OBSIDIAN, CLAUDE_CODE, OPENCLAW, BEADS = "folder", "obsidian", "claude-code", "openclaw", "beads"
TRANSCRIPTS = "transcripts"

RECORD_KINDS = {
    CLAUDE_CODE: "memory",
    OPENCLAW: "memory",
    OBSIDIAN: "note",
    FOLDER: "note",
    BEADS: "issue",
    TRANSCRIPTS: "session",
}
"""The kinds of sources, and the kind of record that the files of each are, whatever their frontmatter says."""

KINDS = tuple(RECORD_KINDS)
NAMED_BY_FILE = (OBSIDIAN, FOLDER)
"""The kinds whose records are titled by their file names."""

SUFFIX, TRANSCRIPT_SUFFIX = ".md", ".jsonl"
"""How the name of a record in a source ends, and that of a transcript."""

INDEX = "MEMORY.md"
"""Claude Code's list of its memories, and OpenClaw's private long-term memory."""

ISSUES = "issues.jsonl"
"""The file of beads, one issue a line."""

_SKIPPED = frozenset(("node_modules", "__pycache__"))


@value
class Source:
    """A folder outside of the Root whose files are records. Project, seat and name are the owner's word, not the files'.

    `is_open` says that OpenClaw's private long-term memory is read too. `why_not` says why this machine does not read it,
    "" if it does.
    """

    name: str
    project: str
    kind: str
    folder: str
    seat: str
    is_open: bool = False
    why_not: str = ""

    @property
    def tree(self) -> str:
        """The root-relative folder under which its records are known."""
        return f"{FOREIGN}{self.project}/{self.name}"

    def place(self, path: str) -> str:
        """Return the absolute path of the file that holds the record at a root-relative path."""
        if self.kind == BEADS and path != self.tree:
            return f"{self.folder}/{ISSUES}"
        return self.folder + path[len(self.tree) :]

    def as_json(self) -> dict[str, object]:
        """Return its entry in the registry."""
        entry: dict[str, object] = {
            "name": self.name,
            "project": self.project,
            "kind": self.kind,
            "path": self.folder,
            "seat": self.seat,
        }
        return {**entry, "long_term": True} if self.is_open else entry


def is_wanted(source: Source, folder: str, name: str, *, is_folder: bool) -> bool:
    """Return whether a name in a folder of a source, "" for its top, is a record or may hold some."""
    if source.kind == OPENCLAW and not folder:
        return name == "memory" if is_folder else source.is_open and name.lower() == INDEX.lower()
    if source.kind == TRANSCRIPTS and is_folder:  # the folders below hold what tools and subagents said
        return False
    return name not in _SKIPPED if is_folder else name.endswith(suffix_of(source.kind))


def without_secret(name: str) -> str:
    """Return the name of a file with a marker for each credential in it. Most names are too short to be searched."""
    from oracle.domain.compiling import compiled

    if not compiled("[A-Za-z0-9]{16}|[=:]").search(name):
        return name
    from oracle.domain.safety.secrets import redact

    return redact(name)[0]


def suffix_of(kind: str) -> str:
    """Return how the names of the files of a kind end."""
    return TRANSCRIPT_SUFFIX if kind == TRANSCRIPTS else SUFFIX
