"""A search of words that very many records hold: what it scores is bounded, and all of the words are looked for together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.search.search import search
from oracle.index.read import candidates
from tests.hub.plans import statements_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def oracle(root: Path) -> Iterator[Oracle]:
    """Give thirty records with `tides`, of which the last 25 hold `pilot` too."""
    folder = root / "projects/demo/finding"
    folder.mkdir(parents=True)
    for number in range(30):
        words = "tides and a pilot" if number > 4 else "tides"
        (folder / f"{number:02}.md").write_text(f"# Number {number}\n\nOf {words}.\n", encoding="utf-8")
    with Oracle.open(str(root)) as opened:
        opened.reconcile()
        yield opened


def test_words_of_too_many_records_are_looked_for_together(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "ROWS", 20)
    said = "\n".join(statements_of(oracle, lambda: search(oracle, "tides pilot")))
    assert 'MATCH \'"pilot" AND "tides"\'' in said


def test_of_very_many_matches_the_newest_are_scored(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "ROWS", 4)
    found = {hit.record.slug[-2:] for hit in search(oracle, "tides", limit=4)}
    assert found == {"26", "27", "28", "29"}
