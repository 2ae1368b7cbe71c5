"""The parts of the daemon by themselves: attempts, log, loop's intervals, metrics, units."""

from __future__ import annotations

import json
import logging
import os
import platform
import plistlib
import re
import time
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.delivery.team import open_team
from oracle.app.delivery.wakeups import enqueue_question
from oracle.app.queries import attend
from oracle.daemon import control, listening, memory
from oracle.daemon.index_loop import LONGEST, LOOK_EVERY, SHARE, Changes, IndexLoop, Watcher
from oracle.daemon.listening import Listener as Listening
from oracle.daemon.listening import RootGuard
from oracle.daemon.serve import Daemon
from oracle.daemon.stats import FIRST_REST, LONGEST_REST, Attempts, Stats, render
from oracle.domain.delivery.receipts import ReceiptName
from oracle.errors import AlreadyRunning, DiskFailure, LockTimeout, TreeEmptied
from oracle.index.fresh import Index
from oracle.store.daemon import log as daemon_log
from oracle.store.daemon import state as store
from oracle.store.daemon.state import Instance
from oracle.store.delivery import inbox
from oracle.store.delivery.entries import InboxEntry, InboxKind
from oracle.store.root.layout import Root
from oracle.store.root.lock import vouched_ns
from tests.app.test_delivery_writes import ALLOWED
from tests.daemon.running import ASKED, KNOWN, UNKNOWN
from tests.laws.recorder import recording

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.squad import Squad
    from tests.wake.stage import Stage


class Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture
def heard() -> Listener:
    return Listener()


@pytest.fixture
def attempts(heard: Listener) -> Attempts:
    log = logging.Logger("test")
    log.addHandler(heard)
    made = Attempts(log, Stats(), clock=lambda: made.now)  # type: ignore[attr-defined]
    made.now = 0.0  # type: ignore[attr-defined]
    return made


def failing(error: Exception):
    def work() -> None:
        raise error

    return work


def test_a_fault_is_heard_once_until_it_changes_or_ends(attempts: Attempts, heard: Listener) -> None:
    for number in range(3):
        full = DiskFailure(f"/m/_state/new.{number}.7 could not be written: the disk is full.")
        assert attempts.run("index", failing(full)) is full
    attempts.run("index", failing(LockTimeout("The lock is held by process 7 (x, for 3 s).")))
    attempts.run("index", failing(LockTimeout("The lock is held by process 9 (x, for 5 s).")))
    assert attempts.run("index", lambda: None) is None
    assert attempts.run("index", lambda: None) is None
    heads = [message.split(":")[0:2] for message in heard.messages]
    assert len(heads) == 3
    assert heard.messages[-1] == "index: works again"


def test_what_nobody_foresaw_is_kept_from_the_others(attempts: Attempts, heard: Listener) -> None:
    assert isinstance(attempts.run("one", failing(ZeroDivisionError("x"))), ZeroDivisionError)
    assert attempts.run("other", lambda: None) is None
    assert heard.messages == ["one: ZeroDivisionError: x"]


def test_an_item_rests_longer_each_time(attempts: Attempts) -> None:
    rests = []
    for _ in range(8):
        attempts.run("index", failing(OSError("x")))
        rests.append(attempts.rest_of("index"))
    assert rests == sorted(rests)
    assert (rests[0], rests[-1]) == (FIRST_REST, LONGEST_REST)
    attempts.now = LONGEST_REST  # type: ignore[attr-defined]
    assert not attempts.rests("index")


def test_a_warning_is_heard_once(attempts: Attempts, heard: Listener) -> None:
    for number in range(4):
        attempts.warn(f"planner was not woken (try {number})")
    assert len(heard.messages) == 1


