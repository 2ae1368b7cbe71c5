"""The sign of life: only on a terminal, only when it takes long, gone when the work is done."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from oracle import wording
from oracle.cli.i18n import translate
from oracle.cli.session import Spinner
from oracle.wording import say


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("language", "told"), [("en", "2,000 records read"), ("zh", "2,000 条记录已读取……")])
def test_it_shows_what_is_done_and_clears_up(monkeypatch, language, told):
    monkeypatch.setattr(wording, "_translation", translate.load(language).translate if language != "en" else None)
    stream = Terminal()
    begun = threading.Event()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")

    class Eager(Spinner):
        def _begin(self) -> None:
            super()._begin()
            begun.set()

    with Eager(patience=0.0) as waiting:
        assert begun.wait(timeout=120)
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
