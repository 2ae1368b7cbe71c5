"""Half a surrogate pair and NUL: whichever door they come by, no call fails of them, and no file holds half a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oracle.mcp.tools import BY_NAME
from tests.app.squad import Squad
from tests.mcp.clients import call
from tests.mcp.test_tools import READING, WRITING

HALVES = (b"\\ud800", b"\\ud83d", b"\xed\xa0\x80", b"\xed\xa0\xbd")
BAD = ["a\ud800b", "\ud83d", "a\0b", "the \0"]


def files_with_halves(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if any(half in path.read_bytes() for half in HALVES)]


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        (tool, name)
        for tool in (*READING, *WRITING)
        for name, schema in BY_NAME[tool].arguments.items()
        if schema.get("type") in ("string", "array") and "enum" not in schema
    ],
)
def test_no_tool_fails_of_them(tmp_path: Path, tool: str, name: str) -> None:
    squad = Squad(tmp_path)
    squad.ask("Q-1", notifies=False)
    given: dict[str, Any] = {**READING, **WRITING}[tool]
    for bad in BAD:
        word: object = [bad] if BY_NAME[tool].arguments[name]["type"] == "array" else bad
        result = call(squad.path, tool, as_seat="planner" if tool == "dispatch" else "memory", **{**given, name: word})
        assert result.is_error is False or result.code not in ("unexpected", "disk"), result.text
    assert files_with_halves(tmp_path) == []


@pytest.mark.parametrize("field", ["objective", "title", "notes", "test_policy"])
@pytest.mark.parametrize("bad", BAD[:2])
def test_a_dispatch_holds_none(tmp_path: Path, field: str, bad: str) -> None:
    squad = Squad(tmp_path)
    squad.ask("T1", target="builder", **{field: bad})
    assert files_with_halves(tmp_path) == []


@pytest.mark.parametrize("field", ["summary", "title", "verdict", "user_summary", "next_action"])
@pytest.mark.parametrize("bad", BAD[:2])
def test_a_completion_holds_none(tmp_path: Path, field: str, bad: str) -> None:
    squad = Squad(tmp_path)
    squad.ask("T1", target="builder")
    squad.complete("T1", **{field: bad})
    assert files_with_halves(tmp_path) == []


@pytest.mark.parametrize("given", [{"summary": BAD[0]}, {"response": {BAD[0]: [BAD[1]]}}, {"answer": BAD[1]}])
def test_an_answer_holds_none(tmp_path: Path, given: dict[str, Any]) -> None:
    squad = Squad(tmp_path)
    squad.ask("Q-1")
    squad.deliver(**given)
    assert files_with_halves(tmp_path) == []
