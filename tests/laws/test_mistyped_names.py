"""A project or seat one letter off a known one: no door creates it before somebody confirms the name.

The doors are read from the parsers and schemas, so a new one is tested without being listed here.
"""

from __future__ import annotations

import importlib
import itertools
import json
import shutil
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.domain.names import is_one_letter_off
from oracle.domain.records.drafts import Draft
from oracle.errors import MistypedProject, OracleError, UsageError
from oracle.mcp.tools import BY_NAME
from tests.laws.test_every_parameter_is_clean import (
    EXTENTS,
    WORK,
    Parameter,
    Program,
    World,
    commands,
    holding,
    programs,
    run,
)
from tests.mcp.clients import call

CREATE = {("project", "add"), ("project", "init")}
"""The commands that are there to create a project: to call one is to confirm its name."""
ASKS = "The project shpo does not exist; did you mean shop?"


@pytest.fixture(scope="module")
def outset(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def root_of(place: Path) -> Path:
    return place / "home" / ".agents" / "memory"


def doors() -> list[tuple[Program, Parameter]]:
    """Return every command and program that takes a project, with that parameter."""
    return [
        (program, one)
        for program in [*commands(), *programs()]
        for one in program.parameters
        if one.name == "project" and tuple(program.words) not in CREATE
    ]


@pytest.mark.parametrize(("program", "project"), doors(), ids=lambda one: " ".join(getattr(one, "words", [])))
def test_no_command_and_no_program_creates_a_mistyped_project(
    outset: World, program: Program, project: Parameter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(outset.given)
    seen: set[tuple[int, str]] = set()
    for work, extent in itertools.product(WORK, EXTENTS):
        place = outset.copy()
        code, said = run(program, place, program.call(place, project, "shpo", work, extent), monkeypatch)
        assert [path for path in holding(place, "shpo") if not path.endswith("/hook.log")] == []
        shutil.rmtree(place)
        if "did you mean shop" in said:
            assert (code, ASKS in said) == (2, True)
            break
        if (answer := (code, said.replace(str(place), ""))) in seen:
            break
        seen.add(answer)


MADE = {
    "experience add": ["--project", "shpo", "--title", "A", "--situation", "B.", "--approach", "C."],
    "write": ["decision", "--project", "shpo", "--title", "A", "--body", "B."],
    "team task create": ["T-1", "--project", "shpo"],
    "scan project": ["--project", "shpo", "--repo", "REPO", "--commit"],
    "memory_write": ["--project", "shpo", "--kind", "decision", "--title", "A", "--author", "memory"],
    "memory_write ": ["--project", "shpo", "--kind", "decision", "--content-file", "REPO/a.md"],
    "scan_project": ["--project", "shpo", "--repo", "REPO", "--commit"],
    "agent_admin task create": ["T-1", "--project", "shpo"],
    "memory_router": ["add", '{"memory_type": "preference", "title": "A", "summary": "B.", "project": "shpo"}'],
    "memory_router ": ["reflect", '{"goal": "A", "outcome": "B", "what_worked": ["C"]}', "--project", "shpo"],
}


@pytest.mark.parametrize("door", MADE)
def test_what_creates_a_project_asks_and_takes_a_confirmation(
    outset: World, door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("# A\n\nB.\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\n')
    words = [word.replace("REPO", str(tmp_path)) for word in MADE[door]]
    name = door.split()[0]
    is_command = name in {"experience", "write", "team", "scan"}
    start = None if is_command else importlib.import_module(f"oracle.compat.{name}").main
    program = Program(door.split(), [], {}, start)
    place = outset.copy()
    code, said = run(program, place, words, monkeypatch)
    assert (code, ASKS in said, "--new-project" in said) == (2, True, True)
    assert holding(place, "shpo") == []
    code, said = run(program, place, [*words, "--new-project"], monkeypatch)
    assert (code, holding(place, "shpo") != []) == (0, True), said
    assert run(program, place, words, monkeypatch)[0] in (0, 7)  # now it is known


def test_every_program_that_takes_a_confirmation_is_tried() -> None:
    taking = {
        " ".join(program.words)
        for program in [*commands(), *programs()]
        if "new_project" in program.flags and tuple(program.words) not in CREATE
    }
    assert taking == {door.strip() for door in MADE}


@pytest.mark.parametrize("tool", [name for name, tool in BY_NAME.items() if "project" in tool.arguments])
def test_no_tool_creates_a_mistyped_project(outset: World, tool: str) -> None:
    place = outset.copy()
    arguments = BY_NAME[tool].arguments
    given = {name: arguments[name]["examples"][0] for name in BY_NAME[tool].required} | {"project": "shpo"}
    result = call(root_of(place), tool, **given)
    assert holding(place, "shpo") == []
    if "new_project" in arguments:
        assert (result.code, ASKS in result.text) == ("mistyped_project", True)
        assert not call(root_of(place), tool, **given, new_project=True).is_error
        assert holding(place, "shpo")


@pytest.mark.parametrize("field", ["source", "target", "reply_to"])
def test_a_mistyped_seat_is_refused_with_the_seat_that_was_meant(outset: World, field: str) -> None:
    from oracle.app.delivery.dispatch import dispatch
    from oracle.app.delivery.order import Order

    seats = {"source": "planner", "target": "builder"} | {field: "bulider"}
    place = outset.copy()
    with Oracle.open(str(root_of(place))) as oracle, pytest.raises(UsageError) as refused:
        dispatch(
            oracle, Order("shop", "N-1", seats["source"], seats["target"], "Do it.", reply_to=seats.get("reply_to", ""))
        )
    assert "has no seat bulider" in str(refused.value)
    assert str(refused.value.hint) == "Did you mean builder?"
    assert holding(place, "bulider") == []


@pytest.mark.parametrize(
    ("author", "meant"), [("bulider", "builder"), ("planer", "planner"), ("ann", ""), ("builder", "")]
)
def test_an_author_one_letter_off_a_seat_is_remarked_on(outset: World, author: str, meant: str) -> None:
    with Oracle.open(str(root_of(outset.copy()))) as oracle:
        written = oracle.write(Draft("decision", "shop", "Use one lock", author=author))
    wanted = (f"shop has no seat {author}; did you mean {meant}?",) if meant else ()
    assert written.warnings == wanted


@pytest.mark.parametrize(
    ("one", "other"), [("p", "q"), ("p", "pq"), ("go", "gu"), ("a1", "a2"), ("arena-1", "arena-2"), ("shop", "shop")]
)
def test_short_names_and_numbers_are_no_slips(one: str, other: str) -> None:
    assert not is_one_letter_off(one, other)


def test_a_team_command_names_the_project_that_was_meant(outset: World) -> None:
    from oracle.app.delivery.team import open_team

    with Oracle.open(str(root_of(outset.copy()))) as oracle:
        with pytest.raises(MistypedProject) as refused:
            open_team(oracle, "shpo")
        assert json.dumps(refused.value.as_json())
        with pytest.raises(OracleError) as unknown:
            open_team(oracle, "zebra")
    assert unknown.value.code == "no_profile"


ANSWERS = {
    "oracle deliver": ("deliver", "--project", "shop"),
    "memory_deliver": ("memory_deliver", "--profile", "PROFILE"),
}


@pytest.mark.parametrize("door", ANSWERS)
@pytest.mark.parametrize("typed", ["q-17", "Q-1", "Q-71"])
def test_a_program_asks_about_a_mistyped_task_and_takes_a_confirmation(
    outset: World, door: str, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = outset.copy()
    name, *words = (word.replace("PROFILE", str(next(place.rglob("*profile*.toml")))) for word in ANSWERS[door])
    start = None if name == "deliver" else importlib.import_module(f"oracle.compat.{name}").main
    program = Program([name], [], {}, start)
    words += ["--task-id", typed, "--target", "planner", "--response-inline", '{"answer": "Twice."}', "--no-notify"]
    code, said = run(program, place, words, monkeypatch)
    assert (code, "did you mean Q-17" in said, "--unsolicited" in said) == (2, True, True)
    assert holding(place, f"{typed}__memory") == []
    assert run(program, place, [*words, "--unsolicited"], monkeypatch)[0] == 0
    assert run(program, place, words, monkeypatch)[0] == 0  # now it is known


@pytest.mark.parametrize("typed", ["q-17", "Q-1", "Q-71"])
def test_the_tool_asks_about_a_mistyped_task_and_takes_a_confirmation(outset: World, typed: str) -> None:
    root = root_of(outset.copy())
    given = {"project": "shop", "task_id": typed, "target": "planner", "response": {"answer": "Twice."}}
    result = call(root, "deliver", **given)
    assert (result.code, "did you mean Q-17" in result.text) == ("mistyped_task", True)
    assert not call(root, "deliver", **given, unsolicited=True).is_error
