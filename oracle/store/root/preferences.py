"""Read the owner's `config.toml` for programs that have not loaded anything yet."""

from __future__ import annotations

import os

from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

SETTINGS = "config.toml"
LANGUAGES = ("auto", "zh", "en")
"""The values of `language`."""

_MOST_BYTES = 1 << 20
"""The largest file in bytes."""


def load_language(root: Root) -> str:
    """Return the value of `language`, "" if it is not set or the file cannot be read: no command fails for its language.

    A value of another type is returned as text.
    """
    if not os.path.isfile(root.join(SETTINGS)):  # reading a pipe would wait
        return ""
    try:
        with open(root.join(SETTINGS), "rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
    except OSError:
        return ""
    if len(raw) > _MOST_BYTES or b"language" not in raw:
        return ""
    import tomllib  # few Roots have this file

    try:
        stated = tomllib.loads(raw.decode("utf-8-sig")).get("language", "")
        return stated if isinstance(stated, str) else repr(stated)
    except (ValueError, RecursionError):
        return ""


def no_language(stated: str) -> Sentence:
    """Return the sentence for an unknown language."""
    return say("Unknown language {stated}; choose one of {choices}.", stated=stated[:100], choices=LANGUAGES)
