"""Context that a hook added to a prompt comes back through no door: records, deliveries, questions, queries, transcripts, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.delivery.deliver import Delivery
from oracle.app.delivery.order import QUERY, Order
from oracle.app.experiences.add import add
from oracle.app.memories.packets import route
from oracle.app.memories.remember import Note, remember
from oracle.app.search.search import search
from oracle.domain.experiences.experience import Experience
from oracle.domain.injection.envelope import ContextItem, memories, render
from oracle.domain.records.drafts import Draft
from oracle.domain.records.packets import Request
from oracle.errors import InvalidRecord
from oracle.hook.payload import HookPayload, read_operator, read_transcript
from tests.hook.seat import Seat

CANARY = "canary-7f2c"
WHOLE = render([memories([ContextItem("Old", f"The {CANARY} of the past.")], 3000)], date="2026-01-01").text
SHAPES = {
    "first": f"{WHOLE}\n\nUploads are retried twice.",
    "last": f"Uploads are retried twice.\n\n{WHOLE}",
    "unclosed": f"Uploads are retried twice.\n\n{WHOLE[:-18]}",
    "older": f'<oracle-context version="0">\n{CANARY}\n</oracle-context>\nUploads are retried twice.',
    "in a line": f"Uploads are {WHOLE} retried twice.",
}


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    return Seat(tmp_path)


@pytest.fixture(params=SHAPES.values(), ids=SHAPES)
def text(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def everything(folder: Path) -> str:
    """Return the text of all files below a folder, but for the index."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("oracle.db"))
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)


def test_records(seat: Seat, text: str):
    with Oracle.open(seat.root.path) as oracle:
        oracle.write(Draft("decision", "install", "Retry", body=text, author="memory"))
        assert CANARY not in everything(Path(seat.root.path))
        assert search(oracle, "retried uploads", limit=1)


def test_deliveries_and_questions(seat: Seat, text: str):
    seat.environ["ORACLE_TMUX_SOCKET"] = "none"
    with Oracle.open(seat.root.path) as oracle:
        oracle.dispatch(Order("install", "Q-1", "planner", "memory", text, kind=QUERY))
        oracle.deliver(Delivery("install", "Q-1", "planner", {"answer": text}, source="memory"))
    assert "retried" in seat.answers()["Q-1"]
    assert CANARY not in everything(seat.home)


def test_files_that_others_wrote(seat: Seat, text: str):
    path = Path(seat.root.join("projects/install/builder/note.md"))
    path.parent.mkdir(parents=True)
    path.write_text(f"# Note\n\n{text}\n", encoding="utf-8")
    with Oracle.open(seat.root.path) as oracle:
        assert [hit.record.slug for hit in search(oracle, CANARY, limit=5)] == []
        (hit,) = search(oracle, "uploads retried twice", limit=1)
        assert CANARY not in hit.snippet
        lines = path.read_text(encoding="utf-8").splitlines()
        assert "retried twice" in "\n".join(lines[hit.first_line - 1 : hit.last_line])


def test_queries(seat: Seat, text: str):
    path = Path(seat.root.join("projects/install/decision/canary.md"))
    path.parent.mkdir(parents=True)
    path.write_text(f"# Canary\n\nWhat {CANARY} is.\n", encoding="utf-8")
    with Oracle.open(seat.root.path) as oracle:
        assert search(oracle, CANARY, limit=5)
        assert search(oracle, text, limit=5) == []
        assert CANARY not in json.dumps(route(oracle, Request(text, "planner", project="install")).as_json()["request"])


def test_transcripts(tmp_path: Path, text: str):
    path = tmp_path / "session.jsonl"
    lines = [
        {"type": "user", "message": {"role": "user", "content": text}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    found = read_transcript(HookPayload(transcript_path=str(path)))
    for said in (found.last_message, *found.user_turns, *read_operator(str(path))):
        assert CANARY not in said
        assert "retried twice" in said


ENVELOPE = '<oracle-context date="x">\nquoted\n</oracle-context>'


@pytest.mark.parametrize(
    "blank", [ENVELOPE, f"{ENVELOPE}\n{ENVELOPE}", f"  {ENVELOPE}\n", '<oracle-context date="x">never closed']
)
@pytest.mark.parametrize("field", ["title", "body", "reason", "text", "why", "situation"])
def test_a_text_of_nothing_but_context_is_refused_and_says_so(root: Path, field: str, blank: str):
    memory = {"type": "feedback", "text": "A rule.", "why": "W.", "how_to_apply": "H.", field: blank}
    with Oracle.open(str(root)) as oracle:
        oracle.init()
        write = {
            "title": lambda: oracle.write(Draft("decision", "shop", blank, "B")),
            "body": lambda: oracle.write(Draft("decision", "shop", "T", blank)),
            "reason": lambda: oracle.retire("anything", blank),
            "situation": lambda: add(oracle, Experience("T", blank, "Do it."), "shop"),
        }.get(field, lambda: remember(oracle, Note(**memory)))
        with pytest.raises(InvalidRecord, match="Nothing is left of the text without"):
            write()


def test_the_title_of_a_memory_comes_from_its_own_words(root: Path):
    with Oracle.open(str(root)) as oracle:
        kept = remember(oracle, Note("user", f"{ENVELOPE}\nPrefers short answers."))
    assert kept.written.slug.endswith("-prefers-short-answers")
