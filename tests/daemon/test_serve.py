"""Serve a Root with real processes: follow files, answer, hand over, stop, live through faults and deaths."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.configuration import trust
from oracle.app.journal import events
from oracle.daemon.serve import Daemon
from oracle.domain.delivery.receipts import receipt_name
from oracle.store.delivery import leases
from oracle.store.root.lock import vouched_ns
from tests.daemon.boxed import POINTS
from tests.daemon.running import ASKED, UNKNOWN, Served
from tests.disks import Disk
from tests.laws.ledger import assert_like_rebuilt
from tests.wake.stage import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

NEW = "projects/demo/builder/new.md"
NAME = receipt_name("Q-1", "planner", "memory")


# Following ------------------------------------------------------------------------------------------------------------


def follow(served: Served) -> None:
    """Create, edit in place, rename and delete, and see each in the index."""
    path = served.put(NEW, "# First title\n")
    served.until(lambda: served.knows(NEW), "a new file is known")
    with path.open(
        "a", encoding="utf-8"
    ) as stream:  # as an editor that writes in place: the folder's time stands still
        stream.write("\nARENA-228\n")
        stream.seek(0)
    path.write_text("# Second title\n\nARENA-228\n", encoding="utf-8")
    served.until(lambda: served.text_of(NEW) == "Second title", "an edit in place is known")
    moved = path.rename(path.with_name("moved.md"))
    served.until(lambda: served.knows("projects/demo/builder/moved.md") and not served.knows(NEW), "a rename is known")
    moved.unlink()
    served.until(lambda: not served.knows("projects/demo/builder/moved.md"), "a deletion is known")


def test_what_changes_is_indexed_and_its_lag_measured(served: Served) -> None:
    served.start()
    served.until(lambda: served.status()["watching"]["mode"] == "watching", "it is told of what changes")
    follow(served)
    served.until(lambda: served.status()["lag_seconds"]["count"] >= 3, "lags are counted")
    assert served.status()["lag_seconds"]["p99"] >= served.status()["lag_seconds"]["p50"] >= 0
    assert served.stop() == 0
    with Oracle.open(served.root.path) as oracle:
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize(
    ("fault", "reason"), [("no-watches", "no more file watches"), ("network", "is on nfs4"), ("deaf", "did not see")]
)
def test_where_nobody_tells_it_polls_and_says_why_once(served: Served, fault: str, reason: str) -> None:
    served.fault(fault)
    served.start()
    served.until(lambda: served.status()["watching"].get("mode") == "polling", "it polls")
    follow(served)
    assert len(served.said_of("polling", reason)) == 1


def test_a_watcher_that_went_deaf_is_listened_to_again(served: Served) -> None:
    served.start()
    served.fault("deaf")
    served.until(lambda: served.status()["watching"]["mode"] == "polling", "it was found deaf")
    served.heal("deaf")
    served.until(lambda: served.status()["watching"]["mode"] == "watching", "it hears again")
    follow(served)
    served.until(lambda: served.status()["watching"]["mode"] == "watching", "it hears still")
    assert served.said_of("polling", "did not see")


@pytest.mark.parametrize("end", ["deaf", "killed", "stopped"])
def test_a_daemon_vouches_for_what_it_follows_until_it_ends(served: Served, end: str) -> None:
    path = served.put(NEW, "# First title\n")
    served.start()
    served.until(lambda: served.knows(NEW), "a new file is known")
    path.write_text("# Second title\n", encoding="utf-8")
    changed = time.time_ns()
    served.until(lambda: vouched_ns(served.root) > changed, "the edit in place is vouched for")
    assert served.text_of(NEW) == "Second title"
    if end == "deaf":
        served.fault("deaf")
        served.until(lambda: served.status()["watching"]["mode"] == "polling", "it was found deaf")
    elif end == "killed":
        served.kill()
    else:
        served.stop()
    served.until(lambda: vouched_ns(served.root) == 0, "its word is worth nothing now")


# Questions ------------------------------------------------------------------------------------------------------------


def test_what_the_disk_answers_is_delivered_at_once(served: Served) -> None:
    served.start()
    served.ask("Q-1", ASKED)
    served.until(lambda: served.is_answered("Q-1"), "it is answered")
    response = served.response("Q-1")
    assert response["all_verified"] is True
    assert "five tries" in response["answer"]
    served.until(lambda: [seat for seat, _ in served.woken()] == ["planner"], "the planner is woken")
    assert [event["holder"] for event in events(served.squad.oracle) if event["event"] == "claim"] == ["oracle"]


def test_the_rest_goes_to_the_memory_seat_with_a_packet(served: Served) -> None:
    served.start()
    served.ask("Q-1", UNKNOWN)
    packet = Path(served.root.packets, "Q-1.md")
    served.until(lambda: served.state() == "with-memory-seat", "the seat has it")
    served.until(served.woken, "the seat is woken")
    assert UNKNOWN in packet.read_text(encoding="utf-8")
    ((seat, text),) = served.woken()
    assert seat == "memory"
    assert str(packet) in text
    served.squad.deliver("Q-1", "Nobody knows.")
    assert served.state() in ("consumed", "unnotified")


@pytest.mark.parametrize(("question", "seat"), [(ASKED, "planner"), (UNKNOWN, "memory")], ids=["known", "unknown"])
def test_the_seat_of_a_question_is_woken_for_a_packet_alone(served: Served, question: str, seat: str) -> None:
    served.start()
    assert served.ask("Q-1", question, notifies=True) == "attended"
    served.until(served.woken, "somebody is woken")
    assert [(name, "packets/Q-1.md" in text) for name, text in served.woken()] == [(seat, seat == "memory")]
    assert served.squad.recorder.woken() == []
    served.until(lambda: served.squad.inbox().waiting == (), "the word of the question itself is not owed any more")


def test_the_seat_of_a_question_is_woken_by_a_command_when_the_daemon_died_over_it(served: Served) -> None:
    served.fault("die-at-claim")
    process = served.start()
    assert served.ask("Q-1", ASKED, notifies=True) == "attended"
    process.wait(PATIENCE)
    served.squad.oracle.handoffs()
    assert served.squad.recorder.woken() == [("memory", "Q-1")]


def test_the_seat_of_a_question_that_was_set_aside_is_woken(served: Served) -> None:
    served.fault("bad-Q-1")
    served.start()
    served.ask("Q-1", ASKED, notifies=True)
    served.until_said("Q-1", "given up after 5 tries")
    served.until(served.woken, "its seat is told")
    assert [seat for seat, _ in served.woken()] == ["memory"]


def test_a_busy_reader_holds_up_no_answer(served: Served) -> None:
    served.fault("busy-planner")
    names = [f"Q-{number}" for number in range(6)]
    for name in names:
        served.ask(name, ASKED)
    served.start(waits=False)
    served.until(lambda: all(map(served.is_answered, names)), "all are answered")
    assert sum(answered < len(names) for answered in served.tried()) <= 1
    served.heal("busy-planner")
    served.until(lambda: len(served.woken()) == 6, "the planner is woken for each")


def test_a_seat_that_is_not_there_is_answered_for_after_the_bound(served: Served) -> None:
    Path(served.root.path, "config.toml").write_text("[daemon]\nseat_bound = 1\n", encoding="utf-8")
    served.fault("away-memory")
    served.start()
    served.ask("Q-1", UNKNOWN)
    served.until(lambda: served.is_answered("Q-1"), "it is answered for the seat")
    response = served.response("Q-1")
    assert response["answer"] == response["status"] == "not_in_memory_db"
    assert response["searched"]
    assert "was not reached" in response["seat_silent"]


def test_sighup_reads_the_configuration_again_and_a_wrong_one_changes_nothing(served: Served) -> None:
    served.fault("away-memory")
    process = served.start()
    served.ask("Q-1", UNKNOWN)
    served.until(lambda: served.state() == "claimed", "it waits for the seat")
    config = Path(served.root.path, "config.toml")
    config.write_text("[daemon]\nseat_bound = 'x'\n", encoding="utf-8")
    process.send_signal(signal.SIGHUP)
    served.until_said("configuration", "is not valid")
    config.write_text("[daemon]\nseat_bound = 1\n", encoding="utf-8")
    process.send_signal(signal.SIGHUP)
    served.until(lambda: served.is_answered("Q-1"), "the new bound holds")
    assert served.response("Q-1")["status"] == "not_in_memory_db"


def test_a_lease_that_runs_out_is_taken_over(served: Served) -> None:
    served.ask("Q-1", ASKED)
    now = served.squad.oracle.now()
    leases.claim(str(served.squad.folder), NAME, holder="somebody", now=now, lease=timedelta(minutes=9))
    served.start()
    served.until(lambda: served.status()["counts"].get("questions_held"), "the lease is respected")
    assert not served.is_answered("Q-1")
    served.fault("clock", "600")
    served.until(lambda: served.is_answered("Q-1"), "the lease was taken over")
    served.until_said("the clock jumped by +600")


def test_an_item_that_always_fails_is_set_aside_and_hides_no_other(served: Served) -> None:
    served.fault("bad-Q-1")
    served.start()
    served.ask("Q-1", ASKED)
    served.ask("Q-2", ASKED)
    served.until(lambda: served.is_answered("Q-2"), "the other is answered")
    served.until_said("Q-1", "given up after 5 tries")
    (check,) = [check for check in served.squad.oracle.doctor() if check.name == "set aside"]
    assert "nobody thought of this" in check.detail
    assert len(served.said_of("question demo Q-1: KeyError")) == 1
    served.heal("bad-Q-1")
    served.squad.oracle.resume()
    served.until(lambda: served.is_answered("Q-1"), "it is tried again when it is asked for")


# Processes ------------------------------------------------------------------------------------------------------------


def test_one_daemon_serves_a_root(served: Served) -> None:
    first = served.start()
    second = served.start(waits=False)
    assert second.wait(PATIENCE) != 0
    assert "AlreadyRunning" in served.said.read_text()
    assert first.poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_ends_with_0(served: Served, number: int) -> None:
    process = served.start()
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    assert served.said_of("stopped")


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("question", [ASKED, UNKNOWN], ids=["known", "unknown"])
def test_killed_at_any_step_the_next_one_finishes(served: Served, point: str, question: str) -> None:
    served.fault(f"die-at-{point}")
    process = served.start(waits=False)
    served.ask("Q-1", question)

    def is_through() -> bool:
        return process.poll() is not None or served.state() in ("consumed", "with-memory-seat")

    served.until(is_through, "it died, or never came to that step")
    served.kill()
    (served.faults / f"die-at-{point}").unlink()
    served.start()
    wanted = "consumed" if question == ASKED else "with-memory-seat"
    served.until(lambda: served.state() == wanted, "the next one finished")
    served.until(lambda: served.woken(), "somebody is woken")
    assert [text.split(" ")[0] for _, text in served.woken()] == ["Q-1"]
    if question == ASKED:
        assert served.squad.responses() == {"Q-1.json"}


# A judge --------------------------------------------------------------------------------------------------------------

JUDGE = """
import json, os, pathlib, sys, time
folder = pathlib.Path({folder!r})
packet = sys.stdin.read()
found = json.loads(packet[packet.index("{{"):])
topic = next(word for word in ("lease", "printer", "garden", "fridge") if word in found["question"])
with (folder / "asked").open("a") as log:
    log.write(f"{{topic}} {{os.getpid()}}\\n")
