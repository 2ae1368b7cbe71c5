"""Which tmux session a seat has: the names it may go by, from what other tools note and from convention. Reads only."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING

from oracle.domain.names.slugs import check_name
from oracle.errors import InvalidName
from oracle.store.root import projects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.store.root.layout import Root

TOOLS = ("claude", "codex", "gemini", "opencode", "qwen")
"""The agents whose name launchers put behind the seat's."""

_MOST_BYTES = 4 << 20


def session_names(project: str, seat: str, *, noted: str = "", registered: str = "", tool: str = "") -> tuple[str, ...]:
    """Return the exact names that the session of a seat may have, the likeliest first.

    `noted` is what the seat's own `session.toml` says, `registered` what the registry of projects says; then come
    `<project>-<seat>` and the same with the name of a tool behind it. Nothing is ever a prefix of a name.
    """
    plain = f"{project}-{seat}" if project else seat
    tools = dict.fromkeys(filter(None, (tool, *TOOLS)))
    return tuple(dict.fromkeys(filter(None, (noted, registered, plain, *(f"{plain}-{name}" for name in tools)))))


def find_session_names(root: Root, project: str, seat: str, *, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return `session_names` of a seat with what the disk says of it. Raises InvalidName for a name that is none."""
    noted, tool = _read_session_file(root, check_name(project, "project"), check_name(seat, "seat"))
    registered = _read_registry(root, project, seat, environ=environ)
    return session_names(project, seat, noted=noted, registered=registered, tool=tool)


def bound_projects(root: Root) -> list[str]:
    """Return the projects that are bound to sessions: those with a PROJECT_BINDING.toml in their task tree."""
    try:
        names = sorted(os.listdir(root.tasks))
    except OSError:
        return []
    return [name for name in names if os.path.isfile(f"{root.tasks}/{name}/PROJECT_BINDING.toml")]


def _read_session_file(root: Root, project: str, seat: str) -> tuple[str, str]:
    """Return (session, tool) of `sessions/<project>/<seat>/session.toml`; what can't be read says nothing."""
    raw = _read(f"{root.sessions}/{project}/{seat}/session.toml")
    try:
        content = tomllib.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return "", ""
    tool = _text(content.get("tool"))
    return _text(content.get("session")), tool if _is_name(tool) else ""


def _read_registry(root: Root, project: str, seat: str, *, environ: Mapping[str, str]) -> str:
    seats = projects.entry(root, project, environ).get("seats")
    return _text(seats.get(seat)) if isinstance(seats, dict) else ""


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_MOST_BYTES)
    except OSError:
        return b""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_name(value: str) -> bool:
    try:
        return bool(check_name(value, "tool"))
    except InvalidName:
        return False


def tmux_socket(environ: Mapping[str, str]) -> str:
    """Return the server to talk to: `ORACLE_TMUX_SOCKET` (a name or a path), else the one around us, "" for the default."""
    return environ.get("ORACLE_TMUX_SOCKET") or own_socket(environ)


def own_socket(environ: Mapping[str, str]) -> str:
    """Return the path of the server that this process runs in, from `TMUX`, or ""."""
    path = environ.get("TMUX", "").rpartition(",")[0].rpartition(",")[0]
    return path if os.path.isabs(path) else ""
