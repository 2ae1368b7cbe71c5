"""What a caller names is read when it is a plain file or comes through a pipe, and never more than anybody gives on purpose."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from oracle import process
from oracle.errors import UsageError


def test_a_plain_file_a_link_to_one_and_a_pipe_of_the_shell_are_read(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"\xff\x00text")
    (tmp_path / "link").symlink_to(plain)
    assert process.read_input(str(plain), "--x") == process.read_input(str(tmp_path / "link"), "--x") == b"\xff\x00text"
    reader, writer = os.pipe()
    os.write(writer, b"piped")
    os.close(writer)
    assert process.read_input(f"/dev/fd/{reader}", "--x") == b"piped"
    os.close(reader)


def make(kind: str, folder: Path) -> str:
    path = folder / kind
    if kind == "a folder":
        path.mkdir()
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a sparse file":
        with path.open("wb") as stream:
            stream.truncate(10 << 30)
    elif kind == "a device":
        return "/dev/zero"
    elif kind == "a descriptor without an end":
        return f"/dev/fd/{os.open('/dev/zero', os.O_RDONLY)}"
    return str(path)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("a folder", "it is not a regular file"),
        ("a pipe", "it is not a regular file"),
        ("a device", "it is not a regular file"),
        ("a sparse file", "it is larger than 16 MiB"),
        ("a descriptor without an end", "it is larger than 16 MiB"),
        ("nothing", "No such file or directory"),
        ("a\0zero", "embedded null byte"),
    ],
)
def test_everything_else_is_one_sentence(kind: str, reason: str, tmp_path: Path) -> None:
    name = make(kind, tmp_path)
    with pytest.raises(UsageError) as caught:
        process.read_input(name, "--response-file")
    assert caught.value.sentence == f"{name} can't be read: {reason}."
    assert caught.value.hint == "Check --response-file."


def test_standard_input_is_bounded_and_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_BYTES", 4)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1234")))
    assert process.read_input("-", "--x") == b"1234"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"12345")))
    with pytest.raises(UsageError, match=r"standard input can't be read: it is larger"):
        process.read_input("-", "--x")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="closed"):
        process.read_input("-", "--x")


def test_a_file_that_has_nothing_to_give_now_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").touch()
    monkeypatch.setattr(process, "open", lambda *_given: Nothing(), raising=False)
    assert process.read_input(str(tmp_path / "empty"), "--x") == b""


class Nothing(io.BytesIO):
    """What is read of /proc/kmsg and the like where reading would have to wait."""

    def read(self, _size: int | None = -1, /) -> bytes:
        return None  # type: ignore[return-value]
