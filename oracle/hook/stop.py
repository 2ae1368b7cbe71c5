"""The Stop hook behind its first test: read the message, deliver what it asks for, wake the reader, empty the own context.

Hook room. Nothing is printed on stdout; trouble is one line on stderr, `deliver_skipped: <code>`, with details in
`_state/hook.log`. One of the two places with a broad `except`: a hook never stops its host.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager

from oracle.domain.delivery import addressing, markers
from oracle.domain.delivery.addressing import Address
from oracle.domain.delivery.markers import Fault, Marker
from oracle.domain.names.slugs import check_name
from oracle.domain.values import value
from oracle.errors import DiskFailure, HandoffFailed, LockTimeout, OracleError
from oracle.hook.payload import Payload, parse_payload, read_transcript
from oracle.hook.ports import Answer
from oracle.store.root.layout import Root, choose_root
from oracle.wording import joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from oracle.hook.ports import Deliver

WAKE_TIME = 2.0
"""Seconds that the hook waits for a wake-up; what takes longer is tried again by others."""

CLEAR_TIME = 2.0
MEMORY = "memory"


class Skipped(OracleError):
    """Nothing is delivered; `code` says why, in a word."""

    exit_code = 0

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def serve(raw: bytes) -> None:
    """Do what a payload asks for, with the process's own environment."""
    handle(raw, Surroundings(dict(os.environ), open_deliver, time.monotonic()))


def open_deliver(root: Root) -> Deliver:
    """Return the use case of delivering."""
    from oracle.hook.delivering import OracleDeliver

    return OracleDeliver(root)


@value
class Surroundings:
    """What a run takes from outside: the environment, and how to get at the use case once there is something to do."""

    environ: Mapping[str, str]
    open_deliver: Callable[[Root], Deliver]
    started: float
    """When the run began, by the monotonic clock."""

    def spent(self) -> float:
        """Return the seconds since the run began."""
        return time.monotonic() - self.started

    @property
    def seat(self) -> str:
        """The seat whose turn ended: `ORACLE_SEAT`, by default memory. Raises InvalidName."""
        return check_name(self.environ.get("ORACLE_SEAT") or MEMORY, "seat")


def handle(raw: bytes, around: Surroundings) -> None:
    """Do what a payload asks for; raises nothing."""
    root = Root(choose_root(environ=around.environ))
    try:
        _handle(raw, around, root)
    except OracleError as error:
        _report(root, "deliver_skipped", error.code, error.sentence)
    except Exception as error:  # noqa: BLE001 - fail open: whatever it is, the host goes on
        _report(root, "deliver_skipped", "unexpected", f"{type(error).__name__}: {error}")


def _handle(raw: bytes, around: Surroundings, root: Root) -> None:
    payload = parse_payload(raw)
    if payload.event not in ("", "Stop"):
        return
    message = payload.message
    if message is None:
        message = read_transcript(payload.transcript_path).last_message
    asked = markers.read(message)
    if isinstance(asked.deliver, Fault):
        raise Skipped(asked.deliver.code, asked.deliver.sentence)
    if asked.deliver is not None:
        _deliver(asked.deliver, message, payload, around, root)
    if asked.clear:
        _clear(around.environ, root)


# Deliver --------------------------------------------------------------------------------------------------------------


def _deliver(marker: Marker, message: str, payload: Payload, around: Surroundings, root: Root) -> None:
    answer = _answer(marker, message, payload, around, root)
    deliver = around.open_deliver(root)
    deliver.check(answer)
    with _intent(root, answer):
        is_new = deliver.deliver(answer)
    _log(root, "delivered" if is_new else "already_delivered", f"{answer.task_id} to {answer.seat}", payload.session_id)
    if is_new:
        deliver.wake(answer, patience=max(0.0, WAKE_TIME - around.spent()))


