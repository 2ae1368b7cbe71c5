"""List the names that a Root knows: for completion in the shell, and for hints."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from oracle.app.context import Context
from oracle.app.decisions.overdue import DECISION
from oracle.app.delivery.listed import STATES
from oracle.domain.delivery import receipts, workflows
from oracle.domain.names import ENTITY, NAMESPACES, ORPHAN_KINDS, ROLES
from oracle.domain.records import drafts
from oracle.domain.spelling import guess
from oracle.errors import OracleError
from oracle.index.read.names import distinct, entities_beginning, slugs_beginning
from oracle.store.root import facts, profile, projects
from oracle.store.root.layout import Root
from oracle.wording import say

MAX_OFFERED = 200
_MOST_BYTES = 8 << 20
"""Bytes of a fact file whose keys are offered: a press of a key must not cost a second."""
COLUMNS = ("project", "seat", "kind", "status", "author")
"""What `names` can be asked for."""

_PREFIXES = {"task": "entity:taskid:", "session": "entity:key:session/"}


def names(context: Context, what: str) -> list[str]:
    """Return the different values of one of COLUMNS, sorted. A status is the effective one."""
    return context.index.read(lambda connection: distinct(connection, what))


def known_words(context: Context, filters: Mapping[str, str]) -> str:
    """Return the way out when a kind, status or author was asked for that no record has, "" if each is known."""
    for name in ("kind", "status", "author"):
        asked = filters.get(name, "").strip().lower()
        known = names(context, name) if asked else []
        if not known or asked in (word.lower() for word in known):
            continue
        if meant := guess(asked, known):
            return meant
        if name != "author":
            kinds = say("Known kinds: {known}.", known=known)
            return kinds if name == "kind" else say("Known statuses: {known}.", known=known)
    return ""


def offer(context: Context, what: str, beginning: str, *, project: str = "") -> list[str]:
    """Return up to MAX_OFFERED names that begin so, from the index as it is, which is not brought up to date.

    `what` is one of COLUMNS, slug, target (a slug or an entity), task, session or fact (a key of the next level, from `project`
    first). Or it is a name of a team, whether records have it or not: member (a seat), handoff (a task, in `project` or in
    any), decision, peer.
    """
    if what in _WORDS:
        own = [word for word in _WORDS[what]() if word.startswith(beginning)]
        return own if what != "status" else list(dict.fromkeys((*own, *_of_records(context, what, beginning))))
    if what == "fact":
        return _chosen(_facts(context.root, beginning, project), beginning)
    if what in _TEAM:
        return _chosen(_TEAM[what](context, project), beginning)
    found = _of_records(context, what, beginning)
    return _chosen([*found, *_projects(context)], beginning) if what == "project" else found


def _chosen(found: Iterable[str], beginning: str) -> list[str]:
    return sorted({name for name in found if name.startswith(beginning)})[:MAX_OFFERED]


def _facts(root: Root, beginning: str, project: str) -> Iterator[str]:
    """Yield the names of fact files, or behind a dot the keys of the next level that have a value; never a value."""
    name, dot, rest = beginning.partition(".")
    if not dot:
        yield from (label.removeprefix("machine/") for label, _ in facts.fact_files(root))
        if project:
            yield from (os.path.basename(path)[: -len(".json")] for _, path in facts.project_files(root, project))
        return
    with suppress(OracleError, OSError):
        path, _ = facts.find_file(root, name, project)
        if os.path.getsize(root.join(path)) <= _MOST_BYTES:
            yield from _keys(facts.load(root, path), name, rest.split("."))


def _keys(content: object, before: str, typed: list[str]) -> Iterator[str]:
    """Yield the keys, `before` included, at every place that what is typed may lead to: a key may hold dots itself."""
    for number in range(len(typed)):
        place = facts.look_up(content, typed[:number])
        above = ".".join([before, *typed[:number]])
        if isinstance(place, dict):
            yield from (f"{above}.{key}" for key, value in place.items() if value is not None)
        elif isinstance(place, list):
            yield from (f"{above}.{index}" for index, value in enumerate(place) if value is not None)


def _of_records(context: Context, what: str, beginning: str) -> list[str]:
    database = context.index.database
    if not os.path.isfile(context.root.database) or not database.is_ready():
        return []
    connection = database.connect()
    if what in COLUMNS:
        return [name for name in distinct(connection, what) if name.startswith(beginning)][:MAX_OFFERED]
    if what in _PREFIXES:
        found = entities_beginning(connection, _PREFIXES[what] + beginning, MAX_OFFERED)
        return [name.removeprefix(_PREFIXES[what]) for name in found]
    entities = entities_beginning(connection, beginning, MAX_OFFERED) if what == "target" else []
    if beginning.startswith(ENTITY):
        return entities
    return [*entities, *slugs_beginning(connection, beginning, MAX_OFFERED)][:MAX_OFFERED]


# What a team goes by --------------------------------------------------------------------------------------------------


def _projects(context: Context) -> list[str]:
    return [*profile.projects(context.root), *projects.names(context.root, os.environ)]


def _teams(context: Context, project: str) -> Iterator[profile.Profile]:
    """Yield the profile of a project, else those of all; one that can't be read hides no other."""
    for name in [project] if project else profile.projects(context.root):
        with suppress(OracleError, OSError):
            yield profile.load(context.root, name, os.environ)


def _members(context: Context, project: str) -> list[str]:
    seats = [seat for team in _teams(context, project) for seat in team.seats]
    return [*seats, *_of_records(context, "seat", "")]


def _handoffs(context: Context, project: str) -> Iterator[str]:
    for team in _teams(context, project):
        with suppress(OSError):
            parsed = map(receipts.parse_file_name, os.listdir(team.handoff_dir))
            yield from (found[0].task_id for found in parsed if found is not None)


def _decisions(context: Context, project: str) -> Iterator[str]:
    return (name for name in _handoffs(context, project) if DECISION.match(f"{name}__"))


def _peers(context: Context, project: str) -> Iterator[str]:
    from oracle.app.teamwork.peers import list_peers

    return (found.delivery.peer for found in list_peers(context, project)) if project else iter(())


_TEAM: Mapping[str, Callable[[Context, str], Iterable[str]]] = {
    "member": _members,
    "handoff": _handoffs,
    "decision": _decisions,
    "peer": _peers,
}


# What the program knows by itself -------------------------------------------------------------------------------------


def _scanners() -> Iterable[str]:
    from oracle.scan.machine import SCANNERS

    return SCANNERS


def _edge_types() -> Iterable[str]:
    from oracle.domain.links.links import EDGE_TYPES

    return EDGE_TYPES


_WORDS: Mapping[str, Callable[[], Iterable[str]]] = {
    "state": lambda: STATES,
    "scanner": _scanners,
    "role": lambda: ROLES,
    "step status": lambda: workflows.STATUSES,
    "status": lambda: drafts.STATUSES,
    "edge type": _edge_types,
    "namespace": lambda: NAMESPACES,
    "own kind": lambda: ORPHAN_KINDS,
}
