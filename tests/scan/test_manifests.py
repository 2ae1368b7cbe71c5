"""No manifest that somebody could write stops a scan: whatever shape its values have, it says something or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.scan import formats, manifests, readers
from oracle.scan.formats import load_data
from oracle.scan.manifests import Manifest
from oracle.scan.project import scan
from tests.scan import repositories as repos

KEYS = st.sampled_from(
    """name version scripts bin engines workspaces dependencies devDependencies packageManager require project tool
    requires-python optional-dependencies package workspace members edition services jobs on steps uses runs-on repos hooks id
    imports tasks packages sdk toolchain channel users environment ports image kind metadata apiVersion stages script""".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
IN_JSON = ("package.json", "deno.json", "composer.json", "vcpkg.json", "global.json")
IN_YAML = (
    *("environment.yml", "docker-compose.yml", ".pre-commit-config.yaml", ".gitlab-ci.yml", ".circleci/config.yml"),
    *(".github/workflows/ci.yml", "k8s/app.yaml"),
)


@given(value=VALUES)
def test_values_of_any_shape_stop_no_scan(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    text = json.dumps(value)  # which is YAML too
    files = dict.fromkeys((*IN_JSON, *IN_YAML), text)
    found = scan(str(repos.lay_out(tmp_path_factory.mktemp("repo"), files)), "deep")
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("rule", load_data("manifests")["rules"], ids=lambda rule: rule["files"][0])
@given(text=st.text(max_size=300) | st.text(alphabet="[]{}()\"'=:<>,/!# \n\tabc019.-_", max_size=300))
def test_a_text_of_any_kind_stops_no_reader(rule: dict[str, Any], text: str) -> None:
    found = manifests.read(rule, rule["files"][0].replace("*", "x"), text)
    assert found is None or isinstance(found, Manifest)


def test_blocks_deeper_than_are_told_apart_close_again() -> None:
    deep = "if a\n" * 1000 + "end\n" * 1000
    assert readers.rake_tasks(f"namespace :db do\n{deep}task :migrate\nend\ntask :after\n") == ["db:migrate", "after"]


def test_the_text_of_every_repository_cut_off_anywhere_stops_no_scan(tmp_path: Path) -> None:
    for number, name in enumerate(repos.names()):
        for share in (1, 2, 3):
            files = {path: text[: len(text) * share // 4] for path, text in repos.read(name).items()}
            assert scan(str(repos.lay_out(tmp_path / f"{number}-{share}", files)), "deep")["dev_env"]


def test_two_scans_of_the_same_files_say_the_same_and_so_does_what_is_on_disk(tmp_path: Path) -> None:
    repo = repos.lay_out(tmp_path, {"package.json": '{"name": "\\ud800x", "scripts": {"a": "\\udfff"}}'})
    (repo / "src").mkdir()
    (repo / "src" / b"x\xff.py".decode("utf-8", "surrogateescape")).write_text("")
    (repo / ".gitignore").write_bytes(b"*.log\n\xff\n")
    found = scan(str(repo), "deep")
    assert found == scan(str(repo), "deep") == json.loads(json.dumps(found).encode("utf-8", "replace"))
    assert found["structure"]["files"] == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            '{"a": 1, // c\n "b": [1, 2,], /* d */ "c": "// no, /* no */ ,]",}',
            {"a": 1, "b": [1, 2], "c": "// no, /* no */ ,]"},
        ),
        ('{"a": "\\"//"}', {"a": '"//'}),
        ("{", None),
        ("/* never closed", None),
        ("", None),
        ("[" * 5000, None),
    ],
)
def test_json_with_comments(text: str, value: object) -> None:
    assert formats.json(text) == value


def test_toml_with_a_key_of_many_parts_is_refused() -> None:
    assert formats.toml("a.b = 1") == {"a": {"b": 1}}
    assert formats.toml("a." * 100_000 + "b = 1") == {}


def test_a_git_configuration() -> None:
    remote = '[remote "origin"]\n\turl = "https://x/y.git"\n\tfetch = +refs\n\tfetch = second\n'
    text = f"[user]\n\tname = A B ; c\n{remote}[core]\n\tbare\n"
    assert list(formats.git_config(text)) == [
        ("user", "", "name", "A B"),
        ("remote", "origin", "url", "https://x/y.git"),
        ("remote", "origin", "fetch", "second"),
        ("core", "", "bare", ""),
    ]
    assert list(formats.git_config("no section = x")) == []


def test_yaml_with_tags_of_others_and_documents_that_multiply() -> None:
    assert formats.yaml("a: !reference [x]\n---\nb: !!python/object/apply:os.system ['x']\n") == [
        {"a": None},
        {"b": None},
    ]
    assert formats.yaml("a: &a [x]\n" + "".join(f"b{i}: [*a, *a]\n" for i in range(2000))) == []
    assert formats.yaml("a: [") == []
