"""Edges out of prose: what a text mentions, and the words by which it points at records. Pure."""

from __future__ import annotations

from oracle.domain.links.pages import (
    COMMIT,
    COMPONENT,
    FILE,
    KEY,
    PROJECT,
    RECORD,
    TASK,
    URL,
    Extraction,
    Mention,
    Page,
    Reference,
)
from oracle.domain.values import value

__all__ = [
    "DEFAULT_PATTERNS",
    "EDGE_TYPES",
    "RELATIONS",
    "Extraction",
    "Mention",
    "Patterns",
    "Reference",
    "extract",
]

RELATIONS = ("supersedes", "contradicts", "supports", "extends", "derived-from", "related-task", "retires")
CLAIMS = {"supersedes": "claims-supersedes", "retires": "claims-retires"}
"""What a relation is called that would end a record of another seat, and so has no effect."""
EDGE_TYPES = (TASK, COMMIT, FILE, URL, KEY, PROJECT, COMPONENT, RECORD, *RELATIONS, *CLAIMS.values())


@value
class Patterns:
    """What a Root or project configures: task prefixes (None: any but well-known standards) and component suffixes.

    With `keeps_parents` a path keeps the `../` at its head.
    """

    task_prefixes: frozenset[str] | None = None
    component_suffixes: tuple[str, ...] = ("Phasic", "Physics", "View", "Engine", "Layer", "Component")
    keeps_parents: bool = False


DEFAULT_PATTERNS = Patterns()


def extract(text: str, patterns: Patterns = DEFAULT_PATTERNS) -> Extraction:
    """Read the edges of a record's body (front matter cut off); code and comments give none. Never raises.

    What one reader has taken is hidden from the next. A reader is called only when the text holds a mark that all of its finds
    share. Readers are loaded when a text is first read: programs that only resolve links need none.
    """
    from oracle.domain.links import addresses, entities, references
    from oracle.domain.markdown.masks import blank, mask_code

    page = Page(text, keeps_parents=patterns.keeps_parents)
    prose = keys = references.hide_comments(mask_code(text))
    if joints := entities.find_joints(text):
        page.beside = blank(text, joints, filler="_")
    if ":" in prose and "://" in prose:
        prose = addresses.read_urls(page, prose)
    prose = named = entities.hide_formulas(references.read_all(page, prose))
    if "." in prose or "/" in prose:
        prose = addresses.read_files(page, prose)
    if "[" in keys and "[KEY:" in keys:
        entities.read_keys(page, keys)
    if "_" in prose and (spans := entities.find_emphasis(prose)):
        page.beside = blank(page.beside, spans, filler="*")
        prose, named = blank(prose, spans, filler="*"), blank(named, spans, filler="*")
    prose, named = addresses.hide_mail(prose), addresses.hide_mail(named)
    entities.read_tasks(page, prose, prefixes=patterns.task_prefixes)
    entities.read_commits(page, prose)
    entities.read_components(page, named, suffixes=patterns.component_suffixes)
    return page.finish()
