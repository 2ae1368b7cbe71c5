"""The names that the tmux session of a seat may have, from files of other tools."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from oracle.domain.names import check_name, is_name
from oracle.errors import OracleError
from oracle.store.disk import steps
from oracle.store.root import projects
from oracle.store.root.layout import Root

_AGENTS = ("claude", "codex", "gemini", "opencode", "qwen")
"""Agents whose name launchers append to that of the seat."""


def session_names(project: str, seat: str, *, noted: str = "", registered: str = "", tool: str = "") -> tuple[str, ...]:
    """Return the exact names that the session of a seat may have, most likely first.

    In order: the name in the seat's `session.toml` (`noted`), the name in the registry of projects (`registered`),
    `<project>-<seat>`, and the same with the name of a tool. A prefix of a name never matches.
    """
    plain = f"{project}-{seat}" if project else seat
    tools = dict.fromkeys(filter(None, (tool, *_AGENTS)))
    return tuple(dict.fromkeys(filter(None, (noted, registered, plain, *(f"{plain}-{name}" for name in tools)))))


def find_session_names(root: Root, project: str, seat: str, *, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return `session_names` of a seat with the names in files of other tools. Raises InvalidName."""
    noted, tool = _read_session_file(root, check_name(project, "project"), check_name(seat, "seat"))
    registered = _read_registry(root, project, seat, environ=environ)
    return session_names(project, seat, noted=noted, registered=registered, tool=tool)


def _read_session_file(root: Root, project: str, seat: str) -> tuple[str, str]:
    """Return session and tool from `sessions/<project>/<seat>/session.toml`, "" for what can't be read."""
    try:
        raw = steps.read(f"{root.sessions}/{project}/{seat}/session.toml") or b""
        content = tomllib.loads(raw.decode("utf-8-sig"))
    except (OracleError, ValueError, RecursionError):
        return "", ""
    tool = _text(content.get("tool"))
    return _text(content.get("session")), tool if is_name(tool) else ""


def _read_registry(root: Root, project: str, seat: str, *, environ: Mapping[str, str]) -> str:
    seats = projects.entry(root, project, environ).get("seats")
    return _text(seats.get(seat)) if isinstance(seats, dict) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
