"""The reference names every flag of the programs, and no other."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

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
