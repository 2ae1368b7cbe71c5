"""What the owner of a Root prefers, from its `config.toml`, for programs that have not loaded anything yet. Read only."""

from __future__ import annotations

import os

from oracle.store.layout import Root

SETTINGS = "config.toml"


def load_language(root: Root) -> str:
    """Return what `language` says, "" when it says nothing or can't be read: no call fails for the sake of its language."""
    if not os.path.isfile(root.join(SETTINGS)):  # a pipe would be waited for
        return ""
    try:
        with open(root.join(SETTINGS), encoding="utf-8") as stream:
            content = stream.read()
    except (OSError, ValueError):
        return ""
    if "language" not in content:
        return ""
    import tomllib  # few Roots have such a file

    try:
        stated = tomllib.loads(content).get("language")
    except ValueError:
        return ""
    return stated if isinstance(stated, str) else ""
