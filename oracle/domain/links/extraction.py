"""The order in which a text is read for edges: what one reader has taken is hidden from the next.

Domain room: pure. A reader is asked only when the text holds a mark that all of its finds share.
"""

from __future__ import annotations

from oracle.domain.links import addresses, entities, references
from oracle.domain.links.pages import Page
from oracle.domain.markdown.masks import blank, mask_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.domain.links.pages import Extraction
    from oracle.domain.links.patterns import Patterns


def read(text: str, patterns: Patterns) -> Extraction:
    """Read the edges of a record's body (front matter cut off); code and comments give none. Never raises."""
    page = Page(text)
    prose = mask_code(text)
    keys = prose
    if joints := entities.find_joints(text):
        page.beside = blank(text, joints, filler="_")
    if ":" in prose and "://" in prose:
        prose = addresses.read_urls(page, prose)
    has_brackets = "]" in prose
    if has_brackets and ("](" in prose or "]:" in prose):
        prose = references.read_links(page, prose)
    has_slash = "/" in prose
    if has_slash and "/.agents/memory/projects/" in prose:
        entities.read_projects(page, prose)
    if has_brackets and "[[" in prose:
        prose = references.read_wikilinks(page, prose)
    if has_slash and ("projects/" in prose or "shared/" in prose or "learnings/" in prose):
        prose = references.read_slugs(page, prose)
    named = prose
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
