"""Tell open pages that something changed, at most once a second. Nothing is looked at while no page is open."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from oracle.app.overview.changes import RootWatch
from oracle.errors import OracleError
from oracle.serving import Workers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from oracle.app.context import Context

INTERVAL = 1.0
"""Seconds between two looks. A Root that takes long to look at is looked at less often."""

_SHARE = 20
"""How many times as long as a look takes the next one is put off."""

FILES_SHARE = 0.01
"""Share of a core that looks at the files of records may take: an edit in place changes no folder."""

MOST_STREAMS = 12
"""Pages that listen at a time. A browser opens six."""


class Live:
    """The state of a Root, as a number that grows with each change that was seen."""

    def __init__(self, root: str) -> None:
        self._worker = Workers(root, threads=1)
        self._watch: tuple[Context, RootWatch] | None = None
        self._run = secrets.token_hex(4)
        self._number = 0
        self._listeners = 0
        self._shown: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    @property
    def state(self) -> str:
        """The name of the state that was seen last."""
        return f"{self._run}-{self._number}"

    @property
    def is_full(self) -> bool:
        """Whether no more pages may listen."""
        return self._listeners >= MOST_STREAMS

    async def listen(self, seen: str, shown: str = "") -> AsyncIterator[dict[str, str]]:
        """Yield an event for each change after the state that a page has, the first at once if there was one.

        `shown` is the path of the record on the page, "" for none.
        """
        self._listeners += 1
        self._shown[shown] += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._follow())
        try:
            while True:
                if seen != self.state:
                    seen = self.state
                    yield {"event": "change", "id": seen, "data": ""}
                await self._changed.wait()
        finally:
            self._listeners -= 1
            self._shown -= Counter([shown])

    async def _follow(self) -> None:
        """Look again and again while pages listen."""
        clock = asyncio.get_running_loop().time
        while self._listeners:
            began = clock()
            look = partial(self._has_changed, shown=tuple(filter(None, self._shown)))
            with suppress(OracleError):
                changed, _ = await self._worker.run(partial(self._worker.with_context, look))
                if changed:
                    self._number += 1
                    self._wake()
            await asyncio.sleep(max(INTERVAL, (clock() - began) * _SHARE))

    def _has_changed(self, context: Context, shown: tuple[str, ...]) -> bool:
        """Return whether anything changed since the last look; the first one cannot tell, so it says yes."""
        if self._watch is None or self._watch[0] is not context:
            self._watch = context, RootWatch(context, files_share=FILES_SHARE)
        return bool(self._watch[1].look(shown))

    def close(self) -> None:
        """End the thread that looks."""
        self._worker.close()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
