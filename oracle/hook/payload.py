"""Read what the host sends to a hook, and the end of its transcript.

A transcript triggers nothing: it supplies the last message when an older host omits it, and the user turns as context.
Its format belongs to the host and changes: every line and field may be missing or of another type.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from math import inf

from oracle.domain.markdown.documents import well_formed
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.wording import say

MAX_BYTES = 4 << 20
TAIL_BYTES = 256 << 10
_LONG_TAIL_BYTES = 8 << 20
_MESSAGES = ("last_assistant_message", "prompt_response")
"""The field with the agent's last message: that of Claude Code and Codex, and that of Gemini."""

_ADDED, _ADDED_END = "<hook_context>", "</hook_context>"
"""How Gemini marks what a hook added. It escapes `<` and `>` in between."""

_REASONS = ("source", "reason", "trigger")
"""The field that says why an event came, by its event and client."""


class InvalidPayload(UsageError):
    """The text on stdin is not the payload of a hook."""

    code = "invalid_payload"


@value
class HookPayload:
    """The fields that are used; all may be empty. `message` is None when the host sent no message."""

    event: str = ""
    session_id: str = ""
    cwd: str = ""
    transcript_path: str = ""
    message: str | None = None
    is_repeated: bool = False
    """Whether a hook made the agent go on before, so that it must not do so again."""
    prompt: str = ""
    prompt_id: str = ""
    reason: str = ""
    """Why the session began or ended, or its context is summarised: `startup`, `resume`, `clear`, `compact`, `auto` …"""
    is_cron: bool = False
    """Whether the host says that a schedule started the session."""
    is_subagent: bool = False
    """Whether it is the turn of a subagent, which is not the seat."""
    until: float = inf
    """When the client stops waiting, by the monotonic clock."""
    is_claude: bool = True
    """Whether Claude Code sent it, as far as its fields show. Codex names the turn, Gemini the prompt."""


def parse_payload(raw: bytes) -> HookPayload:
    """Return the payload on stdin. Raises InvalidPayload for anything but a JSON object of at most 4 MiB."""
    if len(raw) > MAX_BYTES:
        raise InvalidPayload(
            say("The payload has more than {most} bytes.", most=MAX_BYTES),
            hint=say("Shorten the last message."),
        )
    try:
        content = json.loads(raw.decode("utf-8-sig", "replace"), parse_int=str)  # integers of any length
    except (ValueError, RecursionError) as error:
        raise InvalidPayload(
            say("The payload is not JSON: {error}.", error=error), hint=say("A hook gets its payload from the host.")
        ) from error
    if not isinstance(content, dict):
        raise InvalidPayload(
            say("The payload is not a JSON object."), hint=say("A hook gets its payload from the host.")
        )
    message = next((content[name] for name in _MESSAGES if name in content), None)
    return HookPayload(
        event=_text(content, "hook_event_name"),
        session_id=_text(content, "session_id"),
        cwd=_text(content, "cwd"),
        transcript_path=_text(content, "transcript_path"),
        message=well_formed(message) if isinstance(message, str) else None,
        is_repeated=content.get("stop_hook_active") is True,
        prompt=_typed(_text(content, "prompt")),
        prompt_id=_text(content, "prompt_id"),
        reason=next(filter(None, (_text(content, name) for name in _REASONS)), ""),
        is_cron=content.get("is_cron") is True or content.get("automation_kind") == "cron",
        is_subagent=bool(content.get("agent_id")),
        is_claude=not ("turn_id" in content or "prompt_response" in content),
    )


def _text(content: Mapping[str, object], key: str) -> str:
    given = content.get(key)
    return well_formed(given) if isinstance(given, str) else ""


def _typed(prompt: str) -> str:
    """Return a prompt without what hooks added before it: Gemini puts the context of a session in front of its first prompt."""
    while prompt.startswith(_ADDED):
        _, end, rest = prompt.partition(_ADDED_END)
        if not end:
            break
        prompt = rest.lstrip()
    return prompt


@value
class Transcript:
    """The end of a transcript: the last message of the main chain, and the texts of user turns, oldest first.

    No message counts that was given before the last user turn: it was obeyed at its own end.
    """

    last_message: str = ""
    user_turns: tuple[str, ...] = ()
    last_at: str = ""
    """The moment of the last message by its entry, in UTC, "" if it gives none."""


def read_transcript(payload: HookPayload) -> Transcript:
    """Return the content of the last 256 KiB of the payload's transcript; empty if it is missing or invalid.

    The entries of other sessions are left out: a client may append them.
    Only a line feed ends a line: other separators may be inside of strings. A first line that is cut is left out.
    """
    from oracle.domain.sources.transcripts import message_text

    path = payload.transcript_path
    lines = list(_read_tail(os.path.expanduser(path))) if path else []
    mine = (payload.session_id, "") if payload.session_id else None
    messages = [
        line
        for line in lines
        if line.get("isSidechain") is not True and (mine is None or line.get("sessionId", "") in mine)
    ]
    last, moment, asked = "", "", []
    for line in messages:
        text = message_text(line) if line.get("type") in ("assistant", "user") else ""
        if text and line["type"] == "assistant":
            last, moment = text, _text(line, "timestamp")
        elif text:
            asked.append(text)
            last = last if line.get("isMeta") is True else ""
    from oracle.domain import timestamps

    said = timestamps.parse(moment) if last else None
    return Transcript(last, tuple(asked), timestamps.print_moment(said) if said else "")


def read_operator(path: str) -> tuple[str, ...]:
    """Return what a person typed in the last 8 MiB of a transcript, oldest first.

    Texts that the client adds in a person's name are left out: notes, summaries, skills and anything in tags.
    """
    from oracle.domain.sources.transcripts import PERSON, read_line

    lines = _read_tail(os.path.expanduser(path), _LONG_TAIL_BYTES)
    return tuple(said.text for line in lines if (said := read_line(line)) is not None and said.who == PERSON)


def _read_tail(path: str, most: int = TAIL_BYTES) -> Iterator[Mapping[str, object]]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return
    try:
        size = os.fstat(handle).st_size
        start = max(0, size - most)
        data = os.pread(handle, most, start)
    except OSError:
        return
    finally:
        os.close(handle)
    if start:
        data = data.partition(b"\n")[2]
    for line in data.split(b"\n"):
        try:
            content = json.loads(line, parse_int=str)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict):
            yield content
