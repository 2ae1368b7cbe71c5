"""See cheaply what of a Root changed: a view that stays open asks every second. Folders and files are looked at, none is read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from oracle.app.context import Context
from oracle.app.delivery.team import Team, open_teams
from oracle.errors import OracleError
from oracle.index.db import Corrupt
from oracle.index.rounds import folders_edited
from oracle.store.root import profile

RECORDS, HANDOFFS, JOURNAL = "records", "handoffs", "journal"

SHARE = 0.004
"""Share of a core that looks at the folders of records may take. With thousands of them there is a longer rest after each."""

FILES_SHARE = 0.002
"""The same of looks at the files of records, which only find what was edited in place."""

State = tuple[object, ...]


class _Allowance:
    """Time for some work: after each time it rests until no more than a share of a core was used."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._rests_until = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it has rested."""
        return time.monotonic() >= self._rests_until

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Take the time of a block from it."""
        began = time.monotonic()
        yield
        self._rests_until = began + (time.monotonic() - began) / self._share


class RootWatch:
    """What changed since the last look. The first look finds everything changed. Nobody else may use its Context.

    `share` and `files_share` are the shares of a core, from 0 to 1, that looks at folders and at files may take.
    """

    def __init__(self, context: Context, *, share: float = SHARE, files_share: float = FILES_SHARE) -> None:
        self._context = context
        self._folders, self._files = _Allowance(share), _Allowance(files_share)
        self._teams: list[Team] = []
        self._profiles: State = ()
        self._seen: dict[str, State] = {}

    def look(self, shown: Collection[str] = ()) -> frozenset[str]:
        """Return which of RECORDS, HANDOFFS and JOURNAL changed.

        `shown` are the paths of records in sight: one that was edited in place is seen now, any other by and by.
        """
        looks: dict[str, Callable[[], State]] = {
            RECORDS: lambda: self._records(shown),
            HANDOFFS: self._handoffs,
            JOURNAL: self._journal,
        }
        now = {name: look() for name, look in looks.items()}
        changed = frozenset(name for name, state in now.items() if state != self._seen.get(name))
        self._seen = now
        return changed

    def _records(self, shown: Collection[str]) -> State:
        index = self._context.index
        try:
            if self._files.is_due:
                with self._files.spent(), self._folders.spent():
                    index.follow(full=None, patience=0.0)
            elif self._folders.is_due:
                with self._folders.spent():
                    index.follow(full=False, patience=0.0)
            if edited := folders_edited(index.database.connect(), self._context.root, shown) if shown else None:
                index.follow(full=False, doubted=edited, patience=0.0)
            version = index.version  # what other processes wrote shows without a look at folders
        except (OracleError, Corrupt):  # a Root that can't be written, or an index that was deleted: a query sees to it
            return self._seen.get(RECORDS, ("unknown",))
        return (version,)

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
