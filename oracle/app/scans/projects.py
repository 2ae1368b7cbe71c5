"""Projects: which there are, where their repositories lie, who works on them, which are over.

A project is known by an entry in the registry, by a profile, or by both.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.records.edges import follow_repository
from oracle.domain.names import MEMORY, check_name
from oracle.domain.spelling import guess, suggest
from oracle.domain.values import value
from oracle.errors import InvalidProfile, NoProfile, NotFound, OracleError, UsageError
from oracle.scan.sanitize import clean
from oracle.store.root import profile, projects
from oracle.store.root.profile import Profile
from oracle.wording import say

ACTIVE, ARCHIVED = "active", "archived"
_FIELDS = ("repo_path", "primary_seat", "primary_seat_tool", "template_name", "tmux_name")
"""Fields of a project that a caller may set."""


@value
class Registered:
    """A project with its registry entry and its profile; `outcome` is added, changed or unchanged after a change."""

    name: str
    entry: Mapping[str, object]
    repository: str
    outcome: str = ""
    profile: Profile | None = None

    @property
    def status(self) -> str:
        """Active, archived or broken; active if the entry does not say."""
        return str(self.entry.get("status") or ACTIVE)

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats that its profile names."""
        return self.profile.seats if self.profile else ()

    @property
    def place(self) -> str:
        """The folder of its repository, else the one that the registry names although it does not exist."""
        return self.repository or str(self.entry.get("repo_path") or "")

    def as_json(self) -> dict[str, object]:
        """Return the JSON form: the entry, its texts without credentials, the folder of the repository, and the profile."""
        values = {
            "name": self.name,
            **clean(dict(self.entry)),
            "status": self.status,
            "repository": self.repository or None,
        }
        values["profile"] = _profile_json(self.profile) if self.profile else None
        return {**values, "outcome": self.outcome} if self.outcome else values


def add(context: Context, name: str, stated: Mapping[str, str]) -> Registered:
    """Register a project, or change its fields. An archived project becomes active again.

    Raises InvalidName, SecretFound, UsageError for an unknown field or a missing repository, and the errors of
    `registry.change`.
    """
    project = check_name(name, "project")
    unknown = set(stated) - set(_FIELDS)
    if unknown:
        raise UsageError(
            say("Unknown fields of a project: {unknown}.", unknown=sorted(unknown)),
            hint=suggest(min(unknown), _FIELDS),
        )
    guard.clean(context, {"project": name, **stated}, guard.FIXED, what=say("The project"))
    given = {key: item.strip() for key, item in stated.items() if item.strip()}
    if "repo_path" in given:
        given["repo_path"] = os.path.abspath(os.path.expanduser(given["repo_path"]))
        if not os.path.isdir(given["repo_path"]):
            raise UsageError(
                say("{given} is not a folder.", given=given["repo_path"]),
                hint=say("Name the folder of the repository."),
            )
    moment = context.stamp()
    repository = projects.repository(context.root, project, os.environ)

    def make(before: dict[str, object]) -> dict[str, object]:
        entry = {**(before or _new(project, given.get("primary_seat", MEMORY), moment)), **given, "status": ACTIVE}
        return entry if entry == before else {**entry, "last_access": moment}

    found = _change(context, project, make)
    follow_repository(context, project, repository)
    return found


def archive(context: Context, name: str) -> Registered:
    """Mark a project as archived. Its records stay. Raises as `find` does."""
    project = check_name(name, "project")
    find(context, project)
    moment = context.stamp()
    return _change(context, project, lambda before: {**(before or _new(project, MEMORY, moment)), "status": ARCHIVED})


def find(context: Context, name: str) -> Registered:
    """Return a project. Raises NotFound, InvalidName, InvalidProfile, InvalidRecord, DiskFailure."""
    project = check_name(name, "project")
    projects.require_readable(projects.folder(context.root, os.environ))
    try:
        found = _known(context, project, profile.load(context.root, project, os.environ))
    except NoProfile:
        found = _known(context, project, None)
    except InvalidProfile as error:
        found = _known(context, project, None)
        if not found.entry:
            raise
        context.warn(error.sentence)
    if not found.entry and not found.profile:
        near = guess(project, [one.name for one in list_all(context, with_archived=True)])
        raise NotFound(
            say("{project} is not registered.", project=project),
            hint=near or say("Register it with `oracle project add`."),
        )
    return found


def list_all(context: Context, *, with_archived: bool = False) -> list[Registered]:
    """Return the projects by name, archived ones on request, without unreadable profiles. Raises InvalidRecord, DiskFailure."""
    projects.require_readable(projects.folder(context.root, os.environ))
    names = {*projects.names(context.root, os.environ), *profile.projects(context.root)}
    found = [_known(context, name, _profile(context, name)) for name in sorted(names)]
    return [item for item in found if with_archived or item.status != ARCHIVED]


def _known(context: Context, name: str, found: Profile | None) -> Registered:
    entry = projects.entry(context.root, name, os.environ)
    return Registered(name, entry, projects.repository(context.root, name, os.environ), profile=found)


def _profile(context: Context, name: str) -> Profile | None:
    try:
        return profile.load(context.root, name, os.environ)
    except OracleError:
        return None


def _profile_json(found: Profile) -> dict[str, object]:
    places = ("path", "repo_root", "tasks_root", "handoff_dir")
    return {**{key: getattr(found, key) for key in places}, "seats": {seat: found.role(seat) for seat in found.seats}}


def _new(project: str, seat: str, moment: str) -> dict[str, object]:
    return {
        "name": project,
        "primary_seat": seat,
        "tmux_name": f"{project}-{seat}",
        "registered_at": moment,
        "primary_seat_tool": "",
        "template_name": "",
        "last_access": moment,
        "status": ACTIVE,
        "metadata": {},
        "repo_path": "",
        "seats": {},
    }


def _change(context: Context, project: str, make: projects.Make) -> Registered:
    before, after = projects.change(projects.folder(context.root, os.environ), project, make)
    outcome = "added" if not before else "unchanged" if before == after else "changed"
    return Registered(project, after, projects.repository(context.root, project, os.environ), outcome)


def list_names(context: Context) -> list[str]:
    """Return the names in the registry, sorted, whatever their status; none if it can't be read."""
    return projects.names(context.root, os.environ)
