"""The reference names every flag of the programs, and no other."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracle.cli.commands import compat

TEXT = (Path(__file__).resolve().parents[2] / "references" / "scripts.md").read_text(encoding="utf-8")
PROGRAMS = (
    *("query_memory", "memory_write", "extract_links", "scan_index", "memory_router"),
    *("dispatch_task", "complete_handoff", "memory_deliver", "verify_handoff", "audit_planner_closeout", "notify_seat"),
    *("decision_payload", "decision_log"),
    "agent_admin",
    *("archive_merged_dispatches", "check_compact_marker", "wave_count_since_compact"),
)
COMMON = {"--help", "--memory-dir"}


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from (name for name in action.option_strings if name.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from options(below)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_flag_is_documented_and_every_documented_flag_exists(program: str):
    section = TEXT.partition(f"\n## {program}\n")[2].partition("\n## ")[0]
    documented = set(re.findall(r"--[a-z][a-z-]*", section)) - COMMON
    exist = set(options(importlib.import_module(f"oracle.compat.{program}")._parser())) - COMMON
    assert documented - {"--publish"} == exist


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_answers_help(program: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"oracle.compat.{program}").main(["--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {program}")


# The table of what became of each flag ---------------------------------------------------------------------------------

MIGRATING = (Path(__file__).resolve().parents[2] / "references" / "migrating.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \|(.*?)\| (kept|other words|changed|new) \|(.*?)\|$", re.MULTILINE)
ROWS = ROW.findall(MIGRATING.partition("## Each program and flag")[2])


def flags_of(program: str) -> set[str]:
    module = importlib.import_module(f"oracle.compat.{program}")
    found = set(options(module._parser())) if hasattr(module, "_parser") else set(re.findall(r"--[a-z]+", module.USAGE))
    return found - {"--help"}


def test_every_row_of_the_table_is_read():
    table = MIGRATING.partition("## Each program and flag")[2]
    assert len(ROWS) == len(re.findall(r"^\| `", table, re.MULTILINE)) > len(compat.PROGRAMS)
    assert {program for program, *_ in ROWS} == set(compat.PROGRAMS)


@pytest.mark.parametrize("program", compat.PROGRAMS)
def test_the_table_names_every_flag_of_a_program_once(program: str):
    named = [flag for name, flags, *_ in ROWS if name == program for flag in re.findall(r"`(--[a-z-]+)`", flags)]
    assert sorted(named) == sorted(flags_of(program))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]}")
def test_what_differs_has_a_reason_and_what_is_kept_needs_none(row: tuple[str, str, str, str]):
    _, flags, state, reason = row
    assert bool(reason.strip()) is (state in ("other words", "changed"))
    assert flags.strip() or state in ("other words", "changed")
