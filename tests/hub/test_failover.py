"""The server dies under load and its standby takes over: machines go on by themselves, and nothing that was written is lost."""

from __future__ import annotations

import select
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from oracle.app.hubs import membership
from oracle.app.hubs.check import check
from oracle.app.hubs.following import Follower
from oracle.app.hubs.sync import sync
from oracle.domain.values import replace
from oracle.errors import HubUnreachable
from oracle.store.root import hub as memberships
from tests.hub.cluster import Cluster
from tests.hub.machines import Team
from tests.hub.sites import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 120.0
EACH = 5
"""Syncs that each machine ends before the death and after it."""


@pytest.fixture
def pair(cluster: Cluster) -> Iterator[tuple[Cluster, Cluster]]:
    """Give a server and the standby that follows it."""
    first = Cluster({"synchronous_commit": "on"})
    second = Cluster(standby_of=first)
    yield first, second
    second.close()
    first.close()


class Writer(threading.Thread):
    """A machine on which somebody writes and changes records, each change synced. It connects again whenever that fails."""

    def __init__(self, site: Site) -> None:
        super().__init__(daemon=True)
        self.site = site
        self.must: dict[str, str] = {}
        self.synced = 0
        self.failed = 0
        self.fault: Exception | None = None
        self.is_ending = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.is_ending.is_set():
            try:
                with membership.open_hub(self.site.squad.oracle) as hub:
                    while not self.is_ending.is_set():
                        number += 1
                        path = f"projects/demo/decision/{self.site.name}-{number % 7}.md"
                        self.site.write(path, f"text {number} of {self.site.name}\n")
                        self.must[path] = f"text {number} of {self.site.name}\n"
                        sync(self.site.squad.oracle, hub, hub.membership)
                        self.synced += 1
            except HubUnreachable:
                self.failed += 1
                time.sleep(0.05)
            except Exception as error:  # noqa: BLE001 - the test raises it
                self.fault = error
                return


def until(is_met: Callable[[], bool], writers: list[Writer]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_met():
        for writer in writers:
            if writer.fault:
                raise writer.fault
        assert time.monotonic() < end, [(writer.synced, writer.failed) for writer in writers]
        time.sleep(0.02)


def go_on(writers: list[Writer]) -> None:
    """Wait until each machine has synced some more."""
    begun = [writer.synced for writer in writers]
    until(lambda: all(one.synced >= before + EACH for one, before in zip(writers, begun, strict=True)), writers)


@pytest.mark.slow
@pytest.mark.parametrize("is_synchronous", [True, False], ids=["synchronous", "asynchronous"])
def test_the_standby_takes_over_under_load(
    pair: tuple[Cluster, Cluster], tmp_path: Path, *, is_synchronous: bool
) -> None:
    first, second = pair
    team = Team(first.create_database())
    writers = []
    for name in "abc":
        joined = team.join(name)
        both = joined.membership.dsn.replace(f"host={first.host}", f"host={first.host},{second.host}")
        site = Site(tmp_path / name, name, joined)
        memberships.save(site.squad.oracle.root, replace(joined.membership, dsn=both))
        writers.append(Writer(site))
    if is_synchronous:
        first.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        first.run("SELECT pg_reload_conf()")
        until(lambda: first.run("SELECT sync_state FROM pg_stat_replication") == "sync", writers)
    joined_at = first.run("SELECT pg_current_wal_insert_lsn()")
    until(
        lambda: second.run(f"SELECT pg_last_wal_replay_lsn() >= '{joined_at}'") == "t", writers
    )  # their roles are there
    for writer in writers:
        writer.start()
    go_on(writers)
    if not is_synchronous:  # what is acknowledged from now on is lost with the first server
        second.run("ALTER SYSTEM SET primary_conninfo = ''")
        second.run("SELECT pg_reload_conf()")
        until(lambda: first.run("SELECT count(*) FROM pg_stat_replication") == "0", writers)
        go_on(writers)
    first.kill()
    until(lambda: all(writer.failed for writer in writers), writers)
    second.promote()
    go_on(writers)
    for writer in writers:
        writer.is_ending.set()
        writer.join(PATIENCE)
    assert quiet_differences([writer.site for writer in writers]) == [()] * 3
    everywhere = [writer.site.shared() for writer in writers]
    assert everywhere == [everywhere[0]] * 3
    for writer in writers:
        for path, text in writer.must.items():
            assert [other.site.read(path) for other in writers] == [text] * 3


def test_a_connection_that_was_lost_is_opened_again(cluster: Cluster, team: Team, tmp_path: Path) -> None:
    site = Site(tmp_path / "a", "a", team.join("a"))
    follower = Follower(site.squad.oracle)
    follower.sync()
    lose_connections(cluster)
    with pytest.raises(HubUnreachable):
        follower.sync()
    site.write("shared/plan/a.md", "written meanwhile")
    assert follower.sync().pushed == ("shared/plan/a.md",)
    lose_connections(cluster)
    select.select([follower.fileno()], [], [], PATIENCE)
    follower.take_hint()  # what wakes the daemon is no hint
    with suppress(HubUnreachable):
        follower.sync()
    follower.sync()
    follower.close()


def lose_connections(cluster: Cluster) -> None:
    cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'oracle%'")


def quiet_differences(sites: list[Site]) -> list[tuple[object, ...]]:
    """Sync until nobody has news, correct what differs, and return what still does."""
    opened = [membership.open_hub(site.squad.oracle) for site in sites]
    try:
        for _ in range(2):
            for site, hub in zip(sites, opened, strict=True):
                sync(site.squad.oracle, hub, hub.membership)
                check(site.squad.oracle, hub, hub.membership, fixes=True)
        return [
            check(site.squad.oracle, hub, hub.membership).differences for site, hub in zip(sites, opened, strict=True)
        ]
    finally:
        for hub in opened:
            hub.close()
