"""A team on a hub of its own, and its machines: each with a role of its own, and an open connection."""

from __future__ import annotations

import hashlib

from oracle.domain.hub.rows import Cursor, Membership, Pulled, Refused, Row
from oracle.hub import exchange, members
from oracle.hub.connection import HubConnection, connect
from oracle.hub.exchange import TeamConnection

NAME = "harbor-team"


def row(path: str, content: bytes | None = b"content\n", *, epoch: int = 0) -> Row:
    """Return a file as a machine sends it, or its tombstone."""
    digest = "" if content is None else hashlib.sha256(content).hexdigest()
    return Row(path, "", epoch, digest, len(content or b""), content, removed=content is None)


class JoinedMachine(TeamConnection):
    """A machine that keeps its cursor."""

    cursor = Cursor()

    def send(self, *rows: Row) -> list[Refused]:
        return list(self.push(rows))

    def receive(self) -> Pulled:
        pulled = self.pull(self.cursor)
        self.cursor = pulled.cursor
        return pulled

    def receive_all(self) -> list[Row]:
        rows: list[Row] = []
        while True:
            page = self.receive()
            rows += page.rows
            if not page.more:
                return rows


class Team:
    """The team, seen by the owner of its hub."""

    def __init__(self, dsn: str, name: str = NAME) -> None:
        self.dsn, self.name = dsn, name
        self.owner = connect(dsn)
        members.init(self.owner, name)
        self._opened: list[HubConnection] = [self.owner]

    def invite(self, name: str) -> str:
        """Invite a machine, and return the connection string of its role."""
        role = members.invite(self.owner, self.name, name).role
        return f"{self.dsn.rpartition(' user=')[0]} user={role}"

    def join(self, name: str, *projects: str) -> JoinedMachine:
        """Invite a machine and let it join."""
        dsn = self.invite(name)
        return self.reconnect(Membership(self.name, dsn, name=name, projects=projects))

    def reconnect(self, member: Membership) -> JoinedMachine:
        opened = exchange.join(member)
        self._opened.append(opened.connection)
        return JoinedMachine(opened.connection, opened.membership)

    def close(self) -> None:
        for connection in self._opened:
            connection.close()
