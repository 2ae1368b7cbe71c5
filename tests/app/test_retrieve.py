"""Searching, showing, listing and walking, through the façade: the cases of search, links and sizes, and the filters."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.app.records.graph import graph, unresolved
from oracle.app.records.listing import list_orphans, list_problems
from oracle.domain.markdown.passages import MAX_CHARACTERS
from oracle.domain.records.chains import replaces
from oracle.domain.records.drafts import Draft
from oracle.errors import NotInFederation, NotInMemory, UsageError
from tests.laws.ledger import assert_like_rebuilt

BUILDER = "projects/arena/builder"


def put(root: Path, name: str, text: str | bytes) -> Path:
    path = root / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# cases ----------------------------------------------------------------------------------------------------------------


@pytest.mark.cases("search", "more_search")
def test_search_cases(root: Path, case: dict[str, Any]) -> None:
    for name, text in case["records"].items():
        put(root, f"{BUILDER}/{name}", f"# note\n\n{text}\n")
    with Oracle.open(str(root)) as oracle:
        hits = oracle.search(case["query"])
        assert {hit.record.slug.rpartition("/")[2] for hit in hits} == set(case["hits"])
        for hit in hits:
            text = case["records"][hit.record.slug.rpartition("/")[2]]
            assert text in hit.snippet
            assert (hit.first_line, hit.last_line) == (3, 3)


@pytest.mark.cases("links")
def test_link_cases(root: Path, case: dict[str, Any]) -> None:
    for slug in case.get("records", []):
        put(root, slug, "a record\n")
    for path, text in case.get("files", {}).items():
        put(root, path.removesuffix(".md"), text)
    source = case.get("slug", "projects/arena/decision/2026-01-01-a")
    put(root, source, case["text"])
    with Oracle.open(str(root)) as oracle:
        rows = oracle.links(source)
        found = {(kind, target) for kind, target, *_ in rows}
        wanted = {tuple(edge) for edge in case["edges"]}
        allowed = {tuple(edge) for name in ("also_ok", "maybe") for edge in case.get(name, [])}
        assert len(rows) == len(found)
        assert wanted <= found <= wanted | allowed
        for kind, target in found:
            assert kind in {row[1] for row in oracle.backlinks(target)}
        for *_, exists in rows:
            assert exists == 1


ENTITIES = ("ARENA-7", "src/app.py", "https://a.test/b", "[KEY: border]", "PhysicsEngine", "commit abc1234")


@pytest.mark.parametrize("entity", ENTITIES)
def test_a_record_that_shares_an_entity_is_no_orphan(root: Path, entity: str) -> None:
    put(root, f"{BUILDER}/one", f"About {entity}.\n")
    put(root, f"{BUILDER}/alone", "About ARENA-99, docs/x.md and nothing else.\n")
    with Oracle.open(str(root)) as oracle:
        assert {record.slug for record in list_orphans(oracle)} == {f"{BUILDER}/one", f"{BUILDER}/alone"}
        put(root, "projects/zoo/planner/other", f"Also {entity}, and again {entity}.\n")
        oracle.reconcile()
        assert [record.slug for record in list_orphans(oracle)] == [f"{BUILDER}/alone"]


@pytest.mark.parametrize("count", [1, 4, 5, 60])
def test_a_long_chain_is_shown_by_its_ends_and_its_length(root: Path, count: int) -> None:
    for number in range(count + 1):
        ends = f"supersedes: {BUILDER}/n{number - 1}\n" if number else ""
        put(root, f"{BUILDER}/n{number}", f"---\nts: 2026-01-01T00:00:{number:02}Z\n{ends}---\nwords\n")
    with Oracle.open(str(root)) as oracle:
        said = str(replaces(oracle.show(f"{BUILDER}/n{count}").supersedes))
    assert f"{BUILDER}/n0" in said
    assert f"{BUILDER}/n{count - 1}" in said
    assert said.count(BUILDER) == min(count, 4)
    assert (f"{count - 4} more" in said) == (count > 4)


# search ---------------------------------------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.text(max_size=60))
def test_no_text_breaks_a_search(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    oracle = any_oracle(tmp_path_factory)
    for hit in oracle.search(text):
        assert len(hit.snippet) <= MAX_CHARACTERS


_opened: list[Oracle] = []


def any_oracle(folders: pytest.TempPathFactory) -> Oracle:
    """One Root for all texts: making one for each would be most of the test's time."""
    if not _opened or not Path(_opened[0].root.path).is_dir():
        root = folders.mktemp("memory")
        for number, text in enumerate(
            ('a "b" AND c* ^d', "中文 ＡＲＥＮＡ-1 한국어", "x" * 3_000, "NEAR(foo bar) {col}: -not")
        ):
            put(root, f"{BUILDER}/{number}", text)
        _opened[:] = [Oracle.open(str(root))]
    return _opened[0]


