"""A Root that is shared with a group: two users of it read and write each other's files, whatever their umask."""

from __future__ import annotations

import os
import stat
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app import root as roots
from oracle.app.doctor.repair import repair
from oracle.cli.main import run
from oracle.domain.records.drafts import Draft
from oracle.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

GROUP, OTHERS = 4242, 0o007
USERS = (5001, 5002)


def modes(root: Path) -> dict[str, int]:
    """Return the wrong modes below a Root: its folders must be 2770, its files 0660."""
    found = {}
    for path in (root, *root.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        expected = 0o2770 if path.is_dir() else 0o660
        if mode != expected and path.name not in ("oracle.db-shm", "oracle.db-wal"):
            found[str(path.relative_to(root))] = mode
    return found


def work(oracle: Oracle, name: str) -> None:
    oracle.write(Draft("decision", "arena", name, body="ARENA-1 [[x]]"))
    oracle.reconcile(full=True)
    roots.note_hook(oracle, "what", "detail")


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_every_file_is_the_groups_whatever_the_umask(root: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with Oracle.open(str(root)) as oracle:
            roots.init(oracle, shared=True)
            work(oracle, "One")
            assert modes(root) == {}
            assert [check.detail for check in oracle.doctor() if not check.ok] == []
            assert repair(oracle) == []
            assert modes(root) == {}
    finally:
        os.umask(before)


def test_a_root_is_shared_later_and_stays_so(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        roots.init(oracle)
        work(oracle, "One")
        assert not root.stat().st_mode & 0o077
        roots.init(oracle, shared=True)
        work(oracle, "Two")
        roots.init(oracle)
    assert modes(root) == {}


def test_an_own_root_stays_its_owners(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        roots.init(oracle)
        work(oracle, "One")
    assert [path for path in root.rglob("*") if path.lstat().st_mode & 0o077] == []


def test_a_root_in_a_home_can_not_be_shared(home: Path) -> None:
    with Oracle.open(f"{home}/.agents/memory") as oracle, pytest.raises(UsageError, match="home folder"):
        roots.init(oracle, shared=True)
    assert run(["init", "--shared", "--memory-dir", f"{home}/.agents/memory"]) == 2


def as_user(user: int, act: Callable[[], object]) -> None:
    """Do something in a child that is another user of the group."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([GROUP])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            os.umask(0o077)
            act()
            code = 0
        except BaseException:  # noqa: BLE001 - the child must never return into the test runner
            traceback.print_exc()
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_two_users_of_a_group_read_and_write_each_others_files(tmp_path: Path) -> None:
    place = tmp_path / "srv"
    place.mkdir()
    for folder in (place, *list(tmp_path.parents)[:3], tmp_path):
        folder.chmod(folder.stat().st_mode | 0o755)
    os.chown(place, 0, GROUP)
    place.chmod(0o2775)
    root = place / "team"

    def begin() -> None:
        with Oracle.open(str(root)) as oracle:
            roots.init(oracle, shared=True)
            work(oracle, "One")

    def go_on(name: str, count: int) -> None:
        warnings: list[str] = []
        with Oracle.open(str(root), warn=warnings.append) as oracle:
            assert len(oracle.records({})) == count
            work(oracle, name)
            assert len(oracle.backlinks("entity:taskid:ARENA-1")) == count + 1
        assert warnings == []

    as_user(USERS[0], begin)
    as_user(USERS[1], lambda: go_on("Two", 1))
    as_user(USERS[0], lambda: go_on("Three", 2))
    assert {path.stat().st_gid for path in root.rglob("*")} == {GROUP}
    assert modes(root) == {}
