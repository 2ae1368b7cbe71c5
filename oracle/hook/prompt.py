"""The hooks of a session but for Stop: its beginning, its prompts, its compaction, its end, the end of a subagent.

`answer` returns what the host is to read, mostly an envelope; the same function serves the hook's own process and the daemon.
What is wrong with a payload, a Root or a record gives nothing: a hook is never in the way.
"""

from __future__ import annotations

import os
from math import inf
from time import monotonic

from oracle.app.context import Context
from oracle.domain.injection import envelope, prompts
from oracle.domain.names import MEMORY, check_name
from oracle.domain.values import replace
from oracle.errors import OracleError
from oracle.hook.payload import HookPayload, parse_payload
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oracle.app.prompting.context_for import SessionPrompt

_SUBAGENT = "SubagentStop"
PROTOCOL = 1
"""The version of the lines between a hook and a daemon."""


def serve(raw: bytes) -> str:
    """Handle a payload in the environment of the process, without loading models. Return what to print on stdout."""
    with Context.open() as context:
        context.loads_models = False
        context.index.is_hasty = True
        return answer(context, raw, os.environ)


def answer(context: Context, raw: bytes, environ: Mapping[str, str], *, until: float = inf) -> str:
    """Handle a payload. Return what to print on stdout, "" for nothing. Errors of the program are kept in `_state/hook.log`.

    `until` is when the client stops waiting, by the monotonic clock.
    """
    try:
        payload = replace(parse_payload(raw), until=until)
        context.reader = environ.get("ORACLE_SEAT") or MEMORY
        handle = _HANDLERS.get(payload.event)
        text = handle(context, payload, environ) if handle and os.path.isdir(context.root.path) else ""
    except OracleError as error:
        from oracle.app.root import note_hook

        note_hook(context, f"context_skipped: {error.code}", error.sentence)
        return ""
    return _output(payload, text) if text else ""


def answer_line(context: Context, line: bytes) -> bytes:
    """Answer a hook that asks a daemon: `+` and what it is to print, or `-` where the hook must do it itself."""
    import json

    from oracle.app.queries import lookup

    try:
        request = json.loads(line)
        raw = json.dumps(request["payload"]).encode("ascii")
        environ = {**os.environ, **{name: str(text) for name, text in request["environ"].items()}}
        until = float(request.get("until", inf))
        if request["hook"] != PROTOCOL or request["root"] != lookup.world(context)["root"]:
            return b"-"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return b"-"
    said = answer(context, raw, environ, until=until) if monotonic() < until else ""
    return b"+" + said.encode("utf-8", "replace") if monotonic() < until else b"-"


def is_hook_line(line: bytes) -> bool:
    """Return whether a line to the daemon is of a hook."""
    return line.startswith(b'{"hook":')


def _output(payload: HookPayload, text: str) -> str:
    """Return what the client reads: a message to the user at the end of a subagent, else context for the agent."""
    import json

    context = {"hookEventName": payload.event, "additionalContext": text}
    content = {"systemMessage": text} if payload.event == _SUBAGENT else {"hookSpecificOutput": context}
    return json.dumps(content, ensure_ascii=False)


def _on_prompt(context: Context, payload: HookPayload, environ: Mapping[str, str]) -> str:
    from oracle.app.prompting.context_for import context_for

    return context_for(context, _prompt(context, payload, environ))


def _on_start(context: Context, payload: HookPayload, environ: Mapping[str, str]) -> str:
    from oracle.app.prompting.brief import brief

    return brief(context, _prompt(context, payload, environ), reason=payload.reason)


def _on_end(context: Context, payload: HookPayload, environ: Mapping[str, str]) -> str:
    """Note when the seat's session ended, and keep its last messages."""
    from oracle.app.prompting.brief import mark_session

    mark_session(context, _prompt(context, payload, environ))
    return _keep_messages(context, payload, environ)


def _on_compact(context: Context, payload: HookPayload, environ: Mapping[str, str]) -> str:
    """Let what the session was given be given again, which the summary may leave out, and keep the last messages."""
    from oracle.app.prompting import sessions

    sessions.forget_items(context, payload.session_id)
    return _keep_messages(context, payload, environ)


def _keep_messages(context: Context, payload: HookPayload, environ: Mapping[str, str]) -> str:
    """Keep the last messages of a session of a known project. Return "", since the host needs to know nothing of it."""
    project = _project(context, payload, environ)
    if project and payload.transcript_path and os.path.isfile(os.path.expanduser(payload.transcript_path)):
        from oracle.app.sources.snapshots import snapshot

        snapshot(context, payload.transcript_path, project=project, seat=_seat(environ))
    return ""


def _on_subagent(context: Context, payload: HookPayload, environ: Mapping[str, str]) -> str:
    """Note in the journal that a subagent of the seat has ended. A marker in its last message is not the seat's: say so."""
    prompt = _prompt(context, payload, environ)
    context.note("subagent", {"session_id": payload.session_id, "project": prompt.project, "seat": prompt.seat})
    from oracle.app.root import note_hook
    from oracle.domain.delivery import markers

    asked = markers.read(envelope.strip(payload.message or ""))
    if asked.deliver is None and not asked.clear:
        return ""
    sentence = say("A subagent can't deliver for its seat. End a message of the seat itself with the marker.")
    note_hook(context, "deliver_skipped: subagent", sentence, payload.session_id)
    context.note("skip", {"what": "marker", "seat": prompt.seat, "reason": sentence})
    return say("Not delivered ({code}): {sentence}", code="subagent", sentence=sentence)


def _prompt(context: Context, payload: HookPayload, environ: Mapping[str, str]) -> SessionPrompt:
    from oracle.app.prompting.context_for import SessionPrompt

    return SessionPrompt(
        payload.prompt,
        payload.session_id,
        payload.prompt_id,
        payload.cwd,
        _project(context, payload, environ),
        _seat(environ),
        payload.is_cron or prompts.is_cron(payload.session_id, environ),
        payload.until,
    )


def _project(context: Context, payload: HookPayload, environ: Mapping[str, str]) -> str:
    """Return the project of a session, "" if nothing tells: the environment's, else that of its folder."""
    from oracle.app.prompting.seats import project_of

    return project_of(context, payload.cwd, environ)


def _seat(environ: Mapping[str, str]) -> str:
    """Return the seat of the session: `ORACLE_SEAT`, by default memory. Raises InvalidName."""
    return check_name(environ.get("ORACLE_SEAT") or MEMORY, "seat")


_HANDLERS: dict[str, Callable[[Context, HookPayload, Mapping[str, str]], str]] = {
    "UserPromptSubmit": _on_prompt,
    "BeforeAgent": _on_prompt,
    "SessionStart": _on_start,
    "SessionEnd": _on_end,
    "PreCompact": _on_compact,
    "PreCompress": _on_compact,
    _SUBAGENT: _on_subagent,
}
"""What happens at each event, by the name that a client gives it. Other events give nothing."""