@contextmanager
def _intent(root: Root, answer: Answer) -> Iterator[None]:
    """Keep the answer on disk while it is delivered: whoever comes after a hook that was killed does the rest.

    What the disk or a lock refuses is tried again later; what will never work is not kept.
    """
    from oracle.store.delivery import inbox, responses

    now = time.time()
    subject = (answer.project, answer.task_id, answer.seat, responses.digest_of({"answer": answer.text}))
    entry = inbox.Entry(inbox.Kind.INTENT, subject, answer.as_fields(), due_at=now)
    inbox.add(root, entry)
    inbox.take(root, entry, now)
    try:
        yield
    except (DiskFailure, HandoffFailed, LockTimeout) as error:
        import random

        inbox.defer(root, entry, now=time.time(), error=error.sentence, chance=random.Random())  # noqa: S311 - jitter
        raise
    except OracleError:
        inbox.finish(root, entry)
        raise
    inbox.finish(root, entry)


def _answer(marker: Marker, message: str, payload: Payload, around: Surroundings, root: Root) -> Answer:
    """Return what is to be delivered, and to whom. Raises Skipped."""
    text = markers.strip(message)
    if not _says_something(text):  # what is left of a marker in brackets or in quotes is no answer
        text = marker.summary
    if not _says_something(text):
        raise Skipped("empty_answer", say("The last message holds a marker and nothing to deliver."))
    if marker.seat == around.seat:
        raise Skipped("own_seat", say("The seat {seat} can't deliver to itself.", seat=marker.seat))
    where = _address(marker, payload, around, root)
    return Answer(
        project=where.project,
        task_id=where.task_id,
        source=around.seat,
        seat=where.seat,
        text=text,
        unsolicited=where.unsolicited,
        verdict=marker.verdict,
        summary=marker.summary,
        commit=marker.commit,
        title=marker.title,
        sweep=marker.sweep,
        session_id=payload.session_id,
    )


def _says_something(text: str) -> bool:
    """Tell whether a text holds a letter or a digit of any script."""
    return any(map(str.isalnum, text))


def _address(marker: Marker, payload: Payload, around: Surroundings, root: Root) -> Address:
    from oracle.hook.dispatches import find_dispatches

    context = addressing.Context()
    if not (marker.task_id and marker.project):
        context = addressing.read_context(read_transcript(payload.transcript_path).user_turns)
    tasks = {marker.task_id, context.task_id}
    found = find_dispatches(root, around.seat, project=marker.project, tasks=tasks, environ=around.environ)
    where = addressing.address(marker, found.dispatches, context=context, rosters=found.rosters)
    if isinstance(where, Fault):
        raise Skipped(where.code, joined(" ", [where.sentence, *found.problems]))
    return where


# Clear ----------------------------------------------------------------------------------------------------------------


def _clear(environ: Mapping[str, str], root: Root) -> None:
    """Type `/clear` into the pane that this process runs in, and into no other."""
    from oracle.wake.outcomes import Woken
    from oracle.wake.sessions import own_socket
    from oracle.wake.tmux import type_into_own_pane

    if environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "0" or environ.get("CLAUDE_CODE_ENTRYPOINT", "")[:3] == "sdk":
        _report(root, "clear_skipped", "headless", "The agent has no input box; the pane it inherited is another's.")
        return
    pane, socket = environ.get("TMUX_PANE", ""), own_socket(environ)
    if not (socket and pane[:1] == "%" and pane[1:].isdecimal()):
        _report(root, "clear_skipped", "no_pane", "The agent runs in no pane of tmux.")
        return
    outcome = type_into_own_pane(socket, pane, "/clear", patience=CLEAR_TIME)
    if not isinstance(outcome, Woken):
        _report(root, "clear_skipped", type(outcome).__name__.lower(), outcome.reason)


# Say what happened ----------------------------------------------------------------------------------------------------


def _report(root: Root, what: str, code: str, sentence: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{what}: {code}\n")
    _log(root, f"{what}: {code}", sentence, "")


def _log(root: Root, what: str, sentence: str, session_id: str) -> None:
    """Append a line to `_state/hook.log`, where there is a Root; a log that can't be written stops nothing."""
    import json

    from oracle.domain import timestamps
    from oracle.store.disk import files

    if not os.path.isdir(root.path):
        return
    line = {"ts": timestamps.from_mtime(time.time_ns()), "what": what, "session": session_id, "detail": sentence[:2000]}
    try:
        files.make_folder(root.state)
        files.append_line(root.hook_log, json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace"))
    except (OracleError, OSError):
        return
