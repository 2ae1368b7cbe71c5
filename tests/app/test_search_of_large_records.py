"""A search whose words are all over large records looks for no garbage among their passages: that took a fifth of its time."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import pytest

from oracle.app.context import Context
from oracle.app.search import recall
from oracle.app.search.search import search


def large(root: Path, count: int) -> None:
    """Write records of about 100 kB, a word in twenty of which is the same."""
    chance = random.Random(7)
    words = [f"w{number}" for number in range(3000)] + ["webhook"] * 150
    for number in range(count):
        text = "\n\n".join(" ".join(chance.choices(words, k=60)) for _ in range(300))
        path = root / "projects" / "shop" / "builder" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\ntitle: Note {number}\n---\n\n{text}\n", encoding="utf-8")


def looks() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())


@pytest.mark.parametrize("is_on", [True, False])
def test_a_search_makes_no_look_for_garbage(root: Path, monkeypatch: pytest.MonkeyPatch, *, is_on: bool) -> None:
    large(root, 8)
    made = []
    rank = recall.Recall.rank

    def counted(self: recall.Recall, *given: object, **options: object) -> object:
        before = looks()
        found = rank(self, *given, **options)  # type: ignore[arg-type]
        made.append(looks() - before)
        return found

    monkeypatch.setattr(recall.Recall, "rank", counted)
    with Context.open(str(root)) as context:
        context.loads_models = False
        if not is_on:
            gc.disable()
        try:
            assert len(search(context, "webhook")) == 10
            assert gc.isenabled() is is_on, "it is as it was"
        finally:
            gc.enable()
    assert made == [0]
