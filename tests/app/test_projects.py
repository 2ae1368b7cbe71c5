"""Register projects: every shape of the registry is read, what others keep in it survives, and it is never half written."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from oracle.api import Oracle
from oracle.app.scans import projects
from oracle.app.scans.project import scan_project
from oracle.app.scans.projects import archive, find, list_all
from oracle.errors import DiskFailure, InvalidName, InvalidRecord, NewerVersion, NotFound, UsageError
from oracle.store.root.projects import change
from tests.scan.made_up import Fakes

ENTRY = {"name": "demo", "repo_path": "/nowhere", "seats": {"memory": "demo-memory"}, "color": "red"}
OTHER = {"name": "zoo", "status": "archived"}


@pytest.fixture
def oracle(tmp_path: Path) -> Oracle:
    (tmp_path / "home/.agents/memory").mkdir(parents=True)
    (tmp_path / "repo").mkdir()
    return Oracle.open(str(tmp_path / "home/.agents/memory"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "home/.clawseat").mkdir(parents=True)
    return tmp_path / "home/.clawseat/projects.json"


SHAPES = {
    "version 2": ({"version": 2, "projects": [ENTRY, OTHER], "extra": 1}, {"extra": 1}),
    "by name below projects": ({"projects": {"demo": ENTRY, "zoo": {"status": "archived"}, "odd": 3}}, {"odd": 3}),
    "by name": ({"schema_version": 1, "demo": ENTRY, "zoo": OTHER}, {"schema_version": 1}),
    "a list": ([ENTRY, OTHER], {}),
    "a list with names": (["demo", ENTRY, OTHER, "bare"], {}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_read_and_what_others_keep_survives(name: str, oracle: Oracle, path: Path) -> None:
    content, kept = SHAPES[name]
    before = json.dumps(content)
    path.write_text(before)
    path.chmod(0o644)
    assert [item.name for item in list_all(oracle, with_archived=True) if item.name != "bare"] == ["demo", "zoo"]
    assert [item.name for item in list_all(oracle) if item.name != "bare"] == ["demo"]
    projects.add(oracle, "arena", {})
    written = json.loads(path.read_text())
    assert written["version"] == 2
    assert {key: written[key] for key in kept} == kept
    by_name = {item["name"]: item for item in written["projects"]}
    assert by_name["demo"] == ENTRY
    assert by_name["zoo"] == OTHER
    assert list(by_name) == sorted(by_name)
    assert path.with_name("projects.json.bak").read_text() == before
    assert {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()} == {0o600}


def test_a_new_project_has_every_field_that_readers_look_for(oracle: Oracle, tmp_path: Path) -> None:
    found = projects.add(oracle, "arena", {"repo_path": str(tmp_path / "repo"), "primary_seat": "planner"})
    assert (found.outcome, found.repository) == ("added", str(tmp_path / "repo"))
    (entry,) = json.loads((tmp_path / "home/.clawseat/projects.json").read_text())["projects"]
    assert set(entry) == {
        *("name", "primary_seat", "tmux_name", "registered_at", "primary_seat_tool", "template_name", "last_access"),
        *("status", "metadata", "repo_path", "seats"),
    }
    assert (entry["status"], entry["primary_seat"]) == ("active", "planner")
    assert find(oracle, "arena").as_json()["repository"] == str(tmp_path / "repo")


def test_a_project_is_changed_archived_and_taken_up_again(oracle: Oracle, path: Path, tmp_path: Path) -> None:
    projects.add(oracle, "arena", {"primary_seat_tool": "claude"})
    written = path.read_bytes()
    assert projects.add(oracle, "arena", {"primary_seat_tool": "claude"}).outcome == "unchanged"
    assert path.read_bytes() == written
    assert projects.add(oracle, "arena", {"repo_path": str(tmp_path / "repo")}).outcome == "changed"
    assert archive(oracle, "arena").status == "archived"
    assert list_all(oracle) == []
    found = projects.add(oracle, "arena", {})
    assert (found.status, found.entry["primary_seat_tool"], found.repository) == (
        "active",
        "claude",
        str(tmp_path / "repo"),
    )


@pytest.mark.parametrize("raw", ["{", "3", '"x"', "[" * 9999])
def test_a_registry_that_can_not_be_read_is_left_as_it_is(raw: str, oracle: Oracle, path: Path) -> None:
    path.write_text(raw)
    with pytest.raises(InvalidRecord):
        projects.add(oracle, "arena", {})
    with pytest.raises(InvalidRecord):
        list_all(oracle)
    with pytest.raises(InvalidRecord):
        find(oracle, "arena")
    assert path.read_text() == raw
    assert not path.with_name("projects.json.bak").exists()


def test_a_registry_that_is_no_plain_file_is_not_waited_for(oracle: Oracle, path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(DiskFailure):
        list_all(oracle)
    assert scan_project(oracle, "arena", str(path.parent)).project == "arena"


def test_a_newer_registry_is_read_and_not_written(oracle: Oracle, path: Path) -> None:
    path.write_text(json.dumps({"version": 3, "projects": [ENTRY]}))
    assert [item.name for item in list_all(oracle)] == ["demo"]
    with pytest.raises(NewerVersion):
        archive(oracle, "demo")


def test_a_credential_that_somebody_keeps_there_is_not_shown(oracle: Oracle, path: Path) -> None:
    fake = Fakes()
    path.write_text(json.dumps([{**ENTRY, "token": fake.opaque("a"), "metadata": {"note": fake("b"), fake("c"): 1}}]))
    shown = json.dumps(find(oracle, "demo").as_json())
    assert [value for value in fake.values if value in shown] == []
    archive(oracle, "demo")
    assert [value for value in fake.values if value not in path.read_text()] == []


def test_what_is_no_project_is_refused(oracle: Oracle, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        find(oracle, "nope")
    with pytest.raises(NotFound):
        archive(oracle, "nope")
    with pytest.raises(InvalidName):
        projects.add(oracle, "../x", {})
    with pytest.raises(UsageError):
        projects.add(oracle, "arena", {"repo_path": str(tmp_path / "nowhere")})
    with pytest.raises(UsageError):
        projects.add(oracle, "arena", {"colour": "red"})
    assert not (tmp_path / "home/.clawseat").exists()


def test_those_who_register_at_the_same_time_lose_nothing(path: Path) -> None:
    def add(number: int) -> None:
        change(str(path.parent), f"p{number}", lambda _: {"name": f"p{number}"})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert len(json.loads(path.read_text())["projects"]) == 24


def test_the_environment_names_another_folder_and_a_root_of_its_own_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "world").mkdir()
    oracle = Oracle.open(str(tmp_path / "world"))
    projects.add(oracle, "arena", {})
    assert (tmp_path / "world/.clawseat/projects.json").exists()
    monkeypatch.setenv("CLAWSEAT_REGISTRY_HOME", str(tmp_path / "named"))
    projects.add(oracle, "other", {})
    entries: list[dict[str, Any]] = json.loads((tmp_path / "named/projects.json").read_text())["projects"]
    assert [entry["name"] for entry in entries] == ["other"]
    assert not (tmp_path / "home").exists()
