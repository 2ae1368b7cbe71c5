"""Compare the index and its projections with a rebuild in memory. Nothing on disk is changed.

A private copy of the index is brought up to date first, as the next query would do; what then still differs from a
rebuild is really wrong. What only waited for the next look is counted, and is no fault.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter

from oracle.app.doctor import snapshot
from oracle.app.doctor.snapshot import BeingWritten, Snapshot
from oracle.errors import OracleError, TreeEmptied
from oracle.index.db import Corrupt, Database, get_meta
from oracle.index.schema import SCHEMA_VERSION
from oracle.index.write import projections
from oracle.index.write.rebuild import rebuild
from oracle.index.write.reconcile import reconcile
from oracle.store.root.layout import Root
from oracle.wording import say

ABSENT, DAMAGED, OUTDATED, BUSY, SOUND = "absent", "damaged", "outdated", "busy", "sound"
_TRIES = 3

_ASPECTS = {
    "fields": "SELECT slug, path, folder, key, mtime_ns, size, hash, project, seat, kind, title, status, author, task_id,"
    " ts, sort_ts, confidence, claims_seat, retired_by, retired_how FROM record ORDER BY slug",
    "edges": "SELECT slug, type, name, snippet, edge.line FROM record JOIN edge ON source_id = record.id"
    " JOIN target ON target.id = target_id ORDER BY slug, type, name",
    "references": "SELECT slug, type, ref, reference.key, snippet, line, target.name, resolved FROM record"
    " JOIN reference ON source_id = record.id LEFT JOIN target ON target.id = target_id ORDER BY slug, type, ref",
    "text": "SELECT slug, passage.title, body FROM record JOIN passage ON passage.rowid = record.id ORDER BY slug",
}
_ORPHANED = {
    "edges": "SELECT count(*) FROM edge WHERE source_id NOT IN (SELECT id FROM record) OR target_id NOT IN (SELECT id FROM target)",
    "references": "SELECT count(*) FROM reference WHERE source_id NOT IN (SELECT id FROM record)",
    "passages": "SELECT count(*) FROM passage WHERE rowid NOT IN (SELECT id FROM record)",
}
# Configuration is checked on its own; its rows come and go with the records that made somebody read it.
_PROBLEMS = "SELECT path, line, reason FROM problem WHERE path NOT GLOB '*.toml' ORDER BY path, line, reason"


@dataclass(slots=True)
class Diagnosis:
    """What was found of the index.

    `truth` is the rebuild in memory; `wrong` and `stale` name slugs and absolute paths; `blocked` says why projections
    could not be read.
    """

    state: str
    truth: Database
    reason: str = ""
    version: str = ""
    records: int = 0
    behind: int = 0
    dirty: int = 0
    emptied: str = ""
    blocked: str = ""
    wrong: dict[str, str] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)

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
    truth, emptied = _rebuild(root, now_ns)
    records = int(truth.connect().execute("SELECT count(*) FROM record").fetchone()[0])
    found = Diagnosis(SOUND, truth, records=records, emptied=emptied)
    copy = _open(root, found)
    if copy is not None and _is_sound(copy.database, found):
        _compare(root, copy.database, found, now_ns)
    if found.state != BUSY and (found.state != SOUND or found.wrong):
        found.stale = _stale(truth, found)
    return found, copy.stamp if copy is not None else snapshot.stamp_of(root)


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


def _compare(root: Root, database: Database, found: Diagnosis, now_ns: int) -> None:
    connection = database.connect()
    try:
        found.dirty = int(connection.execute("SELECT count(*) FROM dirty").fetchone()[0])
        found.dirty += bool(get_meta(connection, "print_all"))
        waiting = {_projection(root, *row) for row in connection.execute("SELECT side, name FROM dirty")}
        found.stale = [path for path in _stale(database, found) if path not in waiting]
        before = _files_in(database)
        _catch_up(database, now_ns)
        found.behind = len(before ^ _files_in(database))
        found.wrong = _differences(database, found.truth)
        for _ in range(_TRIES - 1):  # a file may have changed between the two looks
            if not found.wrong:
                return
            _catch_up(database, now_ns)
            _catch_up(found.truth, now_ns)
            found.wrong = _differences(database, found.truth)
    except TreeEmptied as refusal:
        found.emptied = refusal.sentence
    except Corrupt as trouble:
        found.state, found.reason = DAMAGED, str(trouble)
    except OracleError as trouble:
        found.state, found.reason = DAMAGED, trouble.sentence


def _stale(database: Database, found: Diagnosis) -> list[str]:
    try:
        return projections.differences(database.connect(), database.root)
    except OSError as trouble:
        found.blocked = say("{path} can't be read: {reason}", path=trouble.filename, reason=trouble.strerror)
        return []


def _catch_up(database: Database, now_ns: int) -> None:
    reconcile(database, now_ns=now_ns, full=True)


def _projection(root: Root, side: str, name: str) -> str:
    return root.links_file(name) if side == projections.LINKS else root.backlinks_file(name)


def _files_in(database: Database) -> set[tuple[object, ...]]:
    return set(database.connect().execute("SELECT path, slug, hash, mtime_ns FROM record"))


def _differences(index: Database, truth: Database) -> dict[str, str]:
    """Return what is wrong by slug (or by what is not a record's): "missing", "not on disk", or the aspects that differ."""
    wrong: dict[str, list[str]] = {}
    for aspect, statement in _ASPECTS.items():
        ours, theirs = dict(_digests(index, statement)), dict(_digests(truth, statement))
        for slug in sorted(ours.keys() | theirs.keys()):
            if ours.get(slug) != theirs.get(slug):
                whole = aspect == "fields" and not (slug in ours and slug in theirs)
                wrong.setdefault(slug, []).append(("not on disk" if slug in ours else "missing") if whole else aspect)
    named = {
        slug: what[0] if what[0] in ("missing", "not on disk") else ", ".join(what) for slug, what in wrong.items()
    }
    for what, statement in _ORPHANED.items():
        if index.connect().execute(statement).fetchone()[0]:
            named[f"{what} of no record"] = "left over"
    if index.connect().execute(_PROBLEMS).fetchall() != truth.connect().execute(_PROBLEMS).fetchall():
        named["the problem rows"] = "differ"
    return named


def _digests(database: Database, statement: str) -> Iterator[tuple[str, bytes]]:
    """Yield a digest of each slug's rows; the rows come ordered by slug."""
    for slug, rows in groupby(database.connect().execute(statement), key=itemgetter(0)):
        digest = blake2b(digest_size=16)
        for row in rows:
            digest.update(repr(row).encode("utf-8", "backslashreplace"))
        yield slug, digest.digest()
