"""Writing through the façade: what is on disk, what is refused, what a person is told."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.app.records.listing import chains, list_problems, marks
from oracle.app.records.write import write_all
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.values import fields_of
from oracle.errors import DiskFailure, InvalidRecord, NotInMemory, OracleError, OwnershipError, SecretFound, UsageError
from oracle.store import journal
from oracle.store.disk import files
from oracle.store.markdown import markdown
from tests.laws.ledger import Clock, assert_like_rebuilt

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2
EVIDENCE = (Evidence("high", "src/app.py:12", "the words", {"line": "12"}),)


def written_files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and "_state" not in path.parts]


@pytest.mark.parametrize("kind", ["decision", "finding", "task", "plan"])
def test_a_record_is_on_disk_linked_indexed_published_and_noted(root: Path, kind: str) -> None:
    with Oracle.open(str(root)) as oracle:
        draft = Draft(kind, "arena", "Use one lock", body="For ARENA-1, see [[x]].\n", evidence=EVIDENCE, task_id="T-9")
        written = oracle.write(draft)
        path = Path(written.path)
        assert path.parent == root / "projects/arena" / kind
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        document = markdown.parse(path.read_bytes())
        assert document.problems == ()
        assert document.body.strip() == "For ARENA-1, see [[x]]."
        assert document.fields["evidence"] == [
            {"trust": "high", "source_url": "src/app.py:12", "quote": "the words", "line": "12"}
        ]
        assert written.id == document.fields["id"] == path.stem
        record = oracle.show(written.slug).record
        assert (record.kind, record.project, record.title, record.task_id) == (kind, "arena", "Use one lock", "T-9")
        assert (root / "_backlinks/entity++taskid++ARENA-1.jsonl").is_file()
        assert [event["slug"] for event in journal.read(oracle.root)] == [written.slug]
        assert list_problems(oracle) == []


RESERVED = {"schema_version", "id", "ts", *fields_of(Draft)}
_text = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=80)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    title=_text.filter(str.strip),
    body=_text,
    detail=_text,
    keys=st.dictionaries(_text.filter(str.strip), _text, max_size=3),
)
def test_whatever_is_written_reads_back(root: Path, title: str, body: str, detail: str, keys: dict[str, str]) -> None:
    with Oracle.open(str(root)) as oracle:
        draft = Draft("decision", "arena", title, body=body, detail=detail, extra=dict(keys))
        before = set(written_files(root))
        try:
            written = oracle.write(draft, secrets="allow")
        except InvalidRecord:
            assert set(written_files(root)) == before
            return
        document = markdown.parse(Path(written.path).read_bytes())
        assert document.fields["title"] == " ".join(title.split())
        assert document.fields.get("detail", "") == detail
        assert document.fields["kind"] == "decision"
        for key, value in keys.items():
            if value and key not in RESERVED:
                assert document.fields[key] == value
        assert document.body.strip("\n") == body.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def test_unknown_keys_survive_and_forge_nothing(root: Path) -> None:
    extra = {"kind": "forged", "id": "forged", "custom": "kept", "nested": {"a": ["b", "c"]}}
    with Oracle.open(str(root)) as oracle:
        written = oracle.write(Draft("decision", "arena", "T", extra=extra))
    fields = markdown.parse(Path(written.path).read_bytes()).fields
    assert fields["kind"] == "decision"
    assert fields["id"] == written.id
    assert (fields["custom"], fields["nested"]) == ("kept", {"a": ["b", "c"]})


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (Draft("decision", "arena", "  "), InvalidRecord),
        (Draft("finding", "arena", "no evidence"), InvalidRecord),
        (Draft("finding", "arena", "x", evidence=(Evidence("sure", "a"),)), InvalidRecord),
        (Draft("decision", "arena", "x", evidence=(Evidence("high", " "),)), InvalidRecord),
        (Draft("decision", "arena", "x", confidence="very"), InvalidRecord),
        (Draft("decision", "arena", "x", status="done-ish"), InvalidRecord),
        (Draft("delivery", "arena", "x"), OwnershipError),
        (Draft("decision", "../arena", "x"), UsageError),
        (Draft("decision", "arena", "x", supersedes=("entity:taskid:T-1",)), UsageError),
        (Draft("decision", "arena", "x", supersedes=("",)), UsageError),
        (Draft("decision", "arena", "x", body=f"token {TOKEN}"), SecretFound),
        (Draft("decision", "arena", TOKEN), SecretFound),
        (Draft("decision", "arena", f"use {TOKEN[:15]}", body=TOKEN[15:]), SecretFound),
        (Draft("decision", "arena", "The DB password", body="Kv9mR2" + "tQ7xLw"), SecretFound),
        (Draft("decision", "arena", "x", extra={"deep": {"er": [TOKEN]}}), SecretFound),
        (Draft("finding", "arena", "x", evidence=(Evidence("high", "a", TOKEN),)), SecretFound),
    ],
    ids=range(16),
)
def test_a_refused_record_leaves_nothing(root: Path, draft: Draft, error: type[OracleError]) -> None:
    with Oracle.open(str(root)) as oracle:
        for drafts in ([draft], [Draft("plan", "arena", "good"), draft]):
            with pytest.raises(error) as caught:
                write_all(oracle, drafts)
            assert TOKEN not in str(caught.value) + caught.value.hint
            assert caught.value.sentence.endswith((".", "…"))
    assert written_files(root) == []


def test_redacted_secrets_reach_no_file(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        draft = Draft("decision", "arena", "x", body=f"use {TOKEN} for ARENA-1", extra={"k": TOKEN})
        written = oracle.write(draft, secrets="redact")
        assert len(written.redacted) == 2
        assert oracle.search("ARENA-1")[0].snippet.startswith("use ")
    for path in root.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path


def test_a_rehearsal_changes_nothing_and_shows_the_text(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        rehearsed = oracle.write(Draft("decision", "arena", "T", body="ARENA-1"), dry_run=True)
        assert rehearsed.dry_run
        assert "ARENA-1" in rehearsed.text
        assert rehearsed.as_json()["text"] == rehearsed.text
    assert written_files(root) == []


def test_one_moment_and_one_title_give_two_records(root: Path) -> None:
    clock = Clock(frozen_ns=1_770_000_000_123_456_000)
    with Oracle.open(str(root), clock=clock) as oracle:
        written = [oracle.write(Draft("decision", "arena", "Same", body=str(number))) for number in range(4)]
        assert len({one.slug for one in written}) == 4
        assert [one.id[-2:] for one in written[1:]] == ["-2", "-3", "-4"]
        for one in written:
            assert markdown.parse(Path(one.path).read_bytes()).fields["id"] == one.id
        assert len(oracle.records({})) == 4


def test_many_under_one_lock_keep_their_order(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        assert write_all(oracle, []) == []
        written = write_all(oracle, [Draft("plan", f"p{n % 3}", f"T {n}", body="ARENA-1") for n in range(40)])
        titles = [oracle.show(one.slug).record.title for one in written]
        assert titles == [f"T {n}" for n in range(40)]
        ordered = [record.slug for record in oracle.records({})]
        assert ordered == [one.slug for one in written]
        assert_like_rebuilt(oracle)
    assert list((root / "_state/tmp").iterdir()) == []


# relations ------------------------------------------------------------------------------------------------------------


def test_what_supersedes_may_be_named_in_any_way(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "arena", "Old", body="one"))
        for number, name in enumerate((old.slug, old.path, f"[[{old.slug}]]", old.id, f"{old.slug}.md")):
            new = oracle.write(Draft("decision", "arena", f"New {number}", supersedes=(name,)))
            assert len(new.warnings) == (number > 0)  # what was replaced before is said
            assert oracle.show(old.slug).chain[0] == new.slug
        raw = Path(old.path).read_bytes()
        assert b"superse" not in raw


def test_a_record_that_is_not_there_yet_is_a_warning_and_heals(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        new = oracle.write(Draft("decision", "arena", "New", supersedes=("projects/arena/builder/late",)))
        assert "no such record" in new.warnings[0]
        (root / "projects/arena/builder").mkdir()
        (root / "projects/arena/builder/late.md").write_text("late")
        assert oracle.show("projects/arena/builder/late").chain == (new.slug,)


def test_a_name_of_several_records_must_be_given_in_full(root: Path) -> None:
    for project in ("a", "b"):
        (root / f"projects/{project}/builder").mkdir(parents=True)
        (root / f"projects/{project}/builder/x.md").write_text("x")
    with Oracle.open(str(root)) as oracle, pytest.raises(UsageError, match="2 records") as caught:
        oracle.write(Draft("decision", "arena", "New", supersedes=("x",)))
    assert "projects/a/builder/x" in caught.value.hint


def test_near_duplicates_of_what_is_retired_are_named(root: Path) -> None:
    words = "the scheduler retries a failed job three times before it gives up on the queue"
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "arena", "Retry three times", body=words))
        twin = oracle.write(Draft("decision", "zoo", "Retry three times", body=f"{words} again"))
        oracle.write(Draft("decision", "zoo", "Lunch", body="soup on three days"))
        new = oracle.write(Draft("decision", "arena", "Retry five times", body="other", supersedes=(old.slug,)))
        assert new.near_duplicates == (twin.slug,)


@pytest.mark.parametrize("by", ["supersedes", "retires"])
@pytest.mark.parametrize("again", ["supersedes", "retires"])
def test_what_replaced_a_record_before_is_no_near_duplicate_of_it(root: Path, by: str, again: str) -> None:
    words = "the scheduler retries a failed job three times before it gives up on the queue"
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "arena", "Retry three times", body=words))
        oracle.write(Draft("decision", "arena", "Retry three times", body=f"{words} again", **{by: (old.slug,)}))
        twin = oracle.write(Draft("decision", "zoo", "Retry three times", body=f"{words} too"))
        new = oracle.write(Draft("decision", "arena", "Lunch", body="Soup.", **{again: (old.slug,)}))
        assert new.near_duplicates == (twin.slug,)


def test_retiring(root: Path) -> None:
    (root / "projects/arena/builder").mkdir(parents=True)
    (root / "projects/arena/builder/x.md").write_text("# The old way\nwords")
    with Oracle.open(str(root)) as oracle:
        written = oracle.retire("projects/arena/builder/x", "It is over.")
        shown = oracle.show("projects/arena/builder/x")
        assert (shown.chain, shown.record.effective_status) == ((written.slug,), "retired")
        assert oracle.show(written.slug).supersedes == ("projects/arena/builder/x",)
        assert "It is over." in Path(written.path).read_text()
        with pytest.raises(NotInMemory):
            oracle.retire("nowhere", "why")
        with pytest.raises(UsageError):
            oracle.retire("x", "  ")
        (root / "shared/patterns").mkdir(parents=True)
        (root / "shared/patterns/p.json").write_text('{"title": "p", "project": "../escape"}')
        oracle.retire("shared/patterns/p", "over")
        assert oracle.show("shared/patterns/p").record.effective_status == "retired"
    assert (root / "projects/arena/builder/x.md").read_text() == "# The old way\nwords"


# trouble --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("call", ["open", "write", "fsync", "link"])
def test_a_disk_that_refuses_is_one_sentence_and_no_half_record(
    root: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    with Oracle.open(str(root)) as oracle:
        oracle.init()
        with monkeypatch.context() as patch:

            def refuse(*args: object, **_: object) -> None:
                raise OSError(number, os.strerror(number))

            really = getattr(os, call)

            def perhaps(*args: object, **named: object) -> object:
                if call != "open" or str(args[0]).startswith("new."):
                    refuse()
                return really(*args, **named)

            patch.setattr(files.os, call, perhaps)
            with pytest.raises(DiskFailure) as caught:
                oracle.write(Draft("decision", "arena", "T"))
        assert caught.value.exit_code == 70
        assert caught.value.hint
        assert list((root / "projects").rglob("*.md")) == []
        assert oracle.write(Draft("decision", "arena", "T")).warnings == ()


def test_without_hard_links_a_record_is_still_created_exclusively(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with Oracle.open(str(root), clock=Clock(frozen_ns=1_770_000_000_000_000_000)) as oracle:
        first, second = (oracle.write(Draft("decision", "arena", "Same", body=body)) for body in ("one", "two"))
        assert oracle.show(first.slug).text.endswith("one")
        assert oracle.show(second.slug).text.endswith("two")
    assert sorted(path.name for path in Path(first.path).parent.iterdir()) == sorted(
        [f"{first.id}.md", f"{second.id}.md"]
    )


def test_a_journal_that_can_not_be_written_is_a_warning(root: Path) -> None:
    (root / "events.log").mkdir()
    with Oracle.open(str(root)) as oracle:
        written = oracle.write(Draft("decision", "arena", "T"))
        assert "event" in written.warnings[0]
        assert Path(written.path).is_file()


def test_an_index_that_can_not_be_written_is_a_warning_and_is_made_good(root: Path) -> None:
    (root / "_links").write_text("a file where a folder should be")
    with Oracle.open(str(root)) as oracle:
        written = oracle.write(Draft("decision", "arena", "T", body="ARENA-1"))
        assert len(written.warnings) == 1
        assert Path(written.path).is_file()
        (root / "_links").unlink()
        assert len(oracle.backlinks("entity:taskid:ARENA-1")) == 1
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


def test_a_scratch_file_of_a_dead_process_with_our_number(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        oracle.init()
        number = next(files._counter)
        for ahead in range(1, 12):
            (root / f"_state/tmp/new.{os.getpid()}.{number + ahead}").write_text("left over")
        assert oracle.write(Draft("decision", "arena", "T")).warnings == ()


def test_init_is_private_and_repeatable(tmp_path: Path) -> None:
    root = tmp_path / "deep/memory"
    with Oracle.open(str(root)) as oracle:
        assert oracle.init()
        assert root.stat().st_mode & 0o777 == 0o700
        root.chmod(0o755)
        assert not oracle.init()
        assert root.stat().st_mode & 0o777 == 0o755


def test_init_says_what_it_made_in_a_folder_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    tmp_path.chmod(0o755)
    warnings: list[str] = []
    with Oracle.open(str(tmp_path), warn=warnings.append) as oracle:
        assert oracle.init()
        assert not oracle.init()
    assert warnings == [f"{tmp_path} was there and is open to others; for its owner alone: chmod 700 {tmp_path}"]
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_write_says_that_projections_behind_a_link_out_of_the_root_are_not_printed(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    with Oracle.open(str(root)) as oracle:
        assert oracle.write(Draft("decision", "arena", "First", "ARENA-1")).warnings == ()
        shutil.rmtree(root / "_backlinks")
        (root / "_backlinks").symlink_to(tmp_path / "elsewhere")
        (warning,) = oracle.write(Draft("decision", "arena", "Second", "ARENA-1")).warnings
    assert warning.startswith("_backlinks is a symbolic link: nothing is printed there")
    assert list((tmp_path / "elsewhere").iterdir()) == []


RANDOM = "A1b2C3d4E5f6G7h8" + "I9j0K1l2M3n4O5p6"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"title": f"token {TOKEN}"}, "title"),
        ({"body": f"x {TOKEN} y"}, "body"),
        ({"detail": TOKEN}, "detail"),
        ({"author": TOKEN}, "author"),
        ({"task_id": TOKEN}, "task_id"),
        ({"related_task_ids": ("T-1", TOKEN)}, "related_task_ids"),
        ({"supersedes": (f"projects/arena/decision/{TOKEN}",)}, "supersedes"),
        ({"evidence": (Evidence("high", TOKEN),)}, "evidence.source_url"),
        ({"evidence": (Evidence("high", "x", quote=TOKEN),)}, "evidence.quote"),
        ({"evidence": (Evidence("high", "x", extra={"note": TOKEN}),)}, "evidence.extra.note"),
        ({"evidence": (Evidence("high", "x", extra={"api_key": RANDOM}),)}, "evidence.extra.api_key"),
        ({"extra": {"deep": {"list": ["a", TOKEN]}}}, "extra.deep.list"),
        ({"extra": {TOKEN: "x"}}, "extra (a key)"),
        ({"extra": {"api_key": RANDOM}}, "extra.api_key"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_secret_in_any_field_is_refused_and_redacted(root: Path, changes: dict[str, object], field: str) -> None:
    draft = Draft(**{"kind": "decision", "project": "arena", "title": "Plain", **changes})
    with Oracle.open(str(root)) as oracle:
        with pytest.raises(SecretFound) as refusal:
            oracle.write(draft)
        assert f"in the field {field}" in refusal.value.sentence
        assert not (root / "projects").exists()
        written = oracle.write(draft, secrets="redact")
        assert any(field in item for item in written.redacted)
    texts = [path.read_bytes() for path in root.rglob("*") if path.is_file()]
    assert not any(secret.encode() in text for text in texts for secret in (TOKEN, RANDOM))


def test_a_record_is_retired_once(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        slug = oracle.write(Draft("decision", "arena", "One retry", "Once.")).slug
        first = oracle.retire(slug, "It is over.")
        before = sorted(root.rglob("*.md"))
        again = oracle.retire(slug, "Still over.")
        assert (again.slug, again.path, again.id) == (first.slug, first.path, first.id)
        assert first.already == ""
        assert f"{slug} is retired already, by {first.slug}" in again.already
        assert again.as_json()["already"] == again.already
        assert sorted(root.rglob("*.md")) == before
        newer = oracle.write(Draft("decision", "arena", "Two retries", "Twice.")).slug
        newest = oracle.write(Draft("decision", "arena", "Three retries", "Thrice.", supersedes=(newer,))).slug
        of_old = oracle.retire(newer, "What stands in its place would be lost from sight.")
        assert f"{newer} is superseded already, by {newest}" in of_old.already
        assert chains(oracle, [newer]) == {newer: (newest,)}


def test_of_records_with_one_title_a_change_means_the_one_that_holds(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "arena", "Use a queue", "Redis.")).slug
        new = oracle.write(Draft("decision", "arena", "Use a queue", "Kafka.", supersedes=(old,))).slug
        ended = oracle.retire("Use a queue", "No queue at all.")
        assert chains(oracle, [new]) == {new: (ended.slug,)}
        with pytest.raises(UsageError, match="names 2 records"):
            oracle.retire("Use a queue", "Once more.")


def test_a_record_holds_again_when_the_file_that_retired_it_is_removed(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        slug = oracle.write(Draft("decision", "arena", "One retry", "Once.")).slug
        Path(oracle.retire(slug, "A slip.").path).unlink()
        assert oracle.show(slug).record.retired_by == ""
        assert chains(oracle, [slug]) == {}


def test_marks_name_what_does_not_hold(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "arena", "Old", "See [[ghost]] and ARENA-1.")).slug
        new = oracle.write(Draft("decision", "arena", "New", "Instead.", supersedes=(old,))).slug
        gone = oracle.write(Draft("decision", "arena", "Gone", "Nothing.")).slug
        oracle.retire(gone, "Over.")
        asked = [old, new, gone, "projects/arena/decision/ghost", "entity:taskid:ARENA-1"]
        assert marks(oracle, asked) == {old: "superseded", gone: "retired", "projects/arena/decision/ghost": "missing"}


@pytest.mark.parametrize(
    ("project", "remark"),
    [
        ("shpo", "project shpo is new; did you mean shop?"),
        ("zebra", "project zebra is new; there are bank, mill, quay, shop"),
        ("shop", ""),
        ("bank", ""),
        ("mill", ""),
        ("quay", ""),
        ("_shared", ""),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_write_that_makes_a_project_says_so(home: Path, project: str, remark: str, *, dry_run: bool) -> None:
    root = home / ".agents/memory"
    (root / "projects/shop/task").mkdir(parents=True)
    (home / ".agents/tasks/bank").mkdir(parents=True)
    (home / ".agents/profiles").mkdir()
    (home / ".agents/profiles/mill-profile-dynamic.toml").write_text("")
    (home / ".clawseat").mkdir()
    (home / ".clawseat/projects.json").write_text('{"projects": [{"name": "quay"}]}')
    with Oracle.open(str(root)) as oracle:
        written = oracle.write(Draft("decision", project, "Use one lock"), dry_run=dry_run, new_project=True)
        assert written.warnings == ((remark,) if remark else ())
        assert Path(written.path).exists() is not dry_run
        if not dry_run:
            assert oracle.write(Draft("decision", project, "Bake bread")).warnings == ()


def test_first_project_of_a_root_is_no_surprise(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        written = oracle.write(Draft("decision", "arena", "Use one lock"))
    assert (written.warnings, Path(written.path).exists()) == ((), True)


def test_first_of_several_records_of_a_new_project_alone_is_remarked_on(root: Path) -> None:
    (root / "projects/shop").mkdir(parents=True)
    with Oracle.open(str(root)) as oracle:
        drafts = [Draft("decision", "shpo", f"Use lock {number}") for number in range(3)]
        written = write_all(oracle, drafts, new_project=True)
    assert [len(one.warnings) for one in written] == [1, 0, 0]


# A sync that fails, and the same command again ------------------------------------------------------------------------


def count_syncs(root: Path, drafts: list[Draft]) -> int:
    calls = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files.os, "fsync", lambda _: next(calls))
        with Oracle.open(str(root)) as oracle:
            write_all(oracle, drafts)
    return next(calls)


def failing_sync(at: int, number: int) -> Callable[[int], None]:
    calls, really = itertools.count(), os.fsync

    def fsync(handle: int) -> None:
        if next(calls) == at:
            raise OSError(number, os.strerror(number))
        really(handle)

    return fsync


BATCHES = {
    "one": [Draft("decision", "arena", "T", body="ARENA-1")],
    "several": [Draft("task", "arena", f"T {number}", body="[[x]]") for number in range(3)],
    "twins": [Draft("plan", "arena", "T", body="x")] * 2,
    "folders": [Draft(kind, "arena", "T", body="x") for kind in ("plan", "decision")],
}


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_write_whose_sync_failed_can_be_repeated(root: Path, tmp_path: Path, batch: str, number: int) -> None:
    """At each sync in turn: the second time every record exists once, indexed and in the journal once."""
    drafts = BATCHES[batch]
    (tmp_path / "other").mkdir()
    for at in range(count_syncs(tmp_path / "other", drafts)):
        folder = root / str(at)
        folder.mkdir(mode=0o700)
        with Oracle.open(str(folder)) as oracle:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(files.os, "fsync", failing_sync(at, number))
                with pytest.raises(DiskFailure) as caught:
                    write_all(oracle, drafts)
            assert (caught.value.code, caught.value.exit_code) == ("disk", 70)
            stands = len(list((folder / "projects").rglob("*.md")))
            assert ("may exist" in caught.value.hint) == (stands > 0)
            written = write_all(oracle, drafts)
            assert len({one.slug for one in written}) == len(drafts)
            assert [bool(one.already) for one in written].count(True) == stands
            assert len(oracle.records({})) == len(drafts)
        assert len(list((folder / "projects").rglob("*.md"))) == len(drafts)
        assert (folder / "events.log").read_text().count('"event":"write"') == len(drafts)


@pytest.mark.parametrize(("seconds", "count"), [(0, 1), (59, 1), (61, 2)])
def test_the_same_record_is_not_written_twice_in_a_minute(root: Path, seconds: int, count: int) -> None:
    clock = Clock(frozen_ns=time.time_ns())
    with Oracle.open(str(root), clock=clock) as oracle:
        first = oracle.write(Draft("decision", "arena", "T", body="x"))
        clock.advance(seconds)
        os.utime(Path(first.path).parent, (clock.now_ns() / 1e9,) * 2)
        again = oracle.write(Draft("decision", "arena", "T", body="x"))
        assert len({first.slug, again.slug}) == count
        assert bool(again.already) == (count == 1)


@pytest.mark.parametrize(
    "other",
    [{"body": "y"}, {"title": "T 2"}, {"confidence": "low"}, {"project": "other"}, {"kind": "plan"}, {"author": "ada"}],
)
def test_another_record_is_never_taken_for_the_same(root: Path, other: dict[str, str]) -> None:
    with Oracle.open(str(root)) as oracle:
        same = {"kind": "decision", "project": "arena", "title": "T", "body": "x"}
        first = oracle.write(Draft(**same))  # type: ignore[arg-type]
        again = oracle.write(Draft(**{**same, **other}))  # type: ignore[arg-type]
        assert first.slug != again.slug
        assert not again.already


def test_links_need_no_model(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("oracle.app.search.models", "oracle.app.search.ranking.semantic", "oracle.index.vectors", "numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    with Oracle.open(str(root)) as oracle:
        first = oracle.write(Draft("decision", "arena", "One", body="For ARENA-1."))
        oracle.write(Draft("plan", "arena", "Two", body=f"After [[{first.slug}]]."))
        assert len(oracle.backlinks("entity:taskid:ARENA-1")) == 1
        assert len(oracle.backlinks(first.slug)) == 1


@pytest.mark.parametrize("project", ["e\u0301cole", "\u1100\u1161", "s\u0323\u0307"])
def test_a_project_is_named_as_its_folder_is(root: Path, project: str) -> None:
    with Oracle.open(str(root)) as oracle:
        oracle.init()
        oracle.write(Draft("decision", project, "One", body="Two."))
        assert [check.detail for check in oracle.doctor() if check.name == "owners" and not check.ok] == []
        assert oracle.records({"project": project})[0].project == unicodedata.normalize("NFC", project)
