"""Law 1: what is derived can be deleted at any time; a reconcile gives the same bytes again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.records.write import write_all
from oracle.domain.records.drafts import Draft, Evidence
from tests.laws.ledger import assert_like_rebuilt, read_projections


def make_history(oracle: Oracle, root: Path) -> None:
    """Write, link, supersede, retire; let seats add, edit, rename and delete; in several scripts."""
    first = oracle.write(Draft("decision", "arena", "Use one lock for ARENA-1", body="See [[x]] and [[late]]."))
    second = oracle.write(Draft("decision", "arena", "Use two", body="[[x]]", supersedes=(first.slug,)))
    evidence = (Evidence("high", "src/app.py:12", "the words"),)
    oracle.write(Draft("finding", "项目", "锁 ARENA-1", body="见 projects/arena/builder/x", evidence=evidence))
    builder = root / "projects/arena/builder"
    builder.mkdir(parents=True)
    for name in ("x", "y", "a__b", "a_b", "Ünïcode 标题"):
        (builder / f"{name}.md").write_text(f"# {name}\nARENA-1, [[y]], [[{first.slug}]], https://example.com/{name}")
    (builder / "x.json").write_text('{"title": "twin", "body": "[[x]]", "supersedes": "projects/arena/builder/y"}')
    oracle.records({})
    (builder / "y.md").rename(builder / "z.md")
    (builder / "x.md").write_text("edited, [[z]] and ARENA-2")
    (builder / "a_b.md").unlink()
    os.utime(builder / "z.md", (1_700_000_000, 1_700_000_000))
    oracle.retire(second.slug, "not needed")
    write_all(oracle, [Draft("plan", "arena", f"late {number}", body="[[z]]") for number in range(3)])
    (root / "projects/arena/decision/late.md").write_text("late")
    oracle.reconcile(full=True)


@pytest.mark.parametrize(
    "lost", [("_state", "_links", "_backlinks"), ("_state",), ("_links",), ("_backlinks",), ("_state", "_links")]
)
def test_deleted_folders_come_back_with_the_same_bytes(root: Path, lost: tuple[str, ...]) -> None:
    with Oracle.open(str(root)) as oracle:
        make_history(oracle, root)
        assert_like_rebuilt(oracle)
    before = read_projections(root)
    assert len(before) > 20
    for name in lost:
        shutil.rmtree(root / name)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile(rebuild="_state" not in lost)
        assert read_projections(root) == before
        assert_like_rebuilt(oracle)


def test_strays_and_torn_projections_are_put_right_by_a_rebuild(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        make_history(oracle, root)
        before = read_projections(root)
        some = sorted((root / "_backlinks").iterdir())[0]
        some.write_bytes(some.read_bytes()[:10])
        (root / "_links/nobody.jsonl").write_text("{}\n")
        oracle.reconcile(rebuild=True)
        assert read_projections(root) == before


def test_a_rebuild_changes_no_byte_and_no_mtime_of_what_is_right_already(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        make_history(oracle, root)
        stats = {path: (root / path).stat().st_mtime_ns for path in read_projections(root)}
        oracle.reconcile(rebuild=True)
        assert {path: (root / path).stat().st_mtime_ns for path in read_projections(root)} == stats


def test_the_state_folder_keeps_itself_out_of_git(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
    assert (root / "_state/.gitignore").read_text() == "*\n"