def test_a_hit_says_where_its_words_stand(root: Path) -> None:
    lines = ["---", "title: A note", "---", "", *(f"line {number}" for number in range(5, 400))]
    lines[299] = ""
    lines[300] = "the needle in question"
    lines[301] = ""
    put(root, f"{BUILDER}/x", "\n".join(lines))
    with Oracle.open(str(root)) as oracle:
        hit = oracle.search("needle")[0]
        assert "the needle in question" in hit.snippet.split("\n")
        assert hit.first_line <= 301 <= hit.last_line
        assert len(hit.snippet) <= MAX_CHARACTERS
        shown = oracle.show(f"{BUILDER}/x", first_line=hit.first_line, last_line=hit.last_line)
        assert shown.text == hit.snippet


def test_retired_records_come_last_and_say_by_what(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "arena", "needle needle needle", body="needle " * 20))
        middle = oracle.write(Draft("decision", "arena", "other", body="needle", supersedes=(old.slug,)))
        new = oracle.write(
            Draft("decision", "arena", "third", body="a needle somewhere in more words", supersedes=(middle.slug,))
        )
        hits = oracle.search("needle")
        assert hits[0].record.slug == new.slug
        assert {hit.record.slug: hit.chain for hit in hits} == {
            new.slug: (),
            middle.slug: (new.slug,),
            old.slug: (middle.slug, new.slug),
        }
        assert [hit.record.effective_status for hit in hits] == ["open", "superseded", "superseded"]


def test_filters(root: Path) -> None:
    put(
        root,
        f"{BUILDER}/one",
        "---\nkind: finding\nstatus: open\nauthor: ann\ntask_id: T-1\nts: 2026-03-01T07:00:00+08:00\n---\nneedle",
    )
    put(root, "projects/arena/planner/two", "---\nkind: decision\nstatus: resolved\nts: 2026-03-31\n---\nneedle")
    put(root, "projects/zoo/builder-2/three", "---\nkind: decision\nts: '2026-04-02 10:00:00'\n---\nneedle T-1")
    with Oracle.open(str(root)) as oracle:
        for filters, names in [
            ({"project": "arena"}, "one two"),
            ({"seat": "builder"}, "one"),
            ({"seat": "builder-2"}, "three"),
            ({"kind": "decision"}, "two three"),
            ({"status": "resolved"}, "two"),
            ({"author": "ann"}, "one"),
            ({"task": "T-1"}, "one three"),
            ({"task": "entity:taskid:T-1", "kind": "finding"}, "one"),
            ({"since": "2026-03-01"}, "two three"),
            ({"since": "2026-02-28T23:00:00Z", "until": "2026-03-01"}, "one"),
            ({"until": "2026-03-31"}, "one two"),
            ({"until": "31 Mar 2026"}, "one two"),
            ({"until": "2026-03-30T23:00"}, "one"),
            ({"kind": "Finding", "seat": "Builder", "status": "OPEN"}, "one"),
            ({"kind": "nothing"}, ""),
        ]:
            listed = [record.slug.rpartition("/")[2] for record in oracle.records(filters)]
            assert listed == names.split(), filters
            assert {hit.record.slug.rpartition("/")[2] for hit in oracle.search("needle", filters)} == set(
                names.split()
            )
        newest = oracle.records({}, limit=2, newest_first=True)
        assert [record.slug.rpartition("/")[2] for record in newest] == ["three", "two"]


