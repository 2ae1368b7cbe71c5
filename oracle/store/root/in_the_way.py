"""What is in the place of a Root, or above it, so that no folder can be there."""

from __future__ import annotations

import os

from oracle.wording import Sentence, say


def find_fault(path: str) -> tuple[Sentence, Sentence] | None:
    """Return what is in the way of a Root at an absolute path, and the way out; None if a folder is there or can be made."""
    above = path
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if os.path.isdir(above):
        return None
    if os.path.islink(above) and not os.path.exists(above):
        target = os.path.realpath(above)
        return (
            say("{link} is a link to {target}, which does not exist", link=above, target=target),
            say("Create that folder, or name another Root with --memory-dir or ORACLE_ROOT"),
        )
    way_out = say("Name a folder with --memory-dir or ORACLE_ROOT, or move the file away")
    if above == path:
        return say("{path} is not a folder", path=path), way_out
    return say("{path} can't be made, because {above} is not a folder", path=path, above=above), way_out
