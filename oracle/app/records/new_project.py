"""Say when a write makes a project that was not there: its name may be mistyped. App room; writes nothing."""

from __future__ import annotations

import os

from oracle.domain.names.slugs import check_name
from oracle.store.root import profile, projects
from oracle.wording import LIST, Sentence, joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.store.root.layout import Root


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


def _known(root: Root) -> Iterator[str]:
    yield from profile.projects(root)
    yield from projects.names(root, os.environ)
    for folder in (root.join("projects"), root.tasks):
        try:
            yield from (one.name for one in os.scandir(folder) if one.name[0] not in "._" and one.is_dir())
        except OSError:  # none is there yet
            continue
