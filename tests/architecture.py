"""Draw the package graphs of references/architecture.md from the imports of the code.

    python -m tests.architecture            print the graphs
    python -m tests.architecture --write    renew them in the page

An arrow means "imports". Arrows that follow from two others are left out. tests/test_architecture.py fails when the page is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import grimp

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "references" / "architecture.md"
EVERYWHERE = {"errors", "wording"}
"""Modules that every package may import; the page says so, and the picture leaves them out."""
BLOCK = re.compile(
    r"(<!-- graph of (oracle[\w.]*), renewed by python -m tests\.architecture --write -->\n)```mermaid\n.*?```\n",
    re.DOTALL,
)

Edges = set[tuple[str, str]]


def imports() -> grimp.ImportGraph:
    """Return who imports whom in `oracle`, imports inside functions and for type checking among them."""
    return grimp.build_graph("oracle", cache_dir=None)


def rooms(graph: grimp.ImportGraph, package: str) -> set[str]:
    return {module.removeprefix(f"{package}.") for module in graph.find_children(package)} - EVERYWHERE


def edges(graph: grimp.ImportGraph, package: str) -> Edges:
    """Return the pairs of rooms of `package` of which the first imports something of the second."""
    found = set()
    depth = package.count(".") + 1
    for importer in graph.find_descendants(package):
        for imported in graph.find_modules_directly_imported_by(importer):
            if imported.startswith(f"{package}."):
                found.add((importer.split(".")[depth], imported.split(".")[depth]))
    return {(one, other) for one, other in found if one != other and not {one, other} & EVERYWHERE}


def reachable(pairs: Edges, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        waiting += [other for one, other in pairs if one == here and other not in seen]
        seen |= {other for one, other in pairs if one == here}
    return seen


def reduced(pairs: Edges) -> Edges:
    """Return the arrows that do not follow from others. Raises ValueError where the rooms import each other in a circle."""
    circles = sorted({one for one, _ in pairs if one in reachable(pairs, one)})
    if circles:
        raise ValueError(f"these packages import each other in a circle: {', '.join(circles)}")
    return {pair for pair in pairs if pair[1] not in reachable(pairs - {pair}, pair[0])}


def mermaid(graph: grimp.ImportGraph, package: str) -> str:
    drawn = reduced(edges(graph, package))
    alone = sorted(rooms(graph, package) - {name for pair in drawn for name in pair})
    lines = [*(f"  {one} --> {other}" for one, other in sorted(drawn)), *(f"  {name}" for name in alone)]
    return "\n".join(["```mermaid", "graph TD", *lines, "```", ""])


def renewed(page: str) -> str:
    """Return the page with each of its graphs as the code has it."""
    graph = imports()
    return BLOCK.sub(lambda found: found[1] + mermaid(graph, found[2]), page)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.architecture", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the graphs in references/architecture.md")
    page = PAGE.read_text(encoding="utf-8")
    if parser.parse_args().write:
        PAGE.write_text(renewed(page), encoding="utf-8")
    else:
        sys.stdout.write("\n".join(found[0] for found in BLOCK.finditer(renewed(page))))


if __name__ == "__main__":
    main()
