"""A body with the markers of an unresolved merge: no door writes it, and the sentence says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.domain.records.drafts import Draft
from oracle.errors import InvalidRecord
from tests.app.squad import Squad
from tests.cli.transcript import call as call_oracle
from tests.mcp.clients import call as call_tool

MERGE = "Uploads retry.\n\n<<<<<<< HEAD\nTwice.\n=======\nThree times.\n>>>>>>> feature\n"
TOLD = "of the body is a merge conflict marker. Nothing was written."
WHY = ["--why", "It was asked.", "--how-to-apply", "Always."]

COMMANDS = {
    "write": ["write", "decision", "--project", "arena", "--title", "Retries", "--body", MERGE],
    "write from standard input": ["write", "decision", "--project", "arena", "--title", "Retries", "-"],
    "write, nothing but looked at": [
        "write",
        "plan",
        "--project",
        "arena",
        "--title",
        "R",
        "--body",
        MERGE,
        "--dry-run",
    ],
    "remember": ["remember", MERGE, "--type", "feedback", "--project", "arena", *WHY],
    "experience add": [
        "experience",
        "add",
        "--project",
        "arena",
        "--title",
        "Retries",
        "--situation",
        "Retries.",
        "--approach",
        MERGE,
    ],
    "memory_write": ["compat", "memory_write", "--kind", "decision", "--project", "arena", "--content-stdin"],
}
TOOLS = {
    "write_record": {"kind": "decision", "title": "Retries", "body": MERGE, "project": "arena"},
    "remember": {
        "type": "feedback",
        "text": MERGE,
        "project": "arena",
        "why": "It was asked.",
        "how_to_apply": "Always.",
    },
    "add_experience": {"title": "Retries", "situation": "Retries.", "approach": MERGE, "project": "arena"},
}


@pytest.fixture
def arena(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (root / "projects" / "arena").mkdir(parents=True)
    monkeypatch.setenv("ORACLE_ROOT", str(root))
    return root


def records(root: Path) -> list[str]:
    return [str(path) for path in root.rglob("*.md") if "_index" not in path.parts]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_refuses_it(arena: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = call_oracle(words, monkeypatch, stdin=MERGE.encode())
    assert (code, TOLD in out + err, records(arena)) == (1, True, [])


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_refuses_it(arena: Path, tool: str) -> None:
    result = call_tool(arena, tool, **TOOLS[tool])
    assert (result.code, TOLD in result.text, records(arena)) == ("invalid_record", True, [])


GIVEN: dict[str, Callable[[Squad], object]] = {
    "objective": lambda squad: squad.ask("Q-2", objective=MERGE),
    "answer": lambda squad: squad.deliver("Q-1", answer=MERGE),
    "summary": lambda squad: squad.complete("T-1", target="planner", summary=MERGE),
}


@pytest.mark.parametrize("place", GIVEN)
def test_no_question_and_no_answer_holds_one(tmp_path: Path, place: str) -> None:
    squad = Squad(tmp_path)
    squad.ask("Q-1")
    squad.ask("T-1", target="builder")
    before = squad.snapshot()
    with pytest.raises(InvalidRecord, match=f"^Line 3 of the {place} is a merge conflict marker"):
        GIVEN[place](squad)
    assert squad.snapshot() == before
    squad.ask("Q-3", objective="Retries\n=======\n\nHow many?")
    squad.deliver("Q-1", answer=f"So git marks it:\n\n```\n{MERGE}```\n")


@pytest.mark.parametrize("body", [MERGE, MERGE.removesuffix(">>>>>>> feature\n"), MERGE.replace("\n", "\r\n")])
def test_what_the_reader_finds_the_writer_refuses(arena: Path, body: str) -> None:
    with Oracle.open(str(arena)) as oracle, pytest.raises(InvalidRecord, match=r"^Line 3 of the body"):
        oracle.write(Draft("decision", "arena", "Retries", body=body))


@pytest.mark.parametrize(
    "body", [f"How git marks it:\n\n```\n{MERGE}```\n", "The line\n<<<<<<< HEAD\nopens a conflict.\n", "a <<<<<<< b\n"]
)
def test_markers_that_are_text_are_written(arena: Path, body: str) -> None:
    with Oracle.open(str(arena)) as oracle:
        written = oracle.write(Draft("decision", "arena", "Retries", body=body))
        assert not oracle.index.read(lambda connection: connection.execute("SELECT * FROM problem").fetchall())
    assert "<<<<<<<" in Path(arena, written.path).read_text(encoding="utf-8")
