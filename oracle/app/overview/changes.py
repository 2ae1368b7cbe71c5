"""See cheaply what of a Root changed: a view that stays open asks every second. Folders are looked at, no file is read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from oracle.app.context import Context
from oracle.app.delivery.team import Team, open_teams
from oracle.errors import OracleError
from oracle.store.root import profile

RECORDS, HANDOFFS, JOURNAL = "records", "handoffs", "journal"

SHARE = 0.005
"""Share of a core that looks at the folders of records may take. With thousands of them there is a longer rest after each."""

State = tuple[object, ...]


class RootWatch:
    """What changed since the last look. The first look finds everything changed."""

    def __init__(self, context: Context, *, share: float = SHARE) -> None:
        self._context = context
        self._share = share
        self._rests_until = 0.0
        self._teams: list[Team] = []
        self._profiles: State = ()
        self._seen: dict[str, State] = {}

    def look(self) -> frozenset[str]:
        """Return which of RECORDS, HANDOFFS and JOURNAL changed. A record that is edited in place is left to queries."""
        looks: dict[str, Callable[[], State]] = {
            RECORDS: self._records,
            HANDOFFS: self._handoffs,
            JOURNAL: self._journal,
        }
        now = {name: look() for name, look in looks.items()}
        changed = frozenset(name for name, state in now.items() if state != self._seen.get(name))
        self._seen = now
        return changed

    def _records(self) -> State:
        began = time.monotonic()
        try:
            if began >= self._rests_until:
                self._context.index.follow(full=False, patience=0.0)
                cost = time.monotonic() - began
                self._rests_until = began + cost / self._share
        except OracleError:  # a Root that can't be written: a query says so
            return self._seen.get(RECORDS, ("unknown",))
        return (self._context.index.version,)  # what other processes wrote shows without a look at folders

    def _journal(self) -> State:
        return _state(self._context.root.events)

    def _handoffs(self) -> State:
        root = self._context.root
        profiles = tuple(_state(root.profile_file(project)) for project in profile.projects(root))
        if profiles != self._profiles:
            self._teams, self._profiles = list(open_teams(self._context)), profiles
        folders = [root.responses, root.inbox]
        for team in self._teams:
            folders.append(team.folder)
            folders += [os.path.dirname(team.tree.todo_file(seat)) for seat in team.profile.seats]
        return (profiles, *map(_state, folders))


def _state(path: str) -> State:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
