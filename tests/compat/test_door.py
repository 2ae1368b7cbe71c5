"""How a front ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from oracle.compat import door
from oracle.errors import LockTimeout


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
        f"error: Something unforeseen happened: ZeroDivisionError: by zero.\nhint: Details are in {log}.\n"
    )
    assert "Traceback" in log.read_text(encoding="utf-8")


def test_a_missing_library_is_left_to_who_started_the_front():
    with pytest.raises(ModuleNotFoundError):
        door.serve(fail(ModuleNotFoundError("x", name="yaml")))
