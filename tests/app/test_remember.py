"""Remember and forget: what is written, what supersedes what, what is refused, and the MEMORY.md of a project."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.memories import packets, remember
from oracle.app.memories.remember import Note
from oracle.app.records import memory_index, publish
from oracle.domain.records.packets import Request
from oracle.domain.records.remembered import MEMORY_TYPES, memory_type_in
from oracle.domain.values import replace
from oracle.errors import InvalidRecord, MistypedProject, NotInMemory, SecretFound, UsageError
from oracle.store.markdown import markdown
from tests.laws.ledger import Clock, assert_like_rebuilt

TUESDAY = 1_772_539_200_000_000_000  # 2026-03-03T12:00:00Z
RULE = Note(
    "feedback", "Integration tests hit a real database, not mocks.", why="A mock hid a fault.", how_to_apply="In CI."
)
FREEZE = Note(
    "project",
    "No merges after Thursday.",
    title="Merge freeze",
    why="Mobile cuts a release.",
    how_to_apply="Flag later PRs.",
    project="shop",
)


@pytest.fixture
def oracle(root: Path) -> Iterator[Oracle]:
    with Oracle.open(str(root), clock=Clock(frozen_ns=TUESDAY)) as opened:
        yield opened


def tick(oracle: Oracle) -> None:
    clock = oracle.clock
    assert isinstance(clock, Clock)
    clock.frozen_ns += 60_000_000_000


def kept(oracle: Oracle, note: Note, **more: object) -> remember.Remembered:
    tick(oracle)
    return remember.remember(oracle, note, **more)  # type: ignore[arg-type]


def index_of(root: Path, project: str = "shop") -> str:
    return (root / f"projects/{project}/_index/MEMORY.md").read_text("utf-8")


@pytest.mark.parametrize("memory_type", MEMORY_TYPES)
def test_each_type_is_a_record_that_states_it(oracle: Oracle, root: Path, memory_type: str):
    note = Note(
        memory_type, "Alerts go to the channel ops-red.", why="Agreed.", how_to_apply="On call.", project="shop"
    )
    written = kept(oracle, note).written
    document = markdown.parse(Path(written.path).read_bytes())
    assert memory_type_in(document.fields) == memory_type
    assert document.body.strip() == (
        "Alerts go to the channel ops-red.\n\n**Why:** Agreed.\n\n**How to apply:** On call."
    )
    assert [line[0] for line in oracle.backlinks(f"entity:key:memory/{memory_type}")] == [written.slug]
    assert_like_rebuilt(oracle)


def test_relative_dates_are_absolute_in_every_part(oracle: Oracle):
    note = replace(FREEZE, why="Decided yesterday.", how_to_apply="Until 下周四.", title="Freeze from Thursday")
    done = kept(oracle, note)
    document = markdown.parse(Path(done.written.path).read_bytes())
    assert document.fields["title"] == "Freeze from 2026-03-05"
    assert document.body.strip().split("\n\n") == [
        "No merges after 2026-03-05.",
        "**Why:** Decided 2026-03-02.",
        "**How to apply:** Until 2026-03-12.",
    ]
    assert set(done.dates) == {("Thursday", "2026-03-05"), ("yesterday", "2026-03-02"), ("下周四", "2026-03-12")}


# One topic, one record ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (FREEZE, replace(FREEZE, text="No merges before the 20th of March.")),  # by its title
        (FREEZE, replace(FREEZE, title="merge freeze", text="It is over on 2026-03-08.")),
        (RULE, replace(RULE, text="Integration tests must hit a real database and not mocks, ever.")),  # by its words
        (
            Note("user", "The user has ten years of Go and is new to React in this frontend."),
            Note("user", "The user has eleven years of Go and is new to React in this frontend."),
        ),
        (
            Note("reference", "流水线的故障都在 Linear 的 INGEST 项目里跟踪。"),
            Note("reference", "流水线的故障都在 Linear 的 INGEST2 项目里跟踪。"),
        ),
    ],
)
def test_an_update_supersedes_what_was_on_the_topic(oracle: Oracle, first: Note, second: Note):
    old, new = kept(oracle, first), kept(oracle, second)
    assert new.superseded == (old.written.slug,)
    assert oracle.show(old.written.slug).record.retired_by == new.written.slug


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            Note("reference", "The staging database of the shop runs on host alpha with port 5432."),
            Note("reference", "The production database of the shop runs on host beta with port 5432."),
        ),
        (FREEZE, replace(FREEZE, project="docks")),
        (FREEZE, replace(FREEZE, type="feedback")),
        (RULE, replace(RULE, text="Unit tests may use mocks of the mail server.")),
    ],
)
def test_another_topic_project_or_type_stays(oracle: Oracle, first: Note, second: Note):
    old, new = kept(oracle, first), kept(oracle, second)
    assert new.superseded == ()
    assert not oracle.show(old.written.slug).record.retired_by


def test_a_person_can_say_which_memory_it_updates_or_that_it_is_another(oracle: Oracle):
    old = kept(oracle, RULE)
    other = kept(oracle, replace(RULE, text="Integration tests hit a real database, no mocks.", is_another=True))
    assert other.superseded == ()
    update = kept(oracle, replace(RULE, text="Test on Postgres.", supersedes=(old.written.slug,)))
    assert update.superseded == (old.written.slug,)


def test_the_same_memory_again_writes_nothing(oracle: Oracle, root: Path):
    first = kept(oracle, FREEZE)
    again = kept(oracle, FREEZE)
    assert (again.written.slug, bool(again.written.already)) == (first.written.slug, True)
    assert len(list((root / "projects/shop/finding").iterdir())) == 1


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory_type", ["feedback", "project"])
def test_a_missing_reason_or_use_is_one_refusal_that_names_it(oracle: Oracle, root: Path, memory_type: str):
    with pytest.raises(UsageError) as caught:
        kept(oracle, Note(memory_type, "Prefer one bundled PR.", project="shop"))
    assert "--why" in caught.value.hint
    assert "--how-to-apply" in caught.value.hint
    kept(
        oracle, Note(memory_type, "Prefer one bundled PR.\nWhy: less churn.\nHow to apply: refactors.", project="shop")
    )


@pytest.mark.parametrize(
    ("note", "error"),
    [
        (Note("mood", "Fine."), UsageError),
        (Note("user", "  "), UsageError),
        (Note("user", "The user is lazy."), InvalidRecord),
        (replace(RULE, text="The retry logic is in src/retry.py."), InvalidRecord),
        (Note("user", "Fine.", title="Commit 3f9c2ab1 fixed it"), InvalidRecord),
        (Note("user", "The key is ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2), SecretFound),
        (replace(FREEZE, project="shopp"), MistypedProject),
    ],
)
def test_what_is_not_kept_leaves_nothing(oracle: Oracle, root: Path, note: Note, error: type[Exception]):
    oracle.write(_draft_of_shop())
    before = sorted(root.rglob("*.md"))
    with pytest.raises(error):
        kept(oracle, note)
    assert sorted(root.rglob("*.md")) == before


def _draft_of_shop():
    from oracle.domain.records.drafts import Draft

    return Draft("decision", "shop", "Sell apples", body="Only apples.")


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".claude/CLAUDE.md"])
def test_what_a_page_for_agents_holds_is_refused_with_its_line(oracle: Oracle, tmp_path: Path, name: str):
    page = tmp_path / "work" / name
    page.parent.mkdir(parents=True)
    page.write_text("# Rules\n\n- Integration tests hit a real database, not mocks.\n", "utf-8")
    below = tmp_path / "work" / "web"
    below.mkdir()
    with pytest.raises(InvalidRecord, match=re.escape(f"{page}:3")):
        kept(oracle, RULE, folder=str(below))
    kept(oracle, RULE)


# MEMORY.md ------------------------------------------------------------------------------------------------------------


def test_the_index_follows_each_memory(oracle: Oracle, root: Path):
    kept(oracle, FREEZE)
    kept(oracle, replace(RULE, project="shop"))
    kept(oracle, Note("user", "The user is a data scientist."))
    lines = index_of(root).splitlines()
    assert lines[:2] == ["# Memories of shop", ""]
    assert [line.split("](")[0] for line in lines[2:]] == [
        "- [The user is a data scientist",
        "- [Integration tests hit a real database, not…",  # with its link it would be too long
        "- [Merge freeze",
    ]
    folder = root / "projects/shop/_index"
    for line in lines[2:]:
        assert (folder / line.split("](")[1].split(")")[0]).is_file()
    remember.forget(oracle, "merge freeze")
    assert "Merge freeze" not in index_of(root)
    text = index_of(root)
    publish.publish_project(oracle, "shop")
    assert index_of(root) == text


def test_what_is_linked_to_comes_before_what_is_newer(oracle: Oracle, root: Path):
    from oracle.domain.records.drafts import Draft

    old = kept(oracle, FREEZE).written
    kept(oracle, replace(RULE, project="shop"))
    tick(oracle)
    oracle.write(Draft("decision", "shop", "Hold the release", body=f"As [[{old.slug}]] says."))
    publish.publish_project(oracle, "shop")
    assert "[Merge freeze]" in index_of(root).splitlines()[2]


def test_it_has_200_lines_of_150_characters_at_most(oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch):
    assert (memory_index.MOST_LINES, memory_index.LONGEST_LINE) == (200, 150)
    monkeypatch.setattr(memory_index, "MOST_LINES", 20)
    notes = [replace(FREEZE, title=f"Topic {number} {'of many words ' * (number % 12)}") for number in range(20)]
    notes += [replace(FREEZE, title="题目" * 60), replace(FREEZE, title="[[a]](b) `c` " * 9)]
    for note in notes:
        remember.remember(oracle, replace(note, is_another=True))
    lines = index_of(root).splitlines()
    assert len(lines) == 20
    assert max(map(len, lines)) <= memory_index.LONGEST_LINE
    assert "more" in lines[-1]


def test_a_project_without_memories_gets_none(oracle: Oracle, root: Path):
    oracle.write(_draft_of_shop())
    publish.publish_project(oracle, "shop")
    assert not (root / "projects/shop/_index/MEMORY.md").exists()


# Forget ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["merge freeze", "Merge freeze", "merge-freeze", "mobile release"])
def test_a_memory_is_forgotten_by_its_name_or_its_words(oracle: Oracle, root: Path, target: str):
    kept(oracle, replace(FREEZE, text="Old."))
    held = kept(oracle, FREEZE).written
    done = remember.forget(oracle, target, "The release is out.")
    shown = oracle.show(held.slug).record
    assert (shown.retired_by, shown.retired_how) == (done.slug, "retires")
    assert "The release is out." in Path(done.path).read_text("utf-8")
    assert Path(held.path).is_file()
    assert remember.forget(oracle, held.slug).already


def test_what_is_not_clear_is_not_forgotten(oracle: Oracle):
    kept(oracle, FREEZE)
    kept(oracle, replace(FREEZE, title="Merge window", is_another=True))
    with pytest.raises(UsageError, match="2 memories"):
        remember.forget(oracle, "mobile release")
    with pytest.raises(NotInMemory):
        remember.forget(oracle, "the zeppelin")


@pytest.mark.parametrize("target", ["the", "and the", "mobile", "的", "of a"])
def test_a_stray_word_forgets_nothing(oracle: Oracle, target: str):
    kept(oracle, FREEZE)
    with pytest.raises(NotInMemory):
        remember.forget(oracle, target)


@pytest.mark.parametrize("reason", ["", "It is wrong."])
def test_what_is_forgotten_is_not_said_again(oracle: Oracle, root: Path, reason: str):
    held = kept(oracle, replace(FREEZE, text="The quokka bites.", title="Quokka")).written
    journal = root / "events.log"
    before = journal.read_text("utf-8")
    done = remember.forget(oracle, held.slug, reason)
    assert oracle.show(done.slug).record.title == "Retire a project memory of 2026-03-03"
    said = [Path(done.path).read_text("utf-8"), journal.read_text("utf-8").removeprefix(before), index_of(root)]
    for text in (*said, json.dumps(done.as_json())):
        assert "quokka" not in text.replace(held.slug, "").lower()
    assert held.slug in said[0]


def test_what_must_not_be_written_by_now_is_forgotten_and_retired_all_the_same(oracle: Oracle, root: Path):
    held = kept(oracle, replace(FREEZE, title="Quokka")).written
    other = oracle.write(replace(_draft_of_shop(), title="Quokka plan")).slug
    (root / "machine").mkdir(exist_ok=True)
    (root / "machine/privacy.md").write_text("BLOCK: (?i)quokka\n", encoding="utf-8")
    tick(oracle)
    ended = [remember.forget(oracle, held.slug), oracle.retire(other, "It is over.")]
    for slug, done in zip((held.slug, other), ended, strict=True):
        assert oracle.show(slug).record.retired_by == done.slug
        assert "quokka" not in Path(done.path).read_text("utf-8").replace(slug, "").lower()
        assert done.warnings == (
            f"the file still holds what must not be written; if nobody may read it: rm {root}/{slug}.md",
        )


# Packets --------------------------------------------------------------------------------------------------------------


def test_a_packet_gives_what_people_asked_for(oracle: Oracle):
    kept(oracle, replace(RULE, project="shop"))
    kept(oracle, FREEZE)
    packet = packets.route(oracle, Request("Merge the release branch", "executor", project="shop")).as_json()["packet"]
    assert packet["hard_constraints"] == ["Integration tests hit a real database, not mocks."]
    planned = packets.route(oracle, Request("Merge the release branch", "planner", project="shop")).as_json()["packet"]
    assert "No merges after 2026-03-05." in json.dumps(planned["relevant_facts"])


@pytest.mark.parametrize("target", ["", "  ", "[[]]", "[[ ]]"])
def test_to_forget_nothing_is_refused(oracle: Oracle, target: str):
    kept(oracle, RULE)
    with pytest.raises(UsageError, match="not named") as caught:
        remember.forget(oracle, target)
    assert "oracle search" not in caught.value.hint
