"""A record with very many links: `_backlinks/` holds some of them, the index all, whatever the way there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.doctor.examine import examine
from oracle.index.write import projections, rows
from tests.laws.ledger import assert_like_rebuilt

MOST = 5
TEXTS = {
    "entities": lambda count: "\n".join(f"ARENA-{number}" for number in range(count)),
    "records": lambda count: "\n".join(f"[[note-{number}]]" for number in range(count)),
    "one line": lambda count: " ".join(f"ARENA-{number} [[note-{number}]]" for number in range(count)),
}


@pytest.fixture
def wide(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(rows, "MOST_PRINTED", MOST)
    path = root / "projects/arena/builder/wide.md"
    path.parent.mkdir(parents=True)
    return path


def files_of(root: Path) -> int:
    return len(list((root / "_backlinks").glob("*.jsonl")))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("counts", [(12,), (3, 12), (12, 3), (12, 13, 4), (5, 6)])
def test_files_are_bounded_and_answers_are_not(root: Path, wide: Path, text: str, counts: tuple[int, ...]) -> None:
    sides = 2 if text == "one line" else 1
    with Oracle.open(str(root)) as oracle:
        for count in counts:
            wide.write_text(TEXTS[text](count))
            oracle.reconcile()
            assert files_of(root) == sides * min(count, MOST)
            last = (
                f"entity:taskid:ARENA-{count - 1}" if text != "records" else f"projects/arena/builder/note-{count - 1}"
            )
            assert len(oracle.backlinks(last)) == 1
            assert len((root / "_links/projects__arena__builder__wide.jsonl").read_text().splitlines()) == sides * count
            assert_like_rebuilt(oracle)
        note = [check.detail for check in examine(oracle) if check.name == "unprinted"]
        left = sides * max(0, counts[-1] - MOST)
        assert [f"leaves out {left} links of 1 records" in line for line in note] == ([True] if left else [False])


def test_records_that_come_later_take_the_links_that_named_them(root: Path, wide: Path) -> None:
    wide.write_text(TEXTS["records"](12))
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        for number in (1, 11):
            other = root / f"projects/arena/planner/note-{number}.md"
            other.parent.mkdir(exist_ok=True)
            other.write_text("x")
            oracle.reconcile()
            assert len(oracle.backlinks(f"projects/arena/planner/note-{number}")) == 1
            assert_like_rebuilt(oracle)
        assert files_of(root) == MOST
        wide.unlink()
        oracle.reconcile()
        assert files_of(root) == 0
        assert_like_rebuilt(oracle)


def test_sixty_thousand_links_make_few_files_soon(root: Path) -> None:
    path = root / "projects/arena/builder/wide.md"
    path.parent.mkdir(parents=True)
    path.write_text(TEXTS["one line"](30_000))
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        assert files_of(root) == 2 * projections.MOST_PRINTED
        assert len(oracle.backlinks("entity:taskid:ARENA-29999")) == 1
        os.utime(path, (1, 1))
        oracle.reconcile()
        assert files_of(root) == 2 * projections.MOST_PRINTED