end = time.monotonic() + 60
while (folder / f"think-{{topic}}").exists() and time.monotonic() < end:
    time.sleep(0.02)
with (folder / "done").open("a") as log:
    log.write(f"{{topic}}\\n")
print("".join(f"[{{item['handle']}}]" for item in found["evidence"] if topic in item["quote"]) or "none")
"""
TOPICS = {
    topic: f"Who signs for the {topic} of the office, and for how many years does it run?"
    for topic in ("lease", "printer", "garden", "fridge")
}
"""Questions for which there are candidates, and no answer that is sure."""


@pytest.fixture
def judge(served: Served, tmp_path: Path) -> Path:
    """Give the folder of a judge that thinks about a topic as long as the file `think-TOPIC` is there."""
    folder = tmp_path / "judge"
    folder.mkdir()
    (folder / "judge.py").write_text(JUDGE.format(folder=str(folder)), encoding="utf-8")
    for topic in TOPICS:
        text = f"# About office {topic}\n\nWe talked about the office {topic} on Monday.\n"
        served.put(f"projects/demo/builder/{topic}.md", text)
    settings = Path(served.root.path, "config.toml")
    settings.write_text(f"judge = {[sys.executable, str(folder / 'judge.py')]}\n".replace("'", '"'), encoding="utf-8")
    settings.chmod(0o600)
    trust(served.squad.oracle)
    return folder


def asked_of(judge: Path) -> list[str]:
    """Return the topics that the judge was asked about, in order."""
    return [line.split()[0] for line in read(judge / "asked")]


def read(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def assert_answered_once(served: Served, names: list[str]) -> None:
    """Each question has one response, one receipt and one wake-up, and its seat was never asked."""
    served.until(lambda: all(map(served.is_answered, names)), "all are answered")
    served.until(lambda: len(served.woken()) >= len(names), "who asked is woken")
    assert served.squad.responses() == {f"{name}.json" for name in names}
    assert sorted(text.split(" ")[0] for _, text in served.woken()) == sorted(names)
    assert {seat for seat, _ in served.woken()} == {"planner"}
    assert all(served.response(name)["judged_by"] for name in names if name.startswith("J-"))


def test_a_slow_judge_holds_up_no_other_question(served: Served, judge: Path) -> None:
    (judge / "think-lease").touch()
    served.start()
    served.ask("J-1", TOPICS["lease"])
    served.until(lambda: asked_of(judge) == ["lease"], "the judge is asked")
    served.ask("Q-2", ASKED)
    served.ask("J-3", TOPICS["printer"])
    served.until(lambda: served.is_answered("Q-2") and served.is_answered("J-3"), "the others are answered")
    assert not served.is_answered("J-1")
    assert read(judge / "done") == ["printer"]
    (judge / "think-lease").unlink()
    assert_answered_once(served, ["J-1", "Q-2", "J-3"])
    assert sorted(asked_of(judge)) == ["lease", "printer"]
    assert served.stop() == 0


def test_so_many_are_judged_at_a_time(served: Served, judge: Path) -> None:
    for topic in TOPICS:
        (judge / f"think-{topic}").touch()
        served.ask(f"J-{topic}", TOPICS[topic])
    served.start()
    served.until(lambda: len(asked_of(judge)) == 2, "two are judged")
    served.ask("Q-2", ASKED)
    served.until(lambda: served.is_answered("Q-2"), "what needs no judge is answered")
    time.sleep(1.0)  # several rounds
    first = asked_of(judge)
    assert len(first) == 2
    (judge / f"think-{first[0]}").unlink()
    served.until(lambda: len(asked_of(judge)) == 3, "the next one has its turn")
    assert read(judge / "done") == [first[0]]
    for topic in TOPICS:
        (judge / f"think-{topic}").unlink(missing_ok=True)
    assert_answered_once(served, ["Q-2", *(f"J-{topic}" for topic in TOPICS)])
    assert sorted(asked_of(judge)) == sorted(TOPICS)


@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_a_daemon_that_ends_while_it_is_judged_leaves_the_question_to_the_next(
    served: Served, judge: Path, end: str
) -> None:
    (judge / "think-lease").touch()
    served.start()
    served.ask("J-1", TOPICS["lease"])
    served.until(lambda: asked_of(judge) == ["lease"], "the judge is asked")
    if end == "killed":
        served.kill()
    else:
        began = time.monotonic()
        assert served.stop() == 0
        assert time.monotonic() - began < 20  # it would think for a minute
        pid = read(judge / "asked")[0].split()[1]
        served.until(lambda: not Path(f"/proc/{pid}").exists(), "the judge is ended")
    assert not served.is_answered("J-1")
    assert served.woken() == []
    (judge / "think-lease").unlink()
    served.start()
    assert_answered_once(served, ["J-1"])
    assert asked_of(judge) == ["lease", "lease"]


def test_without_a_loop_that_comes_back_the_judge_is_waited_for(served: Served, judge: Path) -> None:
    served.ask("J-1", TOPICS["lease"])
    Daemon(served.root, waker=served.squad.recorder).once()
    assert served.is_answered("J-1")
    assert served.response("J-1")["judged_by"]


# Faults ---------------------------------------------------------------------------------------------------------------


def vanish(served: Served) -> Callable[[], None]:
    aside = Path(served.root.path + ".aside")
    Path(served.root.path).rename(aside)
    return lambda: aside.rename(served.root.path) and None


def unmount(served: Served) -> Callable[[], None]:
    back = vanish(served)
    Path(served.root.path).mkdir()

    def mount() -> None:
        assert not any(Path(served.root.path).iterdir()), "something was made in an empty mount point"
        Path(served.root.path).rmdir()
        back()

    return mount


def flag(name: str) -> Callable[[Served], Callable[[], None]]:
    def begin(served: Served) -> Callable[[], None]:
        served.fault(name)
        return lambda: served.heal(name)

    return begin


def delete_state(served: Served) -> Callable[[], None]:
    shutil.rmtree(served.root.state)
    return lambda: None


def delete_index(served: Served) -> Callable[[], None]:
    for suffix in ("", "-wal", "-shm"):
        Path(served.root.database + suffix).unlink(missing_ok=True)
    return lambda: None


def spoil_index(served: Served) -> Callable[[], None]:
    spoiled = Path(served.root.database + ".spoiled")
    spoiled.write_bytes(b"no database at all" * 400)
    spoiled.rename(served.root.database)
    for suffix in ("-wal", "-shm"):
        Path(served.root.database + suffix).unlink(missing_ok=True)
    return lambda: None


def jump(seconds: str) -> Callable[[Served], Callable[[], None]]:
    def begin(served: Served) -> Callable[[], None]:
        served.fault("clock", seconds)
        return lambda: None

    return begin


def take_records_away(served: Served) -> Callable[[], None]:
    for number in range(25):
        served.put(f"projects/demo/planner/{number}.md", f"# {number}\n")
    served.until(lambda: served.knows("projects/demo/planner/24.md"), "many records are known")
    folder, aside = Path(served.root.path, "projects/demo/planner"), Path(served.root.path + ".planner")
    folder.rename(aside)
    return lambda: aside.rename(folder) and None


FAULTS = {
    "full disk": (flag("full"), "root: ", "the disk is full"),
    "read-only Root": (flag("read-only"), "root: ", "read-only"),
    "vanished Root": (vanish, "root: ", "is gone"),
    "empty mount point": (unmount, "root: ", "is gone"),
    "_state deleted": (delete_state, "_state was deleted", ""),
    "index deleted": (delete_index, "the index was deleted", ""),
    "index spoiled": (spoil_index, "The index was damaged", ""),
    "clock ahead": (jump("86400"), "the clock jumped by +86400", ""),
    "clock back": (jump("-86400"), "the clock jumped by -86400", ""),
    "most records gone": (take_records_away, "index: ", "known records are gone"),
}


LASTING = ("full disk", "read-only Root", "vanished Root", "empty mount point", "most records gone")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_no_spin_and_over_when_its_cause_is(served: Served, fault: str) -> None:
    begin, head, tail = FAULTS[fault]
    assert live_through(served, begin, head, tail, is_lasting=fault in LASTING) == 0


def test_a_disk_that_is_really_full_is_one_line_too(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "home")
    served = Served(tmp_path)

    def begin(_: Served) -> Callable[[], None]:
        disk.spoil("full")
        return lambda: disk.mend("full")

    try:
        assert live_through(served, begin, "root: ", "the disk is full", is_lasting=True) == 0
    finally:
        served.close()
        disk.close()


def live_through(
    served: Served, begin: Callable[[Served], Callable[[], None]], head: str, tail: str, *, is_lasting: bool
) -> int:
    """Begin a fault while a daemon serves, end it, see that it was one line and that all goes on; return how the daemon ended."""
    served.start()
    served.put(NEW, "# One\n")
    served.until(lambda: served.knows(NEW), "it follows")
    before = served.open_files()
    end = begin(served)
    if is_lasting:
        served.until(Idleness(served).is_idle, "it rests: a second in which it used less than a fifth of a core")
        end()
        served.until_said(f"{head}works again")
    later = "projects/demo/builder/later.md"
    served.put(later, "# Later\n")
    served.until(lambda: served.knows(later), "it follows again")
    served.ask("Q-1", ASKED)
    served.until(lambda: served.is_answered("Q-1"), "it answers again")
    served.until_said(head, tail)
    assert len(served.said_of(head, tail)) == 1
    troubles = [line for line in served.lines() if line["level"] != "info" and line["event"] != "polling"]
    assert len(troubles) == 1, troubles  # a busy machine may be late to tell of a probe
    assert served.processes[-1].poll() is None
    served.until(lambda: served.open_files() <= before + 4, "it holds hardly more files open than before")
    return served.stop()


class Idleness:
    """Watches what the daemon uses of the processor, a second at a time."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.began = (time.monotonic(), served.cpu_seconds())

    def is_idle(self) -> bool:
        now = (time.monotonic(), self.served.cpu_seconds())
        elapsed, used = now[0] - self.began[0], now[1] - self.began[1]
        if elapsed < 1.0:
            return False
        self.began = now
        return used < elapsed / 5


@pytest.mark.parametrize("is_on", [True, False])
def test_plans_are_written_on_demand_alone(served: Served, is_on: bool) -> None:
    plans = Path(served.root.plans)
    Path(served.root.join("config.toml")).write_text("[daemon]\nconsolidate_every = 86400\n" if is_on else "[daemon]\n")
    served.start()
    if is_on:
        served.until(lambda: plans.is_dir() and any(plans.iterdir()), "a plan is written")
    path = served.put(NEW, "# Known\n")
    served.until(lambda: served.knows(NEW), f"{path} is known")
    assert plans.exists() == is_on