def test_any_folder_is_a_seat(root: Path) -> None:
    put(root, "projects/arena/QA/one", "needle")
    put(root, "projects/arena/QA-2/two", "---\nseat: planner\n---\nneedle")
    with Oracle.open(str(root)) as oracle:
        assert [(record.seat, record.kind) for record in oracle.records({"seat": "QA"})] == [("qa", "note")]
        assert [record.claims_seat for record in oracle.records({"seat": "qa-2"})] == ["planner"]
        with pytest.raises(NotInFederation):
            oracle.records({"seat": "qa-3"})


@pytest.mark.parametrize(
    "filters", [{"since": "yesterday"}, {"until": "2026-13-01"}, {"colour": "x"}, {"project": "../x"}]
)
def test_filters_that_make_no_sense(root: Path, filters: dict[str, str]) -> None:
    with Oracle.open(str(root)) as oracle, pytest.raises(UsageError):
        oracle.records(filters)


@pytest.mark.parametrize(
    "filters", [{"project": "nowhere"}, {"seat": "patrol"}, {"project": "arena", "seat": "planner"}]
)
def test_an_absent_seat_is_never_an_empty_success(root: Path, filters: dict[str, str]) -> None:
    put(root, f"{BUILDER}/one", "needle")
    with Oracle.open(str(root)) as oracle:
        for use in (lambda: oracle.records(filters), lambda: oracle.search("needle", filters)):
            with pytest.raises(NotInFederation, match="not_in_federated_kb") as caught:
                use()
            assert caught.value.exit_code == 4


def test_a_hit_in_frontmatter_or_json_has_lines_that_the_file_has(root: Path) -> None:
    put(root, f"{BUILDER}/x", "---\ntitle: a needle\n---\n")
    put(root, f"{BUILDER}/y", "")
    (root / BUILDER / "z.json").write_text('{"title": "z",\n "body": "one\\ntwo\\nthe needle for ARENA-1"}')
    with Oracle.open(str(root)) as oracle:
        hits = {hit.record.slug[-1]: hit for hit in oracle.search("needle")}
        assert set(hits) == {"x", "z"}
        assert "a needle" in hits["x"].snippet
        assert "the needle" in hits["z"].snippet
        for hit in hits.values():
            shown = oracle.show(hit.record.slug, first_line=hit.first_line, last_line=hit.last_line)
            assert "needle" in shown.text
        assert [row[3] for row in oracle.backlinks("entity:taskid:ARENA-1")] == [1]
        assert [(hit.first_line, hit.snippet) for hit in oracle.search("y")] in ([], [(1, "")])


# show -----------------------------------------------------------------------------------------------------------------


def test_lines_of_a_record(root: Path) -> None:
    put(root, f"{BUILDER}/x", "one\r\ntwo\rthree\n\nfive")
    with Oracle.open(str(root)) as oracle:
        assert oracle.show(f"{BUILDER}/x").text == "one\ntwo\nthree\n\nfive"
        shown = oracle.show("x", first_line=2, last_line=3)
        assert (shown.text, shown.first_line, shown.last_line, shown.total_lines) == ("two\nthree", 2, 3, 5)
        assert oracle.show("x", first_line=5, last_line=99).text == "five"
        for first, last in ((0, 1), (6, 9), (3, 2), (-1, 2)):
            with pytest.raises(UsageError):
                oracle.show("x", first_line=first, last_line=last)


