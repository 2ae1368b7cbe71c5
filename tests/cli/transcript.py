"""Read, run and print approval transcripts.

A transcript is a list of steps: `$` a command line, `<` lines of its standard input, `>` lines of standard output, `!` lines
of standard error, `=` the exit code; `#` lines are remarks. The command is `oracle`, or `file PATH`, which writes its input
to a file under the Root as a seat would. `$ROOT` stands for the Root, `<time>` and `<stamp>` for the times that the clock
gave (those of a few hours ago at most); in a command, `<stamp>-name` is the record whose file ends in `-name.md`.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from oracle import __version__
from oracle.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

MARKS = {"<": "stdin", ">": "stdout", "!": "stderr"}
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}Z")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b(?=\)|-[a-z]|\.md|;)")
OTHERS = (
    # Which checks there are is the doctor's own business; here it matters how one that fails is shown.
    (re.compile(r"(?:^(ok|正常)\t.*\n)+", re.MULTILINE), r"\1\t<checks that hold>\n"),
    (re.compile(r'(?<="score": )[\d.]+'), "<score>"),
    (re.compile(r"Python [\d.]+, SQLite [\d.]+"), "Python <version>, SQLite <version>"),
    (re.compile(r"(?<=superseded-)[0-9a-f]{12}"), "<digest>"),
    (re.compile(r"(?<=\t)\d+ s(?=\t)|(?<=for )\d+ s(?=;)|(?<=\"age_seconds\": )\d+"), "<age>"),
    (re.compile(r"exec \S+ -I -S \S+(?=/scripts/hooks/)"), "exec <python> -I -S <checkout>"),
    (re.compile(r'"[^"\n]+"(?= "-m" "oracle\.daemon")'), "<python>"),
    (re.compile(r"(?<=<string>)\S+(?=</string>\n\t\t<string>-m<)"), "<python>"),
    (re.compile(r"memory-oracle-[0-9a-f]{8}"), "memory-oracle-<digest>"),
    (re.compile(r'(?<="version": ")' + re.escape(__version__)), "<version>"),
    (re.compile(rf"^oracle {re.escape(__version__)}$", re.MULTILINE), "oracle <version>"),
)


@dataclass
class Step:
    command: str
    remarks: list[str] = field(default_factory=list)
    stdin: list[str] = field(default_factory=list)
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)
    code: int = 0

    def print(self) -> Iterable[str]:
        yield from self.remarks
        yield f"$ {self.command}"
        for mark, name in MARKS.items():
            yield from (f"{mark} {line}".rstrip() for line in getattr(self, name))
        yield f"= {self.code}"


def read(path: Path) -> list[Step]:
    steps: list[Step] = []
    remarks: list[str] = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        mark, rest = line[:1], line[2:]
        if mark == "$":
            steps.append(Step(rest, remarks))
            remarks = []
        elif mark in MARKS:
            getattr(steps[-1], MARKS[mark]).append(rest)
        elif mark == "=":
            steps[-1].code = int(rest)
        elif mark == "#":
            remarks.append(line)
    return steps


def show(steps: Iterable[Step]) -> str:
    return "\n\n".join("\n".join(step.print()) for step in steps) + "\n"


def play(steps: Iterable[Step], root: Path, monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """Run every step on a Root and return what happened, in the transcript's own words."""
    played = []
    for step in steps:
        words = [resolve(word, root) for word in shlex.split(step.command)]
        text = "".join(f"{line}\n" for line in step.stdin)
        if words[0] == "file":
            target = root / words[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            # Old enough to be trusted when it is read, so that the speed of the machine changes nothing.
            moment = time.time() - 3600 + len(played)
            os.utime(target, (moment, moment))
            played.append(Step(step.command, step.remarks, step.stdin))
            continue
        assert words[0] == "oracle", step.command
        code, out, err = call(words[1:], monkeypatch, stdin=text.encode())
        lines = (normalise(output, root).split("\n")[:-1] for output in (out, err))
        played.append(Step(step.command, step.remarks, step.stdin, *lines, code))
    return played


def resolve(word: str, root: Path) -> str:
    def find(match: re.Match[str]) -> str:
        (path,) = root.glob(f"projects/*/*/*Z-{match[1]}.md")
        return path.stem

    return re.sub(r"<stamp>-([\w-]+)", find, word.replace("$ROOT", str(root)))


def normalise(text: str, root: Path) -> str:
    text = text.replace(str(root), "$ROOT").replace(f"{root.parent}/", "$ROOT/../")
    text = STAMP.sub("<stamp>", text)
    text = DAY.sub(lambda match: "<day>" if is_recent(match[0]) else match[0], text)
    text = TIME.sub(lambda match: "<time>" if is_recent(match[0]) else match[0], text)
    for pattern, name in OTHERS:
        text = pattern.sub(name, text)
    return text


def is_recent(text: str) -> bool:
    moment = datetime.fromisoformat(text)
    age = datetime.now(UTC) - (moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return abs(age) < timedelta(days=2)


def call(words: list[str], monkeypatch: pytest.MonkeyPatch, *, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run `oracle` in this process with streams of its own; return exit code, standard output and standard error."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        code = run(words)
        out, err = (stream.buffer.getvalue().decode() for stream in streams.values() if stream.flush() is None)
    return code, out, err
