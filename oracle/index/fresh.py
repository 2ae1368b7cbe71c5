"""The index as queries use it: up to date, complete, and repaired when it is damaged.

Readers take no lock unless the tree has changed. Then the first reader brings the index up to date under the lock.
Cheap to import: the modules that reconcile are imported only when needed.
"""

from __future__ import annotations

import os
import sqlite3
import time

from oracle.errors import DiskFailure, LockTimeout, NotInMemory
from oracle.index import scan
from oracle.index.db import VERSION, Database, get_meta, hide, immediate, set_meta, snapshot
from oracle.store.root.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import TypeVar, Unpack

    from oracle.index.reports import ReconcileReport, Wanted
    from oracle.index.rounds import Part
    from oracle.store.root.lock import WriteLock

    T = TypeVar("T")

FULL_LOOK_NS, COSTLY_LOOK_NS = 2_000_000_000, 10_000_000_000
"""Every file is looked at again if the last look at all is older than the first and was cheap."""
CHEAP_NS = 100_000_000
"""What a cheap one costs at most. In a larger Root a query spends this on the next files (`index.rounds`), if the last look
at all, or what the daemon vouches for, is older than COSTLY_LOOK_NS."""

HASTY_NS = 10_000_000
"""The same where a person waits for an agent to begin. What is quoted is read from disk in any case."""

AGAIN_NS = 500_000_000
"""After a query found nothing and every file was scanned for it, how long until that is done again, unless the index was closed."""

COPIED = "copied"
"""The key of the state of a copy with which the index agrees."""

READER_PATIENCE = 10.0
"""Seconds that a reader waits for the lock before it answers from the index as it is."""

_TRIES = 4


