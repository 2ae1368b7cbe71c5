"""A sync with nothing to do asks the hub for news and reads nothing else; whatever changes ends that."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.app.delivery.team import init_profile
from oracle.app.hubs.check import check
from tests.hub.pretend import NetworkDown, PretendHub
from tests.hub.sites import Site

if TYPE_CHECKING:
    from collections.abc import Callable

RECORD = "projects/demo/decision/x.md"
RESPONSE = "responses/Q-1.json"


def pass_time(site: Site) -> None:
    """Let enough time pass that the age of every file tells that it did not change since it was read."""
    site.squad.oracle.clock.seconds += 5  # type: ignore[attr-defined]


def ledger_of(site: Site) -> tuple[int, int]:
    status = (site.path / "_state/hub/ledger.json").stat()
    return status.st_ino, status.st_mtime_ns


def is_quiet(site: Site) -> bool:
    """Sync, and return whether the files were not looked at: a sync that does writes its ledger again."""
    before = ledger_of(site)
    site.sync()
    return before == ledger_of(site)


def settle(*sites: Site) -> None:
    """Sync until every machine is quiet."""
    for _ in range(4):
        for site in sites:
            pass_time(site)
            site.sync()
    assert all(is_quiet(site) for site in sites)


@pytest.fixture
def hub() -> PretendHub:
    return PretendHub()


@pytest.fixture
def sites(tmp_path: Path, hub: PretendHub) -> list[Site]:
    """Give two quiet machines with records, an answered question and a file that is refused."""
    made = [Site(tmp_path / name, name, hub.connect(name)) for name in "ab"]
    a, b = made
    for number in range(3):
        a.write(f"projects/demo/decision/{number}.md", f"Number {number}.")
    a.write(RECORD, "Kafka")
    a.write("machine/privacy.md", "- BLOCK: Bluebird\n")
    a.write("shared/no.md", "Bluebird")
    a.squad.ask("Q-1")
    a.squad.deliver("Q-1", "Kafka.")
    for site in made:
        site.sync()
        site.squad.oracle.reconcile()
    settle(a, b)
    return made


def at_hub(hub: PretendHub) -> dict[str, str]:
    return {path: row.sha256 for path, (_, row) in hub.rows.items() if not row.removed}


def test_nothing_to_do_takes_two_statements_and_no_look_at_the_ledger(sites: list[Site]) -> None:
    a, b = sites
    for site in sites:
        site.hub.statements = 0  # type: ignore[attr-defined]
        done = site.sync()
        assert site.statements == 2
        assert done.is_idle
    assert dict(a.sync().refused) == {"shared/no.md": "guard: privacy.md:1, line 1"}
    b.write(RECORD, "mine now")
    settle(b)
    assert b.sync().stranded == (RECORD,)


def edit_a_response(site: Site) -> None:
    content = json.loads((site.path / RESPONSE).read_bytes())
    (site.path / RESPONSE).write_text(json.dumps({**content, "answer": "Pulsar"}, indent=2))


CHANGES: dict[str, Callable[[Site], object]] = {
    "a new record": lambda site: site.write("shared/new.md", "New."),
    "an edit in place": lambda site: site.write(RECORD, "Kafkb"),
    "a record without a heading or text": lambda site: site.write("projects/demo/decision/odd.json", "{"),
    "a record removed": lambda site: (site.path / RECORD).unlink(),
    "a response edited": edit_a_response,
    "a dispatch": lambda site: site.squad.ask("Q-2"),
    "an acknowledgement": lambda site: site.squad.ack("Q-1", "memory", "planner"),
    "other rules": lambda site: site.write("machine/privacy.md", "# nothing is blocked\n"),
    "a pattern of links": lambda site: site.write("projects/demo/link-patterns.toml", "# none\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_each_change_here_is_sent_by_the_next_sync(
    sites: list[Site], hub: PretendHub, change: Callable[[Site], object]
) -> None:
    a, b = sites
    change(a)
    pass_time(a)
    before = dict(hub.rows)
    a.sync()
    assert hub.rows != before
    refused = dict(a.sync().refused)
    assert at_hub(hub) == {path: sha256 for path, sha256 in a.shared().items() if path not in refused}
    settle(a, b)
    assert {path: sha256 for path, sha256 in b.shared().items() if not path.endswith(".claim")} == at_hub(hub)


def watched(site: Site) -> dict[str, tuple[int, ...]]:
    """Return the state of each file and folder that a watcher reports."""
    trees = (site.path / tree for tree in ("projects", "shared", "learnings"))
    tops = [*trees, site.squad.tasks, Path(site.squad.oracle.root.profiles)]
    found = [path for top in tops for path in (top, *top.rglob("*")) if path.exists()]
    stats = ((path, path.stat()) for path in found if path.is_dir() or path.suffix != ".lock")
    return {
        str(path): (0,) if path.is_dir() else (one.st_mtime_ns, one.st_ino, one.st_ctime_ns, one.st_size)
        for path, one in stats
    }


def news_of(site: Site, change: Callable[[Site], object]) -> set[str]:
    """Change something, and return the paths that a watcher would report."""
    before = watched(site)
    change(site)
    after = watched(site)
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def deliver(site: Site) -> None:
    site.squad.ask("Q-3")
    site.squad.deliver("Q-3", "Pulsar.")


WATCHED = {name: change for name, change in CHANGES.items() if name not in ("a response edited", "other rules")} | {
    "an answer": deliver,
    "a whole folder": lambda site: shutil.copytree(site.path / "projects/demo/decision", site.path / "shared/folder"),
    "a folder renamed": lambda site: (site.path / "projects/demo/decision").rename(site.path / "projects/demo/idea"),
    "a hidden file": lambda site: (site.write("shared/.x.md", "no"), site.write("shared/x.md", "yes")),
    "what no hub takes": lambda site: (
        site.write("shared/_aside/x.md", "no"),
        site.write("shared/x.txt", "no"),
        (site.path / "shared/link.md").symlink_to(site.path / RECORD),
        (site.path / "shared/linked").symlink_to(site.path / "projects/demo/decision"),
        site.write("shared/x.md", "yes"),
    ),
    "a new profile": lambda site: (init_profile(site.squad.oracle, "other", ("memory",)), site.squad.ask("Q-4")),
}


@pytest.mark.parametrize("change", WATCHED.values(), ids=WATCHED)
def test_what_a_watcher_reports_is_sent_without_a_look_at_the_rest(
    sites: list[Site], hub: PretendHub, change: Callable[[Site], object]
) -> None:
    a, b = sites
    a.sync(news=news_of(a, change), confirms=True)
    refused = {"shared/no.md"}
    assert at_hub(hub) == {path: sha256 for path, sha256 in a.shared().items() if path not in refused}
    b.sync(news=())
    b.sync(news=())
    assert {path: one for path, one in b.shared().items() if not path.endswith(".claim")} == at_hub(hub)
    assert a.sync(news=()).is_idle
    pass_time(a)
    assert a.sync().pushed == ()
    assert b.sync().is_idle


def test_news_alone_never_overwrite_what_nobody_reported(sites: list[Site]) -> None:
    a, b = sites
    b.write(RECORD, "edited there")
    a.write(RECORD, "Pulsar")
    a.sync(news={str(a.path / RECORD)})
    done = b.sync(news=())
    assert [path for path, _ in done.conflicts] == [RECORD]
    assert "edited there" in {file.read_text() for file in (b.path / RECORD).parent.glob("x.md*")}
    (b.path / RECORD).unlink()
    assert b.sync(news={str(b.path / RECORD)}).placed == (RECORD,)
    (a.path / RECORD).unlink()
    assert a.sync(news={str(a.path / RECORD)}).pushed == (RECORD,)
    assert b.sync(news=()).removed == (RECORD,)
    assert b.read(RECORD) is None


def forget_the_ledger(site: Site) -> None:
    shutil.rmtree(site.path / "_state/hub")


def restore_the_ledger(site: Site) -> None:
    copy = site.path / "_state/copy.json"
    shutil.copy2(site.path / "_state/hub/ledger.json", copy)
    copy.rename(site.path / "_state/hub/ledger.json")


@pytest.mark.parametrize(
    "end",
    [
        forget_the_ledger,
        restore_the_ledger,
        lambda site: check(site.squad.oracle, site.hub, site.membership),
        lambda site: Path(site.squad.oracle.root.database).unlink(),
        lambda site: site.write("projects/demo/decision/y.md", "young"),
    ],
)
def test_what_may_have_changed_is_looked_at(sites: list[Site], end: Callable[[Site], object]) -> None:
    a, _ = sites
    end(a)
    assert not (a.path / "_state/hub/ledger.json").exists() or not is_quiet(a)


def test_news_of_the_hub_end_the_quiet(sites: list[Site], hub: PretendHub) -> None:
    a, b = sites
    a.write(RECORD, "Pulsar")
    pass_time(a)
    a.sync()
    assert b.sync().placed == (RECORD,)
    settle(a, b)
    b.hub.take_home("demo", "reviewer", take=True)
    assert [is_quiet(site) for site in sites] == [False, False]
    settle(a, b)
    hub.id = "another"
    assert [is_quiet(site) for site in sites] == [False, False]


def test_a_visit_that_failed_leaves_nobody_quiet(sites: list[Site]) -> None:
    a, _ = sites
    a.write(RECORD, "Pulsar")
    pass_time(a)
    a.hub.is_down = True  # type: ignore[attr-defined]
    for _ in range(2):
        with pytest.raises(NetworkDown):
            a.sync()
    a.hub.is_down = False  # type: ignore[attr-defined]
    assert a.sync().pushed == (RECORD,)


def test_the_index_holds_every_record_that_a_hub_takes(sites: list[Site]) -> None:
    a, _ = sites
    names = ("projects/demo/a b.md", "learnings/é/x.json", "shared/_x.md", "projects/demo/builder/deep/er/x.md")
    for name in (*names, "projects/demo/odd.json", "shared/large.md"):
        a.write(name, "{" if "odd" in name else "x" * 100)
    (a.path / "shared/large.md").write_bytes(b"x" * 2_000_000)
    a.squad.oracle.reconcile()
    with sqlite3.connect(a.squad.oracle.root.database) as connection:
        known = {path for (path,) in connection.execute("SELECT path FROM record")}
    others = ("responses/", "tasks/")
    assert {path for path in a.shared() if not path.startswith(others) and not path.endswith(".toml")} <= known
    assert set(names) <= set(a.shared())
