"""A program of others is run for a bounded time, whatever it leaves behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oracle.store.disk import programs
from tests.wake.stage import until

ENVIRON = {"PATH": "/usr/bin:/bin"}


def shell(script: str, *, patience: float = 20, given: bytes = b"") -> programs.Ran:
    return programs.run(["sh", "-c", script], environ=ENVIRON, patience=patience, given=given)


def test_what_it_says_and_how_it_ends() -> None:
    ran = shell('cat; echo wrong >&2; echo "$HOME$PATH"; exit 3', given=b"in ")
    assert ran == programs.Ran(3, b"in /usr/bin:/bin\n", b"wrong\n")
    assert shell("cat") == programs.Ran(0, b"", b"")


@pytest.mark.parametrize(
    "script",
    [
        "exec tail -f /dev/null",
        "tail -f /dev/null & echo $! > {pid}; exit 0",
        "trap '' TERM; tail -f /dev/null & echo $! > {pid}; wait",
    ],
)
def test_a_child_that_it_leaves_behind_holds_nobody_up(script: str, tmp_path: Path) -> None:
    child = outlast(script, tmp_path / "pid")
    assert bool(child) == ("{pid}" in script)
    until(lambda: not child or not _lives(child), "it is killed")


def outlast(script: str, pid: Path) -> int:
    """Run a script until patience is over, with more of it where it has not written yet which process it left; return that."""
    for patience in (0.5, 5, 50):
        with pytest.raises(programs.OutOfPatience):  # where the pipe of the child is waited for, this comes never
            shell(script.format(pid=pid), patience=patience)
        said = pid.read_text() if pid.exists() else ""
        if said.endswith("\n") or "{pid}" not in script:
            break
    return int(said or 0)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def test_one_that_hides_in_a_session_of_its_own_holds_nobody_up_either(tmp_path: Path) -> None:
    child = outlast("setsid sh -c 'echo $$ > {pid}; exec tail -f /dev/null' & wait", tmp_path / "pid")
    assert _lives(child)
    os.kill(child, 9)


def test_what_is_no_program_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="No such file"):
        programs.run(["/nowhere/at/all"], environ=ENVIRON, patience=1)
