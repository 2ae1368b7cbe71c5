"""A search of words that very many records hold: what it scores is bounded, and all of the words are looked for together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.search.search import search
from oracle.index.read import candidates
from tests.hub.plans import statements_of

if TYPE_CHECKING:
    from collections.abc import Iterator


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


OTHERS = ("projects/other/finding/a", "projects/demo/decision/c", "shared/finding/b")


@pytest.mark.parametrize(
    ("filters", "with_shared", "found"),
    [
        ({}, False, OTHERS),
        ({"project": "demo"}, False, OTHERS[1:2]),
        ({"project": "demo"}, True, OTHERS[1:]),
        ({"kind": "decision"}, False, OTHERS[1:2]),
    ],
)
@pytest.mark.parametrize("records", [1, 10**6])
def test_records_that_pass_are_found_at_once_or_one_by_one(
    oracle: Oracle,
    records: int,
    filters: dict[str, str],
    with_shared: bool,
    found: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for slug in OTHERS:
        place = Path(oracle.root.join(f"{slug}.md"))
        place.parent.mkdir(parents=True)
        place.write_text("Of tides.\n", encoding="utf-8")
    monkeypatch.setattr(candidates, "size", lambda connection: records)
    hits = search(oracle, "tides", filters, limit=50, with_shared=with_shared)
    slugs = [hit.record.slug for hit in hits]
    assert sorted(slugs) == sorted({*found, *(slug for slug in slugs if slug.startswith("projects/demo/finding/"))})
    assert len(slugs) == len(found) + (0 if "kind" in filters else 30)
