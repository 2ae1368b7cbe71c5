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
    """What is exported: a title, the records with the newest first, and the walk to draw.

    `left_out` are the slugs of all records that were left out: memories about people, as many as `personal`, memories that no
    longer hold (`retired`), and the records that only retire one of these.
    """

    title: str
    records: tuple[Summary, ...]
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
    personal, retired = _find_memories(context, found)
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
    return Selection(title, kept, walk, left_out, 0 if with_memories else len(personal), retired)


def _find_memories(context: Context, found: Sequence[Summary]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the memories about people that hold, and all memories that no longer do, by what their files say."""
    personal, retired = set(), set()
    for one in found:
        document = records.read_document(context.root, one.path)
        if document is None or not (memory_type := stated_type(document.fields)):
            continue
        if one.is_retired:
            retired.add(one.slug)
        elif memory_type == PREFERENCE:
            personal.add(one.slug)
    return frozenset(personal), frozenset(retired)


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
