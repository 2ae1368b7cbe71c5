"""`oracle team language`: which language to answer an operator in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from oracle.cli.options import argument, option, single
from oracle.cli.session import Call
from oracle.errors import NotFound, UsageError
from oracle.process import read_input
from oracle.wording import say

app = single()


@app.add(example="oracle team language 'Where is the report?'")
def language(
    call: Call,
    messages: Annotated[
        list[str] | None, argument("[MESSAGE]...", "What the operator wrote, oldest first; - is standard input.")
    ] = None,
    *,
    transcript: Annotated[str, option("--transcript FILE", "Read it from a transcript of Claude Code.")] = "",
) -> None:
    """Decide which language to answer in."""
    from oracle.domain.language import decide

    if bool(messages) == bool(transcript):
        raise UsageError(
            say("Give either messages or a transcript."),
            hint=say('Write `oracle team language "MESSAGE" "MESSAGE"`, or --transcript FILE.'),
        )
    found = decide(_typed(transcript) if transcript else _given(messages or []))
    call.answer(found.as_json(), found.language)


def _typed(path: str) -> tuple[str, ...]:
    from oracle.hook.payload import read_operator

    if not Path(path).expanduser().is_file():
        raise NotFound(
            say("There is no transcript {path}.", path=path),
            hint=say("The Stop hook gets its path as transcript_path."),
        )
    return read_operator(path)


def _given(messages: list[str]) -> list[str]:
    if messages != ["-"]:
        return messages
    return read_input("-", "--transcript").decode("utf-8", "replace").splitlines()
