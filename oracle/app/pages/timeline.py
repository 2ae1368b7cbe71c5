"""Draw records by time: one row each below its day, a column for each seat, and a curve from a record to what it replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.app.pages import svg
from oracle.app.records import listing
from oracle.domain.layout import cells
from oracle.domain.values import value
from oracle.wording import say, say_many

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from xml.etree.ElementTree import Element

    from oracle.app.context import Context
    from oracle.app.pages.svg import Link
    from oracle.app.records.views import Summary

MOST_RECORDS = 200
_MOST_LANES = 16
"""Columns of seats; with more of them there is one column for each project."""

_TITLE_CELLS, _LANE_CELLS = 72, 24
_LEFT, _LANE, _ROW = 56.0, 24.0, 20.0


@value
class Timeline:
    """The newest records that pass the filters, oldest first, and whether there are older ones."""

    records: tuple[Summary, ...]
    has_older: bool

    @property
    def lanes(self) -> dict[str, str]:
        """Return the column of each record: its seat, with the project where there are several, else only the project."""
        several = len({one.project for one in self.records}) > 1
        found = {one.slug: f"{one.project}/{one.seat}" if several else one.seat for one in self.records}
        if len(set(found.values())) > _MOST_LANES:
            return {one.slug: one.project for one in self.records}
        return found


def gather(context: Context, filters: Mapping[str, str], *, most: int = MOST_RECORDS) -> Timeline:
    """Return the records to draw. `filters` are those of a listing. Raises NotInFederation, UsageError."""
    found = listing.list_records(context, filters, limit=most + 1, newest_first=True)
    return Timeline(tuple(found[:most][::-1]), len(found) > most)


def draw(found: Timeline, *, link: Link, more: str = "", is_styled: bool = False) -> str:
    """Return the timeline as SVG. `link` returns the address of a record, `more` is the address of the older ones."""
    lanes = found.lanes
    columns = {name: _LEFT + at * _LANE for at, name in enumerate(sorted(set(lanes.values())))}
    addresses = {one.slug: link(one.slug) for one in found.records}
    right = _LEFT + len(columns) * _LANE
    head_room = 16 + 0.6 * svg.CELL * min(max(map(cells, columns), default=0), _LANE_CELLS)
    rows, days, bottom = _place(found, head_room + (_ROW if found.has_older else 0))
    label = say_many("Timeline of {n} record", "Timeline of {n} records", n=len(rows))
    width = right + _TITLE_CELLS * svg.CELL + 16
    chained = [one for one in found.records if one.retired_by in rows]
    legend = svg.Legend(
        (one.kind for one in found.records),
        map(_how, chained),
        (one.effective_status for one in found.records),
        width,
    )
    root = svg.drawing(
        "timeline", label, width, bottom + legend.height, has_links=bool(more) or any(addresses.values())
    )
    head = svg.arrowhead(root, "head-timeline")
    for name, x in columns.items():
        _draw_lane(root, name, x, [rows[slug] for slug, lane in lanes.items() if lane == name], head_room)
    for day, y in days:
        svg.element(root, "path", class_="rule", d=f"M0 {y - 13:.0f}H{width:.0f}")
        svg.element(root, "text", day, class_="heading", x=8, y=y)
    if found.has_older:
        sign = svg.anchor(root, more)
        sign.set("class", "more")
        svg.element(sign, "text", say("older records are not drawn"), x=right + 8, y=head_room + 6)
    places = {slug: (columns[lanes[slug]], y) for slug, y in rows.items()}
    for record in found.records:
        _draw_row(svg.anchor(root, addresses[record.slug]), record, places[record.slug], right)
    for record in chained:
        _draw_chain(root, record, places[record.retired_by], places[record.slug], head)
    legend.draw(root, bottom, head)
    return svg.printed(root, is_styled=is_styled)


def _place(found: Timeline, top: float) -> tuple[dict[str, float], list[tuple[str, float]], float]:
    """Return the height of each record and of the heading of each day, and where the last row ends."""
    rows: dict[str, float] = {}
    days: list[tuple[str, float]] = []
    y = top
    for record in found.records:
        day = record.sort_ts[:10]
        if not days or days[-1][0] != day:
            y += _ROW + 8
            days.append((day, y))
        y += _ROW
        rows[record.slug] = y
    return rows, days, y + _ROW


def _draw_lane(root: Element, name: str, x: float, heights: Sequence[float], head_room: float) -> None:
    svg.element(root, "path", class_="rule", d=f"M{x:.0f} {min(heights) - 4:.0f}V{max(heights) - 4:.0f}")
    turned = f"translate({x:.0f} {head_room:.0f}) rotate(-40)"
    svg.element(root, "text", svg.cut(name, _LANE_CELLS), class_="soft", transform=turned)


def _draw_row(group: Element, record: Summary, place: tuple[float, float], right: float) -> None:
    x, y = place
    group.set("class", "node retired" if record.is_retired else "node")
    status = f" [{svg.legible(record.status_shown)}]" if record.is_retired else ""
    title = svg.element(group, "title")
    title.text = "\n".join(map(svg.legible, (f"{record.title}{status}", record.slug)))
    svg.element(group, "text", record.sort_ts[11:16], class_="soft", x=8, y=y)
    svg.mark(group, record.kind, x, y - 4, 5)
    room = _TITLE_CELLS - cells(status)
    svg.element(group, "text", f"{svg.cut(record.title or record.slug, room)}{status}", x=right, y=y)


def _draw_chain(root: Element, record: Summary, new: tuple[float, float], old: tuple[float, float], head: str) -> None:
    """Draw a curve from a record to one that it replaced, bent aside where both are in one column."""
    (x, y), (end, down) = new, old
    side = x - 12 if x == end else (x + end) / 2
    way = f"M{x:.0f} {y - 4:.0f}C{side:.0f} {y - 4:.0f} {side:.0f} {down - 4:.0f} {end - 7:.0f} {down - 4:.0f}"
    drawn = svg.element(root, "path", class_=f"edge {_how(record)}", d=way, marker_end=head)
    svg.element(drawn, "title", _how(record))


def _how(record: Summary) -> str:
    """Return the type of the edge by which a record was replaced."""
    return "retires" if record.retired_how == "retires" else "supersedes"
