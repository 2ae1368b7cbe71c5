"""Whether a shell at its prompt is all that runs in a pane."""

from __future__ import annotations

import os
from collections.abc import Sequence

from oracle.wake.server import Pane, Server

SHELLS = ("sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "nu", "pwsh", "tcsh", "xonsh", "zsh")
_WITH_VALUE = ("--init-file", "--rcfile", "-o", "+o", "-O", "+O")
"""Options of shells that take the next word."""


def holds_only_shell(server: Server, pane: Pane) -> bool:
    """Return whether a shell at its prompt is all that runs in a pane. In doubt it is not."""
    return pane.command.removeprefix("-") in SHELLS and is_at_prompt(server.foreground(pane.tty))


def is_at_prompt(running: Sequence[str]) -> bool:
    """Return whether the command lines in the foreground of a terminal are one shell that no script and no command started.

    A client that a script starts has the script's shell beside it. A script that reads its input itself runs alone.
    """
    words = running[0].split() if len(running) == 1 else []
    if not words or os.path.basename(words[0]).removeprefix("-") not in SHELLS:
        return False
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif word[0] not in "-+" or word.startswith("--command") or (word[:2] != "--" and "c" in word):
            return False
    return True
