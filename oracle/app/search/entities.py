"""The entities that a question names, by the link patterns of its project."""

from __future__ import annotations

from oracle.domain.links.entity_query import Asked, entities_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.context import Context


def entities_of(context: Context, text: str, project: str = "") -> list[Asked]:
    """Return the entities that a text names, by the patterns of the project."""
    if not entities_in(text):
        return []
    from oracle.store.root.configuration import load_patterns

    return entities_in(text, load_patterns(context.root, project, report=lambda path, reason: None))
