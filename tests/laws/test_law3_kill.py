"""Law 3: kill -9 at any step, then a reconcile, equals a rebuild; what was acknowledged is there, nothing is half visible."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.records.write import write_all
from oracle.domain.records.drafts import Draft
from oracle.index.write import projections
from oracle.store.markdown import records
from tests.laws.failpoints import Outcome, run_until
from tests.laws.ledger import assert_like_rebuilt, read_projections

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[Callable[[str], None]], None]

END = "the last words of this record."
MOST = 400


def body(text: str) -> str:
    """Give the text of a record: without a link to its own namesake, which would move in every record at each death."""
    return f"{text} ARENA-1 [[x]]\n\n{'filling ' * 200}\n\n{END}"


def check(root: Path, outcome: Outcome, *, reconcile: bool) -> None:
    """Look at what a dead process left as the next process would."""
    records = sorted((root / "projects").rglob("*")) if (root / "projects").exists() else []
    files = [path for path in records if path.is_file() and "builder" not in path.parts]
    for path in files:
        assert path.name[0] != ".", "a scratch file stands among the records"
        assert path.read_text().rstrip().endswith(END), f"{path} is half written"
    on_disk = {str(path.relative_to(root).with_suffix("")) for path in files}
    assert set(outcome.acknowledged) <= on_disk
    with Oracle.open(str(root)) as oracle:
        if reconcile:
            oracle.reconcile()
        shown = {record.slug for record in oracle.records({}) if "/builder/" not in record.slug}
        assert shown == on_disk
        backlinks = {row[0] for row in oracle.backlinks("entity:taskid:ARENA-1")}
        assert on_disk <= backlinks
        if reconcile:
            assert_like_rebuilt(oracle)
    assert not [name for name in read_projections(root) if "new." in name or ".tmp" in name]


def exhaust(work: Work, prepare: Callable[[int], Path], *, after: bool = False, reconcile: bool = True) -> int:
    """Kill `work` at every change it makes, each time on the Root that `prepare` gives; return how many there were.

    A death after one change is a death before the next, but for what lies between two of them: one test tries both.
    """
    for number in range(1, MOST):
        root = prepare(number)
        os.environ["ORACLE_ROOT"] = str(root)
        outcome = run_until(number, work, after=after)
        check(root, outcome, reconcile=reconcile)
        if not outcome.killed:
            return number
    raise AssertionError("the work never came to an end")


def open_root() -> Oracle:
    return Oracle.open(os.environ["ORACLE_ROOT"])


def write_one(acknowledge: Callable[[str], None]) -> None:
    with open_root() as oracle:
        acknowledge(oracle.write(Draft("decision", "arena", "One", body=body("one"))).slug)


def write_superseding(acknowledge: Callable[[str], None]) -> None:
    with open_root() as oracle:
        old = tuple(record.slug for record in oracle.records({"kind": "decision"}, limit=1, newest_first=True))
        draft = Draft("decision", "arena", "One", body=body("newer"), supersedes=old)
        acknowledge(oracle.write(draft).slug)


def write_several(acknowledge: Callable[[str], None]) -> None:
    with open_root() as oracle:
        drafts = [Draft("plan", "arena", "Same" if n < 2 else "Other", body=body("many")) for n in range(3)]
        for written in write_all(oracle, drafts):
            acknowledge(written.slug)


def reconcile(_: Callable[[str], None]) -> None:
    with open_root() as oracle:
        oracle.reconcile(full=True)


def rebuild(_: Callable[[str], None]) -> None:
    with open_root() as oracle:
        oracle.reconcile(rebuild=True)


def ask(_: Callable[[str], None]) -> None:
    with open_root() as oracle:
        oracle.records({}, fresh=True)


@pytest.mark.parametrize("reconciled", [True, False], ids=["reconciled", "asked"])
def test_the_first_write_of_a_root(tmp_path: Path, *, reconciled: bool) -> None:
    def prepare(number: int) -> Path:
        root = tmp_path / str(number)
        (root / "projects/arena/builder").mkdir(parents=True)
        (root / "projects/arena/builder/x.md").write_text("x ARENA-1")
        return root

    assert exhaust(write_one, prepare, reconcile=reconciled) > 20


@pytest.mark.parametrize("work", [write_one, write_superseding, write_several])
def test_a_write_on_what_earlier_deaths_left(root: Path, monkeypatch: pytest.MonkeyPatch, work: Work) -> None:
    """One Root for all deaths: the next writer begins with what the last one left behind, more than a minute later."""
    monkeypatch.setattr(records, "SAME_WITHIN", timedelta(0))
    (root / "projects/arena/builder").mkdir(parents=True)
    (root / "projects/arena/builder/x.md").write_text("x ARENA-1 [[One]]")
    with Oracle.open(str(root)) as oracle:
        oracle.write(Draft("decision", "arena", "One", body=body("first")))
    assert exhaust(work, lambda _: root) > 15


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("large", "share"), [(1, 0), (projections._LARGE, projections._SHARE)], ids=["amended", "drawn"]
)
def test_a_write_without_a_reconcile_between_deaths(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, large: int, share: int, after: bool
) -> None:
    monkeypatch.setattr(projections, "_LARGE", large)
    monkeypatch.setattr(projections, "_SHARE", share)
    seed(root)
    exhaust(write_superseding, lambda _: root, after=after, reconcile=False)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        assert_like_rebuilt(oracle)


def seed(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        oracle.write(Draft("decision", "arena", "One", body=body("first")))


@pytest.mark.parametrize("work", [reconcile, rebuild, ask])
def test_a_reconcile_after_what_seats_did(root: Path, work: Work) -> None:
    builder = root / "projects/arena/builder"
    builder.mkdir(parents=True)
    for name in "abcd":
        (builder / f"{name}.md").write_text(f"{name} ARENA-1 [[x]] [[a]]")
    seed(root)

    def disturb(number: int) -> Path:
        (builder / "a.md").write_text(f"edited {number}, ARENA-{number} [[b]] and ARENA-1")
        old, new = ("b", "x") if number % 2 else ("x", "b")
        (builder / f"{old}.md").rename(builder / f"{new}.md")
        (builder / f"new{number}.md").write_text("---\nsupersedes: a\n---\n[[x]]")
        if number > 3:
            (builder / f"new{number - 2}.md").unlink()
        return root

    assert exhaust(work, disturb) > 8
