"""A change of one file that belongs to a user or another program: a diff, one step, a backup."""

from __future__ import annotations

import contextlib
import difflib
import os
from dataclasses import dataclass

from oracle.errors import Conflict, DiskFailure
from oracle.store.disk import rewriting, steps
from oracle.wording import Sentence, say

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

    @property
    def outcome(self) -> Sentence:
        """What becomes of the file, with its path."""
        if not self.is_needed:
            return say("unchanged: {path}", path=self.path)
        if self.after is None:
            return say("removed: {path}", path=self.path)
        if self.before is None:
            return say("written: {path}", path=self.path)
        return say("updated: {path}", path=self.path)

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
