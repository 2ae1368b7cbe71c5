"""Look at names that may be mistyped: of a project that does not exist yet, and of an author."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from oracle.app.context import Context
from oracle.domain.names import ORPHAN_KINDS, ROLES, SHARED, check_name, role_of
from oracle.domain.spelling import is_one_letter_off
from oracle.errors import MistypedProject, OracleError, UsageError
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


def refuse_mistyped(context: Context, project: str, *, hint: str = "") -> None:
    """Raise MistypedProject for a new project whose name is one letter off a known one.

    Names that differ in a digit may be meant, and so may names of one or two letters.
    """
    name = check_name(project, "project")
    known = set(_known(context.root))
    near = "" if name in known else _one_letter_off(name, known)
    if near:
        raise MistypedProject(
            say("The project {project} does not exist; did you mean {near}?", project=name, near=near),
            hint=hint
            or say(
                "Correct the name. If {project} is a new project, confirm it with --new-project (MCP, JSON: new_project).",
                project=name,
            ),
        )


def remark_on_author(context: Context, project: str, author: str) -> tuple[Sentence, ...]:
    """Return one remark on an author who is one letter off a seat of the project."""
    if not author or role_of(author) or project == SHARED:
        return ()
    seats = {*_folders(context.root.join(context.root.project(project)))} - {*ORPHAN_KINDS}
    if os.path.exists(context.root.profile_file(project)):
        from oracle.store.root import profile

        with suppress(OracleError):  # it can't be read
            seats.update(profile.load(context.root, project, os.environ).seats)
    near = "" if author in seats else _one_letter_off(author, seats)
    if not near:
        return ()
    return (say("{project} has no seat {author}; did you mean {near}?", project=project, author=author, near=near),)


def refuse_mistyped_seat(context: Context, seat: str, *, project: str = "") -> None:
    """Raise UsageError for a seat that no project has, and that is one letter off one, or off a name with rules of its own.

    Only seats of `project` are offered, of any if it is "".
    """
    from oracle.store.root import profile

    known, offered = {*ROLES}, {*ROLES}
    for name in profile.projects(context.root):
        with suppress(OracleError):  # its profile can't be read
            seats = profile.load(context.root, name, os.environ).seats
            known.update(seats)
            offered.update(seats if project in ("", name) else ())
    near = "" if seat in known or role_of(seat) else _one_letter_off(seat, offered)
    if near:
        raise UsageError(
            say("No project has a seat {seat}; did you mean {near}?", seat=seat, near=near),
            hint=say("Correct the name, or add the seat to `seats` in its project's profile first."),
        )


def _one_letter_off(name: str, known: Iterable[str]) -> str:
    return next((one for one in sorted(known) if is_one_letter_off(name, one)), "")


def _known(root: Root) -> Iterator[str]:
    from oracle.store.root import profile, projects

    yield from profile.projects(root)
    yield from projects.names(root, os.environ)
    for folder in (root.join("projects"), root.tasks):
        yield from _folders(folder)


def _folders(path: str) -> list[str]:
    try:
        return [one.name for one in os.scandir(path) if one.name[0] not in "._" and one.is_dir()]
    except OSError:  # it does not exist yet
        return []
