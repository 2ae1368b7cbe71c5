"""Find workspaces that were rendered from an older state of the repository. What can't be known is not reported."""

from __future__ import annotations

import os
import re

from oracle.app.context import Context
from oracle.app.delivery.team import open_team
from oracle.app.git import ask_git
from oracle.domain.values import AsJson, value
from oracle.errors import DiskFailure, OracleError
from oracle.store.disk import steps

PAGES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
STALE = "STALE WORKSPACE: ClawSeat has updated since last render."
_RENDERED = re.compile(r"rendered_from_clawseat_sha[\"'`*]*[ \t]*[:=][ \t]*[\"'`]?([0-9a-f]{7,64})\b")


@value
class StaleWorkspace(AsJson):
    """A workspace that was rendered from another state of the repository."""

    page: str
    rendered: str
    current: str
    command: str


def check(context: Context, *, workspace: str = "", project: str = "", repo: str = "") -> list[StaleWorkspace]:
    """Return the workspaces that are stale: the named one, those of a project's seats, or this folder."""
    current = _current(context, repo)
    if not current:
        return []
    command = f"agent_admin engineer regenerate-workspace --project {project or 'PROJECT'} --all-seats"
    found = []
    for folder in _folders(context, workspace, project):
        for page in PAGES:
            rendered = _rendered(f"{folder}/{page}")
            if rendered and not current.startswith(rendered):
                found.append(StaleWorkspace(f"{folder}/{page}", rendered, current, command))
    return found


def _current(context: Context, repo: str) -> str:
    place = repo or os.environ.get("CLAWSEAT_ROOT") or f"{context.root.home}/ClawSeat"
    code, said = ask_git(os.path.expanduser(place), "rev-parse", "HEAD")
    return said if code == 0 else ""


def _folders(context: Context, workspace: str, project: str) -> list[str]:
    if workspace or not project:
        return [os.path.abspath(os.path.expanduser(workspace or "."))]
    try:
        top = open_team(context, project).profile.workspace_root
        names = sorted(os.listdir(top))
    except (OracleError, OSError):
        return []
    return [f"{top}/{name}" for name in names if os.path.isdir(f"{top}/{name}")]


def _rendered(path: str) -> str:
    try:
        raw = steps.read(path)
    except DiskFailure:
        return ""
    found = _RENDERED.search(raw.decode("utf-8", "replace")) if raw is not None else None
    return found[1] if found else ""
