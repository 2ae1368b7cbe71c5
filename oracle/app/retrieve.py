"""Read: listings, search with snippets, a record's lines, walks, counts. Every text shown is read from disk now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from oracle.app.oracle import Oracle
from oracle.app.passages import best_passage
from oracle.app.views import Hit, Shown, Summary
from oracle.domain import timestamps
from oracle.domain.links import reference_key
from oracle.domain.seats import role_of
from oracle.domain.slugs import check_name
from oracle.errors import NotInFederation, NotInMemory, UsageError
from oracle.index import fold, query
from oracle.index.db import Connection, get_meta
from oracle.store import facts, records

_FILTERS = ("project", "seat", "kind", "status", "author", "task", "since", "until")
_SPARE_HITS = 8


def list_records(
    oracle: Oracle, filters: Mapping[str, str], *, limit: int, newest_first: bool, fresh: bool
) -> list[Summary]:
    """Return the records that pass the filters; an absent project or seat is an error, not an empty list."""
    wanted = _check_filters(filters)
    rows = oracle.index.read(
        lambda connection: query.listing(connection, wanted, limit=limit, newest_first=newest_first), fresh=fresh
    )
    if not rows:
        _require_present(oracle, wanted)
    return [Summary.from_row(row) for row in rows]


def list_orphans(oracle: Oracle, project: str, *, fresh: bool) -> list[Summary]:
    """Return the records without any link to or from another record."""
    rows = oracle.index.read(lambda connection: query.orphans(connection, project), fresh=fresh)
    if not rows:
        _require_present(oracle, {"project": project})
    return [Summary.from_row(row) for row in rows]


def search(oracle: Oracle, text: str, filters: Mapping[str, str], *, limit: int, fresh: bool) -> list[Hit]:
    """Return up to `limit` hits with a snippet of at most 700 characters from the file as it is now."""
    if limit < 1:
        raise UsageError(f"The limit {limit} is too small.", hint="Ask for 1 hit or more.")
    wanted = _check_filters(filters)
    expression = fold.match_expression(text)

    def ask(connection: Connection) -> list[Hit]:
        rows = query.search(connection, expression, wanted, limit=limit + _SPARE_HITS) if expression else []
        hits: list[Hit] = []
        for score, _, *row in rows:
            hit = _read_hit(oracle, text, float(str(score)), Summary.from_row(row))
            if hit is not None and len(hits) < limit:
                chain = (
                    tuple(slug for slug, _ in query.retirers(connection, hit.record.slug))
                    if hit.record.retired_by
                    else ()
                )
                hits.append(replace(hit, chain=chain))
        return hits

    hits = oracle.index.read(ask, fresh=fresh)
    if not hits:
        _require_present(oracle, wanted)
    return hits


def _read_hit(oracle: Oracle, text: str, score: float, record: Summary) -> Hit | None:
    """Read the record's file; None when it is gone since the index last looked."""
    try:
        raw = records.read(oracle.root.join(record.path))
    except OSError:
        return None
    document = records.parse(record.path, raw)
    if record.path.endswith(".json"):  # its body is put together from several values
        return Hit(record, score, best_passage(document.body, text).text, 1, max(1, len(_lines_of(raw))))
    if not document.body.strip():  # what was found stands in the frontmatter
        passage = best_passage("\n".join(_lines_of(raw)), text)
        return Hit(record, score, passage.text, passage.first_line, passage.last_line)
    passage = best_passage(document.body, text)
    shift = document.body_line - 1
    return Hit(record, score, passage.text, passage.first_line + shift, passage.last_line + shift)


