"""What records name, looked up in a real repository: live, moved, gone, and unchecked when nobody could look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app import git
from oracle.app.codebase.stale_names import Checker, Liveness, stale
from oracle.errors import NotInFederation
from oracle.store.markdown import records
from tests.app.gitbox import GitBox

LONG = "def retry_all():\n" + "".join(f"    step_{number}()\n" for number in range(30))


@pytest.fixture
def box(tmp_path: Path) -> GitBox:
    return GitBox(tmp_path / "repo")


def register(root: Path, box: GitBox, project: str = "arena") -> None:
    folder = root / ".clawseat"
    folder.mkdir(exist_ok=True)
    entry = {"name": project, "repo_path": str(box.folder)}
    (folder / "projects.json").write_text(json.dumps({"version": 2, "projects": [entry]}))


def put(root: Path, text: str, name: str = "projects/arena/builder/a") -> None:
    path = root / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def look(root: Path, text: str) -> dict[str, tuple[str, str]]:
    """Return (liveness, detail) by name of what a record with this text names."""
    put(root, text)
    with Oracle.open(str(root)) as oracle:
        (record,) = oracle.records({"project": "arena"}, fresh=True)
        document = records.parse(record.path, (root / record.path).read_bytes())
        checked = Checker(oracle, budget=60).check(record, document)
    return {item.named.name: (item.liveness.value, item.detail) for item in checked.names}


def test_paths(root: Path, box: GitBox) -> None:
    register(root, box)
    box.write("src/kept.py", "x = 1\n")
    box.write("src/moved.py", LONG)
    box.write("src/gone.py", "y = 2\n")
    box.commit()
    box.git("mv", "src/moved.py", "src/retries.py")
    box.git("rm", "-q", "src/gone.py")
    commit = box.commit("tidy")[:7]
    box.write("build/out.txt", "never committed")
    found = look(root, "src/kept.py:3, src/moved.py, src/gone.py, src/never.py, kept.py, build/out.txt, `src/`, `lib/`")
    assert found == {
        "src/kept.py": ("live", ""),
        "src/moved.py": ("moved", f"now src/retries.py, since {commit}"),
        "src/gone.py": ("gone", f"since {commit}"),
        "src/never.py": ("gone", ""),
        "kept.py": ("live", "as src/kept.py"),
        "build/out.txt": ("live", ""),
        "src/": ("live", ""),
        "lib/": ("gone", ""),
    }


def test_a_path_of_a_bare_repository_is_unchecked(root: Path, box: GitBox) -> None:
    box.write("src/kept.py", "x = 1\n")
    box.commit()
    box.git("config", "core.bare", "true")
    box.folder = box.folder / ".git"
    register(root, box)
    assert look(root, "src/kept.py") == {"src/kept.py": ("unchecked", "the repository has no files")}


def test_a_file_that_git_still_tracks_did_not_move_to_its_own_place(root: Path, box: GitBox) -> None:
    register(root, box)
    box.write("src/kept.py", "x = 1\n")
    box.commit()
    (box.folder / "src/kept.py").unlink()
    assert look(root, "src/kept.py") == {"src/kept.py": ("gone", "")}


@pytest.mark.parametrize("cone", [True, False])
def test_what_a_sparse_checkout_leaves_out_is_there(root: Path, box: GitBox, *, cone: bool) -> None:
    register(root, box)
    for name in ("kept", "away/deep", "gone"):
        box.write(f"{name}/one.py", f"def {name.replace('/', '_')}_at_all(): ...\n")
    box.write("old/two.py", LONG)
    box.commit()
    box.git("mv", "old/two.py", "away/two.py")
    box.commit()
    box.git("sparse-checkout", "set", *(["--cone", "kept"] if cone else ["--no-cone", "/kept/"]))
    assert not (box.folder / "away").exists()
    out = "left out of the work tree by a sparse checkout"
    found = look(
        root, "kept/one.py `away/deep/` away/deep/one.py old/two.py `away_deep_at_all` `nobody_at_all()` no/three.py"
    )
    assert found.pop("old/two.py")[0] == "moved"
    assert found == {
        "kept/one.py": ("live", ""),
        "away/deep/one.py": ("live", out),
        "away/deep/": ("live", out),
        "away_deep_at_all": ("live", ""),
        "nobody_at_all": ("gone", ""),
        "no/three.py": ("gone", ""),
    }


def test_a_path_outside_is_not_looked_at(root: Path, box: GitBox, tmp_path: Path) -> None:
    register(root, box)
    (tmp_path / "secret.txt").write_text("x")
    (box.folder / "out").symlink_to(tmp_path)
    found = look(root, f"../secret.txt and {tmp_path}/secret.txt and out/secret.txt and ~/.profile.txt")
    assert {name: state for name, (state, _) in found.items() if state != "unchecked"} == {"out/secret.txt": "gone"}


def test_symbols(root: Path, box: GitBox) -> None:
    register(root, box)
    box.write("src/view.py", "class StoreView:\n    def close_all(self): ...\n")
    box.commit()
    box.git("rm", "-q", "src/view.py")
    box.write("src/store.py", "class Store:\n    def open_all(self): ...\n    def close_all_of_it(self): ...\n")
    box.commit()
    found = look(root, "`open_all`, `Store.open_all`, `close_all`, `Store.shut()`, `StoreView`, `-Oxyz_rm`")
    states = {name: state for name, (state, _) in found.items()}
    assert states == {
        "open_all": "live",
        "Store.open_all": "live",
        "close_all": "gone",
        "Store.shut": "gone",
        "StoreView": "gone",
    }


NEVER = ("unchecked", "the repository never had it")


@pytest.mark.parametrize(
    "name",
    [
        *("lineage_status", "reported_commit", "acknowledged_by", "user_sessions", "retry_count", "max_connections"),
        *("snake_case_in_prose", "MAX_RETRY_COUNT", "StoreView", "Store.shut_down", "store::shut_down", "close_all"),
    ],
)
@pytest.mark.parametrize("text", ["`{}` is a column.", "It is named {} in the table."])
def test_a_name_that_the_repository_never_had_is_not_gone(root: Path, box: GitBox, name: str, text: str) -> None:
    """`close_all` is a part of a longer word that is there, and of one that was."""
    register(root, box)
    box.write("src/view.py", "def close_all_views(self): ...\n")
    box.commit()
    box.write("src/view.py", "class Store:\n    def close_all_of_it(self): ...\n")
    box.commit()
    assert look(root, text.format(name)).get(name, NEVER) == NEVER  # not every form is a name in prose


@pytest.mark.parametrize(
    ("file", "name", "content"),
    [
        ("tasks/receipt.json", "lineage_status", '{{"{}": "ok"}}'),
        ("docs/delivery.md", "reported_commit", "The field `{}`."),
        ("db/001.sql", "user_sessions", "CREATE TABLE {} (id INT);"),
        ("db/SCHEMA.SQL", "last_seen_at", "ALTER TABLE a ADD {} TEXT;"),
        ("settings.toml", "max_connections", "{} = 5"),
        (".env", "MAX_RETRY_COUNT", "{}=5"),
        ("deploy/values.yaml", "replica_count", "{}: 2"),
        ("a/b/app.properties", "cache.ttl_seconds", "{}=60"),
    ],
)
def test_a_field_column_or_setting_that_is_removed_is_not_gone(
    root: Path, box: GitBox, file: str, name: str, content: str
) -> None:
    register(root, box)
    box.write(file, content.format(name))
    box.commit()
    box.write(file, "nothing")
    box.commit()
    assert look(root, f"`{name}` 是一个字段 and {name} counts.").get(name, NEVER) == NEVER


@pytest.mark.parametrize("name", ["shut_down", "Store.shut_down", "store::shut_down", "Store", "getView"])
def test_a_call_can_be_gone_though_the_repository_never_had_it(root: Path, box: GitBox, name: str) -> None:
    register(root, box)
    box.write("src/a.py", "x = 1\n")
    box.commit()
    assert look(root, f"`{name}()` does it, and {name}() again.") == {name: ("gone", "")}


@pytest.mark.parametrize("now", ["close_all_of_it = 1\n", ""])
@pytest.mark.parametrize(
    "name", ["close_all", "Store.close_all", "store::close_all", "MAX_CLOSE", "config.close_after"]
)
def test_a_name_that_the_history_has_is_gone(root: Path, box: GitBox, name: str, now: str) -> None:
    register(root, box)
    box.write("src/a.py", "class Store:\n  def close_all(): MAX_CLOSE, config.close_after, store\n")
    box.commit()
    box.write("src/a.py", f"class Store: ...\nconfig, store = 1, 2\n{now}")
    box.commit()
    assert look(root, f"`{name}` does it.") == {name: ("gone", "")}


def test_a_slow_history_is_searched_once(root: Path, box: GitBox, monkeypatch: pytest.MonkeyPatch) -> None:
    register(root, box)
    box.commit()
    asked = []

    def ask(repo: str, *words: str, patience: float) -> tuple[int, str]:
        asked.append(words[0])
        return (-1, "") if words[0] == "log" else ask_git(repo, *words, patience=patience)

    ask_git = git.ask_git
    monkeypatch.setattr(git, "ask_git", ask)
    found = look(root, "`first_name`, `second_name`, src/a.py, `third_name`, `call_me()`")
    assert found.pop("call_me") == ("gone", "")
    assert {found.pop(f"{name}_name") for name in ("first", "second", "third")} == {
        ("unchecked", "git gave no answer in time")
    }
    assert asked.count("log") == 2  # the other one is that of the path


def test_a_record_is_no_place_of_its_own_symbols(tmp_path: Path, box: GitBox) -> None:
    root = box.folder / "kb"
    (root / "projects").mkdir(parents=True)
    register(root, box)
    put(root, "`load_limits()` reads them, not `load_bounds`.")
    box.commit()
    put(root, "nothing")
    box.commit()
    found = look(root, "`load_limits()` reads them, not `load_bounds`.")
    assert found == {"load_limits": ("gone", ""), "load_bounds": NEVER}


def test_commits_and_branches(root: Path, box: GitBox) -> None:
    register(root, box)
    kept = box.commit()
    box.git("switch", "-q", "-c", "feat/aside")
    aside = box.commit()
    box.git("switch", "-q", "main")
    text = f"commit {kept[:10]}, commit {aside}, `{'deadbe1' * 2}`, branch feat/aside, branch `main`, branch fix-2"
    states = dict(look(root, text).items())
    assert states == {
        kept[:10]: ("live", ""),
        aside: ("gone", "it is not in the history of HEAD"),
        "deadbe1deadbe1": ("gone", "no such commit"),
        "feat/aside": ("live", ""),
        "main": ("live", ""),
        "fix-2": ("gone", "no such branch"),
    }


def test_names_are_never_options(root: Path, box: GitBox, tmp_path: Path) -> None:
    register(root, box)
    ran = tmp_path / "ran"
    text = f"---\nbranch: --exec=touch {ran}\ncommit: --output={ran}\npath: --output={ran}\n---\n`--open-files-in-pager=touch`"
    found = look(root, text)
    assert {state for state, _ in found.values()} <= {"gone", "unchecked"}
    assert not ran.exists()


def test_without_a_repository_nothing_is_checked(root: Path, box: GitBox) -> None:
    assert look(root, "src/a.py `b_c`") == dict.fromkeys(
        ("src/a.py", "b_c"), ("unchecked", "the project has no repository")
    )


def test_a_folder_without_git_has_paths_alone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "plain/src").mkdir(parents=True)
    (tmp_path / "plain/src/a.py").write_text("b_c = 1")
    (root / ".clawseat").mkdir()
    (root / ".clawseat/projects.json").write_text(json.dumps({"arena": {"repo_path": str(tmp_path / "plain")}}))
    states = {name: state for name, (state, _) in look(root, "src/a.py src/z.py `b_c`").items()}
    assert states == {"src/a.py": "live", "src/z.py": "gone", "b_c": "unchecked"}


def test_git_that_is_silent_leaves_names_unchecked(
    root: Path, box: GitBox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(root, box)
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    (slow / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow}:/usr/bin:/bin")
    monkeypatch.setattr(git, "PATIENCE", 0.05)
    found = look(root, "`b_c` commit abc1234 src/a.py")
    assert {state for state, _ in found.values()} == {"unchecked"}  # where it is waited for, this comes never


def test_stale_lists_what_holds_and_names_the_gone(root: Path, box: GitBox) -> None:
    register(root, box)
    put(root, "src/a.py", "projects/arena/builder/old")
    put(root, "nothing named", "projects/arena/builder/plain")
    put(root, "---\nsupersedes: projects/arena/builder/older\n---\n`src/`", "projects/arena/builder/new")
    put(root, "src/b.py", "projects/arena/builder/older")
    put(root, "src/c.py", "projects/other/builder/x")
    box.write("src/keep.py", "")
    with Oracle.open(str(root)) as oracle:
        found = stale(oracle)
        assert [item.record.slug for item in found.records] == ["projects/arena/builder/old"]
        assert found.records[0].liveness is Liveness.GONE
        assert (found.looked_up, found.unchecked) == (2, 1)
        assert dict(found.repositories) == {"arena": str(box.folder), "other": ""}
        with pytest.raises(NotInFederation):
            stale(oracle, "nowhere")


def test_evidence_of_a_finding_counts(root: Path, box: GitBox) -> None:
    register(root, box)
    text = "---\nkind: finding\nevidence:\n  - trust: high\n    source_url: src/gone.py:12\n---\nIt is slow.\n"
    assert look(root, text) == {"src/gone.py": ("gone", "")}
