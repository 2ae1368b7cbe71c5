"""The data files of the scanners: which names of files, dependencies and settings belong to which tool."""

from __future__ import annotations

import os
from functools import cache
from typing import Any


@cache
def load(name: str) -> dict[str, Any]:
    """Return the content of `data/<name>.toml`. A file is read when a scanner first needs it."""
    import tomllib

    with open(f"{os.path.dirname(__file__)}/data/{name}.toml", "rb") as stream:
        return tomllib.load(stream)


@cache
def names(name: str, key: str) -> frozenset[str]:
    """Return a list of a data file as a set."""
    return frozenset(load(name)[key])


@cache
def owners(name: str, key: str) -> dict[str, str]:
    """Return the owner of each name in a table that lists names by their owner."""
    return {one: owner for owner, own in load(name)[key].items() for one in own}
