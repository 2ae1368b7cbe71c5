"""A team with something to watch, and `oracle watch` on it without a terminal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from oracle.app.decisions.handover import send
from oracle.cli.i18n.translate import ENGLISH, set_language
from oracle.domain.records.drafts import Draft
from oracle.tui.app import WatchApp
from oracle.tui.rows import Bar, Rows
from tests.app.squad import Squad
from tests.app.test_decisions import payload

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

PATIENCE = 20.0


class Watched:
    """`oracle watch` as a test drives it."""

    def __init__(self, app: WatchApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, is_met: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_met():
            assert time.monotonic() < end, self.screen()
            assert self.app.failure is None, self.app.failure
            await self.pilot.pause(0.01)

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.screen())

    async def point_at(self, text: str) -> None:
        """Move the cursor to a line."""
        await self.shows(text)
        rows = self.rows
        at = next(number for number, line in enumerate(rows.texts) if text in line)
        rows.action_move(at - rows.texts.index(rows.line.text))
        assert text in rows.line.text

    @property
    def rows(self) -> Rows:
        """The list that has the keys."""
        return self.app.screen.query_one(Rows) if len(self.app.screen_stack) > 1 else self.app.rows

    @property
    def status(self) -> str:
        return self.app.query_one("#status", Bar).text

    def strips(self) -> list[object]:
        return list(self.app.screen._compositor.render_strips())

    def screen(self) -> str:
        return "\n".join(strip.text.rstrip() for strip in self.strips())


@asynccontextmanager
async def opened(squad: Squad, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Watched]:
    app = WatchApp(str(squad.path))
    async with app.run_test(size=size) as pilot:
        watched = Watched(app, pilot)
        await watched.until(lambda: len(app.rows.texts) > 0)
        yield watched


Play = Callable[..., None]


@pytest.fixture
def play(squad: Squad) -> Play:
    """Give the function that plays a scenario on the team's Root."""

    def run(scenario: Callable[[Watched], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
        async def whole() -> None:
            async with opened(squad, size) as watched:
                await scenario(watched)

        asyncio.run(whole())

    return run


@pytest.fixture(params=["en", "zh"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    set_language(request.param)
    yield request.param
    set_language(ENGLISH)


@pytest.fixture
def squad(tmp_path: Path) -> Squad:
    """Give a team with an answered and an open question, a decision that waits, and three records."""
    team = Squad(tmp_path)
    team.ask("Q-1", objective="Who decided on retries?")
    team.deliver("Q-1")
    team.ask("Q-2", source="builder", objective="Is the queue bounded?")
    asked_at = datetime.now(UTC) - timedelta(minutes=10)
    send(team.oracle, payload(created_at=asked_at.isoformat()), notifies=False)
    old = team.oracle.write(Draft("decision", "demo", "Retries are unbounded", body="For HARBOR-5."))
    body = f"# Retries\n\nAt most **three**, see HARBOR-5.\n\nSupersedes [[{old.slug}]].\n"
    team.oracle.write(Draft("decision", "demo", "Retries are bounded", body=body, supersedes=(old.slug,)))
    team.oracle.write(Draft("decision", "demo", "The queue has no bound", body="Measured for HARBOR-5."))
    return team
