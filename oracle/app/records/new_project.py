"""Look at the name of a project that does not exist yet: it may be mistyped."""

from __future__ import annotations

import os
from collections.abc import Iterator

from oracle.app.context import Context
from oracle.domain.names import check_name
from oracle.errors import UsageError
from oracle.store.root import profile, projects
from oracle.store.root.layout import Root
from oracle.wording import LIST, Sentence, joined, say


def remark(root: Root, project: str) -> tuple[Sentence, ...]:
    """Return one remark on a project that has neither records, tasks, profile nor entry, while others have. Raises InvalidName."""
    name = check_name(project, "project")
    known = set(_known(root))
    if not known or name in known:
        return ()
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), n=1)
    if near:
        return (say("project {project} is new; did you mean {near}?", project=name, near=near[0]),)
    return (
        say(
            "project {project} is new; there are {names}", project=name, names=joined(LIST, sorted(known)[:_MOST_NAMED])
        ),
    )


_MOST_NAMED = 5


def refuse_mistyped(context: Context, project: str) -> None:
    """Raise UsageError for a new project whose name is one letter off a known one. Names that differ in a digit may be meant."""
    name = check_name(project, "project")
    known = set(_known(context.root))
    if name in known:
        return
    for near in sorted(known):
        if is_one_letter_off(name, near):
            raise UsageError(
                say("The project {project} does not exist; did you mean {near}?", project=name, near=near),
                hint=say("Correct --project, or add --new-project if {project} is a new project.", project=name),
            )


def is_one_letter_off(one: str, other: str) -> bool:
    """Return whether two names differ by one letter that was added, left out, replaced or swapped with its neighbour."""
    if [*filter(str.isdigit, one)] != [*filter(str.isdigit, other)]:
        return False
    if len(one) != len(other):
        short, long = sorted((one, other), key=len)
        return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
    differing = [place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    if len(differing) != 2:
        return len(differing) == 1
    left, right = differing
    return right == left + 1 and one[left : right + 1] == other[right] + other[left]


def _known(root: Root) -> Iterator[str]:
    yield from profile.projects(root)
    yield from projects.names(root, os.environ)
    for folder in (root.join("projects"), root.tasks):
        try:
            yield from (one.name for one in os.scandir(folder) if one.name[0] not in "._" and one.is_dir())
        except OSError:  # none is there yet
            continue
