"""Draw the graph around a target, or between the records of a page.

The same graph gives the same picture, and a small change of it moves the nodes little: the layout starts from a tree in the
order of the names, and a fixed number of steps relaxes it. Nothing in it is random.
"""

from __future__ import annotations

import random
from collections import Counter
from math import ceil, dist, hypot, sqrt
from threading import Lock
from typing import TYPE_CHECKING

from oracle.app.pages import svg
from oracle.app.records import graph, listing
from oracle.domain.layout import cells
from oracle.domain.links.graph import MOST_DRAWN, by_nearness
from oracle.domain.names import is_entity, say_state
from oracle.domain.values import value
from oracle.wording import say_many

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from xml.etree.ElementTree import Element

    from oracle.app.context import Context
    from oracle.app.pages.svg import Link
    from oracle.domain.links.graph import Walk

    Point = tuple[float, float]
    Points = dict[str, Point]
    Box = tuple[float, float, float, float]

_EDGE = 92.0
"""Pixels of an edge, about."""

_STEPS, _HEAT = 100, 0.1
"""How many steps relax the layout, and how far a node moves in the first of them."""

_FAR = 1e6
_one_at_a_time = Lock()
"""igraph has one source of random numbers for the whole process."""

_MARGIN = 30.0
_LEAST_WIDTH = 480.0
_MOST_CELLS = 30


@value
class DrawnNode:
    """A node of a drawing. `path` is that of its record, `status` says `missing`, `superseded` or `retired`, or is ""."""

    name: str
    title: str
    kind: str
    status: str
    backlinks: int
    path: str


@value
class Neighbourhood:
    """What is drawn: the nodes, those nearest to the root first; the edges between them (source, target, type)."""

    root: str
    nodes: tuple[DrawnNode, ...]
    edges: tuple[tuple[str, str, str], ...]
    left_out: int


def gather(context: Context, walk: Walk, *, most: int = MOST_DRAWN) -> Neighbourhood:
    """Return what to draw of a walk: of more than `most` nodes the nearest, and among these the most linked."""
    names = by_nearness(walk)
    kept = names[:most]
    records = listing.find_records(context, kept)
    counts = graph.count_backlinks(context, kept)
    nodes = []
    for name in kept:
        record = records.get(name)
        if record is not None:
            status = record.effective_status if record.is_retired else ""
            fields = (record.title or name, record.kind, status, counts[name], record.path)
        elif is_entity(name):
            fields = (name.removeprefix("entity:"), "entity", "", counts[name], "")
        else:
            fields = (name, "missing", "missing", counts[name], "")
        nodes.append(DrawnNode(name, *fields))
    inside = set(kept)
    edges = [(one.source, one.target, one.type) for one in walk.edges if {one.source, one.target} <= inside]
    return Neighbourhood(walk.root, tuple(nodes), tuple(sorted(edges)), len(names) - len(kept))


def draw(found: Neighbourhood, *, link: Link, more: str = "", is_styled: bool = False) -> str:
    """Return the graph as SVG. `link` returns the address of a node, `more` is the address of a larger drawing."""
    places, width, height = _place_on_paper(found)
    statuses = {node.status for node in found.nodes}
    legend = svg.Legend({node.kind for node in found.nodes}, {kind for *_, kind in found.edges}, statuses, width)
    legend.explain_sizes()
    addresses = {node.name: link(node.name) for node in found.nodes}
    label = say_many("Graph of {n} node", "Graph of {n} nodes", n=len(places))
    has_links = bool(more) or any(addresses.values())
    root = svg.drawing("graph", label, width, height + legend.height, has_links=has_links)
    head = svg.arrowhead(root, "head-graph")
    stage = svg.element(root, "g", class_="stage")
    radii = {node.name: _radius(node) for node in found.nodes}
    _draw_edges(stage, found, places, radii, head)
    labels = _place_labels(found.nodes, places, radii, width)
    for node in found.nodes:
        _draw_node(svg.anchor(stage, addresses[node.name]), node, places[node.name], labels.get(node.name), found.root)
    if found.left_out:
        sign = svg.anchor(root, more)
        sign.set("class", "more")
        text = say_many("{n} more node is not drawn", "{n} more nodes are not drawn", n=found.left_out)
        svg.element(sign, "text", text, x=width - 10, y=height - 6, text_anchor="end")
    legend.draw(root, height, head)
    return svg.printed(root, is_styled=is_styled)


