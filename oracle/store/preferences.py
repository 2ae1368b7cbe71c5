"""What the owner of a Root prefers, from its `config.toml`, for programs that have not loaded anything yet. Read only."""

from __future__ import annotations

import os

from oracle.store.layout import Root

SETTINGS = "config.toml"
_MOST_BYTES = 1 << 20
"""Bytes that the file may have."""


def load_language(root: Root) -> str:
    """Return what `language` says, "" when it says nothing or can't be read: no call fails for the sake of its language."""
    if not os.path.isfile(root.join(SETTINGS)):  # a pipe would be waited for
        return ""
    try:
        with open(root.join(SETTINGS), "rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
    except OSError:
        return ""
    if len(raw) > _MOST_BYTES or b"language" not in raw:
        return ""
    import tomllib  # few Roots have such a file

    try:
        stated = tomllib.loads(raw.decode()).get("language")
    except (ValueError, RecursionError):
        return ""
    return stated if isinstance(stated, str) else ""
