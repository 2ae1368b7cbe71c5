"""Names that a text mentions and that are no references of its own, from `data/vocabulary.toml`. Pure."""

from __future__ import annotations

from oracle.domain.tables import load

_TABLE = load("vocabulary")  # every text that is read for links needs all of it
EXTENSIONS = frozenset(_TABLE["extensions"].split())
BARE_FILES = frozenset(_TABLE["bare_files"].split())
PRODUCTS = frozenset(_TABLE["products"].split())
LOCK_FILES = frozenset(_TABLE["lock_files"].split())
NOT_TASKS = frozenset(_TABLE["not_tasks"].split())
STANDARDS = frozenset(" ".join(_TABLE["standards"].values()).split())


def is_product(base: str) -> bool:
    """Return whether a name without a folder is a library's, like `Node.js`, rather than a file's."""
    return base.endswith(".js") and (base.lower() in PRODUCTS or (base[0].isupper() and base[:-3].isalnum()))