# Where things are -----------------------------------------------------------------------------------------------------


def place(found: Neighbourhood) -> Points:
    """Return where each node is, in lengths of an edge."""
    names = sorted(node.name for node in found.nodes)
    number = {name: at for at, name in enumerate(names)}
    pairs = sorted({tuple(sorted((number[one], number[other]))) for one, other, _ in found.edges if one != other})
    if not pairs:
        return {name: (at % 4 * 1.5, at // 4 * 1.0) for at, name in enumerate(names)}
    return dict(zip(names, _relax(len(names), pairs, number.get(found.root, -1)), strict=True))


def _relax(count: int, pairs: Sequence[tuple[int, ...]], root: int) -> list[tuple[float, float]]:
    """Return the places of nodes by number: those of a tree around the root, moved apart by a fixed number of steps."""
    import igraph  # half a second to load

    tree, top = _spanning_tree(count, pairs, root)
    begun = [tuple(one) for one in igraph.Graph(count + 1, tree).layout_reingold_tilford_circular(root=[top])][:count]
    unit = 0.75 * sqrt(count) / max(hypot(*point) for point in begun)
    # Without bounds the layout is turned at random in the end.
    bounds = {"minx": -_FAR, "maxx": _FAR, "miny": -_FAR, "maxy": _FAR}
    with _one_at_a_time:
        igraph.set_random_number_generator(random.Random(count))  # noqa: S311 - it shakes the nodes a little
        try:
            relaxed = igraph.Graph(count, pairs).layout_fruchterman_reingold(
                seed=[(x * unit, y * unit) for x, y in begun],
                niter=_STEPS,
                start_temp=_HEAT,
                grid="nogrid",
                **{name: [bound] * count for name, bound in bounds.items()},
            )
        finally:
            igraph.set_random_number_generator(random)
    return [(x, y) for x, y in relaxed]


def _spanning_tree(count: int, pairs: Sequence[tuple[int, ...]], root: int) -> tuple[list[tuple[int, int]], int]:
    """Return a tree of shortest ways, and its top: the root, or the node with number `count` above the parts of a graph."""
    near: dict[int, list[int]] = {at: [] for at in range(count)}
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    seen: set[int] = set()
    tops, tree = [], []
    for start in sorted(near, key=lambda at: (at != root, -len(near[at]), at)):
        if start in seen:
            continue
        tops.append(start)
        seen.add(start)
        waiting = [start]
        for here in waiting:
            new = [at for at in near[here] if at not in seen]
            seen.update(new)
            waiting += new
            tree += [(here, at) for at in new]
    if len(tops) == 1:
        return tree, tops[0]
    return [*((count, top) for top in sorted(tops)), *tree], count


def _place_on_paper(found: Neighbourhood) -> tuple[Points, float, float]:
    """Return the places in pixels, and the width and height of the paper, with room for labels at its sides."""
    points = place(found)
    left, top = (min(point[axis] for point in points.values()) for axis in (0, 1))
    right, bottom = (max(point[axis] for point in points.values()) for axis in (0, 1))
    aside = _MARGIN + _MOST_CELLS * svg.CELL / 2
    width = max(_LEAST_WIDTH, (right - left) * _EDGE + 2 * aside)
    height = (bottom - top) * _EDGE + 2 * _MARGIN + svg.LINE
    aside = (width - (right - left) * _EDGE) / 2
    placed = {name: ((x - left) * _EDGE + aside, (y - top) * _EDGE + _MARGIN) for name, (x, y) in points.items()}
    return placed, float(ceil(width)), float(ceil(height))


def _radius(node: DrawnNode) -> float:
    return min(5 + 1.8 * sqrt(node.backlinks), 18.0)


def _bends(edges: Sequence[tuple[str, str, str]]) -> list[float]:
    """Return how far each edge is bent aside, in pixels: several between the same two nodes are drawn beside each other."""
    met: Counter[tuple[str, ...]] = Counter()
    found = []
    for source, target, _ in edges:
        pair = tuple(sorted((source, target)))
        step = met[pair]
        met[pair] += 1
        side = 1 if source < target else -1
        found.append(side * ceil(step / 2) * (18.0 if step % 2 else -18.0))
    return found


def _place_labels(
    nodes: Sequence[DrawnNode], places: Points, radii: Mapping[str, float], width: float
) -> dict[str, tuple[float, float, str, str]]:
    """Return (x, y, anchor, text) of the labels that have room, those of the nodes with most backlinks first."""
    taken: list[Box] = [
        (x - radii[name], y - radii[name], x + radii[name], y + radii[name]) for name, (x, y) in places.items()
    ]
    found = {}
    for node in sorted(nodes, key=lambda one: (-one.backlinks, one.name)):
        text = svg.cut(node.title, _MOST_CELLS)
        (x, y), away, wide = places[node.name], 1.25 * radii[node.name] + 3, cells(text) * svg.CELL
        for at, down, side, left in (
            (x + away, y + 4, "start", x + away),
            (x - away, y + 4, "end", x - away - wide),
            (x, y + away + 9, "middle", x - wide / 2),
            (x, y - away - 1, "middle", x - wide / 2),
        ):
            box = (left, down - 9, left + wide, down + 2)
            if box[0] > 2 and box[2] < width - 2 and not any(_meet(box, other) for other in taken):
                taken.append(box)
                found[node.name] = (at, down, side, text)
                break
    return found


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# What is drawn --------------------------------------------------------------------------------------------------------


def _draw_edges(stage: Element, found: Neighbourhood, places: Points, radii: Mapping[str, float], head: str) -> None:
    """Draw the edges of each type in a group of its own, which holds their style once."""
    groups: dict[str, Element] = {}
    for (source, target, kind), bend in zip(found.edges, _bends(found.edges), strict=True):
        way = _way(places[source], places[target], radii[source], radii[target] + 3, bend)
        if not way:
            continue
        if kind not in groups:
            groups[kind] = svg.element(stage, "g", class_=f"edge {kind}", marker_end=head)
            svg.element(groups[kind], "title", kind)
        svg.element(groups[kind], "path", d=way)


def _way(start: Point, end: Point, before: float, behind: float, bend: float) -> str:
    """Return the path between two places that leaves out so many pixels at its ends, "" for nothing between."""
    length = dist(start, end)
    if length < before + behind:
        return ""
    along = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)
    a = (start[0] + along[0] * before, start[1] + along[1] * before)
    b = (end[0] - along[0] * behind, end[1] - along[1] * behind)
    if not bend:
        return f"M{a[0]:.0f} {a[1]:.0f}L{b[0]:.0f} {b[1]:.0f}"
    middle = ((a[0] + b[0]) / 2 - along[1] * bend * 2, (a[1] + b[1]) / 2 + along[0] * bend * 2)
    return f"M{a[0]:.0f} {a[1]:.0f}Q{middle[0]:.0f} {middle[1]:.0f} {b[0]:.0f} {b[1]:.0f}"


def _draw_node(
    group: Element, node: DrawnNode, point: tuple[float, float], label: tuple[float, float, str, str] | None, root: str
) -> None:
    classes = ["node", *(["root"] if node.name == root else ()), *(["retired"] if node.status else ())]
    group.set("class", " ".join(classes))
    shown = node.title if group.get("href") or node.name == node.title else f"{node.title} · {node.name}"
    svg.element(group, "title", f"{shown} · {svg.legible(say_state(node.status))}" if node.status else shown)
    svg.mark(group, node.kind, *point, _radius(node))
    if label is not None:
        x, y, side, text = label
        svg.element(group, "text", text, x=x, y=y, **({} if side == "start" else {"text_anchor": side}))
