"""A change of one file that belongs to a user or another program: its JSON in its own layout, a diff, a backup."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from oracle.errors import Conflict, DiskFailure
from oracle.store.disk import rewriting, steps
from oracle.wording import say

_MAX_BACKUPS = 100
"""Backups next to a file; the last one is replaced."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """The text of a file and the text that it should have, None for no file. Nothing is written yet."""

    path: str
    before: str | None
    after: str | None
    keeps_backup: bool = True

    @property
    def is_needed(self) -> bool:
        """Whether the two texts differ."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff, "" when nothing changes."""
        if not self.is_needed:
            return ""
        name = "/dev/null" if self.before is None else self.path
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, name, self.path)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def apply(self) -> str:
        """Write or remove the file in one step, keeping its mode. Return the path of the backup, "" for none.

        Existing backups stay, so that the oldest holds the file as it was at first. A link is followed, so that a file
        that is kept elsewhere stays there. Raises DiskFailure.
        """
        path = os.path.realpath(self.path)
        backup = ""
        if self.keeps_backup and self.before is not None:
            raw = _encode(self.before)
            backup = _backup_of(path, raw)
            steps.replace(backup, raw)
            os.chmod(backup, os.stat(path).st_mode & 0o777)
        if self.after is None:
            self._require_unchanged(steps.read(path))
            _remove(path)
        else:
            rewriting.change(path, self._alter)
        return backup

    def _alter(self, raw: bytes | None) -> bytes:
        """Return the new content, unless the file was changed since it was read."""
        self._require_unchanged(raw)
        return _encode(self.after or "")

    def _require_unchanged(self, raw: bytes | None) -> None:
        if raw != (None if self.before is None else _encode(self.before)):
            raise Conflict(
                say("{path} was changed meanwhile; it was left as it is.", path=self.path),
                hint=say("Run the command again."),
            )


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _backup_of(path: str, raw: bytes) -> str:
    """Return the path of a backup: of one with the same content, else the first free one."""
    places = backups_of(path)
    free = (one for one in places if not os.path.lexists(one) or (os.path.isfile(one) and steps.read(one) == raw))
    return next(free, places[-1])


def backups_of(path: str) -> list[str]:
    """Return the paths that backups of a file may have, oldest first."""
    return [f"{path}.bak", *(f"{path}.bak{number}" for number in range(2, _MAX_BACKUPS))]


def _remove(path: str) -> None:
    """Remove a file, and the folder of a skill that is empty then."""
    try:
        os.unlink(path)
    except OSError as error:
        raise DiskFailure(
            say("{path} can't be removed: {strerror}.", path=path, strerror=error.strerror),
            hint=say("Check its owner and mode."),
        ) from error
    if os.path.basename(path) == "SKILL.md":
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(path))


class _Layout(TypedDict):
    indent: int | str | None
    separators: tuple[str, str] | None


_MARK = os.urandom(16).hex()


class _Number(float):
    """A number that is printed as the file spells it, however large or exact."""

    _text: str

    def __new__(cls, text: str) -> _Number:
        """Keep the spelling with the value."""
        number = super().__new__(cls, text)
        number._text = text
        return number

    def __str__(self) -> str:
        """Return the spelling."""
        return self._text


def parse_json(text: str) -> object:
    """Read a JSON text. Raises ValueError for invalid JSON or a repeated key, RecursionError for deep nesting."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse, parse_float=_Number, parse_int=_Number)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object. A repeated key is refused: it could not be kept."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError(say("an object repeats a key"))
    return table


def _refuse(word: str) -> object:
    raise ValueError(say("{word} is not JSON", word=word))


def render_json(content: Mapping[str, object], before: str) -> str:
    """Print `content` in the layout of the text `before`, "" for a new file. Raises ValueError when that is impossible.

    The result is parsed again, so that a reader finds the same content.
    """
    try:
        layout = _layout(before)
        text = json.dumps(_mark_numbers(content), ensure_ascii=False, allow_nan=False, **layout)
        text = re.sub(f'"{_MARK}([^"]*)"', r"\1", text)
        is_same = parse_json(text) == content
    except RecursionError:
        is_same = False
    if not is_same:
        raise ValueError(say("it would be read differently"))
    text += "" if before and not before.endswith("\n") else "\n"
    return text.replace("\n", "\r\n") if "\r\n" in before else text


def _mark_numbers(value: object) -> object:
    """Return the content with each number as a marked text, because `json` would spell numbers in its own way."""
    if isinstance(value, dict):
        return {key: _mark_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mark_numbers(item) for item in value]
    return f"{_MARK}{value}" if isinstance(value, _Number) else value


def _layout(text: str) -> _Layout:
    """Return the layout of a text: one line, with or without blanks after separators, or an indentation."""
    if '"' in text and "\n" not in text.strip():
        tight = not re.search(r"[:,] ", re.sub(r'"(?:[^"\\]|\\.)*"', '""', text))
        return {"indent": None, "separators": (",", ":") if tight else (", ", ": ")}
    return {"indent": _indentation(text), "separators": None}


def _indentation(text: str) -> int | str:
    for line in text.splitlines():
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return "\t" if blank.startswith("\t") else len(blank)
    return 2
