"""Keep what was made of files, for a view that looks at the same files again and again."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

    Kept = tuple[tuple[int, ...], object]


class FileCache:
    """What was made of each file, until the file changes. What two rounds in a row did not ask for is dropped."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}
        self._before: dict[str, Kept] = {}

    def begin_round(self) -> None:
        """Begin another look at the files."""
        self._kept, self._before = {}, self._kept

    def get(self, path: str, make: Callable[[str], T], status: os.stat_result | None = None) -> T:
        """Return what `make(path)` returned for the file as it is now; `status` is what a caller knows of it already."""
        state = _state(path, status)
        found = self._kept.get(path) or self._before.get(path)
        if found is None or found[0] != state:
            found = state, make(path)
        self._kept[path] = found
        return found[1]  # type: ignore[return-value]


def _state(path: str, status: os.stat_result | None) -> tuple[int, ...]:
    try:
        found = status or os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
