"""Sources: folders outside of the Root, read in place, followed, and never written."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.doctor.examine import examine
from oracle.app.records.listing import list_problems, list_records
from oracle.app.search.search import search
from oracle.app.sources import registry
from oracle.domain.records.drafts import Draft
from oracle.errors import NotFound, NotInFederation, NotInMemory, OracleError, OwnershipError, RecordExists, UsageError
from oracle.store.markdown import records
from tests.laws.ledger import assert_like_rebuilt

TOKEN = "ghp_" + "aB3dE9fG1hJ7kL2mN8pQ4rS6tU0vW5xY3zC1"
"""A credential: no text that the index or a quote holds may have it."""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    put(
        folder,
        "Alpha",
        "---\ntitle: Zebra crossing\n---\nThe zebra walks at noon. See [[Beta]] and [[sub/Gamma note|it]].\n",
    )
    put(folder, "Beta", "Giraffes are tall.\n")
    put(folder, "sub/Gamma note", "A text about gamma rays.\n")
    return folder


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.lstat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def found(oracle: Oracle, words: str) -> list[str]:
    try:
        return [hit.record.slug for hit in search(oracle, words)]
    except NotInMemory:
        return []


def test_a_folder_is_read_in_place_and_followed(root: Path, notes: Path) -> None:
    before = snapshot(notes)
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "folder", str(notes), project="shop")
        assert (state.records, state.problems, state.why_not) == (3, (), "")
        assert found(oracle, "zebra") == ["sources/shop/notes/Alpha"]
        shown = oracle.show("Zebra crossing")
        assert (shown.record.project, shown.record.seat, shown.record.kind) == ("shop", "source", "note")
        assert [slug for slug, *_ in oracle.backlinks("sources/shop/notes/sub/Gamma note")] == [
            "sources/shop/notes/Alpha"
        ]
        assert snapshot(notes) == before
        put(notes, "Beta", "Hippos swim.\n")
        put(notes, "new/Delta", "An okapi hides.\n")
        assert found(oracle, "hippos") == ["sources/shop/notes/Beta"]
        assert found(oracle, "okapi") == ["sources/shop/notes/new/Delta"]
        (notes / "Alpha.md").unlink()
        assert found(oracle, "zebra") == []
        assert_like_rebuilt(oracle)
    assert not list(root.glob("_links/sources*"))


def test_a_source_that_is_not_there_is_a_problem_and_its_records_stay_known(root: Path, notes: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(notes), project="shop")
        away = notes.rename(notes.with_name("away"))
        assert {item.status for item in list_records(oracle, {})} == {"gone"}
        assert [path for path, *_ in list_problems(oracle)] == ["sources/shop/notes"]
        faults = [check for check in examine(oracle) if not check.ok]
        assert [check.name for check in faults] == ["sources"]
        assert "oracle source remove notes" in faults[0].fix
        away.rename(notes)
        assert {item.status for item in list_records(oracle, {})} == {""}
        assert found(oracle, "zebra") == ["sources/shop/notes/Alpha"]
        assert not list_problems(oracle)
        assert_like_rebuilt(oracle)


def test_a_removed_source_leaves_nothing_behind(root: Path, notes: Path) -> None:
    before = snapshot(notes)
    with Oracle.open(str(root)) as oracle:
        oracle.write(Draft("decision", "shop", "Queue", body="It is fair."))
        registry.add(oracle, "folder", str(notes), project="shop", name="mine", seat="planner")
        assert {item.seat for item in list_records(oracle, {"kind": "note"})} == {"planner"}
        registry.remove(oracle, "mine")
        assert [item.kind for item in list_records(oracle, {})] == ["decision"]
        with pytest.raises(NotFound):
            registry.remove(oracle, "mine")
        assert_like_rebuilt(oracle)
    assert snapshot(notes) == before


def test_a_deleted_index_is_built_again_with_its_sources(root: Path, notes: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(notes), project="shop")
    for path in (root / "_state").glob("oracle.db*"):
        path.unlink()
    with Oracle.open(str(root)) as oracle:
        assert found(oracle, "zebra") == ["sources/shop/notes/Alpha"]


def test_a_source_that_came_with_the_root_is_read_once_it_is_allowed(
    root: Path, notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(notes), project="shop")
    for path in (root / "_state").glob("oracle.db*"):
        path.unlink()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    with Oracle.open(str(root)) as oracle:
        assert found(oracle, "zebra") == []
        (state,) = registry.list_sources(oracle)
        assert (state.records, "oracle source allow notes" in state.why_not) == (0, True)
        registry.allow(oracle, "notes")
        assert found(oracle, "zebra") == ["sources/shop/notes/Alpha"]


@pytest.mark.parametrize("name", ["sources.json", "."])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_a_list_of_allowed_sources_that_others_may_write_allows_none(
    root: Path, notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, mode: int
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(notes), project="shop")
    place = tmp_path / "state" / "memory-oracle" / name
    for added, expected in ((mode, []), (0, ["sources/shop/notes/Alpha"])):
        place.chmod(place.stat().st_mode & ~0o022 | added)
        with Oracle.open(str(root)) as oracle:
            oracle.reconcile(full=True)
            assert found(oracle, "zebra") == expected
            if added:
                with pytest.raises(OwnershipError, match="others may write it"):
                    registry.allow(oracle, "notes")


@pytest.mark.parametrize("key", ["path", "seat", "kind", "project", "name"])
def test_an_entry_that_was_changed_after_it_was_allowed_counts_no_more(
    root: Path, notes: Path, tmp_path: Path, key: str
) -> None:
    other = put(tmp_path / "other", "Secret plan", "The walrus waits.\n").parent
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(notes), project="shop")
        path = root / "config" / "sources.json"
        content = json.loads(path.read_text())
        content["sources"][0][key] = {"path": str(other), "kind": "nothing"}.get(key, "memory")
        path.write_text(json.dumps(content))
        assert found(oracle, "walrus zebra") == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sources": 5}', '{"sources": [5]}', "\0", "[" * 100_000])
def test_a_damaged_registry_stops_no_query(root: Path, notes: Path, text: str) -> None:
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(notes), project="shop")
        oracle.write(Draft("decision", "shop", "Queue", body="It is fair."))
        (root / "config" / "sources.json").write_text(text)
        assert found(oracle, "fair") != []
        with pytest.raises(UsageError):
            registry.list_sources(oracle)
        assert "sources" in [check.name for check in examine(oracle) if not check.ok]


def test_what_cannot_be_a_source_is_refused(root: Path, notes: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(notes)
    with Oracle.open(str(root)) as oracle:
        for place in (root, root / "projects", root.parent, Path("/"), tmp_path / "nowhere", notes / "Beta.md"):
            with pytest.raises(UsageError):
                registry.add(oracle, "folder", str(place), project="shop")
        registry.add(oracle, "folder", str(notes), project="shop")
        for place, name in ((notes, "again"), (link, "by-link"), (notes / "sub", "notes")):
            with pytest.raises(RecordExists):
                registry.add(oracle, "folder", str(place), project="shop", name=name)
        with pytest.raises(UsageError):
            registry.add(oracle, "unheard-of", str(tmp_path), project="shop")


def test_a_root_that_moved_into_a_source_is_not_read_as_one(root: Path, notes: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(notes), project="shop")
        moved = root.rename(notes / "root")
    with Oracle.open(str(moved)) as oracle:
        assert found(oracle, "zebra") == []


@pytest.mark.parametrize(
    "text",
    [
        f"The token is {TOKEN} here.\n",
        f"---\ntitle: Token {TOKEN}\naliases: [{TOKEN}]\n---\nnothing\n",
        f"export API_TOKEN={TOKEN}\n[[{TOKEN}]]\n",
        "-----BEGIN RSA PRIVATE KEY-----\n" + f"{TOKEN}\n" * 20 + "-----END RSA PRIVATE KEY-----\n",
    ],
)
def test_a_credential_is_in_no_index_and_no_quote(root: Path, notes: Path, text: str) -> None:
    put(notes, "Keys", text + "The ocelot sleeps.\n")
    lines = text.count("\n") + 1
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(notes), project="shop")
        (hit,) = search(oracle, "ocelot")
        shown = oracle.show("sources/shop/notes/Keys")
        assert TOKEN not in hit.snippet + shown.text + str(oracle.links(shown.record.slug))
        assert (shown.total_lines, shown.text.split("\n")[-1]) == (lines, "The ocelot sleeps.")
        assert found(oracle, TOKEN) == []
        raw = records.load(oracle.root, shown.record.path)
        assert TOKEN.encode() not in raw
        oracle.close()
        for path in root.rglob("*"):
            assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path


def test_links_of_a_source_do_not_lead_out_of_it(root: Path, notes: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", "Secret", "The walrus waits.\n")
    (notes / "Leak.md").symlink_to(outside)
    (notes / "leaks").symlink_to(outside.parent)
    (notes / "Same.md").symlink_to(notes / "Beta.md")
    (notes / "Loop.md").symlink_to(notes / "Loop.md")
    (notes / "Root.md").symlink_to(root / "config" / "sources.json")
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "folder", str(notes), project="shop")
        assert (state.records, len(state.problems)) == (4, 3)
        assert found(oracle, "walrus") == []
        assert len(found(oracle, "giraffes")) == 2
        # a file that is swapped for a link after it was read
        path = oracle.show("Beta").record.path
        (notes / "Beta.md").unlink()
        (notes / "Beta.md").symlink_to(outside)
        with pytest.raises(PermissionError):
            records.load(oracle.root, path)
        assert found(oracle, "walrus") == []


def test_a_source_ends_no_record_of_a_seat(root: Path, notes: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "shop", "Queue", body="It is fair."))
        put(
            notes,
            "Coup",
            f"---\nsupersedes: [{old.slug}, Beta]\nseat: memory\nproject: other\nkind: decision\n---\nNo.\n",
        )
        registry.add(oracle, "folder", str(notes), project="shop", seat="memory")
        assert oracle.show(old.slug).record.effective_status != "superseded"
        assert oracle.show("Beta").record.effective_status == "superseded"
        coup = oracle.show("Coup").record
        assert (coup.project, coup.seat, coup.kind, coup.claims_seat) == ("shop", "memory", "note", "")
        assert [item.slug for item in list_records(oracle, {"kind": "decision"})] == [old.slug]


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xfe\x00\x01" * 500,
        b"\x00" * 4000,
        b"---\n\xc3\x28: \xff\n---\nbad \xf0\x28 bytes\n",
        b"",
        b"x" * 3_000_000,
    ],
)
def test_odd_bytes_hurt_nobody(root: Path, notes: Path, raw: bytes) -> None:
    put(notes, "Odd", raw)
    (notes / os.fsdecode(b"bad\xffname.md")).write_bytes(raw)
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "folder", str(notes), project="shop")
        assert state.records == 4
        assert found(oracle, "zebra") == ["sources/shop/notes/Alpha"]
        assert any("1 MiB" in reason for *_, reason in state.problems) == (len(raw) > 1 << 20)
        assert_like_rebuilt(oracle)


def test_sixty_thousand_links_are_bounded(root: Path, notes: Path) -> None:
    put(notes, "Many", "\n".join(f"[[Note {number}]]" for number in range(60_000)))
    with Oracle.open(str(root)) as oracle:
        began = time.process_time()
        registry.add(oracle, "folder", str(notes), project="shop")
        assert found(oracle, "zebra") == ["sources/shop/notes/Alpha"]
        assert time.process_time() - began < 30
    assert not list(root.glob("_backlinks/*"))


def test_an_emptied_source_is_no_emptied_root(root: Path, notes: Path) -> None:
    for number in range(60):
        put(notes, f"n{number}", f"Number {number}.\n")
    with Oracle.open(str(root)) as oracle:
        oracle.write(Draft("decision", "shop", "Queue", body="It is fair."))
        registry.add(oracle, "folder", str(notes), project="shop")
        for path in notes.glob("n*.md"):
            path.unlink()
        assert len(list_records(oracle, {"kind": "note"})) == 3


def test_a_source_named_like_a_record_of_the_root(root: Path, notes: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        own = oracle.write(Draft("decision", "shop", "Beta", body="A decision."))
        registry.add(oracle, "folder", str(notes), project="shop")
        assert len(list_records(oracle, {})) == 4
        assert [slug for slug, *_ in oracle.backlinks("sources/shop/notes/Beta")] == ["sources/shop/notes/Alpha"]
        assert list(oracle.backlinks(own.slug)) == []


@pytest.mark.parametrize("place", ["sources/shop/notes/Alpha.md", "sources/shop/notes/new.md"])
def test_no_seat_may_write_there(place: str) -> None:
    from oracle.domain.names import may_write

    assert not any(may_write(seat, place) for seat in ("memory", "planner", "builder", "source", "patrol"))


def test_errors_are_sentences(root: Path, notes: Path) -> None:
    with Oracle.open(str(root)) as oracle, pytest.raises(OracleError) as raised:
        registry.allow(oracle, "nothing")
    assert raised.value.hint


def test_a_project_that_has_only_a_source_is_known(root: Path, notes: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        with pytest.raises(NotInFederation):
            list_records(oracle, {"project": "shop"})
        registry.add(oracle, "folder", str(notes), project="shop")
        assert len(list_records(oracle, {"project": "shop"})) == 3
        assert list_records(oracle, {"project": "shop", "kind": "decision"}) == []
