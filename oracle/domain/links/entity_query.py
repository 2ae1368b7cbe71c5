"""The entities that a question names: tasks, commits, files, keys, components, UUIDs. Pure.

A question is read as a record's prose is, except for what people leave out when they ask: the word `commit` before a hash, the
capitals of a task id.
"""

from __future__ import annotations

import re

from oracle.domain.compiling import compiled
from oracle.domain.links.links import DEFAULT_PATTERNS, Patterns
from oracle.domain.names import entity, split_entity
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_MAY_NAME = r"[0-9/#\[]|\.[A-Za-z]|[a-z][A-Z]"
"""What a text has that names an entity; most questions have none of it."""
_HASH = r"(?<![A-Za-z0-9_-])[0-9a-f]{7,40}(?![A-Za-z0-9_-])"
_UUID = r"(?<![A-Za-z0-9_-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![A-Za-z0-9_-])"
_SMALL_TASK = r"(?<![A-Za-z0-9_./#-])[a-z][a-z0-9]{0,31}-[0-9]{1,12}(?![A-Za-z0-9_-]|\.[0-9a-z])"
_SHORTEST_HASH = 7
_SPACES = ("taskid", "commit", "file", "key", "component")
TASK, COMMIT, FILE, UUID = "taskid", "commit", "file", "uuid"


@value
class EntityQuery:
    """An entity as a question names it. `is_sure` is False for what may be plain words, such as `shop-12`."""

    text: str
    space: str
    is_sure: bool = True

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that edges to this entity have; for a commit also the shorter hashes that begin as it does."""
        if self.space == UUID:
            return ()
        return tuple(entity(self.space, name) for name in self._names())

    @property
    def beginning(self) -> str:
        """What the target of a longer hash of the same commit begins with, "" for anything else."""
        return entity(COMMIT, self.text.lower()) if self.space == COMMIT else ""

    @property
    def expressions(self) -> tuple[str, ...]:
        """The phrases under which a full-text index may have it; that of a commit is a beginning."""
        return self._names() if self.space == COMMIT else (self.text,)

    def is_named_in(self, text: str) -> bool:
        """Return whether a text names it: `SHOP-1` is not in `SHOP-12`, `app.py` is in `src/app.py`."""
        return re.search(self._pattern(), text) is not None

    def _names(self) -> tuple[str, ...]:
        if self.space != COMMIT:
            return (self.text.upper() if self.space == TASK else self.text,)
        small = self.text.lower()
        return tuple(dict.fromkeys((small, self.text, *(small[:at] for at in range(_SHORTEST_HASH, len(small))))))

    def _pattern(self) -> str:
        if self.space == COMMIT:
            shorter = "|".join(re.escape(name) for name in reversed(self._names()) if len(name) < len(self.text))
            hashes = rf"{self.text}[0-9a-f]*" + (f"|{shorter}" if shorter else "")
            return rf"(?i)(?<![A-Za-z0-9_])(?:{hashes})(?![A-Za-z0-9_])"
        before = r"(?<![A-Za-z0-9_])" if self.space == FILE else r"(?<![A-Za-z0-9_-])"
        before = "" if self.text.startswith("#") else before
        after = r"(?![A-Za-z0-9_]|-[A-Za-z0-9_])"
        name = re.escape(self.text)
        return f"(?i){before}{name}{after}" if self.text[-1:].isalnum() else f"(?i){name}"


def entities_in(text: str, patterns: Patterns = DEFAULT_PATTERNS) -> list[EntityQuery]:
    """Return the entities that a text names, each once, in the order of the text; `patterns` are a project's."""
    if not compiled(_MAY_NAME).search(text):
        return []
    plain = text.replace("`", " ")
    found: dict[tuple[str, str], tuple[int, EntityQuery]] = {}
    for asked in _read(plain, patterns):
        at = plain.find(asked.text)
        if at < 0 and asked.space == FILE:  # `src/./c.ts` is kept as `src/c.ts`
            at = plain.find(asked.text.rpartition("/")[2])
        if at >= 0:
            found.setdefault((asked.space, asked.text.lower()), (at, asked))
    return [asked for _, asked in sorted(found.values(), key=lambda item: (item[0], -len(item[1].text)))]


def without(text: str, entities: Sequence[EntityQuery]) -> str:
    """Return a text with a blank in place of each of these entities."""
    for asked in sorted(entities, key=lambda item: -len(item.text)):
        text = text.replace(asked.text, " ")
    return text


def _read(text: str, patterns: Patterns) -> Iterator[EntityQuery]:
    from oracle.domain.links.references import extract

    uuids = [found[0] for found in compiled(_UUID, re.IGNORECASE).finditer(text)]
    yield from (EntityQuery(name, UUID) for name in uuids)
    for name in uuids:
        text = text.replace(name, " ")
    for mention in extract(text, patterns).mentions:
        space, name = split_entity(mention.target)
        if space in _SPACES:
            yield EntityQuery(name, space)
    for found in compiled(_HASH, re.IGNORECASE).finditer(text):
        if not found[0].isdigit() and not found[0].isalpha():
            yield EntityQuery(found[0], COMMIT)
    for found in compiled(_SMALL_TASK).finditer(text):
        if any(
            mention.target == entity(TASK, found[0].upper()) for mention in extract(found[0].upper(), patterns).mentions
        ):
            yield EntityQuery(found[0], TASK, is_sure=False)
