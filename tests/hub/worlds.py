"""The two hubs under the machines of `test_machine`: one in memory, and a PostgreSQL database. Each can be cut off and restored."""

from __future__ import annotations

import itertools
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from oracle.errors import HubFailed, NewerVersion
from oracle.hub import connection as connections
from oracle.hub import exchange, members
from tests.hub.machines import Team
from tests.hub.pretend import NetworkDown, PretendHub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.domain.hub.rows import Membership


class Fragile:
    """A hub that fails at one of its next calls: before it is done, or after, so that the answer is lost."""

    calls_left = -1
    is_done_first = False

    def __init__(self, hub: Any = None) -> None:
        self.hub = hub

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.hub, name)
        if not callable(found):
            return found

        def call(*args: Any, **more: Any) -> Any:
            self.calls_left -= 1
            if self.calls_left == 0 and not self.is_done_first:
                raise NetworkDown
            answer = found(*args, **more)
            if self.calls_left == 0:
                raise NetworkDown
            return answer

        return call


class Pretended:
    """The hub in memory."""

    is_real = False

    def __init__(self) -> None:
        self._hub = PretendHub()
        self._joined: dict[str, Fragile] = {}

    def join(self, name: str) -> Fragile:
        self._joined[name] = Fragile(self._hub.connect(name))
        return self._joined[name]

    @contextmanager
    def visiting(self, name: str) -> Iterator[bool]:
        """Open the hub for a machine; tell whether it may visit."""
        yield True

    def home_of(self, seat: str) -> str:
        """Return the name of the machine on which a seat runs, "" for none."""
        home = self._hub.homes.get(("demo", seat))
        return home.machine if home else ""

    def restore(self) -> None:
        """Lose every third file of the hub. The machines have it."""
        copy = self._hub.backup()
        for path in sorted(copy.rows)[::3]:
            del copy.rows[path]
        self._hub = copy
        for joined in self._joined.values():
            joined.hub.hub = copy

    def make_whole(self) -> None:
        """End every mishap."""

    def close(self) -> None:
        """Forget all."""


STATE = """
SELECT md5(string_agg(line, '' ORDER BY line)) FROM (
    SELECT t::text AS line FROM oracle_hub.file t WHERE team = %(team)s
    UNION ALL SELECT t::text FROM oracle_hub.home t WHERE team = %(team)s
    UNION ALL SELECT t::text FROM oracle_hub.machine t WHERE team = %(team)s
) AS lines
"""
TABLES = ("file", "file_history", "home")


class Real:
    """A team of its own in a database. A machine connects for each visit, as the program that it has by then."""

    is_real = True
    _numbers = itertools.count(1)

    def __init__(self, dsn: str) -> None:
        self._team = Team(dsn, f"team-{next(self._numbers)}")
        self._owner = self._team.owner
        self._joined: dict[str, Fragile] = {}
        self._members: dict[str, Membership] = {}
        self._programs: dict[str, int] = {}
        self._is_backed_up = self._is_renewed_late = False

    def join(self, name: str) -> Fragile:
        joined = self._team.join(name)
        self._members[name] = joined.membership
        self._programs[name] = connections.SCHEMA
        self._joined[name] = Fragile(joined)
        return self._joined[name]

    @contextmanager
    def visiting(self, name: str) -> Iterator[bool]:
        """Connect as a machine's program does; tell whether it may visit. One that may not has written nothing."""
        before, version = self._state(), self._version()
        own, connections.SCHEMA = connections.SCHEMA, self._programs[name]
        fragile = self._joined[name]
        try:
            if version != connections.SCHEMA:
                with pytest.raises(NewerVersion if version > connections.SCHEMA else HubFailed):
                    exchange.open_team(self._members[name])
                assert self._state() == before
                yield False
                return
            fragile.hub = exchange.open_team(self._members[name])
            with fragile.hub:
                yield True
        finally:
            connections.SCHEMA = own

    def open(self, name: str) -> exchange.TeamConnection:
        """Open a connection of another process on the machine."""
        return exchange.open_team(self._members[name])

    def home_of(self, seat: str) -> str:
        found = self._rows(
            "SELECT machine::text FROM oracle_hub.home WHERE team = %(team)s AND seat = %(seat)s", seat=seat
        )
        return next((name for name, one in self._members.items() if found and one.machine == found[0][0]), "")

    def upgrade_program(self, *names: str) -> None:
        self._programs |= dict.fromkeys(names or self._programs, connections.SCHEMA + 1)

    def upgrade_hub(self) -> None:
        """Have the hub need the next program."""
        self._rows("UPDATE oracle_hub.meta SET version = %(new)s, oldest = %(new)s", new=connections.SCHEMA + 1)

    def back_up(self) -> None:
        for table in TABLES:
            self._rows(f"DROP TABLE IF EXISTS pg_temp.backup_{table}")
            self._rows(f"CREATE TEMP TABLE backup_{table} AS SELECT * FROM oracle_hub.{table} WHERE team = %(team)s")
        self._is_backed_up = True

    def restore(self) -> None:
        """Go back to the backup, if there is one; the owner tells the machines of it a little later."""
        if not self._is_backed_up:
            return
        with self._owner.transaction():
            for table in TABLES:
                self._rows(f"DELETE FROM oracle_hub.{table} WHERE team = %(team)s")
                self._rows(f"INSERT INTO oracle_hub.{table} SELECT * FROM backup_{table}")
        self._is_renewed_late = True

    def renew(self) -> None:
        """Do what the owner does after a restore. On a newer hub this program is refused: it is done once the hub is whole."""
        if self._is_renewed_late:
            with suppress(NewerVersion):
                members.init(self._owner, self._team.name, is_restored=True)
                self._is_renewed_late = False

    def make_whole(self) -> None:
        self._rows("UPDATE oracle_hub.meta SET version = %(old)s, oldest = %(old)s", old=connections.SCHEMA)
        self._programs = dict.fromkeys(self._programs, connections.SCHEMA)
        self.renew()

    def close(self) -> None:
        with suppress(HubFailed):
            self.make_whole()
            for table in TABLES:
                self._rows(f"DELETE FROM oracle_hub.{table} WHERE team = %(team)s")
        self._team.close()

    def _rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        given = {"team": self._team.name, **values} if "%(" in statement else ()
        return self._owner.rows(statement, given)

    def _state(self) -> object:
        return self._rows(STATE)

    def _version(self) -> int:
        return int(self._rows("SELECT version FROM oracle_hub.meta")[0][0])
