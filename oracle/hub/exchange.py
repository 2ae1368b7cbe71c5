"""Send files to the hub, and fetch what is new there: one statement a batch each way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from oracle.domain.hub.rows import INLINE, MAX_BATCH, MAX_ROWS, Cursor, Membership, Pulled, Refused, Row
from oracle.hub.connection import HubConnection, sql


def push(connection: HubConnection, member: Membership, rows: Iterable[Row]) -> list[Refused]:
    """Send files and tombstones, and return those that the hub did not take.

    What the hub has already is no change, so a push may be repeated. Each batch is one transaction: at most 1,000 rows or 8 MiB.
    """
    refused: list[Refused] = []
    for batch in split(rows):
        values = (
            member.team,
            [row.path for row in batch],
            [row.epoch for row in batch],
            ["" if row.removed else row.sha256 for row in batch],
            [None if row.removed else row.content for row in batch],
        )
        refused += (Refused(*found) for found in connection.rows(sql("push"), values))
    return refused


def split(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Cut rows into batches. A file that is larger than a batch makes one alone."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        if batch and (len(batch) == MAX_ROWS or size + len(row.content or b"") > MAX_BATCH):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(row.content or b"")
    if batch:
        yield batch


def pull(connection: HubConnection, member: Membership) -> Pulled:
    """Return the next page behind the member's cursor: changes of every machine, in the order of their transactions.

    Own files, and those above 1 MiB, come without content: see `fetch`. `projects` of the member limits the page; what belongs
    to no project always comes.
    """
    cursor = member.cursor
    found = connection.rows(
        sql("pull"),
        {
            "team": member.team,
            "machine": member.machine,
            "projects": [*member.projects, ""] if member.projects else None,
            "hub": cursor.hub,
            "xid": str(cursor.xid),
            "path": cursor.path,
            "rows": MAX_ROWS,
            "bytes": MAX_BATCH,
            "inline": INLINE,
        },
    )
    hub, horizon, ahead = found[0][:3]
    rows = tuple(Row(*one[3:10]) for one in found if one[3] is not None)
    more = ahead > len(rows)
    after = Cursor(hub, int(found[-1][10]), rows[-1].path) if more else Cursor(hub, int(horizon))
    return Pulled(rows, after, more, restarted=hub != cursor.hub)


def fetch(connection: HubConnection, member: Membership, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of files by their paths; a file that was removed meanwhile is left out."""
    found = connection.rows(sql("fetch"), (member.team, list(paths)))
    return {path: bytes(content) for path, content in found}


def folder_digests(connection: HubConnection, member: Membership) -> dict[str, str]:
    """Return the digest of each folder at the hub: SHA-256 over the sorted lines `<path> <sha256>` of its files."""
    return dict(
        connection.rows(
            sql("digests"), {"team": member.team, "projects": [*member.projects, ""] if member.projects else None}
        )
    )


def folder_rows(connection: HubConnection, member: Membership, folder: str) -> list[Row]:
    """Return the files and tombstones of one folder, without their contents."""
    return [Row(*found) for found in connection.rows(sql("folder"), {"team": member.team, "folder": folder})]
