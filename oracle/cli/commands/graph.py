"""`oracle graph`: walk the graph, and print it as a tree, text, Mermaid, Graphviz, SVG or JSON.

A name is a label there, never a piece of the language.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from oracle.cli.listing import chain_json
from oracle.cli.options import Fresh, Full, Target, Types, option, single
from oracle.cli.output import columns, is_terminal, write_out
from oracle.cli.session import Call, needs_extra
from oracle.domain.layout import NARROWEST, shorten, wrap
from oracle.domain.links.graph import MOST_DRAWN, branches_of, cut_to
from oracle.domain.records.chains import replaced_by
from oracle.domain.spelling import suggest
from oracle.errors import UsageError
from oracle.wording import joined, say, say_many, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from oracle.app.context import Context
    from oracle.domain.links.graph import Walk

    Chains = Mapping[str, Sequence[str]]
    Marks = Mapping[str, str]
    """Which nodes do not hold: missing, superseded or retired."""

_DRAWINGS = ("mermaid", "dot")
"""Forms that another program draws: like our own drawing they hold at most MOST_DRAWN nodes."""

_PLAIN_IN_MERMAID = " ._-/:+@,()=!?"

graph_app = single()


@graph_app.add(example="oracle graph retry-webhooks --depth 2 --direction both", has_hub=True)
def graph(
    call: Call,
    target: Target,
    *,
    depth: Annotated[int, option("--depth N", "How many steps to walk.", min=0, max=32)] = 1,
    direction: Annotated[
        str, option("--direction out|in|both", "Which way to walk (default out; in from an entity).")
    ] = "",
    types: Types = None,
    form: Annotated[
        str, option("--format text|json|mermaid|dot|svg", "How to print it (a tree on a terminal).")
    ] = "text",
    full: Full = False,
    fresh: Fresh = False,
) -> None:
    """Walk the graph from a record or an entity."""
    from oracle.app.delivery.task_names import pointing_to_task
    from oracle.app.records import graph, listing, naming

    call.as_json = call.as_json or form == "json"
    if form not in ("json", "svg", *FORMS):
        raise UsageError(say("Unknown format {form!r}.", form=form), hint=suggest(form, ("json", "svg", *FORMS)))
    with call.context("edges") as context, pointing_to_task(context, target):
        name = naming.find(context, target, fresh=fresh)
        direction = direction or ("in" if name.startswith("entity:") else "out")  # nothing leads out of an entity
        walk = graph.graph(context, name, depth=depth, direction=direction, types=types or ())
        if form == "svg":
            write_out(_as_svg(context, walk))
            return
        nodes = len(walk.nodes)
        if form in _DRAWINGS and not call.as_json:
            walk = cut_to(walk, MOST_DRAWN)
        chains, marks = listing.chains(context, walk.nodes), listing.marks(context, walk.nodes)
    if call.as_json:
        call.print_json({**as_json(walk, chains, marks), **call.standing})
    elif form == "text" and is_terminal(sys.stdout):
        write_out(as_tree(walk, marks, is_full=full))
    else:
        write_out(FORMS[form](walk, chains, marks))
        if left_out := nodes - len(walk.nodes):
            call.note(say_many("{n} more node is not drawn", "{n} more nodes are not drawn", n=left_out))


def _as_svg(context: Context, walk: Walk) -> str:
    """Return the walk as a picture. Its links are the paths of the records, relative to the Root."""
    from urllib.parse import quote

    with needs_extra("web"):
        from oracle.app.pages import graph as drawing

        found = drawing.gather(context, walk)
        paths = {node.name: quote(node.path) for node in found.nodes}
        return drawing.draw(found, link=paths.__getitem__, is_styled=True) + "\n"


def as_json(walk: Walk, chains: Chains, marks: Marks) -> dict[str, object]:
    """Return the JSON form of a walk."""
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


def as_tree(walk: Walk, marks: Marks, *, is_full: bool = False) -> str:
    """Return the walk as a tree for a terminal: each edge below the node nearer to the start; `←` leads to that node.

    Where no more indentation fits, the number of the step says how deep an edge is.
    """
    short = {} if is_full else shorten(name for name in walk.nodes if marks.get(name) != "missing")
    branches = branches_of(walk)

    def label(name: str) -> str:
        mark = f" [{marks[name]}]" if name in marks else ""
        return visible(short.get(name, name)) + mark

    def below(node: str, indent: str) -> Iterator[str]:
        is_deep = columns() - len(indent) < NARROWEST + 6
        for at, (edge, name, is_new) in enumerate(branches.get(node, [])):
            is_last = at == len(branches[node]) - 1
            arrow = "→" if edge.source == node else "←"
            step = f"{edge.depth}: {visible(edge.type)}" if is_deep else visible(edge.type)
            first, *rest = wrap(f"{step} {arrow} {label(name)}", columns() - len(indent) - 3)
            yield f"{indent}{'└─' if is_last else '├─'} {first}"
            deeper = indent + ("   " if is_last else "│  ")
            yield from (f"{deeper}{line}" for line in rest)
            if is_new:
                yield from below(name, indent if is_deep else deeper)

    return "\n".join([*wrap(label(walk.root), columns()), *below(walk.root, "")]) + "\n"


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
