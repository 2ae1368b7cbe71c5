"""The panes: what each shows, and how it is kept up to date. Only the pane in sight is read again."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from textual.app import App
from textual.binding import Binding
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from oracle.app import journal
from oracle.app.overview.changes import HANDOFFS, JOURNAL, RECORDS, RootWatch
from oracle.app.overview.now import look
from oracle.domain.values import replace
from oracle.errors import NotInMemory, OracleError
from oracle.tui import keys, reading
from oracle.tui.keys import GRAPH, KEYS, LOG, NOW, PANES, RECORD, TITLES
from oracle.tui.lines import FAINT, STRONG, WARNING, Line, plain
from oracle.tui.panes import LogPane, NowPane, RecordsPane
from oracle.tui.reader import RootReader
from oracle.tui.rows import Bar, Rows
from oracle.wording import say, visible

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from oracle.app.context import Context

T = TypeVar("T")

LOOK_EVERY = 1.0
"""Seconds between two looks for what changed."""

LOOKS_A_MINUTE = 60
"""After so many looks, ages are renewed although nothing changed."""

MOST_LOOKED_AT = 100
"""Records of a list of which an edit in place is seen at the next look."""

LONGEST_TRAIL = 50
"""Records that the way back leads to."""

_STALE_BY = {RECORDS: (keys.RECORDS, RECORD, GRAPH), HANDOFFS: (NOW,), JOURNAL: (NOW, LOG)}
"""The panes that each change makes stale."""


class PaneContent(Protocol):
    """What a pane shows."""

    def lines(self, width: int) -> list[Line]:
        """Return its lines, of at most so many columns."""


class Filter(Input):
    """The words that a list of records is filtered by."""

    BINDINGS: ClassVar = [
        Binding("down,enter,tab", "app.leave_search", show=False, priority=True),
        Binding("escape", "app.clear_search", show=False),
    ]


class PanesApp(App[None]):
    """The panes of `oracle watch`, with the keys that lead from one to another."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Filter { height: 1; border: none; padding: 0 1; }"
    BINDINGS: ClassVar = [
        Binding(key.names, key.action, show=False, priority="tab" in key.names) for key in KEYS if key.action
    ]

    def __init__(self, memory_dir: str | None) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"  # the colours that the terminal chose, on its own background
        self.animation_level = "none"
        self.failure: Exception | None = None
        self.pane = NOW
        self._reader = RootReader(memory_dir, self._warn)
        self._checker = RootReader(memory_dir, self._warn)
        self._watcher = RootReader(memory_dir, lambda _: None)  # a question says what is wrong
        self._watch: RootWatch | None = None
        self.panes: dict[str, PaneContent] = dict.fromkeys(PANES, reading.EmptyPane())
        self.panes[keys.RECORDS] = RecordsPane()
        self.stale = set(PANES)
        self._trail: list[Callable[[Context], PaneContent]] = []
        self._center, self._depth = "", 1
        self._looks = 0

    def compose(self) -> ComposeResult:
        """Lay out the panes between a line of titles and two lines at the foot."""
        yield Bar(id="titles")
        yield Filter(placeholder=visible(say("type to filter the newest records and search all")), id="filter")
        yield from (Rows(id=name) for name in PANES)
        yield Bar(id="status")
        yield Bar(id="foot")

    def on_mount(self) -> None:
        """Show the first pane, then look for changes."""
        self.action_show_pane(NOW)
        self.set_interval(LOOK_EVERY, self._look)

    def on_unmount(self) -> None:
        """Leave the Root."""
        self._reader.close()
        self._checker.close()
        self._watcher.close()

    # What is shown ----------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        """The list of the pane that is shown."""
        return self.query_one(f"#{self.pane}", Rows)

    def action_show_pane(self, name: str) -> None:
        """Show a pane."""
        self.pane = name
        for pane in PANES:
            self.query_one(f"#{pane}", Rows).display = pane == name
        self.query_one("#filter").display = name == keys.RECORDS
        self.rows.focus()
        self._show_bars()
        self.work(self.renew(name))

    def action_turn(self, by: int) -> None:
        """Show the next pane."""
        self.action_show_pane(PANES[(PANES.index(self.pane) + by) % len(PANES)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key counts: not behind a question, and not in a pane that lacks it."""
        is_own = any(key.action.partition("(")[0] == action for key in KEYS)
        if is_own and action != "quit":
            here = any(key.action.partition("(")[0] == action and self.pane in key.panes for key in KEYS)
            return here and len(self.screen_stack) == 1
        return super().check_action(action, parameters)

    def _show_bars(self) -> None:
        titles = [
            (f" {number} {visible(TITLES[name])} ", "reverse" if name == self.pane else "")
            for number, name in enumerate(PANES, 1)
        ]
        self.query_one("#titles", Bar).show(Line((*titles, (f"  {visible(self._reader.root)}", FAINT))))
        shown = keys.foot(self.pane, self.size.width)
        pieces = [piece for key, label in shown for piece in ((key, STRONG), (f" {label}  ", ""))]
        self.query_one("#foot", Bar).show(Line(tuple(pieces)))

    def report(self, text: str, style: str = "") -> None:
        """Say something in the line above the keys."""
        self.query_one("#status", Bar).show(plain(text, style))

    def _warn(self, line: str) -> None:
        self.call_later(self.report, line, WARNING)

    def on_rows_widened(self, message: Rows.Widened) -> None:
        """Make the lines of a pane again for its new width, and name as many keys as there is room for."""
        self._show_bars()
        name = message.rows.id or ""
        if name in self.panes:
            self.work(self._fill(name))

    # What fills it ----------------------------------------------------------------------------------------------------

    async def ask(self, work: Callable[[Context], T], reader: RootReader | None = None) -> T:
        """Return what `work` returns for the Root."""
        return await (reader or self._reader).ask(work)

    def works_on(self, group: str) -> bool:
        """Return whether work of a group is going on."""
        return any(worker.group == group and worker.is_running for worker in self.workers)

    def work(self, work: Coroutine[Any, Any, None], group: str = "default", *, exclusive: bool = False) -> None:
        """Begin some work that waits for the Root. An `exclusive` one ends what its group did before."""
        self.run_worker(work, group=group, exclusive=exclusive, exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what a use case refused; end with anything that nobody expected."""
        error = event.worker.error
        if event.state is not WorkerState.ERROR or error is None:
            return
        if isinstance(error, OracleError):
            self.report(
                say("{sentence} {hint}", sentence=error.sentence, hint=error.hint) if error.hint else error.sentence,
                WARNING,
            )
        elif isinstance(error, Exception):
            self._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        """End, and keep the error for the command line, which prints it as it prints any other."""
        self.failure = self.failure or error
        self.panic()

    def _look(self) -> None:
        if not self.works_on("look"):
            self.work(self._look_for_changes(), "look")

    async def _look_for_changes(self) -> None:
        self._looks += 1
        changed = set(await self.ask(partial(self._changes, shown=self._paths_in_sight), self._watcher))
        if self._looks % LOOKS_A_MINUTE == 0:
            changed.add(HANDOFFS)
        for name in changed:
            self.stale.update(_STALE_BY[name])
        await self.renew(self.pane)

    def _changes(self, context: Context, shown: Sequence[str]) -> frozenset[str]:
        if self._watch is None:
            self._watch = RootWatch(context)
        return self._watch.look(shown)

    @property
    def _paths_in_sight(self) -> list[str]:
        """The files of the records that are shown, or of the newest of a list."""
        pane = self.panes[self.pane]
        if isinstance(pane, reading.RecordPane):
            return [pane.shown.record.path]
        newest = pane.newest if isinstance(pane, RecordsPane) else ()
        return [record.path for record in newest[:MOST_LOOKED_AT]]

    async def renew(self, name: str, *, from_top: bool = False) -> None:
        """Read again what a stale pane shows."""
        if name not in self.stale:
            return
        self.stale.discard(name)
        if name == keys.RECORDS:
            newest = await self.ask(reading.newest)
            self.panes[name] = replace(self.panes[name], newest=newest)  # words may have been typed meanwhile
        elif read := self._reads.get(name):
            self.panes[name] = await self.ask(read)
        await self._fill(name, from_top=from_top)

    @property
    def _reads(self) -> dict[str, Callable[[Context], PaneContent]]:
        """What reads each pane. A record and a graph have to be chosen first."""
        reads: dict[str, Callable[[Context], PaneContent]] = {
            NOW: lambda context: NowPane(look(context)),
            LOG: lambda context: LogPane(journal.tail(context)),
        }
        if self._trail:
            reads[RECORD] = self._trail[-1]
        if self._center:
            reads[GRAPH] = partial(reading.read_graph, target=self._center, depth=self._depth)
        return reads

    async def _fill(self, name: str, *, from_top: bool = False) -> None:
        rows, pane = self.query_one(f"#{name}", Rows), self.panes[name]
        lines = await self.ask(lambda _: pane.lines(rows.room))
        if pane is self.panes[name]:
            rows.show(lines, from_top=from_top)

    # Opening ----------------------------------------------------------------------------------------------------------

    def on_rows_opened(self, message: Rows.Opened) -> None:
        """Open what a line leads to: a record, the records around an entity, the story of a handoff."""
        line = message.line
        if line.target.startswith("entity:"):
            self._draw(line.target)
        elif line.target:
            self._read(partial(reading.read_record, target=line.target))
        elif line.leads:
            project, task_id = line.task
            self._read(partial(reading.read_story, project=project, task_id=task_id))

    def _read(self, read: Callable[[Context], PaneContent]) -> None:
        self._trail = [*self._trail[-LONGEST_TRAIL:], read]
        self.work(self._open(RECORD))

    async def _open(self, name: str) -> None:
        self.stale.add(name)
        try:
            await self.renew(name, from_top=True)
        except OracleError:  # it is gone: the way back leads to what was read before
            self._trail = self._trail[:-1] if name == RECORD else self._trail
            raise
        if self.pane != name:
            self.action_show_pane(name)
        if name == RECORD:
            await self._check()

    async def _check(self) -> None:
        """Look up what a record names in the repository of its project, which takes longer than to read it."""
        from oracle.app.codebase import stale_names

        pane = self.panes[RECORD]
        if isinstance(pane, reading.RecordPane):
            record = pane.shown.record
            checked = await self.ask(lambda context: stale_names.check_record(context, record), self._checker)
            if checked is not None and checked.worst_names and self.panes[RECORD] is pane:
                self.panes[RECORD] = replace(pane, checked=checked)
                await self._fill(RECORD)

    def action_draw(self) -> None:
        """Show the neighbourhood of what is chosen or shown: of a record or an entity, or the records that name a task."""
        if target := self.chosen:
            self._draw(target)
        elif task := self.chosen_task:
            self.work(self._draw_task(task))

    def _draw(self, target: str) -> None:
        self._center, self._depth = target, 1
        self.work(self._open(GRAPH))

    async def _draw_task(self, task: str) -> None:
        before = self._center, self._depth
        self._center, self._depth = f"entity:taskid:{task}", 1
        try:
            await self._open(GRAPH)
        except NotInMemory:
            self._center, self._depth = before
            self.report(say("No record names {task}.", task=task))

    def action_deepen(self, by: int) -> None:
        """Walk one step farther, or less far."""
        self._depth = min(max(1, self._depth + by), 6)
        self.work(self._open(GRAPH))

    def action_go_back(self) -> None:
        """Show the record before this one; from the graph, the record."""
        if self.pane == RECORD and len(self._trail) > 1:
            self._trail.pop()
            self.work(self._open(RECORD))
        elif self.pane == GRAPH:
            self.action_show_pane(RECORD)

    @property
    def chosen(self) -> str:
        """The record or entity of the cursor's line, else the record that is shown."""
        pane = self.panes[RECORD]
        shown = pane.shown.record.slug if self.pane == RECORD and isinstance(pane, reading.RecordPane) else ""
        return self.rows.line.target or shown

    @property
    def chosen_task(self) -> str:
        """The task of the cursor's line, else the one whose story is shown."""
        pane = self.panes[RECORD]
        shown = pane.task_id if self.pane == RECORD and isinstance(pane, reading.StoryPane) else ""
        return self.rows.line.task[1] or shown
