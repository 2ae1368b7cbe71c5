"""Names that a text mentions and that are no references of its own, from `data/vocabulary.toml`. Pure."""

from __future__ import annotations

from oracle.domain.tables import load

_TABLE = load("vocabulary")  # every text that is read for links needs all of it
EXTENSIONS = frozenset(_TABLE["extensions"].split())
BARE_FILES = frozenset(_TABLE["bare_files"].split())
OBJECTS = frozenset(_TABLE["objects"].split())
LOCK_FILES = frozenset(_TABLE["lock_files"].split())
_MIDDLE_ENDINGS = frozenset(_TABLE["middle_endings"].split())
_PRODUCTS = frozenset(" ".join(_TABLE["products"].values()).split())
_HOSTS = frozenset(_TABLE["hosts"].split())


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
