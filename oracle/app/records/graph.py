"""Walk the graph of the index. Cheap to import: on the way of `query_memory --graph`."""

from __future__ import annotations

from oracle.domain.links.graph import DIRECTIONS, walk
from oracle.errors import UsageError
from oracle.index.read import query
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.api import Oracle
    from oracle.domain.links.graph import Walk
    from oracle.index.db import Connection


def walk_graph(oracle: Oracle, target: str, *, depth: int, direction: str, types: Sequence[str], fresh: bool) -> Walk:
    """Walk the graph from a target along outgoing edges, incoming ones, or both. Raises UsageError."""
    if direction not in DIRECTIONS:
        raise UsageError(
            say("The direction {direction!r} is unknown.", direction=direction),
            hint=say("Choose one of {choices}.", choices=DIRECTIONS),
        )

    def explore(connection: Connection) -> Walk:
        return walk(
            target,
            depth,
            outgoing=None if direction == "in" else lambda nodes: query.outgoing(connection, nodes, types),
            incoming=None if direction == "out" else lambda nodes: query.incoming(connection, nodes, types),
        )

    return oracle.index.read(explore, fresh=fresh)
