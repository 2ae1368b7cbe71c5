"""Compare the index and its projections with a rebuild in memory. Nothing on disk is changed.

Of a large Root, records and projections that are chosen at random are read again and compared, instead of all.

A private copy of the index is brought up to date first, as the next query would do; what then still differs from a
rebuild is really wrong. What only waited for the next look is counted, and is no fault.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from oracle.app.doctor import snapshot
from oracle.app.doctor.differences import differences, digests_of, name_differences
from oracle.app.doctor.snapshot import BeingWritten, NoRoom, Snapshot
from oracle.domain.markdown.documents import Document, as_text
from oracle.domain.names import FOREIGN
from oracle.domain.values import value
from oracle.errors import OracleError, TreeEmptied
from oracle.index.db import Corrupt, Database, get_meta, immediate
from oracle.index.reports import ReconcileReport
from oracle.index.schema import SCHEMA_VERSION
from oracle.index.write import projection_checks
from oracle.index.write.projections import LINKS
from oracle.index.write.rebuild import rebuild
from oracle.index.write.reconcile import reconcile
from oracle.index.write.rows import Writer
from oracle.store.disk.folders import stat_of
from oracle.store.markdown import records
from oracle.store.root.layout import Root
from oracle.wording import say

ABSENT, DAMAGED, OUTDATED, BUSY, SOUND = "absent", "damaged", "outdated", "busy", "sound"
_TRIES = 3
LARGE = 20_000
"""Records from which a sample is compared."""

SAMPLE = 2_000
"""Records, and projections of each side, in a sample."""

_SAMPLED = "sampled CROSS JOIN record USING (slug)"
"""The records whose rows are compared."""


_KEPT = ("id", "schema_version", "project", "seat")


@value
class Head:
    """The checked frontmatter fields of a record, and the line of each key."""

    path: str
    project: str
    fields: Mapping[str, str]
    lines: Mapping[str, int]

    def line(self, key: str) -> int:
        """Return the line of a key, 1 when it is not there."""
        return self.lines.get(key, 1)


def head_of(path: str, project: str, document: Document) -> Head:
    """Return the head of a parsed record."""
    return Head(
        path, project, {key: as_text(document.fields.get(key, "")).strip() for key in _KEPT}, document.key_lines
    )


@dataclass(slots=True)
class Diagnosis:
    """What was found of the index.

    `truth` is the rebuild in memory, or a copy of a large index. `wrong` and `stale` name slugs and absolute paths.
    `blocked` says why projections could not be read. `sampled` is how many records were compared, 0 for all; `heads`
    are their frontmatter.
    """

    state: str
    truth: Database
    reason: str = ""
    version: str = ""
    records: int = 0
    sampled: int = 0
    behind: int = 0
    dirty: int = 0
    emptied: str = ""
    blocked: str = ""
    wrong: dict[str, str] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)

    @property
    def needs_rebuild(self) -> bool:
        """True if an ordinary reconcile would leave the index wrong."""
        return self.state in (DAMAGED, OUTDATED) or bool(self.wrong)


def diagnose(root: Root, *, now_ns: int) -> Diagnosis:
    """Compare the index with the files; when a writer changed it meanwhile, look again."""
    found = _look(root, now_ns)
    for _ in range(_TRIES - 1):
        if found[1] == snapshot.stamp_of(root):
            break
        found = _look(root, now_ns)
    return found[0]


def _look(root: Root, now_ns: int) -> tuple[Diagnosis, snapshot.Stamp]:
    found = Diagnosis(SOUND, Database(root))
    copy = _open(root, found)
    is_sound = copy is not None and _is_sound(copy.database, found)
    if copy is not None and is_sound and _count(copy.database) > LARGE:
        _compare_sample(copy.database, found, now_ns)
        return found, copy.stamp
    found.truth, found.emptied = _rebuild(root, now_ns)
    found.records = _count(found.truth)
    if copy is not None and is_sound:
        _compare(root, copy.database, found, now_ns)
    if found.state != BUSY and (found.state != SOUND or found.wrong):
        found.stale = _stale(found.truth, found)
    return found, copy.stamp if copy is not None else snapshot.stamp_of(root)


def _count(database: Database) -> int:
    return int(database.connect().execute("SELECT count(*) FROM record").fetchone()[0])


def _rebuild(root: Root, now_ns: int) -> tuple[Database, str]:
    """Return the rebuild in memory, and why a real one would be refused, or ""."""
    try:
        return _rebuild_in_memory(root, now_ns), ""
    except TreeEmptied as refusal:
        return _rebuild_in_memory(root, now_ns, accept_removals=True), refusal.sentence
    except OSError:  # what was published can't be counted; the projections will say why
        return _rebuild_in_memory(root, now_ns, accept_removals=True), ""


def _rebuild_in_memory(root: Root, now_ns: int, *, accept_removals: bool = False) -> Database:
    database = Database(root)
    database.use_memory()
    rebuild(database, now_ns=now_ns, accept_removals=accept_removals)
    return database


def _open(root: Root, found: Diagnosis) -> Snapshot | None:
    if not os.path.lexists(root.database):
        found.state = ABSENT
        return None
    try:
        if not os.path.getsize(root.database):
            found.state, found.reason = DAMAGED, say("the file is empty")
            return None
        return snapshot.take(root)
    except BeingWritten:
        found.state = BUSY
    except NoRoom:
        found.state, found.reason = BUSY, say("no folder for temporary files has room for a copy of it")
    except (OSError, Corrupt) as trouble:
        found.state, found.reason = DAMAGED, str(trouble)
    return None


def _is_sound(database: Database, found: Diagnosis) -> bool:
    connection = database.connect()
    try:
        verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if verdict != "ok":
            found.state, found.reason = DAMAGED, str(verdict)
            return False
        if not database.is_ready():
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            found.version = get_meta(connection, "ready") if "meta" in tables else ""
            found.state = OUTDATED
            found.reason = (
                say("it is of version {version}, not {known}", version=found.version, known=SCHEMA_VERSION)
                if found.version
                else say("it was never finished")
            )
            return False
        connection.execute("INSERT INTO passage(passage) VALUES ('integrity-check')")
    except Corrupt as trouble:
        found.state, found.reason = DAMAGED, str(trouble)
        return False
    return True


@contextmanager
def _noting_faults(found: Diagnosis) -> Iterator[None]:
    """Note what keeps a comparison from its end."""
    try:
        yield
    except TreeEmptied as refusal:
        found.emptied = refusal.sentence
    except Corrupt as trouble:
        found.state, found.reason = DAMAGED, str(trouble)
    except OracleError as trouble:
        found.state, found.reason = DAMAGED, trouble.sentence


def _compare(root: Root, database: Database, found: Diagnosis, now_ns: int) -> None:
    with _noting_faults(found):
        _note_waiting(root, database, found)
        before = _files_in(database)
        _catch_up(database, now_ns)
        found.behind = len(before ^ _files_in(database))
        found.wrong = differences(database, found.truth)
        for _ in range(_TRIES - 1):  # a file may have changed between the two looks
            if not found.wrong:
                return
            _catch_up(database, now_ns)
            _catch_up(found.truth, now_ns)
            found.wrong = differences(database, found.truth)


def _note_waiting(root: Root, database: Database, found: Diagnosis, *, most: int = 0) -> None:
    """Note what waits to be printed, and which other projections are not what the index says."""
    connection = database.connect()
    found.dirty = int(connection.execute("SELECT count(*) FROM dirty").fetchone()[0])
    found.dirty += bool(get_meta(connection, "print_all"))
    waiting = {_projection(root, *row) for row in connection.execute("SELECT side, name FROM dirty")}
    found.stale = [path for path in _stale(database, found, most=most) if path not in waiting]


def _compare_sample(database: Database, found: Diagnosis, now_ns: int) -> None:
    """Read records that are chosen at random again, in the copy itself, and compare their rows with those before."""
    connection = database.connect()
    found.truth, found.records, found.sampled = database, _count(database), SAMPLE
    with _noting_faults(found):
        _note_waiting(database.root, database, found, most=SAMPLE)
        caught_up = _catch_up(database, now_ns)
        found.behind = caught_up.taken + caught_up.dropped
        chosen = "SELECT slug FROM record ORDER BY random() LIMIT ?"
        connection.execute(f"CREATE TEMP TABLE sampled AS {chosen}", (SAMPLE,))
        before = digests_of(database, _SAMPLED)
        found.heads = _read_again(database, now_ns)
        found.wrong = name_differences(before, digests_of(database, _SAMPLED))


def _read_again(database: Database, now_ns: int) -> list[Head]:
    """Read the records of the sample as if their bytes had changed, and return their heads.

    One that is gone by now is dropped. They are read in the order of their rows: in any other, the full-text index would
    write a segment for each of them.
    """
    connection, root, heads = database.connect(), database.root, []
    with immediate(connection):
        connection.execute("UPDATE record SET hash = x'' WHERE slug IN (SELECT slug FROM sampled)")
        writer = Writer(connection, root, now_ns=now_ns)
        chosen = f"SELECT slug, path, project FROM {_SAMPLED} ORDER BY record.id"  # noqa: S608
        for slug, path, project in connection.execute(chosen).fetchall():
            raw, document = None, None
            try:
                seen = stat_of(os.stat(root.join(path)))
            except FileNotFoundError:
                writer.drop(path)
                continue
            with suppress(OSError):  # the writer tries again, and reports it
                raw = records.load(root, path)
                document = records.parse(path, raw)
                heads += [] if path.startswith(FOREIGN) else [head_of(path, project, document)]
            writer.take(path, seen, slug=slug, raw=raw, document=document)
        writer.settle()
    return heads


def _stale(database: Database, found: Diagnosis, *, most: int = 0) -> list[str]:
    try:
        return projection_checks.differences(database.connect(), database.root, most=most)
    except OSError as trouble:
        found.blocked = say("{path} can't be read: {reason}", path=trouble.filename, reason=trouble.strerror)
        return []


def _catch_up(database: Database, now_ns: int) -> ReconcileReport:
    return reconcile(database, now_ns=now_ns, full=True)


def _projection(root: Root, side: str, name: str) -> str:
    return root.links_file(name) if side == LINKS else root.backlinks_file(name)


def _files_in(database: Database) -> set[tuple[object, ...]]:
    return set(database.connect().execute("SELECT path, slug, hash, mtime_ns FROM record"))
