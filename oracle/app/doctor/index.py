"""Checks of derived data: the index, its projections, and what was not printed. Reads only."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from oracle.app.doctor import root_checks
from oracle.app.doctor.context import FIX, Check, CheckContext, capped, error, first_few, note, passed, quoted, warning
from oracle.app.doctor.diagnosis import ABSENT, BUSY, DAMAGED, OUTDATED
from oracle.app.doctor.layout import leaves
from oracle.domain.names import FOREIGN, flatten
from oracle.index.listing import LINKED_FOLDER
from oracle.index.read import query
from oracle.index.write import projection_checks, projections
from oracle.wording import say, say_many

_READ_LIMIT = 256 * 1024 * 1024
"""Bytes of a published file that are read."""


def check_index(context: CheckContext) -> Iterator[Check]:
    """Check that the index exists, is whole, of this version and equal to a rebuild."""
    found = context.index
    if found.state == ABSENT:
        yield warning("index", say("there is none; the next query builds it"), FIX)
    elif found.state == DAMAGED:
        yield error(
            "index", say("{database} is damaged: {reason}", database=context.root.database, reason=found.reason), FIX
        )
    elif found.state == BUSY and found.reason:
        yield note("index", say("it was not examined: {reason}", reason=found.reason))
    elif found.state == BUSY:
        yield note("index", say("it is being written just now and was not examined; look again"))
    elif found.state == OUTDATED and _is_writer_at_work(context):
        yield note("index", say("{reason}, and a writer is at work; look again", reason=found.reason))
    elif found.state == OUTDATED:
        yield warning("index", say("{reason}; the next query rebuilds it", reason=found.reason), FIX)
    elif found.wrong:
        names = [f"{slug} ({what})" for slug, what in found.wrong.items()]
        yield error(
            "index",
            say_many(
                "{n} differs from a rebuild: {names}",
                "{n} differ from a rebuild: {names}",
                n=len(names),
                names=first_few(names),
            ),
            FIX,
        )
    else:
        sound = say_many(
            "{n} record, as a rebuild would have it", "{n} records, as a rebuild would have them", n=found.records
        )
        if found.sampled:
            sound = say(
                "{count} records; of {sampled} chosen at random, each is as a rebuild would have it",
                count=found.records,
                sampled=found.sampled,
            )
        waiting = say_many(
            "{sound}; {n} change on disk waits for the next query",
            "{sound}; {n} changes on disk wait for the next query",
            n=found.behind,
            sound=sound,
        )
        yield passed("index", waiting if found.behind else sound)
    if found.emptied:
        accept = say(
            "Mount the disk or name the right Root; if they were really removed: oracle index reconcile --accept-removals"
        )
        yield error("tree", found.emptied, accept)


def _is_writer_at_work(context: CheckContext) -> bool:
    return root_checks.is_locked(context.root)


def check_projections(context: CheckContext) -> Iterator[Check]:
    """Compare `_links/` and `_backlinks/` with the index, byte for byte."""
    if context.index.blocked:
        yield error("projections", context.index.blocked, say("Move it away, then {fix}", fix=FIX))
    stale = [os.path.relpath(path, context.root.path) for path in context.index.stale]
    if not stale:
        return
    strays = set(stale) - _sources(context)
    detail = say_many(
        "{n} file is missing, stale or stray: {names}",
        "{n} files are missing, stale or stray: {names}",
        n=len(stale),
        names=first_few(stale),
    )
    if _is_writer_at_work(context):
        yield note("projections", say("{detail}; a writer is at work, look again", detail=detail))
    else:
        yield warning(
            "projections",
            say("{detail} ({count} of them stray)", detail=detail, count=len(strays)) if strays else detail,
            FIX,
        )


def _sources(context: CheckContext) -> set[str]:
    """Return the paths that projections of something in the tree have."""
    rows = context.index.truth.connect().execute(
        "SELECT '_links', slug FROM record UNION ALL SELECT '_backlinks', name FROM target"
    )
    return {f"{side}/{flatten(name)}.jsonl" for side, name in rows}


def check_unprinted(context: CheckContext) -> Iterator[Check]:
    """Report targets whose writer died between commit and print, and links that are left out of `_backlinks/`."""
    count, records = projection_checks.count_unprinted(context.index.truth.connect())
    if count:
        yield note(
            "unprinted",
            say(
                "_backlinks leaves out {count} links of {records} records: it holds at most {most} of one; the index has all",
                count=count,
                records=records,
                most=projections.MOST_PRINTED,
            ),
        )
    if context.index.dirty and not _is_writer_at_work(context):
        yield warning(
            "unprinted",
            say("{dirty} projections wait to be printed: a writer died after its commit", dirty=context.index.dirty),
            FIX,
        )


def check_published(context: CheckContext) -> Iterator[Check]:
    """Report published files (`index.json`, `projects/*/_index/*`) that are torn."""
    yield from capped(
        warning("published", say("{path}:{line}: not valid JSON", path=path, line=line), FIX)
        for path, line in torn_files(context)
    )


def torn_files(context: CheckContext) -> Iterator[tuple[str, int]]:
    """Yield (path, line) of published files that hold no JSON."""
    published = [entry.path for entry in context.tree.derived if entry.is_file and "/_index/" in entry.path]
    if os.path.isfile(context.root.catalogue):
        published.insert(0, os.path.basename(context.root.catalogue))
    for path in published:
        if path.endswith((".json", ".jsonl")):
            line = _first_bad_line(context.root.join(path))
            if line:
                yield path, line


def _first_bad_line(path: str) -> int:
    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size > _READ_LIMIT:
            return 0
        texts = enumerate(stream, 1) if path.endswith(".jsonl") else iter([(1, stream.read())])
        for number, text in texts:
            try:
                json.loads(text)
            except (ValueError, RecursionError) as trouble:
                return number + getattr(trouble, "lineno", 1) - 1
    return 0


def check_problems(context: CheckContext) -> Iterator[Check]:
    """Report what could not be read cleanly, by path and line."""
    leaving = {entry.path for entry in context.tree.entries if leaves(context, entry)}
    rows = [
        row
        for row in query.problems(context.index.truth.connect())
        if row[0] not in leaving
        and row[0] not in context.tree.unreadable
        and not row[0].endswith(".toml")
        and not row[0].startswith(FOREIGN)
    ]
    yield from capped((_problem(context, *row) for row in rows), 100)


def _problem(context: CheckContext, path: str, line: int, reason: str) -> Check:
    what = say("{path}:{line}: {reason}", path=path, line=line, reason=reason)
    if reason == LINKED_FOLDER:
        return note("problem", what)
    return warning(
        "problem", what, say("Its owner must correct the file: {path}", path=quoted(context.root.join(path)))
    )
