"""Which records a page to send holds: those that were asked for, without memories that are nobody else's business."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.app.records import graph, listing, naming
from oracle.domain.records.drafts import is_retirement
from oracle.domain.records.memories import PREFERENCE, stated_type
from oracle.domain.values import value
from oracle.errors import NotInMemory
from oracle.store.markdown import records
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.context import Context
    from oracle.app.records.views import Summary
    from oracle.domain.links.graph import Walk


@value
class Selection:
    """What is exported: a title, the records with the newest first, the bytes of their texts, and the walk to draw.

    `left_out` are the slugs of all records that were left out: memories about people, as many as `personal`, memories that no
    longer hold (`retired`), and the records that only retire one of these.
    """

    title: str
    records: tuple[Summary, ...]
    size: int
    walk: Walk
    left_out: frozenset[str]
    personal: int
    retired: frozenset[str]


def select(
    context: Context, *, project: str = "", target: str = "", depth: int = 1, with_memories: bool = False
) -> Selection:
    """Return the records of a project, or those up to `depth` steps around a target, or all. Raises NotInMemory, UsageError.

    Memories of people and how to work with them are left out unless `with_memories`; those that no longer hold always.
    """
    name = naming.find(context, target) if target else ""
    if name:
        walk = graph.graph(context, name, depth=depth, direction="both")
        near = listing.find_records(context, walk.nodes).values()
        found = [one for one in near if one is not None and project in ("", one.project)]
        found.sort(key=lambda one: (one.sort_ts, one.slug), reverse=True)
        title: str = say("Records around {target}", target=name.removeprefix("entity:"))
    else:
        found = listing.list_records(context, {"project": project}, newest_first=True)
        title = say("Records of {project}", project=project) if project else say("Records of all projects")
    types, sizes = _read(context, found)
    retired = frozenset(one.slug for one in found if one.slug in types and one.is_retired)
    personal = frozenset(slug for slug, of_type in types.items() if of_type == PREFERENCE) - retired
    left_out = retired if with_memories else personal | retired
    ends = {one.retired_by for one in found if one.slug in left_out}
    left_out |= {one.slug for one in found if one.slug in ends and is_retirement(one.title)}
    kept = tuple(one for one in found if one.slug not in left_out)
    if not kept or name in left_out:
        raise _nothing_to_export(is_personal=bool(personal) and not with_memories)
    if not name or project:  # a node of another project would tell its title
        walk = graph.among(context, [one.slug for one in kept])
    elif left_out:
        walk = _without(walk, left_out)
    size = sum(sizes.get(one.slug, 0) for one in kept)
    return Selection(title, kept, size, walk, left_out, 0 if with_memories else len(personal), retired)


def _read(context: Context, found: Sequence[Summary]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the type of each record that its file states to be a memory, and the bytes of each record's text."""
    types, sizes = {}, {}
    for one in found:
        document = records.read_document(context.root, one.path)
        if document is None:
            continue
        sizes[one.slug] = len(document.body.encode("utf-8", "surrogatepass"))
        if memory_type := stated_type(document.fields):
            types[one.slug] = memory_type
    return types, sizes


def _without(walk: Walk, left_out: frozenset[str]) -> Walk:
    edges = tuple(edge for edge in walk.edges if left_out.isdisjoint((edge.source, edge.target)))
    return walk._replace(nodes=tuple(name for name in walk.nodes if name not in left_out), edges=edges)


def _nothing_to_export(*, is_personal: bool) -> NotInMemory:
    return NotInMemory(
        say("not_in_memory_db: nothing to export was found."),
        hint=say("What was found are memories about people; --with-memories includes them.")
        if is_personal
        else say("See `oracle list` and `oracle graph`."),
    )
