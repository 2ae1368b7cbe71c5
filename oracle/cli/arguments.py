"""Words of the command line that have an inner form: a body, a span of lines, a place in a record."""

from __future__ import annotations

import re
import shlex

from oracle.errors import UsageError
from oracle.wording import say

STANDARD_INPUT = "-"
_LINES = re.compile(r"(\d*):(\d*)|(\d+)(?:-(\d+))?", re.ASCII)
_PLACE = re.compile(r"(.+?):(\d+(?:[:-]\d+)?)", re.ASCII | re.DOTALL)


def read_body(body: str | None, body_file: str | None, dash: str | None) -> str:
    """Return the body from the one place that was named, "" when none was. Raises UsageError for two, and for bad bytes."""
    if dash is not None and dash != STANDARD_INPUT:
        raise UsageError(
            say("{dash!r} stands where only - can.", dash=dash),
            hint=say(
                "Name a file with --body-file, as in --body-file {dash}; give the text with --body, or - to "
                "read it from standard input.",
                dash=shlex.quote(dash),
            ),
        )
    places = [place for place in (body, body_file, dash) if place is not None]
    if len(places) > 1:
        raise UsageError(
            say("The body was given more than once."),
            hint=say("Choose one of --body, --body-file and - (standard input)."),
        )
    if STANDARD_INPUT in places:
        return _decode(read_input(STANDARD_INPUT, "--body-file"), say("standard input"))
    if body_file is not None:
        return _decode(read_input(body_file, "--body-file"), body_file)
    return body or ""


def read_input(name: str, option: str) -> bytes:
    """Return the bytes of the file that an option names, or of standard input for `-`. Raises UsageError."""
    from oracle.store.disk import input_file

    return input_file.read(name, option)


def _decode(raw: bytes, source: str) -> str:
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UsageError(
            say(
                "The body from {source} is not UTF-8: byte 0x{byte:02x} at offset {start}.",
                source=source,
                byte=raw[error.start],
                start=error.start,
            ),
            hint=say("Convert it first, as in `iconv -t UTF-8`."),
        ) from error


def parse_lines(text: str | None) -> tuple[int, int]:
    """Return (first, last) of `A:B`, `A-B`, `A:`, `:B` or `A`, from 1 and inclusive, last 0 for the end. Raises UsageError."""
    if text is None:
        return 1, 0
    match = _LINES.fullmatch(text.strip())
    if match is None or text.strip() == ":":
        raise _bad_lines(text)
    if match[3]:
        first = _number(match[3], text)
        last = _number(match[4] or match[3], text)
    else:
        first = _number(match[1], text) if match[1] else 1
        last = _number(match[2], text) if match[2] else 0
    if first < 1 or (last < first and last) or (not last and (match[2] or match[4])):
        raise _bad_lines(text)
    return first, last


def _number(digits: str, text: str) -> int:
    if len(digits) > 9:
        raise _bad_lines(text)
    return int(digits)


def _bad_lines(text: str) -> UsageError:
    return UsageError(
        say("--lines {text!r} names no lines.", text=text), hint=say("Write A:B, A-B, A:, :B or A, as in --lines 1:20.")
    )


def split_place(text: str) -> tuple[str, str]:
    """Return (name, lines) of a place as a search prints it, `NAME:12-20`, `NAME:12:20` or `NAME:12`; lines "" without any."""
    match = _PLACE.fullmatch(text.strip())
    return (match[1], match[2]) if match else (text, "")
