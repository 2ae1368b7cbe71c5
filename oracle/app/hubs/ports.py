"""What the use cases of a hub ask of its database side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from oracle.domain.hub.rows import Cursor, Home, Pulled, Refused, Row, TeamMachine


class Hub(Protocol):
    """A connection to the hub as one machine of one team. Each call is one statement. Raises HubFailed."""

    @property
    def machine(self) -> str:
        """The id of this machine."""
        ...

    def team(self) -> tuple[Sequence[Home], Sequence[TeamMachine]]:
        """Say that this machine lives, and return the homes and the machines of the team."""
        ...

    def begin(self, cursor: Cursor) -> tuple[Sequence[Home], Sequence[TeamMachine], Pulled]:
        """Return what `team` and `pull` return, in one round trip."""
        ...

    def take_home(self, project: str, seat: str, *, take: bool = False) -> Home:
        """Make this machine the home of a seat that has none, or with `take` of any; return the home that it has now."""
        ...

    def pull(self, cursor: Cursor) -> Pulled:
        """Return the next page of changes."""
        ...

    def push(self, rows: Sequence[Row]) -> Sequence[Refused]:
        """Send rows, at most MAX_ROWS and MAX_BATCH; return those that the hub does not take."""
        ...

    def fetch(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Return the contents of files; one that was removed meanwhile is left out."""
        ...

    def digests(self) -> Mapping[str, str]:
        """Return the digest of each folder, as `replication.folder_digests` defines it."""
        ...

    def listing(self, folder: str) -> Sequence[Row]:
        """Return the files and tombstones of a folder, without their contents."""
        ...
