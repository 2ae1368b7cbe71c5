"""Try the lock-free steps: one creator a name, also without hard links, and the lock of one file."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from oracle.domain.hub.rows import Membership
from oracle.errors import DiskFailure, LockTimeout
from oracle.store.disk import steps
from oracle.store.root import hub, sources
from oracle.store.root.layout import Root
from tests.store.crash import run_at_once


def test_one_of_many_creates_a_file_and_it_is_whole(tmp_path: Path) -> None:
    path = f"{tmp_path}/a/b/file"
    made = run_at_once(20, lambda number: int(steps.create_once(path, b"%d" % number * 100_000)))
    assert sorted(made) == [0] * 19 + [1]
    content = Path(path).read_bytes()
    assert content == b"%d" % made.index(1) * 100_000
    assert [entry.name for entry in Path(path).parent.iterdir()] == ["file"]
    assert steps.read(path) == content


@pytest.mark.parametrize("code", [errno.EPERM, errno.EXDEV, errno.ENOTSUP])
def test_without_hard_links_still_one_creates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*_args: object, **_named: object) -> None:
        raise OSError(code, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = f"{tmp_path}/file"
    assert sorted(run_at_once(12, lambda number: int(steps.create_once(path, b"%d" % number)))) == [0] * 11 + [1]
    assert not list(tmp_path.glob(".new-*"))


def test_a_dead_process_of_the_same_number_is_in_nobody_s_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)
    for number in range(3):
        child = os.fork()
        if child == 0:
            monkeypatch.setattr(os, "link", lambda *_args, **_named: os._exit(0))
            steps.create_once(f"{tmp_path}/{number}", b"x")
        os.waitpid(child, 0)
    assert steps.create_once(f"{tmp_path}/file", b"x")


def forced_folders(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which each folder is added that is forced to disk from now on."""
    forced: list[str] = []
    really = os.fsync

    def fsync(handle: int) -> None:
        place = Path(f"/proc/self/fd/{handle}").readlink()
        forced.extend([str(place)] if place.is_dir() else [])
        really(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return forced


def test_a_block_forces_each_folder_to_disk_once_at_its_end_and_other_threads_do_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced = forced_folders(monkeypatch)
    (tmp_path / "b").mkdir()

    def change() -> None:
        for name in ("a", "c", "b/a"):
            steps.create_once(f"{tmp_path}/{name}", b"x")
        steps.rename(f"{tmp_path}/a", f"{tmp_path}/d")
        steps.remove(f"{tmp_path}/c")

    with contextlib.suppress(ZeroDivisionError), steps.folders_synced_once():
        change()
        assert forced == []
        other = Thread(target=steps.create_once, args=(f"{tmp_path}/other", b"x"))
        other.start()
        other.join()
        assert forced == [str(tmp_path)]
        raise ZeroDivisionError
    assert forced[1:] == [str(tmp_path), f"{tmp_path}/b"]
    steps.remove(f"{tmp_path}/d")
    assert len(forced) == 4


def test_a_held_lock_is_waited_for_and_named_when_it_takes_too_long(tmp_path: Path) -> None:
    path = f"{tmp_path}/TODO.md"
    with steps.FileLock(path):
        with pytest.raises(LockTimeout, match=r"TODO\.md\.lock is held"):
            steps.FileLock(path, 0.01).__enter__()
        Path(f"{path}.lock").unlink()
        with steps.FileLock(path, 0.01):
            pass
    with steps.FileLock(path, 0.01):
        pass


def test_a_file_that_can_not_be_read_or_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DiskFailure, match="can't be read"):
        steps.read(str(tmp_path))
    assert steps.read(f"{tmp_path}/nothing") is None
    (tmp_path / "file").write_bytes(b"x")
    assert steps.read(f"{tmp_path}/file/below") is None
    for act in (
        lambda: steps.create_once(f"{tmp_path}/file/below", b"x"),
        lambda: steps.replace(f"{tmp_path}/file/below", b"x"),
        lambda: steps.rename(f"{tmp_path}/nothing", f"{tmp_path}/other"),
    ):
        with pytest.raises(DiskFailure, match=str(tmp_path)):
            act()


def test_what_is_no_plain_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(tmp_path):
        server.bind("socket")
        for name in ("pipe", "folder", "link", "device", "socket"):
            with pytest.raises(steps.NotPlain, match=f"{name} can't be read: it is not a regular file"):
                steps.read(f"{tmp_path}/{name}")
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(10 << 30)
    with pytest.raises(steps.NotPlain, match="sparse can't be read: it is larger than 64 MiB"):
        steps.read(f"{tmp_path}/sparse")
    (tmp_path / "plain").write_bytes(b"x")
    (tmp_path / "good").symlink_to("plain")
    assert steps.read(f"{tmp_path}/good") == b"x"


@pytest.mark.parametrize("write", [steps.create_once, steps.replace])
def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, write: Callable[[str, bytes], object]) -> None:
    with pytest.raises(DiskFailure, match="File too large"):
        write(f"{tmp_path}/file", bytes(steps.MOST_BYTES))
    assert list(tmp_path.iterdir()) == []
    write(f"{tmp_path}/file", bytes(steps.MOST_BYTES - 1))
    assert len(steps.read(f"{tmp_path}/file") or b"") == steps.MOST_BYTES - 1


@pytest.mark.parametrize(
    ("save", "folder"),
    [
        (lambda root: sources.save(root, []), "config"),
        (lambda root: hub.save(root, Membership()), "_state"),
        (lambda root: hub.save_owner(root, Membership()), "_state"),
    ],
    ids=["sources", "hub", "hub-owner"],
)
def test_what_no_rebuild_brings_back_is_forced_to_disk(
    root: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Root], None], folder: str
) -> None:
    forced = forced_folders(monkeypatch)
    save(Root(str(root)))
    assert str(root / folder) in forced
