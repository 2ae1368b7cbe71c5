"""A made-up credential in every field of every source: none is in what a scan leaves, nor in what any door prints afterwards."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from oracle.api import Oracle
from oracle.app.records.publish import publish_all
from oracle.app.scans.projects import add
from oracle.compat import query_memory, scan_environment, scan_project
from oracle.scan.machine import SCANNERS
from tests.app.squad import Squad
from tests.cli import transcript
from tests.mcp.clients import call
from tests.scan import repositories as repos
from tests.scan.made_up import Fakes, make_home

COMMANDS = (
    "show credentials --json",
    "show credentials.keys.FIRST_API_KEY",
    "show environment",
    "search API_KEY --json",
    "search token",
    "ask --now 'What is FIRST_API_KEY?'",
    "ask --now 'What is the value of credentials.keys.A1?' --json",
    "ask --now 'Which remote does arena have?'",
    "list --project arena --json",
    "show projects/arena/runtime.json",
    "packet --role planner --goal 'find the FIRST_API_KEY' --json",
    "list --entities --json",
    "index status --json",
    "log --json",
    "doctor --json",
    "check --only unresolved",
    "project list --all --json",
    "project show arena --json",
    "scan machine --json",
    "scan project --project arena --repo $REPO --depth deep --json",
)
"""What people and scripts may ask of a Root, over standard output and standard error."""

TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_fact", {"key": "credentials"}),
    ("get_fact", {"key": "credentials.keys.A1"}),
    ("get_fact", {"key": "credentials.keys.A1.value"}),
    ("get_fact", {"key": "github"}),
    ("search", {"query": "FIRST_API_KEY"}),
    ("ask", {"question": "What is FIRST_API_KEY?"}),
    ("list_records", {"project": "arena"}),
    ("packet", {"role": "planner", "goal": "use the FIRST_API_KEY"}),
)
"""What an agent may ask by MCP."""


@pytest.fixture
def fake() -> Fakes:
    return Fakes()


@pytest.fixture
def squad(tmp_path: Path, fake: Fakes, monkeypatch: pytest.MonkeyPatch) -> Squad:
    """Give a team in a home full of credentials, with everything scanned."""
    made = Squad(tmp_path)
    for name, value in make_home(made.home, fake).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ORACLE_ROOT", str(made.path))
    repo = repos.lay_out(tmp_path / "repo", repos.read("python"))
    (repo / ".git").mkdir()
    (repo / ".git/config").write_text(f'[remote "origin"]\n\turl = https://{fake("remote")}@git.example/a.git\n')
    (repo / ".env.example").write_text(f"KEY={fake.opaque('template')}\n")
    (repo / "package.json").write_text(f'{{"name": "x", "scripts": {{"push": "push {fake("script")}"}}}}')
    (repo / "Makefile").write_text(f"test:\n\tpush --password={fake.opaque('recipe')}\n")
    lines = [f"curl -u me:{fake.opaque('run')} https://x.invalid", f"npm test --key {fake('flag')}"]
    steps = [{"run": line} for line in lines]
    (repo / ".github/workflows").mkdir(parents=True)
    (repo / ".github/workflows/ci.yml").write_text(json.dumps({"jobs": {"test": {"steps": steps}}}))
    return made


def scan_everything(squad: Squad, *words: str) -> None:
    root, repo = str(squad.path), str(squad.home.parent / "repo")
    assert scan_environment.main(["--output", root, "--only", ",".join(SCANNERS), *words]) == 0
    commit = ["--memory-dir", root, "--project", "arena", "--repo", repo, "--depth", "deep", "--force-commit"]
    assert scan_project.main(commit) == 0
    with Oracle.open(root) as oracle:
        add(oracle, "arena", {"repo_path": repo})
        oracle.reconcile(full=True)
        publish_all(oracle)
    squad.ask("Q-1", objective="What is the FIRST_API_KEY?")
    squad.deliver("Q-1")


def printed(squad: Squad, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    """Return all that every door prints."""
    said = []
    for line in COMMANDS:
        words = [word.replace("$REPO", str(squad.home.parent / "repo")) for word in shlex.split(line)]
        code, out, err = transcript.call(words, monkeypatch)
        assert code not in (2, 70), (line, err, out)
        said += [out, err]
    for words in (
        ["--search", "key"],
        ["--file", "environment"],
        ["--key", "credentials.keys.A1.fingerprint"],
        ["--status"],
    ):
        assert query_memory.main(["--memory-dir", str(squad.path), *words]) == 0
    results = [call(squad.path, tool, **given).whole for tool, given in TOOLS]
    return "".join((*said, *results, *capfd.readouterr()))


def holding(root: Path, value: str) -> list[str]:
    """Return the files of a tree that hold a value, or are named by it."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return [str(path.relative_to(root)) for path in files if value in path.name or value.encode() in path.read_bytes()]


def test_no_credential_is_in_what_is_left_or_printed(
    squad: Squad, fake: Fakes, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    scan_everything(squad)
    said = printed(squad, monkeypatch, capfd)
    assert len(said) > 10_000
    assert len(fake.values) > 60
    assert [value for value in fake.values if value in said] == []
    assert [place for value in fake.values for place in holding(squad.path, value)] == []
    assert not any(value in line for value in fake.values for line in squad.recorder.lines())


def test_values_that_were_to_be_kept_are_in_one_file_and_in_nothing_that_is_printed(
    squad: Squad, fake: Fakes, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    scan_everything(squad, "--with-secret-values", "--quiet")
    kept = fake.values.copy()
    assert {place for value in kept for place in holding(squad.path, value)} == {"machine/credentials.json"}
    assert (squad.path / "machine/credentials.json").stat().st_mode & 0o077 == 0
    monkeypatch.setattr("tests.scan.test_canary.COMMANDS", COMMANDS[3:])  # the first three ask for this very file
    said = printed(squad, monkeypatch, capfd)
    assert [value for value in kept if value in said] == []
