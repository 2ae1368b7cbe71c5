"""The one object that every door opens: each method is a call into one use case. Cheap to import.

`Oracle.open` is the composition root: it chooses the Root, the clock and where warnings go.
"""

from __future__ import annotations

import os

from oracle.app.ports import SystemClock
from oracle.domain.slugs import RECORD_SUFFIXES, is_entity, parse_target
from oracle.index.fresh import Index
from oracle.store.layout import Root, choose_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from oracle.app.doctor import Check
    from oracle.app.ports import Clock
    from oracle.app.views import Hit, Shown, Summary, Written
    from oracle.domain.graph import Walk
    from oracle.domain.records import Draft
    from oracle.index.reports import Progress, Report
    from oracle.store.facts import Fact

    BacklinkRow = tuple[str, str, str, int, int, str, str, str]
    BacklinkLine = tuple[str, str, str, int, str | None, str | None]


class Oracle:
    """A Root with its index; not for use by two threads at a time."""

    def __init__(self, root: Root, *, clock: Clock, warn: Callable[[str], None]) -> None:
        self.root = root
        self.clock = clock
        self.warn = warn
        self.index = Index(root, now_ns=clock.now_ns, warn=warn)

    @classmethod
    def open(
        cls, root: str | None = None, *, clock: Clock | None = None, warn: Callable[[str], None] | None = None
    ) -> Oracle:
        """Open the Root named by `root`, or the one that the environment chooses. Touches no file yet.

        `warn` gets one line for what a person should know and the answer does not say; by default it is dropped.
        """
        return cls(Root(choose_root(root)), clock=clock or SystemClock(), warn=warn or _drop)

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; the object may be used again."""
        self.index.close()

    def target(self, text: str) -> str:
        """Return the target that a person named: a slug, a path under the Root or an entity. Raises UsageError."""
        if text.startswith("/"):
            base = os.path.realpath(self.root.path)
            name = parse_target(text, base if text.startswith(base + "/") else self.root.path)
        else:
            name = parse_target(text)
        stated = text.strip().rstrip("/")
        if is_entity(name) or (name.isascii() and not stated.endswith(RECORD_SUFFIXES)):
            return name
        suffix = stated[stated.rfind(".") :] if stated.endswith(RECORD_SUFFIXES) else ""
        from oracle.index import query

        return self.index.read(lambda connection: query.slug_meant(connection, name, suffix))

    # -- reading ---------------------------------------------------------------------------------------------------

    def backlinks(self, target: str, *, types: Sequence[str] = (), fresh: bool = False) -> list[BacklinkRow]:
        """Return the edges into a target: (source slug, type, snippet, line, mtime ns, path, retired by, how)."""
        from oracle.index import query

        name = self.target(target)
        return self.index.read(lambda connection: query.backlinks(connection, name, types), fresh=fresh)

    def backlink_lines(self, target: str, *, fresh: bool = False) -> list[BacklinkLine]:
        """Return the edges into a target as `_backlinks/` states them: (source slug, type, snippet, mtime ns, retired by, how)."""
        from oracle.index import query

        name = self.target(target)
        return self.index.read(lambda connection: query.backlink_lines(connection, name), fresh=fresh)

    def links(
        self, slug: str, *, types: Sequence[str] = (), fresh: bool = False
    ) -> list[tuple[str, str, str, int, int]]:
        """Return the edges out of a record: (type, target, snippet, line, 1 when the target is there)."""
        from oracle.index import query

        name = self.target(slug)
        return self.index.read(lambda connection: query.links(connection, name, types), fresh=fresh)

    def graph(
        self, target: str, *, depth: int = 1, direction: str = "out", types: Sequence[str] = (), fresh: bool = False
    ) -> Walk:
        """Walk the graph from a target; `direction` is out, in or both. Raises UsageError."""
        from oracle.app import walking

        return walking.walk_graph(self, self.target(target), depth=depth, direction=direction, types=types, fresh=fresh)

    def entities(self, namespace: str = "", *, top: int = 20, fresh: bool = False) -> list[tuple[str, int]]:
        """Return (entity, number of records that mention it), most mentioned first."""
        from oracle.index import query

        return self.index.read(lambda connection: query.entities(connection, namespace, top), fresh=fresh)

    def orphans(self, project: str = "", *, fresh: bool = False) -> list[Summary]:
        """Return the records that link to no record and that no record links to."""
        from oracle.app import retrieve

        return retrieve.list_orphans(self, project, fresh=fresh)

    def unresolved(self, project: str = "", *, fresh: bool = False) -> list[tuple[str, str, str, str, int, str]]:
        """Return the links to records that don't exist: (slug, path, type, as written, line, slug it would have)."""
        from oracle.index import query

        return self.index.read(lambda connection: query.unresolved(connection, project), fresh=fresh)

    def records(
        self, filters: Mapping[str, str], *, limit: int = 0, newest_first: bool = False, fresh: bool = False
    ) -> list[Summary]:
        """Return the records that pass `filters`: project, seat, kind, status, author, task, since, until.

        `limit` 0 means all. Raises NotInFederation for a project or seat without a folder, UsageError for a bad date.
        """
        from oracle.app import retrieve

        return retrieve.list_records(self, filters, limit=limit, newest_first=newest_first, fresh=fresh)

    def search(
        self, text: str, filters: Mapping[str, str] | None = None, *, limit: int = 10, fresh: bool = False
    ) -> list[Hit]:
        """Return the best passages for a person's words; retired records come last and say by what."""
        from oracle.app import retrieve

        return retrieve.search(self, text, filters or {}, limit=limit, fresh=fresh)

    def show(self, slug: str, *, first_line: int = 1, last_line: int = 0, fresh: bool = False) -> Shown:
        """Return lines of a record, read from disk now; `last_line` 0 means the end. Raises NotInMemory."""
        from oracle.app import retrieve

        return retrieve.show(self, slug, first_line=first_line, last_line=last_line, fresh=fresh)

    def fact(self, key: str, project: str = "") -> Fact:
        """Return the fact at a dotted key. Raises NotInMemory."""
        from oracle.store import facts

        return facts.find(self.root, key, project)

    def status(self, *, fresh: bool = False) -> dict[str, object]:
        """Return counts by project, seat and kind, the fact files and how fresh the index is."""
        from oracle.app import retrieve

        return retrieve.status(self, fresh=fresh)

    def problems(self, prefix: str = "", *, fresh: bool = False) -> list[tuple[str, int, str]]:
        """Return (path, line, reason) of every file that could not be read cleanly."""
        from oracle.index import query

        return self.index.read(lambda connection: query.problems(connection, prefix), fresh=fresh)

    def standing(self) -> dict[str, object]:
        """Return `problems` (a count) and `freshness` of the last answer; the tree is not looked at again."""
        from oracle.app import standing

        return standing.standing(self)

    def chains(self, slugs: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the chain of successors, nearest first, of each retired record among `slugs`."""
        from oracle.app import standing

        return standing.chains(self, slugs)

    def check(self) -> list[tuple[str, str]]:
        """Return (what, root-relative path) of everything that a full reconcile would change; nothing is changed."""
        from oracle.app import upkeep

        return upkeep.check(self)

    # -- writing ---------------------------------------------------------------------------------------------------

    def init(self) -> bool:
        """Make the Root, 0700; tell whether it was made now. An existing one is left as it is."""
        from oracle.app import upkeep

        return upkeep.init(self)

    def write(self, draft: Draft, *, secrets: str = "refuse", dry_run: bool = False) -> Written:
        """Write one orphan record: on return it is on disk, linked, indexed and published.

        Raises InvalidRecord, SecretFound, OwnershipError, InvalidName, LockTimeout, DiskFailure.
        """
        from oracle.app import write

        return write.write_all(self, [draft], secrets=secrets, dry_run=dry_run)[0]

    def write_many(self, drafts: Sequence[Draft], *, secrets: str = "refuse") -> list[Written]:
        """Write records under one lock, projections printed once at the end; all are checked before the first is written."""
        from oracle.app import write

        return write.write_all(self, drafts, secrets=secrets)

    def retire(
        self, slug: str, reason: str, *, seat: str = "memory", secrets: str = "refuse", dry_run: bool = False
    ) -> Written:
        """Retire a record without touching its bytes: a small orphan record carries the relation and the reason."""
        from oracle.app import write

        return write.retire(self, slug, reason, seat=seat, secrets=secrets, dry_run=dry_run)

    def reconcile(
        self,
        *,
        full: bool = False,
        rebuild: bool = False,
        accept_removals: bool = False,
        progress: Progress | None = None,
    ) -> Report:
        """Make index and projections agree with the files. Raises TreeEmptied, LockTimeout, DiskFailure."""
        return self.index.reconcile(
            patience=None, full=full, rebuild=rebuild, accept_removals=accept_removals, progress=progress
        )

    def publish(self) -> list[str]:
        """Publish `index.json` and every project's `_index/`; return the paths."""
        from oracle.app import publish

        return publish.publish_all(self)

    def doctor(self) -> list[Check]:
        """Check every invariant; nothing is changed."""
        from oracle.app import doctor

        return doctor.examine(self)

    def repair(self) -> list[str]:
        """Repair what is derived and never truth; return a sentence for each thing done."""
        from oracle.app import doctor

        return doctor.repair(self)

    def note_crash(self, trace: str) -> str:
        """Append a traceback to the log of the Root; return the log's path, or "" when there is nowhere to write it."""
        from oracle.app import upkeep

        return upkeep.note_crash(self, trace)


def _drop(_: str) -> None:
    return
