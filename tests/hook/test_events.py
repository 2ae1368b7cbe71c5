"""Hooks for several events: installed together or one by one, reported, and undone byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.errors import UsageError
from oracle.hook import settings, workspaces
from oracle.hook.clients import CLIENTS, find_events

BEFORE = [
    None,
    "{}",
    '{\n    "model": "x"\n}\n',
    '{"hooks": {"SessionStart": [{"matcher": "", "hooks": [{"type": "command", "command": "mine"}]}]}}',
    '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{\n\t\t\t\t"hooks": []\n\t\t\t}\n\t\t]\n\t},\n\t"z": 1.50\n}',
]


@pytest.mark.parametrize("tool", CLIENTS)
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("steps", [["all"], ["stop", "prompt", "all"], ["prompt,start"], ["start", "stop"]])
def test_uninstalling_undoes_all_events(tmp_path: Path, tool: str, before: str | None, steps: list[str]) -> None:
    client = CLIENTS[tool]
    path = tmp_path / client.place
    path.parent.mkdir()
    if before is not None:
        path.write_text(before, encoding="utf-8")
    paths = workspaces.settings_files(str(tmp_path), client=client)
    command = settings.hook_command(settings.default_script())
    wanted: set[str] = set()
    for step in steps:
        events = find_events(client, step)
        wanted.update(events)
        for change in workspaces.plan_installs(paths, command, client, events=events):
            change.apply()
    status = workspaces.status_of(paths, client)
    assert set(status.events) == wanted
    assert not status.notes
    assert not any(change.is_needed for change in workspaces.plan_installs(paths, command, client, events=events))
    for change in workspaces.plan_uninstalls(paths):
        change.apply()
    assert (path.read_text(encoding="utf-8") if path.exists() else None) == before


@pytest.mark.parametrize(
    ("tool", "names"), [("claude", "stops"), ("codex", "end"), ("gemini", "subagent"), ("claude", " , ")]
)
def test_an_event_that_the_client_does_not_have_is_refused(tool: str, names: str) -> None:
    with pytest.raises(UsageError):
        find_events(CLIENTS[tool], names)
