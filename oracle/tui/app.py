"""The application: what its keys do beside leading from pane to pane."""

from __future__ import annotations

import os
import subprocess
from asyncio import sleep
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.widgets import Input

from oracle.domain.values import replace
from oracle.errors import NotFound
from oracle.tui import acting, keys, reading
from oracle.tui.asking import keys_help, question
from oracle.tui.rows import Rows
from oracle.tui.showing import Filter, PanesApp
from oracle.wording import Sentence, say, visible

if TYPE_CHECKING:
    from oracle.app.context import Context

SEARCH_AFTER = 0.15
"""Seconds without a key after which all records are searched for what was typed."""

MOST_HITS = 20


class WatchApp(PanesApp):
    """`oracle watch`."""

    # Searching --------------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        """Go to the words that filter the records."""
        if self.pane != keys.RECORDS:
            self.action_show_pane(keys.RECORDS)
        self.query_one("#filter").focus()

    def action_leave_search(self) -> None:
        """Go to the records that were found."""
        self.rows.focus()

    def action_clear_search(self) -> None:
        """Show all records again."""
        self.query_one("#filter", Filter).value = ""
        self.rows.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the newest records at once, and search all of them when the typing stops."""
        self._filter(words=event.value, hits=())
        self.work(self._search(event.value), "search", exclusive=True)

    def _filter(self, **changes: object) -> None:
        pane = replace(self.panes[keys.RECORDS], **changes)
        self.panes[keys.RECORDS] = pane
        rows = self.query_one(f"#{keys.RECORDS}", Rows)
        rows.show(pane.lines(rows.room))

    async def _search(self, words: str) -> None:
        if words.strip():
            await sleep(SEARCH_AFTER)
            hits = await self.ask(partial(reading.search, words=words, limit=MOST_HITS))
            self._filter(hits=hits)

    def action_copy(self) -> None:
        """Copy the name of what is chosen to the clipboard of the terminal (OSC 52)."""
        name = visible(self.chosen or self.chosen_task)
        if name:
            self.copy_to_clipboard(name)
            self.report(say("copied: {name}", name=name))

    def action_edit(self) -> None:
        """Open the file of what is chosen in the operator's editor."""
        if self.chosen:
            self.work(self._edit(self.chosen))

    async def _edit(self, target: str) -> None:
        words = acting.editor(os.environ)
        path = await self.ask(partial(acting.path_of, target=target))
        fault: OSError | None = None
        with self.suspend():  # an error in the block would leave the terminal as it is there
            try:
                subprocess.run([*words, path], check=False)
            except OSError as error:
                fault = error
        self.refresh()
        if fault is not None:
            raise NotFound(say("{program} can't be run: {strerror}.", program=words[0], strerror=fault.strerror))

    # Acting -----------------------------------------------------------------------------------------------------------

    def action_decide(self) -> None:
        """Ask what was decided, and record it."""
        self._act(self._decide)

    async def _decide(self) -> None:
        decision = acting.require_decision(self.rows.line.decision)
        choices = [
            (str(number), say("{choice}: {label}", choice=choice, label=label), choice)
            for number, (choice, label) in enumerate(decision.options, 1)
        ]
        if choice := await self.push_screen_wait(question(decision.question, choices)):
            await self._carry_out(partial(acting.decide, decision=decision, choice=choice))

    def action_acknowledge(self) -> None:
        """Ask, then acknowledge the answer to a handoff."""
        self._act(self._acknowledge)

    async def _acknowledge(self) -> None:
        item = acting.require_acknowledgeable(self.rows.line.handoff)
        ends = {"task": item.handoff.task_id, "seat": item.handoff.asker, "answerer": item.handoff.answerer}
        text = say("Acknowledge for {seat} that it has read the answer of {answerer} to {task}?", **ends)
        if await self._confirms(text):
            await self._carry_out(partial(acting.acknowledge, item=item))

    def action_resume(self) -> None:
        """Ask, then finish what was interrupted."""
        self._act(self._resume)

    async def _resume(self) -> None:
        if await self._confirms(say("Finish interrupted deliveries and send pending wake-ups?")):
            await self._carry_out(acting.resume)

    async def _confirms(self, text: Sentence) -> bool:
        answer: str = await self.push_screen_wait(question(text, [("y", say("yes"), "yes")]))
        return bool(answer)

    def _act(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Ask and carry out, one thing at a time."""
        if not self.works_on("acting"):
            self.work(work(), "acting")

    async def _carry_out(self, work: Callable[[Context], str]) -> None:
        self.report(say("working …"))
        self.report(await self.ask(work))
        self.stale.add(keys.NOW)
        await self.renew(self.pane)

    def action_help(self) -> None:
        """List the keys."""
        self.push_screen(keys_help())
