"""Register projects with their repositories, list them, and archive those that are over."""

from __future__ import annotations

import os

from oracle.domain.names.seats import MEMORY
from oracle.domain.names.slugs import check_name
from oracle.domain.values import value
from oracle.errors import NotFound, UsageError
from oracle.scan.sanitize import clean
from oracle.store.root import projects, registry
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.context import Context

ACTIVE, ARCHIVED = "active", "archived"
_FIELDS = ("repo_path", "primary_seat", "primary_seat_tool", "template_name", "tmux_name")
"""Fields of a project that a caller may set."""


@value
class Registered:
    """A project in the registry. After a change, `outcome` is added, changed or unchanged."""

    name: str
    entry: Mapping[str, object]
    repository: str
    outcome: str = ""

    @property
    def status(self) -> str:
        """Active, archived or broken; active if the entry does not say."""
        return str(self.entry.get("status") or ACTIVE)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form: the entry without credentials, its status, and the folder of its repository."""
        values = {**clean(dict(self.entry)), "status": self.status, "repository": self.repository or None}
        return {**values, "outcome": self.outcome} if self.outcome else values


def add(context: Context, name: str, stated: Mapping[str, str]) -> Registered:
    """Register a project, or change its fields. An archived project becomes active again.

    Raises InvalidName, UsageError for an unknown field or a missing repository, and the errors of
    `registry.change`.
    """
    project = check_name(name, "project")
    unknown = set(stated) - set(_FIELDS)
    if unknown:
        raise UsageError(
            say("Unknown fields of a project: {unknown}.", unknown=sorted(unknown)),
            hint=say("Choose one of {choices}.", choices=_FIELDS),
        )
    given = {key: item.strip() for key, item in stated.items() if item.strip()}
    if "repo_path" in given:
        given["repo_path"] = os.path.abspath(os.path.expanduser(given["repo_path"]))
        if not os.path.isdir(given["repo_path"]):
            raise UsageError(
                say("{given} is not a folder.", given=given["repo_path"]),
                hint=say("Name the folder of the repository."),
            )
    moment = context.stamp()

    def make(before: dict[str, object]) -> dict[str, object]:
        entry = {**(before or _new(project, given.get("primary_seat", MEMORY), moment)), **given, "status": ACTIVE}
        return entry if entry == before else {**entry, "last_access": moment}

    return _change(context, project, make)


def archive(context: Context, name: str) -> Registered:
    """Mark a project as archived. Its records stay. Raises NotFound for an unregistered project."""
    project = check_name(name, "project")
    find(context, project)
    return _change(context, project, lambda before: {**before, "status": ARCHIVED})


def find(context: Context, name: str) -> Registered:
    """Return a registered project. Raises NotFound, InvalidName, and for an unreadable registry InvalidRecord or DiskFailure."""
    project = check_name(name, "project")
    registry.require_readable(projects.folder(context.root, os.environ))
    entry = projects.entry(context.root, project, os.environ)
    if not entry:
        raise NotFound(
            say("{project} is not registered.", project=project), hint=say("Register it with `oracle project add`.")
        )
    return Registered(project, entry, projects.repository(context.root, project, os.environ))


def list_all(context: Context, *, with_archived: bool = False) -> list[Registered]:
    """Return the registered projects by name, archived ones only on request. Raises the errors of an unreadable registry."""
    registry.require_readable(projects.folder(context.root, os.environ))
    found = [
        Registered(
            name,
            projects.entry(context.root, name, os.environ),
            projects.repository(context.root, name, os.environ),
        )
        for name in projects.names(context.root, os.environ)
    ]
    return [item for item in found if with_archived or item.status != ARCHIVED]


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


def _change(context: Context, project: str, make: registry.Make) -> Registered:
    before, after = registry.change(projects.folder(context.root, os.environ), project, make)
    outcome = "added" if not before else "unchanged" if before == after else "changed"
    return Registered(project, after, projects.repository(context.root, project, os.environ), outcome)


def list_names(context: Context) -> list[str]:
    """Return the names in the registry, sorted, whatever their status; none if it can't be read."""
    return projects.names(context.root, os.environ)
