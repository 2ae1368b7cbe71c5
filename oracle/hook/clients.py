"""The clients that run our hook: where each reads its settings, and what keeps hooks from running."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from oracle.domain.spelling import suggest
from oracle.errors import UsageError
from oracle.store.disk import steps
from oracle.wording import say


@dataclass(frozen=True, slots=True)
class Client:
    """How an agent's program reads hooks."""

    place: str
    """The settings file below a workspace."""

    event: str = "Stop"
    """The event at the end of a turn."""

    timeout: int = 10
    """The time limit of the hook, in the client's unit."""

    advice: str = ""
    """What a person must do before the client runs the hook."""


CLIENTS = {
    "claude": Client(".claude/settings.json"),
    "codex": Client(
        ".codex/hooks.json",
        advice=say(
            "Codex runs it in a trusted folder, once you have accepted the hook: start codex there and type /hooks."
        ),
    ),
    "gemini": Client(
        ".gemini/settings.json",
        "AfterAgent",
        10_000,
        advice=say("Gemini reads this file only in a trusted folder: start gemini there and trust it."),
    ),
}
CLAUDE, CODEX, GEMINI = CLIENTS.values()


def find_client(tool: str) -> Client:
    """Return the client of a name. Raises UsageError for an unknown one."""
    if tool not in CLIENTS:
        raise UsageError(say("Unknown tool {tool!r}.", tool=tool), hint=suggest(tool, CLIENTS))
    return CLIENTS[tool]


def off_switch(client: Client, path: str, content: Mapping[str, object]) -> str:
    """Return the setting that turns all hooks of a client off, "" if none does. `content` is that of the file `path`."""
    if client is CODEX:
        return _codex_switch(os.path.dirname(path))
    if client is GEMINI:
        config = content.get("hooksConfig")
        return "hooksConfig.enabled" if isinstance(config, dict) and config.get("enabled") is False else ""
    return "disableAllHooks" if content.get("disableAllHooks") is True else ""


def _codex_switch(folder: str) -> str:
    """Return the feature flag in the workspace's or the user's config.toml that is off, with its file."""
    import tomllib

    home = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    for path in (f"{folder}/config.toml", f"{home}/config.toml"):
        try:
            features = tomllib.loads((steps.read(path) or b"").decode()).get("features")
        except ValueError:
            continue
        found = features if isinstance(features, dict) else {}
        off = next((name for name in ("hooks", "codex_hooks") if found.get(name) is False), "")
        if off:
            return f"features.{off} ({path})"
    return ""
