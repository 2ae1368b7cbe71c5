"""`memory_router` as an agent runs it: JSON in, JSON out, and an exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.compat.team import Done, Team, tree

CHECKOUT = Path(__file__).resolve().parents[2]
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2


def schema(name: str) -> jsonschema.Draft202012Validator:
    content = json.loads((CHECKOUT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(content)


def call(team: Team, command: str, given: object = None, *words: str) -> Done:
    more = [] if given is None else ["--input-json", json.dumps(given)]
    return team.call("memory_router", command, *more, *words)


def good(team: Team, command: str, given: object = None, *words: str) -> dict[str, Any]:
    done = call(team, command, given, *words)
    assert (done.code, done.err) == (0, "")
    answer = done.json
    assert answer.pop("ok") is True
    return answer


def add(team: Team, kind: str, title: str, **more: object) -> str:
    return good(team, "add", {"memory_type": kind, "title": title, "summary": f"{title}.", **more})["memory_id"]


def test_a_life_of_a_memory(team: Team):
    assert good(team, "init") == {"root": str(team.root), "made": True, "warnings": []}
    old = add(team, "preference", "Use tabs", importance=0.9)
    answer = good(
        team,
        "add",
        {
            "memory_type": "preference",
            "title": "Use blanks",
            "summary": "Indent with blanks.",
            "replaces_memory_id": old.rpartition("/")[2],
            "edges": [{"to_memory_id": old, "edge_type": "contradicts", "weight": 0.5}],
        },
    )
    new = answer["memory_id"]
    assert answer["replaces_memory_id"] == old
    assert answer["retired_memory_ids"] == [old]
    assert answer["edge_ids"] == [f"{new} contradicts {old}", f"{new} supersedes {old}"]
    seen = good(team, "inspect", None, "--memory-id", old)["memory"]
    assert (seen["is_active"], seen["replaced_by_memory_id"]) == (False, new)
    assert seen["retired_reason"] == "Replaced by Use blanks."
    assert len(good(team, "list", None, "--limit", "9" * 25)["memories"]) > 1
    listed = good(team, "list", None, "--limit", "1")["memories"]
    assert [(memory["id"], memory["is_active"]) for memory in listed] == [(new, True)]
    reflected = good(
        team, "reflect", {"goal": "Indent it all", "what_worked": ["one run"], "lessons": ["run the formatter"]}
    )
    procedure = reflected["procedure_memory_id"]
    assert reflected["edge_ids"] == [f"{procedure} derived_from {reflected['reflection_memory_id']}"]
    routed = good(team, "route", {"goal": "Indent it all again", "step_role": "executor"})
    assert routed["packet"]["hard_constraints"] == ["Indent with blanks."]
    assert routed["packet"]["procedures_to_follow"] == ["What worked: Indent it all. Steps: 1. one run"]
    refreshed = good(team, "refresh", {"stale_memory_ids": [procedure, old], "refresh_reason": "No more."})
    assert (refreshed["retired_memory_ids"], refreshed["already_retired_memory_ids"]) == ([procedure], [old])
    assert refreshed["replacement_memory_id"] is None
    assert good(team, "inspect", {"memory_id": procedure})["memory"]["retired_reason"] == "No more."
    kept = good(team, "packets", None, "--limit", "5")["packets"]
    assert [content["packet_id"] for content in kept] == [routed["packet_id"]]


def test_nothing_worked_is_no_procedure(team: Team):
    answer = good(team, "reflect", {"goal": "Upgrade", "what_failed": "the pinned version"})
    assert answer["procedure_memory_id"] is None
    assert (
        "Failed: the pinned version."
        in good(team, "inspect", {"memory_id": answer["reflection_memory_id"]})["memory"]["summary"]
    )


def test_what_is_printed_and_what_is_kept_are_as_the_schema_says(team: Team):
    packet, record = schema("packet"), schema("record")
    for kind in ("preference", "procedure", "reflection", "summary", "episode"):
        add(team, kind, f"A {kind} of 检索", details={"steps": ["a"]}, tags=["x"], session_id="s", abstraction_level=1)
    one = add(team, "summary", "检索 contradicted")
    add(team, "summary", "检索 anew", edges=[{"to_memory_id": one, "edge_type": "contradicts"}])
    add(team, "episode", "检索 seen", edges=[{"to_memory_id": one, "edge_type": "supports"}])
    good(team, "refresh", {"stale_memory_ids": ["a-procedure-of-检索"], "replacement_memory_id": one})
    for role in ("planner", "executor", "critic", "responder"):
        given = {"goal": "检索", "step_role": role, "user_constraints": ["quick"], "session_id": "s"}
        answer = good(team, "route", given)
        assert list(packet.iter_errors(answer)) == []
        assert answer["packet"]["selected_memory_ids"]
    kept = good(team, "packets")["packets"]
    assert len(kept) == 4
    assert [error.message for content in kept for error in packet.iter_errors(content)] == []
    assert not packet.is_valid({**kept[0], "packet": {**kept[0]["packet"], "hard_constraints": list("abcde")}})
    from oracle.store.markdown import markdown

    fields = [markdown.parse(path.read_bytes()).fields for path in team.root.rglob("*.md")]
    assert len(fields) == 9
    assert [error.message for content in fields for error in record.iter_errors(content)] == []


@pytest.mark.parametrize(
    ("command", "given", "code", "name"),
    [
        ("route", {"goal": "x", "step_role": "boss"}, 2, "usage"),
        ("route", {"goal": "x"}, 2, "usage"),
        ("route", {"step_role": "critic"}, 2, "usage"),
        ("route", {"goal": 1.5, "step_role": ["critic"]}, 2, "usage"),
        ("route", {"goal": "x", "step_role": "critic", "user_constraints": [1]}, 2, "usage"),
        ("route", {"goal": "x", "step_role": "critic", "project": "a/b"}, 2, "invalid_name"),
        ("route", {"goal": "x", "step_role": "critic", "project": "nowhere"}, 4, "not_in_federated_kb"),
        ("add", {"memory_type": "opinion", "title": "x", "summary": "y"}, 2, "usage"),
        ("add", {"memory_type": "summary", "summary": "y"}, 2, "usage"),
        ("add", {"memory_type": "summary", "title": "x", "summary": "y", "importance": "much"}, 2, "usage"),
        ("add", {"memory_type": "summary", "title": "x", "summary": "y", "importance": True}, 2, "usage"),
        ("add", {"memory_type": "summary", "title": "x", "summary": "y", "abstraction_level": 1.5}, 2, "usage"),
        ("add", {"memory_type": "summary", "title": "x", "summary": "y", "details": ["z"]}, 2, "usage"),
        ("add", {"memory_type": "summary", "title": "x", "summary": "y", "edges": ["z"]}, 2, "usage"),
        ("add", {"memory_type": "summary", "title": "x", "summary": "y", "replaces_memory_id": "z"}, 4, "not_in_memory_db"),
        ("add", {"memory_type": "summary", "title": "x", "summary": SECRET}, 1, "secret_found"),
        ("add", {"memory_type": SECRET, "title": "x", "summary": "y"}, 2, "usage"),
        ("reflect", {}, 2, "usage"),
        ("refresh", {"stale_memory_ids": ["nowhere"]}, 4, "not_in_memory_db"),
        ("refresh", {}, 2, "usage"),
        ("inspect", {}, 2, "usage"),
        ("inspect", {"memory_id": "nowhere"}, 4, "not_in_memory_db"),
        ("add", {"memory_type": "summary", "title": "x", "summary": "y", "importance": 1e999}, 2, "usage"),
        ("add", {"memory_type": "summary", "title": "x", "summary": "y", "importance": float("nan")}, 2, "usage"),
        ("list", {"limit": 0}, 2, "usage"),
        ("list", {"limit": 1e999}, 2, "usage"),
        ("list", {"limit": float("nan")}, 2, "usage"),
        ("list", {"limit": 10**400}, 2, "usage"),
        ("packets", {"limit": -1}, 2, "usage"),
        ("forget", {}, 2, "usage"),
        ("list", [1], 2, "usage"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_as_json(team: Team, command: str, given: object, code: int, name: str):
    done = call(team, command, given)
    assert (done.code, done.err) == (code, "")
    assert (done.json["ok"], done.json["error"]["code"]) == (False, name)
    assert set(done.json["error"]) == {"code", "message", "hint"}
    assert SECRET[:12] not in done.out
    assert tree(team.root) == set()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--input-json", "{"), "not valid JSON"),
        (("list", "--input-json", "nowhere.json"), "can't be read"),
        (("list", "{}", "--input-json", "{}"), "given twice"),
        (("list", "--limit", "few"), "invalid int value"),
        (("list", "--odd"), "nrecognized arguments"),
        ((), "required"),
    ],
)
def test_a_wrong_call_is_said_as_json(team: Team, words: tuple[str, ...], said: str):
    done = team.call("memory_router", *words)
    assert (done.code, done.err) == (2, "")
    assert said in done.json["error"]["message"]


@pytest.mark.parametrize(
    "field", ["recency_ts", "valid_from_ts", "valid_to_ts", "valid_from", "valid_to", "created_ts"]
)
@pytest.mark.parametrize(
    "stated", ["9999-99-99", "2026-02-30", "0000-00-00", "tomorrow", 20260102, True, ["2026-01-02"]]
)
def test_what_is_no_time_is_refused_in_every_field_of_a_time(team: Team, field: str, stated: object):
    done = call(team, "add", {"memory_type": "summary", "title": "x", "summary": "y", field: stated})
    assert (done.code, done.err) == (2, "")
    assert done.json["error"]["message"] == f"{field} is not a time: {json.dumps(stated)}."
    assert tree(team.root) == set()


def test_a_memory_can_not_end_before_it_begins(team: Team):
    given = {"memory_type": "summary", "title": "x", "summary": "y", "valid_from": "2026-05-01"}
    done = call(team, "add", {**given, "valid_to": "2026-04-30"})
    assert (done.code, tree(team.root)) == (2, set())
    assert "is before valid_from" in done.json["error"]["message"]
    assert good(team, "add", {**given, "valid_to": "2026-05-01", "recency_ts": "2026-01-02"})["warnings"] == [
        "recency_ts means nothing to add"
    ]


def test_an_unknown_field_is_a_warning(team: Team):
    answer = good(team, "add", {"memory_type": "summary", "title": "x", "summary": "y", "sumary": "z"})
    assert answer["warnings"] == ["sumary means nothing to add"]


def test_the_input_is_a_word_a_file_or_standard_input(team: Team, tmp_path: Path):
    given = json.dumps({"goal": "检索", "step_role": "critic"}, ensure_ascii=False)
    file = tmp_path / "{odd name}.json"
    file.write_text(given, encoding="utf-8")
    answers = [
        team.call("memory_router", "route", *words, stdin=given.encode())
        for words in ((given,), ("--input-json", given), ("--input-json", str(file)), ("--input-json", "-"))
    ]
    assert {done.code for done in answers} == {0}
    assert {done.out for done in answers} == {answers[0].out}


def run(team: Team, *words: str, root: Path, **more: str) -> Done:
    return team.run("memory_router", *words, env={**os.environ, "MAR_DB_PATH": str(root), **more})


def test_as_a_program_its_database_is_a_root(team: Team, tmp_path: Path):
    root = tmp_path / "deep" / "router.sqlite3"
    given = {"memory_type": "preference", "title": "总是写测试", "summary": "改代码时总是先写测试。"}
    done = run(team, "add", "--input-json", json.dumps(given), root=root, ORACLE_ROOT=str(team.root), LC_ALL="C")
    assert (done.code, done.err) == (0, "")
    assert done.json["memory_id"].startswith("shared/decision/")
    asked = run(team, "route", "--input-json", '{"goal": "改登录的代码", "step_role": "planner"}', root=root)
    assert asked.json["packet"]["hard_constraints"] == ["改代码时总是先写测试。"]
    assert run(team, "list", "--memory-dir", str(team.root), root=root).json["memories"] == []
    assert tree(team.root) == set()


def test_a_database_of_another_program_is_refused(team: Team, tmp_path: Path):
    file = tmp_path / "router.sqlite3"
    file.write_bytes(b"SQLite format 3\x00")
    for command in ("init", "list", "add"):
        given = {"memory_type": "summary", "title": "x", "summary": "y"} if command == "add" else {}
        done = run(team, command, "--input-json", json.dumps(given), root=file)
        assert (done.code, done.json["ok"], done.json["error"]["code"]) == (2, False, "root_unusable")
    assert file.read_bytes() == b"SQLite format 3\x00"
