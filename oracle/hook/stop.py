"""The Stop hook after its first check: read the message, deliver the answer, wake the reader, clear the own context.

Nothing is printed on stdout. A failure is one line on stderr, `deliver_skipped: <code>`, with details in `_state/hook.log`.
All exceptions are caught here: a hook never stops its host.
"""

from __future__ import annotations

import os
import sys
import time

from oracle.app.context import Context
from oracle.domain.delivery import addressing, markers
from oracle.domain.delivery.addressing import Address
from oracle.domain.delivery.markers import Fault, Marker
from oracle.domain.names.slugs import check_name
from oracle.domain.values import value
from oracle.errors import OracleError
from oracle.hook.payload import HookPayload, parse_payload, read_transcript
from oracle.wording import joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WAKE_TIME = 2.0
"""Seconds from its start in which the hook waits for a pane; after that the next command sends the wake-up."""

OWN_TIME = 2.0
"""Seconds for typing into the own pane."""

MEMORY = "memory"


class Skipped(OracleError):
    """Nothing is delivered; `code` is the reason."""

    exit_code = 0

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def serve(raw: bytes) -> None:
    """Handle a payload in the environment of the process."""
    handle(raw, HookRun(dict(os.environ), time.monotonic()))


@value
class HookRun:
    """Environment and start of one run of the hook."""

    environ: Mapping[str, str]
    started: float
    """The start of the run, by the monotonic clock."""

    @property
    def seat(self) -> str:
        """The seat whose turn ended: `ORACLE_SEAT`, by default memory. Raises InvalidName."""
        return check_name(self.environ.get("ORACLE_SEAT") or MEMORY, "seat")


def handle(raw: bytes, run: HookRun) -> None:
    """Handle a payload. Raises nothing."""
    context = Context.open(environ=run.environ)
    has_pane = True
    try:
        payload = parse_payload(raw)
        is_over = payload.event in ("", "Stop", "AfterAgent")
        has_pane = is_over and payload.is_claude  # of others nothing shows whether they run without an input box
        if is_over and _handle(payload, run, context):
            return  # a text that is typed now would be cleared
    except Exception as error:  # noqa: BLE001 - the host must go on
        _report_failure(context, "deliver_skipped", error)
    try:
        if has_pane:
            _wake_own_seat(run, context)
    except Exception as error:  # noqa: BLE001
        _report_failure(context, "wake_skipped", error)


def _handle(payload: HookPayload, run: HookRun, context: Context) -> bool:
    """Do what the last message asks for. Return whether the context was cleared."""
    message = payload.message
    if message is None:
        message = read_transcript(payload.transcript_path).last_message
    asked = markers.read(message)
    if isinstance(asked.deliver, Fault):
        raise Skipped(asked.deliver.code, asked.deliver.sentence)
    if asked.deliver is not None:
        _deliver(asked.deliver, message, payload, run, context)
    if asked.clear and not payload.is_claude:
        _report(context, "clear_skipped", "other_client", "Only the context of Claude Code is emptied.")
    elif asked.clear:
        _clear(run.environ, context)
    return asked.clear and payload.is_claude


# Deliver --------------------------------------------------------------------------------------------------------------


def _deliver(marker: Marker, message: str, payload: HookPayload, run: HookRun, context: Context) -> None:
    """Deliver the message to the seat of the marker and the open dispatches. Raises Skipped and the errors of `deliver`."""
    text = markers.strip(message)
    if not _says_something(text):  # the brackets or quotes around a marker are not an answer
        text = marker.summary
    if not _says_something(text):
        raise Skipped("empty_answer", say("The last message has a marker but no answer."))
    if marker.seat == run.seat:
        raise Skipped("own_seat", say("The seat {seat} can't deliver to itself.", seat=marker.seat))
    where = _address(marker, payload, run, context)
    from oracle.app.delivery.deliver import Delivery, deliver
    from oracle.app.root import note_hook

    delivery = Delivery(
        where.project,
        where.task_id,
        where.seat,
        {"answer": text},
        source=run.seat,
        summary=marker.summary or "Auto-delivered by the Stop hook of the seat.",
        verdict=marker.verdict,
        commit=marker.commit,
        title=marker.title,
        sweep=marker.sweep,
        wake_until=run.started + WAKE_TIME,
    )
    done = deliver(context, delivery)
    what = "delivered" if done.is_new else "already_delivered"
    note_hook(context, what, f"{where.task_id} to {where.seat}", payload.session_id)


def _says_something(text: str) -> bool:
    """Return whether a text has a letter or a digit of any script."""
    return any(map(str.isalnum, text))


def _address(marker: Marker, payload: HookPayload, run: HookRun, context: Context) -> Address:
    from oracle.app.delivery.answerable import find_dispatches

    spoken = addressing.TurnContext()
    if not (marker.task_id and marker.project):
        spoken = addressing.read_context(read_transcript(payload.transcript_path).user_turns)
    tasks = {marker.task_id, spoken.task_id}
    found = find_dispatches(context, run.seat, project=marker.project, tasks=tasks, environ=run.environ)
    where = addressing.address(marker, found.dispatches, context=spoken, rosters=found.rosters)
    if isinstance(where, Fault):
        raise Skipped(where.code, joined(" ", [where.sentence, *found.problems]))
    return where


# The own pane ---------------------------------------------------------------------------------------------------------


def _clear(environ: Mapping[str, str], context: Context) -> None:
    """Type `/clear` into the pane of this process, and into no other."""
    from oracle.app.delivery.panes import Woken, type_into_own_pane

    if _is_headless(environ):
        _report(
            context, "clear_skipped", "headless", "The agent has no input box; its pane belongs to another program."
        )
        return
    socket, pane = _own_pane(environ)
    if not pane:
        _report(context, "clear_skipped", "no_pane", "The agent does not run in a tmux pane.")
        return
    outcome = type_into_own_pane(socket, pane, "/clear", patience=OWN_TIME)
    if not isinstance(outcome, Woken):
        _report(context, "clear_skipped", type(outcome).__name__.lower(), outcome.reason)


def _wake_own_seat(run: HookRun, context: Context) -> None:
    """Send the wake-ups that wait for this seat: its pane was busy when they were tried."""
    socket, pane = _own_pane(run.environ)
    if pane and not _is_headless(run.environ):
        from oracle.app.delivery.wakeups import send_to_own_pane

        send_to_own_pane(context, run.seat, socket, pane, until=time.monotonic() + OWN_TIME)


def _is_headless(environ: Mapping[str, str]) -> bool:
    return environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0" or environ.get("CLAUDE_CODE_ENTRYPOINT", "")[:3] == "sdk"


def _own_pane(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the socket and the pane that this process runs in; the pane is "" outside of tmux."""
    socket = environ.get("TMUX", "").rpartition(",")[0].rpartition(",")[0]
    pane = environ.get("TMUX_PANE", "")
    return socket, pane if socket[:1] == "/" and pane[:1] == "%" and pane[1:].isdecimal() else ""


# Report what happened --------------------------------------------------------------------------------------------------


def _report_failure(context: Context, what: str, error: Exception) -> None:
    if isinstance(error, OracleError):
        _report(context, what, error.code, error.sentence)
    else:
        _report(context, what, "unexpected", f"{type(error).__name__}: {error}")


def _report(context: Context, what: str, code: str, sentence: str) -> None:
    from oracle.app.root import note_hook

    if sys.stderr is not None:
        sys.stderr.write(f"{what}: {code}\n")
    note_hook(context, f"{what}: {code}", sentence, "")