def test_the_log_rotates_and_reads_back_in_order(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "_state").mkdir()
    log = logging.Logger("daemon")
    handler = daemon_log.JsonLines(Root(str(root)))
    monkeypatch.setattr(daemon_log, "MOST_BYTES", 2000)
    log.addHandler(handler)
    for number in range(100):
        log.info("line %d", number, extra={"event": "test", "fields": {"number": number}})
    found = [entry["number"] for entry in daemon_log.read(Root(str(root)))]
    assert found == list(range(100 - len(found), 100))
    assert 20 < len(found) < 100
    names = {path.name for path in (root / "_state").iterdir()}
    assert names == {"daemon.log", *(f"daemon.log.{number}" for number in range(1, daemon_log.MOST_FILES + 1))}
    assert {path.stat().st_mode & 0o777 for path in (root / "_state").iterdir()} == {0o600}


def test_a_line_that_could_not_be_written_is_written_later(root: Path) -> None:
    log = logging.Logger("daemon")
    log.addHandler(daemon_log.JsonLines(Root(str(root))))
    log.error("the disk is full")
    (root / "_state").mkdir()
    log.info("it works again")
    messages = [json.loads(line)["message"] for line in (root / "_state/daemon.log").read_text().splitlines()]
    assert messages == ["the disk is full", "it works again"]


@pytest.mark.parametrize(
    ("cost", "watched", "polled"), [(0.0, LOOK_EVERY, LOOK_EVERY), (0.5, 0.5 / SHARE, LOOK_EVERY), (9.0, LONGEST, 90.0)]
)
def test_every_file_is_looked_at_as_often_as_it_may_cost(cost: float, watched: float, polled: float) -> None:
    loop = IndexLoop(lambda: None, Stats(), logging.Logger("test"))  # type: ignore[arg-type,return-value]
    loop._cost = cost
    assert (loop.every(is_watched=True), loop.every(is_watched=False)) == (watched, polled)


