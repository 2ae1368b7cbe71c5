"""Measure the drawings: the time of a graph and of a timeline, as ratios to a fixed piece of work in the same process.

    benchmarks/drawings.py [--times 15] [--nodes 200]

The bar for 200 nodes is 250 ms on a machine on which the work takes 20 ms: a ratio of 12.5.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle.app.pages import graph

if TYPE_CHECKING:
    from collections.abc import Callable

BAR = 12.5
WORK = 300_000
"""Steps of a plain loop: about 20 ms on the machine for which the bar was set."""


def work() -> int:
    """Do what everything is compared with."""
    total = 0
    for number in range(WORK):
        total += number & 7
    return total


def web(nodes: int, edges: int) -> graph.Neighbourhood:
    """Return a graph in which later nodes link to earlier ones."""
    chance = random.Random(0)
    names = [f"projects/shop/decision/{number:04}-a-record-with-a-long-name" for number in range(nodes)]
    pairs = {(names[at], names[int(at * chance.random() ** 2)], "references-record") for at in range(1, nodes)}
    while len(pairs) < edges:
        one, other = chance.sample(names, 2)
        pairs.add((one, other, "supports"))
    drawn = (graph.DrawnNode(name, f"A title of {name}", "decision", "", at % 9, name) for at, name in enumerate(names))
    return graph.Neighbourhood(names[0], tuple(drawn), tuple(sorted(pairs)), 0)


def milliseconds(function: Callable[[], object]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) * 1000


def main() -> int:
    """Print the ratio; exit 1 when it is over the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--nodes", type=int, default=200)
    given = parser.parse_args()
    found = web(given.nodes, 2 * given.nodes)
    graph.draw(found, link=str)  # it loads igraph
    pairs = [(milliseconds(work), milliseconds(lambda: graph.draw(found, link=str))) for _ in range(given.times)]
    ratio = statistics.median(drawn / plain for plain, drawn in pairs)
    plain, drawn = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"graph of {given.nodes} nodes: {drawn:.0f} ms, {ratio:.1f} times the work of {plain:.0f} ms (bar {BAR})")
    return int(ratio > BAR)


if __name__ == "__main__":
    sys.exit(main())
