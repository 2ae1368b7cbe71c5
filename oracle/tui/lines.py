"""Lines of a pane: pieces of safe text with their styles, and what a line leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oracle.domain.layout import cells, cut, padded, squeeze
from oracle.domain.values import replace, value
from oracle.wording import visible

if TYPE_CHECKING:
    from oracle.app.decisions.overdue import OpenDecision
    from oracle.app.delivery.listed import ListedHandoff

GAP = "  "
"""Blanks between two columns."""

PLAIN, STRONG, FAINT, WARNING = "", "bold", "dim", "yellow"
"""Styles. A terminal chooses its sixteen colours to fit its background."""


@value
class Line:
    """One line: pieces of safe text, each with its style. It may lead to a record or an entity, a handoff or a decision."""

    pieces: tuple[tuple[str, str], ...] = ()
    target: str = ""
    handoff: ListedHandoff | None = None
    decision: OpenDecision | None = None

    @property
    def text(self) -> str:
        """The text without its styles."""
        return "".join(text for text, _ in self.pieces)

    @property
    def task(self) -> tuple[str, str]:
        """The project and the id of its handoff or decision, ("", "") without any."""
        if self.decision is not None:
            return self.decision.project, self.decision.decision_id
        return (self.handoff.project, self.handoff.handoff.task_id) if self.handoff is not None else ("", "")

    @property
    def key(self) -> tuple[str, str, str]:
        """What it leads to. It stays the same when the text changes."""
        return (self.target, *self.task)

    @property
    def leads(self) -> bool:
        """Return whether it leads anywhere."""
        return any(self.key)


@value
class TableRow:
    """The cells of a table, and the line that they become."""

    texts: Sequence[str]
    line: Line = Line()
    style: str = PLAIN


def plain(text: str, style: str = PLAIN) -> Line:
    """Return a line of one text, made safe."""
    return Line(((visible(text), style),))


def fitted(line: Line, width: int) -> Line:
    """Return a line that takes at most so many columns."""
    if cells(line.text) <= width:
        return line
    kept: list[tuple[str, str]] = []
    for text, style in line.pieces:
        room = width - sum(cells(one) for one, _ in kept)
        if room < 1:
            break
        kept.append((cut(text, room), style))
    return replace(line, pieces=tuple(kept))


def table(
    headings: Sequence[str], rows: Sequence[TableRow], width: int, *, prose: int = -1, kept: int = -1
) -> list[Line]:
    """Return rows in columns below their headings. Columns without any text are left out.

    The column `prose` becomes narrower first, and `kept` last: it and the first are then cut in their middle.
    """
    if not rows:
        return []
    heads = list(map(visible, headings))
    shown = [list(map(visible, row.texts)) for row in rows]
    used = [at for at in range(len(heads)) if any(texts[at] for texts in shown)]
    wanted = {at: min(width, max(cells(texts[at]) for texts in (heads, *shown))) for at in used}
    widths = squeeze(wanted, max(width - len(GAP) * (len(used) - 1), len(used)), prose=prose, kept=kept)

    def join(texts: Sequence[str]) -> str:
        return GAP.join(
            padded(cut(texts[at], widths[at], keeps_end=kept >= 0 and at in (0, kept)), widths[at]) for at in used
        ).rstrip()

    lines = [replace(row.line, pieces=((join(texts), row.style),)) for row, texts in zip(rows, shown, strict=True)]
    return [Line(((join(heads), FAINT),)), *lines]
