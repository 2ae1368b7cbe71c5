"""Profiles: the TOML file of a project with its seats and the place of its task tree.

A profile is data. If it names a path where a team's files do not belong, the Root's own folders are used instead. A
script that it names is never run.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping

from oracle.domain.names import FRONT, check_name, is_name, role_of
from oracle.domain.spelling import is_one_letter_off
from oracle.domain.values import NOTHING, value
from oracle.errors import InvalidName, InvalidProfile, NoProfile, UsageError
from oracle.store.disk import folders, steps
from oracle.store.root.layout import Root, choose_home
from oracle.wording import joined, say

REQUIRED = (
    *("profile_name", "template_name", "project_name", "repo_root", "tasks_root", "project_doc", "tasks_doc"),
    *("status_doc", "send_script", "agent_admin", "workspace_root", "handoff_dir"),
)
PLANNER_ROLES = ("planner", "planner-dispatcher")

_HANDOFFS = "patrol/handoffs"
"""The folder of receipts in a task tree."""

_PLACEHOLDER = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")


@value
class Profile:
    """A project's seats and folders; every path is absolute. `notes` are sentences about ignored values."""

    path: str
    project: str
    seats: tuple[str, ...]
    roles: Mapping[str, str]
    repo_root: str
    tasks_root: str
    handoff_dir: str
    tasks_doc: str
    status_doc: str
    project_doc: str
    workspace_root: str
    name: str = ""
    template: str = ""
    heartbeat_owner: str = FRONT
    heartbeat_transport: str = "tmux"
    active_loop_owner: str = "memory"
    default_notify_target: str = "memory"
    is_multi_team: bool = False
    notes: tuple[str, ...] = ()
    fields: Mapping[str, object] = NOTHING

    def role(self, seat: str) -> str:
        """Return the role of a seat: from the profile, else from its name, else ""."""
        return self.roles.get(seat) or role_of(seat)

    def seats_of(self, *roles: str) -> tuple[str, ...]:
        """Return the seats with one of these roles, in the order of the profile."""
        return tuple(seat for seat in self.seats if self.role(seat) in roles)

    @property
    def planners(self) -> tuple[str, ...]:
        """The seats that plan and dispatch."""
        return self.seats_of(*PLANNER_ROLES)

    def require_seat(self, seat: str) -> str:
        """Return the seat's checked name. Raises UsageError for an unknown seat."""
        name = check_name(seat, "seat")
        if name not in self.seats:
            near = next((seat for seat in self.seats if is_one_letter_off(name, seat)), "")
            raise UsageError(
                say(
                    "The project {project} has no seat {name}; it has {seats}.",
                    project=self.project,
                    name=name,
                    seats=self.seats or say("none"),
                ),
                hint=say("Did you mean {near}?", near=near)
                if near
                else say("Add it to `seats` in {path}.", path=self.path),
            )
        return name


def load(root: Root, project: str, environ: Mapping[str, str]) -> Profile:
    """Return the profile of a project. Raises NoProfile with the command that creates one, InvalidProfile, InvalidName."""
    name = check_name(project, "project")
    path = root.profile_file(name)
    if not os.path.exists(path):
        raise NoProfile(
            say("The project {name} has no profile at {path}.", name=name, path=path),
            hint=say(
                "Create one with `oracle project init {name} --seats memory,planner,builder,reviewer`.",
                name=name,
            ),
        )
    return load_file(root, path, environ)


def load_file(root: Root, path: str, environ: Mapping[str, str]) -> Profile:
    """Return the profile in a file. Raises NoProfile if there is none, InvalidProfile with the missing keys."""
    import tomllib

    raw = steps.read(path)
    if raw is None:
        raise NoProfile(
            say("There is no profile at {path}.", path=path),
            hint=say("Name another with --profile, or create one with `oracle project init P --seats memory,planner`."),
        )
    try:
        table = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidProfile(
            say("The profile {path} is not UTF-8 text.", path=path),
            hint=say("Save it as UTF-8, or restore it from a backup."),
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidProfile(
            say("The profile {path} can't be read: {error}.", path=path, error=error),
            hint=say("Correct that line; the file is TOML."),
        ) from error
    _require_keys(path, table)
    return _Reader(root, path, table, environ).build()


def projects(root: Root) -> list[str]:
    """Return the projects with a profile, sorted."""
    suffix = "-profile-dynamic.toml"
    names = folders.names_in(root.profiles)
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix) and name != suffix)


