"""One rule for the Root, and paths that stay inside it."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from oracle.errors import InvalidName, RootUnusable, UsageError
from oracle.store.root.layout import Root, choose_root

SANDBOX = "/home/x/.agents/runtime/identities/builder/home"
PASSWD = f"{pwd.getpwuid(os.getuid()).pw_dir}/.agents/memory"


@pytest.mark.parametrize(
    ("flag", "environ", "expected"),
    [
        ("/flag", {"ORACLE_ROOT": "/root", "HOME": "/h"}, "/flag"),
        (None, {"ORACLE_ROOT": "/root", "CLAWSEAT_REAL_HOME": "/real", "HOME": "/h"}, "/root"),
        (None, {"CLAWSEAT_REAL_HOME": "/real", "AGENT_HOME": "/agent", "HOME": "/h"}, "/real/.agents/memory"),
        (None, {"AGENT_HOME": "/agent", "HOME": "/h"}, "/agent/.agents/memory"),
        (None, {"AGENT_HOME": "/same", "HOME": "/same"}, "/same/.agents/memory"),
        (None, {"HOME": "/h"}, "/h/.agents/memory"),
        (None, {"ORACLE_ROOT": "", "AGENT_HOME": "", "HOME": "/h/"}, "/h/.agents/memory"),
        (None, {"HOME": SANDBOX}, PASSWD),
        (None, {"HOME": "/home/x/.agent-runtime/identities/builder"}, PASSWD),
        (None, {"HOME": ""}, PASSWD),
        (None, {}, PASSWD),
    ],
)
def test_the_one_rule(flag: str | None, environ: dict[str, str], expected: str) -> None:
    assert choose_root(flag, environ) == expected


def test_relative_and_home_paths_become_absolute(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert choose_root("memory/", {}) == str(tmp_path / "memory")
    assert choose_root("~/m", {}) == str(home / "m")
    assert choose_root(None, {"ORACLE_ROOT": "."}) == str(tmp_path)


@pytest.mark.parametrize("flag", ["", "  "])
def test_an_empty_flag_is_refused(flag: str) -> None:
    with pytest.raises(UsageError):
        choose_root(flag, {"HOME": "/h"})


def test_paths_inside_and_outside(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    for top in (Root(str(root)), Root(f"{root}/")):
        assert top.relative(str(root / "projects/a.md")) == "projects/a.md"
        for outside in (tmp_path / "x", root, root.parent, f"{root}-other/x", f"{root}/../x"):
            with pytest.raises(UsageError):
                top.relative(str(outside))
    assert Root(str(link)).relative(str(root / "x")) == "x"
    assert Root(str(link)).relative(str(link / "x")) == "x"
    (root / "out").symlink_to(tmp_path)
    (root / "in").symlink_to(root)
    for name, inside in (
        ("x", True),
        ("out", False),
        ("out/memory/x", True),
        ("in/x", True),
        ("../x", False),
        ("out/x", False),
    ):
        assert Root(str(root)).contains(str(root / name)) is inside
        assert Root(str(link)).contains(str(root / name)) is inside


def test_a_root_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name, words in (("file", "not a folder"), ("nowhere", "does not exist")):
        with pytest.raises(RootUnusable, match=words) as caught:
            Root(str(tmp_path / name)).require()
        assert caught.value.exit_code == 2
        assert caught.value.hint
    with pytest.raises(RootUnusable, match="no projects/"):
        Root(str(tmp_path)).require()
    with pytest.raises(RootUnusable) as caught:
        Root(str(tmp_path / "file")).require()
    assert "oracle init" not in caught.value.hint
    (tmp_path / "projects").mkdir()
    Root(str(tmp_path)).require()


def test_records_have_their_places() -> None:
    top = Root("/r")
    assert top.records_of("arena", "decision") == "projects/arena/decision"
    assert top.records_of("_shared", "decision") == "shared/decision"
    assert top.links_file("projects/arena/decision/x") == "/r/_links/projects__arena__decision__x.jsonl"
    assert top.backlinks_file("entity:taskid:ARENA-1") == "/r/_backlinks/entity++taskid++ARENA-1.jsonl"
    assert top.pattern_files("arena")[0] == "projects/arena/link-patterns.toml"
    assert set(top.pattern_files("")) < set(top.pattern_files("arena"))
    for project in ("..", "a/b", "", "_x"):
        with pytest.raises(InvalidName):
            top.records_of(project, "decision")
