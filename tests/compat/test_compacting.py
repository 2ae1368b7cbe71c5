"""The programs of upkeep as teams call them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.compat.team import SCRIPTS, Done
from tests.forked import run_python

INDEX = "# Memory\n\n- T-1: ✅ MERGED 2026-04-27\n  more\n- T-2: 🚀 in flight\n"


def call(program: str, *words: str | Path, home: Path, cwd: Path | None = None) -> Done:
    environ = {key: text for key, text in os.environ.items() if key != "CLAWSEAT_MEMORY_MD"} | {"HOME": str(home)}
    done = run_python([str(SCRIPTS / f"{program}.py"), *map(str, words)], env=environ, cwd=cwd or home)
    assert "Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "MEMORY.md"
    path.write_text(INDEX, encoding="utf-8")
    return path


def archive(index: Path, *words: str) -> Done:
    return call("archive_merged_dispatches", "--memory-path", index, *words, home=index.parent)


def test_rehearsal_changes_nothing(index: Path):
    done = archive(index)
    assert done.code == 0
    assert (done.json["mode"], done.json["archive_count"], done.json["backup"]) == ("dry-run", 1, None)
    assert done.json["entries"] == [
        {"archive": "MEMORY_ARCHIVE_2026_04.md", "lines": 2, "period": "2026_04", "task_id": "T-1"}
    ]
    assert list(done.json) == sorted(done.json)
    assert [path.name for path in index.parent.iterdir()] == ["MEMORY.md"]


def test_merged_bullets_are_moved_once(index: Path):
    done = archive(index, "--commit").json
    assert index.read_text(encoding="utf-8").split("\n")[2] == "- T-1: ✅ archived → see MEMORY_ARCHIVE_2026_04.md"
    assert Path(done["backup"]).read_text(encoding="utf-8") == INDEX
    kept = index.with_name("MEMORY_ARCHIVE_2026_04.md")
    assert done["archives_written"] == [str(kept)]
    assert (
        kept.read_text(encoding="utf-8")
        == "# MEMORY_ARCHIVE_2026_04\n\n## T-1\n\n- T-1: ✅ MERGED 2026-04-27\n  more\n"
    )
    assert archive(index, "--commit").json["archive_count"] == 0


def test_process_that_died_before_the_index_was_written_repeats_no_entry(index: Path):
    archive(index, "--commit")
    index.write_text(INDEX, encoding="utf-8")
    archive(index, "--commit")
    assert index.with_name("MEMORY_ARCHIVE_2026_04.md").read_text(encoding="utf-8").count("## T-1") == 1


def test_index_that_stays_too_long_ends_with_1(index: Path):
    index.write_text(INDEX + "line\n" * 300, encoding="utf-8")
    assert archive(index).code == 0
    done = archive(index, "--commit")
    assert done.code == 1
    assert done.json["line_count_after"] == 304
    assert "is over 200 lines still: 304" in done.err


@pytest.mark.parametrize(
    "words",
    [("--memory-path", "/nowhere/MEMORY.md"), ("--default-period", "2026-04"), ("--dry-run", "--commit"), ()],
)
def test_wrong_calls(tmp_path: Path, words: tuple[str, ...]):
    done = call("archive_merged_dispatches", *words, home=tmp_path)
    assert (done.code, done.out) == (2, "")


def test_file_that_is_no_text_is_left_alone(index: Path):
    index.write_bytes(b"- T-1: \xff Done")
    assert archive(index, "--commit").code == 2
    assert index.read_bytes() == b"- T-1: \xff Done"


def test_the_only_index_of_claude_code_is_found_and_of_two_none_is_guessed(tmp_path: Path):
    for name in ("a", "b"):
        path = tmp_path / ".claude" / "projects" / name / "memory" / "MEMORY.md"
        path.parent.mkdir(parents=True)
        path.write_text(INDEX, encoding="utf-8")
        done = call("archive_merged_dispatches", home=tmp_path)
        assert done.code == (0 if name == "a" else 2)
    assert "2 files match" in done.err


def test_marker_is_looked_for(tmp_path: Path):
    relay = tmp_path / "relay.txt"
    relay.write_text("x [memory: compact-me]\n", encoding="utf-8")
    assert call("check_compact_marker", "--relay-text-file", relay, home=tmp_path) == Done(0, "marker=present\n", "")
    assert call("check_compact_marker", "--text", "none", home=tmp_path).out == "marker=absent\n"
    gone = call("check_compact_marker", "--relay-text-file", tmp_path / "gone", home=tmp_path)
    assert (gone.code, gone.out) == (0, "marker=absent\n")
    assert "warning" in gone.err


@pytest.mark.parametrize(("threshold", "said"), [("2", "true"), ("3", "false")])
def test_waves_are_counted(tmp_path: Path, threshold: str, said: str):
    status = tmp_path / "STATUS.md"
    status.write_text("compacted planner\nphase=CLOSED\nphase=CLOSED\n", encoding="utf-8")
    done = call("wave_count_since_compact", "--status-file", status, "--threshold", threshold, home=tmp_path)
    assert done == Done(0, f"triggered={said} waves_since=2\n", "")
    absent = call("wave_count_since_compact", "--status-file", tmp_path / "x", "--threshold", "1", home=tmp_path)
    assert absent == Done(0, "triggered=false waves_since=0\n", "")
