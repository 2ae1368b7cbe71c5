"""Find the tmux session of a seat: the names that it may have, by the files of other tools and by convention."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping

from oracle.domain.names import check_name
from oracle.errors import InvalidName
from oracle.store.root import projects
from oracle.store.root.layout import Root

TOOLS = ("claude", "codex", "gemini", "opencode", "qwen")
"""Agents whose name launchers append to that of the seat."""

_MAX_BYTES = 4 << 20


def session_names(project: str, seat: str, *, noted: str = "", registered: str = "", tool: str = "") -> tuple[str, ...]:
    """Return the exact names that the session of a seat may have, most likely first.

    In order: the name in the seat's `session.toml` (`noted`), the name in the registry of projects (`registered`),
    `<project>-<seat>`, and the same with the name of a tool. A prefix of a name never matches.
    """
    plain = f"{project}-{seat}" if project else seat
    tools = dict.fromkeys(filter(None, (tool, *TOOLS)))
    return tuple(dict.fromkeys(filter(None, (noted, registered, plain, *(f"{plain}-{name}" for name in tools)))))


def find_session_names(root: Root, project: str, seat: str, *, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return `session_names` of a seat with the names on disk. Raises InvalidName for an invalid project or seat."""
    noted, tool = _read_session_file(root, check_name(project, "project"), check_name(seat, "seat"))
    registered = _read_registry(root, project, seat, environ=environ)
    return session_names(project, seat, noted=noted, registered=registered, tool=tool)


def bound_projects(tasks: str) -> list[str]:
    """Return the projects that are bound to sessions by a PROJECT_BINDING.toml in their task tree."""
    try:
        names = sorted(os.listdir(tasks))
    except OSError:
        return []
    return [name for name in names if os.path.isfile(f"{tasks}/{name}/PROJECT_BINDING.toml")]


def _read_session_file(root: Root, project: str, seat: str) -> tuple[str, str]:
    """Return session and tool from `sessions/<project>/<seat>/session.toml`, "" for what can't be read."""
    raw = _read(f"{root.sessions}/{project}/{seat}/session.toml")
    try:
        content = tomllib.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return "", ""
    tool = _text(content.get("tool"))
    return _text(content.get("session")), tool if tool and _is_name(tool) else ""


def _read_registry(root: Root, project: str, seat: str, *, environ: Mapping[str, str]) -> str:
    seats = projects.entry(root, project, environ).get("seats")
    return _text(seats.get(seat)) if isinstance(seats, dict) else ""


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_MAX_BYTES)
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
    """Return the socket of the tmux server: `ORACLE_TMUX_SOCKET` (a name or a path), else that of this process, else ""."""
    return environ.get("ORACLE_TMUX_SOCKET") or own_socket(environ)


def own_socket(environ: Mapping[str, str]) -> str:
    """Return the socket of the tmux server that this process runs in, from `TMUX`, or ""."""
    path = environ.get("TMUX", "").rpartition(",")[0].rpartition(",")[0]
    return path if os.path.isabs(path) else ""
