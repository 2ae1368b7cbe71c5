"""Which repository a project has: the registry in its shapes, then the profile, and only a folder that is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from oracle.store.root import projects
from oracle.store.root.layout import Root


@pytest.fixture
def place(tmp_path: Path) -> tuple[Root, Path, dict[str, str]]:
    home = tmp_path / "home"
    (home / ".agents/memory").mkdir(parents=True)
    for name in ("a", "b"):
        (home / name).mkdir()
    return Root(str(home / ".agents/memory")), home, {"HOME": str(home)}


ENTRY = {"name": "demo", "repo_path": "~/a", "seats": {"memory": "demo-memory"}}


@pytest.mark.parametrize(
    "content",
    [{"version": 2, "projects": [ENTRY]}, [ENTRY], {"demo": ENTRY}, {"projects": {"demo": ENTRY}}, ["demo", ENTRY]],
)
def test_every_shape_of_the_registry(place: tuple[Root, Path, dict[str, str]], content: Any) -> None:
    root, home, environ = place
    (home / ".clawseat").mkdir()
    (home / ".clawseat/projects.json").write_text(json.dumps(content))
    assert projects.repository(root, "demo", environ) == str(home / "a")
    assert projects.entry(root, "demo", environ)["seats"] == {"memory": "demo-memory"}
    assert projects.repository(root, "other", environ) == ""


@pytest.mark.parametrize(
    "raw", ["", "{", "null", "3", '{"projects": 3}', '{"demo": "x"}', '[{"name": "demo"}]', "[" * 9999]
)
def test_a_registry_that_says_nothing(place: tuple[Root, Path, dict[str, str]], raw: str) -> None:
    root, home, environ = place
    (home / ".clawseat").mkdir()
    (home / ".clawseat/projects.json").write_text(raw)
    assert projects.repository(root, "demo", environ) == ""


@pytest.mark.parametrize("path", ["relative/a", "", "~/nowhere", "/nowhere/at/all", "~/a\0"])
def test_the_profile_stands_in_for_a_folder_that_is_not_there(
    place: tuple[Root, Path, dict[str, str]], path: str
) -> None:
    root, home, environ = place
    (home / ".clawseat").mkdir()
    (home / ".clawseat/projects.json").write_text(json.dumps([{"name": "demo", "repo_path": path}]))
    assert projects.repository(root, "demo", environ) == ""
    projects.init_profile(root, "demo", ["memory"], repo_root=str(home / "b"))
    assert projects.repository(root, "demo", environ) == str(home / "b")


def test_another_folder_for_the_registry(place: tuple[Root, Path, dict[str, str]], tmp_path: Path) -> None:
    root, home, environ = place
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry/projects.json").write_text(json.dumps({"demo": {"repo_path": str(home / "b")}}))
    named = {**environ, "CLAWSEAT_REGISTRY_HOME": str(tmp_path / "registry")}
    assert projects.repository(root, "demo", named) == str(home / "b")


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        ("a", "demo"),
        ("a/src/deep", "demo"),
        ("a/inner/src", "inner"),
        ("b", "profiled"),
        ("b/src", "profiled"),
        ("ab", ""),
        (".", ""),
        (".agents/workspaces/solo/builder", "solo"),
        ("nowhere", ""),
    ],
)
def test_a_folder_belongs_to_the_innermost_repository_else_to_its_workspace(
    place: tuple[Root, Path, dict[str, str]], folder: str, project: str
) -> None:
    root, home, environ = place
    (home / "a/inner").mkdir()
    registry = [{"name": "inner", "repo_path": "~/a/inner"}, ENTRY, "profiled"]
    (home / ".clawseat").mkdir()
    (home / ".clawseat/projects.json").write_text(json.dumps(registry))
    projects.init_profile(root, "profiled", ["memory"], repo_root=str(home / "b"))
    assert projects.project_at(root, str(home / folder), environ) == project
