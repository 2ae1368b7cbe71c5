"""Start, ask and stop a daemon in the background, as `oracle daemon` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.cli.main import run
from oracle.daemon import control
from oracle.errors import AlreadyRunning, DaemonFailed
from oracle.store.root.layout import Root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def known(root: Path) -> Iterator[Root]:
    """Give a Root without a daemon, and end one that was started."""
    made = Root(str(root))
    assert run(["init", "--memory-dir", str(root)]) == 0
    yield made
    control.stop(made)


def test_a_daemon_in_the_background_serves_until_it_is_stopped(known: Root, capsys: pytest.CaptureFixture[str]) -> None:
    pid = control.start(known, hold=True)
    with pytest.raises(AlreadyRunning, match=str(pid)):
        control.start(known, hold=False)
    found = control.status(known)
    assert (found["running"], found["pid"], found["silent"]) == (True, pid, False)
    assert run(["daemon", "metrics", "--memory-dir", known.path]) == 0
    assert "memory_oracle_up 1" in capsys.readouterr().out
    assert control.stop(known) == pid
    assert control.stop(known) == 0
    assert control.status(known)["running"] is False
    events = [entry["event"] for entry in control.logs(known, 0)]
    assert (events[0], events[-1]) == ("started", "stopped")
    assert set(events) <= {"started", "polling", "stopped"}  # a busy machine may be late to tell of a probe


def test_one_that_can_not_start_says_why(known: Root) -> None:
    with open(f"{known.path}/config.toml", "w", encoding="utf-8") as stream:  # noqa: PTH123
        stream.write("[daemon]\nspeed = 3\n")
    with pytest.raises(DaemonFailed, match=r"daemon\.speed = 3 is not valid"):
        control.start(known, hold=False)
