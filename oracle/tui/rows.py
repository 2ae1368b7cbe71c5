"""Widgets of lines: a list to move in, of which only lines that changed are drawn again, and a single line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from oracle.tui.lines import Line

if TYPE_CHECKING:
    from textual import events

MARK = "▸ "
"""What begins the line of the cursor. It shows without colours too."""

_BLANK = "  "
_CURSOR = Style(reverse=True)
_LEAST_ROOM = 8


class Rows(ScrollView, can_focus=True):
    """A list of lines with a cursor. It stays on its line when the lines around it change."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Rows { height: 1fr; overflow-x: hidden; scrollbar-gutter: stable; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "turn_page(-1)", show=False),
        Binding("pagedown,space", "turn_page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("enter", "open", show=False),
    ]

    class Opened(Message):
        """Enter or a click on a line."""

        def __init__(self, line: Line) -> None:
            super().__init__()
            self.line = line

    class Widened(Message):
        """The list has another width, so that its lines must be made again."""

        def __init__(self, rows: Rows) -> None:
            super().__init__()
            self.rows = rows

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._cursor = 0
        self._width = 0

    @property
    def room(self) -> int:
        """How many columns a line has. A list out of sight has no width, and keeps the one that it had."""
        width = self.scrollable_content_region.width
        return max(_LEAST_ROOM, (width or self._width or self.app.size.width) - len(MARK))

    @property
    def texts(self) -> list[str]:
        """The text of each line."""
        return [line.text for line in self._lines]

    @property
    def line(self) -> Line:
        """The line of the cursor."""
        return self._lines[self._cursor] if self._lines else Line()

    def show(self, lines: Sequence[Line], *, from_top: bool = False) -> None:
        """Show other lines. The cursor stays on what its line leads to; in a new list it begins on what leads anywhere."""
        before, self._lines, was = self._lines, lines, self.line
        self._cursor = 0 if from_top else self._place(was) if was.leads or not before else self._cursor
        self._cursor = max(0, min(self._cursor, len(lines) - 1))
        if len(lines) != len(before):
            self.virtual_size = Size(0, len(lines))
        if from_top:
            self.scroll_to(y=0, animate=False)
        for y in range(self.scroll_offset.y, min(self.scroll_offset.y + self.size.height, len(lines))):
            if y >= len(before) or before[y] != lines[y]:
                self.refresh_line(y)
        self._reveal()

    def _place(self, was: Line) -> int:
        """Return the line that leads where another led, of several the place of before; anywhere if that led nowhere."""
        if was.leads and self._cursor < len(self._lines) and self._lines[self._cursor].key == was.key:
            return self._cursor
        found = (at for at, line in enumerate(self._lines) if line.leads and (not was.leads or line.key == was.key))
        return next(found, self._cursor)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        at = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if at >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        is_cursor = at == self._cursor and self.has_focus
        return draw(self._lines[at], width, self.rich_style, mark=MARK if is_cursor else _BLANK)

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self._go(self._cursor + by)

    def action_turn_page(self, by: int) -> None:
        """Move the cursor by a screen."""
        self._go(self._cursor + by * max(1, self.size.height - 1))

    def action_open(self) -> None:
        """Open what the line of the cursor leads to."""
        self.post_message(self.Opened(self.line))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to a line, and open it where it is already."""
        at = self.scroll_offset.y + event.y
        if at == self._cursor:
            self.action_open()
        elif at < len(self._lines):
            self._go(at)

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh_line(self._cursor)

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh_line(self._cursor)

    def on_resize(self) -> None:
        """Ask for lines of the new width."""
        width = self.scrollable_content_region.width
        if width and width != self._width:
            self._width = width
            self.post_message(self.Widened(self))

    def _go(self, at: int) -> None:
        before, self._cursor = self._cursor, min(max(at, 0), max(len(self._lines) - 1, 0))
        if before != self._cursor:
            self.refresh_line(before)
            self.refresh_line(self._cursor)
            self._reveal()

    def _reveal(self) -> None:
        """Scroll until the cursor can be seen."""
        self.scroll_to_region(Region(0, self._cursor, 1, 1), animate=False, force=True, immediate=True)


class Bar(Widget):
    """A single line."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._line = Line()

    @property
    def text(self) -> str:
        """What it says."""
        return self._line.text

    def show(self, line: Line) -> None:
        """Show another line."""
        if line != self._line:
            self._line = line
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        return draw(self._line if y == 0 else Line(), self.size.width, self.rich_style)


def draw(line: Line, width: int, base: Style, *, mark: str = "") -> Strip:
    """Return a line as Textual draws it, cut or filled to a width. With the mark of the cursor it is drawn in reverse."""
    style = base + _CURSOR if mark == MARK else base
    segments = [Segment(mark, style), *(Segment(text, style + Style.parse(name)) for text, name in line.pieces)]
    return Strip(segments).adjust_cell_length(width, style)
