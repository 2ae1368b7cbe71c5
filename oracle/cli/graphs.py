"""Print a walk as text, Mermaid, Graphviz or JSON; a name is a label there, never a piece of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.cli.printing import visible
from oracle.cli.session import chain_json, replaced_by
from oracle.wording import joined, say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from oracle.domain.links.graph import Walk

    Chains = Mapping[str, Sequence[str]]
    Marks = Mapping[str, str]

_PLAIN_IN_MERMAID = " ._-/:+@,()=!?"


def as_json(walk: Walk, chains: Chains, marks: Marks) -> dict[str, object]:
    """Return the JSON form of a walk.

    `marks` says which of its nodes do not hold (missing, superseded, retired), `chains` what stands in their place.
    """
    edges = [
        {
            "from": edge.source,
            "to": edge.target,
            "type": edge.type,
            "snippet": edge.snippet,
            "depth": edge.depth,
            "resolved": marks.get(edge.target) != "missing",
        }
        for edge in walk.edges
    ]
    return {
        "root": walk.root,
        "depth": walk.depth,
        "nodes": list(walk.nodes),
        "edges": edges,
        "statuses": dict(marks),
        "chains": {name: chain_json(chain)["chain"] for name, chain in chains.items()},
    }


def as_text(walk: Walk, chains: Chains, marks: Marks) -> str:
    """Return one line an edge, farther ones indented further; nodes that do not hold are marked."""
    names = {name: _name(name, chains, marks) for name in walk.nodes}
    lines = [
        f"{'  ' * (edge.depth - 1)}{names[edge.source]} --{visible(edge.type)}--> {names[edge.target]}"
        for edge in walk.edges
    ]
    return "\n".join(lines or [names[walk.root]]) + "\n"


def as_mermaid(walk: Walk, chains: Chains, marks: Marks) -> str:
    """Return a Mermaid flowchart."""
    numbers = {name: f"n{number}" for number, name in enumerate(walk.nodes)}
    nodes = [f'  {numbers[name]}["{escape_mermaid(_name(name, chains, marks))}"]' for name in walk.nodes]
    edges = [
        f'  {numbers[edge.source]} -->|"{escape_mermaid(edge.type)}"| {numbers[edge.target]}' for edge in walk.edges
    ]
    return "\n".join(["flowchart LR", *nodes, *edges]) + "\n"


def as_dot(walk: Walk, chains: Chains, marks: Marks) -> str:
    """Return a Graphviz digraph."""
    numbers = {name: f"n{number}" for number, name in enumerate(walk.nodes)}
    nodes = [f'  {numbers[name]} [label="{escape_dot(_name(name, chains, marks))}"];' for name in walk.nodes]
    edges = [
        f'  {numbers[edge.source]} -> {numbers[edge.target]} [label="{escape_dot(edge.type)}"];' for edge in walk.edges
    ]
    return "\n".join(["digraph oracle {", "  rankdir=LR;", "  node [shape=box];", *nodes, *edges, "}"]) + "\n"


def escape_mermaid(text: str) -> str:
    """Return a label for double quotes: letters of any script as they are, what Mermaid could read as its own by number."""
    return "".join(
        char if char.isalnum() or char in _PLAIN_IN_MERMAID or ord(char) > 127 else f"#{ord(char)};"
        for char in visible(text)
    )


def escape_dot(text: str) -> str:
    """Return a label for double quotes; Graphviz reads backslashes and HTML entities in them."""
    return visible(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def _name(name: str, chains: Chains, marks: Marks) -> str:
    parts = list(filter(None, (marks.get(name, ""), replaced_by(chains.get(name, ())))))
    return visible(say("{name} [{mark}]", name=name, mark=joined(" ", parts)) if parts else name)


FORMS: dict[str, Callable[[Walk, Chains, Marks], str]] = {"text": as_text, "mermaid": as_mermaid, "dot": as_dot}
