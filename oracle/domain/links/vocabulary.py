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
_DOMAINS = frozenset(_TABLE["domains"].split())
_FOLDER_ENDINGS = frozenset(_TABLE["folder_endings"].split())
_TEST_ENDINGS = frozenset({"test", "tests", "spec", "pb2"})


def is_product(base: str) -> bool:
    """Return whether a name without a folder is a library's or a site's, like `Node.js`, rather than a file's."""
    if base[-3:] in {".js", ".jl"} and base[0].isupper() and base[:-3].isalnum():
        return True
    name = base.rpartition("-")[2]  # of `non-Node.js`
    if base in _HOSTS or base.partition(".")[2] in _HOSTS:  # `docs.astral.sh` too
        return True
    return base.lower() in _PRODUCTS or (name[:1].isupper() and name.lower() in _PRODUCTS)


def is_host(first: str) -> bool:
    """Return whether the first folder of a path is a host: `example.xyz` or an address of numbers."""
    labels = first.split(".")
    if len(labels) == 4 and all(map(str.isdigit, labels)):
        return True
    return len(labels) > 1 and all(labels) and labels[-1] in _DOMAINS


def is_ending(base: str) -> bool:
    """Return whether a name without a folder is only the end of file names, like `.d.ts` or `_test.go`."""
    first, *rest = base.split(".")
    is_open = not first or (first[0] in "-_" and first[1:] in _TEST_ENDINGS)
    return is_open and all(part in _MIDDLE_ENDINGS for part in rest[:-1])


def list_files(token: str) -> list[str]:
    """Return the files that a token lists with strokes (`src/package.json/setup.py`): few folders have an ending."""
    parts = token.split("/")
    if len(parts) == 1 or is_product(parts[0] or "/"):
        return [token]
    names = [part.rpartition(".") for part in parts]
    if all(stem.strip(".") and ending in EXTENSIONS for stem, _, ending in names):
        return parts
    files, first = [], 0
    for at, (stem, _, ending) in enumerate(names[:-1], 1):
        if stem.strip(".") and ending in EXTENSIONS and ending not in _FOLDER_ENDINGS:
            files.append("/".join(parts[first:at]))
            first = at
    return [*files, "/".join(parts[first:])]
