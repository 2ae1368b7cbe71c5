"""The lines of a few sources put into a printed file: what is drawn whole is the measure."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.domain.records.drafts import Draft
from oracle.index.write import projection_checks, projections
from oracle.index.write.splice import splice
from oracle.store.disk import steps

NAMES = st.sampled_from(
    ["a", "a/b", "a-b", "b", 'odd " name', 'odd ","snippet":"', "odd \\", "é", "zz", "中", "\U0001f600"]
)
LINES = st.dictionaries(NAMES, st.lists(st.text(max_size=5), min_size=1, max_size=3, unique=True).map(sorted))
TARGET = "entity:taskid:ARENA-1"
Harm = Callable[[list[bytes]], list[bytes]]


def draw(lines: dict[str, list[str]], source: str) -> bytes:
    return projections.draw_backlinks("x", [(source, kind, "said", 1) for kind in lines.get(source, ())])


@given(before=LINES, after=LINES)
def test_what_is_spliced_is_what_is_drawn(before: dict[str, list[str]], after: dict[str, list[str]]) -> None:
    printed = b"".join(draw(before, source) for source in sorted(before))
    changed = [source for source in {*before, *after} if before.get(source) != after.get(source)]
    spliced = splice(printed, {source: draw(after, source) for source in changed})
    expected = b"".join(draw(after, source) for source in sorted(after))
    assert spliced == (None if changed and not expected else [] if not changed else spliced)
    assert b"".join(spliced or ()) == (expected if changed else b"")


@pytest.mark.parametrize(
    "printed",
    [
        b"half",
        b"no json\n",
        b"[]\n",
        b'{"to": 1}\n',
        b'{"from": 1}\n',
        b"\xff\n",
        b"\n",
        b'{"from": "x"}',
        b'{"from":' + b"[" * 9999 + b"\n",
    ],
)
def test_what_is_no_printed_file_is_left_to_be_drawn(printed: bytes) -> None:
    assert splice(printed, {"x": b"line\n"}) is None


@pytest.fixture
def amending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projections, "_LARGE", 1)
    monkeypatch.setattr(projections, "_SHARE", 0)


@pytest.mark.usefixtures("amending")
@pytest.mark.parametrize(
    "harm", [lambda path: path.unlink(), lambda path: path.write_text(""), lambda path: path.write_text("x\n" * 9)]
)
def test_a_file_that_is_not_what_was_printed_is_drawn_whole(root: Path, harm: object) -> None:
    with Oracle.open(str(root)) as oracle:
        for title in "abc":
            oracle.write(Draft("decision", "arena", title, body="ARENA-1"))
        path = Path(oracle.root.backlinks_file(TARGET))
        assert path.read_text().count("\n") == 3
        harm(path)  # type: ignore[operator]
        oracle.write(Draft("decision", "arena", "d", body="ARENA-1"))
        assert [json.loads(line)["from"][-1] for line in path.read_text().splitlines()] == ["a", "b", "c", "d"]


@pytest.mark.usefixtures("amending")
@pytest.mark.parametrize(
    "harm",
    [
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [lines[0], *lines[:-1]],
        lambda lines: [lines[0].replace(b"ARENA-1 here", b"ARENA-1 gone"), *lines[1:]],
        lambda lines: [lines[0], b'{"from":"projects/z/\\u202e\\n","to":"x"}\n', *lines[2:]],
        lambda lines: [line.replace(b"\n", b"\r\n") for line in lines],
        lambda lines: [b'{"from":' + b"[" * 9999 + b"\n"] * len(lines),
    ],
    ids=["other order", "twice", "another snippet", "foreign", "line ends", "nested"],
)
def test_as_many_lines_as_were_printed_are_not_believed_either(root: Path, harm: Harm) -> None:
    with Oracle.open(str(root)) as oracle:
        for title in "abcd":
            oracle.write(Draft("decision", "arena", title, body="ARENA-1 here"))
        path = Path(oracle.root.backlinks_file(TARGET))
        path.write_bytes(b"".join(harm(path.read_bytes().splitlines(keepends=True))))
        oracle.write(Draft("decision", "arena", "e", body="ARENA-1"))
        assert oracle.index.read(lambda connection: projection_checks.differences(connection, oracle.root)) == []


@pytest.mark.parametrize("gone", [("_links",), ("_backlinks",), ("_links", "_backlinks")])
def test_a_write_after_projections_were_deleted_prints_all_of_them(root: Path, gone: tuple[str, ...]) -> None:
    with Oracle.open(str(root)) as oracle:
        for title in "ab":
            oracle.write(Draft("decision", "arena", title, body="ARENA-1"))
        for name in gone:
            shutil.rmtree(root / name)
        oracle.write(Draft("decision", "arena", "c", body="ARENA-2"))
        assert oracle.index.read(lambda connection: projection_checks.differences(connection, oracle.root)) == []


def sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(10 << 30)


@pytest.mark.parametrize("is_large", [True, False], ids=["large", "small"])
@pytest.mark.parametrize(
    "put", [os.mkfifo, sparse, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "sparse", "device"]
)
def test_what_stands_in_the_place_of_a_projection_is_neither_waited_for_nor_read(
    root: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], None], *, is_large: bool
) -> None:
    if is_large:
        monkeypatch.setattr(projections, "_LARGE", 1)
        monkeypatch.setattr(projections, "_SHARE", 0)
    with Oracle.open(str(root)) as oracle:
        for title in "ab":
            oracle.write(Draft("decision", "arena", title, body="ARENA-1"))
        path = Path(oracle.root.backlinks_file(TARGET))
        path.unlink()
        put(path)
        assert oracle.index.read(lambda connection: projection_checks.differences(connection, oracle.root)) == [
            str(path)
        ]
        oracle.write(Draft("decision", "arena", "c", body="ARENA-1"))
        assert [json.loads(line)["from"][-1] for line in path.read_text().splitlines()] == ["a", "b", "c"]


@pytest.mark.usefixtures("amending")
def test_what_was_printed_is_amended_and_not_drawn(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    draw_some = projections.draw_some
    monkeypatch.setattr(
        projections, "draw_some", lambda of, side, names: drawn.extend(names) or draw_some(of, side, names)
    )
    with Oracle.open(str(root)) as oracle:
        for title in "abcd":
            oracle.write(Draft("decision", "arena", title, body="ARENA-1"))
    assert TARGET not in drawn  # the first write printed all, and noted it


@pytest.mark.parametrize("can", [True, False], ids=["exchanged", "renamed"])
def test_a_file_swapped_for_another_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, can: bool
) -> None:
    if not can:
        monkeypatch.setattr(steps, "exchange", lambda new, path: False)
    scratch, path = tmp_path / "scratch", tmp_path / "folder" / "file"
    for text in (b"first", b"second"):
        steps.swap(str(path), text, scratch=str(scratch))
        assert path.read_bytes() == text
    assert list(scratch.iterdir()) == []
    assert path.stat().st_mode & 0o777 == 0o600
