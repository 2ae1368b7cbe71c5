"""Walk the graph breadth first over any source of edges. Pure: the edges come from a function. Cheap to import."""

from __future__ import annotations

from collections import Counter, namedtuple

from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False

DIRECTIONS = ("out", "in", "both")
MAX_DEPTH = 32

MOST_DRAWN = 200
"""Nodes of a walk that are drawn."""

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NamedTuple

    class GraphStep(NamedTuple):
        """One edge met on a walk, with the distance (1 and up) at which it was met."""

        source: str
        target: str
        type: str
        snippet: str
        depth: int

    class Walk(NamedTuple):
        """What a walk found: the nodes in alphabetical order, the edges in the order in which they were met.

        `depth` is how far it went: less than was asked for where it had met enough before.
        """

        root: str
        depth: int
        nodes: tuple[str, ...]
        edges: tuple[GraphStep, ...]

    EdgeRow = tuple[str, str, str, str]
    """(source, type, target, snippet)"""

    Neighbours = Callable[[list[str]], Iterable[EdgeRow]]
    """Given nodes of one frontier, yield their edges."""

else:
    GraphStep = namedtuple("Step", "source target type snippet depth")
    Walk = namedtuple("Walk", "root depth nodes edges")


def walk(start: str, depth: int, *, outgoing: Neighbours | None, incoming: Neighbours | None, most: int = 0) -> Walk:
    """Walk from `start` along outgoing and/or incoming edges; each edge is reported once, at its smallest depth.

    `depth` 0 gives the start alone. The walk goes no farther once it has met `most` nodes, unless that is 0.

    Raises UsageError for a negative depth or one over 32.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise UsageError(
            say("The depth {depth} is out of range.", depth=depth),
            hint=say("Choose a depth from 0 to {max_depth}.", max_depth=MAX_DEPTH),
        )
    seen, frontier = {start}, [start]
    met: dict[tuple[str, str, str], GraphStep] = {}
    for level in range(1, depth + 1):
        reached: dict[str, None] = {}
        for source, kind, target, snippet in _edges(frontier, outgoing, incoming):
            met.setdefault((source, kind, target), GraphStep(source, target, kind, snippet, level))
            reached.update(dict.fromkeys(node for node in (source, target) if node not in seen))
        seen.update(reached)
        frontier = list(reached)
        if not frontier:
            break
        if 0 < most <= len(seen):
            depth = level
            break
    return Walk(start, depth, tuple(sorted(seen)), tuple(met.values()))


def by_nearness(walk: Walk) -> list[str]:
    """Return the nodes, those nearest to the start first, and among these the most linked."""
    linked = Counter(name for edge in walk.edges for name in (edge.source, edge.target))
    distance = {walk.root: 0}
    for edge in walk.edges:
        for name in (edge.source, edge.target):
            distance.setdefault(name, edge.depth)
    return sorted(walk.nodes, key=lambda name: (distance.get(name, 0), -linked[name], name))


def cut_to(walk: Walk, most: int) -> Walk:
    """Return a walk with at most `most` nodes, the nearest, and the edges between them."""
    if len(walk.nodes) <= most:
        return walk
    kept = set(by_nearness(walk)[:most])
    edges = tuple(edge for edge in walk.edges if {edge.source, edge.target} <= kept)
    return Walk(walk.root, walk.depth, tuple(name for name in walk.nodes if name in kept), edges)


def _edges(frontier: list[str], outgoing: Neighbours | None, incoming: Neighbours | None) -> Iterable[EdgeRow]:
    if outgoing is not None:
        yield from outgoing(frontier)
    if incoming is not None:
        yield from incoming(frontier)


def branches_of(walk: Walk) -> dict[str, list[tuple[GraphStep, str, bool]]]:
    """Return of each node its edges that lead on: the edge, the node at its other end, and whether that is met first here."""
    distance = {walk.root: 0}
    found: dict[str, list[tuple[GraphStep, str, bool]]] = {}
    for edge in walk.edges:
        ends = (edge.source, edge.target)
        near, far = ends if distance.get(edge.source) == edge.depth - 1 else ends[::-1]
        found.setdefault(near, []).append((edge, far, far not in distance))
        distance.setdefault(far, edge.depth)
    return found
