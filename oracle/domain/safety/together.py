"""Find credentials that no text of a call holds alone: named in the title and given in the body, or cut into two parts.

The pairs of a map are read as lines `key: value`, the items of a list as lines. A token of a known vendor is also found if one
text ends with its first part and another begins with the rest. Each text alone is checked before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import permutations

from oracle.domain.safety.secrets import find_secrets
from oracle.domain.values import fields_of, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Path = tuple[str | int, ...]

_BODIES = ("body", "objective", "answer", "summary", "quote")
_NO_FORMAT = ("assignment", "api-key")
"""Kinds without a format of their own: no evidence that two texts are parts of one."""

_DIGEST = re.compile("[0-9a-f]{64}")
"""A hash of a file, which is no part of a token: `18:00.` and a hash behind it look like one."""

_FEWEST, _MOST = 20, 500
"""Characters of a token in two parts, and of each part."""


@value
class SecretPart:
    """The part of a credential that one text holds."""

    kind: str
    path: Path
    start: int
    end: int

    @property
    def place(self) -> str:
        """The name of the text: `response.steps`."""
        return ".".join(name for name in self.path if isinstance(name, str))


def clean_together(fields: Mapping[str, Any]) -> tuple[dict[str, Any], list[SecretPart]]:
    """Replace such credentials; return the fields and the parts, in the order in which they were found."""
    cleaned, found = dict(fields), []
    while parts := _find(cleaned):
        found += parts
        for part in parts:
            cleaned = _replaced(cleaned, part, part.path)
    return cleaned, found


def _find(fields: Mapping[str, Any]) -> list[SecretPart]:
    """Return the parts of the first credential that several texts hold."""
    leaves = {path: text for name, item in fields.items() for path, text in _leaves(item, (name,)) if text.strip()}
    for group in _groups(leaves):
        parts = _find_in(group, "\n")
        if parts or (not group[0][0] and (parts := _find_cut(group))):
            return parts
    return _find_halves(leaves)


def _leaves(item: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield each text in a value of any shape, with the names and numbers that lead to it."""
    if isinstance(item, str):
        yield path, item
    elif isinstance(item, Mapping):
        for key, inner in item.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(item, tuple | list):
        for number, inner in enumerate(item):
            yield from _leaves(inner, (*path, number))
    elif hasattr(item, "_fields_"):
        for name in fields_of(item):
            yield from _leaves(getattr(item, name), (*path, name))


def _groups(leaves: Mapping[Path, str]) -> Iterator[list[tuple[str, Path, str]]]:
    """Yield the texts that are read one below the other, each behind what leads to it and its path."""
    if ("title",) in leaves:
        title = ("", ("title",), leaves["title",])
        yield from ([title, ("", path, text)] for path, text in leaves.items() if path[-1] in _BODIES)
    siblings: dict[Path, list[tuple[str, Path, str]]] = {}
    for path, text in leaves.items():
        if len(path) > 1:
            lead = f"{path[-1]}: " if isinstance(path[-1], str) else ""
            siblings.setdefault(path[:-1], []).append((lead, path, text))
    yield from (group for group in siblings.values() if len(group) > 1)


def _find_in(group: Sequence[tuple[str, Path, str]], between: str) -> list[SecretPart]:
    """Return the parts of the first credential in texts that are read together."""
    for secret in find_secrets(between.join(lead + text for lead, _, text in group)):
        parts, at = [], 0
        for lead, path, text in group:
            at += len(lead)
            start, end = max(secret.start - at, 0), min(secret.end - at, len(text))
            if start < end:
                parts.append(SecretPart(secret.kind, path, start, end))
            at += len(text) + len(between)
        if parts:
            return parts
    return []


def _find_cut(group: Sequence[tuple[str, Path, str]]) -> list[SecretPart]:
    """Return the parts of a token that the items of a list hold one after the other."""
    parts = _find_in(group, "")
    return parts if len(parts) > 1 and parts[0].kind not in _NO_FORMAT else []


def _find_halves(leaves: Mapping[Path, str]) -> list[SecretPart]:
    """Return the parts of a token that one text ends with and another text begins with."""
    leaves = {path: text for path, text in leaves.items() if path[-1] != "sha256" or not _DIGEST.fullmatch(text)}
    tails = {path: text.split()[-1] for path, text in leaves.items() if not text[-1].isspace()}
    heads = {path: text.split()[0] for path, text in leaves.items() if not text[0].isspace()}
    pairs: dict[tuple[str, str], tuple[Path, Path]] = {}  # the same words are looked at once
    for one, other in permutations(leaves, 2):
        if one in tails and other in heads and _FEWEST <= len(tails[one]) + len(heads[other]) <= _MOST:
            pairs.setdefault((tails[one], heads[other]), (one, other))
    if not find_secrets("\n\0\n".join(map("".join, pairs))):
        return []
    for (tail, head), (one, other) in pairs.items():
        for secret in find_secrets(tail + head):
            if secret.kind not in _NO_FORMAT and secret.start < len(tail) < secret.end:
                begins = len(leaves[one]) - len(tail) + secret.start
                return [
                    SecretPart(secret.kind, one, begins, len(leaves[one])),
                    SecretPart(secret.kind, other, 0, secret.end - len(tail)),
                ]
    return []


def _replaced(item: Any, part: SecretPart, path: Path) -> Any:  # noqa: ANN401
    """Return a value of any shape with a marker in the place of a part."""
    if isinstance(item, str):
        return f"{item[: part.start]}[REDACTED:{part.kind}]{item[part.end :]}"
    first, rest = path[0], path[1:]
    if isinstance(item, Mapping):
        return {key: _replaced(inner, part, rest) if key == first else inner for key, inner in item.items()}
    if hasattr(item, "_fields_"):
        return replace(item, **{str(first): _replaced(getattr(item, str(first)), part, rest)})
    return type(item)(_replaced(inner, part, rest) if number == first else inner for number, inner in enumerate(item))
