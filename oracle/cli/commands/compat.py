"""`oracle compat`: the programs of the older tools, with their own flags."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated

import typer

from oracle.cli import completion
from oracle.cli.options import argument, single
from oracle.cli.session import Call
from oracle.errors import UsageError
from oracle.wording import say

PROGRAMS = (
    *("agent_admin", "archive_merged_dispatches", "audit_planner_closeout", "check_compact_marker", "complete_handoff"),
    *("decision_log", "decision_payload", "dispatch_task", "extract_links", "install_memory_hook", "memory_deliver"),
    *("memory_router", "memory_write", "notify_seat", "query_memory", "scan_environment", "scan_index", "scan_project"),
    *("send_and_verify", "verify_handoff", "wave_count_since_compact"),
)

app = single()


@app.add(
    example="oracle compat dispatch_task --help",
    context_settings={"allow_interspersed_args": False},
)
def compat(
    call: Call,
    name: Annotated[str, argument("NAME", "The program.", completion.words(*PROGRAMS))] = "",
    words: Annotated[list[str] | None, argument("[WORD]...", "Its own flags and arguments.")] = None,
) -> None:
    """Run a program of the older tools, with its own flags."""
    if not name:
        call.answer({"programs": list(PROGRAMS)}, PROGRAMS)
        return
    if name not in PROGRAMS:
        near = get_close_matches(name, PROGRAMS)
        hint = say("Did you mean {names}?", names=near) if near else say("See what there is with `oracle compat`.")
        raise UsageError(say("Unknown program {name!r}.", name=name), hint=hint)
    if call.memory_dir is not None:
        os.environ["ORACLE_ROOT"] = call.memory_dir
    sys.argv = [name, *(words or [])]
    raise typer.Exit(import_module(f"oracle.compat.{name}").run())
