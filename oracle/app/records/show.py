"""Show lines of a record, read from its file at that moment."""

from __future__ import annotations

from oracle.app.context import Context
from oracle.app.records import naming
from oracle.app.records.targets import resolve
from oracle.app.records.views import Shown, Summary
from oracle.domain.links.links import CLAIMS
from oracle.domain.markdown.documents import text_of
from oracle.errors import NotInMemory, UsageError
from oracle.index.db import Connection
from oracle.index.read import query
from oracle.store.markdown import records
from oracle.wording import say


def show(context: Context, slug: str, *, first_line: int = 1, last_line: int = 0, fresh: bool = False) -> Shown:
    """Return lines of a record; `last_line` 0 means the end. Any name of a record will do. Raises NotInMemory, UsageError."""
    name = resolve(context, slug)

    def find(
        connection: Connection,
    ) -> tuple[Summary, tuple[str, ...], tuple[str, ...], tuple[tuple[int, str], ...], tuple[tuple[str, str], ...]]:
        record = Summary.from_row(query.summary(connection, naming.find_record(context, connection, name)) or ())
        chain = tuple(by for by, _ in query.retirers(connection, record.slug))
        found = tuple(
            (line, reason) for path, line, reason in query.problems(connection, record.path) if path == record.path
        )
        claims = tuple(row[:2] for row in query.backlinks(connection, record.slug, tuple(CLAIMS.values())))
        return record, chain, tuple(query.retired_by(connection, record.slug)), found, claims

    record, chain, supersedes, problems, claims = context.index.find(find, fresh=fresh)
    try:
        raw = records.read(context.root.join(record.path))
    except OSError as error:
        raise NotInMemory(
            say("not_in_memory_db: {path} can't be read: {strerror}.", path=record.path, strerror=error.strerror),
            hint=say("Run `oracle doctor`."),
        ) from error
    lines = lines_of(raw)
    last = min(last_line or len(lines), len(lines))
    if first_line < 1 or (lines and first_line > last):
        raise UsageError(
            say(
                "{slug} has lines 1 to {count}, not {first_line}:{last_line}.",
                slug=record.slug,
                count=len(lines),
                first_line=first_line,
                last_line=last_line,
            ),
            hint=say("Choose lines inside it, as in --lines 1:20."),
        )
    text = "\n".join(lines[first_line - 1 : last])
    return Shown(record, text, first_line, last, len(lines), chain, supersedes, problems, claims)


def lines_of(raw: bytes) -> list[str]:
    """Return the lines of a file as they are counted everywhere, without their ends."""
    lines = text_of(raw).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
