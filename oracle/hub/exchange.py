"""A team's rows as one machine of it reads and writes them: one statement a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from oracle import __version__
from oracle.domain.hub.rows import (
    INLINE,
    MAX_BATCH,
    MAX_ROWS,
    Cursor,
    Home,
    Membership,
    Pulled,
    Refused,
    Row,
    TeamMachine,
)
from oracle.domain.values import replace
from oracle.hub.connection import SCHEMA, HubConnection, check_schema, connect, require_version, sql


class TeamConnection:
    """The hub, open for one machine of one team. Every call raises HubUnreachable, HubRefused and HubFailed."""

    def __init__(self, connection: HubConnection, membership: Membership) -> None:
        self.connection = connection
        self.membership = membership
        self._team = membership.team
        self._projects = [*membership.projects, ""] if membership.projects else None

    @property
    def machine(self) -> str:
        """The id of this machine."""
        return self.membership.machine

    def team(self) -> tuple[Sequence[Home], Sequence[TeamMachine]]:
        """Let the team see that this machine is there, and return its homes and machines.

        `machine` of a home is "" where the machine left. Raises NewerVersion if the hub was upgraded since it was opened.
        """
        return _read_team(self.connection.rows(*self._team_call()))

    def begin(self, cursor: Cursor) -> tuple[Sequence[Home], Sequence[TeamMachine], Pulled]:
        """Return what `team` and `pull` return, in one round trip."""
        team, page = self.connection.rows_of(self._team_call(), self._pull_call(cursor))
        return *_read_team(team), _read_page(page, cursor)

    def take_home(self, project: str, seat: str, *, take: bool = False) -> Home:
        """Make this machine the home of a seat that has none, or with `take` of any; return the home as it is then."""
        found = self.connection.rows(sql("take-home"), (self._team, project, seat, take))
        return Home(project, seat, *found[0])

    def push(self, rows: Iterable[Row]) -> Sequence[Refused]:
        """Send files and tombstones, and return those that the hub did not take.

        What the hub has already is no change, so a push may be repeated. Each batch is one transaction: 1,000 rows or 8 MiB.
        """
        refused: list[Refused] = []
        for batch in split(rows):
            values = (
                self._team,
                [row.path for row in batch],
                [row.epoch for row in batch],
                ["" if row.removed else row.sha256 for row in batch],
                [None if row.removed else row.content for row in batch],
            )
            refused += (Refused(*found) for found in self.connection.rows(sql("push"), values))
        return refused

    def pull(self, cursor: Cursor) -> Pulled:
        """Return the next page behind a cursor: changes of every machine, in the order of their transactions.

        Own files, and those above 1 MiB, come without content: see `fetch`. The member's projects limit the page; what
        belongs to no project always comes.
        """
        return _read_page(self.connection.rows(*self._pull_call(cursor)), cursor)

    def fetch(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Return the contents of files by their paths; a file that was removed meanwhile is left out."""
        return dict(self.connection.rows(sql("fetch"), (self._team, list(paths))))

    def digests(self) -> Mapping[str, str]:
        """Return the digest of each folder at the hub: SHA-256 over the sorted lines `<path> <sha256>` of its files."""
        return dict(self.connection.rows(sql("digests"), {"team": self._team, "projects": self._projects}))

    def listing(self, folder: str) -> Sequence[Row]:
        """Return the files and tombstones of one folder, without their contents."""
        return [Row(*found) for found in self.connection.rows(sql("folder"), {"team": self._team, "folder": folder})]

    def state(self) -> tuple[int, float]:
        """Return the version of the hub's schema, and the time of its clock in seconds since 1970."""
        version, seconds = self.connection.rows(
            "SELECT version, extract(epoch FROM clock_timestamp())::float8 FROM oracle_hub.meta"
        )[0]
        return version, seconds

    def leave(self) -> None:
        """Leave the team, and give up every home. The files stay at the hub."""
        self.connection.rows("SELECT oracle_hub.leave(%s)", (self._team,))

    def _team_call(self) -> tuple[str, dict[str, object]]:
        return sql("team"), {"team": self._team, "version": __version__, "schema": SCHEMA}

    def _pull_call(self, cursor: Cursor) -> tuple[str, dict[str, object]]:
        return sql("pull"), {
            "team": self._team,
            "machine": self.machine,
            "projects": self._projects,
            "hub": cursor.hub,
            "xid": str(cursor.xid),
            "path": cursor.path,
            "rows": MAX_ROWS,
            "bytes": MAX_BATCH,
            "inline": INLINE,
        }

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def __enter__(self) -> TeamConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_team(found: list[tuple[Any, ...]]) -> tuple[list[Home], list[TeamMachine]]:
    _, homes, machines, version, oldest = found[0]
    require_version(version, oldest)
    return [Home(*home) for home in homes], [TeamMachine(*machine) for machine in machines]


def _read_page(found: list[tuple[Any, ...]], cursor: Cursor) -> Pulled:
    hub, horizon, ahead = found[0][:3]
    rows = tuple(Row(*one[3:10]) for one in found if one[3] is not None)
    more = ahead > len(rows)
    after = Cursor(hub, int(found[-1][10]), rows[-1].path) if more else Cursor(hub, int(horizon))
    return Pulled(rows, after, more, restarted=hub != cursor.hub, waits=found[0][11])


def open_team(membership: Membership) -> TeamConnection:
    """Connect as a machine that joined."""
    connection = connect(membership.dsn, is_insecure=membership.is_insecure)
    try:
        check_schema(connection)
    except BaseException:
        connection.close()
        raise
    return TeamConnection(connection, membership)


def join(membership: Membership) -> TeamConnection:
    """Join as the machine that the role was made for, which gives the membership its id. It may be repeated.

    Raises HubRefused without an invitation.
    """
    opened = open_team(membership)
    try:
        values = (membership.team, membership.name, __version__)
        found = opened.connection.rows("SELECT oracle_hub.join(%s, %s, %s)::text", values)
    except BaseException:
        opened.close()
        raise
    return TeamConnection(opened.connection, replace(membership, machine=found[0][0]))


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
