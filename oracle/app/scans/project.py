"""Scan a repository into facts about its project: `projects/<p>/<kind>.json`, one file for each kind."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

from oracle.app.context import Context
from oracle.app.records.new_project import refuse_mistyped
from oracle.domain import timestamps
from oracle.domain.names import check_name
from oracle.domain.spelling import suggest
from oracle.domain.values import value
from oracle.errors import InvalidRecord, NotFound, UsageError
from oracle.scan.project import DEPTHS, scan
from oracle.store.root import facts, projects
from oracle.wording import say

Record = dict[str, object]

SCHEMA_VERSION = 1
WRITTEN, UNCHANGED, CHANGED = "written", "unchanged", "changed"
"""Outcomes of a file: `changed` means that the file on disk differs from the scan, and was not replaced."""


@value
class ProjectScan:
    """Facts about a project, one record for each kind, and the outcome of each file. A dry run has no outcomes."""

    project: str
    repository: str
    depth: str
    records: Mapping[str, Record]
    paths: Mapping[str, str]
    outcomes: Mapping[str, str]

    def those(self, outcome: str) -> list[str]:
        """Return the paths of the files with an outcome."""
        return [self.paths[kind] for kind in self.records if self.outcomes.get(kind) == outcome]


def scan_project(
    context: Context,
    project: str,
    repository: str = "",
    *,
    depth: str = "shallow",
    commit: bool = False,
    force: bool = False,
    new_project: bool = False,
) -> ProjectScan:
    """Scan a repository, by default the registered one of the project. Facts are written with `commit` or `force`.

    Files that differ are replaced only with `force`. `new_project` confirms a name one letter off a known one. Raises
    InvalidName, MistypedProject, UsageError for an unknown depth, NotFound for a missing repository, LockTimeout,
    DiskFailure.
    """
    name = check_name(project, "project")
    if depth not in DEPTHS:
        raise UsageError(say("Unknown depth {depth!r}.", depth=depth), hint=suggest(depth, DEPTHS))
    folder = os.path.realpath(_find(context, name, repository))
    moment = timestamps.print_moment(context.now())
    records = {kind: _record(name, kind, moment, data) for kind, data in scan(folder, depth).items()}
    paths = {kind: facts.project_path(context.root, name, kind) for kind in records}
    if not (commit or force):
        return ProjectScan(name, folder, depth, records, paths, {})
    context.root.require()
    if not new_project:
        refuse_mistyped(context, name)
    with context.index.lock():
        outcomes = {kind: _commit(context, paths[kind], record, force=force) for kind, record in records.items()}
    written = [kind for kind, outcome in outcomes.items() if outcome == WRITTEN]
    context.note("scan", {"project": name, "depth": depth, "written": written})
    return ProjectScan(name, folder, depth, records, paths, outcomes)


def _find(context: Context, project: str, stated: str) -> str:
    if stated:
        path = os.path.abspath(os.path.expanduser(stated))
        if os.path.isdir(path):
            return path
        raise NotFound(
            say("{path} is not a folder.", path=path), hint=say("Name the folder of the repository with --repo.")
        )
    found = projects.repository(context.root, project, os.environ)
    if not found:
        raise NotFound(
            say("{project} has no repository.", project=project),
            hint=say("Name it with --repo, or register it with `oracle project add`."),
        )
    return found


def _record(project: str, kind: str, moment: str, data: Record) -> Record:
    title = f"{kind} of {project}"
    digest = hashlib.sha256(f"{kind}:{project}:{title}:{moment}".encode()).hexdigest()
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "id": f"{kind}-{project}-{digest[:8]}",
        "project": project,
        "author": "memory",
        "ts": moment,
        "title": title,
        "body": "",
        "related_task_ids": [],
        "evidence": [],
        "supersedes": None,
        "confidence": "high",
        "source": "scanner",
        "data": data,
    }


def _commit(context: Context, path: str, record: Record, *, force: bool) -> str:
    """Write a new file, or replace one that differs if `force` allows it. Return the outcome."""
    if os.path.lexists(path):
        if _data(context, path) == record["data"]:
            return UNCHANGED
        if not force:
            return CHANGED
    facts.save(context.root, path, record)
    return WRITTEN


def _data(context: Context, path: str) -> object:
    try:
        found = facts.load(context.root, context.root.relative(path))
    except InvalidRecord:
        return None
    return found.get("data") if isinstance(found, dict) else None
