"""Of an unresolved merge or two frontmatters neither side is quoted as an answer; search still finds both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.records.listing import list_problems

SLUG = "projects/arena/decision/2026-01-01-queue"
HEAD = "---\ntitle: Queue\nkind: decision\n---\n"
SIDES = "<<<<<<< HEAD\nWe chose redisx for the queue.\n=======\nWe chose kafkax for the queue.\n>>>>>>> feature\n"
BODIES = {
    "alone": SIDES,
    "below words": f"The queue was debated.\n{SIDES}",
    "below a heading": f"# Which queue\n\n{SIDES}\nAfter it.\n",
    "in a fence": f"```\n{SIDES}```\n",
    "with the base": SIDES.replace("=======", "||||||| base\nWe chose nothingx for the queue.\n======="),
    "never ended": SIDES.replace(">>>>>>> feature\n", ""),
    "over paragraphs": SIDES.replace("=======", "\nMore on redisx.\n\n======="),
    "two of them": f"{SIDES}\n{SIDES}",
    "without names": SIDES.replace(" HEAD", "").replace(" feature", ""),
}


def put(root: Path, text: str) -> None:
    path = root / f"{SLUG}.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_no_side_is_an_answer(root: Path, body: str) -> None:
    put(root, HEAD + body)
    with Oracle.open(str(root)) as oracle:
        for word in ("redisx", "kafkax"):
            assert [hit.record.slug for hit in oracle.search(word)] == [SLUG]
            reply = oracle.answer(f"Why did we choose {word} for the queue?")
            said = json.dumps(reply.as_json(), ensure_ascii=False)
            assert not any(side in said for side in ("We chose", "nothingx", "<<<<", "====", ">>>>"))


def test_what_is_outside_is_quoted(root: Path) -> None:
    put(root, f"{HEAD}{SIDES}\nThe zanzibar is decided.\n")
    with Oracle.open(str(root)) as oracle:
        assert "The zanzibar is decided." in json.dumps(oracle.answer("What is the zanzibar?").as_json())


@pytest.mark.parametrize("gap", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("second", ["status: closedx\ntitle: Kafkax", "标题: 乙 closedx", "# a comment\nkind: closedx"])
def test_a_second_frontmatter_is_a_problem_and_no_answer(root: Path, gap: str, second: str) -> None:
    put(root, f"{HEAD}{gap}---\n{second}\n---\nThe zanzibar is decided.\n")
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        ((_, line, reason),) = list_problems(oracle)
        assert (line, reason.startswith("A second frontmatter")) == (5 + len(gap), True)
        for question in ("What is the zanzibar?", "What is closedx?"):
            assert "closedx" not in json.dumps([claim.as_json() for claim in oracle.answer(question).claims])
        assert "The zanzibar is decided." in json.dumps(oracle.answer("What is the zanzibar?").as_json())
