"""A hub in memory with the rules of the real one: who owns what, homes with epochs, pages in the order of commits."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING

from oracle.domain.hub.paths import parse
from oracle.domain.hub.replication import folder_digests
from oracle.domain.hub.rows import MAX_ROWS, Cursor, Home, Pulled, Refused, Row, TeamMachine
from oracle.domain.values import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class NetworkDown(Exception):
    """The hub can't be reached."""


class PretendHub:
    """The database of one team. `connect` gives the view of one machine."""

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex
        self.rows: dict[str, tuple[int, Row]] = {}
        self.homes: dict[tuple[str, str], Home] = {}
        self.machines: dict[str, TeamMachine] = {}
        self.commits = 0

    def connect(self, name: str) -> Connection:
        self.machines.setdefault(name, TeamMachine(name, name))
        return Connection(self, name)

    def backup(self) -> PretendHub:
        """Return the hub as a restore would bring it back: with another id."""
        copy = PretendHub()
        copy.rows, copy.homes, copy.machines = dict(self.rows), dict(self.homes), dict(self.machines)
        copy.commits = self.commits
        return copy


class Connection:
    """The hub as one machine sees it. `is_down` cuts the network; `dies_after` loses the answer to that many pushes."""

    def __init__(self, hub: PretendHub, machine: str) -> None:
        self.hub = hub
        self.machine = machine
        self.is_down = False
        self.statements = 0

    def _call(self) -> None:
        self.statements += 1
        if self.is_down:
            raise NetworkDown

    def team(self) -> tuple[Sequence[Home], Sequence[TeamMachine]]:
        self._call()
        return tuple(self.hub.homes.values()), tuple(self.hub.machines.values())

    def begin(self, cursor: Cursor) -> tuple[Sequence[Home], Sequence[TeamMachine], Pulled]:
        return *self.team(), self.pull(cursor)

    def take_home(self, project: str, seat: str, *, take: bool = False) -> Home:
        self._call()
        found = self.hub.homes.get((project, seat))
        if found is None or (take and found.machine != self.machine):
            found = Home(project, seat, self.machine, found.epoch + 1 if found else 1)
            self.hub.homes[project, seat] = found
        return found

    def pull(self, cursor: Cursor) -> Pulled:
        self._call()
        restarted = cursor.hub != self.hub.id
        after = (0, "") if restarted else (cursor.xid, cursor.path)
        later = sorted((xid, path) for path, (xid, _) in self.hub.rows.items() if (xid, path) > after)
        page = later[:MAX_ROWS]
        found = (self.hub.rows[path][1] for _, path in page)
        rows = tuple(replace(row, content=None) if row.owner == self.machine else row for row in found)
        end = page[-1] if page else after
        return Pulled(rows, Cursor(self.hub.id, *end), more=len(later) > len(page), restarted=restarted)

    def push(self, rows: Sequence[Row]) -> Sequence[Refused]:
        self._call()
        self.hub.commits += 1
        refused = []
        for row in rows:
            reason = self._why_not(row)
            if reason:
                refused.append(Refused(row.path, reason))
                continue
            before = self.hub.rows.get(row.path)
            if before and (before[1].sha256, before[1].removed) == (row.sha256, row.removed):
                continue
            self.hub.rows[row.path] = (self.hub.commits, replace(row, owner=self.machine))
        return refused

    def _why_not(self, row: Row) -> str:
        file = parse(row.path)
        if file is None:
            return "path"
        if not row.removed and hashlib.sha256(row.content or b"").hexdigest() != row.sha256:
            return "digest"
        if file.seat:
            home = self.hub.homes.get((file.project, file.seat))
            if home is None or home.machine != self.machine:
                return "home"
            return "" if home.epoch == row.epoch else "epoch"
        before = self.hub.rows.get(row.path)
        return "owner" if before and before[1].owner != self.machine and not before[1].removed else ""

    def fetch(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        self._call()
        rows = (self.hub.rows[path][1] for path in paths if path in self.hub.rows)
        return {row.path: row.content for row in rows if row.content is not None}

    def digests(self) -> Mapping[str, str]:
        self._call()
        return folder_digests((row.path, row.sha256) for _, row in self.hub.rows.values() if not row.removed)

    def listing(self, folder: str) -> Sequence[Row]:
        self._call()
        rows = (row for _, row in self.hub.rows.values() if row.path.rpartition("/")[0] == folder)
        return [replace(row, content=None) for row in rows]
