"""Law 4: names pass one validator, paths stay under the Root, and the text of a record is data, never a name."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.app.overview.status import find_fact, status
from oracle.app.records.graph import graph
from oracle.app.records.listing import list_problems
from oracle.domain.names import MAX_NAME_BYTES, check_name
from oracle.domain.records.drafts import Draft, name_of
from oracle.errors import InvalidName, InvalidRecord, OracleError, UsageError
from tests.conftest import CASES

NAMES = json.loads((CASES / "names.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES["bad"])
def test_bad_names_are_refused_by_every_door_that_takes_one(root: Path, name: str) -> None:
    with pytest.raises(InvalidName):
        check_name(name, "project")
    with Oracle.open(str(root)) as oracle:
        with pytest.raises(InvalidName):
            oracle.write(Draft("decision", name, "T"))
        if name:
            with pytest.raises(InvalidName):
                oracle.records({"project": name})
            with pytest.raises(InvalidName):
                oracle.search("x", {"seat": name})
        with pytest.raises(InvalidName):
            oracle.root.project(name)
    assert not (root / "projects").exists() or not any((root / "projects").iterdir())


@pytest.mark.parametrize("name", NAMES["good"])
def test_good_names_work(root: Path, name: str) -> None:
    with Oracle.open(str(root)) as oracle:
        written = oracle.write(Draft("decision", name, "T"))
        assert [record.slug for record in oracle.records({"project": name})] == [written.slug]
        assert Path(written.path).parent == root / "projects" / name / "decision"


@given(st.text(max_size=140))
def test_an_accepted_name_is_one_plain_component(name: str) -> None:
    try:
        checked = check_name(name, "project")
    except InvalidName:
        return
    assert 0 < len(checked.encode()) <= MAX_NAME_BYTES
    assert checked[0].isalnum()
    assert ".." not in checked
    assert not set(checked) & set("/\\\0\n\r\t $;'\"`&|<>*?[]{}()!#~:%=,@")
    assert check_name(checked, "project") == checked


@pytest.mark.parametrize(
    "target",
    ["../x", "projects/../../etc/passwd", "/etc/passwd", "a/../../x", "..", "", " ", "\0", "entity:", "entity:x"],
)
def test_targets_that_climb_or_say_nothing_are_refused(root: Path, target: str) -> None:
    with Oracle.open(str(root)) as oracle:
        for use in (oracle.backlinks, oracle.links, oracle.show, partial(graph, oracle)):
            with pytest.raises(UsageError):
                use(target)


@pytest.mark.parametrize("key", ["../x.y", "/etc/passwd", "..", "", ".", "a/b.c", "a\0b.c"])
def test_fact_keys_name_no_file_elsewhere(root: Path, key: str) -> None:
    (root.parent / "x.json").write_text('{"y": 1}')
    with Oracle.open(str(root)) as oracle, pytest.raises(OracleError):
        find_fact(oracle, key)


def test_facts_through_a_link_out_of_the_root_are_not_there(root: Path) -> None:
    (root.parent / "secret.json").write_text('{"y": "outside"}')
    (root / "machine").mkdir()
    (root / "machine/secret.json").symlink_to(root.parent / "secret.json")
    with Oracle.open(str(root)) as oracle:
        with pytest.raises(OracleError, match="not_in_memory_db"):
            find_fact(oracle, "secret.y")
        assert "secret" not in json.dumps(status(oracle))


@pytest.mark.parametrize("where", ["projects", "projects/a", "projects/a/builder", "projects/a/builder/x.md"])
def test_links_that_leave_the_root_are_not_followed_and_are_named(root: Path, tmp_path: Path, where: str) -> None:
    away = tmp_path / "away"
    inner = (
        away / Path("projects/a/builder/x.md").relative_to(where)
        if where != "projects/a/builder/x.md"
        else away / "x.md"
    )
    inner.parent.mkdir(parents=True)
    inner.write_text("needle OUTSIDE-1")
    (root / where).parent.mkdir(parents=True, exist_ok=True)
    (root / where).symlink_to(away / "x.md" if where.endswith(".md") else away)
    (root / "learnings").mkdir()
    (root / "learnings/good.md").write_text("needle")
    with Oracle.open(str(root)) as oracle:
        assert [hit.record.slug for hit in oracle.search("needle")] == ["learnings/good"]
        assert [path for path, line, reason in list_problems(oracle) if line and reason] == [where]
        assert not oracle.backlinks("entity:taskid:OUTSIDE-1")


@pytest.mark.parametrize("where", ["projects", "projects/a", "projects/a/builder"])
def test_a_folder_that_moves_out_behind_a_link_takes_its_records_along(root: Path, tmp_path: Path, where: str) -> None:
    (root / "projects/a/builder/sub").mkdir(parents=True)
    for name in ("x", "sub/y"):
        (root / f"projects/a/builder/{name}.md").write_text("needle")
    with Oracle.open(str(root)) as oracle:
        assert len(oracle.search("needle")) == 2
        (root / where).rename(tmp_path / "away")
        (root / where).symlink_to(tmp_path / "away")
        assert oracle.search("needle") == []
        assert oracle.records({}) == []
        (root / where).unlink()
        (tmp_path / "away").rename(root / where)
        assert len(oracle.search("needle")) == 2


def test_links_inside_the_root_count_once_a_file_and_never_as_a_folder(root: Path) -> None:
    builder = root / "projects/a/builder"
    builder.mkdir(parents=True)
    (builder / "x.md").write_text("needle")
    (builder / "link.md").symlink_to("x.md")
    (root / "projects/b").symlink_to("a")
    (builder / "loop").symlink_to("..")
    (builder / "self.md").symlink_to("self.md")
    with Oracle.open(str(root)) as oracle:
        slugs = {record.slug for record in oracle.records({})}
        assert slugs == {"projects/a/builder/x", "projects/a/builder/link"}
        named = {path for path, _, _ in list_problems(oracle)}
        assert named == {"projects/b", "projects/a/builder/loop", "projects/a/builder/self.md"}


def test_a_root_reached_through_a_link_is_the_root(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    with Oracle.open(str(link)) as oracle:
        written = oracle.write(Draft("decision", "a", "T", body="ARENA-1"))
        for name in (
            written.slug,
            written.path,
            str(root / f"{written.slug}.md"),
            f"./{written.slug}.md",
            f"{written.slug}/",
        ):
            assert oracle.show(name).record.slug == written.slug
    with Oracle.open(str(root)) as oracle:
        assert len(oracle.backlinks("entity:taskid:ARENA-1")) == 1


ODD_TITLES = [
    "../../../etc/passwd",
    "/abs",
    "$(touch x) `touch y` ; rm -rf /",
    "%s %d {0} {title} %(x)s",
    "a\nb\r\n---\nkind: forged",
    'con nul ~ * ? " < > |',
    "---",
    "...",
    "\u202etxt.exe",
    "x" * 5_000,
    "标题" * 500,
    "e\u0301" * 200,
    "👩‍👩‍👧‍👦" * 50,
    "-rf --",
    ".hidden",
    "yes",
    "2026-01-01",
    "{{date}}",
    "*a &b !c",
    "\x1b[31mred\x07",
    "İı ſ ß Ǆ",
]


@pytest.mark.parametrize("title", ODD_TITLES, ids=range(len(ODD_TITLES)))
def test_odd_titles_stay_titles(root: Path, title: str) -> None:
    with Oracle.open(str(root)) as oracle:
        before = set(root.parent.rglob("*"))
        written = oracle.write(Draft("decision", "a", title, body=f"body {title} ARENA-1"))
        path = Path(written.path)
        assert path.parent == root / "projects/a/decision"
        assert len(path.name.encode()) <= 255
        assert path.name.isprintable()
        assert path.read_text(encoding="utf-8").count("\n---\n") <= 1 + title.replace("\r", "").count("\n---\n")
        made = {new.relative_to(root).parts[0] for new in set(root.parent.rglob("*")) - before}
        assert made <= {"projects", "_state", "_links", "_backlinks", "events.log"}
        record = oracle.show(written.slug).record
        assert record.kind == "decision"
        assert record.title == " ".join(title.split())[:300]
        assert [row[0] for row in oracle.backlinks("entity:taskid:ARENA-1")] == [written.slug]
    assert len((root / "events.log").read_bytes().splitlines()) == 1


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300))
def test_a_title_gives_a_short_plain_name(title: str) -> None:
    name = name_of(title)
    assert 0 < len(name.encode()) <= 80
    assert not set(name) & set("/\\\0\n. ")
    assert name[0] != "-"


def test_half_a_character_is_refused_and_nothing_is_written(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        for draft in (
            Draft("decision", "a", "x\ud800"),
            Draft("decision", "a", "x", body="\udfff"),
            Draft("decision", "a", "x", body="\0"),
        ):
            with pytest.raises(InvalidRecord):
                oracle.write(draft)
    assert not list(root.rglob("*.md"))


def test_a_link_to_a_file_that_is_no_record_is_not_read(root: Path) -> None:
    """A link among the records must not bring a secret of `machine/` into the index."""
    (root / "machine").mkdir()
    (root / "machine" / "credentials.json").write_text('{"keys": {"X": {"value": "canary-word"}}}')
    folder = root / "projects" / "arena" / "builder"
    folder.mkdir(parents=True)
    (folder / "innocent.json").symlink_to(root / "machine" / "credentials.json")
    (folder / "good.md").write_text("see ARENA-1")
    with Oracle.open(str(root)) as oracle:
        assert oracle.search("canary-word") == []
        assert [record.slug for record in oracle.records({})] == ["projects/arena/builder/good"]
        assert list_problems(oracle) == [
            (
                "projects/arena/builder/innocent.json",
                1,
                "A symbolic link to a file that is not a record is not followed.",
            )
        ]
