"""Files: created exclusively and for good, replaced in one step, appended by the line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oracle.errors import DiskFailure, RecordExists
from oracle.store.disk import files, folders, steps


@pytest.fixture
def scratch(tmp_path: Path) -> str:
    return str(tmp_path / "scratch")


def test_create_is_exclusive_private_and_leaves_no_scratch(tmp_path: Path, scratch: str) -> None:
    path = tmp_path / "a/b/c.md"
    files.create(str(path), b"one", scratch=scratch)
    with pytest.raises(RecordExists):
        files.create(str(path), b"two", scratch=scratch)
    assert path.read_bytes() == b"one"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_nlink == 1
    assert list(Path(scratch).iterdir()) == []


@pytest.mark.parametrize("what", ["link", "folder", "dangling"])
def test_create_overwrites_nothing_of_any_sort(tmp_path: Path, scratch: str, what: str) -> None:
    path = tmp_path / "x"
    other = tmp_path / "other"
    other.write_text("other")
    {"link": lambda: path.symlink_to(other), "folder": path.mkdir, "dangling": lambda: path.symlink_to("nowhere")}[
        what
    ]()
    with pytest.raises(RecordExists):
        files.create(str(path), b"new", scratch=scratch)
    assert other.read_text() == "other"
    assert not (tmp_path / "nowhere").exists()


def test_what_is_created_is_forced_to_disk_with_every_new_folder(
    tmp_path: Path, scratch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: list[str] = []
    really = os.fsync

    def fsync(handle: int) -> None:
        forced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        really(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    files.make_folder(str(tmp_path / "a/b"), sync=True)
    assert forced == [str(tmp_path), str(tmp_path / "a")]
    forced.clear()
    files.make_folder(str(tmp_path / "a/b"), sync=True)
    assert forced == []
    files.create(str(tmp_path / "a/b/c.md"), b"one", scratch=scratch)
    assert forced[0].startswith(scratch)
    assert forced[-1] == str(tmp_path / "a/b")
    forced.clear()
    files.replace(str(tmp_path / "derived"), b"x", scratch=scratch)
    assert forced == []


def test_replace_swaps_whole_files(tmp_path: Path, scratch: str) -> None:
    path = tmp_path / "deep/x"
    files.replace(str(path), b"one", scratch=scratch)
    with path.open("rb") as stream:
        files.replace(str(path), b"two, longer", scratch=scratch)
        assert stream.read() == b"one"
    assert path.read_bytes() == b"two, longer"
    path.unlink()
    path.mkdir()
    with pytest.raises(DiskFailure):
        files.replace(str(path), b"three", scratch=scratch)
    assert list(Path(scratch).iterdir()) == []


def test_short_writes_are_finished(tmp_path: Path, scratch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: really(handle, bytes(data[:3])))
    files.create(str(tmp_path / "x"), b"0123456789", scratch=scratch)
    assert (tmp_path / "x").read_bytes() == b"0123456789"


def test_pieces_are_one_file(tmp_path: Path, scratch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: really(handle, bytes(data[:3])))
    for pieces in ((b"0123456789",), (memoryview(b"0123456789")[:4], b"", b"between", memoryview(b"456789"))):
        steps.swap(str(tmp_path / "x"), *pieces, scratch=scratch)
        assert (tmp_path / "x").read_bytes() == b"".join(pieces)


def test_append_is_by_the_line(tmp_path: Path) -> None:
    for line in (b"one", b"two\n", b"three\n\n"):
        files.append_line(str(tmp_path / "log"), line)
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\nthree\n"


def test_a_scratch_name_that_is_taken_is_passed_over(tmp_path: Path) -> None:
    number = next(files._counter)
    (tmp_path / f"new.{os.getpid()}.{number + 1}").write_text("left over")
    path = files.write_scratch(str(tmp_path), b"x")
    assert Path(path).read_bytes() == b"x"


def test_removing_and_emptying(tmp_path: Path) -> None:
    files.remove(str(tmp_path / "nothing"))
    (tmp_path / "s/sub").mkdir(parents=True)
    for name in ("s/a", "s/b", "s/sub/c"):
        (tmp_path / name).write_text("x")
    (tmp_path / "kept").write_text("x")
    (tmp_path / "s/link").symlink_to(tmp_path)
    assert folders.empty(str(tmp_path / "s")) == 4
    assert list((tmp_path / "s").iterdir()) == []
    assert (tmp_path / "kept").exists()
    assert folders.empty(str(tmp_path / "nowhere")) == 0
