"""Keep the end of a session: what was said last, without credentials, as a record of the day."""

from __future__ import annotations

import json
import os

from oracle.app.context import Context
from oracle.domain.names import MEMORY, check_name, fold_name
from oracle.domain.records.drafts import name_of
from oracle.domain.safety.secrets import redact
from oracle.domain.sources.transcripts import PERSON, Said, print_turns, read_turns
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.store.disk import files
from oracle.store.disk.folders import open_plain
from oracle.wording import say

LAST = 15
"""How many messages a snapshot holds unless a number is given."""

_LONGEST, _MOST_BYTES = 2_000, 8 << 20
_WORDS, _LONGEST_NAME = 6, 48


@value
class KeptSession:
    """The record of a snapshot, and whether it is new. `path` is "" if nothing was said."""

    path: str = ""
    messages: int = 0
    is_new: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"path": self.path, "messages": self.messages, "new": self.is_new}


def snapshot(
    context: Context, transcript: str, *, project: str, seat: str = "", last: int = LAST, name: str = ""
) -> KeptSession:
    """Write the last messages of a transcript to `learnings/sessions/<project>/<day>-<name>.md`.

    The name is made of the first words that a person typed, or the time without any. The same messages are kept once.
    Raises UsageError for a transcript that cannot be read, DiskFailure.
    """
    context.root.require()
    project, seat = check_name(project, "project"), check_name(fold_name(seat or context.seat or MEMORY), "seat")
    turns = _read(transcript)[-last:]
    if not turns:
        return KeptSession()
    body = redact(print_turns(turns, _LONGEST))[0]
    folder = f"learnings/sessions/{project}"
    day = context.stamp()[: len("2026-01-01")]
    stem = f"{day}-{name_of(redact(name)[0])[:_LONGEST_NAME] if name else _name(turns, context.stamp())}"
    title = json.dumps(stem[len(day) + 1 :].replace("-", " "), ensure_ascii=False)
    head = f"---\ntitle: {title}\nkind: session\nproject: {project}\nseat: {seat}\nts: {context.stamp()}\n---\n\n"
    with context.index.lock():
        place, is_new = _free(context.root.join(f"{folder}/{stem}"), body)
        if is_new:
            files.create(place, f"{head}{body}".encode(), scratch=context.root.scratch)
    return KeptSession(place, len(turns), is_new)


def _read(transcript: str) -> list[Said]:
    try:
        with open_plain(os.path.expanduser(transcript)) as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - _MOST_BYTES))
            return read_turns(stream.read(_MOST_BYTES).split(b"\n"))
    except OSError as error:
        raise UsageError(
            say("{path} can't be read: {error}.", path=transcript, error=error.strerror),
            hint=say("Name the transcript of a session."),
        ) from error


def _name(turns: list[Said], stamp: str) -> str:
    """Return what a snapshot is about: the first words of the first person, or the time."""
    first = next((one.text for one in turns if one.who == PERSON), "")
    words = name_of(" ".join(redact(first)[0].split()[:_WORDS])) if first.strip() else ""
    return words[:_LONGEST_NAME].strip("-") if words not in ("", "untitled") else stamp[11:16].replace(":", "")


def _free(stem: str, body: str) -> tuple[str, bool]:
    """Return a path that is not taken, or that of a snapshot with the same messages, and whether it is new."""
    number = 1
    while True:
        path = f"{stem}.md" if number == 1 else f"{stem}-{number}.md"
        if not os.path.lexists(path):
            return path, True
        try:
            with open_plain(path) as stream:
                known = stream.read().decode("utf-8", "replace")
        except OSError:
            known = ""
        if known.partition("\n---\n\n")[2] == body:
            return path, False
        number += 1