def _lines_of(raw: bytes) -> list[str]:
    """Return the lines of a file as they are counted everywhere, without their ends."""
    lines = raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def show(oracle: Oracle, slug: str, *, first_line: int, last_line: int, fresh: bool) -> Shown:
    """Return lines of a record; a bare last part is enough when it names one record. Raises NotInMemory, UsageError."""
    name = oracle.target(slug)

    def find(
        connection: Connection,
    ) -> tuple[Summary, tuple[str, ...], tuple[str, ...], tuple[tuple[int, str], ...]]:
        record = _find(connection, name)
        chain = tuple(by for by, _ in query.retirers(connection, record.slug))
        found = tuple(
            (line, reason) for path, line, reason in query.problems(connection, record.path) if path == record.path
        )
        return record, chain, tuple(query.retired_by(connection, record.slug)), found

    record, chain, supersedes, problems = oracle.index.read(find, fresh=fresh)
    try:
        raw = records.read(oracle.root.join(record.path))
    except OSError as error:
        raise NotInMemory(
            f"not_in_memory_db: {record.path} can't be read: {error.strerror}.", hint="Run `oracle doctor`."
        ) from error
    lines = _lines_of(raw)
    last = min(last_line or len(lines), len(lines))
    if first_line < 1 or (lines and first_line > last):
        raise UsageError(
            f"{record.slug} has lines 1 to {len(lines)}, not {first_line}:{last_line}.",
            hint="Choose lines inside it, as in --lines 1:20.",
        )
    text = "\n".join(lines[first_line - 1 : last])
    return Shown(record, text, first_line, last, len(lines), chain, supersedes, problems)


def _find(connection: Connection, name: str) -> Summary:
    row = query.summary(connection, name)
    if row is not None:
        return Summary.from_row(row)
    near = query.slugs_named(connection, reference_key(name))
    inside = [slug for slug in near if slug.endswith("/" + name)]
    if len(inside) == 1:
        return Summary.from_row(query.summary(connection, inside[0]) or ())
    hint = f"Did you mean {', '.join(near[:5])}?" if near else "See what there is with `oracle list`."
    raise NotInMemory(f"not_in_memory_db: no record {name}.", hint=hint)


def status(oracle: Oracle, *, fresh: bool) -> dict[str, object]:
    """Return what the Root holds, by project, seat and kind, with the totals and the freshness of the index."""

    def count(connection: Connection) -> dict[str, object]:
        groups = [
            {"project": project, "seat": seat, "kind": kind, "records": number, "newest": newest}
            for project, seat, kind, number, newest in query.counts(connection)
        ]
        looked = get_meta(connection, "full_look").partition(" ")[0]
        return {
            "root": oracle.root.path,
            **query.totals(connection),
            "groups": groups,
            "facts": [path for _, path in facts.fact_files(oracle.root)],
            "freshness": {
                "last_full_stat": timestamps.from_mtime(int(looked or 0)),
                "stale": oracle.index.stale,
                "in_memory": oracle.index.database.in_memory,
            },
        }

    return oracle.index.read(count, fresh=fresh)


def _check_filters(filters: Mapping[str, str]) -> dict[str, str]:
    """Check names and dates of filters; since and until become sortable timestamps. Raises UsageError."""
    wanted = {name: value for name, value in filters.items() if value}
    for name in wanted:
        if name not in _FILTERS:
            raise UsageError(f"There is no filter {name!r}.", hint=f"Filters are {', '.join(_FILTERS)}.")
    for name in ("project", "seat"):
        if name in wanted:
            wanted[name] = check_name(wanted[name], name)
    for name in ("since", "until"):
        if name in wanted:
            wanted[name] = _moment(wanted[name], name)
    if "task" in wanted:
        wanted["task"] = wanted["task"].removeprefix("entity:taskid:")
    return wanted


def _moment(text: str, name: str) -> str:
    moment = timestamps.to_utc(text)
    if not moment:
        raise UsageError(f"--{name} {text!r} is not a date.", hint="Write it as 2026-04-27 or 2026-04-27T18:30:00Z.")
    is_day = len(text.strip()) == len("2026-01-01")
    return moment.replace("T00:00:00.000000Z", "T23:59:59.999999Z") if name == "until" and is_day else moment


def _require_present(oracle: Oracle, wanted: Mapping[str, str]) -> None:
    """Raise NotInFederation when the project or the seat asked for has no folder at all."""
    project, seat = wanted.get("project", ""), wanted.get("seat", "")
    if project and not os.path.isdir(oracle.root.join(oracle.root.project(project))):
        raise NotInFederation(
            f"not_in_federated_kb: there is no project {project} under {oracle.root.path}.", hint="See `oracle status`."
        )
    if not seat or role_of(seat) == "memory":
        return
    projects = [project] if project else _folders(oracle.root.join("projects"))
    if not any(os.path.isdir(oracle.root.join(f"projects/{name}/{seat}")) for name in projects):
        where = f"project {project}" if project else "any project"
        raise NotInFederation(
            f"not_in_federated_kb: the seat {seat} has no folder in {where}.", hint="See `oracle status`."
        )


def _folders(path: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir())
    except OSError:
        return []
