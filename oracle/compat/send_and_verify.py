"""`send_and_verify`: type a text into the pane of a seat and verify that it was submitted.

Exit codes: 0 sent; 1 usage, no session, dead, busy, not submitted; 2 a text that must not be typed; 3 several projects
exist, name one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, assert_never

from oracle.compat.door import complain, emit
from oracle.errors import PrivacyBlocked, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.app.delivery.panes import Outcome

USAGE = 'usage: send_and_verify [--project P] [--force] [--] SEAT-OR-SESSION "TEXT"'
PATIENCE = 120.0
"""Seconds to wait for an idle agent. `ORACLE_WAKE_PATIENCE` overrides it."""

FAILED, REJECTED, NO_PROJECT = 1, 2, 3


def main(argv: Sequence[str]) -> int:
    """Send one text. Returns the exit codes of the module."""
    if argv and argv[0] in ("-h", "--help"):
        emit(f"{USAGE}\n\n{_HELP}")
        return 0
    try:
        project, is_forced, words = _read_arguments(argv)
    except UsageError as error:
        complain(f"send-and-verify: {error.sentence}")
        complain(USAGE, keeps_lines=True)
        return FAILED
    return _send(project, words[0], words[1], is_forced=is_forced, environ=os.environ)


_HELP = """Types TEXT (one line, at most 8 KiB) into the input box of the seat's agent, submits it, and looks whether it was taken.
  --project P   the project whose seat is meant; else CLAWSEAT_PROJECT or AGENTS_PROJECT; needed where there are several
  --force       don't wait until the agent is idle; it keeps the text until its turn ends
AGENTS_TASKS_ROOT names another folder of task trees, TMUX_BIN another tmux.
ORACLE_TMUX_SOCKET names another tmux server than the one around; ORACLE_WAKE_PATIENCE the seconds to wait (120).
Exit codes: 0 sent; 1 not found, dead, busy or not taken; 2 a text that must not be typed; 3 name a project."""


def _read_arguments(argv: Sequence[str]) -> tuple[str, bool, list[str]]:
    """Return (project, forced, [seat, text]). Options come first; words after `--` or the seat are never options."""
    rest, project, is_forced = list(argv), "", False
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "--":
            break
        if word == "--force":
            is_forced = True
        elif word == "--project" and rest:
            project = rest.pop(0)
        elif word.startswith("--project="):
            project = word.partition("=")[2]
        else:
            raise UsageError(f"unknown option or missing value: {word}")
    if rest[1:2] == ["--"]:
        del rest[1]
    if len(rest) != len(("seat", "text")) or not rest[0]:
        raise UsageError("a seat and one text are needed")
    return project, is_forced, rest


def _send(project: str, seat: str, text: str, *, is_forced: bool, environ: Mapping[str, str]) -> int:
    from oracle.app.context import Context
    from oracle.app.delivery import panes

    project = project or environ.get("CLAWSEAT_PROJECT") or environ.get("AGENTS_PROJECT") or ""
    with Context.open(environ=environ) as context:
        try:
            panes.check(context, seat, text)
        except (UsageError, PrivacyBlocked) as error:
            complain(f"send-and-verify: INPUT_REJECTED HARD_BLOCK: {error.sentence}")
            return REJECTED
        try:
            where = project or panes.find_project(context, tasks=environ.get("AGENTS_TASKS_ROOT", ""))
        except UsageError as error:
            if environ.get("CLAWSEAT_SEND_ALLOW_NO_PROJECT") != "1":
                complain(f"send-and-verify: PROJECT_REQUIRED: {error.sentence}; {error.hint}")
                return NO_PROJECT
            where = ""
        if is_forced:
            complain("send-and-verify: WARN the text is sent whether the agent is idle or not (--force)")
        outcome, shell = panes.send(context, where, seat, text, patience=_patience(environ), is_forced=is_forced)
        if shell:
            complain(
                f"send-and-verify: WARN only a shell runs in {shell}: no agent read the text, which was typed as a command"
            )
    return _tell(outcome, project, seat)


def _patience(environ: Mapping[str, str]) -> float:
    try:
        return max(0.0, float(environ.get("ORACLE_WAKE_PATIENCE", PATIENCE)))
    except ValueError:
        return PATIENCE


def _tell(outcome: Outcome, project: str, seat: str) -> int:
    """Print the outcome in the words that callers look for, and return the exit code."""
    from oracle.app.delivery.panes import Busy, NoSession, Stranded, Woken

    match outcome:
        case Woken(session):
            emit(f"SENT: {session}")
            return 0
        case NoSession(dead=dead, reason=reason):
            if "not installed" in reason:
                emit("send-and-verify: TMUX_MISSING")
            elif dead:
                emit(f"send-and-verify: SESSION_DEAD session={dead}")
            else:
                emit(f"send-and-verify: SESSION_NOT_FOUND project={project} seat={seat}")
                complain(f"send-and-verify: {reason}")
        case Busy(session, reason):
            complain(f"send-and-verify: FAIL_CLOSED {session} took no text: {reason}; use --force to override")
        case Stranded(session, _, reason):
            complain(f"send-and-verify: FAIL_CLOSED {session} did not take the text: {reason}")
        case _:
            assert_never(outcome)
    return FAILED