class Failing:
    """An Oracle whose index, or a function, that fails as often as it is told to."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0
        self.index = self.database = self
        self.root = Root("/nowhere")
        self.in_memory = False

    def __call__(self, *_: object, **__: object) -> bool:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return True

    follow = connect = __call__


def test_a_turn_that_failed_is_not_over_until_one_went_well() -> None:
    oracle = Failing(DiskFailure("The disk is full."), DiskFailure("The disk is full."))
    loop = IndexLoop(lambda: oracle, Stats(), logging.Logger("test"))  # type: ignore[arg-type,return-value]
    loop._measure = lambda _: None  # type: ignore[method-assign,assignment]
    for _ in range(2):
        with pytest.raises(DiskFailure):
            loop.turn(set(), is_changed=False, is_watched=True)
        assert loop.rest(is_watched=True) == 0
    for _ in range(2):
        loop.turn(set(), is_changed=False, is_watched=True)
    assert oracle.calls == 3


def test_an_index_that_is_damaged_while_it_is_measured_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = Failing()
    monkeypatch.setattr("oracle.daemon.index_loop.read_index_state", lambda *_, **__: None)
    loop = IndexLoop(lambda: oracle, Stats(), logging.Logger("test"))  # type: ignore[arg-type,return-value]
    loop.turn(set(), is_changed=False, is_watched=True)
    assert loop.rest(is_watched=True) == 0


@pytest.mark.parametrize(("is_flood", "wanted"), [(True, [True, True]), (False, [True, False])])
def test_after_a_flood_of_changes_every_file_is_looked_at(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, is_flood: bool, wanted: list[bool]
) -> None:
    """The system drops changes when too many come at once, and says nothing."""
    looks: list[bool] = []
    daemon = Daemon(Root(str(root)))
    monkeypatch.setattr(Index, "follow", lambda _, *, full, **__: looks.append(full) or True)
    listener = Listening(daemon.root, daemon._open, daemon.stats, daemon.log, lambda: None)
    monkeypatch.setattr(listener, "keep", lambda: False)
    guard = RootGuard(daemon.root, None, daemon.stats, daemon.log)  # type: ignore[arg-type]
    for flood in (False, is_flood):
        changes = Changes(records=True, is_flood=flood)
        monkeypatch.setattr(listener, "take", lambda changes=changes: changes)
        daemon._follow(guard, listener)
    assert looks == wanted


@pytest.mark.parametrize(
    ("reported", "is_done", "vouched"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_a_daemon_vouches_for_what_was_reported_and_indexed(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, reported: bool, is_done: bool, vouched: bool
) -> None:
    daemon = Daemon(Root(str(root)))
    listener = Listening(daemon.root, daemon._open, daemon.stats, daemon.log, lambda: None)
    monkeypatch.setattr(Watcher, "start", lambda watcher, paths: setattr(watcher, "paths", tuple(paths)))
    monkeypatch.setattr(Watcher, "is_listening", property(lambda _: True))
    monkeypatch.setattr(listening, "PROBE_EVERY", 0.0)
    with Instance(daemon.root) as instance:
        guard = RootGuard(daemon.root, instance, daemon.stats, daemon.log)
        listener._watcher._changes = Changes(probe=True)  # the word of an earlier watcher
        daemon._follow(guard, listener)
        assert vouched_ns(daemon.root) == 0
        monkeypatch.setattr(Index, "follow", lambda *_, **__: is_done)
        before = time.time_ns()
        listener._watcher._changes = Changes(records=True, probe=reported)
        daemon._follow(guard, listener)
        assert (before <= vouched_ns(daemon.root) <= time.time_ns()) == vouched
        listener._go_deaf("it did not see the probe")
        daemon._follow(guard, listener)
        assert vouched_ns(daemon.root) == 0


def test_a_status_that_could_not_be_written_is_written_next(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "write_status", writing := Failing(DiskFailure("The disk is full.")))
    stats = Stats()
    guard = RootGuard(Root(str(root)), None, stats, logging.Logger("test"))  # type: ignore[arg-type]
    stats.count("looks")
    with pytest.raises(DiskFailure):
        guard.write_status()
    assert guard.rest() <= 0
    guard.write_status()
    assert guard.rest() > 0
    assert writing.calls == 2


@pytest.mark.parametrize(("can_write", "told"), [(False, "root"), (True, "watcher")])
def test_a_full_disk_is_the_fault_of_the_root_whoever_meets_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, can_write: bool, told: str
) -> None:
    full = DiskFailure("The disk is full.")
    monkeypatch.setattr(store, "write_status", Failing(*([] if can_write else [full])))
    daemon = Daemon(Root(str(root)))
    guard = RootGuard(daemon.root, None, daemon.stats, daemon.log)  # type: ignore[arg-type]
    listener = Listening(daemon.root, daemon._open, daemon.stats, daemon.log, lambda: None)
    monkeypatch.setattr(listener, "keep", Failing(full))
    daemon._follow(guard, listener)
    assert [item for item in ("root", "watcher") if daemon._attempts.rests(item)] == [told]


def test_a_root_that_goes_away_while_it_is_looked_at_is_the_fault_of_the_root(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = Daemon(Root(str(root)))
    guard = RootGuard(daemon.root, None, daemon.stats, daemon.log)  # type: ignore[arg-type]
    listener = Listening(daemon.root, daemon._open, daemon.stats, daemon.log, lambda: None)
    monkeypatch.setattr(listener, "keep", lambda: False)

    def lose(*_: object, **__: object) -> None:
        root.rename(root.with_name("aside"))
        daemon._open().warn("The Root can't be written.")
        raise TreeEmptied("Known records are gone.")

    heard: list[logging.LogRecord] = []
    monkeypatch.setattr(daemon.log, "handle", heard.append)
    monkeypatch.setattr(daemon._index_loop, "turn", lose)
    daemon._follow(guard, listener)
    assert [item for item in ("root", "index") if daemon._attempts.rests(item)] == ["root"]
    assert [record.levelname for record in heard] == ["ERROR"]


def test_a_probe_that_could_not_be_moved_is_moved_next(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "move_probe", moving := Failing(*[DiskFailure("The disk is full.")] * 2))
    listener = Listening(Root(str(root)), lambda: None, Stats(), logging.Logger("test"), lambda: None)  # type: ignore[arg-type,return-value]
    for _ in range(2):
        with pytest.raises(DiskFailure):
            listener.keep()
    assert moving.calls == 2


@pytest.mark.parametrize(
    ("path", "is_edit", "found"),
    [
        ("projects/p/builder/a.md", True, Changes(records=True, edited={"projects/p/builder"})),
        ("projects/p/builder/a.md", False, Changes(records=True)),
        ("projects/p/builder/.a.md.swp", True, Changes(records=True)),
        ("_state/inbox/wake-1.json", False, Changes(queue=True)),
        ("_state/probe/alive", False, Changes(probe=True)),
        ("tasks/p/patrol/handoffs/Q__a__b.json", False, Changes(queue=True)),
        ("tasks/p/patrol/handoffs/Q__a__b.json.claim", False, Changes()),
        ("tasks/p/patrol/handoffs/.receipts.lock", False, Changes()),
        ("tasks/p/memory/TODO.md", False, Changes()),
    ],
)
def test_a_change_is_whose_news_it_is(path: str, is_edit: bool, found: Changes) -> None:
    changes = Changes()
    changes.add(Root("/m"), f"/m/{path}", is_edit=is_edit)
    assert changes == found


def test_metrics_are_lines_that_prometheus_reads() -> None:
    stats = Stats()
    stats.count("looks", 3)
    stats.note_lag(0.25)
    stats.set("watching", {"mode": "watching", "folders": ["a", "b"]})
    text = render({"running": True, **stats.as_json()})
    assert 'memory_oracle_events_total{kind="looks"} 3\n' in text
    assert 'memory_oracle_lag_seconds{quantile="0.99"} 0.25\n' in text
    assert "memory_oracle_watched_folders 2\n" in text
    assert (
        text.count("# TYPE ")
        == text.count("# HELP ")
        == len({line.split("{")[0].split()[0] for line in text.splitlines() if line[0] != "#"})
    )
    assert render({"running": False, **stats.as_json()}).splitlines()[-1] == "memory_oracle_up 0"


def test_a_systemd_unit_quotes_what_systemd_would_expand() -> None:
    made = control.unit(Root('/m/100% "$x'), hold=True, manager="systemd", environ={"HOME": "/h"})
    (line,) = [line for line in made.text.splitlines() if line.startswith("ExecStart=")]
    assert line.endswith('"/m/100%% \\"$$x" "--hold"')
    assert made.path.startswith("/h/.config/systemd/user/memory-oracle-")


def test_a_launchd_plist_holds_the_words_as_they_are(tmp_path: Path) -> None:
    made = control.unit(Root("/m/a & b"), hold=False, manager="launchd", environ={"HOME": str(tmp_path)})
    assert plistlib.loads(made.text.encode())["ProgramArguments"][-2:] == ["--memory-dir", "/m/a & b"]
    assert control.install(made)
    assert not control.install(made)


def test_two_instances_exclude_each_other_and_name_the_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.0)
    known = Root(str(root))
    assert not store.is_running(known)
    with store.Instance(known) as first:
        assert first.is_current
        assert store.is_running(known)
        with pytest.raises(AlreadyRunning, match=str(os.getpid())):
            store.Instance(known).__enter__()
        os.unlink(known.daemon_lock)  # noqa: PTH108
        assert not first.is_current
        first.renew()
        assert first.is_current
    assert not store.is_running(known)


def test_one_pass_writes_nothing_outside_of_its_places(squad: Squad, monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 2, for the daemon: a record, a question that the disk answers and one that it does not."""
    monkeypatch.setenv("TMUX_TMPDIR", str(squad.home))
    squad.oracle.init()
    folder = squad.path / "projects/demo/builder"
    folder.mkdir(parents=True)
    (folder / "retry.md").write_text(KNOWN, encoding="utf-8")
    for task_id, question in (("Q-1", ASKED), ("Q-2", UNKNOWN)):
        squad.ask(task_id, objective=question, kind="query", notifies=False)
    with recording() as acts:
        stats = Daemon(squad.oracle.root, waker=squad.recorder).once()
    agents = squad.home / ".agents"
    names = {
        os.path.relpath(act.path, agents) for act in acts if act.path not in (str(squad.recorder.path), os.devnull)
    }
    derived = re.compile(r"memory/_(back)?links(/.*)?")
    assert [name for name in sorted(names) if not (ALLOWED.fullmatch(name) or derived.fullmatch(name))] == []
    assert {"memory/responses/Q-1.json", "memory/_state/packets/Q-2.md", "memory/_state/daemon.lock"} <= names
    assert stats["counts"]["questions_answered"] == stats["counts"]["questions_with_seat"] == 1  # type: ignore[index]


