"""Write SVG. Every text is escaped and cleaned of characters that steer; a drawing holds no script."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from oracle.domain import layout
from oracle.wording import say, visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from xml.etree.ElementTree import Element

    Link = Callable[[str], str]
    """Return the address of a record, an entity or a task in a drawing, "" for no link."""

CELL = 6.0
"""Pixels of a Latin character of a label."""

LINE = 14.0
"""Pixels between two lines of labels."""

SHAPES = {
    "decision": "M0-1.25 1.25 0 0 1.25-1.25 0Z",
    "finding": "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0Z",
    "task": "M-.9-.9H.9V.9H-.9Z",
    "plan": "M-1.1 0-.55-.95.55-.95 1.1 0 .55.95-.55.95Z",
    "entity": "M0-1.2 1.1.85-1.1.85Z",
    "other": "M0-1.15 1.1-.35.7.95-.7.95-1.1-.35Z",
    "missing": "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0Z",
}
"""The outline of each kind, about two wide."""

_HEAD: Mapping[str, str | float] = {
    "markerUnits": "userSpaceOnUse",
    "markerWidth": 8,
    "markerHeight": 7,
    "refX": 6.5,
    "refY": 3.5,
}
_NOT_IN_XML = {0xFFFE: None, 0xFFFF: None}


@cache
def style() -> str:
    """Return the style of every drawing, for a page that shows one."""
    return Path(__file__).with_name("drawing.css").read_text(encoding="utf-8")


def drawing(name: str, label: str, width: float, height: float, *, has_links: bool) -> Element:
    """Return an empty drawing. A reader for the blind enters one with links, and reads the label of any other."""
    root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg"})
    _set(
        root, {"class": f"drawing {name}", "width": width, "height": height, "viewBox": f"0 0 {width:.0f} {height:.0f}"}
    )
    _set(root, {"role": "group" if has_links else "img", "aria-label": label})
    element(root, "rect", class_="paper", width=width, height=height)
    return root


def element(parent: Element, tag: str, text: str = "", /, **attributes: str | float) -> Element:
    """Add an element with a text. `class_` and `text_anchor` are the attributes `class` and `text-anchor`."""
    added = ElementTree.SubElement(parent, tag)
    _set(added, {name.rstrip("_").replace("_", "-"): found for name, found in attributes.items()})
    added.text = legible(text) or None
    return added


def anchor(parent: Element, address: str) -> Element:
    """Return where to draw what leads to an address: an `a`, or a plain group for "" as the address."""
    return element(parent, "a", href=address) if address else element(parent, "g")


def mark(parent: Element, kind: str, x: float, y: float, radius: float) -> None:
    """Draw the shape of a kind."""
    shape = shape_of(kind)
    element(
        parent,
        "path",
        class_=f"mark {shape}",
        d=SHAPES[shape],
        transform=f"translate({x:.1f} {y:.1f}) scale({radius:.1f})",
    )


def shape_of(kind: str) -> str:
    """Return the name of the shape of a kind: its own, or `other`."""
    return kind if kind in SHAPES else "other"


def arrowhead(root: Element, name: str) -> str:
    """Define the head of the arrows of a drawing. Return the value of `marker-end`."""
    marker = element(root, "marker", id=name, class_="head", orient="auto", **_HEAD)
    element(marker, "path", d="M0 0 8 3.5 0 7Z")
    return f"url(#{name})"


def printed(root: Element, *, is_styled: bool = False) -> str:
    """Return a drawing as text; a file of its own needs the style in it."""
    if is_styled:
        kept = ElementTree.Element("style")
        kept.text = style()
        root.insert(0, kept)
    return ElementTree.tostring(root, encoding="unicode")


class Legend:
    """The shapes and lines of a drawing with their names, in rows below it."""

    def __init__(self, kinds: Iterable[str], edges: Iterable[str], statuses: Iterable[str], width: float) -> None:
        self._width, self._at, self.height = width, 14.0, 32.0
        self._items: list[tuple[str, str, str, float, float]] = []
        shapes = set(map(shape_of, kinds))
        words = {"other": say("other kind"), "missing": say("missing"), "entity": say("entity")}
        for shape in SHAPES:
            if shape in shapes:
                self._add("mark", shape, words.get(shape, shape))
        for kind in sorted(set(edges)):
            self._add("edge", kind, kind)
        if {"retired", "superseded"}.intersection(statuses):
            self._add("retired", "decision", say("faded: no longer holds"))

    def explain_sizes(self) -> None:
        """Add that a node is larger with more backlinks."""
        self._add("size", "finding", say("larger: more backlinks"))

    def _add(self, sort: str, name: str, text: str) -> None:
        wide = 46 + layout.cells(legible(text)) * CELL
        if self._at + wide > self._width and self._at > 14:
            self._at, self.height = 14.0, self.height + 18
        self._items.append((sort, name, text, self._at, self.height - 12))
        self._at += wide

    def draw(self, root: Element, top: float, head: str) -> None:
        """Draw it below a height."""
        group = element(root, "g", class_="legend")
        element(group, "path", class_="rule", d=f"M0 {top + 2:.0f}H{self._width:.0f}")
        for sort, name, text, x, down in self._items:
            y = top + down
            if sort == "edge":
                element(group, "path", class_=f"edge {name}", d=f"M{x:.0f} {y - 4:.0f}h24", marker_end=head)
            elif sort == "size":
                mark(group, name, x + 6, y - 4, 3)
                mark(group, name, x + 17, y - 4, 6)
            else:
                mark(element(group, "g", class_=sort), name, x + 12, y - 4, 6)
            element(group, "text", text, class_="soft", x=x + 30, y=y)


def legible(text: str) -> str:
    """Return a text in the chosen language, on one line, what steers spelled out, without what XML has no place for."""
    return visible(text).translate(_NOT_IN_XML)


def legible_lines(text: str) -> str:
    """Return a text of several lines as `legible` returns one."""
    return visible_lines(text).translate(_NOT_IN_XML)


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, at most so many Latin characters wide."""
    return layout.cut(legible(text)[: 8 * most], most)


def _set(found: Element, attributes: dict[str, str | float]) -> None:
    for name, given in attributes.items():
        found.set(name, legible(given) if isinstance(given, str) else f"{given:.1f}".removesuffix(".0"))
