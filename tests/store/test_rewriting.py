"""Change files that others write too: no line of theirs is lost, whatever they do meanwhile."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.errors import Conflict
from oracle.hook.changes import FileChange
from oracle.store.delivery import task_tree
from oracle.store.delivery.task_tree import TaskTree
from oracle.store.disk import rewriting, steps
from oracle.store.markdown import memory_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = datetime(2026, 4, 27, tzinfo=UTC)
ROUNDS = 20

APPENDERS = {
    "by the line": "with open({path!r}, 'a') as file: file.write(line)",
    "slowly": "with open({path!r}, 'a') as file: file.write(line[:4]); file.flush(); time.sleep(0.002); file.write(line[4:])",
    "by the shell": "os.system(f\"printf '%s\\\\n' '{{line.strip()}}' >> {path}\")",
}
PROGRAM = """
import os, sys, time
for number in range(100000):
    line = f"mine {{number}}\\n"
    if not os.path.exists({path!r}):
        break
    {append}
    print(number, flush=True)
    if os.path.exists({path!r} + ".stop"):
        break
    time.sleep(0.0005)
"""


def tree(folder: Path) -> TaskTree:
    return TaskTree(str(folder), f"{folder}/TASKS.md", f"{folder}/STATUS.md", f"{folder}/handoffs")


def archive(folder: Path, number: int) -> Path:
    """Move a merged entry into its archive, as `archive_merged_dispatches` does."""
    path = folder / "MEMORY.md"
    path.touch()
    merged = f"- T-{number}: ✅ MERGED 2026-04-27\n".encode()
    rewriting.change(str(path), lambda raw: (raw or b"") + merged)
    memory_index.archive(str(path), period="month", moment=datetime.now(UTC))
    return path


def queue(folder: Path, number: int) -> Path:
    task_tree.queue_task(tree(folder), "builder", task_tree.Task(f"T-{number}", "pending", {}, "do"))
    return folder / "builder/TODO.md"


def tabulate(folder: Path, number: int) -> Path:
    task_tree.upsert_row(tree(folder), f"T-{number}", {"Title": "t"})
    return folder / "TASKS.md"


def log(folder: Path, number: int) -> Path:
    task_tree.append_log(tree(folder), f"line {number}", task_id="T", moment=NOW)
    return folder / "STATUS.md"


def step(folder: Path, number: int) -> Path:
    task_tree.create_workflow(str(folder), "T", "# T\n\n## Step 1: a\n")
    task_tree.change_workflow(str(folder), "T", lambda text: f"{number}\n{text}")
    return folder / "T/workflow.md"


REWRITES: dict[str, Callable[[Path, int], Path]] = {
    function.__name__: function for function in (archive, queue, tabulate, log, step)
}


@pytest.mark.parametrize("appender", APPENDERS)
@pytest.mark.parametrize("rewrite", REWRITES)
def test_no_appended_line_is_lost(tmp_path: Path, rewrite: str, appender: str) -> None:
    assert_no_line_is_lost(tmp_path, REWRITES[rewrite], APPENDERS[appender])


@pytest.mark.parametrize("rewrite", REWRITES)
def test_no_appended_line_is_lost_where_names_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rewrite: str
) -> None:
    monkeypatch.setattr(steps, "exchange", lambda new, path: False)
    assert_no_line_is_lost(tmp_path, REWRITES[rewrite], APPENDERS["by the line"])


def assert_no_line_is_lost(folder: Path, rewrite: Callable[[Path, int], Path], append: str) -> None:
    path = rewrite(folder, 0)
    program = PROGRAM.format(path=str(path), append=append.format(path=str(path)))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        for number in range(1, ROUNDS + 1):
            rewrite(folder, number)
        written = other.stdout.readline().split()  # on a busy machine it may not have run meanwhile
        Path(f"{path}.stop").touch()
        written += other.stdout.read().split()
    text = path.read_text()
    lost = [number for number in written if f"mine {number}\n" not in text]
    assert (bool(written), lost) == (True, [])
    assert not [one.name for one in path.parent.iterdir() if one.name.startswith(".new-")]


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "file").write_text("one\n")
    yield tmp_path / "file"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file"]


def meanwhile(path: Path, act: Callable[[], object], times: int = 1) -> Callable[[bytes | None], bytes]:
    """Return an `alter` that adds a word, while another program acts."""
    left = [times]

    def alter(raw: bytes | None) -> bytes:
        if left[0]:
            left[0] -= 1
            act()
        return (raw or b"") + b"ours\n"

    return alter


def test_what_was_replaced_meanwhile_is_read_again(path: Path) -> None:
    def act() -> None:
        other = path.with_name("other")
        other.write_text("two\n")
        other.rename(path)

    assert rewriting.change(str(path), meanwhile(path, act))
    assert path.read_text() == "two\nours\n"


@pytest.mark.parametrize("can_exchange", [True, False])
def test_what_is_replaced_in_the_last_moment_is_put_back(
    path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    """Between the last look and the exchange another program writes."""
    really, left = steps.exchange, [1]

    def exchange(new: str, name: str) -> bool:
        if left and left.pop():
            path.write_text("three\n")
        return really(new, name) if can_exchange else False

    monkeypatch.setattr(steps, "exchange", exchange)
    assert rewriting.change(str(path), lambda raw: (raw or b"") + b"ours\n")
    assert path.read_text() == "three\nours\n"


def test_a_file_that_keeps_changing_is_left_alone(path: Path) -> None:
    numbers = iter(range(1000))
    with pytest.raises(Conflict, match="keeps changing"):
        rewriting.change(str(path), meanwhile(path, lambda: path.write_text(f"{next(numbers)}\n"), times=1000))
    assert "ours" not in path.read_text()


def test_nothing_is_written_for_nothing(path: Path) -> None:
    before = path.stat()
    assert not rewriting.change(str(path), lambda raw: raw or b"")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert not rewriting.change(str(path.with_name("none")), lambda raw: raw or b"")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_the_mode_stays(path: Path, mode: int) -> None:
    path.chmod(mode)
    assert rewriting.change(str(path), lambda raw: b"new\n")
    assert path.stat().st_mode & 0o777 == mode


def test_a_program_that_never_closes_the_file_does_not_block_for_ever(path: Path) -> None:
    began = time.monotonic()
    with path.open("a"):
        assert rewriting.change(str(path), lambda raw: b"new\n")
    assert time.monotonic() - began < 3
    assert path.read_text() == "new\n"


@pytest.mark.parametrize("after", ["ours\n", None])
def test_a_file_of_a_user_that_changed_since_it_was_shown_is_left_alone(path: Path, after: str | None) -> None:
    change = FileChange(str(path), "one\n", after, keeps_backup=False)
    path.write_text("one\ntwo\n")
    with pytest.raises(Conflict, match="changed meanwhile"):
        change.apply()
    assert path.read_text() == "one\ntwo\n"


def test_program_that_appends_whenever_its_lines_were_saved_loses_none(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, times = steps.exchange, 1200
    left = [times]

    def exchange(new: str, old: str) -> bool:
        if left[0]:
            left[0] -= 1
            with Path(old).open("a") as file:
                file.write("theirs\n")
        return really(new, old)

    monkeypatch.setattr(steps, "exchange", exchange)
    assert rewriting.change(str(path), lambda raw: (raw or b"") + b"ours\n")
    assert path.read_text() == "one\nours\n" + "theirs\n" * times
