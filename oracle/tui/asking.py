"""What is laid over the panes: a question, asked once before anything is written, and the help."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.screen import ModalScreen

from oracle.domain.layout import hanging
from oracle.tui.keys import KEYS
from oracle.tui.lines import FAINT, STRONG, Line, TableRow, plain, table
from oracle.tui.rows import Rows
from oracle.wording import say, say_each, visible

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult

Choice = tuple[str, str, str]
"""A key, what it stands for, and the answer that it gives."""


class Overlay(ModalScreen[str]):
    """Lines in a frame. Returns the answer of a key or of the line that Enter is pressed on, "" without any."""

    DEFAULT_CSS = """
    Overlay { align: center middle; }
    Overlay Rows { width: 90%; height: auto; max-height: 90%; border: round ansi_blue; }
    """
    BINDINGS: ClassVar = [Binding("escape,q,question_mark", "leave", show=False)]

    def __init__(self, lines: Callable[[int], list[Line]], answers: dict[str, str]) -> None:
        super().__init__()
        self._lines_of = lines
        self._answers = answers
        self._is_over = False

    def compose(self) -> ComposeResult:
        """Lay out one list."""
        yield Rows()

    def on_rows_widened(self, message: Rows.Widened) -> None:
        """Show the lines."""
        message.stop()
        message.rows.show(self._lines_of(message.rows.room), from_top=True)

    def on_rows_opened(self, message: Rows.Opened) -> None:
        """Take the answer of a line. A question stays open where its line has none."""
        message.stop()
        if message.line.target or not self._answers:
            self._leave(message.line.target)

    def on_key(self, event: events.Key) -> None:
        """Take the answer of a key."""
        if answer := self._answers.get(event.character or ""):
            event.stop()
            self._leave(answer)

    def action_leave(self) -> None:
        """Return no answer."""
        self._leave("")

    def _leave(self, answer: str) -> None:
        """Return an answer, the first of several keys that came at once."""
        if not self._is_over:
            self._is_over = True
            self.dismiss(answer)


def question(text: str, choices: Sequence[Choice]) -> Overlay:
    """Return a question. Its cursor begins on the question itself, so that Enter alone answers nothing."""

    def lines(width: int) -> Iterator[Line]:
        for part in hanging(visible(text), width, may_break=True):
            yield Line(((part, STRONG),))
        for key, label, answer in choices:
            for part in hanging(f"{key}  {visible(label)}", width, "   ", may_break=True):
                yield Line(((part, ""),), target=answer)
        yield plain(say("Esc  leave it"), FAINT)

    return Overlay(lambda width: list(lines(width)), {key: answer for key, _, answer in choices})


def keys_help() -> Overlay:
    """Return the list of all keys."""
    rows = [TableRow((key.shown, key.label)) for key in KEYS]
    return Overlay(lambda width: table(say_each("key", "what it does"), rows, width), {})
