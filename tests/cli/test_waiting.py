"""The sign of life: only on a terminal, only when it takes long, gone when the work is done."""

from __future__ import annotations

import io
import os
import pty
import select
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from oracle import wording
from oracle.cli import session
from oracle.cli.i18n import translate
from oracle.cli.main import run
from oracle.cli.output import Spinner
from oracle.wording import say
from tests.forked import Forked


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Eager(Spinner):
    """A spinner that says when it appeared."""

    def __init__(self, patience: float) -> None:
        self.begun = threading.Event()
        super().__init__(patience)

    def _begin(self) -> None:
        super()._begin()
        self.begun.set()


@pytest.mark.parametrize(("language", "told"), [("en", "2,000 records read"), ("zh", "2,000 条记录已读取……")])
def test_it_shows_what_is_done_and_clears_up(monkeypatch, language, told):
    monkeypatch.setattr(wording, "_translation", translate.load(language).translate if language != "en" else None)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with Eager(patience=0.0) as waiting:
        assert waiting.begun.wait(timeout=20)
        waiting.report(2000, say("records read"))
    assert told in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")


def test_quick_work_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Spinner(patience=60.0) as waiting:
        waiting.report(1, "records read")
    assert sys.stderr.getvalue() == ""


def test_a_pipe_sees_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Spinner(patience=0.0) as waiting:
        assert not waiting._timer.is_alive()
    assert sys.stderr.getvalue() == ""


PROJECT = "projects/bakery/memory"
NOTE = ["remember", "No merges on Mondays.", "--type", "project", "--project", "bakery"]


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (NOTE, {"given): ": "The oven is cleaned.", "counts): ": "Every week."}),
        (["setup", "--tool", "gemini"], {"[y/N]: ": "n"}),
    ],
)
def test_a_question_is_left_alone(root, words, answers):
    """A person reads each question for a while; the spinner would be back at once if it still ran."""
    (root / PROJECT).mkdir(parents=True)
    (Path.home() / ".gemini").mkdir()

    def work() -> int:
        session.Spinner = partial(Spinner, 0.0)
        sys.argv = ["oracle", *words]
        return run()

    ours, theirs = pty.openpty()
    environ = {**os.environ, "ORACLE_ROOT": str(root), "TERM": "xterm"}
    child = Forked(work, streams=[theirs] * 3, environ=environ)
    os.close(theirs)
    try:
        for question, answer in answers.items():
            read_until(ours, question)
            assert read_for(ours, 0.4) == ""
            os.write(ours, f"{answer}\n".encode())
        read_all(ours)
        assert child.wait() == 0
    finally:
        child.kill()
        os.close(ours)


def test_it_is_back_after_a_question(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with Eager(patience=0.0) as waiting:
        assert waiting.begun.wait(timeout=20)
        with waiting.paused():
            before = stream.getvalue()
            waiting.begun.clear()
        assert waiting.begun.wait(timeout=20)
    assert before.endswith("\x1b[2K")
    assert "Reading the Root" in stream.getvalue()[len(before) :]


def read_until(terminal: int, end: str) -> None:
    seen = ""
    while not seen.endswith(end):
        assert select.select([terminal], [], [], 20)[0], seen
        seen += os.read(terminal, 4096).decode()


def read_for(terminal: int, seconds: float) -> str:
    return os.read(terminal, 4096).decode() if select.select([terminal], [], [], seconds)[0] else ""


def read_all(terminal: int) -> None:
    with suppress(OSError):  # what Linux says at the end of a terminal
        while os.read(terminal, 4096):
            pass