def test_a_wake_up_that_a_process_died_over_comes_before_those_put_off(squad: Squad) -> None:
    squad.oracle.init()
    for task_id in ("T-1", "T-2"):
        squad.ask(task_id, target="reviewer", notifies=False)
    put_off, begun = (
        InboxEntry(
            InboxKind.WAKE,
            ("demo", task_id, "planner", "reviewer", "reviewer", ""),
            {"project": "demo", "task_id": task_id, "seat": "reviewer", "text": f"{task_id} waits.", "folder": ""},
            due_at=due,
            tries=tries,
        )
        for task_id, due, tries in (("T-1", 1.0, 3), ("T-2", 2.0, 0))
    )
    for entry in (put_off, begun):
        assert inbox.add(squad.oracle.root, entry)
    loop = Daemon(squad.oracle.root, waker=squad.recorder)._work_loop
    loop._has_work = True  # something new lies on the desk: one is sent all the same
    loop.round()
    assert squad.recorder.woken() == [("reviewer", "T-2")]
    loop._has_work = False
    loop.round()
    assert squad.recorder.woken() == [("reviewer", "T-2"), ("reviewer", "T-1")]


def test_word_of_a_question_that_came_while_others_were_looked_at_waits_for_its_packet(
    squad: Squad, monkeypatch: pytest.MonkeyPatch
) -> None:
    squad.oracle.init()
    look = attend.open_questions

    def look_a_moment_too_early(oracle: Oracle, project: str) -> list[attend.Asked]:
        monkeypatch.setattr(attend, "open_questions", look)
        found = look(oracle, project)
        squad.ask("Q-1", objective=UNKNOWN, kind="query", notifies=False)
        enqueue_question(oracle, open_team(oracle, project), ReceiptName("Q-1", "planner", "memory"), text="Q-1 waits.")
        return found

    loop = Daemon(squad.oracle.root, waker=squad.recorder)._work_loop
    monkeypatch.setattr(attend, "open_questions", look_a_moment_too_early)
    assert loop.round() <= 1
    assert squad.recorder.woken() == []
    loop.round()
    loop.round()
    assert squad.recorder.woken() == [("memory", "Q-1")]


def test_a_seat_in_a_real_pane_is_told_where_its_packet_is(
    squad: Squad, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", stage.socket)
    squad.oracle.init()
    prompts = stage.box("demo-memory", size=(200, 30))
    squad.ask("Q-1", objective=UNKNOWN, kind="query", notifies=False)
    Daemon(squad.oracle.root).once()
    packet = squad.path / "_state/packets/Q-1.md"
    assert [str(packet) in prompt for prompt in prompts.read()] == [True]
    assert UNKNOWN in packet.read_text(encoding="utf-8")
    (item,) = squad.oracle.handoffs().items
    assert item.handoff.state.step.value == "with-memory-seat"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library decides for itself")
def test_the_memory_of_large_texts_is_given_back() -> None:
    assert memory.spare()
