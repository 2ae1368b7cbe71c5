"""The plugin, the Gemini extension and the entry for the MCP registry: what they state, and what their program does for a host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from oracle import __version__
from oracle.app.prompting.rest import MISSED
from oracle.domain.names import ROLES
from tests.hook.seat import Seat

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PLUGIN = CHECKOUT / "references" / "plugin"
PROGRAM = PLUGIN / "bin" / "memory-oracle"
SYSTEM = "/usr/bin:/bin"
EVENTS = {"SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SubagentStop", "SessionEnd"}


def load(path: str) -> Any:
    return json.loads((CHECKOUT / path).read_text(encoding="utf-8"))


# What is stated -------------------------------------------------------------------------------------------------------


def test_every_version_is_that_of_the_package():
    server = load("server.json")
    stated = [
        load("references/plugin/.claude-plugin/plugin.json")["version"],
        load("gemini-extension.json")["version"],
        server["version"],
        *(package["version"] for package in server["packages"]),
    ]
    assert set(stated) == {__version__}


def test_the_marketplace_leads_to_the_plugin():
    (entry,) = load(".claude-plugin/marketplace.json")["plugins"]
    assert (CHECKOUT / entry["source"]).resolve() == PLUGIN
    assert entry["name"] == load("references/plugin/.claude-plugin/plugin.json")["name"] == "oracle"
    assert {path.stem for path in (PLUGIN / "commands").iterdir()} == {"ask", "remember", "status"}


def test_every_hook_and_server_runs_the_program_of_the_plugin():
    hooks = load("references/plugin/hooks/hooks.json")["hooks"]
    assert set(hooks) == EVENTS
    commands = [entry["command"] for groups in hooks.values() for group in groups for entry in group["hooks"]]
    assert all(command.startswith('sh "${CLAUDE_PLUGIN_ROOT}/bin/memory-oracle" hook ') for command in commands)
    assert load("references/plugin/.mcp.json")["mcpServers"]["oracle"]["args"][0].endswith("/bin/memory-oracle")
    extension = load("gemini-extension.json")
    for stated in (extension["mcpServers"]["oracle"]["args"][0], extension["contextFileName"]):
        assert (CHECKOUT / stated.replace("${extensionPath}/", "")).is_file()


def test_the_skill_of_the_plugin_is_of_no_seat():
    text = (PLUGIN / "skills" / "memory" / "SKILL.md").read_text("utf-8")
    for word in ("oracle remember", "oracle forget"):
        assert word in text
    assert not [role for role in ROLES if f"--seat {role}" in text]


# The entry for the MCP registry: what its documentation asks for ------------------------------------------------------

TEXT = {"type": "string", "minLength": 1}
INPUT = {"description": TEXT, "value": TEXT, "default": TEXT, "isRequired": {"type": "boolean"}}
FORMAT = {"format": {"enum": ["string", "number", "boolean", "filepath"]}}
ARGUMENT = {
    "oneOf": [
        {
            "type": "object",
            "required": ["type", "value"],
            "additionalProperties": False,
            "properties": {**INPUT, **FORMAT, "type": {"const": "positional"}},
        },
        {
            "type": "object",
            "required": ["type", "name"],
            "additionalProperties": False,
            "properties": {
                **INPUT,
                **FORMAT,
                "type": {"const": "named"},
                "name": {"type": "string", "pattern": "^--?[a-z]"},
            },
        },
    ]
}
EXACT = {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}
ENTRY = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {
            "pattern": r"^https://static\.modelcontextprotocol\.io/schemas/\d{4}-\d\d-\d\d/server\.schema\.json$"
        },
        "name": {
            "type": "string",
            "pattern": r"^[a-z]+(\.[a-z0-9-]+)+/[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]$",
            "maxLength": 200,
        },
        "title": {**TEXT, "maxLength": 100},
        "description": {**TEXT, "maxLength": 100},
        "version": EXACT,
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
                "dependentRequired": {"runtimeArguments": ["runtimeHint"]},
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": TEXT,
                    "version": EXACT,
                    "runtimeHint": {"const": "uvx"},
                    "transport": {"const": {"type": "stdio"}},
                    "runtimeArguments": {"type": "array", "items": ARGUMENT},
                    "packageArguments": {"type": "array", "items": ARGUMENT},
                    "environmentVariables": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "additionalProperties": False,
                            "properties": {**INPUT, **FORMAT, "name": {"type": "string", "pattern": "^[A-Z_]+$"}},
                        },
                    },
                },
            },
        },
    },
}


def test_the_entry_for_the_registry_is_as_its_documentation_asks():
    entry = load("server.json")
    assert [fault.message for fault in jsonschema.Draft202012Validator(ENTRY).iter_errors(entry)] == []
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    (package,) = entry["packages"]
    assert package["identifier"] == project["name"]
    assert package["identifier"] in project["scripts"]
    assert package["runtimeArguments"][0]["value"] == f"{project['name']}[mcp]=={__version__}"
    owned = re.search(r"mcp-name: (\S+)", (CHECKOUT / "README.md").read_text("utf-8"))
    assert owned
    assert owned[1] == entry["name"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("description", "x" * 101),
        ("name", "memory-oracle"),
        ("name", "a/b/c"),
        ("version", "latest"),
        ("version", "^1.2"),
        ("status", "ok"),
    ],
)
def test_a_wrong_entry_is_found(key: str, value: str):
    assert not jsonschema.Draft202012Validator(ENTRY).is_valid({**load("server.json"), key: value})


# What its program does ------------------------------------------------------------------------------------------------


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """Give a search path on which another program is called `oracle`, and then ours."""
    for name, text in (("other", "#!/bin/sh\necho other\n"), ("ours", "")):
        (tmp_path / name).mkdir()
        program = tmp_path / name / "oracle"
        if text:
            program.write_text(text)
            program.chmod(0o755)
        else:
            program.symlink_to(Path(sys.executable).with_name("oracle"))
    return f"{tmp_path / 'ours'}:{SYSTEM}"


def call(
    tmp_path: Path, *words: str, path: str = SYSTEM, stdin: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": path, "HOME": str(tmp_path), **more}
    return subprocess.run(
        ["sh", str(PROGRAM), *words],
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("event", ["start", "prompt", "compact", "stop", "subagent", "end"])
def test_without_an_installation_a_session_hears_of_it_once_and_goes_on(tmp_path: Path, event: str):
    done = call(tmp_path, "hook", event, stdin='{"prompt": "Hi"}')
    assert (done.returncode, done.stderr) == (0, "")
    if event == "start":
        assert "pipx install" in json.loads(done.stdout)["systemMessage"]
    else:
        assert done.stdout == ""
    assert call(tmp_path, "hook", event, ORACLE_HOOKS="0").stdout == ""
    assert call(tmp_path, "hook", event, ORACLE_INTERNAL="1").stdout == ""


@pytest.mark.parametrize("words", [("mcp",), ("index", "status")])
def test_without_an_installation_a_command_says_so_in_one_sentence(tmp_path: Path, words: tuple[str, ...]):
    done = call(tmp_path, *words)
    assert done.returncode == 127
    assert len(done.stderr.splitlines()) == 1
    assert "pipx install" in done.stderr


def test_another_program_of_the_name_is_not_taken_for_ours(tmp_path: Path, programs: str):
    other = str(tmp_path / "other")
    assert "not installed" in call(tmp_path, "index", "status", path=f"{other}:{SYSTEM}").stderr


@pytest.mark.parametrize("place", ["search path", ".local/bin"])
def test_an_installation_is_found(tmp_path: Path, programs: str, place: str):
    if place == ".local/bin":
        (tmp_path / ".local").mkdir()
        (tmp_path / ".local" / "bin").symlink_to(tmp_path / "ours")
    done = call(tmp_path, "--version", path=programs if place == "search path" else SYSTEM)
    assert done.stdout == f"oracle {__version__}\n"


def test_the_prompt_hook_brings_context(tmp_path: Path, programs: str):
    root = tmp_path / "memory"
    environment = {"ORACLE_ROOT": str(root), "AGENT_HOME": str(tmp_path)}
    text = "Uploads of the billing service are retried twice, thirty seconds apart."
    kept = call(tmp_path, "remember", text, "--type", "reference", path=programs, **environment)
    assert kept.returncode == 0, kept.stderr
    payload = {
        "session_id": "s",
        "cwd": str(tmp_path),
        "prompt": "How often are uploads of the billing service retried?",
    }
    payload["hook_event_name"] = "UserPromptSubmit"
    for _ in range(5):  # a machine may be too slow for the deadline of a hook
        done = call(tmp_path, "hook", "prompt", path=programs, stdin=json.dumps(payload), **environment)
        assert (done.returncode, done.stderr) == (0, "")
        if done.stdout:
            break
        (root / "_state" / MISSED).unlink(missing_ok=True)
    assert "retried twice" in done.stdout


def test_the_stop_hook_delivers(tmp_path: Path, programs: str):
    (tmp_path / "disk").mkdir()
    seat = Seat(tmp_path / "disk")
    seat.dispatch("T-1")
    payload = {"session_id": "s", "last_assistant_message": "B. [DELIVER:seat=planner,task_id=T-1,project=install]"}
    done = call(tmp_path, "hook", "stop", path=programs, stdin=json.dumps(payload), ORACLE_ROOT=seat.root.path)
    assert (done.returncode, done.stdout) == (0, "")
    assert seat.answers() == {"T-1": "B."}
    assert os.access(PROGRAM, os.X_OK)
