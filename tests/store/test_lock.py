"""The write lock: one holder, named; a deleted lock file fools nobody."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.errors import LockTimeout, RootUnusable
from oracle.store.root import lock
from oracle.store.root.layout import Root
from oracle.store.root.lock import WriteLock, describe_holder, ensure_state, is_held

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

FORK = multiprocessing.get_context("fork")


def test_one_holder_at_a_time(root: Path) -> None:
    top = Root(str(root))
    assert not is_held(top.lock)
    with WriteLock(top):
        assert is_held(top.lock)
        assert not WriteLock(top, 0.0).acquire()
        with pytest.raises(LockTimeout, match=f"process {os.getpid()} ") as caught, WriteLock(top, 0.01):
            pass
        assert caught.value.exit_code == 75
    assert not is_held(top.lock)
    with WriteLock(top, 0.0):
        pass


def test_it_is_given_back_after_an_error(root: Path) -> None:
    top = Root(str(root))
    with pytest.raises(ZeroDivisionError), WriteLock(top):
        raise ZeroDivisionError
    assert WriteLock(top, 0.0).acquire()


def hold(root: str, pipe: Connection) -> None:
    with WriteLock(Root(root)):
        pipe.send("held")
        pipe.recv()


def test_whoever_waits_longer_looks_oftener(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks as often as all others may wait for ever; one who came just now must not look oftener than one who waits."""
    pauses: list[float] = []
    now = [0.0]

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(lock.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(lock.time, "sleep", sleep)
    with WriteLock(Root(str(root))):
        assert not WriteLock(Root(str(root)), 5.0).acquire()
    assert pauses == sorted(pauses, reverse=True)
    assert pauses[0] >= 10 * pauses[-2]
    assert now[0] == pytest.approx(5.0)


def test_a_killed_holder_frees_it(root: Path) -> None:
    here, there = FORK.Pipe()
    holder = FORK.Process(target=hold, args=(str(root), there))
    holder.start()
    assert here.recv() == "held"
    assert f"process {holder.pid} " in describe_holder(Root(str(root)))
    assert not WriteLock(Root(str(root)), 0.0).acquire()
    holder.kill()
    holder.join()
    assert WriteLock(Root(str(root)), 0.0).acquire()


def test_a_lock_file_deleted_while_waiting_is_not_taken_for_the_lock(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening the file and locking it `_state` goes away: the old file must not count."""
    top = Root(str(root))
    really = fcntl.flock
    turns = iter((True, False, False))

    def flock(handle: int, how: int) -> None:
        if next(turns, False):
            shutil.rmtree(root / "_state")
        really(handle, how)

    monkeypatch.setattr(lock.fcntl, "flock", flock)
    with WriteLock(top, 5.0):
        assert is_held(top.lock)
        assert not WriteLock(top, 0.0).acquire()


def test_a_file_system_without_flock_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(lock.fcntl, "flock", refuse)
    with pytest.raises(RootUnusable, match="flock"), WriteLock(Root(str(root))):
        pass


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff\xff", b"null"])
def test_a_holder_that_left_no_name(root: Path, note: bytes) -> None:
    ensure_state(Root(str(root)))
    (root / "_state/lock").write_bytes(note)
    assert describe_holder(Root(str(root))) == "another process"


def test_the_state_folder_is_made_private_and_never_for_a_root_that_is_not_there(root: Path, tmp_path: Path) -> None:
    ensure_state(Root(str(root)))
    assert (root / "_state").stat().st_mode & 0o777 == 0o700
    assert (root / "_state/.gitignore").read_text() == "*\n"
    with pytest.raises(RootUnusable):
        ensure_state(Root(str(tmp_path / "nowhere")))
    assert not (tmp_path / "nowhere").exists()


def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    assert not is_held(str(tmp_path / "lock"))
