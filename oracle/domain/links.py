"""Edges out of prose: what a text mentions, which records it points at, and where those words lead.

Domain room: pure functions over text and slugs.
"""

from __future__ import annotations

from functools import cache
from unicodedata import normalize

from oracle.domain.pages import (
    COMMIT,
    COMPONENT,
    FILE,
    KEY,
    PROJECT,
    RECORD,
    ROOT_FOLDERS,
    TASK,
    URL,
    Extraction,
    Mention,
    Reference,
    compose,
)
from oracle.domain.slugs import project_of
from oracle.domain.values import value
from oracle.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Self

__all__ = [
    "DEFAULT_PATTERNS",
    "EDGE_TYPES",
    "RELATIONS",
    "Extraction",
    "Mention",
    "Patterns",
    "Reference",
    "extract",
    "reference_key",
    "resolve",
    "unresolved_target",
]

RELATIONS = ("supersedes", "contradicts", "supports", "extends", "derived-from", "related-task", "retires")
EDGE_TYPES = (TASK, COMMIT, FILE, URL, KEY, PROJECT, COMPONENT, RECORD, *RELATIONS)


@value
class Patterns:
    """What a Root or project configures: task prefixes (None: any but well-known standards) and component suffixes.

    Raises UsageError for a suffix that is not a letter followed by letters, digits and `_`.
    """

    task_prefixes: frozenset[str] | None = None
    component_suffixes: tuple[str, ...] = ("Phasic", "Physics", "View", "Engine", "Layer", "Component")

    def __new__(cls, task_prefixes: frozenset[str] | None = None, component_suffixes: tuple[str, ...] = ()) -> Self:
        """Refuse a bad suffix; the fields are set afterwards."""
        for suffix in component_suffixes:
            if not (suffix.isascii() and suffix[:1].isalpha() and suffix.replace("_", "0").isalnum()):
                raise UsageError(
                    f"{suffix!r} can't be a component suffix.", hint="Use a letter followed by letters, digits and '_'."
                )
        return object.__new__(cls)


DEFAULT_PATTERNS = Patterns()


def extract(text: str, patterns: Patterns = DEFAULT_PATTERNS) -> Extraction:
    """Read the edges of a record's body (front matter cut off); code and comments give none. Never raises."""
    return _reader()(text, patterns)


@cache
def _reader() -> Callable[[str, Patterns], Extraction]:
    """Load what reads links when a text is first read: programs that read the index resolve links but look for none."""
    from oracle.domain.extraction import read

    return read


# Where the words lead -------------------------------------------------------------------------------------------------


def reference_key(ref: str) -> str:
    """Return the key under which the index finds candidates: the last path component, without case."""
    return _fold(ref.rpartition("/")[2])


def resolve(ref: str, source: str, candidates: Collection[str]) -> str | None:
    """Return the slug among `candidates` (all slugs with the reference's key) that `ref` means in `source`, or None.

    Tried in order: the source's folder, its project, the Root, then any record whose path ends with the words (the same
    project first, then the shortest slug, then the alphabet); all of it with the case as written, then without case. A
    path that begins with `./` or `../` means just that place. The answer is `source` itself when the words point at
    their own record: a self link, of which the caller makes no edge.
    """
    places, tail = _places(ref, source)
    project = project_of(source)
    for fold in (compose, _fold):
        slugs = {fold(slug): slug for slug in sorted(candidates, reverse=True)}
        for place in places:
            if (slug := slugs.get(fold(place))) is not None:
                return slug
        if tail:
            ending = "/" + fold(tail)
            found = (slug for folded, slug in slugs.items() if folded.endswith(ending))
            if best := min(found, key=lambda slug: (project_of(slug) != project, len(slug), slug), default=None):
                return best
    return None


def unresolved_target(ref: str, source: str) -> str:
    """Return the slug that `ref` would have if its record stood where the words point; never outside the Root.

    A bare name points into the source's folder, a path into its project, a path from `projects/`, `shared/` or
    `learnings/` at the Root. `resolve` answers with this very slug once it is the only candidate.
    """
    places, tail = _places(ref, source)
    if places == [source]:
        return source
    if not tail or "/" not in tail:
        return compose(places[0])
    if tail.startswith(ROOT_FOLDERS):
        return compose(tail)
    return compose(places[min(1, len(places) - 1)])


def _places(ref: str, source: str) -> tuple[list[str], str]:
    """Return the slugs that `ref` may stand for, the likeliest first, and the path to search for by ending, if any."""
    folder = source.rpartition("/")[0]
    if ref.rpartition("/")[2] in {"", ".", ".."}:
        return [source], ""
    if ref.startswith(("./", "../")):
        return [_join(folder, ref)], ""
    tail = _join("", ref)
    if ref.startswith("/"):
        return [tail], tail
    project = project_of(source)
    places = [_join(folder, ref), _join(f"projects/{project}", ref), tail] if project else [_join(folder, ref), tail]
    return places, tail


def _join(folder: str, ref: str) -> str:
    parts = [part for part in folder.split("/") if part]
    for part in ref.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())
