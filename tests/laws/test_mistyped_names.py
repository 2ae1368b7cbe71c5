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
from oracle.app.delivery.team import init_profile
from oracle.domain.links.links import EDGE_TYPES
from oracle.domain.names import NAMESPACES, ORPHAN_KINDS, ROLES
from oracle.domain.records.drafts import STATUSES, Draft
from oracle.domain.spelling import find_near, is_one_letter_off, suggest
from oracle.errors import MistypedProject, OracleError, OwnershipError, UsageError
from oracle.mcp.arguments import FILTERS
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
    "remember": ["A.", "--type", "project", "--why", "B.", "--how-to-apply", "C.", "--project", "shpo"],
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
    is_command = name in {"experience", "write", "remember", "team", "scan"}
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


@pytest.mark.parametrize(
    ("typed", "asks"), [("q-17", True), ("Q-71", True), ("Q17", True), ("Q-1", False), ("Q-18", False)]
)
def test_a_completion_asks_about_a_mistyped_task_but_not_about_another_number(
    outset: World, typed: str, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = outset.copy()
    program = Program(["complete_handoff"], [], {}, importlib.import_module("oracle.compat.complete_handoff").main)
    words = ["--profile", str(next(place.rglob("*profile*.toml"))), "--source", "memory", "--target", "planner"]
    words += ["--task-id", typed, "--no-notify"]
    code, said = run(program, place, words, monkeypatch)
    assert ("did you mean Q-17" in said, code, holding(place, f"{typed}__memory") != []) == (asks, asks * 2, not asks)
    assert run(program, place, [*words, "--unsolicited"], monkeypatch)[0] == 0


@pytest.mark.parametrize("typed", ["q-17", "Q-1", "Q-71"])
def test_the_tool_asks_about_a_mistyped_task_and_takes_a_confirmation(outset: World, typed: str) -> None:
    root = root_of(outset.copy())
    given = {"project": "shop", "task_id": typed, "target": "planner", "response": {"answer": "Twice."}}
    result = call(root, "deliver", **given)
    assert (result.code, "did you mean Q-17" in result.text) == ("mistyped_task", True)
    assert not call(root, "deliver", **given, unsolicited=True).is_error


@pytest.mark.parametrize("door", ANSWERS)
def test_an_answer_that_nobody_asked_for_is_confirmed_first_but_by_an_old_program(
    outset: World, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = outset.copy()
    name, *words = (word.replace("PROFILE", str(next(place.rglob("*profile*.toml")))) for word in ANSWERS[door])
    start = None if name == "deliver" else importlib.import_module(f"oracle.compat.{name}").main
    program = Program([name], [], {}, start)
    words += ["--task-id", "Delay-3", "--target", "planner", "--response-inline", '{"answer": "A."}', "--no-notify"]
    code, said = run(program, place, words, monkeypatch)
    assert (code, "did not ask memory" in said, "deliver it again" in said) == (
        (0, True, True) if start else (2, True, False)
    )
    assert run(program, place, [*words, "--unsolicited"], monkeypatch)[0] == 0


def test_the_tool_asks_about_an_answer_that_nobody_asked_for(outset: World) -> None:
    root = root_of(outset.copy())
    given = {"project": "shop", "task_id": "Delay-3", "target": "planner", "response": {"answer": "A."}}
    assert call(root, "deliver", **given).code == "not_asked"
    assert not call(root, "deliver", **given, unsolicited=True).is_error


@pytest.mark.parametrize(("typed", "meant"), [("plannr", "planner"), ("Builder", "builder"), ("designer", "")])
def test_a_skill_is_installed_for_no_mistyped_seat(
    outset: World, typed: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--workspace", str(tmp_path), "--seat", typed]
    code, said = run(Program(["skill", "install"], [], {}, None), outset.copy(), words, monkeypatch)
    assert (code, [*tmp_path.iterdir()] == []) == ((2, True) if meant else (0, False)), said
    assert (f"did you mean {meant}?" in said) is bool(meant)


@pytest.mark.parametrize(
    ("project", "typed", "meant"),
    [("shop", "plannr", "planner"), ("shop", "cleark", ""), ("desk", "cleark", "clerk")],
)
def test_tools_are_bound_to_no_mistyped_seat_of_their_project(
    outset: World, project: str, typed: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = outset.copy()
    with Oracle.open(str(root_of(place))) as oracle:
        init_profile(oracle, "desk", ["memory", "planer", "clerk"])
    words = ["--print-config", "claude", "--seat", typed, "--project", project]
    code, said = run(Program(["mcp"], [], {}, None), place, words, monkeypatch)
    assert (code, "did you mean" in said, f"did you mean {meant}?" in said) == (
        (2, True, True) if meant else (0, False, False)
    ), said


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("bilder", "Did you mean builder? Put a Markdown file into its own folder: {shop}/builder/"),
        ("Planner", "Did you mean planner? Put a Markdown file into its own folder: {shop}/planner/"),
        ("memroy", "Did you mean memory?"),
        ("clerk", "Put a Markdown file into the seat's own folder: {shop}/clerk/"),
    ],
)
def test_who_may_not_write_is_asked_whether_another_seat_is_meant(outset: World, typed: str, hint: str) -> None:
    root = root_of(outset.copy())
    with Oracle.open(str(root)) as oracle, pytest.raises(OwnershipError) as refused:
        oracle.write(Draft("decision", "shop", "Use one lock", "A body.", seat=typed))
    assert str(refused.value.hint) == hint.format(shop=root / "projects" / "shop")


OFFERED = {  # words of a closed set that the metavar does not list
    ("write", "kind"): ORPHAN_KINDS,
    ("write", "status"): STATUSES,
    ("memory_write", "kind"): ORPHAN_KINDS,
    ("show", "types"): EDGE_TYPES,
    ("backlinks", "types"): EDGE_TYPES,
    ("graph", "types"): EDGE_TYPES,
    ("list", "namespace"): NAMESPACES,
    ("list", "kind"): ("decision",),
    ("list", "status"): ("open",),
    ("list", "author"): ("memory",),
    ("search", "kind"): ("decision",),
    ("search", "status"): ("open",),
    ("check", "only"): ("orphans", "unresolved", "stale", "review"),
    ("handoffs list", "state"): ("open", "claimed", "consumed", "unnotified"),
    ("scan machine", "only"): ("network", "system", "credentials"),
    ("project add", "tool"): ("claude", "codex", "gemini"),
    ("config get", "key"): ("language", "daemon.hold"),
    ("config set", "key"): ("language", "daemon.hold"),
    ("team task list-pending", "role"): ROLES,
}
MORE = {  # what a call needs beside the word under test
    "list namespace": ["--entities"],
    "show types": ["--links"],
    "search kind": ["--lexical"],
    "search status": ["--lexical"],
}


def closed() -> list[tuple[Program, Parameter, str]]:
    """Return every parameter that takes words of a closed set, with each word that is long enough for a slip."""
    return [
        (program, one, choice)
        for program in [*commands(), *programs()]
        for one in program.parameters
        if program.run is None or (program.words[0], one.name) in OFFERED
        for choice in one.choices or OFFERED.get((" ".join(program.words), one.name), ())
        if len(choice) > len("yes")
    ]


@pytest.mark.parametrize(
    ("program", "one", "choice"),
    closed(),
    ids=lambda one: " ".join(one.words) if isinstance(one, Program) else getattr(one, "name", one),
)
def test_a_mistyped_word_of_a_closed_set_is_refused_with_the_one_that_was_meant(
    outset: World, program: Program, one: Parameter, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(outset.given)
    typed = choice[:2] + choice[3:]
    place = outset.untouched()
    more = MORE.get(f"{' '.join(program.words)} {one.name}", [])
    answers = []
    for work, extent in itertools.product(WORK, EXTENTS):
        code, said = run(program, place, [*program.call(place, one, typed, work, extent), *more], monkeypatch)
        answers.append((code, said))
        if is_right := bool(code) and f"id you mean {choice}?" in said:
            break
    assert is_right, answers


@pytest.mark.parametrize(
    ("tool", "name", "choice"),
    [
        (tool.name, name, choice)
        for tool in BY_NAME.values()
        for name, schema in tool.arguments.items()
        for choice in schema.get("enum", ())
        if len(choice) > len("yes")
    ],
)
def test_a_tool_names_the_word_that_was_meant(outset: World, tool: str, name: str, choice: str) -> None:
    arguments = BY_NAME[tool].arguments
    given = {one: arguments[one]["examples"][0] for one in BY_NAME[tool].required} | {name: choice[:2] + choice[3:]}
    result = call(root_of(outset.untouched()), tool, **given)
    assert (result.code, f"Did you mean {choice}?" in result.text) == ("usage", True)


@pytest.mark.parametrize("tool", ["list_records", "search"])
@pytest.mark.parametrize(
    ("name", "choice"),
    [
        (words[-1], word)
        for words, known in OFFERED.items()
        if words[0] == "list"
        for word in known
        if words[-1] in FILTERS
    ],
)
def test_a_tool_names_the_filter_that_was_meant_as_the_command_does(
    outset: World, tool: str, name: str, choice: str
) -> None:
    given = {"query": "retry"} if tool == "search" else {}
    result = call(root_of(outset.untouched()), tool, **given, **{name: choice[:2] + choice[3:]})
    assert (result.code, f"Did you mean {choice}?" in result.text) == ("not_in_memory_db", True), result.text


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("backlinks", {"target": "entity:taskid:ARENA-1", "types": ["supersdes"]}),
        ("graph", {"target": "entity:taskid:ARENA-1", "types": ["supersdes"]}),
        ("graph", {"target": "entity:taskid:ARENA-1", "direction": "bth"}),
        ("handoffs", {"state": "opne"}),
        ("write_record", {"kind": "decision", "title": "A", "body": "B.", "project": "shop", "status": "opne"}),
        ("packet", {"role": "plannr", "goal": "A"}),
    ],
)
def test_a_tool_asks_about_a_word_of_any_closed_set(outset: World, tool: str, given: dict[str, object]) -> None:
    result = call(root_of(outset.untouched()), tool, **given)
    assert (result.is_error, "Did you mean " in result.text) == (True, True), result.text


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("Decision", "decision"),
        ("decisoin", "decision"),
        ("dec", "decision"),
        ("decisions", "decision"),
        ("finnding", "finding"),
        ("tasks", "task"),
        ("PLAN", "plan"),
        ("deccisioon", "decision"),
        ("note", ""),
        ("lane", ""),
        ("", ""),
        ("delivery", ""),
        ("event", ""),
        ("observation", ""),
    ],
)
def test_the_nearest_word_is_offered_and_a_far_one_is_not(typed: str, near: str) -> None:
    assert find_near(typed, ORPHAN_KINDS) == near
    offered = f"Did you mean {near}?" if near else f"Choose one of {', '.join(ORPHAN_KINDS)}."
    assert suggest(typed, ORPHAN_KINDS) == offered
