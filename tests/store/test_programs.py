"""A program of others is run for a bounded time, whatever it leaves behind."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import pytest

from oracle.store.disk import programs
from tests.wake.stage import until

ENVIRON = {"PATH": "/usr/bin:/bin"}


def shell(script: str, *, patience: float = 20, given: bytes = b"", most: int = programs.MOST) -> programs.Ran:
    return programs.run(["sh", "-c", script], environ=ENVIRON, patience=patience, given=given, most=most)


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


@pytest.mark.parametrize(
    "script",
    [
        "yes",
        "yes >&2",
        "yes & yes >&2 & wait",
        "exec cat /dev/zero",
        "yes & echo $! > {pid}; exit 0",
        "setsid sh -c 'echo $$ > {pid}; exec yes' & wait",
        "while :; do head -c 100000 /dev/zero; sleep 0.01; done",
    ],
)
@pytest.mark.parametrize("given", [b"", b"x" * 5_000_000])
def test_one_that_prints_without_end_is_stopped_early(script: str, given: bytes, tmp_path: Path) -> None:
    """It would print gigabytes until its time is over, and all of it would be in memory."""
    tracemalloc.start()
    try:
        with pytest.raises(programs.TooMuchOutput):
            shell(script.format(pid=tmp_path / "pid"), patience=60, given=given)
        assert tracemalloc.get_traced_memory()[1] < 8 * programs.MOST
    finally:
        tracemalloc.stop()
    said = (tmp_path / "pid").read_text() if (tmp_path / "pid").exists() else ""
    until(lambda: not said or not _lives(int(said)), "it is killed, or ends as nobody reads it")


@pytest.mark.parametrize("script", ["exec tail -f /dev/null", "while :; do echo .; sleep 0.05; done"])
def test_one_that_nobody_waits_for_any_more_is_stopped(script: str) -> None:
    began = time.monotonic()
    with pytest.raises(programs.Stopped):
        programs.run(["sh", "-c", script], environ=ENVIRON, patience=60, is_over=lambda: time.monotonic() > began + 0.2)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("stream", ["1", "2"])
@pytest.mark.parametrize("more", [0, 1])
def test_as_much_as_the_limit_is_read_and_no_more(stream: str, more: int) -> None:
    script = f"head -c {300_000 + more} /dev/zero >&{stream}"
    if more:
        with pytest.raises(programs.TooMuchOutput):
            shell(script, most=300_000)
    else:
        ran = shell(script, most=300_000)
        assert len(ran.output) + len(ran.errors) == 300_000


@pytest.mark.parametrize("script", ["true", "exec <&-; sleep 0.2; echo late", "head -c 10", "exec cat >/dev/null"])
def test_one_that_reads_less_than_it_is_given_is_heard(script: str) -> None:
    assert shell(script, given=b"x" * 3_000_000).code == 0


def test_what_is_no_program_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="No such file"):
        programs.run(["/nowhere/at/all"], environ=ENVIRON, patience=1)