def test_what_is_not_there_is_said_with_what_is_near(root: Path) -> None:
    put(root, f"{BUILDER}/x", "one")
    put(root, "projects/zoo/builder/x", "two")
    with Oracle.open(str(root)) as oracle:
        with pytest.raises(UsageError, match="names 2 records") as caught:
            oracle.show("x")
        assert f"{BUILDER}/x" in caught.value.hint
        with pytest.raises(NotInMemory):
            oracle.show(f"{BUILDER}/y")
        assert oracle.show("zoo/builder/x").text == "two"


def test_a_json_twin_is_named_by_its_slug_and_by_its_path(root: Path) -> None:
    put(root, f"{BUILDER}/x", "markdown needle")
    (root / BUILDER / "x.json").write_text('{"title": "json needle"}')
    (root / BUILDER / "y.json").write_text('{"title": "alone"}')
    with Oracle.open(str(root)) as oracle:
        assert oracle.show(f"{BUILDER}/x").record.path == f"{BUILDER}/x.md"
        assert oracle.show(f"{BUILDER}/x.md").record.path == f"{BUILDER}/x.md"
        assert oracle.show(f"{BUILDER}/x.json").record.path == f"{BUILDER}/x.json"
        assert oracle.show(str(root / BUILDER / "x.json")).record.path == f"{BUILDER}/x.json"
        assert oracle.show(f"{BUILDER}/y").record.slug == oracle.show(f"{BUILDER}/y.json").record.slug == f"{BUILDER}/y"
        assert len(oracle.search("needle")) == 2
        (root / BUILDER / "x.md").unlink()
        assert oracle.show(f"{BUILDER}/x").record.path == f"{BUILDER}/x.json"
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


def test_names_in_either_normal_form(root: Path) -> None:
    composed, decomposed = "über-é", unicodedata.normalize("NFD", "über-é")
    put(root, f"{BUILDER}/{decomposed}", "needle ARENA-1")
    put(root, f"{BUILDER}/y", f"[[{composed}]]")
    with Oracle.open(str(root)) as oracle:
        assert oracle.show(f"{BUILDER}/{composed}").record.slug == f"{BUILDER}/{decomposed}"
        assert [row[0] for row in oracle.backlinks(f"{BUILDER}/{composed}")] == [f"{BUILDER}/y"]
        put(root, f"{BUILDER}/{composed}", "the other")
        assert oracle.show(f"{BUILDER}/{composed}").text == "the other"
        assert len(oracle.records({})) == 3
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


# links that heal ------------------------------------------------------------------------------------------------------


def test_a_link_heals_when_its_record_appears_and_breaks_when_it_goes(root: Path) -> None:
    put(root, f"{BUILDER}/a", "see [[late]] and [[planner/late]]")
    with Oracle.open(str(root)) as oracle:
        assert [row[3] for row in unresolved(oracle)] == ["late", "planner/late"]
        put(root, "projects/arena/planner/late", "here")
        assert unresolved(oracle) == []
        assert [target for _, target, *_ in oracle.links(f"{BUILDER}/a")] == ["projects/arena/planner/late"]
        put(root, f"{BUILDER}/late", "nearer")
        targets = {target for _, target, *_ in oracle.links(f"{BUILDER}/a")}
        assert targets == {f"{BUILDER}/late", "projects/arena/planner/late"}
        (root / f"{BUILDER}/late.md").unlink()
        (root / "projects/arena/planner/late.md").rename(root / "projects/arena/planner/later.md")
        assert len(unresolved(oracle)) == 2
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


def test_links_to_oneself_and_in_circles(root: Path) -> None:
    put(root, f"{BUILDER}/a", "---\nsupersedes: [a, b]\n---\n[[a]] [[b]] [self](a.md)")
    put(root, f"{BUILDER}/b", "---\nsupersedes: a\n---\n[[a]]")
    with Oracle.open(str(root)) as oracle:
        assert {(kind, target) for kind, target, *_ in oracle.links(f"{BUILDER}/a")} == {
            ("references-record", f"{BUILDER}/b"),
            ("supersedes", f"{BUILDER}/b"),
        }
        assert oracle.show(f"{BUILDER}/a").chain == (f"{BUILDER}/b",)
        assert oracle.show(f"{BUILDER}/b").chain == (f"{BUILDER}/a",)
        assert oracle.show(f"{BUILDER}/a").supersedes == (f"{BUILDER}/b",)
        walk = graph(oracle, f"{BUILDER}/a", depth=32, direction="both")
        assert walk.nodes == (f"{BUILDER}/a", f"{BUILDER}/b")
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


