"""Naming records: the name without its stamp, the words of it, near names, and what to type for an entity."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.records import new_project
from oracle.app.records.graph import unresolved
from oracle.app.records.naming import titled
from oracle.domain.records.drafts import Draft
from oracle.errors import NotInMemory, UsageError
from tests.laws.ledger import assert_like_rebuilt

TITLE = "Retry webhooks with backoff"
NAMES = ("retry-webhooks-with-backoff", TITLE, "RETRY_webhooks with-backoff", "decision/retry webhooks with backoff")


def put(root: Path, name: str, text: str) -> None:
    path = root / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("folder", "typed"),
    [
        ("..", "./{root}/projects/shop/builder/notes/one.md"),
        ("..", "{root}/projects/shop/builder/notes/one.md"),
        ("..", "./{root}/projects/shop/builder/notes/one"),
        ("..", "./{root}/projects/../projects/shop/builder/notes/one.md"),
        (".", "./projects/shop/builder/notes/one.md"),
        (".", "projects/shop/builder/notes/one.md"),
        (".", "projects/shop/builder/notes/one"),
        ("projects/shop", "builder/notes/one.md"),
        ("projects/shop/planner", "../builder/notes/one.md"),
        ("projects/shop/planner", "../builder/notes/one"),
        ("projects/shop/planner", "projects/shop/builder/notes/one.md"),
        ("projects/shop/planner", "./projects/shop/builder/notes/one"),
        ("projects/shop/builder/notes", "one.md"),
        ("projects/shop/builder/notes", "./one"),
        ("linked", "one.md"),
        (".", "[[projects/shop/builder/notes/one]]"),
        ("projects/shop/builder/notes", " [[./one]] "),
    ],
)
@pytest.mark.parametrize("is_linked", [False, True])
def test_a_path_is_read_from_the_working_directory_and_then_from_the_root(
    root: Path, monkeypatch: pytest.MonkeyPatch, folder: str, typed: str, *, is_linked: bool
) -> None:
    put(root, "projects/shop/builder/notes/one", "# One\n")
    put(root, "projects/shop/planner/one", "# Another\n")
    (root / "linked").symlink_to(root / "projects/shop/builder/notes")
    named = root
    if is_linked:
        named = root.with_name("by-link")
        named.symlink_to(root)
    monkeypatch.chdir(named / folder if folder != ".." else root.parent)
    with Oracle.open(str(named)) as oracle:
        assert oracle.show(typed.format(root=named.name)).record.slug == "projects/shop/builder/notes/one"


def test_of_two_files_that_a_path_may_mean_the_near_one_is_taken(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "projects/shop/builder/projects/shop/builder/one", "# Near\n")
    put(root, "projects/shop/builder/one", "# Far\n")
    with Oracle.open(str(root)) as oracle:
        for folder, title in ((root / "projects/shop/builder", "Near"), (root, "Far"), (root.parent, "Far")):
            monkeypatch.chdir(folder)
            assert oracle.show("projects/shop/builder/one.md").record.title == title
        monkeypatch.chdir(root.parent)
        (root.parent / "two.md").write_text("# Outside\n")
        for typed in ("two.md", "./two.md"):
            with pytest.raises(NotInMemory):
                oracle.show(typed)
        with pytest.raises(UsageError, match="names no record"):
            oracle.show("../two.md")


@pytest.mark.parametrize("name", NAMES)
def test_a_record_goes_by_the_words_of_its_title(root: Path, name: str) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "shop", TITLE, body="For PAY-7."))
        linking = oracle.write(Draft("decision", "shop", "Queue", body=f"See [[{name}]]."))
        assert oracle.find(name) == oracle.show(name).record.slug == old.slug
        assert [row[0] for row in oracle.backlinks(old.slug)] == [linking.slug]
        assert unresolved(oracle) == []
        new = oracle.write(Draft("decision", "shop", "No retries", supersedes=(name,)))
        assert (new.warnings, oracle.show(old.slug).chain) == ((), (new.slug,))
        oracle.retire("queue", "It is over.")
        assert oracle.show(linking.slug).record.effective_status == "retired"
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize(
    "title", ["CI/CD (v2): the pipeline", "Ein sehr langer Titel " * 6, "Don't 等待", "2026-01-01 a day"]
)
def test_odd_titles_name_their_records(root: Path, title: str) -> None:
    with Oracle.open(str(root)) as oracle:
        written = oracle.write(Draft("decision", "shop", title.strip(), body="x"))
        assert oracle.show(title.strip()).record.slug == written.slug


def test_a_link_by_title_moves_to_the_newest_and_back(root: Path) -> None:
    put(root, "projects/shop/builder/notes", f"[[{TITLE}]]")
    put(root, "projects/shop/decision/2026-01-01-retry-webhooks-with-backoff", "old")
    later = "projects/shop/decision/2026-02-01T00-00-00Z-retry-webhooks-with-backoff"

    def target(oracle: Oracle) -> str:
        ((_, name, *_),) = oracle.links("projects/shop/builder/notes")
        return name

    with Oracle.open(str(root)) as oracle:
        assert target(oracle).endswith("2026-01-01-retry-webhooks-with-backoff")
        put(root, later, "new")
        assert target(oracle) == later
        assert_like_rebuilt(oracle)
        (root / f"{later}.md").unlink()
        assert target(oracle).endswith("2026-01-01-retry-webhooks-with-backoff")
        assert_like_rebuilt(oracle)


def test_of_namesakes_the_newest_is_read_and_none_is_changed(root: Path) -> None:
    warnings: list[str] = []
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        old, new = (oracle.write(Draft("decision", project, TITLE, body="x")) for project in ("shop", "zoo"))
        assert oracle.show(TITLE).record.slug == new.slug
        assert "names 2 records" in warnings[0]
        before = len(oracle.records({}))
        for change in (
            lambda: oracle.retire(TITLE, "why"),
            lambda: oracle.write(Draft("decision", "shop", "N", supersedes=(TITLE,))),
            lambda: oracle.write(Draft("decision", "shop", "N", retires=(TITLE,))),
        ):
            with pytest.raises(UsageError, match="2 records") as caught:
                change()
            assert old.slug in caught.value.hint
            assert new.slug in caught.value.hint
        assert len(oracle.records({})) == before


def test_records_of_one_name_without_stamps_are_not_guessed_among(root: Path) -> None:
    for project in ("a", "b"):
        put(root, f"projects/{project}/builder/x", "x")
    with Oracle.open(str(root)) as oracle, pytest.raises(UsageError, match="names 2 records") as caught:
        oracle.show("x")
    assert "projects/a/builder/x, projects/b/builder/x" in caught.value.hint


@pytest.mark.parametrize("name", ["retry-webhoks-with-backoff", "backoff of webhooks", "Retrying webhooks"])
def test_near_names_are_told(root: Path, name: str) -> None:
    with Oracle.open(str(root)) as oracle:
        slug = oracle.write(Draft("decision", "shop", TITLE, body="x")).slug
        oracle.write(Draft("decision", "shop", "Lunch", body="soup"))
        for ask in (oracle.show, oracle.find, lambda text: oracle.retire(text, "why")):
            with pytest.raises(NotInMemory) as caught:
                ask(name)
            assert caught.value.hint == f"Did you mean {slug}?"
        with pytest.raises(NotInMemory, match="no record"):
            oracle.write(Draft("decision", "shop", "N", supersedes=(name,)))
        warning = oracle.write(Draft("decision", "shop", "N", supersedes=(f"projects/shop/plan/{name}",))).warnings[0]
        assert slug in warning
        assert "heals" in warning


def test_at_most_five_near_names_are_told(root: Path) -> None:
    for number in range(9):
        put(root, f"projects/shop/builder/queue-{number}", "x")
    with Oracle.open(str(root)) as oracle:
        for name, error in (("queues", NotInMemory), ("queue", UsageError)):
            with pytest.raises(error) as caught:
                oracle.show(name)
            assert caught.value.hint.count("projects/") == 5
    assert "(4 more)" in caught.value.hint


@pytest.mark.parametrize(
    "name", ["webhooks", "with-back", "Webhooks with", "decision/retry-web", "shop/decision/backoff"]
)
def test_a_record_goes_by_a_part_of_its_slug_that_no_other_has(root: Path, name: str) -> None:
    with Oracle.open(str(root)) as oracle:
        slug = oracle.write(Draft("decision", "shop", TITLE, body="x")).slug
        oracle.write(Draft("decision", "shop", "Lunch", body="soup"))
        assert oracle.show(name).record.slug == oracle.find(name) == slug
        oracle.write(Draft("decision", "shop", f"{TITLE} again", body="x"))
        for ask in (oracle.show, oracle.find, lambda text: oracle.retire(text, "why")):
            with pytest.raises(UsageError, match="names 2 records") as caught:
                ask(name)
            assert slug in caught.value.hint


def test_whole_words_of_a_name_come_before_parts_of_words(root: Path) -> None:
    put(root, "projects/shop/builder/the-queue", "x")
    put(root, "projects/shop/builder/queueing", "x")
    with Oracle.open(str(root)) as oracle:
        assert oracle.find("queue") == "projects/shop/builder/the-queue"
        assert oracle.find("queuein") == "projects/shop/builder/queueing"
        with pytest.raises(NotInMemory):
            oracle.find("qu")


def test_an_entity_goes_by_what_a_person_types(root: Path) -> None:
    put(root, "projects/shop/builder/a", "PAY-7, commit 1a2b3c4d5 and src/net/retry.py, docs/retry.py")
    put(root, "projects/shop/builder/fix-pay-7", "x")
    with Oracle.open(str(root)) as oracle:
        for name, meant in {
            "PAY-7": "entity:taskid:PAY-7",
            "pay-7": "entity:taskid:PAY-7",
            "taskid:PAY-7": "entity:taskid:PAY-7",
            "1a2b3c4d5": "entity:commit:1a2b3c4d5",
            "1a2b3c4": "entity:commit:1a2b3c4d5",
            "1A2B3C4D5E6F": "entity:commit:1a2b3c4d5",
            "net/retry.py": "entity:file:src/net/retry.py",
            "src/net/retry.py": "entity:file:src/net/retry.py",
        }.items():
            assert oracle.find(name) == meant
        with pytest.raises(UsageError, match="names 2 targets") as caught:
            oracle.find("retry.py")
        assert "entity:file:docs/retry.py, entity:file:src/net/retry.py" in caught.value.hint
        for name in ("PAY-7", "1a2b"):  # what an entity is called changes no record
            with pytest.raises(NotInMemory):
                oracle.retire(name, "why")


def test_a_name_that_is_like_no_other_is_answered_with_the_way_to_the_list(root: Path) -> None:
    put(root, "projects/shop/builder/queue", "x")
    for name in ("%", "___", "zebra", "…"):
        with Oracle.open(str(root)) as oracle, pytest.raises(NotInMemory) as caught:
            oracle.show(name)
        assert caught.value.hint == "See what there is with `oracle list`."


@pytest.mark.parametrize("name", ["shop", "projects/shop", "projects/shop/", "projects/shop/builder", "shop/builder"])
def test_a_folder_of_records_is_answered_with_the_way_to_list_it(root: Path, name: str) -> None:
    put(root, "projects/shop/builder/queue", "x")
    with Oracle.open(str(root)) as oracle, pytest.raises(NotInMemory) as caught:
        oracle.show(name)
    assert caught.value.hint == "It is a folder of records; list them with `oracle list --project shop`."


@pytest.mark.parametrize(
    "title", ["Payment calls retry: always", "payment CALLS retry  always", "Payment calls retry, always"]
)
def test_a_record_goes_by_its_title_whatever_its_file_is_called(root: Path, title: str) -> None:
    put(root, "projects/shop/builder/policy", "# Payment calls retry: always\n\nx")
    put(root, "projects/shop/builder/longer", "# Payment calls retry: always, or never\n\nx")
    with Oracle.open(str(root)) as oracle:
        assert oracle.show(title).record.slug == oracle.find(title) == "projects/shop/builder/policy"
        put(root, "projects/shop/builder/twin", "# Payment calls retry: always\n\nx")
        with pytest.raises(UsageError, match="names 2 records") as caught:
            oracle.show(title)
        assert "projects/shop/builder/policy" in caught.value.hint
        assert "projects/shop/builder/twin" in caught.value.hint
        with pytest.raises(UsageError, match="names 2 records"):
            oracle.retire(title, "It is over.")


def test_a_title_in_chinese_names_its_record(root: Path) -> None:
    put(root, "projects/shop/builder/policy", "# 支付调用会重试\n\nx")
    with Oracle.open(str(root)) as oracle:
        assert oracle.show("支付调用会重试").record.slug == "projects/shop/builder/policy"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("PAY-7", "type entity:taskid:PAY-7 (2 backlinks)"),
        ("pay-7", "type entity:taskid:PAY-7 (2 backlinks)"),
        ("PAY-99", "type entity:taskid:PAY-99 (no backlinks)"),
        ("taskid:PAY-7", "type entity:taskid:PAY-7 (2 backlinks)"),
        ("#12", "type entity:taskid:#12 (1 backlink)"),
        ("src/a_b.py", "type entity:file:src/a_b.py (1 backlink)"),
        ("entity:taskid:pay-7", "Did you mean entity:taskid:PAY-7 (2 backlinks)?"),
        ("entity:task:PAY-7", "Did you mean entity:taskid:PAY-7 (2 backlinks)?"),
        ("entity:taskid:PAY-99", "Did you mean entity:taskid:PAY-7 (2 backlinks)?"),
        ("PAY-99", "Did you mean entity:taskid:PAY-7 (2 backlinks)?"),
        ("entity:file:a_c.py", "Did you mean entity:file:src/a_b.py (1 backlink)?"),
        ("a_c.py", "Did you mean entity:file:src/a_b.py (1 backlink)?"),
        ("entity:component:Unlike", "`oracle list --entities`"),
    ],
)
def test_what_to_type_for_an_entity(root: Path, name: str, told: str) -> None:
    put(root, "projects/shop/builder/a", "PAY-7, #12 and src/a_b.py")
    put(root, "projects/shop/builder/b", "PAY-7")
    with Oracle.open(str(root)) as oracle:
        is_found = told.startswith("type ") and "no backlinks" not in told
        for ask in (oracle.show,) if is_found else (oracle.find, oracle.show):
            with pytest.raises(NotInMemory) as caught:
                ask(name)
            assert told in caught.value.hint
        if is_found:
            assert f"type {oracle.find(name)} (" in told


def test_an_entity_is_no_record_but_has_backlinks(root: Path) -> None:
    put(root, "projects/shop/builder/a", "PAY-7 and GH#7")
    with Oracle.open(str(root)) as oracle:
        assert oracle.find("entity:taskid:PAY-7") == "entity:taskid:PAY-7"
        with pytest.raises(NotInMemory, match="is an entity") as caught:
            oracle.show("entity:taskid:PAY-7")
        assert "`oracle backlinks entity:taskid:PAY-7` (1 backlink)" in caught.value.hint
        with pytest.raises(NotInMemory) as caught:
            oracle.show("entity:taskid:GH#7")
        assert "`oracle backlinks 'entity:taskid:GH#7'`" in caught.value.hint


def test_a_record_that_is_linked_to_but_not_there_may_be_asked_for(root: Path) -> None:
    put(root, "projects/shop/builder/a", "[[ghost]]")
    with Oracle.open(str(root)) as oracle:
        assert oracle.find("projects/shop/builder/ghost") == "projects/shop/builder/ghost"


def test_the_doctor_tells_what_may_have_been_meant(root: Path) -> None:
    put(root, "projects/shop/decision/2026-01-01-retry-webhooks", "words")
    put(root, "projects/shop/builder/a", "---\nsupersedes: retry-webhoks\n---\nwords")
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        (fix,) = [check.fix for check in oracle.doctor() if check.name == "retirements" and check.detail]
    assert "(did you mean projects/shop/decision/2026-01-01-retry-webhooks?)" in fix


def test_a_full_slug_that_stands_no_longer_is_not_guessed_among_namesakes(root: Path) -> None:
    for stamp in ("2026-01-01", "2026-02-01"):
        put(root, f"projects/shop/decision/{stamp}-x", "words")
    with Oracle.open(str(root)) as oracle, pytest.raises(UsageError, match="2 records"):
        oracle.write(Draft("decision", "shop", "N", supersedes=("projects/shop/decision/x",)))


def test_a_link_that_is_just_a_title_leads_nowhere_and_its_record_is_named(root: Path) -> None:
    put(root, "projects/shop/planner/2026-rp", "# Retry policy: five\n")
    put(
        root,
        "projects/shop/planner/b",
        "# B\n\n[[Retry policy: five]], [[2026-rp|Retry policy: five]], [[retry policy]].\n",
    )
    with Oracle.open(str(root)) as oracle:
        refs = [ref for _, _, _, ref, _, _ in unresolved(oracle)]
        assert refs == ["Retry policy: five", "retry policy"]
        assert titled(oracle, refs) == {"Retry policy: five": "projects/shop/planner/2026-rp"}
        assert "projects/shop/planner/2026-rp" in [target for _, target, *_ in oracle.links("projects/shop/planner/b")]


@pytest.mark.parametrize(
    ("typed", "known", "asks"),
    [
        ("arna", "arena", True),
        ("areena", "arena", True),
        ("arema", "arena", True),
        ("aerna", "arena", True),
        ("网管", "网关", True),
        ("arena-2", "arena-1", False),
        ("arena2", "arena", False),
        ("arenas-x", "arena", False),
        ("shop", "arena", False),
        ("aenra", "arena", False),
    ],
)
def test_project_of_one_letter_off_must_be_confirmed(root: Path, typed: str, known: str, asks: bool) -> None:
    (root / "projects" / known / "decision").mkdir(parents=True)
    with Oracle.open(str(root)) as oracle:
        new_project.refuse_mistyped(oracle, known)
        if asks:
            with pytest.raises(UsageError, match=f"does not exist; did you mean {known}"):
                new_project.refuse_mistyped(oracle, typed)
        else:
            new_project.refuse_mistyped(oracle, typed)


@pytest.mark.parametrize(
    ("part", "project", "is_taken"),
    [
        ("webhooks", "shop", True),
        ("with backoff", "shop", True),
        ("webhooks", "zoo", False),
        ("backof", "shop", False),
        ("hook", "shop", False),
    ],
)
def test_a_change_takes_only_whole_words_of_a_name_in_its_own_project_and_says_what_it_took(
    root: Path, part: str, project: str, is_taken: bool
) -> None:
    warnings: list[str] = []
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        old = oracle.write(Draft("decision", "shop", TITLE, body="x")).slug
        draft = Draft("decision", project, "Never again", body="y", supersedes=(part,))
        if is_taken:
            new = oracle.write(draft).slug
            assert [target for kind, target, *_ in oracle.links(new) if kind == "supersedes"] == [old]
            assert f"{part} was taken for {old}" in warnings
        else:
            with pytest.raises(UsageError, match="only a part of a name") as caught:
                oracle.write(draft)
            assert old in caught.value.hint
            assert not oracle.show(old).record.is_retired
            assert oracle.show(part).record.slug == old  # to read it a part will do


def test_a_part_of_a_chinese_name_is_taken_and_said(root: Path) -> None:
    warnings: list[str] = []
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        old = oracle.write(Draft("decision", "shop", "网关限流策略", body="x")).slug
        oracle.retire("限流", "why")
        assert oracle.show(old).record.is_retired
        assert f"限流 was taken for {old}" in warnings


def test_a_name_of_another_project_is_taken_for_a_change_and_said(root: Path) -> None:
    warnings: list[str] = []
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        old = oracle.write(Draft("decision", "shop", TITLE, body="x")).slug
        oracle.write(Draft("decision", "zoo", "Never again", body="y", supersedes=("retry-webhooks-with-backoff",)))
        assert f"retry-webhooks-with-backoff was taken for {old}" in warnings
        del warnings[:]
        oracle.write(Draft("decision", "zoo", "Never ever", body="z", contradicts=(old,)))
        assert not [line for line in warnings if "was taken for" in line]


def test_who_retires_a_replacement_is_told_that_the_older_record_stays_ended(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "shop", TITLE, body="x")).slug
        new = oracle.write(Draft("decision", "shop", "Never again", body="y", supersedes=(old,))).slug
        (remark,) = [line for line in oracle.retire(new, "why").warnings if "stays so" in line]
        assert old in remark
        assert oracle.show(old).record.is_retired


@pytest.mark.parametrize("part", ["ключ", "röß"])
def test_a_part_of_a_word_of_any_script_with_spaces_changes_nothing(root: Path, part: str) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "shop", "Größe und выключатель", body="x")).slug
        with pytest.raises(UsageError, match="only a part of a name"):
            oracle.retire(part, "why")
        assert not oracle.show(old).record.is_retired
