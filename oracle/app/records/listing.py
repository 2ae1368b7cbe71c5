"""List records from the index, with the filters that every command shares."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from oracle.app.context import Context
from oracle.app.records.views import Summary
from oracle.domain import timestamps
from oracle.domain.names import ROLES, check_name, fold_name, is_entity, role_of
from oracle.errors import NotInFederation, UsageError
from oracle.index.db import Connection
from oracle.index.read import query
from oracle.wording import Sentence, say

_RECHECKED = 200
"""How many of the first records of a list are looked at again, where not every question looks at all files."""

FILTERS = ("project", "seat", "kind", "status", "author", "task", "since", "until")


def list_records(
    context: Context, filters: Mapping[str, str], *, limit: int = 0, newest_first: bool = False, fresh: bool = False
) -> list[Summary]:
    """Return the records that pass `filters` (see `FILTERS`); `limit` 0 means all. Raises NotInFederation, UsageError."""
    wanted = check_filters(filters)

    def ask(connection: Connection) -> list[query.Row]:
        return query.listing(connection, wanted, limit=limit, newest_first=newest_first)

    rows = context.index.find(ask, fresh=fresh)
    if context.index.in_rounds:
        from oracle.index.fresh import READER_PATIENCE
        from oracle.index.rounds import folders_edited

        paths = [str(row[1]) for row in rows[:_RECHECKED]]
        doubted = folders_edited(context.index.database.connect(), context.root, paths)
        if doubted and context.index.follow(full=False, doubted=doubted, patience=READER_PATIENCE):
            rows = context.index.read(ask)
    if not rows:
        require_present(context, wanted)
    return [Summary.from_row(row) for row in rows]


def list_orphans(context: Context, project: str = "", *, fresh: bool = False) -> list[Summary]:
    """Return the records without any link to or from another record."""
    from oracle.index.read import loose_ends

    rows = context.index.read(lambda connection: loose_ends.orphans(connection, project), fresh=fresh)
    if not rows:
        require_present(context, {"project": project})
    return [Summary.from_row(row) for row in rows]


def list_problems(context: Context, prefix: str = "") -> list[tuple[str, int, str]]:
    """Return (path, line, reason) of every file that could not be read cleanly."""
    return context.index.read(lambda connection: query.problems(connection, prefix))


def check_filters(filters: Mapping[str, str]) -> dict[str, str]:
    """Check filters; return sortable times and folded names. Raises UsageError."""
    wanted = {name: value for name, value in filters.items() if value}
    for name in wanted:
        if name not in FILTERS:
            raise UsageError(
                say("There is no filter {name!r}.", name=name), hint=say("Filters are {filters}.", filters=FILTERS)
            )
    for name in ("project", "seat"):
        if name in wanted:
            wanted[name] = check_name(wanted[name], name)
    for name in ("seat", "kind", "status"):
        if name in wanted:
            wanted[name] = fold_name(wanted[name])
    for name in ("since", "until"):
        if name in wanted:
            wanted[name] = read_moment(wanted[name], name)
    if "task" in wanted:
        wanted["task"] = wanted["task"].removeprefix("entity:taskid:")
    return wanted


def read_moment(text: str, name: str) -> str:
    """Return the sortable timestamp that `since` or `until` is; a day is until its end. Raises UsageError for an invalid date."""
    moment = timestamps.to_utc(text)
    if not moment:
        raise UsageError(
            say("--{name} {text!r} is not a date.", name=name, text=text),
            hint=say("Write it as 2026-04-27 or 2026-04-27T18:30:00Z."),
        )
    is_day = ":" not in text and not text.strip()[len("2026-01-01") :].startswith("T")
    return moment.replace("T00:00:00.000000Z", "T23:59:59.999999Z") if name == "until" and is_day else moment


def require_present(context: Context, wanted: Mapping[str, str]) -> None:
    """Raise NotInFederation when the project or the seat asked for has no folder at all."""
    project, seat = wanted.get("project", ""), wanted.get("seat", "")
    is_source = any(source.project == project for source in context.root.load_sources().values())
    if project and not is_source and not os.path.isdir(context.root.join(context.root.project(project))):
        has_profile = os.path.exists(context.root.profile_file(project))
        raise NotInFederation(
            _absent(say("{path} has no project {project}", project=project, path=context.root.path)),
            hint=say(
                "It has a profile and no record yet; a seat's first one makes projects/{project}/SEAT/.",
                project=project,
            )
            if has_profile
            else _meant(project, _folders(context.root.join("projects"))),
        )
    if not seat or role_of(seat) == "memory":
        return
    projects = [project] if project else _folders(context.root.join("projects"))
    folders = [folder for name in projects for folder in _folders(context.root.join(f"projects/{name}"))]
    if not any(fold_name(folder) == seat for folder in folders):
        reason = say("the seat {seat} has no folder in any project", seat=seat)
        if project:
            reason = say("the seat {seat} has no folder in project {project}", seat=seat, project=project)
        raise NotInFederation(_absent(reason), hint=_meant(seat, [*folders, *(role for role in ROLES if role != seat)]))


def _absent(reason: Sentence) -> Sentence:
    return say("not_in_federated_kb: {reason}.", reason=reason)


def _meant(name: str, known: Iterable[str]) -> Sentence:
    """Return the hint for a name that nothing has, with the nearest that something has."""
    from difflib import get_close_matches

    near = get_close_matches(name, [one for one in set(known) if not one.startswith(("_", "."))], n=1)
    return (
        say("Did you mean {name}? See `oracle index status`.", name=near[0])
        if near
        else say("See `oracle index status`.")
    )


def _folders(path: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir())
    except OSError:
        return []


def standing(context: Context) -> dict[str, object]:
    """Return `problems`, the number of files that could not be read cleanly, and `freshness`."""
    connection = context.index.database.connect()
    return {
        "problems": query.count_problems(connection),
        "freshness": {
            "last_full_stat": timestamps.from_mtime(context.index.seen_ns),
            "stale": context.index.stale,
            "in_memory": context.index.database.in_memory,
        },
    }


def marks(context: Context, targets: Iterable[str]) -> dict[str, str]:
    """Return the mark of each target that does not hold: missing, superseded or retired; entities always hold."""
    found: dict[str, str] = {}
    for target, record in find_records(context, targets).items():
        status = record.effective_status if record is not None else "missing"
        if status in ("missing", "superseded", "retired"):
            found[target] = status
    return found


def find_records(context: Context, targets: Iterable[str]) -> dict[str, Summary | None]:
    """Return the record of each target that is no entity, None for a missing one."""
    connection = context.index.database.connect()
    rows = {target: query.summary(connection, target) for target in targets if not is_entity(target)}
    return {target: None if row is None else Summary.from_row(row) for target, row in rows.items()}


def successor(context: Context, slug: str) -> str:
    """Return the record that replaced a retired one, "" when it holds or was retired without a successor."""
    connection = context.index.database.connect()
    chain = query.retirers(connection, slug)
    if not chain:
        return ""
    last, how = chain[-1]
    if how == "supersedes":
        return last
    supported = query.links(
        connection, last, ("supports",)
    )  # a refresh of memories names there what it puts in the place
    return supported[0][1] if supported else ""


def chains(context: Context, slugs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each retired record among `slugs`, the records that replaced it, nearest first."""
    connection = context.index.database.connect()
    found = {slug: tuple(by for by, _ in query.retirers(connection, slug)) for slug in dict.fromkeys(slugs)}
    return {slug: chain for slug, chain in found.items() if chain}