class Index:
    """The index of a Root, opened on first use. `warn` gets a line when something was repaired or is wrong.

    Records that the seat of `reader` may not see are hidden from what is read.
    """

    def __init__(
        self, root: Root, *, now_ns: Callable[[], int], warn: Callable[[str], None], reader: Callable[[], str] = str
    ) -> None:
        self.root = root
        self._reader = reader
        self._now_ns = now_ns
        self._warn = warn
        self._database = Database(root)
        self.stale = ""
        """Why the last answer may be outdated, or "" if it is up to date."""
        self._was_full = self._was_behind = False
        self._copied = ""
        self._looked_again_ns = -AGAIN_NS
        self.seen_ns = 0
        """Every change before this time is in the last answer; ns since 1970."""
        self.is_hasty = False
        """Whether queries look at fewer files at a time (HASTY_NS)."""
        self.in_rounds = False
        """Whether there are too many files to look at all of them for one query."""

    @property
    def database(self) -> Database:
        """The database of this index, for the holder of the write lock."""
        return self._database

    @property
    def version(self) -> str:
        """What differs once a record was added, changed or dropped. Raises sqlite3.DatabaseError."""
        return get_meta(self._database.connect(), VERSION)

    def be_of_copy(self, state: str) -> None:
        """Serve a copy that one program writes, each file by a rename: the times of folders show all, and nothing is printed.

        Nothing is looked at while `state` is what it was when the index last agreed with the files.
        """
        self._copied, self._database.is_printed = state, False

    def close(self) -> None:
        """Close the connection. Whoever uses the index next has looked at nothing yet: a server's next client, too."""
        self._looked_again_ns = -AGAIN_NS
        self._database.close()

    # -- reading ---------------------------------------------------------------------------------------------------

    def read(self, work: Callable[[sqlite3.Connection], T], *, fresh: bool = False, is_again: bool = False) -> T:
        """Run `work` on an up-to-date connection. If the index is damaged, it is rebuilt once and `work` runs again.

        `fresh` scans every file first; `is_again` repeats no warning. Raises LockTimeout, DiskFailure, TreeEmptied, RootUnusable.
        """
        trouble: Exception | None = None
        for _ in range(_TRIES):
            try:
                try:
                    return self._ask(work, fresh=fresh, is_again=is_again)
                except sqlite3.DatabaseError as error:
                    trouble = error
                    self._recover(error)
            except (DiskFailure, sqlite3.DatabaseError) as error:  # from the repair too: the disk is full or read-only
                if self._database.in_memory:
                    raise
                self._go_read_only(getattr(error, "sentence", str(error)))
        raise DiskFailure(
            say("The index {database} can't be used: {trouble}.", database=self.root.database, trouble=trouble),
            hint=say("Run `oracle doctor`."),
        ) from trouble

    def find(self, work: Callable[[sqlite3.Connection], T], *, fresh: bool = False) -> T:
        """Run `work` like `read`.

        If it finds nothing (an empty value or NotInMemory), scan every file first and run it again.

        It runs again only if a file had changed in place. If scanning is expensive (CHEAP_NS), the first result is
        final.
        """
        try:
            found = self.read(work, fresh=fresh)
        except NotInMemory:
            if not self._has_changed_meanwhile():
                raise
            return self.read(work, is_again=True)
        return found if found or not self._has_changed_meanwhile() else self.read(work, is_again=True)

    def _has_changed_meanwhile(self) -> bool:
        """Scan every file, unless that was just done or is expensive. Returns whether one had changed."""
        now_ns = time.monotonic_ns()
        if self._was_full or self._copied or now_ns - self._looked_again_ns < AGAIN_NS:
            return False
        self._looked_again_ns = now_ns
        try:
            if scan.last_full_look(self._database.connect())[1] >= self._cheap_ns:
                return False
            self._fresh_connection(fresh=True)
        except (DiskFailure, sqlite3.DatabaseError):
            return False
        return self._was_behind

    def follow(self, *, full: bool | None, doubted: Collection[str] = (), patience: float) -> bool:
        """Bring the index up to date after a reported change.

        Returns False if others held the lock for all of `patience`.

        Only `full` scans every file, and None those that a query would look at; files in the `doubted` folders may have
        changed in place. Unlike `read`, it never uses an index in memory. Raises DiskFailure, TreeEmptied, RootUnusable.
        """
        is_told = full is not None
        try:
            self._fresh_connection(fresh=bool(full), is_told=is_told, doubted=doubted, patience=patience)
        except sqlite3.DatabaseError as error:
            self._recover(error)
            self._fresh_connection(fresh=bool(full), is_told=is_told, doubted=doubted, patience=patience)
        return not self.stale

    def _ask(self, work: Callable[[sqlite3.Connection], T], *, fresh: bool, is_again: bool) -> T:
        """Run `work` on one state of the index. A rebuild by another process is never seen half done."""
        while True:
            with snapshot(self._fresh_connection(fresh=fresh)) as connection:
                if self._database.is_ready():
                    if not is_again:
                        scan.warn_of_unreadable(connection, self._warn)
                    hide(connection, self.root.folders_closed_to(self._reader()))
                    return work(connection)

    def _fresh_connection(
        self,
        *,
        fresh: bool,
        is_told: bool = False,
        doubted: Collection[str] = (),
        patience: float = READER_PATIENCE,
    ) -> sqlite3.Connection:
        self.root.require()
        self.stale, self._was_full, self._was_behind, self.in_rounds = "", True, False, False
        self._choose_memory()
        is_absent = not self._database.in_memory and not os.path.exists(self.root.database)
        if is_absent or not self._database.is_ready():
            self.reconcile(patience=None)
            self.seen_ns = self._now_ns()
            return self._database.connect()
        connection = self._database.connect()
        now_ns = self._now_ns()
        if self._copied and not fresh and get_meta(connection, COPIED) == self._copied:
            self.seen_ns = now_ns
            return connection
        began = time.monotonic_ns()
        full, part = (fresh, None) if fresh or is_told else self._look_due(connection, now_ns)
        self.seen_ns = now_ns if full else self.seen_ns
        doubted = part.doubted.union(doubted) if part else doubted
        look = scan.look(connection, self.root, now_ns=now_ns, full=full, doubted=doubted)
        self._was_full = full
        self._was_behind = bool(look.changed or look.gone or look.configuration)
        if self._was_behind:
            try:
                self.reconcile(patience=patience, full=full, doubted=doubted)
            except LockTimeout as error:
                self.stale = error.sentence
                if not is_told:
                    self._warn(say("{reason} The answer comes from an outdated index.", reason=self.stale))
        if not self.stale and (part or self._copied or ((look.touched or look.full) and not self._was_behind)):
            self._note(look, part, now_ns, time.monotonic_ns() - began)
        return self._database.connect()

    def _choose_memory(self) -> None:
        """Keep the index in memory if its folder is a link or cannot be created."""
        state = self.root.state
        if self._database.in_memory:
            return
        if os.path.islink(state):
            self._go_read_only(say("_state is a symbolic link"))
        elif not os.path.isdir(state) and not os.access(self.root.path, os.W_OK):
            self._go_read_only()

    @property
    def _cheap_ns(self) -> int:
        return HASTY_NS if self.is_hasty else CHEAP_NS

    def _look_due(self, connection: sqlite3.Connection, now_ns: int) -> tuple[bool, Part | None]:
        """Return whether to look at every file, or the part of the files that was looked at instead."""
        if self._copied:
            self.seen_ns = now_ns
            return False, None
        self.seen_ns, cost_ns = scan.last_full_look(connection)
        is_cheap = cost_ns < self._cheap_ns
        is_recent = 0 <= now_ns - self.seen_ns <= (FULL_LOOK_NS if is_cheap else COSTLY_LOOK_NS)
        if is_recent or is_cheap:
            return not is_recent, None
        from oracle.index.rounds import next_part

        self.in_rounds = True
        self.seen_ns, part = next_part(connection, self.root, now_ns, self.seen_ns, (self._cheap_ns, COSTLY_LOOK_NS))
        return False, part

    def _note(self, look: scan.Look, part: Part | None, now_ns: int, cost_ns: int) -> None:
        """Record what was looked at, unless another process is writing: a reader never waits for that."""
        from oracle.store.root.lock import WriteLock

        lock = WriteLock(self.root, 0.0)
        try:
            if not (self._database.in_memory or lock.acquire()):
                return
            with immediate(self._database.connect()) as connection:
                if not self._was_behind:
                    scan.note_look(connection, self.root, look, now_ns=now_ns, cost_ns=cost_ns)
                if part:
                    from oracle.index.rounds import note_part

                    note_part(connection, part)
                if self._copied:
                    set_meta(connection, COPIED, self._copied)
        except (DiskFailure, sqlite3.OperationalError):
            return
        finally:
            lock.release()

    # -- writing ---------------------------------------------------------------------------------------------------

    def lock(self, timeout: float | None = None) -> WriteLock:
        """Return the write lock of the Root, not yet taken."""
        from oracle.store.root.lock import DEFAULT_TIMEOUT, WriteLock

        return WriteLock(self.root, DEFAULT_TIMEOUT if timeout is None else timeout)

    def reconcile(
        self, *, patience: float | None, reads_values: bool = False, **wanted: Unpack[Wanted]
    ) -> ReconcileReport:
        """Take the lock, bring the index up to date and print dirty projections.

        `patience` None waits as long as a writer. `reads_values` looks for damaged values in the index first.

        Raises LockTimeout, TreeEmptied, DiskFailure. On a Root that cannot be written, the index is kept in memory.
        """

        def work(*, is_again: bool = False) -> ReconcileReport:
            try:
                return self.reconcile_held(reads_values=reads_values, **wanted)
            except LockTimeout:  # another connection got in the way
                if is_again:
                    raise
                self._database.close()
                return work(is_again=True)

        self.root.require()
        if self._database.in_memory:
            return work()
        try:
            with self.lock(patience):
                return work()
        except DiskFailure as error:
            if os.access(self.root.path, os.W_OK):
                raise
            self._go_read_only(error.sentence)
        return work()

    def reconcile_held(self, *, reads_values: bool = False, **wanted: Unpack[Wanted]) -> ReconcileReport:
        """Do what `reconcile` does. The caller holds the write lock."""
        from oracle.index.write.reconcile import reconcile

        try:
            if self.make_sound() and reads_values:
                self._database.read_values(is_full=wanted.get("full", False))
            return reconcile(self._database, now_ns=self._now_ns(), **wanted)
        except sqlite3.DatabaseError as error:
            self._discard(error)
            wanted["rebuild"] = True
            return reconcile(self._database, now_ns=self._now_ns(), **wanted)

    def make_sound(self) -> bool:
        """Check that the database opens, and discard it if not. Returns whether it is ready.

        The caller holds the write lock.
        """
        try:
            return self._database.is_ready()
        except sqlite3.DatabaseError as error:
            self._discard(error)
            return False

    def _recover(self, error: sqlite3.DatabaseError) -> None:
        from oracle.index import recovery

        if not recovery.recover(self._database, error, lock=self.lock, warn=self._warn, now_ns=self._now_ns):
            self._go_read_only()

    def _discard(self, error: sqlite3.DatabaseError) -> None:
        from oracle.index import recovery

        recovery.discard(self._database, error, self._warn)

    def _go_read_only(self, why: str = "") -> None:
        what = say(
            "The Root {path} can't be written; the index is kept in memory for this command.", path=self.root.path
        )
        self._warn(say("{what} ({why})", what=what, why=why) if why else what)
        self._database.use_memory()
