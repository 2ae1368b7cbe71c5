"""Which names a seat's session may have, from the notes of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.errors import InvalidName
from oracle.store.root.layout import Root
from oracle.store.root.projects import find_session_names, session_names
from oracle.wake.server import own_socket, tmux_socket


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    folder = tmp_path / ".agents"
    (folder / "memory").mkdir(parents=True)
    return folder


def find(agents: Path, seat: str = "planner", **environ: str) -> tuple[str, ...]:
    return find_session_names(Root(str(agents / "memory")), "demo", seat, environ=environ)


def note(agents: Path, text: str) -> None:
    folder = agents / "sessions" / "demo" / "planner"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "session.toml").write_text(text, encoding="utf-8")


def register(folder: Path, content: object) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "projects.json").write_text(json.dumps(content), encoding="utf-8")


def test_conventions_come_last_and_tell_tools_apart():
    names = session_names("demo", "planner", tool="aider")
    assert names[:3] == ("demo-planner", "demo-planner-aider", "demo-planner-claude")
    assert "demo-planner-1" not in names


def test_without_a_project_the_seat_is_the_name():
    assert session_names("", "machine-memory-claude")[0] == "machine-memory-claude"


def test_note_of_the_seat_comes_before_the_registry(agents: Path):
    note(agents, 'session = "own name"\ntool = "codex"\n')
    register(agents.parent / ".clawseat", {"projects": [{"name": "demo", "seats": {"planner": "listed"}}]})
    assert find(agents)[:4] == ("own name", "listed", "demo-planner", "demo-planner-codex")
    assert find(agents, "reviewer")[0] == "demo-reviewer"


ENTRY = {"name": "demo", "seats": {"planner": "listed"}}


@pytest.mark.parametrize(
    "content",
    [
        {"version": 2, "projects": [{"name": "other"}, ENTRY]},
        {"schema_version": 1, "demo": ENTRY},
        {"projects": {"demo": ENTRY}},
        ["other", ENTRY],
    ],
)
def test_registry_of_any_shape_is_read(agents: Path, content: object):
    register(agents.parent / "elsewhere", content)
    assert find(agents, CLAWSEAT_REGISTRY_HOME=str(agents.parent / "elsewhere"))[0] == "listed"


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        "x",
        None,
        {"projects": 3},
        {"demo": []},
        {"demo": {"seats": ["x"]}},
        [{"name": "demo", "seats": {"planner": 7}}],
    ],
)
def test_registry_that_says_nothing_is_passed_over(agents: Path, content: object):
    register(agents.parent / ".clawseat", content)
    assert find(agents)[0] == "demo-planner"


@pytest.mark.parametrize("text", ["", "session = ", "session = 7", "\ufeffsession = 'x", 'tool = "../x"', "tool = []"])
def test_note_that_says_nothing_is_passed_over(agents: Path, text: str):
    note(agents, text)
    assert find(agents)[0] == "demo-planner"
    assert not [name for name in find(agents) if "/" in name]


@pytest.mark.parametrize("seat", ["../x", "a/b", ""])
def test_seat_that_is_no_name_is_refused(agents: Path, seat: str):
    with pytest.raises(InvalidName):
        find(agents, seat)


def test_server_is_the_named_one_else_the_one_around_us():
    assert tmux_socket({"ORACLE_TMUX_SOCKET": "t", "TMUX": "/tmp/s,1,0"}) == "t"
    assert tmux_socket({"TMUX": "/tmp/a,b,1,0"}) == "/tmp/a,b"
    assert tmux_socket({}) == ""
    assert own_socket({"ORACLE_TMUX_SOCKET": "t", "TMUX": "relative,1,0"}) == ""
