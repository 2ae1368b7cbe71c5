"""Search and show: what is printed of a record is read from its file at that moment."""

from __future__ import annotations

from collections.abc import Mapping

from oracle.app import naming
from oracle.app.oracle import Oracle
from oracle.app.passages import best_passage
from oracle.app.retrieve import check_filters, require_present
from oracle.app.views import Hit, Shown, Summary
from oracle.domain.values import replace
from oracle.errors import NotInMemory, UsageError
from oracle.index import fold, query
from oracle.index.db import Connection
from oracle.store import records

_SPARE_HITS = 8
"""Hits asked for beyond the limit, in case some files are gone since the index last looked."""


def search(oracle: Oracle, text: str, filters: Mapping[str, str], *, limit: int, fresh: bool) -> list[Hit]:
    """Return up to `limit` hits with a snippet of at most 700 characters from the file as it is now."""
    if limit < 1:
        raise UsageError(f"The limit {limit} is too small.", hint="Ask for 1 hit or more.")
    wanted = check_filters(filters)
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
        require_present(oracle, wanted)
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
    """Return lines of a record; any name of a record will do. Raises NotInMemory, UsageError."""
    name = oracle.target(slug)

    def find(
        connection: Connection,
    ) -> tuple[Summary, tuple[str, ...], tuple[str, ...], tuple[tuple[int, str], ...]]:
        record = Summary.from_row(query.summary(connection, naming.find_record(oracle, connection, name)) or ())
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
