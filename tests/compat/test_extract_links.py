"""`extract_links`: the difference that an edit makes, and the functions that others import."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oracle.compat.extract_links import _load_component_suffixes, extract_edges
from tests.compat.team import Team

PAGE = "projects/p/decision/a.md"


def test_the_difference_is_told_and_published(team: Team):
    page = team.put(PAGE, "See ARENA-228 and core/x.py\n")
    done = team.call("extract_links", "--file", page)
    assert done.json == {
        "source": "projects/p/decision/a",
        "edges_total": 2,
        "targets_added": ["entity:file:core/x.py", "entity:taskid:ARENA-228"],
        "targets_removed": [],
    }
    page.write_text("See ARENA-229 and core/x.py\n", encoding="utf-8")
    done = team.call("extract_links", "--file", page)
    assert (done.json["targets_added"], done.json["targets_removed"]) == (
        ["entity:taskid:ARENA-229"],
        ["entity:taskid:ARENA-228"],
    )
    assert (team.root / "_backlinks/entity++taskid++ARENA-229.jsonl").exists()
    assert not (team.root / "_backlinks/entity++taskid++ARENA-228.jsonl").exists()
    assert team.call("extract_links", "--file", page, "--quiet") == (0, "", "")


def test_a_deleted_record_loses_its_edges(team: Team):
    page = team.put(PAGE, "See ARENA-228\n")
    team.call("extract_links", "--file", page)
    page.unlink()
    done = team.call("extract_links", "--file", page)
    assert (done.code, done.json["edges_total"], done.json["targets_removed"]) == (0, 0, ["entity:taskid:ARENA-228"])
    assert not list((team.root / "_links").iterdir())
    assert not list((team.root / "_backlinks").iterdir())
    done = team.call("extract_links", "--file", page)
    assert (done.code, done.err) == (2, f"error: not a file: {page}\n")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("projects/p", "error: not a file: "),
        ("projects/p/absent.md", "error: not a file: "),
        ("machine/net.json", "error: machine/net.json is not a record."),
        ("projects/p/_index/files.json", "error: projects/p/_index/files.json is not a record."),
        ("../outside.md", "error: file is not under memory root "),
        ("projects/p/link.md", "error: file is not under memory root "),
    ],
)
def test_what_is_no_record_is_refused(team: Team, path: str, sentence: str):
    for name in (PAGE, "machine/net.json", "projects/p/_index/files.json", "../outside.md"):
        team.put(name, "{}")
    (team.root / "projects/p/link.md").symlink_to(team.root.parent / "outside.md")
    done = team.call("extract_links", "--file", team.root / path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(sentence)


def test_a_path_may_be_relative_or_lead_through_a_link(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    team.put(PAGE, "See ARENA-228\n")
    monkeypatch.chdir(team.root / "projects")
    assert team.call("extract_links", "--file", "p/decision/a.md").json["source"] == "projects/p/decision/a"
    (tmp_path / "alias").symlink_to(team.root)
    assert team.call("extract_links", "--file", tmp_path / "alias" / PAGE).json["source"] == "projects/p/decision/a"


def test_bytes_that_are_no_text_are_no_obstacle(team: Team):
    page = team.put(PAGE, b"\xff See ARENA-228\n")
    assert team.call("extract_links", "--file", page).json["targets_added"] == ["entity:taskid:ARENA-228"]


def test_nothing_is_made_in_the_home(team: Team, home: Path):
    team.call("extract_links", "--file", team.put(PAGE, "See ARENA-228\n"))
    assert list(home.iterdir()) == []


# For importers --------------------------------------------------------------------------------------------------------


def targets(*words: str, **more: str) -> set[tuple[str, str]]:
    return {(edge["type"], edge["to"]) for edge in extract_edges(*words, **more)}


def test_edges_of_a_text():
    found = extract_edges("---\ncontent_source: c.md\n---\n修复ARENA-228已完成，见core/x.py的实现 UTF-8 T-001\n")
    assert [(edge["type"], edge["target"]) for edge in found] == [
        ("references-task", "entity:taskid:ARENA-228"),
        ("references-task", "entity:taskid:T-001"),
        ("references-file", "entity:file:core/x.py"),
    ]
    assert set(found[0]) == {"from", "source", "to", "target", "type", "edge_type", "snippet"}
    assert targets("```\nARENA-1\n```\n~~~\nARENA-2\n~~~\n") == set()


def test_edges_of_a_record():
    found = targets("projects/p/decision/a", "See [[b]] and [[a]].", project="p")
    assert found == {("references-record", "projects/p/decision/b")}


def test_component_suffixes_are_those_of_the_project(team: Team, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(os.environ, "ORACLE_ROOT", str(team.root))
    assert "Engine" in _load_component_suffixes("p")
    team.put("projects/p/component-patterns.toml", '[component_patterns]\nsuffixes = ["Widget"]\n')
    assert _load_component_suffixes("p") == ["Widget"]
    assert ("references-component", "entity:component:LoginWidget") in targets(
        "projects/p/decision/a", "LoginWidget", project="p"
    )
