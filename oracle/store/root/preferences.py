"""What the owner of a Root prefers, from its `config.toml`, for programs that have not loaded anything yet. Read only."""

from __future__ import annotations

import os

from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

SETTINGS = "config.toml"
LANGUAGES = ("auto", "zh", "en")
"""What `language` may say."""

_MOST_BYTES = 1 << 20
"""Bytes that the file may have."""


def load_language(root: Root) -> str:
    """Return what `language` says, "" when it says nothing or the file can't be read: no call fails for the sake of its language.

    What is no text is returned as it is printed.
    """
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
        stated = tomllib.loads(raw.decode("utf-8-sig")).get("language", "")
        return stated if isinstance(stated, str) else repr(stated)
    except (ValueError, RecursionError):
        return ""


def no_language(stated: str) -> Sentence:
    """Return the sentence for what `language` says and is none."""
    return say("There is no language {stated}; choose one of {choices}.", stated=stated[:100], choices=LANGUAGES)
