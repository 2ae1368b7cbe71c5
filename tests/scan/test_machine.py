"""The scan of a machine: what it writes for a home with every kind of file, and that no credential is in it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from oracle.api import Oracle
from oracle.app.records.publish import publish_all
from oracle.cli.main import run
from oracle.compat import query_memory, scan_environment
from oracle.scan import machine as machines
from oracle.scan.machine import DEFAULT, SCANNERS
from tests.laws.test_law2_writes import lay_out, run_commands, run_scripts
from tests.scan.made_up import Fakes, make_home

GOLDEN = Path(__file__).parents[1] / "golden" / "scan"
APPROVES = bool(os.environ.get("APPROVE"))
STABLE = tuple(name for name in SCANNERS if name != "system")


@pytest.fixture
def fake() -> Fakes:
    return Fakes()


@pytest.fixture
def made_up(home: Path, fake: Fakes, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in make_home(home, fake).items():
        monkeypatch.setenv(name, value)
    return home


def scan(root: Path, *words: str) -> int:
    return scan_environment.main(["--output", str(root), *words])


def load(root: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "machine" / f"{name}.json").read_text())
    return found


@pytest.mark.parametrize("name", STABLE)
def test_what_a_scanner_finds_in_a_made_up_home(made_up: Path, root: Path, name: str) -> None:
    assert scan(root, "--only", name) == 0
    found = load(root, name)
    found["scanned_at"] = "<time>"
    found.update(
        {"variables": [one for one in found["variables"] if one != "PYTEST_CURRENT_TEST"]}
        if name == "environment"
        else {}
    )
    found.update({"last_refresh_ts": "<time>"} if "last_refresh_ts" in found else {})
    printed = json.dumps(found, indent=2, ensure_ascii=False).replace(str(made_up), "$HOME") + "\n"
    path = GOLDEN / f"{name}.json"
    if APPROVES:
        path.write_text(printed, encoding="utf-8")
    assert printed == path.read_text(encoding="utf-8")


def test_no_credential_of_any_source_is_in_what_a_scan_leaves_or_prints(
    made_up: Path, root: Path, fake: Fakes, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scan(root, "--only", ",".join(SCANNERS)) == 0
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile(full=True)
        publish_all(oracle)
        oracle.search("API_KEY")
    assert query_memory.main(["--memory-dir", str(root), "--search", "key"]) == 0
    assert query_memory.main(["--memory-dir", str(root), "--file", "credentials"]) == 0
    printed = "".join(capsys.readouterr())
    left = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert len(fake.values) > 50
    for value in fake.values:
        assert value not in printed
        assert [path for path, raw in left.items() if value.encode() in raw or value in path.name] == []


def test_the_value_of_a_credential_is_read_from_its_file_when_it_is_asked_for(
    made_up: Path, root: Path, fake: Fakes, capsys: pytest.CaptureFixture[str]
) -> None:
    scan(root, "--quiet")
    ask = ["--memory-dir", str(root), "--key", "credentials.keys.A1.value"]
    assert query_memory.main(ask) == 0
    assert capsys.readouterr().out == fake(".agents/secrets/claude/one.env0") + "\n"
    source = made_up / ".agents/secrets/claude/one.env"
    source.write_text("A1=changed-since-then-and-long-enough\n")
    assert query_memory.main(ask) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("changed-since-then-and-long-enough\n", "warning: A1 was changed since the scan\n")
    source.unlink()
    assert query_memory.main(ask) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "not_in_memory_db: credentials.keys.A1.value" in err


def test_a_source_that_is_none_of_the_home_is_never_read(
    made_up: Path, root: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    scan(root, "--quiet")
    (tmp_path / "other.env").write_text("A1=elsewhere\n")
    found = load(root, "credentials")
    found["keys"]["A1"]["source"] = str(tmp_path / "other.env")
    (root / "machine/credentials.json").write_text(json.dumps(found))
    assert query_memory.main(["--memory-dir", str(root), "--key", "credentials.keys.A1.value"]) == 1
    assert capsys.readouterr().out == ""


def test_values_are_kept_only_when_they_are_asked_for(made_up: Path, root: Path, fake: Fakes) -> None:
    scan(root, "--quiet", "--with-secret-values")
    assert load(root, "credentials")["keys"]["A1"]["value"] == fake(".agents/secrets/claude/one.env0")
    scan(root, "--quiet")
    assert load(root, "credentials")["keys"]["A1"]["value"] is None


def test_the_usual_scanners_write_private_files_and_keep_what_others_put_into_the_catalogue(
    made_up: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root.joinpath("projects").mkdir()
    root.joinpath("index.json").write_text('{"memory_notes": [1], "other": 2}')
    assert scan(root) == 0
    assert sorted(path.name for path in (root / "machine").iterdir()) == sorted(f"{name}.json" for name in DEFAULT)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (root / "machine").iterdir()} == {0o600}
    catalogue = json.loads((root / "index.json").read_text())
    assert (catalogue["memory_notes"], catalogue["other"]) == ([1], 2)
    assert catalogue["results"]["network"] == {"ok": True, "path": str(root / "machine/network.json")}
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "scanning credentials… ✓"
    assert lines[-2:] == ["scan complete: 5/5 scanners succeeded", f"index: {root / 'index.json'}"]


def test_one_that_fails_is_named_and_the_others_are_written(
    made_up: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fake: Fakes
) -> None:
    def fail(_: object) -> dict[str, object]:
        raise ValueError(fake("message"))

    monkeypatch.setattr("oracle.scan.machine.scan_network", fail)
    assert scan(root) == 1
    out, err = capsys.readouterr()
    assert "scanning network… ✗" in out
    assert out.splitlines()[-2] == "scan complete: 4/5 scanners succeeded"
    assert "error: network: ValueError: unexpected content" in err
    assert not (root / "machine/network.json").exists()
    assert (root / "machine/github.json").exists()


def test_an_unknown_scanner_is_named_with_those_there_are(
    root: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(Exception, match="unknown scanners: nope") as caught:
        scan(tmp_path / "new", "--only", "network,nope")
    assert caught.value.exit_code == 2  # type: ignore[attr-defined]
    assert "current_context" in caught.value.hint  # type: ignore[attr-defined]
    assert not (tmp_path / "new").exists()


def test_a_scan_starts_no_program_and_a_home_without_anything_is_no_failure(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr("subprocess.Popen", refuse)
    monkeypatch.setenv("PATH", "/usr/bin")
    machine = machines.Machine(str(home / "empty"), {"PATH": "/usr/bin"}, "now")
    assert [found.error for found in machines.run(machine, list(SCANNERS))] == [""] * len(SCANNERS)


def test_nothing_scans_but_a_scan(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned: list[str] = []
    monkeypatch.setattr("oracle.app.scans.machine.run", lambda *_, **__: scanned.append("machine") or [])
    monkeypatch.setattr("oracle.app.scans.project.scan", lambda *_, **__: scanned.append("project") or {})
    monkeypatch.setenv("ORACLE_ROOT", str(root))
    lay_out(root)
    run_commands(root)
    run_scripts(root)
    assert scanned == []
    run(["scan", "machine", "--memory-dir", str(root)])
    run(["scan", "project", "--memory-dir", str(root), "--project", "arena", "--repo", str(tmp_path)])
    assert scanned == ["machine", "project"]
