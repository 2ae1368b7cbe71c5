"""Every command as people see it: the transcripts beside this file, played on a Root of their own.

With APPROVE=1 in the environment they are written anew from what happened; read the difference before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oracle.cli.application import Group, command, walk
from oracle.index import scan
from oracle.index.write import rows
from tests.cli import transcript

FOLDER = Path(__file__).parent / "transcripts"
PATHS = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_plays(path, tmp_path, monkeypatch):
    root = tmp_path / "memory"
    monkeypatch.setenv("ORACLE_ROOT", str(root))
    for module in (rows, scan):  # every file is young, however long the machine takes from one step to the next
        monkeypatch.setattr(module, "SETTLE_NS", 1 << 62)
    before = os.umask(0o077)
    try:
        played = transcript.show(transcript.play(transcript.read(path), root, monkeypatch))
    finally:
        os.umask(before)
    if os.environ.get("APPROVE"):
        path.write_text(played, encoding="utf-8")
    assert played == path.read_text(encoding="utf-8")


LEAVES = [path for path, found in walk(command()) if not isinstance(found, Group) or found.default]
ELSEWHERE = ["daemon start"]
"""What leaves a process behind: tests/daemon/test_control.py."""


def test_every_command_has_a_transcript():
    steps = [step for path in PATHS for step in transcript.read(path)]
    played = [words for step in steps if (words := step.command.split())[0] == "oracle"]
    assert [path for path in LEAVES if not any(path.split() == words_of(words, path) for words in played)] == ELSEWHERE


def words_of(words: list[str], path: str) -> list[str]:
    """Return as many words of a call as a path has, behind the options that stand before them."""
    at = next((at for at, word in enumerate(words) if word == path.split()[0]), len(words))
    return words[at : at + len(path.split())]


def test_a_transcript_reads_back_as_it_was_printed():
    for path in PATHS:
        assert transcript.show(transcript.read(path)) == path.read_text(encoding="utf-8")
