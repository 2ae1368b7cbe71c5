"""Law 5: one bad file never hides the others; it is a problem with path, line and reason."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.api import Oracle
from oracle.app.records.listing import list_problems
from tests.conftest import read_cases
from tests.laws.ledger import assert_like_rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable

NEEDLE = "unique-needle-word"


def deep_json(depth: int) -> bytes:
    return b'{"a": ' + b"[" * depth + b"]" * depth + b"}"


CONTENTS: dict[str, bytes] = {
    "bytes.md": b"\xff\xfe\x00broken \x80",
    "late-bytes.md": b"---\ntitle: x\n---\ngood\nbad \xff\n",
    "nul.md": b"a\0b",
    "unclosed.md": b"---\ntitle: [\n",
    "yaml.md": b"---\ntitle: 'x\nkind: {{{\n---\nbody",
    "twice.md": b"---\nkind: a\nkind: b\n---\n",
    "bomb.md": b"---\na: &a " + b"x" * 100_000 + b"\nb: [" + b", ".join([b"*a"] * 9_000) + b"]\n---\n",
    "conflict.md": b"<<<<<<< HEAD\n---\ntitle: a\n=======\n>>>>>>> x\n",
    "list.json": b"[1, 2]",
    "number.json": b"12",
    "empty.json": b"",
    "cut.json": b'{"title": "x",\n "body": ',
    "bytes.json": b'{"title": "\xff"}',
    "deep.json": deep_json(100_000),
    "huge-number.json": b'{"a": ' + b"9" * 10_000,
    "huge.md": b"# huge\n" + b"x " * (9 * 1024 * 1024),
}
HARMLESS: dict[str, bytes] = {
    "empty.md": b"",
    "surrogate.json": b'{"title": "\\ud800", "a": {"\\udc00k": ["\\ud83d"]}, "body": "\\u0000"}',
    "deepish.json": deep_json(900),
    "number-value.json": b'{"title": 12, "kind": null, "ts": 1e999, "project": {"a": 1}, "status": ["x"], "n": '
    + b"9" * 5_000
    + b"}",
    "types.md": b"---\ntitle: [a, b]\nkind: {x: y}\nproject: [z]\nts: nonsense\nsupersedes: {a: [b]}\ntask_id: [1, 2]\n---\n",
    "long-line.md": b"ARENA-7 " * 130_000,
    "brackets.md": b"[" * 50_000 + b"](" * 50_000 + b"`" * 9_999,
    "wiki.md": b"[[" * 40_000 + b"x]]" * 10_000,
    "blanks.md": b"\n" * 1_000_000,
    "carriage.md": b"a\rb\rc\r",
    "aliases.md": b"---\na: &a [" + b"x, " * 2_000 + b"]\n" + b"".join(b"b%d: *a\n" % n for n in range(40)) + b"---\n",
}
PLACES: dict[str, Callable[[Path], object]] = {
    "pipe.md": lambda path: os.mkfifo(path),
    "folder.md": lambda path: path.mkdir(),
    "folder.json": lambda path: path.mkdir(),
    "nowhere.md": lambda path: path.symlink_to("not there.md"),
    "loop.md": lambda path: path.symlink_to("loop.md"),
    "outside.md": lambda path: path.symlink_to("/etc/hostname"),
    "into-folder.md": lambda path: path.symlink_to("."),
}


def surround(root: Path) -> Path:
    """Put good records before, beside, below and after the bad one."""
    folder = root / "projects/arena/builder"
    (folder / "sub").mkdir(parents=True)
    (root / "projects/zoo/planner").mkdir(parents=True)
    for place in (folder / "0.md", folder / "zzz.md", folder / "sub/g.md", root / "projects/zoo/planner/g.md"):
        place.write_text(f"# Good\n{NEEDLE} ARENA-1")
    return folder


def good_slugs() -> set[str]:
    builder = "projects/arena/builder"
    return {f"{builder}/0", f"{builder}/zzz", f"{builder}/sub/g", "projects/zoo/planner/g"}


def assert_good_ones_are_found(oracle: Oracle) -> None:
    assert {hit.record.slug for hit in oracle.search(NEEDLE)} >= good_slugs()
    assert {row[0] for row in oracle.backlinks("entity:taskid:ARENA-1")} >= good_slugs()
    assert {record.slug for record in oracle.records({})} >= good_slugs()


def assert_named(oracle: Oracle, name: str) -> None:
    found = [(line, reason) for path, line, reason in list_problems(oracle) if path == f"projects/arena/builder/{name}"]
    assert found
    assert all(line >= 1 and reason.endswith(".") for line, reason in found)


@pytest.mark.parametrize("name", CONTENTS)
def test_bad_contents(root: Path, name: str) -> None:
    folder = surround(root)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        (folder / name).write_bytes(CONTENTS[name])
        assert_good_ones_are_found(oracle)
        assert_named(oracle, name)
        assert oracle.show(f"projects/arena/builder/{name}").record.path.endswith(name)
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize("name", HARMLESS)
def test_odd_contents_are_no_problem_for_the_others(root: Path, name: str) -> None:
    folder = surround(root)
    (folder / name).write_bytes(HARMLESS[name])
    with Oracle.open(str(root)) as oracle:
        assert_good_ones_are_found(oracle)
        assert oracle.show(f"projects/arena/builder/{name}").record.path.endswith(name)
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize("name", PLACES)
def test_what_stands_where_a_record_would(root: Path, name: str) -> None:
    folder = surround(root)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        PLACES[name](folder / name)
        assert_good_ones_are_found(oracle)
        assert_named(oracle, name)
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


def test_names_that_are_no_text(root: Path) -> None:
    folder = surround(root)
    os.mkdir(os.fsencode(folder) + b"/bad\xff")  # noqa: PTH102
    with open(os.fsencode(folder) + b"/bad\xfe.md", "wb") as stream:  # noqa: PTH123
        stream.write(b"x")
    with Oracle.open(str(root)) as oracle:
        assert_good_ones_are_found(oracle)
        assert len([path for path, _, reason in list_problems(oracle) if "UTF-8" in reason]) == 2


def test_what_is_no_business_of_ours_is_passed_over(root: Path) -> None:
    folder = surround(root)
    for name in (".hidden.md", "x.txt", "x.md~", "#x.md#", "x.MD", "x"):
        (folder / name).write_bytes(b"\xff")
    (folder / ".git").mkdir()
    (folder / ".git/x.md").write_text(NEEDLE)
    (root / "projects/arena/_index").mkdir()
    (root / "projects/arena/_index/files.json").write_text("{")
    with Oracle.open(str(root)) as oracle:
        assert {record.slug for record in oracle.records({})} == good_slugs()
        assert list_problems(oracle) == []


@pytest.mark.parametrize("seconds", [-(10**10), -1, 0, 10**10, 15 * 10**9])
def test_times_far_off(root: Path, seconds: int) -> None:
    folder = surround(root)
    try:
        os.utime(folder / "0.md", (seconds, seconds))
        os.utime(folder / "sub", (seconds, seconds))
    except OverflowError:
        pytest.skip("the file system can't hold such a time")
    with Oracle.open(str(root)) as oracle:
        assert_good_ones_are_found(oracle)
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


def test_inodes_of_64_bits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surround(root)
    real = os.stat_result

    def widen(status: os.stat_result) -> os.stat_result:
        return real(
            (*status[:1], status.st_ino | 1 << 63, *status[2:]),
            {"st_mtime_ns": status.st_mtime_ns, "st_ctime_ns": status.st_ctime_ns},
        )  # type: ignore[arg-type]

    from oracle.index import listing

    narrow = listing.stat_of
    monkeypatch.setattr(listing, "stat_of", lambda status: narrow(widen(status)))
    with Oracle.open(str(root)) as oracle:
        assert_good_ones_are_found(oracle)
        assert_good_ones_are_found(oracle)


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_files_that_can_not_be_read(root: Path, monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    folder = surround(root)
    (folder / "bad.md").write_text("x")
    from oracle.store.markdown import records

    really_read = records.read

    def read(path: str) -> bytes:
        if path.endswith("/bad.md"):
            raise error
        return really_read(path)

    with Oracle.open(str(root)) as oracle:
        with monkeypatch.context() as patch:
            patch.setattr(records, "read", read)
            assert_good_ones_are_found(oracle)
            assert_named(oracle, "bad.md")
        os.utime(folder / "bad.md")
        assert oracle.records({}, fresh=True)
        assert list_problems(oracle) == []


def test_folders_that_can_not_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = surround(root)
    really_scan = os.scandir

    def scandir(path: str) -> Any:
        if path == str(folder / "sub"):
            raise PermissionError(13, "Permission denied")
        return really_scan(path)

    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        (folder / "sub/new.md").write_text("x")
        with monkeypatch.context() as patch:
            patch.setattr(os, "scandir", scandir)
            assert_good_ones_are_found(oracle)
            assert_named(oracle, "sub")
        assert_good_ones_are_found(oracle)
        assert list_problems(oracle) == []


@pytest.mark.parametrize("case", read_cases("frontmatter"), ids=lambda case: case["id"])
def test_frontmatter_cases_through_the_index(root: Path, case: dict[str, Any]) -> None:
    folder = surround(root)
    (folder / "case.md").write_bytes(base64.b64decode(case["raw_b64"]))
    expect = case["expect"]
    with Oracle.open(str(root)) as oracle:
        assert_good_ones_are_found(oracle)
        if expect.get("problem"):
            assert_named(oracle, "case.md")
        elif "problem" in expect:
            assert list_problems(oracle) == []
        if "searchable" in expect:
            slugs = {hit.record.slug for hit in oracle.search(expect["searchable"])}
            others = good_slugs() if expect["searchable"] == "unique-needle-word" else ()
            assert slugs == {*others, "projects/arena/builder/case"}
        record = oracle.show("projects/arena/builder/case").record
        for name in ("title", "kind", "status", "ts", "task_id"):
            if name in expect:
                assert getattr(record, name) == expect[name]


def test_aliases_do_not_grow_the_index(root: Path) -> None:
    folder = surround(root)
    (folder / "bomb.md").write_bytes(CONTENTS["bomb.md"])
    with Oracle.open(str(root)) as oracle:
        assert_good_ones_are_found(oracle)
    assert sum(path.stat().st_size for path in (root / "_state").iterdir() if path.is_file()) < 20_000_000
