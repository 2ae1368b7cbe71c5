"""What `oracle mcp --print-config` prints is read by a parser of the client's format, whatever the names."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from oracle.cli.main import run
from oracle.mcp.binding import CONFIG_FILES

ROOTS = ["", "plain", 'with "quotes" and \\ blanks', "雪", "=[#"]


def read(tool: str, text: str) -> dict[str, Any]:
    """Return the table of the server as the client reads it."""
    content = tomllib.loads(text)["mcp_servers"] if tool == "codex" else json.loads(text)["mcpServers"]
    assert list(content) == ["oracle"]
    found: dict[str, Any] = content["oracle"]
    return found


@pytest.mark.parametrize("tool", CONFIG_FILES)
@pytest.mark.parametrize("name", ROOTS)
def test_server_is_started_for_the_seat_and_the_root(
    tool: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    given = ["--memory-dir", str(tmp_path / name)] if name else []
    assert run(["mcp", "--print-config", tool, "--seat", "planner", "--project", "arena", *given]) == 0
    shown = capfd.readouterr()
    server = read(tool, shown.out)
    assert server["args"] == ["mcp", "--seat", "planner", "--project", "arena", *given]
    assert Path(server["command"]).name == "oracle"
    assert CONFIG_FILES[tool] in shown.err


def test_codex_passes_on_what_chooses_root_and_tmux_server(capfd: pytest.CaptureFixture[str]):
    assert run(["mcp", "--print-config", "codex", "--json"]) == 0
    server = read("codex", json.loads(capfd.readouterr().out)["config"])
    assert {"ORACLE_ROOT", "TMUX", "ORACLE_TMUX_SOCKET"} <= set(server["env_vars"])
    assert server["required"] is True


@pytest.mark.parametrize(
    "words", [["--print-config", "vim"], ["--print-config", "codex", "--seat", "../x"]], ids=["tool", "seat"]
)
def test_unknown_client_and_bad_name_are_refused(words: list[str], capfd: pytest.CaptureFixture[str]):
    assert run(["mcp", *words]) == 2
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("serves", [False, True])
@pytest.mark.parametrize(("words", "meant"), [(["--project", "aren"], "arena"), (["--seat", "plannr"], "planner")])
def test_a_mistyped_project_or_seat_is_asked_about(
    words: list[str], meant: str, serves: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    (tmp_path / "projects/arena/builder").mkdir(parents=True)
    assert run(["mcp", *words, "--memory-dir", str(tmp_path), *([] if serves else ["--print-config", "codex"])]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert f"did you mean {meant}?" in shown.err
