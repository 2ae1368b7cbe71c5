"""How a front ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.compat import door
from oracle.errors import LockTimeout
from tests.compat.team import SCRIPTS, Team


def fail(error: BaseException):
    def main(_: list[str]) -> int:
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 0, ""),
        (LockTimeout("It is held.", hint="Wait."), 75, "error: It is held.\nhint: Wait.\n"),
        (
            LockTimeout("a\nb\x1b[31m\r\u202e\x85", hint="两　字\tx"),
            75,
            "error: a\\nb\\x1b[31m\\r\\u202e\\x85\nhint: 两　字\\tx\n",
        ),
    ],
)
def test_every_end_has_its_code(capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str):
    assert door.serve(fail(error)) == code
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("words", [["--memory-dir", "{root}"], ["--memory-dir={root}"]])
def test_the_unforeseen_is_one_sentence_and_a_log(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
):
    monkeypatch.setattr(sys, "argv", ["x", *(word.format(root=root) for word in words)])
    assert door.serve(fail(ZeroDivisionError("by zero\nand more"))) == 70
    log = root / "_state" / "oracle.log"
    assert capsys.readouterr().err == (
        f"error: Unexpected error: ZeroDivisionError: by zero.\nhint: Details are in {log}.\n"
    )
    assert "Traceback" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "program",
    ["query_memory", "memory_write", "extract_links", "scan_index", "scan_project", "dispatch_task", "agent_admin"],
)
def test_what_is_wrong_in_a_call_is_told_on_one_line(team: Team, program: str):
    done = team.run(program, "--no\nsuch\x1b[31m")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\nsuch" not in done.err


def test_a_missing_library_is_left_to_who_started_the_front():
    with pytest.raises(ModuleNotFoundError):
        door.serve(fail(ModuleNotFoundError("x", name="yaml")))


def test_a_word_that_is_not_utf_8_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["x", "--file", "a\udcff.md"])
    assert door.serve(fail(AssertionError("never called"))) == 2
    assert capsys.readouterr().err.startswith("error: Argument 2 is not UTF-8: b'a\\xff.md'.\n")


@pytest.mark.parametrize(
    ("program", "words"),
    [("extract_links", ("--file", "rel.md")), ("query_memory", ("--memory-dir", "rel", "--key", "a"))],
)
def test_a_working_directory_that_is_gone_is_said(team: Team, tmp_path: Path, program: str, words: tuple[str, ...]):
    gone = tmp_path / "gone"
    gone.mkdir()
    environ = {**os.environ, "ORACLE_ROOT": str(team.root)}
    done = team.run(program, *words, cwd=gone, preexec_fn=gone.rmdir, env=environ)
    assert done.code == 2
    assert done.err.startswith("error: The working directory is gone.\n")


def test_names_of_other_scripts_are_asked_for_whatever_the_locale(team: Team):
    team.put("projects/a/decision/记录.md", "[KEY: 边界]\n")
    environ = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    where = ("--memory-dir", str(team.root))
    done = team.run("query_memory", *where, "--backlinks", "entity:key:边界", env=environ)
    assert (done.code, done.err) == (0, "")
    assert "projects/a/decision/记录" in done.out


def test_help_that_nobody_reads_is_no_error():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, str(SCRIPTS / "query_memory.py"), "--help"]
    with subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE) as running:
        os.close(write)
        assert running.communicate()[1] == b""
    assert running.returncode == 0


def test_an_interrupt_during_imports_is_quiet():
    check = (
        f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import _bootstrap, builtins\n"
        "def interrupt(*_, **__): raise KeyboardInterrupt\n"
        "builtins.__import__ = interrupt\n"
        "_bootstrap.run('memory_write')"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.parametrize("program", ["dispatch_task", "verify_handoff"])
def test_a_wrong_call_repeats_no_secret(team: Team, program: str):
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    done = team.call(
        program, "--profile", "p", "--task-id", "T-1", "--source", "a", "--target", "b", f"--kind={secret}"
    )
    assert done.code == 2
    assert secret[:12] not in done.err
