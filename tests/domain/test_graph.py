"""Walks over a graph: each edge once, at its smallest distance."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.links.graph import MAX_DEPTH, Walk, walk
from oracle.errors import UsageError

edges_of = st.lists(st.tuples(*[st.sampled_from("abcdef")] * 2), max_size=14)


def both(edges: list[tuple[str, str]], start: str, depth: int, direction: str = "out") -> Walk:
    def outgoing(nodes: list[str]) -> Iterator[tuple[str, str, str, str]]:
        return ((a, "t", b, "") for a, b in edges if a in nodes)

    def incoming(nodes: list[str]) -> Iterator[tuple[str, str, str, str]]:
        return ((a, "t", b, "") for a, b in edges if b in nodes)

    return walk(
        start, depth,
        outgoing=None if direction == "in" else outgoing, incoming=None if direction == "out" else incoming,
    )  # fmt: skip


def distances(edges: list[tuple[str, str]], start: str) -> dict[str, int]:
    """Distances by relaxing every edge over and over."""
    found = {start: 0}
    for _ in range(10):
        for a, b in edges:
            if a in found:
                found[b] = min(found.get(b, 99), found[a] + 1)
    return found


@given(edges_of, st.integers(0, 7))
def test_nodes_and_edges_within_the_depth(edges: list[tuple[str, str]], depth: int) -> None:
    found = both(edges, "a", depth)
    near = distances(edges, "a")
    assert found.nodes == tuple(sorted(node for node, distance in near.items() if distance <= depth))
    assert {(step.source, step.target) for step in found.edges} == {(a, b) for a, b in edges if near.get(a, 99) < depth}
    assert len(found.edges) == len({(step.source, step.target) for step in found.edges})
    for step in found.edges:
        assert step.depth == near[step.source] + 1


@given(edges_of, st.integers(0, 7), st.integers(1, 6))
def test_a_walk_that_met_enough_is_a_shorter_one(edges: list[tuple[str, str]], depth: int, most: int) -> None:
    found = walk(
        "a", depth, outgoing=lambda nodes: ((a, "t", b, "") for a, b in edges if a in nodes), incoming=None, most=most
    )
    assert found == both(edges, "a", found.depth)
    assert found.depth == depth or len(found.nodes) >= most
    if (
        found.nodes != both(edges, "a", found.depth - 1 if found.depth else 0).nodes
    ):  # else there was nothing farther away
        assert all(len(both(edges, "a", less).nodes) < most for less in range(1, found.depth))


@given(edges_of, st.integers(0, 7))
def test_directions_mirror_each_other(edges: list[tuple[str, str]], depth: int) -> None:
    turned = [(b, a) for a, b in edges]
    assert both(edges, "a", depth, "in").nodes == both(turned, "a", depth, "out").nodes
    assert both(edges, "a", depth, "both").nodes == both(edges + turned, "a", depth, "out").nodes


@pytest.mark.parametrize("depth", [-1, MAX_DEPTH + 1])
def test_depths_out_of_range(depth: int) -> None:
    with pytest.raises(UsageError):
        both([], "a", depth)
