"""The Stop hook after its first check: read the message, deliver the answer, wake the reader, clear the own context.

A failure is one line on stderr, `deliver_skipped: <code>`, with details in `_state/hook.log`. What was not delivered is also
a message to the user on stdout; a strict hook makes the agent go on once. All exceptions are caught here.
"""

from __future__ import annotations

import os
import sys
import time

from oracle.app.context import Context
from oracle.domain.delivery import addressing, markers
from oracle.domain.delivery.addressing import Address, Answered
from oracle.domain.delivery.markers import Fault, Marker
from oracle.domain.injection import envelope
from oracle.domain.names import check_name
from oracle.domain.values import replace, value
from oracle.errors import OracleError
from oracle.hook.payload import HookPayload, Transcript, parse_payload, read_transcript
from oracle.wording import joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.delivery.deliver import Delivery

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


def serve(raw: bytes, *, is_strict: bool = False) -> str:
    """Handle a payload in the environment of the process. Return what to print on stdout."""
    return handle(raw, HookRun(dict(os.environ), time.monotonic(), is_strict))


@value
class HookRun:
    """Environment and start of one run of the hook."""

    environ: Mapping[str, str]
    started: float
    """The start of the run, by the monotonic clock."""
    is_strict: bool = False
    """Whether the agent goes on when its delivery was skipped, so that it corrects the marker."""

    @property
    def seat(self) -> str:
        """The seat whose turn ended: `ORACLE_SEAT`, by default memory. Raises InvalidName."""
        return check_name(self.environ.get("ORACLE_SEAT") or MEMORY, "seat")


def handle(raw: bytes, run: HookRun) -> str:
    """Handle a payload. Return what to print on stdout, mostly nothing. Raises nothing."""
    context = Context.open(environ=run.environ)
    has_pane, payload, said = True, HookPayload(), ""
    try:
        payload = parse_payload(raw)
        is_over = payload.event in ("", "Stop", "AfterAgent") and not payload.is_subagent
        has_pane = is_over and payload.is_claude  # of others nothing shows whether they run without an input box
        if is_over and _handle(payload, run, context):
            return ""  # a text that is typed now would be cleared
    except Exception as error:  # noqa: BLE001 - the host must go on
        code, sentence = _report_failure(context, "deliver_skipped", error)
        said = _answer(code, sentence, payload, run)
    try:
        _deliver_kept(context)
        if has_pane:
            _wake_own_seat(run, context)
    except Exception as error:  # noqa: BLE001
        _report_failure(context, "wake_skipped", error)
    return said


def _handle(payload: HookPayload, run: HookRun, context: Context) -> bool:
    """Do what the last message asks for. Return whether the context was cleared."""
    message = payload.message
    if message is None:
        message = read_transcript(payload).last_message
    message = envelope.strip(message)
    asked = markers.read(message)
    if isinstance(asked.deliver, Fault):
        raise Skipped(asked.deliver.code, asked.deliver.sentence)
    if asked.deliver is not None:
        _deliver(asked.deliver, message, payload, run, context)
        _note_dropped(asked.dropped, context)
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
    turn = _read_turn(marker, payload)
    where = _address(marker, text, turn, run, context)
    from oracle.app.delivery.deliver import Delivery, deliver
    from oracle.app.root import note_hook
    from oracle.errors import DiskFailure, HandoffFailed, LockTimeout

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
        said_at=turn.last_at,
        wake_until=run.started + WAKE_TIME,
    )
    try:
        done = deliver(context, delivery)
    except (DiskFailure, HandoffFailed, LockTimeout) as error:
        raise Skipped(error.code, joined(" ", [error.sentence, _keep(context, delivery)])) from error
    what = "delivered" if done.is_new else "already_delivered"
    note_hook(context, what, f"{where.task_id} to {where.seat}", payload.session_id)


