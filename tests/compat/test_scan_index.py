"""`scan_index`: what it publishes, merges and lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from tests.compat.team import Team, tree


def fill(team: Team) -> None:
    team.put(
        "projects/p/decision/b.md",
        "---\nproject: p\nkind: decision\ntitle: Bb\nts: 2026-02-01T00:00:00+08:00\n---\nSee [[a]].\n",
    )
    team.put(
        "projects/p/decision/a.md",
        "---\nkind: decision\ntitle: Aa\nts: 2026-02-01T00:00:00Z\nopen: true\n---\nSee [[gone]].\n",
    )
    team.put(
        "projects/p/reviewer/findings/c.md",
        "---\nkind: finding\ntitle: Cc\nseverity: HIGH\nstatus: open\nts: 2026-01-01T00:00:00Z\n---\n",
    )
    team.put("projects/p/notes.md", "No fields.\n")


def published(team: Team, name: str, project: str = "p") -> str:
    return (team.root / f"projects/{project}/_index/{name}").read_text(encoding="utf-8")


def test_rebuild_prints_the_four_files(team: Team):
    fill(team)
    done = team.call("scan_index", "rebuild", "--project", "p")
    assert done.code == 0
    assert done.out.count("\n") == 1
    assert done.json == json.loads(published(team, "files.json"))
    assert set(done.json) == {"version", "last_built", "project", "files"}
    assert [entry["path"] for entry in done.json["files"]] == [
        "decision/a.md",
        "decision/b.md",
        "reviewer/findings/c.md",
    ]
    first = done.json["files"][0]
    assert (first["title"], first["open"], first["project"]) == ("Aa", True, "p")
    assert first["size"] == (team.root / "projects/p/decision/a.md").stat().st_size
    tokens = json.loads(published(team, "search.json"))["tokens"]
    assert tokens["aa"] == ["decision/a.md"]
    assert tokens["hi"] == ["reviewer/findings/c.md"]
    assert tokens["de"] == ["decision/a.md", "decision/b.md"]
    links = json.loads(published(team, "links.json"))
    assert {(edge["from"], edge["to"], edge["type"]) for edge in links["edges"]} == {
        ("projects/p/decision/a", "projects/p/decision/gone", "references"),
        ("projects/p/decision/b", "projects/p/decision/a", "references"),
    }
    assert {"id": "projects/p/decision/a", "kind": "decision", "label": "Aa"} in links["nodes"]
    lines = [json.loads(line) for line in published(team, "timeline.jsonl").splitlines()]
    assert [line["path"] for line in lines] == ["reviewer/findings/c.md", "decision/b.md", "decision/a.md"]
    assert set(lines[0]) == {"kind", "path", "ts"}


def test_update_prints_the_files_of_the_files_project(team: Team):
    fill(team)
    done = team.call("scan_index", "update", "--file", team.root / "projects/p/decision/a.md")
    assert done.json["project"] == "p"
    assert done.json["files"]


def test_rebuild_all_merges_the_catalogue(team: Team, content: Path):
    fill(team)
    for _ in range(3):
        team.call("memory_write", "--kind", "decision", "--project", "q", "--content-file", content)
    team.put("index.json", '{"version": 7, "scanners": ["x"], "memory_notes": [{"path": "ghost"}]}')
    done = team.call("scan_index", "rebuild", "--all")
    catalogue = json.loads((team.root / "index.json").read_text(encoding="utf-8"))
    assert (catalogue["version"], catalogue["scanners"]) == (7, ["x"])
    assert catalogue["memory_notes_count"] == len(catalogue["memory_notes"]) == 5
    note = catalogue["memory_notes"][-1]
    assert Path(note["path"]).is_file()
    assert (note["source"], note["project"], note["kind"], note["title"]) == ("drop_cli", "q", "decision", "Backoff")
    assert note["content_bytes"] == content.stat().st_size
    assert done.json["projects"] == catalogue["projects"]
    assert [(entry["project"], entry["file_count"], entry["kinds"]) for entry in done.json["projects"]] == [
        ("p", 3, ["decision", "finding"]),
        ("q", 3, ["decision"]),
    ]
    assert done.json["projects"][0]["last_ts"] == "2026-02-01T00:00:00Z"


@pytest.mark.parametrize("broken", ['{"memory_notes": [', "[]", "\xff"])
def test_a_broken_catalogue_is_kept_aside(team: Team, broken: str):
    fill(team)
    team.put("index.json", broken.encode("latin-1"))
    assert team.call("scan_index", "rebuild", "--all").code == 0
    assert json.loads((team.root / "index.json").read_text(encoding="utf-8"))["memory_notes_count"] == 2
    assert (team.root / "index.json.broken").read_bytes() == broken.encode("latin-1")


def test_query_lists_records_as_they_are_now(team: Team):
    fill(team)
    query = ("query", "--project", "p")
    assert [entry["title"] for entry in team.call("scan_index", *query).json] == ["Aa", "Bb", "Cc"]
    assert [entry["title"] for entry in team.call("scan_index", *query, "--kind", "finding").json] == ["Cc"]
    assert [
        entry["seat"] for entry in team.call("scan_index", *query, "--severity", "HIGH", "--status", "open").json
    ] == ["reviewer"]
    assert team.call("scan_index", *query, "--severity", "LOW") == (0, "[]\n", "")
    assert team.call("scan_index", "query", "--project", "none") == (0, "[]\n", "")
    team.put("projects/p/_index/files.json", '{"torn": ')
    (team.root / "projects/p/decision/a.md").unlink()
    assert [entry["title"] for entry in team.call("scan_index", *query).json] == ["Bb", "Cc"]


def test_query_knows_what_was_superseded(team: Team):
    fill(team)
    team.put("projects/p/decision/d.md", "---\ntitle: Dd\nsupersedes: projects/p/decision/a\n---\n")
    (old,) = team.call("scan_index", "query", "--project", "p", "--status", "superseded").json
    assert (old["title"], old["retired_by"]) == ("Aa", "projects/p/decision/d")


def test_a_bad_file_breaks_nothing(team: Team):
    fill(team)
    team.put("projects/p/decision/bad.md", b"---\ntitle: \xff\n---\n")
    team.put("projects/p/decision/odd.md", '\ufeff--- \ntitle: "unclosed\nkind: decision\n---\n')
    done = team.call("scan_index", "rebuild", "--project", "p")
    assert done.code == 0
    assert len(done.json["files"]) == 5


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("rebuild", "--project", "none"), 4),
        (("rebuild", "--project", "../.."), 2),
        (("query", "--project", "../.."), 2),
        (("update", "--file", "/etc/passwd"), 2),
        (("update", "--file", "{root}/machine/x.json"), 2),
        (("update", "--file", "{root}/projects/none/decision/x.md"), 4),
        (("rebuild",), 2),
        (("rebuild", "--all", "--project", "p"), 2),
        ((), 2),
    ],
)
def test_wrong_calls_make_nothing(team: Team, words: tuple[str, ...], code: int):
    fill(team)
    before = tree(team.root)
    done = team.call("scan_index", *(word.format(root=team.root) for word in words))
    assert (done.code, done.out) == (code, "")
    assert "error" in done.err
    assert tree(team.root) == before


def test_tokens_cost_no_more_for_records_that_are_alike(team: Team):
    """A token that every record has is looked up once a record, not once for each that came before."""
    from oracle.app.records.publish import Filed, _tokens
    from oracle.domain.records.records import interpret
    from oracle.store.markdown import records

    looks = count()

    class Path(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            next(looks)
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    document = records.parse("projects/p/decision/a.md", b"---\ntitle: the same words in every one\n---\n")
    record = interpret(document, "projects/p/decision/a", "projects/p/decision/a.md", mtime_ns=0)
    filed = [Filed(record, {"path": Path(number)}) for number in range(300)]
    assert len(_tokens(filed)["th"]) == 300
    assert next(looks) == 0


def test_readers_never_see_half_a_file(team: Team):
    for number in range(60):
        team.put(
            f"projects/p/decision/{number}.md",
            f"---\ntitle: T {number}\nkind: decision\n---\nARENA-{number} " + "x" * 400,
        )
    team.call("scan_index", "rebuild", "--all")
    names = [
        team.root / "index.json",
        *(team.root / f"projects/p/_index/{name}.json" for name in ("files", "search", "links")),
    ]
    done = Event()

    def read_on() -> int:
        reads = 0
        while not done.is_set():
            for name in names:
                json.loads(name.read_bytes())
                reads += 1
        return reads

    rebuild: Callable[[int], int] = lambda _: team.run("scan_index", "rebuild", "--memory-dir", team.root, "--all").code  # noqa: E731
    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read_on) for _ in range(2)]
        try:
            assert list(pool.map(rebuild, range(4))) == [0] * 4
        finally:
            done.set()
        assert all(reader.result() > 0 for reader in readers)