def without_profile(root: Root, known: Iterable[str]) -> dict[str, str]:
    """Return the folders with receipts of the projects without a profile, by project. `known` are the folders of profiles."""
    mine, named = {os.path.realpath(folder) for folder in known}, set(projects(root))
    found = {name: f"{root.tasks}/{name}/{_HANDOFFS}" for name in folders.names_in(root.tasks) if name not in named}
    return {
        name: folder
        for name, folder in found.items()
        if is_name(name)
        and any("__" in one and one[0] != "." for one in folders.names_in(folder))
        and os.path.realpath(folder) not in mine
    }


def _require_keys(path: str, table: Mapping[str, object]) -> None:
    absent = [key for key in REQUIRED if key not in table]
    wrong = [key for key in REQUIRED if key in table and not _is_text(table[key])]
    if absent or wrong:
        what = [say("lacks {keys}", keys=absent)] if absent else []
        what += [say("has no text in {keys}", keys=wrong)] if wrong else []
        raise InvalidProfile(
            say("The profile {path} {what}.", path=path, what=joined(" and ", what)),
            hint=say(
                "Add the keys. Or move the file away: `oracle project init P --seats …` then writes a complete one."
            ),
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


class _Reader:
    """Reads one profile: expands its paths and collects notes."""

    def __init__(self, root: Root, path: str, table: Mapping[str, object], environ: Mapping[str, str]) -> None:
        self._root, self._path, self._table, self._environ = root, path, table, environ
        self._home = root.home if root.agents != root.path else choose_home(environ)
        self._notes: list[str] = []
        self._real: Callable[[str], str] = functools.cache(os.path.realpath)

    def build(self) -> Profile:
        project = self._name("project_name", str(self._table["project_name"]))
        tree = self._root.task_tree(project)
        tasks_root = self._place("tasks_root", tree)
        transport = self._optional("heartbeat_transport", "tmux")
        if transport not in ("tmux", "openclaw"):
            raise InvalidProfile(
                say(
                    "The profile {path} has the heartbeat_transport {transport!r}.",
                    path=self._path,
                    transport=transport[:40],
                ),
                hint=say("Write tmux or openclaw."),
            )
        return Profile(
            path=self._path,
            project=project,
            seats=self._seats(project),
            roles=self._roles(),
            repo_root=self._expand("repo_root"),
            tasks_root=tasks_root,
            handoff_dir=self._place("handoff_dir", f"{tasks_root}/{_HANDOFFS}"),
            tasks_doc=self._place("tasks_doc", f"{tasks_root}/TASKS.md", tasks_root),
            status_doc=self._place("status_doc", f"{tasks_root}/STATUS.md", tasks_root),
            project_doc=self._place("project_doc", f"{tasks_root}/PROJECT.md", tasks_root),
            workspace_root=self._expand("workspace_root"),
            name=str(self._table["profile_name"]),
            template=str(self._table["template_name"]),
            heartbeat_owner=self._optional("heartbeat_owner", FRONT),
            heartbeat_transport=transport,
            active_loop_owner=self._optional("active_loop_owner", "memory"),
            default_notify_target=self._optional("default_notify_target", "memory"),
            is_multi_team=isinstance(self._table.get("teams"), dict) or self._table.get("team_structure") == "multi",
            notes=tuple(self._notes),
            fields=dict(self._table),
        )

    def _optional(self, key: str, default: str) -> str:
        value = self._table.get(key, default)
        if not isinstance(value, str):
            raise InvalidProfile(
                say("The profile {path} has no text in {key}.", path=self._path, key=key),
                hint=say('Write {key} = "{default}".', key=key, default=default),
            )
        return value

    def _name(self, key: str, value: str) -> str:
        try:
            return check_name(value, key)
        except InvalidName as error:
            raise InvalidProfile(
                say("The profile {path}: {sentence}", path=self._path, sentence=error.sentence), hint=error.hint
            ) from error

    def _expand(self, key: str) -> str:
        """Return an absolute path: `~/.agents` is the agents folder, `~` its home folder, `{NAME}` an environment variable."""
        defaults = {"AGENTS_ROOT": self._root.agents, "CLAWSEAT_ROOT": f"{self._home}/.clawseat"}

        def fill(found: re.Match[str]) -> str:
            name = found.group(1)
            return self._environ.get(name) or defaults.get(name) or found.group()

        text = _PLACEHOLDER.sub(fill, str(self._table[key]).strip())
        if key == "handoff_dir":
            text = _VARIABLE.sub(lambda found: self._environ.get(found[1] or found[2], found.group()), text)
        if text == "~/.agents" or text.startswith("~/.agents/"):
            text = self._root.agents + text.removeprefix("~/.agents")
        elif text == "~" or text.startswith("~/"):
            text = self._home + text[1:]
        return os.path.normpath(text if os.path.isabs(text) else os.path.join(self._home, text))

    def _place(self, key: str, default: str, tasks_root: str = "") -> str:
        """Return a path for writing: the profile's if it is acceptable, else the default.

        A file must be below the tasks, profiles or workspaces folder, or below `tasks_root`. A folder may be elsewhere
        below the home folder of the Root, but in no hidden folder.
        """
        path = self._expand(key)
        root = self._root
        tops = (root.tasks, root.profiles, root.workspaces, tasks_root or root.agents)
        base = next((top for top in tops if self._is_below(path, top)), "")
        if base and not path.startswith(base + "/"):  # it names the folder by its real path, and base is a link
            path = base + self._real(path).removeprefix(self._real(base).rstrip("/"))
        is_plain = "{" not in path and "$" not in path
        if is_plain and (base or (not tasks_root and self._is_in_home(path))):
            if not base:
                folders.trust(path)
            return path
        what = (
            say("is not below {folders}", folders=list(tops))
            if tasks_root
            else say("leads outside of {home}, or into a hidden folder", home=root.home)
        )
        self._notes.append(
            say(
                "{key} of {profile} is {path}, which {what}; {default} is used.",
                key=key,
                profile=self._path,
                path=path,
                what=what,
                default=default,
            )
        )
        return default

    def _is_below(self, path: str, folder: str) -> bool:
        """Return whether a path is below a folder once links are followed."""
        return self._real(path).startswith(self._real(folder).rstrip("/") + "/")

    def _is_in_home(self, path: str) -> bool:
        """Return whether a folder is below the home folder of the Root, and in no hidden one."""
        home = self._root.home
        return self._is_below(path, home) and "/." not in self._real(path).removeprefix(self._real(home).rstrip("/"))

    def _texts(self, value: object, key: str) -> list[str]:
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InvalidProfile(
                say("{key} in the profile {path} is not a list of names.", path=self._path, key=key),
                hint=say('Write {key} = ["memory", "planner"].', key=key),
            )
        return [self._name("seat", item) for item in value if item]

    def _seats(self, project: str) -> tuple[str, ...]:
        seats = self._texts(self._table.get("seats"), "seats")
        teams = self._table.get("teams")
        for team in teams.values() if isinstance(teams, dict) else ():
            seats += self._texts(team.get("seats"), "seats of a team") if isinstance(team, dict) else []
        roster = self._table.get("dynamic_roster")
        if isinstance(roster, dict) and roster.get("enabled") is True:
            owner = self._optional("heartbeat_owner", FRONT)
            seats = [self._name("heartbeat_owner", owner), *seats] if owner else seats
            seats += self._texts(roster.get("materialized_seats"), "materialized_seats")
            seats += self._running(project, roster)
        return tuple(dict.fromkeys(seats))

    def _running(self, project: str, roster: Mapping[str, object]) -> list[str]:
        """Return the seats with a session on this machine."""
        given = roster.get("session_root")
        folder = f"{self._root.sessions}/{project}"
        if _is_text(given):
            self._table = {**self._table, "session_root": given}
            folder = f"{self._expand('session_root')}/{project}"
        found = []
        for name in folders.names_in(folder):
            if os.path.isfile(f"{folder}/{name}/session.toml"):
                try:
                    found.append(check_name(name, "seat"))
                except InvalidName as error:
                    self._notes.append(say("{folder}: {fault}", folder=folder, fault=error.sentence))
        return found

    def _roles(self) -> dict[str, str]:
        roles = self._table.get("seat_roles", {})
        if not isinstance(roles, dict) or not all(isinstance(role, str) for role in roles.values()):
            raise InvalidProfile(
                say("seat_roles in the profile {path} is not a table.", path=self._path),
                hint=say('Write lines such as planner = "planner" under it.'),
            )
        return {str(seat): str(role) for seat, role in roles.items()}