def _keep(context: Context, delivery: Delivery) -> str:
    """Keep a delivery that the disk refused. Return a sentence that says where."""
    from oracle.app.delivery.later import keep

    try:
        path = keep(context, delivery)
    except OracleError:
        path = ""
    if path:
        return say("The answer is kept in {path}; the next turn or `oracle resume` delivers it.", path=path)
    return say("The answer is kept nowhere: free the disk, then send the message again.")


def _deliver_kept(context: Context) -> None:
    """Finish what an earlier hook kept outside of a Root that could not be written."""
    from oracle.app.delivery import resume

    if resume.is_anything_kept(context):
        resume.before(context)


def _note_dropped(dropped: tuple[Marker, ...], context: Context) -> None:
    """Name the markers of a message that were not obeyed, in the log and in the journal."""
    from oracle.app.root import note_hook

    for marker in dropped:
        task = marker.task_id or "?"
        reason = say("only the last marker of a message is obeyed")
        note_hook(context, "deliver_skipped: dropped_marker", f"{task} to {marker.seat}: {reason}")
        context.note("skip", {"what": "marker", "task_id": task, "target": marker.seat, "reason": reason})


def _says_something(text: str) -> bool:
    """Return whether a text has a letter or a digit of any script."""
    return any(map(str.isalnum, text))


def _read_turn(marker: Marker, payload: HookPayload) -> Transcript:
    """Return what the transcript adds to a marker; the moment of its last message only if that is the message."""
    if marker.task_id and marker.project:
        return Transcript()
    turn = read_transcript(payload)
    is_last = payload.message is None or payload.message.strip() == turn.last_message.strip()
    return turn if is_last else replace(turn, last_at="")


def _address(marker: Marker, text: str, turn: Transcript, run: HookRun, context: Context) -> Address:
    """Return where an answer goes, also one that differs from the first: `deliver` keeps it aside. Raises Skipped.

    The text of the last answer answers no other task, unless the marker or the transcript names that, or the transcript
    shows that it was said again, at another moment.
    """
    from oracle.app.delivery.dispatches import find_dispatches, is_news, last_told

    spoken = addressing.read_context(turn.user_turns)
    tasks = {marker.task_id, spoken.task_id}
    found = find_dispatches(context, run.seat, project=marker.project, tasks=tasks, environ=run.environ)
    where = addressing.address(marker, found.dispatches, context=spoken, rosters=found.rosters)
    if isinstance(where, Answered):
        if any(is_news(context, place, text, run.seat, run.environ) for place in where.places):
            where = where.places[0] if len(where.places) == 1 else addressing.ambiguous(marker, where.places)
    elif not marker.task_id and (told := last_told(context, found, run.seat, marker.seat, text, turn.last_at)):
        where = addressing.told_before(marker, where, told, spoken)
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


_NOT_CORRECTED = (
    "already_delivered",
    "conflict",
    "disk",
    "handoff_failed",
    "invalid_payload",
    "lock_timeout",
    "unexpected",
)
"""Codes that no other marker would avoid."""

_LONGEST = 2000


def _answer(code: str, sentence: str, payload: HookPayload, run: HookRun) -> str:
    """Return the JSON object for the client: a message to the user and, from a strict hook, once a reason to go on."""
    import json

    text = say("Not delivered ({code}): {sentence}", code=code, sentence=sentence)[:_LONGEST]
    content = {"systemMessage": text}
    if run.is_strict and not payload.is_repeated and code not in _NOT_CORRECTED:
        reason = say("{text} Correct the marker and end your message with it again.", text=text)
        content |= {"decision": "block", "reason": reason}
    return json.dumps(content)


def _report_failure(context: Context, what: str, error: Exception) -> tuple[str, str]:
    """Report an error; return its code and sentence."""
    code, sentence = "unexpected", f"{type(error).__name__}: {error}"
    if isinstance(error, OracleError):
        code, sentence = error.code, error.sentence
    _report(context, what, code, sentence)
    return code, sentence


def _report(context: Context, what: str, code: str, sentence: str) -> None:
    from oracle.app.root import note_hook

    if sys.stderr is not None:
        sys.stderr.write(f"{what}: {code}\n")
    note_hook(context, f"{what}: {code}", sentence, "")
