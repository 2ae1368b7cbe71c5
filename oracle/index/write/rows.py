"""Write readings as rows: record, full text, edges, references, problems; and mark dirty targets.

A `Writer` lives for one transaction under the write lock. References to records are resolved in a second step
(`settle`), because their targets depend on which records exist.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from oracle.domain.links import links
from oracle.domain.links.links import Patterns
from oracle.domain.markdown.documents import Document, digest_of
from oracle.domain.names import FOREIGN, is_entity, project_of
from oracle.domain.records.records import RETIRING
from oracle.index.db import VERSION, get_meta, set_meta
from oracle.index.scan import SETTLE_NS
from oracle.index.schema import INSERT_PROBLEM, problem_columns
from oracle.index.write import reading
from oracle.index.write.meanings import Meanings
from oracle.index.write.projections import BACKLINKS, LINKS, MOST_PRINTED
from oracle.index.write.reading import RECORD_COLUMNS, Reading
from oracle.store.disk.folders import Stat
from oracle.store.root.configuration import patterns_of
from oracle.store.root.layout import Root

_REFERENCE_TYPES = {"references-record", *links.RELATIONS, *links.CLAIMS.values()} - {"related-task"}
_COLUMNS = [*RECORD_COLUMNS, "racy"]
INSERT_RECORD = f"INSERT INTO record({', '.join(_COLUMNS)}, id) VALUES ({', '.join('?' * len(_COLUMNS))}, ?)"  # noqa: S608
INSERT_PASSAGE = "INSERT INTO passage(rowid, title, body) VALUES (?, ?, ?)"
INSERT_EDGE = "INSERT OR IGNORE INTO edge VALUES (?, ?, ?, ?, ?, ?)"
INSERT_NAME = "INSERT INTO name(key, name, record_id) VALUES (?, ?, ?)"
INSERT_REFERENCE = "INSERT INTO reference(source_id, type, ref, key, snippet, line) VALUES (?, ?, ?, ?, ?, ?)"
_UPDATE = f"UPDATE record SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE id = ?"  # noqa: S608
_RETIRED = "SELECT DISTINCT name FROM edge JOIN target ON id = target_id WHERE type IN ('supersedes', 'retires')"
_NEWEST_RETIRER = (
    "SELECT source.slug, edge.type FROM target JOIN edge ON target_id = target.id JOIN record AS source ON source.id = source_id"
    " WHERE target.name = ? AND edge.type IN ('supersedes', 'retires') ORDER BY source.sort_ts DESC, source.slug LIMIT 1"
)
_TARGET_CACHE = 200_000
"""Names of targets kept in memory: about 30 MB when full."""


_MTIME, _CTIME = RECORD_COLUMNS.index("mtime_ns"), RECORD_COLUMNS.index("ctime_ns")
_SORT_TS, _SEAT = RECORD_COLUMNS.index("sort_ts"), RECORD_COLUMNS.index("seat")


class Writer:
    """Writes rows inside the caller's transaction.

    With `bulk` nothing is marked dirty, since everything will be printed.
    """

    def __init__(self, connection: sqlite3.Connection, root: Root, *, now_ns: int, bulk: bool = False) -> None:
        self._connection = connection
        self.root = root
        self._now_ns = now_ns
        self._bulk = bulk
        self._targets: dict[str, int] = {}
        self._patterns: dict[str, Patterns] = {}
        self._touched_keys: set[str] = set()
        self._touched_slugs: set[str] = set()
        self._dirty_sources: set[str] = set()
        self._pending: set[int] = set()
        self._has_changed = False
        self.changed: dict[str, set[str]] = {}
        """The sources with changed lines, for each target that this writer marked dirty; empty with `bulk`."""

    # -- records ---------------------------------------------------------------------------------------------------

    def take(
        self, path: str, stat: Stat, *, slug: str, raw: bytes | None = None, document: Document | None = None
    ) -> None:
        """Index the file at root-relative `path`. `raw` and `document` are its bytes and parsed content, if known.

        If its bytes are unchanged, only its stat is updated. A missing file is dropped.
        """
        loaded = (raw, "") if raw is not None else reading.load(self.root, path)
        if loaded is None:
            self.drop(path)
            return
        raw, reason = loaded
        known = self._connection.execute(
            "SELECT id, slug, hash, mtime_ns, seat FROM record WHERE path = ?", (path,)
        ).fetchone()
        if known is not None and known[1] != slug:
            self.drop(path)
            known = None
        if known is not None and known[2] == digest_of(raw) and not reason:
            self._refresh(known[0], path, stat, slug=slug, old_mtime_ns=known[3], raw=raw)
            return
        found = reading.read_bytes(
            path,
            slug,
            stat,
            raw,
            patterns=self.patterns_of(path),
            reason=reason,
            document=document,
            source=self.root.source_of(path),
        )
        if known is None:
            self.add(found)
        else:
            self._change(int(known[0]), found, old_seat=known[4])

    def add(self, found: Reading) -> None:
        """Add a record that the index does not have yet."""
        self._has_changed = True
        source = int(self._connection.execute(INSERT_RECORD, (*found.row, self.is_racy(found), None)).lastrowid or 0)
        self._connection.execute("DELETE FROM problem WHERE path = ?", (found.row[1],))
        self._touched_keys.add(str(found.row[3]))
        self._touched_slugs.add(found.slug)
        self._put_contents(source, found)

    def _change(self, source: int, found: Reading, *, old_seat: str) -> None:
        self._has_changed = True
        self._connection.execute(_UPDATE, (*found.row, self.is_racy(found), source))
        self._connection.execute("DELETE FROM passage WHERE rowid = ?", (source,))
        self._connection.execute("DELETE FROM problem WHERE path = ?", (found.row[1],))
        self._forget_links(source, found.slug)
        self._put_contents(source, found)
        if found.row[_SEAT] != old_seat:  # another seat may end it now
            self._pending.update(self._naming(str(found.row[3])))

    def _put_contents(self, source: int, found: Reading) -> None:
        self._connection.execute(INSERT_PASSAGE, (source, found.title, found.body))
        if found.problems:
            self.report(str(found.row[1]), found.problems)
        self._put_names(source, found.names)
        self._put_edges(source, found.slug, found.edges)
        if found.references:
            self._connection.executemany(INSERT_REFERENCE, [(source, *reference) for reference in found.references])
            self._pending.add(source)

    def _put_names(self, source: int, names: Iterable[tuple[str, str]]) -> None:
        """Replace the names that a record gives itself. Links by the old and the new names are resolved again."""
        old = self._connection.execute("SELECT key FROM name WHERE record_id = ?", (source,)).fetchall()
        self._touched_keys.update([key for (key,) in old], [key for key, _ in names])
        self._connection.execute("DELETE FROM name WHERE record_id = ?", (source,))
        self._connection.executemany(INSERT_NAME, [(key, name, source) for key, name in names])

    def _refresh(self, source: int, path: str, stat: Stat, *, slug: str, old_mtime_ns: int, raw: bytes) -> None:
        """Store the new stat of a file with unchanged bytes. Its mtime is the record's time if the record has none."""
        sort_ts = reading.read_bytes(path, slug, stat, raw, patterns=links.DEFAULT_PATTERNS).row[_SORT_TS]
        self._connection.execute(
            "UPDATE record SET mtime_ns = ?, size = ?, inode = ?, ctime_ns = ?, racy = ?, sort_ts = ? WHERE id = ?",
            (*stat, self._is_young(stat.mtime_ns, stat.ctime_ns), sort_ts, source),
        )
        if stat.mtime_ns != old_mtime_ns:
            self._mark_all_dirty(source, slug)

    def is_racy(self, found: Reading) -> int:
        """Return 1 if a file is so young that its stat cannot be trusted, else 0."""
        return self._is_young(int(found.row[_MTIME]), int(found.row[_CTIME]))

    def _is_young(self, mtime_ns: int, ctime_ns: int) -> int:
        """Judge by the later of both times: an mtime can be set back, a ctime cannot."""
        return int(self._now_ns - max(mtime_ns, ctime_ns) < SETTLE_NS)

    def release(self, path: str, slug: str) -> None:
        """Drop the record at `path` if it has another slug than this."""
        row = self._connection.execute("SELECT slug FROM record WHERE path = ?", (path,)).fetchone()
        if row is not None and row[0] != slug:
            self.drop(path)

    def drop(self, path: str) -> None:
        """Drop the record at root-relative `path` and everything that was read from it."""
        self._connection.execute("DELETE FROM problem WHERE path = ?", (path,))
        known = self._connection.execute("SELECT id, slug, key FROM record WHERE path = ?", (path,)).fetchone()
        if known is None:
            return
        self._has_changed = True
        source, slug, key = known
        self._forget_links(source, slug)
        self._put_names(source, ())
        self._connection.execute("DELETE FROM passage WHERE rowid = ?", (source,))
        self._connection.execute("DELETE FROM record WHERE id = ?", (source,))
        self._touched_keys.add(key)
        self._touched_slugs.add(slug)
        self._pending.discard(source)

    def report(self, path: str, problems: Iterable[tuple[int, str, str]]) -> None:
        """Add problem rows (line, reason, sentence) for a root-relative path."""
        self._connection.executemany(INSERT_PROBLEM, [(path, *problem) for problem in problems])

    # -- links -----------------------------------------------------------------------------------------------------

    def edge_rows(self, source: int, slug: str, edges: Iterable[tuple[str, str, str, int]]) -> list[tuple[object, ...]]:
        """Return the rows of edges (type, target, snippet, line) from one record, in the order of its text.

        Those of a record outside of the Root are not printed: its text is not the Root's to publish.
        """
        most = 0 if slug.startswith(FOREIGN) else MOST_PRINTED
        return [
            (self.target_id(name), source, kind, snippet, line, int(number < most))
            for number, (kind, name, snippet, line) in enumerate(edges)
        ]

    def _put_edges(self, source: int, slug: str, edges: Sequence[tuple[str, str, str, int]]) -> None:
        rows = self.edge_rows(source, slug, edges)
        if rows:
            self._connection.executemany(INSERT_EDGE, rows)
            if not self._bulk:
                self._mark_dirty(slug, [name for _, name, *_ in edges[:MOST_PRINTED]])

    def patterns_of(self, path: str) -> Patterns:
        """Return the patterns of the project of a root-relative path. An invalid configuration file is reported."""
        project = project_of(path)
        if project not in self._patterns:
            bad: dict[str, str] = {}
            self._patterns[project] = patterns_of(self.root, project, report=bad.__setitem__)
            for name, why in bad.items():
                self._connection.execute("DELETE FROM problem WHERE path = ?", (name,))
                self.report(name, [problem_columns(1, why)])
        return self._patterns[project]

    def target_id(self, name: str) -> int:
        """Return the number of a target, a new one if needed."""
        known = self._targets.get(name)
        if known is None:
            row = self._connection.execute("SELECT id FROM target WHERE name = ?", (name,)).fetchone()
            insert = "INSERT INTO target(name) VALUES (?)"
            known = int(row[0] if row else self._connection.execute(insert, (name,)).lastrowid or 0)
            if len(self._targets) >= _TARGET_CACHE:
                self._targets.clear()
            self._targets[name] = known
        return known

    def _forget_links(self, source: int, slug: str) -> None:
        self._mark_all_dirty(source, slug)
        self._connection.execute("DELETE FROM edge WHERE source_id = ?", (source,))
        self._connection.execute("DELETE FROM reference WHERE source_id = ?", (source,))

    def _edges_of(self, source: int) -> list[tuple[str, str, int]]:
        """Return (target, type, whether it is printed) of the edges from a record."""
        return self._connection.execute(
            "SELECT name, type, printed FROM edge JOIN target ON id = target_id WHERE source_id = ?", (source,)
        ).fetchall()

    def _mark_all_dirty(self, source: int, slug: str) -> None:
        edges = self._edges_of(source)
        self._touched_slugs.update(name for name, kind, _ in edges if kind in RETIRING)
        if edges:
            self._mark_dirty(slug, [name for name, _, printed in edges if printed])

    def _mark_dirty(self, slug: str, targets: list[str]) -> None:
        """Mark the projections of a source and of its targets as out of date."""
        if not (self._bulk or slug.startswith(FOREIGN)):
            self._dirty_sources.add(slug)
            for name in targets:
                self.changed.setdefault(name, set()).add(slug)

    def _write_dirty(self) -> None:
        dirty = [*((LINKS, slug) for slug in self._dirty_sources), *((BACKLINKS, name) for name in self.changed)]
        self._connection.executemany("INSERT OR IGNORE INTO dirty VALUES (?, ?)", dirty)

    # -- the second step -------------------------------------------------------------------------------------------

    def expect_folder(self, path: str) -> None:
        """Add a row for a folder and its parents without scanning them: the next look does, or finds them gone."""
        while path:
            self._connection.execute("INSERT OR IGNORE INTO folder VALUES (?, 0, 0, -1, -1)", (path,))
            path = path.rpartition("/")[0]

    def settle(self) -> None:
        """Resolve the references that this transaction may have changed, then mark retired records.

        Dirty marks are written last, so call this before the commit.
        """
        if sources := self._unsettled():
            meanings = Meanings(self._connection)
            for source in sources:
                self._resolve(source, meanings)
        self._mark_retired()
        self._write_dirty()
        if self._has_changed:
            set_meta(self._connection, VERSION, str(int(get_meta(self._connection, VERSION) or 0) + 1))
            self._has_changed = False
        self._pending.clear()
        self._touched_keys.clear()
        self._touched_slugs.clear()
        self._dirty_sources.clear()

    def _unsettled(self) -> list[int]:
        if self._bulk:
            rows = self._connection.execute("SELECT DISTINCT source_id FROM reference").fetchall()
            return [source for (source,) in rows]
        moved = set(self._pending)
        for key in self._touched_keys:
            moved.update(self._naming(key))
        return sorted(moved)

    def _naming(self, key: str) -> list[int]:
        """Return the sources of the references that have a key."""
        rows = self._connection.execute("SELECT DISTINCT source_id FROM reference WHERE key = ?", (key,))
        return [source for (source,) in rows]

    def _resolve(self, source: int, meanings: Meanings) -> None:
        rows = self._connection.execute(
            "SELECT type, ref, reference.key, snippet, line, target_id, resolved, slug, seat FROM reference"
            " JOIN record ON id = source_id WHERE source_id = ? ORDER BY line, type, ref",
            (source,),
        ).fetchall()
        slug, seat = rows[0][-2:] if rows else ("", "")
        edges: dict[tuple[str, str], tuple[str, int]] = {}
        changed: list[tuple[int | None, int, int, str, str]] = []
        for kind, ref, key, snippet, line, old_target, old_resolved, *_ in rows:
            name, resolved = meanings.find(ref, slug, key)
            target = self.target_id(name) if name else None
            if name:
                edges.setdefault((meanings.effect_of(kind, slug, seat, name), name), (snippet, line))
            if (target, resolved) != (old_target, old_resolved):
                changed.append((target, resolved, source, kind, ref))
        if changed or source in self._pending:
            self._connection.executemany(
                "UPDATE reference SET target_id = ?, resolved = ? WHERE source_id = ? AND type = ? AND ref = ?", changed
            )
            self._replace_record_edges(source, slug, edges)

    def _mark_retired(self) -> None:
        """Set the newest record that supersedes or retires each record that may be ended by another now than before."""
        rows = self._connection.execute(_RETIRED).fetchall() if self._bulk else ()
        for slug in sorted({*self._touched_slugs, *(slug for (slug,) in rows)}):
            by = self._connection.execute(_NEWEST_RETIRER, (slug,)).fetchone() or (None, None)
            self._connection.execute("UPDATE record SET retired_by = ?, retired_how = ? WHERE slug = ?", (*by, slug))

    def _replace_record_edges(self, source: int, slug: str, edges: dict[tuple[str, str], tuple[str, int]]) -> None:
        old = [] if self._bulk else self._edges_of(source)
        gone = [one for one in old if one[1] in _REFERENCE_TYPES and not is_entity(one[0])]
        for name, kind, _ in gone:
            self._connection.execute(
                "DELETE FROM edge WHERE target_id = ? AND source_id = ? AND type = ?",
                (self.target_id(name), source, kind),
            )
        self._touched_slugs.update(name for name, kind, _ in gone if kind in RETIRING)
        self._touched_slugs.update(name for kind, name in edges if kind in RETIRING)
        if gone:
            self._mark_dirty(slug, [name for name, _, printed in gone if printed])
        self._put_edges(source, slug, [(kind, name, *place) for (kind, name), place in edges.items()])