def test_the_chain_ends_when_its_newest_record_is_deleted(root: Path) -> None:
    put(root, f"{BUILDER}/a", "the first")
    put(root, f"{BUILDER}/b", "---\nsupersedes: a\nts: 2026-01-01\n---\n")
    put(root, f"{BUILDER}/c", "---\nretires: a\nts: 2026-01-02\n---\n")
    with Oracle.open(str(root)) as oracle:
        assert oracle.show("a").record.retired_by == f"{BUILDER}/c"
        assert oracle.show("a").record.effective_status == "retired"
        (root / f"{BUILDER}/c.md").unlink()
        assert oracle.show("a").record.retired_by == f"{BUILDER}/b"
        assert oracle.show("a").record.effective_status == "superseded"
        (root / f"{BUILDER}/b.md").unlink()
        assert oracle.show("a").chain == ()
        assert oracle.show("a").record.effective_status == ""


def test_a_retirer_without_a_date_counts_by_its_mtime(root: Path) -> None:
    put(root, f"{BUILDER}/a", "the first")
    for name, moment in (("b", 1_700_000_000), ("c", 1_600_000_000)):
        os.utime(put(root, f"{BUILDER}/{name}", "---\nsupersedes: a\n---\n"), (moment, moment))
    with Oracle.open(str(root)) as oracle:
        assert oracle.show("a").chain == (f"{BUILDER}/b",)
        os.utime(root / f"{BUILDER}/c.md", (1_750_000_000, 1_750_000_000))
        assert oracle.show("a", fresh=True).chain == (f"{BUILDER}/c",)
        assert_like_rebuilt(oracle)


def test_a_relation_to_an_entity_stays_beside_one_to_a_record(root: Path) -> None:
    put(root, f"{BUILDER}/a", "---\nsupports: [entity:taskid:ARENA-1, b]\n---\n[[b]]")
    put(root, f"{BUILDER}/b", "b")
    with Oracle.open(str(root)) as oracle:
        wanted = {
            ("supports", "entity:taskid:ARENA-1"),
            ("supports", f"{BUILDER}/b"),
            ("references-record", f"{BUILDER}/b"),
        }
        assert {(kind, target) for kind, target, *_ in oracle.links(f"{BUILDER}/a")} == wanted
        (root / f"{BUILDER}/b.md").unlink()
        assert len(oracle.links(f"{BUILDER}/a")) == 3
        assert_like_rebuilt(oracle)


def test_configuration_is_read_again_when_it_changes(root: Path) -> None:
    put(root, f"{BUILDER}/a", "ARENA-1 and ZOO-2, PhysicsEngine and TeaKettle")

    def found() -> set[str]:
        return {target.removeprefix("entity:") for _, target, *_ in oracle.links(f"{BUILDER}/a")}

    with Oracle.open(str(root)) as oracle:
        assert found() == {"taskid:ARENA-1", "taskid:ZOO-2", "component:PhysicsEngine"}
        (root / "link-patterns.toml").write_text('task_prefixes = ["ZOO"]')
        assert found() == {"taskid:ZOO-2", "component:PhysicsEngine"}
        own = root / "projects/arena/link-patterns.toml"
        own.write_text('task_prefixes = ["ARENA"]\n[component_patterns]\nsuffixes = ["Kettle"]')
        assert found() == {"taskid:ARENA-1", "component:TeaKettle"}
        own.write_text("= broken")
        assert found() == {"taskid:ZOO-2", "component:PhysicsEngine"}
        assert [path for path, _, _ in list_problems(oracle)] == ["projects/arena/link-patterns.toml"]
        own.unlink()
        (root / "link-patterns.toml").unlink()
        assert len(found()) == 3
        assert list_problems(oracle) == []


