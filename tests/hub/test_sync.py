"""Files of one machine reach the others, and nothing of another's is ever overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.app.hubs.check import check, move_home, rebuild
from oracle.domain.values import replace
from oracle.errors import Blocked, TreeEmptied
from tests.hub.pretend import NetworkDown, PretendHub
from tests.hub.sites import Site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from oracle.app.hubs.ports import Hub


@pytest.fixture
def hub() -> PretendHub:
    return PretendHub()


@pytest.fixture(params=["pretended", "postgresql"])
def sites(request: pytest.FixtureRequest, tmp_path: Path) -> list[Site]:
    """Give three machines that joined one hub, in memory or in a database."""
    if request.param == "pretended":
        join: Callable[[str], Hub] = request.getfixturevalue("hub").connect
    else:
        join = request.getfixturevalue("team").join
    return [Site(tmp_path / name, name, join(name)) for name in "abc"]


@pytest.fixture
def pretended(tmp_path: Path, hub: PretendHub) -> list[Site]:
    """Give three machines that joined a hub in memory."""
    return [Site(tmp_path / name, name, hub.connect(name)) for name in "abc"]


def settle(*sites: Site) -> None:
    """Sync until nobody has news."""
    for _ in range(6):
        if not [site for site in sites if not site.sync().is_idle]:
            return
    raise AssertionError("the machines never agree")


RECORD = "projects/demo/decision/x.md"


def test_what_is_written_on_one_machine_is_found_on_the_others(sites: list[Site]):
    a, b, c = sites
    a.write(RECORD, "---\ntitle: Queue\n---\n\nWe use Kafka for the queue.\n")
    assert RECORD in a.sync().pushed
    assert b.sync().placed == (RECORD,)
    assert c.sync().placed == (RECORD,)
    assert b.read(RECORD) == a.read(RECORD)
    assert [f"{hit.record.slug}.md" for hit in b.squad.oracle.search("Kafka queue")] == [RECORD]


def test_a_question_is_answered_on_another_machine_exactly_once(sites: list[Site]):
    a, b, c = sites
    a.sync()
    b.hub.take_home("demo", "memory", take=True)
    settle(*sites)
    asked = a.squad.ask("Q-1")
    assert asked.wake_up.result == "attended"
    settle(*sites)
    assert b.squad.recorder.woken() == [("memory", "Q-1")]
    assert a.squad.recorder.woken() == c.squad.recorder.woken() == []
    b.squad.deliver("Q-1", "Kafka.")
    settle(*sites)
    assert a.squad.response("Q-1")["answer"] == "Kafka."
    assert a.squad.recorder.woken() == [("planner", "Q-1")]
    assert b.squad.recorder.woken() == [("memory", "Q-1")]
    assert c.squad.recorder.woken() == []
    assert "Q-1__planner__memory.json.consumed" in a.squad.receipts()
    assert "Q-1" in a.squad.text("memory/DELIVERY.md")
    a.squad.ack("Q-1", "memory", "planner")
    settle(*sites)
    assert [site.squad.states()["Q-1"] for site in sites] == ["acked"] * 3
    assert a.shared() == b.shared() == c.shared()


# Whose a file is ------------------------------------------------------------------------------------------------------

SEATED = "projects/demo/builder/x.md"


@pytest.mark.parametrize("path", [RECORD, SEATED, "shared/x.md", "learnings/x.json", "projects/demo/people/x.md"])
def test_an_edit_and_a_removal_follow_the_file(sites: list[Site], path: str):
    a, b, _ = sites
    a.write(path, "1")
    settle(*sites)
    a.write(path, "22")
    settle(*sites)
    assert [site.read(path) for site in sites] == ["22"] * 3
    (a.path / path).unlink()
    settle(*sites)
    assert [site.read(path) for site in sites] == [None] * 3
    assert b.sync().stranded == ()


@pytest.mark.parametrize("path", [RECORD, SEATED])
def test_an_edited_copy_is_named_and_never_sent(sites: list[Site], path: str):
    a, b, c = sites
    a.write(path, "1")
    settle(*sites)
    b.write(path, "not mine")
    assert b.sync().stranded == (path,)
    a.write(path, "22")
    settle(a, c)
    assert c.read(path) == "22"
    done = b.sync()
    assert [one for one, _ in done.conflicts] == [path]
    (kept,) = (b.path / path).parent.glob("*.kept-*")
    assert {b.read(path), kept.read_text()} == {"22", "not mine"}


def test_a_removed_copy_comes_back(sites: list[Site]):
    a, b, _ = sites
    a.write(RECORD, "1")
    settle(*sites)
    (b.path / RECORD).unlink()
    settle(*sites)
    assert a.read(RECORD) == b.read(RECORD) == "1"


def test_of_two_records_of_one_name_both_stay(sites: list[Site]):
    a, b, c = sites
    a.write(RECORD, "of a")
    b.write(RECORD, "of b")
    settle(*sites)
    assert (a.read(RECORD), b.read(RECORD), c.read(RECORD)) == ("of a", "of b", "of a")
    (kept,) = (b.path / RECORD).parent.glob("*.kept-*")
    assert kept.read_text() == "of a"
    (b.path / RECORD).rename(b.path / "projects/demo/decision/y.md")
    settle(*sites)
    assert [site.read(RECORD) for site in sites] == ["of a"] * 3
    assert [site.read("projects/demo/decision/y.md") for site in sites] == ["of b"] * 3


def test_the_same_files_on_machines_that_join_are_no_conflict(sites: list[Site]):
    for site in sites:
        site.write(RECORD, "the same")
        site.write(SEATED, "the same")
    settle(*sites)
    assert [site.sync().conflicts for site in sites] == [()] * 3


def test_a_seat_that_moved_is_written_from_its_new_home_alone(sites: list[Site]):
    a, b, c = sites
    a.write(SEATED, "1")
    settle(*sites)
    a.write(SEATED, "written by the dead")
    b.hub.take_home("demo", "builder", take=True)
    b.sync()
    b.write(SEATED, "22")
    settle(b, c)
    done = a.sync()
    assert [path for path, _ in done.conflicts] == [SEATED]
    settle(*sites)
    assert [site.read(SEATED) for site in sites] == ["22"] * 3
    (kept,) = (a.path / SEATED).parent.glob("*.kept-*")
    assert kept.read_text() == "written by the dead"


def test_what_a_machine_wrote_for_a_seat_that_moved_stays_there_and_is_named(pretended: list[Site], hub: PretendHub):
    a, b, _ = pretended
    settle(*pretended)
    b.hub.take_home("demo", "builder", take=True)
    a.write(SEATED, "late")
    assert a.sync().stranded == (SEATED,)
    assert SEATED not in hub.rows


# What may not leave -----------------------------------------------------------------------------------------------------

TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (RECORD, f"The token is {TOKEN}."),
        ("shared/x.json", '{"token": "' + TOKEN.replace("a", "\\u0061") + '"}'),
        (SEATED, "Project Bluebird starts on Monday."),
        ("projects/demo/decision/Bluebird.md", "A plan."),
        ("machine/network.json", '{"host": "10.1.2.3"}'),
        ("projects/demo/dev_env.json", '{"shell": "zsh"}'),
    ],
)
def test_secrets_and_blocked_words_never_reach_the_hub(pretended: list[Site], hub: PretendHub, path: str, text: str):
    a, b, _ = pretended
    a.write("machine/privacy.md", "- BLOCK: Bluebird\n")
    a.write(path, text)
    a.write("projects/demo/decision/plain.md", "A plain record.")
    done = a.sync()
    assert done.pushed == ("projects/demo/decision/plain.md",)
    assert all(path not in (one, reason) for one, reason in done.refused) or dict(done.refused)[path].startswith(
        "guard: "
    )
    said = repr([(name, row.content) for name, (_, row) in hub.rows.items()])
    assert not any(word in said for word in (TOKEN, "Bluebird", "10.1.2.3", "zsh"))
    assert TOKEN not in repr(done)
    b.sync()
    assert b.read(path) is None


def test_a_refusal_ends_with_its_rule(sites: list[Site]):
    a, *_ = sites
    a.write("machine/privacy.md", "- BLOCK: Bluebird\n")
    a.write(RECORD, "Bluebird")
    assert dict(a.sync().refused) == {RECORD: "guard: privacy.md:1, line 1"}
    a.write("machine/privacy.md", "# nothing is blocked any more\n")
    assert a.sync().pushed == (RECORD,)
    assert a.sync().refused == ()


# Removals, crashes, backups ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "gone", "asks"), [(3, 3, False), (30, 5, False), (30, 6, False), (30, 7, True), (30, 30, True)]
)
def test_many_removals_at_once_must_be_confirmed(sites: list[Site], written: int, gone: int, asks: bool):
    a, b, _ = sites
    for number in range(written):
        a.write(f"projects/demo/decision/{number:02}.md", str(number))
    settle(*sites)
    for number in range(gone):
        (a.path / f"projects/demo/decision/{number:02}.md").unlink()
    if asks:
        with pytest.raises(TreeEmptied):
            a.sync()
        b.sync()
        assert b.read("projects/demo/decision/00.md") == "0"
    a.sync(confirms=True)
    settle(*sites)
    assert len(list((b.path / "projects/demo/decision").iterdir())) == written - gone


def test_the_answer_to_a_push_may_get_lost(sites: list[Site], monkeypatch: pytest.MonkeyPatch):
    a = sites[0]
    a.write(RECORD, "1")
    settle(*sites)
    a.write(RECORD, "22")
    send = a.hub.push

    def lose(rows: object) -> object:
        send(rows)
        raise NetworkDown

    monkeypatch.setattr(a.hub, "push", lose)
    with pytest.raises(NetworkDown):
        a.sync()
    monkeypatch.undo()
    a.write(RECORD, "333")
    settle(*sites)
    assert [site.read(RECORD) for site in sites] == ["333"] * 3
    assert not list((a.path / RECORD).parent.glob("*.kept-*"))


@pytest.mark.parametrize("with_ledger", [True, False])
def test_a_machine_restored_from_a_backup_gets_back_what_it_lacks(sites: list[Site], tmp_path: Path, with_ledger: bool):
    import shutil

    a, _, _ = sites
    a.write(RECORD, "1")
    settle(*sites)
    shutil.copytree(a.path, tmp_path / "backup")
    a.write(RECORD, "22")
    a.write("projects/demo/decision/later.md", "later")
    settle(*sites)
    shutil.rmtree(a.path)
    shutil.copytree(tmp_path / "backup", a.path)
    if not with_ledger:
        shutil.rmtree(a.path / "_state" / "hub")
    settle(*sites)
    assert [site.read("projects/demo/decision/later.md") for site in sites] == ["later"] * 3
    assert len({site.read(RECORD) for site in sites}) == 1
    if with_ledger:
        assert a.read(RECORD) == "22"
    else:  # nobody knows which of the two is newer: both are kept
        (kept,) = (a.path / RECORD).parent.glob("*.kept-*")
        assert {a.read(RECORD), kept.read_text()} == {"1", "22"}


def test_a_hub_restored_from_an_old_backup_heals_from_the_machines(pretended: list[Site], hub: PretendHub):
    a, b, c = pretended
    a.write(RECORD, "1")
    a.write(SEATED, "1")
    settle(*pretended)
    old = hub.backup()
    a.write(RECORD, "22")
    a.write(SEATED, "22")
    a.write("shared/new.md", "new")
    settle(*pretended)
    for site in pretended:
        site.hub.hub = old
    settle(b, c, a)
    for path, text in ((RECORD, "22"), (SEATED, "22"), ("shared/new.md", "new")):
        assert [site.read(path) for site in pretended] == [text] * 3
    assert old.rows.keys() == hub.rows.keys()


def test_only_wanted_projects_are_replicated(tmp_path: Path, hub: PretendHub):
    a = Site(tmp_path / "a", "a", hub.connect("a"))
    b = Site(tmp_path / "b", "b", hub.connect("b"), projects=("other",))
    for path in (RECORD, "projects/other/decision/x.md", "shared/x.md"):
        a.write(path, path)
    a.sync()
    assert set(b.sync().placed) == {"projects/other/decision/x.md", "shared/x.md"}


def test_a_sync_without_news_asks_twice_and_reads_no_file(sites: list[Site]):
    a, *_ = sites
    a.write(RECORD, "1")
    settle(*sites)
    before = a.statements
    assert a.sync().is_idle
    assert a.statements == before + 2


# Checks ---------------------------------------------------------------------------------------------------------------


def checked(site: Site, *, fixes: bool = False) -> dict[str, str]:
    done = check(site.squad.oracle, site.hub, site.membership, fixes=fixes)
    return {one.path: str(one.what) for one in (done.left if fixes else done.differences)}


def test_check_names_what_differs_and_mends_it(sites: list[Site]):
    a, b, _ = sites
    for name in ("gone", "edited", "same"):
        a.write(f"projects/demo/decision/{name}.md", "1")
        a.write(f"projects/demo/builder/{name}.md", "1")
    settle(*sites)
    assert [checked(site) for site in sites] == [{}] * 3
    for folder in ("decision", "builder"):
        (b.path / f"projects/demo/{folder}/gone.md").unlink()
        b.write(f"projects/demo/{folder}/edited.md", "mine")
    a.write("shared/new.md", "new")
    assert checked(a) == {"shared/new.md": "not sent yet"}
    assert checked(b) == {
        f"projects/demo/{folder}/{name}.md": what
        for folder in ("decision", "builder")
        for name, what in (("gone", "missing here"), ("edited", "changed here, owned by another machine"))
    }
    assert [checked(site, fixes=True) for site in (a, b)] == [{}, {}]
    settle(*sites)
    assert a.shared() == b.shared()
    assert len(list(b.path.glob("projects/demo/*/*.kept-*"))) == 2


def test_a_hub_that_was_made_again_is_filled_by_the_machines(pretended: list[Site], hub: PretendHub):
    a, b, c = pretended
    a.write(RECORD, "1")
    b.hub.take_home("demo", "builder", take=True)
    settle(*pretended)
    b.write(SEATED, "2")
    settle(*pretended)
    new = PretendHub()
    for site in pretended:
        site.hub = new.connect(f"{site.name}-again")
    settle(c, a, b)
    assert {path: row.sha256 for path, (_, row) in new.rows.items()} == {
        path: row.sha256 for path, (_, row) in hub.rows.items()
    }
    assert new.homes["demo", "builder"].machine == "b-again"
    assert [checked(site) for site in pretended] == [{}] * 3


def test_rebuild_sends_what_the_hub_lost(pretended: list[Site], hub: PretendHub):
    a, b, _ = pretended
    a.write(RECORD, "1")
    a.write(SEATED, "1")
    b.write("shared/b.md", "1")
    settle(*pretended)
    before = dict(hub.rows)
    hub.rows.clear()
    for site in pretended:
        rebuild(site.squad.oracle, site.hub, site.membership)
    assert hub.rows.keys() == before.keys()
    assert [checked(site) for site in pretended] == [{}] * 3


@pytest.mark.parametrize(("unseen", "takes", "moves"), [(3, False, False), (3, True, True), (300, False, True)])
def test_a_seat_moves_when_its_home_is_away_or_its_people_say_so(
    pretended: list[Site], hub: PretendHub, unseen: float, takes: bool, moves: bool
):
    a, b, _ = pretended
    settle(*pretended)
    a.squad.ask("T1", target="builder")
    settle(*pretended)
    hub.machines["a"] = replace(hub.machines["a"], unseen=unseen)
    if moves:
        assert move_home(b.squad.oracle, b.hub, "demo", "builder", takes=takes).epoch == 2
    else:
        with pytest.raises(Blocked, match="runs on a, which was seen 3 s ago"):
            move_home(b.squad.oracle, b.hub, "demo", "builder", takes=takes)
    settle(*pretended)
    assert b.squad.recorder.woken() == [("builder", "T1")] * moves
    with pytest.raises(Blocked, match=f"runs on {'b' if moves else 'a'}"):
        (a if moves else b).squad.complete("T1", "builder", "planner", user_summary="done")
    (b if moves else a).squad.complete("T1", "builder", "planner", user_summary="done")
    settle(*pretended)
    assert [site.squad.states()["T1"] for site in pretended] == ["consumed"] * 3
    assert a.squad.recorder.woken().count(("planner", "T1")) == 1
