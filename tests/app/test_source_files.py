"""Files of others that a source, a plan or the registry names: what is no plain file is named, and never waited for."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.experiences import learn
from oracle.app.records.listing import list_problems
from oracle.app.sources import consolidation, registry, snapshots
from oracle.app.sources.places import find_folder
from oracle.cli.main import run
from oracle.domain.records.drafts import Draft
from oracle.errors import UsageError
from oracle.store.disk.folders import open_plain
from tests.app.test_sources import TOKEN, found, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Waits(BaseException):
    """A test waits for a pipe. No `except Exception` hides it."""


@pytest.fixture(autouse=True)
def _no_wait() -> Iterator[None]:
    """Stop a test that waits for a pipe."""

    def stop(*_: object) -> None:
        raise Waits

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


def _device(path: Path, _: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(path: Path, _: Path) -> None:
    path.mkdir()


def _leak(path: Path, outside: Path) -> None:
    path.symlink_to(outside)


def _piped_link(path: Path, outside: Path) -> None:
    pipe = outside.with_name("pipe")
    os.mkfifo(pipe)
    path.symlink_to(pipe)


NOT_PLAIN = pytest.mark.parametrize("shape", [_pipe, _device, _folder, _piped_link])
ODD = pytest.mark.parametrize("shape", [_pipe, _device, _folder, _piped_link, _leak])


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere" / "secret"
    path.parent.mkdir()
    path.write_text('{"id": "a-1", "title": "walrus"}\n- [Walrus](walrus.md)\n')
    return path


@ODD
def test_the_issues_of_beads_are_a_plain_file_of_the_source(
    root: Path, tmp_path: Path, outside: Path, shape: Callable[[Path, Path], None]
) -> None:
    beads = tmp_path / "repo" / ".beads"
    beads.mkdir(parents=True)
    shape(beads / "issues.jsonl", outside)
    with Oracle.open(str(root)) as oracle:
        oracle.write(Draft("decision", "shop", "Queue", body="It is fair."))
        state = registry.add(oracle, "beads", str(beads), project="shop")
        assert [path for path, *_ in state.problems] == ["sources/shop/beads"]
        assert found(oracle, "fair") != []
        assert found(oracle, "walrus") == []
        assert [path for path, *_ in list_problems(oracle)] == ["sources/shop/beads"]


@ODD
def test_the_list_of_memories_is_a_plain_file_of_the_source(
    root: Path, tmp_path: Path, outside: Path, shape: Callable[[Path, Path], None]
) -> None:
    memories = tmp_path / "memories"
    put(memories, "one", "A quokka.\n")
    shape(memories / "MEMORY.md", outside)
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "claude-code", str(memories), project="shop", name="m")
        assert [path for path, *_ in state.problems] == ["sources/shop/m/MEMORY.md"]
        assert "walrus" not in str(state.problems).lower()
        assert found(oracle, "quokka") == ["sources/shop/m/one"]


def test_a_fault_of_the_list_shows_no_credential_and_needs_the_owners_word(root: Path, tmp_path: Path) -> None:
    memories = tmp_path / "memories"
    put(memories, "MEMORY", f"- [Gone]({TOKEN}.md)\n")
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "claude-code", str(memories), project="shop", name="m")
        assert "names [REDACTED" in str(state.problems)
        assert TOKEN not in str(state.problems)
        (tmp_path / oracle.root.allowed_sources).unlink()
    with Oracle.open(str(root)) as oracle:
        (state,) = registry.list_sources(oracle)
        assert state.why_not
        assert "MEMORY.md" not in str(state.problems)


@NOT_PLAIN
@pytest.mark.parametrize("place", ["list", "allowed"])
def test_the_registry_is_a_plain_file(
    root: Path, tmp_path: Path, outside: Path, shape: Callable[[Path, Path], None], place: str
) -> None:
    put(tmp_path / "notes", "one", "A quokka.\n")
    with Oracle.open(str(root)) as oracle:
        oracle.write(Draft("decision", "shop", "Queue", body="It is fair."))
        registry.add(oracle, "folder", str(tmp_path / "notes"), project="shop")
        path = tmp_path / oracle.root.source_list if place == "list" else tmp_path / oracle.root.allowed_sources
    path.unlink()
    shape(path, outside)
    with Oracle.open(str(root)) as oracle:
        assert found(oracle, "fair") != []
        assert found(oracle, "quokka") == []
        if place == "list":
            with pytest.raises(UsageError):
                registry.list_sources(oracle)


@NOT_PLAIN
def test_a_transcript_and_a_plan_are_plain_files(
    root: Path, tmp_path: Path, outside: Path, shape: Callable[[Path, Path], None]
) -> None:
    path = tmp_path / "odd"
    shape(path, outside)
    with Oracle.open(str(root)) as oracle:
        with pytest.raises(UsageError):
            snapshots.snapshot(oracle, str(path), project="shop")
        with pytest.raises(UsageError):
            consolidation.apply(oracle, str(path))


@NOT_PLAIN
def test_a_snapshot_takes_the_next_name_beside_what_is_no_file(
    root: Path, tmp_path: Path, outside: Path, shape: Callable[[Path, Path], None]
) -> None:
    transcript = tmp_path / "session.jsonl"
    transcript.write_text('{"type": "user", "message": {"content": "Feed the quokka."}}\n')
    with Oracle.open(str(root)) as oracle:
        first = tmp_path / snapshots.snapshot(oracle, str(transcript), project="shop", name="x").path
        first.unlink()
        shape(first, outside)
        assert snapshots.snapshot(oracle, str(transcript), project="shop", name="x").path.endswith("x-2.md")


@NOT_PLAIN
def test_a_proposal_that_is_no_file_is_named_beside_the_others(
    root: Path, outside: Path, shape: Callable[[Path, Path], None]
) -> None:
    warnings: list[str] = []
    with Oracle.open(str(root)) as oracle:
        oracle.warn = warnings.append
        put(root / "_state" / "proposals" / "shop", "T-2", "# Two\n\nA text.\n")
        shape(root / "_state" / "proposals" / "shop" / "T-1.md", outside)
        assert [one.task_id for one in learn.proposals(oracle)] == ["T-2"]
    assert len(warnings) == 1
    assert "T-1.md" in warnings[0]


@NOT_PLAIN
def test_the_git_file_of_a_repository_is_not_waited_for(
    tmp_path: Path, outside: Path, shape: Callable[[Path, Path], None]
) -> None:
    shape(tmp_path / ".git", outside)
    assert find_folder("claude-code", str(tmp_path), {"CLAUDE_CONFIG_DIR": "/c"}).startswith("/c/projects/")


@pytest.mark.parametrize(
    ("path", "opens"),
    [
        ("a.md", True),
        ("deep/er/a.md", True),
        ("inner/a.md", True),
        ("deep/../a.md", True),
        ("outer/secret.md", False),
        ("deep/../outer/secret.md", False),
        ("../outside/secret.md", False),
    ],
)
def test_a_path_leads_to_a_file_below_its_folder(tmp_path: Path, path: str, opens: bool) -> None:
    folder, outside = tmp_path / "source", tmp_path / "outside"
    (folder / "deep" / "er").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    for place in (folder / "a.md", folder / "deep" / "er" / "a.md"):
        place.write_text("plain")
    (folder / "inner").symlink_to(folder / "deep" / "er")
    (folder / "outer").symlink_to(outside)
    if opens:
        with open_plain(f"{folder}/{path}", within=f"{folder}/") as stream:
            assert stream.read() == b"plain"
    else:
        with pytest.raises(PermissionError):
            open_plain(f"{folder}/{path}", within=str(folder))


def test_a_file_that_is_swapped_for_a_link_is_not_opened(tmp_path: Path, outside: Path) -> None:
    folder = tmp_path / "in"
    path = put(folder, "a", "inside")
    with open_plain(str(path), within=str(folder)) as stream:
        assert stream.read() == b"inside"
    path.unlink()
    path.symlink_to(outside)
    with pytest.raises(PermissionError):
        open_plain(str(path), within=str(folder))


@pytest.mark.parametrize("key", ["text", "why", "how_to_apply", "project", "source", "type"])
def test_an_item_with_half_a_character_is_refused(
    root: Path, tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    item = {"type": "user", "text": "The user likes tea.", "project": "shop", "source": "a.md:1", "accept": True}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"items": [{**item, key: f"{item.get(key, '')}\ud800"}]}))
    Oracle.open(str(root)).close()
    assert run(["--memory-dir", str(root), "source", "consolidate", "--apply", str(plan)]) == 1
    assert "not valid Unicode" in capsys.readouterr().out


def test_a_warning_is_printed_once(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beads = tmp_path / "repo" / ".beads"
    (beads / "issues.jsonl").mkdir(parents=True)
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "beads", str(beads), project="shop")
    for words in (["search", "zebra"], ["check"], ["source", "list"]):
        run(["--memory-dir", str(root), *words])
        assert capsys.readouterr().err.count("Its content is unknown") == 1, words


@pytest.mark.parametrize("path", ["", " ", "\t"])
def test_a_source_has_a_path(root: Path, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "here", "one", "A quokka.\n")
    monkeypatch.chdir(tmp_path / "here")
    with Oracle.open(str(root)) as oracle, pytest.raises(UsageError):
        registry.add(oracle, "folder", path, project="shop")


@pytest.mark.parametrize("name", [TOKEN, f"notes of {TOKEN} here", f"{TOKEN}/inner", "AKIAIOSFODNN7EXAMPLQ"])
def test_a_name_that_holds_a_credential_is_left_out(root: Path, tmp_path: Path, name: str) -> None:
    notes = tmp_path / "notes"
    put(notes, name, "The quokka sleeps.\n")
    put(notes, "one", "The quokka eats.\n")
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "folder", str(notes), project="shop")
        assert state.records == 1
        assert [reason for *_, reason in state.problems] == ["Its name holds a credential, so it is not read."]
        assert "[REDACTED" in state.problems[0][0]
        assert found(oracle, "quokka") == ["sources/shop/notes/one"]
        oracle.index.follow(full=True, patience=1)
    for path in root.rglob("*"):
        assert not path.is_file() or name.partition("/")[0].encode() not in path.read_bytes(), path


def test_an_issue_whose_id_is_a_credential_is_left_out(root: Path, tmp_path: Path) -> None:
    beads = tmp_path / "repo" / ".beads"
    beads.mkdir(parents=True)
    (beads / "issues.jsonl").write_text(f'{{"id": "{TOKEN}", "title": "x"}}\n{{"id": "a-1", "title": "Zebra"}}\n')
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "beads", str(beads), project="shop")
        assert (state.records, len(state.problems)) == (1, 1)
        assert TOKEN not in str(state.problems)


def _write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("Tea.\n", encoding="utf-8")


def test_what_a_source_leaves_out_is_known_with_the_reason(root: Path, tmp_path: Path) -> None:
    oracle = Oracle.open(str(root))
    notes = tmp_path / "vault"
    for name in ("a.md", "b.txt", "C.MD", "sub/d.pdf", ".hidden", ".git/e.txt", "node_modules/f.txt", f"{TOKEN}.txt"):
        _write(notes / name)
    (notes / "utf16.md").write_bytes("Zebras at noon.\n".encode("utf-16"))
    (notes / "large.md").write_bytes(b"tea\n" * (300 << 10))
    (notes / "binary.md").write_bytes(b"\xff\xfe\xfd\0\0\1" * 9)
    state = registry.add(oracle, "folder", str(notes), project="shop")
    left = [path.removeprefix("sources/shop/vault/") for path in state.left_out]
    assert sorted(left) == sorted(["C.MD", "b.txt", "[REDACTED:github-token].txt", "sub/d.pdf"])
    reasons = {path.rpartition("/")[2]: reason for path, _, reason in state.problems}
    assert set(reasons) == {"utf16.md", "large.md", "binary.md"}
    assert "the rest of it is not read" in reasons["large.md"]
    assert found(oracle, "zebras") == ["sources/shop/vault/utf16"]
    assert state.as_json()["left_out"] == list(state.left_out)


def test_beside_the_records_of_a_fixed_place_nothing_is_called_left_out(root: Path, tmp_path: Path) -> None:
    oracle = Oracle.open(str(root))
    workspace = tmp_path / "workspace"
    for name in ("memory/2025-03-03.md", "memory/tea.txt", "main.py", "src/other.txt"):
        _write(workspace / name)
    state = registry.add(oracle, "openclaw", str(workspace), project="shop", name="claw")
    assert state.left_out == ("sources/shop/claw/memory/tea.txt",)