# sizes ----------------------------------------------------------------------------------------------------------------


def test_an_empty_record_is_a_record(root: Path) -> None:
    put(root, f"{BUILDER}/x", b"")
    with Oracle.open(str(root)) as oracle:
        shown = oracle.show(f"{BUILDER}/x")
        assert (shown.record.title, shown.text, shown.total_lines) == ("x", "", 0)
        assert list_problems(oracle) == []


def test_five_megabytes(root: Path) -> None:
    put(root, f"{BUILDER}/x", "# Big\n" + "filling words, many of them\n" * 180_000 + "\nthe needle ARENA-1\n")
    with Oracle.open(str(root)) as oracle:
        hit = oracle.search("needle")[0]
        assert hit.snippet == "the needle ARENA-1"
        assert oracle.show("x", first_line=hit.first_line, last_line=hit.last_line).text == hit.snippet
        assert [row[3] for row in oracle.backlinks("entity:taskid:ARENA-1")] == [hit.first_line]


def test_one_line_of_a_megabyte(root: Path) -> None:
    put(root, f"{BUILDER}/x", "word " * 200_000 + "needle " + "word " * 20_000)
    with Oracle.open(str(root)) as oracle:
        hit = oracle.search("needle")[0]
        assert "needle" in hit.snippet
        assert len(hit.snippet) <= MAX_CHARACTERS
        assert hit.first_line == hit.last_line == 1


def test_ten_thousand_links(root: Path) -> None:
    put(root, f"{BUILDER}/x", "\n".join(f"[[r{n}]] ARENA-{n} https://example.com/{n}" for n in range(3_400)))
    put(root, f"{BUILDER}/r7", "seven")
    with Oracle.open(str(root)) as oracle:
        assert len(oracle.links(f"{BUILDER}/x")) == 10_200
        assert len(unresolved(oracle)) == 3_399
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


NAMES = [
    "a b",
    "q\"uo'te",
    "new\nline",
    "tab\t",
    "👍🏽 emoji",
    "e\u0301",
    "a" * 251,
    "字" * 83,
    "%20",
    "a__b",
    "a++b",
    "[x]",
    "*?",
    "-",
    "~",
    "#1",
    "..x"[2:] + "..y",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_odd_file_names(root: Path, name: str) -> None:
    put(root, f"{BUILDER}/{name}", "needle ARENA-1 [[y]]")
    put(root, f"{BUILDER}/y", f"<{name}>")
    with Oracle.open(str(root)) as oracle:
        slug = f"{BUILDER}/{name}"
        assert [hit.record.slug for hit in oracle.search("needle")] == [slug]
        assert [row[0] for row in oracle.backlinks("entity:taskid:ARENA-1")] == [slug]
        assert [row[0] for row in oracle.backlinks(f"{BUILDER}/y")] == [slug]
        if name == name.strip():
            assert oracle.show(slug).record.slug == slug
        assert list_problems(oracle) == []
        (root / f"{slug}.md").unlink()
        assert oracle.search("needle") == []
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize("folder", ["a*b", "[x]", "a?b", "a b", "项目", "x.md", "a'b", "100%"])
def test_odd_folder_names(root: Path, folder: str) -> None:
    place = f"projects/arena/{folder}"
    put(root, f"{place}/x", b"\xff needle")
    put(root, "projects/arena/axb/y", b"\xff needle")
    with Oracle.open(str(root)) as oracle:
        assert len(oracle.search("needle")) == 2
        (root / place / "x.md").rename(root / place / "z.md")
        assert {hit.record.slug for hit in oracle.search("needle")} == {f"{place}/z", "projects/arena/axb/y"}
        paths = {path for path, _, _ in list_problems(oracle)}
        assert paths - {place} == {f"{place}/z.md", "projects/arena/axb/y.md"}
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)
