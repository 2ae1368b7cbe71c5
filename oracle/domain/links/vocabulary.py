"""Names that a text mentions and that are no references of its own, from `data/vocabulary.toml`. Pure."""

from __future__ import annotations

from oracle.domain.tables import load

_TABLE = load("vocabulary")  # every text that is read for links needs all of it
EXTENSIONS = frozenset(_TABLE["extensions"].split())
BARE_FILES = frozenset(_TABLE["bare_files"].split())
OBJECTS = frozenset(_TABLE["objects"].split())
LOCK_FILES = frozenset(_TABLE["lock_files"].split())
COUNTED = frozenset(_TABLE["counted"].split())
RANKED = frozenset(_TABLE["ranked"].split())
_MIDDLE_ENDINGS = frozenset(_TABLE["middle_endings"].split())
_PRODUCTS = frozenset(" ".join(_TABLE["products"].values()).split())
_HOSTS = frozenset(_TABLE["hosts"].split())
_NOT_TASKS = frozenset(_TABLE["not_tasks"].split())
_STANDARDS = frozenset(" ".join(_TABLE["standards"].values()).split())
_INDICES = frozenset("IJKLMNUVWXYZ")
"""Letters that formulas and forms put before a number of one or two digits: `N-1`, `I-9`, `W-2`."""

_LINTERS = frozenset("CEFW")
"""Letters that linters put before three digits: `E-501`."""


def is_product(base: str) -> bool:
    """Return whether a name without a folder is a library's or a site's, like `Node.js`, rather than a file's."""
    if base[-3:] in {".js", ".jl"} and base[0].isupper() and base[:-3].isalnum():
        return True
    name = base.rpartition("-")[2]  # of `non-Node.js`
    return base.lower() in _PRODUCTS or base in _HOSTS or (name[:1].isupper() and name.lower() in _PRODUCTS)


def is_ending(base: str) -> bool:
    """Return whether a name without a folder is only the end of file names, like `.d.ts`."""
    first, *rest = base.split(".")
    return not first and all(part in _MIDDLE_ENDINGS for part in rest[:-1])


def is_standard(prefix: str) -> bool:
    """Return whether the letters before a number name a standard: `SHA`, and `SHA3` too."""
    return prefix in _STANDARDS or prefix.rstrip("0123456789") in _STANDARDS


def may_be_task(prefix: str, number: str) -> bool:
    """Return whether `prefix-number` may be a task: no standard, index, form, range of lines (`L83-101`) or half of a year."""
    if prefix in _INDICES and len(number) < 3 and number[0] != "0":
        return False
    if prefix in _LINTERS and len(number) == 3 and number[0] != "0":
        return False
    if prefix[1:].isdigit() and (prefix[0] == "L" or (len(number) == 4 and number[:2] in {"19", "20"})):
        return False
    return not is_standard(prefix) and f"{prefix}-{number}" not in _NOT_TASKS
