"""Where comments, fences and inline code end. Asked in ascending order, all answers together take linear time."""

from __future__ import annotations

import re

from oracle.domain.compiling import compiled

_TICKS = re.compile(r"``*+")  # a literal first, which is what makes the search fast
_CLOSER = r"\n {0,3}(`{3,}|~{3,})[ \t]*(?![^\n])"


class CommentEnds:
    """The ends of HTML comments in a text."""

    __slots__ = ("_end", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0

    def end_of(self, at: int, stop: int) -> int:
        """Return the offset behind the comment that opens at `at`, or -1 if it does not end before `stop`."""
        if self._end < at + len("<!-->"):
            found = self._text.find("-->", at + len("<!"))
            self._end = found + len("-->") if found >= 0 else len(self._text) + 1
        return self._end if self._end <= stop else -1


class CodeEnds:
    """The ends of inline code in a text."""

    __slots__ = ("_ends", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[int, list[int]] | None = None

    def end_of(self, at: int, length: int, stop: int) -> int:
        """Return the end of the first run of just `length` backticks from `at` on, or -1 if there is none before `stop`."""
        run = _TICKS.search(self._text, at, stop)
        if run is None or run.end() - run.start() == length:
            return run.end() if run else -1
        if self._ends is None:
            self._ends = self._collect()
        ends = self._ends.get(length, [])
        while ends and ends[-1] <= at:
            ends.pop()
        return ends[-1] if ends and ends[-1] <= stop else -1

    def _collect(self) -> dict[int, list[int]]:
        """Return the ends of all runs by their length, the last one first."""
        ends: dict[int, list[int]] = {}
        for run in reversed(list(_TICKS.finditer(self._text))):
            ends.setdefault(run.end() - run.start(), []).append(run.end())
        return ends


class FenceEnds:
    """The ends of the lines in a text that can close a top-level fence."""

    __slots__ = ("_closers", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._closers: dict[str, list[tuple[int, int, int]]] | None = None

    def end_of(self, at: int, marker: str) -> int:
        """Return the end of the line that closes the fence which `marker` opens before `at`, or -1 if none does."""
        if self._closers is None:
            self._closers = self._collect()
        closers = self._closers[marker[0]]
        while closers and (closers[-1][0] <= at or closers[-1][1] < len(marker) <= closers[-1][2]):
            closers.pop()
        return closers[-1][0] if closers and closers[-1][1] >= len(marker) else -1

    def _collect(self) -> dict[str, list[tuple[int, int, int]]]:
        """Return (end, length, greatest length from here on) of the closers of each sort, the last one first."""
        closers: dict[str, list[tuple[int, int, int]]] = {"`": [], "~": []}
        for found in reversed(list(compiled(_CLOSER).finditer(self._text))):
            length = len(found[1])
            same = closers[found[1][0]]
            same.append((found.end(), length, max(length, same[-1][2]) if same else length))
        return closers
