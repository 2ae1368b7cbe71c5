"""Places in JSON: paths such as `a.b[0]`, `/a/b/0`, `$['a.b']`, the value there, and whether two values are the same. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_STEP = re.compile(
    r"""\[\s*(?:(?P<index>-?\d{1,9})|'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)")\s*\]
      | (?:[./]|\A)(?P<key>[^./\[\]]+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_INDEX = re.compile(r"-?[0-9]{1,9}")
_LONGEST_KEY = 16
"""Steps of a path that one key with dots in it may take up."""

NOWHERE = object()
"""What `look_up` returns for a path that leads nowhere; null is a value like any other."""

Step = str | int
"""A key, or the number of a list item; a key of digits counts items where it meets a list."""


def parse_place(place: str) -> tuple[Step, ...] | None:
    """Return the steps of a path, () for the whole file, or None for a text that is no path."""
    rest = place.strip().removeprefix("$")
    steps: list[Step] = []
    at = 1 if rest.startswith("/") and rest != "/" else 0
    rest = rest[at:] if at else rest
    if rest in ("", ".", "/"):
        return ()
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if not found:
            return None
        at = found.end()
        if found["index"] is not None:
            steps.append(int(found["index"]))
        elif found["key"] is not None:
            steps.append(found["key"])
        else:
            steps.append(_ESCAPED.sub(r"\1", found["single"] if found["single"] is not None else found["double"]))
    return tuple(steps)


def look_up(content: object, steps: Sequence[Step]) -> object:
    """Follow a path; where keys hold dots or slashes themselves, the longest run of steps that is a key is tried first."""
    reached: list[tuple[object, int]] = [(content, 0)]
    seen: set[tuple[int, int]] = set()
    while reached:
        here, at = reached.pop()
        if at == len(steps):
            return here
        if (id(here), at) in seen:
            continue
        seen.add((id(here), at))
        reached += reversed(list(_below(here, steps, at)))
    return NOWHERE


def _below(here: object, steps: Sequence[Step], at: int) -> Iterable[tuple[object, int]]:
    step = steps[at]
    if isinstance(here, list):
        number = step if isinstance(step, int) else int(step) if _INDEX.fullmatch(step) else len(here)
        if -len(here) <= number < len(here):
            yield here[number], at + 1
    elif isinstance(here, dict):
        for end in range(min(len(steps), at + _LONGEST_KEY), at, -1):
            for joint in "./" if end - at > 1 else ".":
                key = joint.join(map(str, steps[at:end]))
                if key in here:
                    yield here[key], end


def equals(one: object, other: object) -> bool:
    """Return whether two JSON values are the same, types included: 1, 1.0, true and "1" are four values."""
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pairs += [(left[key], right[key]) for key in left]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs += zip(left, right, strict=True)
        elif left != right:
            return False
    return True
