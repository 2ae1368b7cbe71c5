"""The clients that run our hook: where each reads its settings, and what keeps hooks from running.

Every `oracle --help` imports it: cheap to import.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from oracle.domain.spelling import suggest
from oracle.domain.values import NOTHING, value
from oracle.errors import UsageError
from oracle.wording import say


@value
class Client:
    """How an agent's program reads hooks."""

    place: str
    """The settings file below a workspace."""

    event: str = "Stop"
    """The event at the end of a turn."""

    others: Mapping[str, str] = NOTHING
    """Further events of a session, by our names for them."""

    timeout: int = 10
    """The time limit of the hook, in the client's unit."""

    advice: str = ""
    """What a person must do before the client runs the hook."""

    @property
    def events(self) -> dict[str, str]:
        """The events that a hook can be installed for, by our names."""
        return {"stop": self.event, **self.others}


_SESSION = {"prompt": "UserPromptSubmit", "start": "SessionStart"}

CLIENTS = {
    "claude": Client(
        ".claude/settings.json",
        others={**_SESSION, "compact": "PreCompact", "end": "SessionEnd", "subagent": "SubagentStop"},
    ),
    "codex": Client(
        ".codex/hooks.json",
        others={**_SESSION, "compact": "PreCompact"},
        advice=say(
            "Codex runs it in a trusted folder, once you have accepted the hook: start codex there and type /hooks."
        ),
    ),
    "gemini": Client(
        ".gemini/settings.json",
        "AfterAgent",
        {"prompt": "BeforeAgent", "start": "SessionStart", "compact": "PreCompress", "end": "SessionEnd"},
        10_000,
        advice=say("Gemini reads this file only in a trusted folder: start gemini there and trust it."),
    ),
}
CLAUDE, CODEX, GEMINI = CLIENTS.values()

EVENTS = tuple(dict.fromkeys(name for client in CLIENTS.values() for name in client.events))
ALL_EVENTS = "all"


def find_client(tool: str) -> Client:
    """Return the client of a name. Raises UsageError for an unknown one."""
    if tool not in CLIENTS:
        raise UsageError(say("Unknown tool {tool!r}.", tool=tool), hint=suggest(tool, CLIENTS))
    return CLIENTS[tool]


def find_events(client: Client, names: str) -> list[str]:
    """Return the events of a list with commas, `all` for each. Raises UsageError for one that the client does not have."""
    wanted = list(client.events) if names == ALL_EVENTS else [name.strip() for name in names.split(",") if name.strip()]
    unknown = next((name for name in wanted if name not in client.events), "" if wanted else names)
    if unknown or not wanted:
        raise UsageError(
            say("The client has no event {event!r}.", event=unknown),
            hint=suggest(unknown, (*client.events, ALL_EVENTS)),
        )
    return wanted


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

    from oracle.store.disk import steps

    home = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    for path in (f"{folder}/config.toml", f"{home}/config.toml"):
        try:
            features = tomllib.loads((steps.read(path) or b"").decode("utf-8-sig")).get("features")
        except ValueError:
            continue
        found = features if isinstance(features, dict) else {}
        off = next((name for name in ("hooks", "codex_hooks") if found.get(name) is False), "")
        if off:
            return f"features.{off} ({path})"
    return ""
