"""Of equal records the newest comes first, wherever records are ranked, in whatever order the files were written."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from oracle.app.answers.answer import answer
from oracle.app.context import Context
from oracle.app.memories.packets import route
from oracle.app.prompting.memories import find_memories
from oracle.app.search.search import search
from oracle.domain.records.packets import Request

YEARS = ("2024", "2025", "2026")
NEWEST = ["2026", "2025", "2024"]
QUESTION = "How often are uploads to the archive retried?"
TEXT = "# Retry policy\n\nUploads to the archive are retried twice.\n"
FORMS = {
    "frontmatter": ("note-{at}.md", "---\nts: {year}-05-01T00:00:00Z\n---\n" + TEXT),
    "date": ("note-{at}.md", "---\ndate: {year}-05-01\n---\n" + TEXT),
    "name": ("{year}-05-01-retry.md", TEXT),
    "year in the text": (
        "{year}-05-01-retry.md",
        "# Retry policy\n\nIn {year} uploads to the archive are retried twice.\n",
    ),
}


@pytest.fixture(params=FORMS)
def contexts(request: pytest.FixtureRequest, tmp_path: Path) -> list[Context]:
    """Return a Root for each order in which the three notes may be written."""
    name, text = FORMS[request.param]
    made = []
    for number, order in enumerate(permutations(YEARS)):
        folder = tmp_path / str(number) / "projects" / "shop" / "decision"
        folder.mkdir(parents=True)
        for at, year in enumerate(order):
            (folder / name.format(at=at, year=year)).write_text(text.format(year=year), encoding="utf-8")
        context = Context.open(str(tmp_path / str(number)), environ={})
        context.loads_models = False
        made.append(context)
    return made


def test_search(contexts: list[Context]):
    for context in contexts:
        assert [hit.record.sort_ts[:4] for hit in search(context, QUESTION)] == NEWEST


def test_answers(contexts: list[Context]):
    for context in contexts:
        reply = answer(context, QUESTION, project="shop", seat="")
        found = [item.record.sort_ts[:4] for item in (*reply.claims, *reply.nearest)]
        assert found == NEWEST[: len(found)]
        assert found


def test_packets(contexts: list[Context]):
    for context in contexts:
        packet = route(context, Request(QUESTION, "planner", project="shop")).packet
        years = {record.slug: record.sort_ts[:4] for record in (hit.record for hit in search(context, QUESTION))}
        found = [years[item.id] for item in packet.sections["hard_constraints"]]  # the same text is given once
        assert found == NEWEST[: len(found)]
        assert found


def test_memories_of_a_prompt(contexts: list[Context]):
    for context in contexts:
        found = find_memories(context, QUESTION, project="shop", limit=5, threshold=0.35)
        assert [one.item.date[:4] for one in found] == NEWEST
