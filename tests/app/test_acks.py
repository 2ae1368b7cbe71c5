"""Whether a dispatch was acknowledged: receipt, pane, DELIVERY.md, remote commit, each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.app.delivery.acknowledge import check
from oracle.errors import InvalidName, UsageError
from tests.app.gitbox import GitBox
from tests.wake.stage import Stage, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.squad import Squad


@pytest.fixture(autouse=True)
def no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", str(tmp_path / "no-server"))


def words(squad: Squad, task_id: str = "T1", **more: object) -> dict[str, str]:
    return {sign.name: sign.word for sign in check(squad.oracle, "demo", task_id, **more)}


def test_nothing_was_dispatched(squad: Squad):
    assert set(words(squad).values()) == {"missing"}


def test_dispatch_alone_is_no_acknowledgement(squad: Squad):
    squad.ask("T1", target="builder")
    squad.ask("T10", target="builder", stacks=True)
    squad.complete("T10", "builder", "planner")
    assert words(squad) == {"receipt": "ok", "pane": "missing", "delivery": "missing", "commit": "missing"}


def test_seat_that_builds_nothing_owes_no_commit(squad: Squad):
    squad.ask("T1", target="reviewer")
    assert words(squad)["commit"] == "not expected"


def test_delivery_is_seen_also_when_a_later_one_took_its_place(squad: Squad):
    squad.ask("T1", target="builder")
    squad.complete("T1", "builder", "planner")
    squad.complete("T2", "builder", "planner")
    assert words(squad)["delivery"] == "ok"


def test_pushed_branch_is_seen_once_it_was_fetched(squad: Squad, tmp_path: Path):
    repo, remote = GitBox(tmp_path / "repo"), GitBox(tmp_path / "remote")
    repo.git("remote", "add", "origin", str(remote.folder))
    squad.ask("T1", target="builder")
    remote.git("checkout", "-q", "-b", "feat/T1")
    remote.commit("bound the retries")
    assert words(squad)["commit"] == "missing"
    [*_, sign] = check(squad.oracle, "demo", "T1", fetch=True)
    assert (sign.held, sign.detail.endswith("bound the retries")) == (True, True)


def test_pane_that_shows_the_task_is_seen(squad: Squad, stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", stage.socket)
    squad.ask("T1", target="builder")
    pane = stage.session("demo-builder", "printf 'I read T10 now'; exec sleep 60")
    until(lambda: "T10" in stage.tmux("capture-pane", "-p", "-t", pane), "the pane shows it")
    assert words(squad)["pane"] == "missing"
    stage.session("other", "exec sleep 60")  # a server without sessions ends
    stage.tmux("kill-session", "-t", "=demo-builder:")
    pane = stage.session("demo-builder", "printf 'I read T1 now'; exec sleep 60")
    until(lambda: "T1" in stage.tmux("capture-pane", "-p", "-t", pane), "the pane shows it")
    assert words(squad)["pane"] == "ok"


@pytest.mark.parametrize(
    ("task_id", "more", "error"),
    [
        ("../x", {}, InvalidName),
        ("T1", {"target": "stranger"}, UsageError),
        ("T1", {"remote": "--upload-pack=x"}, UsageError),
        ("T1", {"branch": "--output=x"}, UsageError),
    ],
)
def test_wrong_calls(squad: Squad, task_id: str, more: dict[str, str], error: type[Exception]):
    squad.ask("T1", target="builder")
    with pytest.raises(error):
        check(squad.oracle, "demo", task_id, **more)
