"""The target that a person names, edges of the index, and walks along them.

Cheap to import: every `query_memory --backlinks` passes here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from oracle.app.context import Context
from oracle.domain.links.graph import DIRECTIONS, GraphStep, Walk, walk
from oracle.domain.names import NAMESPACES, RECORD_SUFFIXES, is_entity, parse_target
from oracle.errors import UsageError
from oracle.index.db import Connection
from oracle.index.read import query
from oracle.wording import say

BacklinkRow = tuple[str, str, str, int, int, str, str, str]
BacklinkLine = tuple[str, str, str, int, str | None, str | None]


def resolve(context: Context, text: str) -> str:
    """Return the target that a person named: a slug, a path, an entity, or a slug in the brackets of a link. Raises UsageError.

    A path is taken from the working directory if it leads to a file of the Root, else from the Root.
    """
    text = text.strip().removeprefix("[[").removesuffix("]]").strip()
    text = _from_here(context, text) or text
    if text.startswith("/"):
        base = os.path.realpath(context.root.path)
        name = parse_target(text, base if text.startswith(base + "/") else context.root.path)
    else:
        name = parse_target(text)
    stated = text.rstrip("/")
    if name.startswith("entity:file:") and ("./" in name or "//" in name):
        from oracle.domain.links.links import settle_target

        return settle_target(name)
    if is_entity(name) or (name.isascii() and not stated.endswith(RECORD_SUFFIXES)):
        return name
    from oracle.index.read import names

    suffix = stated[stated.rfind(".") :] if stated.endswith(RECORD_SUFFIXES) else ""
    return context.index.read(lambda connection: names.slug_meant(connection, name, suffix))


def _from_here(context: Context, text: str) -> str:
    """Return the path of a file of the Root that a text leads to from the working directory, "" for any other text."""
    if text.startswith("/") or not (text.startswith(("./", "../")) or text.endswith(RECORD_SUFFIXES)):
        return ""
    try:
        found = next((path for path in map(os.path.abspath, (text, f"{text}.md")) if os.path.isfile(path)), "")
    except (OSError, ValueError):  # the working directory is gone; a NUL
        return ""
    folder, name = os.path.split(found)
    for place in (found, f"{os.path.realpath(folder)}/{name}"):
        for base in (context.root.path, os.path.realpath(context.root.path)):
            if found and place.startswith(f"{base}/"):
                return place[len(base) + 1 :]
    return ""


def backlinks(context: Context, target: str, *, types: Sequence[str] = (), fresh: bool = False) -> list[BacklinkRow]:
    """Return the edges into a target: (source slug, type, snippet, line, mtime ns, path, retired by, how)."""
    check_types(types)
    name = resolve(context, target)
    return context.index.find(lambda connection: query.backlinks(connection, name, types), fresh=fresh)


def backlink_lines(context: Context, target: str, *, fresh: bool = False) -> list[BacklinkLine]:
    """Return the edges into a target as `_backlinks/` prints them: (source slug, type, snippet, mtime ns, retired by, how)."""
    name = resolve(context, target)
    return context.index.find(lambda connection: query.backlink_lines(connection, name), fresh=fresh)


def links(
    context: Context, slug: str, *, types: Sequence[str] = (), fresh: bool = False
) -> list[tuple[str, str, str, int, int]]:
    """Return the edges out of a record: (type, target, snippet, line, 1 when the target exists)."""
    check_types(types)
    name = resolve(context, slug)
    return context.index.find(lambda connection: query.links(connection, name, types), fresh=fresh)


def unresolved(
    context: Context, project: str = "", *, fresh: bool = False
) -> list[tuple[str, str, str, str, int, str]]:
    """Return the links to records that don't exist: (slug, path, type, as written, line, slug it would have)."""
    from oracle.index.read import loose_ends

    return context.index.read(lambda connection: loose_ends.unresolved(connection, project), fresh=fresh)


def entities(context: Context, namespace: str = "", *, top: int = 20, fresh: bool = False) -> list[tuple[str, int]]:
    """Return (entity, number of records that mention it), most mentioned first. Raises UsageError for an unknown namespace."""
    if namespace and namespace not in NAMESPACES:
        raise UsageError(
            say("Unknown namespace {namespace!r}.", namespace=namespace),
            hint=_suggest(namespace, NAMESPACES),
        )
    from oracle.index.read import names

    return context.index.find(lambda connection: names.entities(connection, namespace, top), fresh=fresh)


def graph(
    context: Context,
    target: str,
    *,
    depth: int = 1,
    direction: str = "out",
    types: Sequence[str] = (),
    most: int = 0,
    fresh: bool = False,
) -> Walk:
    """Walk the graph from a target; `direction` is out, in or both. Raises UsageError.

    A walk for a view goes no farther once it has met `most` nodes; 0 means no end.
    """
    check_types(types)
    start = resolve(context, target)
    if direction not in DIRECTIONS:
        raise UsageError(
            say("The direction {direction!r} is unknown.", direction=direction),
            hint=_suggest(direction, DIRECTIONS),
        )

    def explore(connection: Connection) -> Walk:
        return walk(
            start,
            depth,
            outgoing=None if direction == "in" else lambda nodes: query.outgoing(connection, nodes, types),
            incoming=None if direction == "out" else lambda nodes: query.incoming(connection, nodes, types),
            most=most,
        )

    return context.index.read(explore, fresh=fresh)


def among(context: Context, slugs: Sequence[str]) -> Walk:
    """Return the edges between these records, as a walk that has no start; records without one are left out."""
    wanted = set(slugs)

    def explore(connection: Connection) -> Walk:
        rows = [row for row in query.outgoing(connection, slugs) if row[2] in wanted and row[2] != row[0]]
        met = tuple(GraphStep(source, target, kind, snippet, 1) for source, kind, target, snippet in rows)
        return Walk("", 1, tuple(sorted({name for edge in met for name in (edge.source, edge.target)})), met)

    return context.index.read(explore)


def written_links(context: Context, slugs: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return, for each of these records, the records that it links to, by how each link is written."""
    found: dict[str, dict[str, str]] = {slug: {} for slug in slugs}
    for slug, ref, target in query.referred(context.index.database.connect(), slugs):
        found[slug][ref] = target
    return found


def count_backlinks(context: Context, targets: Iterable[str]) -> dict[str, int]:
    """Return how many edges lead into each target."""
    connection = context.index.database.connect()
    return {target: query.count_backlinks(connection, target) for target in targets}


def check_types(types: Sequence[str]) -> None:
    """Raise UsageError for an unknown type of edge."""
    if not types:
        return
    from oracle.domain.links.links import EDGE_TYPES

    for name in types:
        if name not in EDGE_TYPES:
            raise UsageError(
                say("Unknown edge type {name!r}.", name=name[:60]),
                hint=_suggest(name, EDGE_TYPES),
            )


def _suggest(word: str, choices: Sequence[str]) -> str:
    from oracle.domain.spelling import suggest  # a query without a mistake does without it

    return suggest(word, choices)
