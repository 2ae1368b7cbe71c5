"""Ask the use cases in one thread of their own: a slow question never holds up a key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from oracle.app.context import Context

T = TypeVar("T")


class RootReader:
    """A Root as one thread sees it. Questions are answered in their order."""

    def __init__(self, memory_dir: str | None, warn: Callable[[str], None]) -> None:
        self._context = Context.open(memory_dir, warn=warn)
        self._thread = ThreadPoolExecutor(1, "oracle-watch")

    @property
    def root(self) -> str:
        """The folder of the Root."""
        return self._context.root.path

    async def ask(self, work: Callable[[Context], T]) -> T:
        """Return what `work` returns for the Root. Raises what it raises."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._context)

    def close(self) -> None:
        """Drop questions that wait, and end after the present one."""
        self._thread.submit(self._context.close)
        self._thread.shutdown(wait=False)
