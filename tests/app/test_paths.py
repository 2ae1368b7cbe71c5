"""Paths in records: however a text spells a file of the project's repository, it is one entity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.records.graph import resolve
from oracle.app.scans import projects
from oracle.app.search.search import entities_of
from oracle.domain.links.links import Patterns, settle_path, settle_target
from oracle.domain.links.references import extract

FILE = "entity:file:src/c.ts"
PLAIN = [
    *("src/c.ts", "./src/c.ts", "src/./c.ts", "src//c.ts", ".//src/c.ts", "././src/c.ts", "src/x/../c.ts"),
    *("x/../src/c.ts", "src/../src/c.ts", "src/x/.././c.ts", "./x/..//src/c.ts"),
]
CLIMBING = ["../src/c.ts", "./../src/c.ts", "../../src/c.ts", "x/../../src/c.ts", "..//src/./c.ts"]
INSIDE = ["../shop/src/c.ts", "../../w/shop/src/c.ts", "x/../../shop/./src/c.ts", "/w/shop/src/c.ts"]
INSIDE += ["/w/./shop/x/../src/c.ts", "~/shop/src/c.ts", "$HOME/shop/./src/c.ts"]
WRITTEN = ["See {}.", "看{}吧", "[c]({})", "[c](<{}> 't')", "[c]: {}", "[[{}]]", "({}:12)", "a, {}, b"]
SHOP = Patterns(repository=lambda: ("/w/shop", "~/shop", "$HOME/shop"))


def files(text: str, patterns: Patterns) -> set[str]:
    return {mention.target for mention in extract(text, patterns).mentions if mention.type == "references-file"}


@pytest.mark.parametrize("written", WRITTEN)
def test_a_file_is_one_entity_however_it_is_spelled(written: str) -> None:
    assert [path for path in PLAIN + CLIMBING if files(written.format(path), Patterns()) != {FILE}] == []
    # Behind a letter of another script, `/w` may be a folder of that letter's: `看/w`.
    apart = [path for path in PLAIN + INSIDE if "看" not in written or path[0] in "s.x"]
    assert [path for path in apart if files(written.format(path), SHOP) != {FILE}] == []


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("../x.py", "/w/x.py"),
        ("../../x.py", "/x.py"),
        ("../../../../x.py", "/x.py"),
        ("../other/src/c.ts", "/w/other/src/c.ts"),
        ("../shopping/c.ts", "/w/shopping/c.ts"),
        ("./src/../../x.py", "/w/x.py"),
        ("/w/shop/../x.py", "/w/x.py"),
        ("~/x/../y.py", "~/y.py"),
        ("../.x.py", "/w/.x.py"),
    ],
)
def test_a_path_that_leads_out_of_the_repository_is_the_place_it_leads_to(path: str, place: str) -> None:
    assert settle_path(path, SHOP) == place


@pytest.mark.parametrize("path", ["~/../x.py", "$HOME/../x.py", "~/a/../../x.py", "~/./.././x.py"])
def test_a_path_above_an_unknown_folder_names_no_file(path: str) -> None:
    assert settle_path(path) == settle_path(path, SHOP) == ""
    assert files(f"See {path} and [p]({path}).", SHOP) == set()


@pytest.mark.parametrize("path", PLAIN + CLIMBING)
def test_a_target_that_somebody_names_is_spelled_as_the_records_have_it(path: str, root: Path) -> None:
    assert resolve(Oracle.open(str(root)), f"entity:file:{path}") == FILE
    assert settle_target(f"entity:file:{path}") == FILE
    assert settle_target(f"entity:key:{path}") == f"entity:key:{path}"


def lay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Oracle, Path]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root, repository = tmp_path / "home/.agents/memory", tmp_path / "home/shop"
    (root / "projects/shop/builder").mkdir(parents=True)
    repository.mkdir()
    spelled = [*PLAIN, "../shop/src/c.ts", f"{repository}/src/c.ts", "~/shop/src/c.ts", "$HOME/shop/src/./c.ts"]
    for number, path in enumerate(spelled):
        head = "---\nsupports: entity:file:./src/./c.ts\n---\n" if number == 0 else ""
        (root / f"projects/shop/builder/n{number}.md").write_text(f"{head}\n# N{number}\n\nIt is in {path} now.\n")
    (root / "projects/shop/builder/out.md").write_text("# Out\n\nIt is in ../other/x.py now.\n")
    return Oracle.open(str(root)), repository


def named(oracle: Oracle) -> dict[str, int]:
    rows = "SELECT name, count(DISTINCT source_id) FROM target JOIN edge ON id = target_id WHERE name GLOB 'entity:*' GROUP BY id"
    return oracle.index.read(lambda connection: dict(connection.execute(rows).fetchall()))


def test_the_index_resolves_paths_against_the_repository_that_the_project_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle, repository = lay_out(tmp_path, monkeypatch)
    assert len(named(oracle)) > 2
    projects.add(oracle, "shop", {"repo_path": str(repository)})
    wanted = {FILE: len(PLAIN) + 4, f"entity:file:{tmp_path}/home/other/x.py": 1}
    assert named(oracle) == wanted
    late = Path(oracle.root.path) / "projects/shop/builder/late.md"
    late.write_text("# Late\n\nAlso in ../shop/src/./c.ts.\n")
    assert named(oracle) == wanted | {FILE: wanted[FILE] + 1}
    oracle.index.reconcile(patience=None, rebuild=True)
    assert named(oracle) == wanted | {FILE: wanted[FILE] + 1}
    for spelled in ("../shop/src/c.ts", f"{repository}/src/c.ts", "src/./c.ts"):
        assert [asked.text for asked in entities_of(oracle, f"what is in {spelled}?", "shop")] == ["src/c.ts"]


def test_a_project_that_moves_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, repository = lay_out(tmp_path, monkeypatch)
    projects.add(oracle, "shop", {"repo_path": str(repository)})
    (tmp_path / "home/other").mkdir()
    projects.add(oracle, "shop", {"repo_path": str(tmp_path / "home/other")})
    assert named(oracle)["entity:file:x.py"] == 1
    assert json.loads((tmp_path / "home/.clawseat/projects.json").read_text())["version"] == 2
