"""Where other programs keep their notes and memories: from what a person names to the folder itself."""

from __future__ import annotations

import os
from collections.abc import Mapping

from oracle.domain.compiling import compiled
from oracle.domain.sources.source import BEADS, CLAUDE_CODE, INDEX, ISSUES, TRANSCRIPTS
from oracle.store.disk import steps


def find_folder(kind: str, place: str, environ: Mapping[str, str]) -> str:
    """Return the folder of a source's files for the place that a person named.

    For claude-code that is a folder of memories, `~/.claude/projects/<folder>`, or a repository or one of its worktrees; for
    transcripts a repository, or `~/.claude/projects/<folder>`. For beads it is a repository, its `.beads`, or the file in it.
    """
    if kind == BEADS:
        if os.path.basename(place) == ISSUES:
            return os.path.dirname(place)
        return place if os.path.basename(place) == ".beads" else f"{place}/.beads"
    if kind not in (CLAUDE_CODE, TRANSCRIPTS) or os.path.exists(f"{place}/{INDEX}"):
        return place
    if os.path.lexists(f"{place}/.git"):
        home = environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
        folder = place if kind == TRANSCRIPTS else _repository(place)
        project = f"{home}/projects/{compiled('[^A-Za-z0-9]').sub('-', folder)}"
        return project if kind == TRANSCRIPTS else f"{project}/memory"
    if kind == TRANSCRIPTS:
        return place
    return f"{place}/memory" if os.path.isdir(f"{place}/memory") else place


def _repository(place: str) -> str:
    """Return the main folder of a repository: Claude Code keeps one memory for all of its worktrees."""
    if not os.path.isfile(f"{place}/.git"):
        return place
    raw = steps.read(f"{place}/.git") or b""
    found = compiled(r"gitdir: (.+)/\.git/worktrees/[^/\n]+\s*").fullmatch(raw.decode("utf-8", "replace"))
    return os.path.normpath(os.path.join(place, found[1])) if found else place
