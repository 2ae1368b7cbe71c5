"""One record file -> its rows: record, full text, edges, references, problems; and which targets became dirty.

A `Writer` lives for one transaction of whoever holds the write lock. References to records are resolved in a second step
(`settle`), since what they mean depends on which records exist.
"""

from __future__ import annotations

import os
import sqlite3
from hashlib import blake2b

from oracle.domain import links
from oracle.domain.documents import Document, Problem, as_text
from oracle.domain.links import Patterns
from oracle.domain.records import RETIRING, Record, interpret
from oracle.domain.slugs import is_entity, project_of, slug_of
from oracle.index.fold import fold
from oracle.index.projections import BACKLINKS, LINKS
from oracle.index.scan import SETTLE_NS, Stat
from oracle.store import records
from oracle.store.configuration import load_patterns
from oracle.store.layout import Root

_UNSEARCHED_FIELDS = frozenset({"schema_version", "format", "id", "title", "filename_stamp", "content_source"})
_MENTION_FIELDS = ("title", "detail")
_REFERENCE_TYPES = ("references-record", *(name for name in links.RELATIONS if name != "related-task"))
_RECORD_COLUMNS = [
    "slug",
    "path",
    "folder",
    "key",
    "mtime_ns",
    "size",
    "inode",
    "ctime_ns",
    "racy",
    "hash",
    "project",
    "seat",
    "kind",
    "title",
    "status",
    "author",
    "task_id",
    "ts",
    "sort_ts",
    "confidence",
]
_INSERT = f"INSERT INTO record({', '.join(_RECORD_COLUMNS)}) VALUES ({', '.join('?' * len(_RECORD_COLUMNS))})"  # noqa: S608
_UPDATE = f"UPDATE record SET {', '.join(f'{name} = ?' for name in _RECORD_COLUMNS)} WHERE id = ?"  # noqa: S608
_NEWEST_RETIRER = (
    "SELECT source.slug, edge.type FROM target JOIN edge ON target_id = target.id JOIN record AS source ON source.id = source_id"
    " WHERE target.name = ? AND edge.type IN ('supersedes', 'retires') ORDER BY source.sort_ts DESC, source.slug LIMIT 1"
)
_TARGET_CACHE = 50_000


class Writer:
    """Write rows inside the caller's transaction; with `bulk` everything will be printed anyway, so nothing is marked dirty."""

    def __init__(self, connection: sqlite3.Connection, root: Root, *, now_ns: int, bulk: bool = False) -> None:
        self._connection = connection
        self._root = root
        self._now_ns = now_ns
        self._bulk = bulk
        self._targets: dict[str, int] = {}
        self._patterns: dict[str, Patterns] = {}
        self._touched_keys: set[str] = set()
        self._touched_slugs: set[str] = set()
        self._pending: set[int] = set()

    # -- records ---------------------------------------------------------------------------------------------------

    def take(self, path: str, stat: Stat, *, slug: str, raw: bytes | None = None) -> None:
        """Index the file at root-relative `path`; unchanged bytes only refresh its stat. A file that vanished is left out."""
        reason = ""
        if raw is None:
            try:
                raw = records.read(self._root.join(path))
            except FileNotFoundError:
                self.drop(path)
                return
            except OSError as error:
                raw, reason = b"", f"The file can't be read: {error.strerror}."
        digest = blake2b(raw, digest_size=16).digest()
        known = self._connection.execute(
            "SELECT id, slug, hash, mtime_ns FROM record WHERE path = ?", (path,)
        ).fetchone()
        if known is not None and known[1] == slug and known[2] == digest:
            self._refresh(known[0], slug, stat, known[3])
            return
        if known is not None and known[1] != slug:
            self.drop(path)
            known = None
        document = records.parse(path, raw)
        record = interpret(document, slug, path, mtime_ns=stat.mtime_ns)
        source = self._put(record, stat, digest, None if known is None else known[0])
        self._put_problems(path, (*document.problems, Problem(1, reason)) if reason else document.problems)
        self._put_links(source, record)

    def _refresh(self, source: int, slug: str, stat: Stat, old_mtime_ns: int) -> None:
        self._connection.execute(
            "UPDATE record SET mtime_ns = ?, size = ?, inode = ?, ctime_ns = ?, racy = ? WHERE id = ?",
            (*stat, self._is_racy(stat), source),
        )
        if stat.mtime_ns != old_mtime_ns:
            self._soil_all(source, slug)
            self._resort(source)

    def _resort(self, source: int) -> None:
        """Date a record that states no time of its own by its mtime, which has moved."""
        path, slug = self._connection.execute("SELECT path, slug FROM record WHERE id = ?", (source,)).fetchone()
        mtime_ns = self._connection.execute("SELECT mtime_ns FROM record WHERE id = ?", (source,)).fetchone()[0]
        document = records.parse(path, records.read(self._root.join(path)))
        sort_ts = interpret(document, slug, path, mtime_ns=mtime_ns).sort_ts
        self._connection.execute("UPDATE record SET sort_ts = ? WHERE id = ?", (sort_ts, source))

    def _put(self, record: Record, stat: Stat, digest: bytes, known: int | None) -> int:
        key = links.reference_key(record.slug)
        values = (
            record.slug, record.path, os.path.dirname(record.path), key, *stat, self._is_racy(stat), digest,
            record.project, record.seat, record.kind, record.title, record.status, record.author, record.task_id,
            record.ts, record.sort_ts, record.confidence,
        )  # fmt: skip
        if known is None:
            source = int(self._connection.execute(_INSERT, values).lastrowid or 0)
            self._touched_keys.add(key)
            self._touched_slugs.add(record.slug)
        else:
            source = known
            self._connection.execute(_UPDATE, (*values, source))
            self._connection.execute("DELETE FROM passage WHERE rowid = ?", (source,))
            self._forget_links(source, record.slug)
        self._connection.execute(
            "INSERT INTO passage(rowid, title, body) VALUES (?, ?, ?)",
            (source, fold(record.title), fold(_searched(record.document))),
        )
        return source

    def _is_racy(self, stat: Stat) -> int:
        return int(self._now_ns - stat.mtime_ns < SETTLE_NS)

    def drop(self, path: str) -> None:
        """Forget the record at root-relative `path` and everything that was read from it."""
        self._connection.execute("DELETE FROM problem WHERE path = ?", (path,))
        known = self._connection.execute("SELECT id, slug, key FROM record WHERE path = ?", (path,)).fetchone()
        if known is None:
            return
        source, slug, key = known
        self._forget_links(source, slug)
        self._connection.execute("DELETE FROM passage WHERE rowid = ?", (source,))
        self._connection.execute("DELETE FROM record WHERE id = ?", (source,))
        self._touched_keys.add(key)
        self._touched_slugs.add(slug)
        self._pending.discard(source)

    def _put_problems(self, path: str, problems: tuple[Problem, ...]) -> None:
        self._connection.execute("DELETE FROM problem WHERE path = ?", (path,))
        self.report(path, *problems)

    def report(self, path: str, *problems: Problem) -> None:
        """Add problem rows for a root-relative path."""
        self._connection.executemany(
            "INSERT INTO problem VALUES (?, ?, ?)", [(path, problem.line, problem.reason) for problem in problems]
        )

    # -- links -----------------------------------------------------------------------------------------------------

    def _put_links(self, source: int, record: Record) -> None:
        edges: dict[tuple[str, str], tuple[str, int]] = {}
        refs: dict[tuple[str, str], tuple[str, int]] = {}
        for relation in record.relations:
            bucket = edges if is_entity(relation.target) else refs
            bucket.setdefault(
                (relation.type, relation.target), (f"{relation.type}: {relation.target}"[:160], relation.line)
            )
        for text, first_line in _prose(record.document):
            found = links.extract(text, self._patterns_of(record))
            for mention in found.mentions:
                edges.setdefault((mention.type, mention.target), (mention.snippet, first_line + mention.line - 1))
            for reference in found.references:
                refs.setdefault((reference.type, reference.ref), (reference.snippet, first_line + reference.line - 1))
        self._put_edges(source, record.slug, edges)
        if refs:
            self._connection.executemany(
                "INSERT INTO reference(source_id, type, ref, key, snippet, line) VALUES (?, ?, ?, ?, ?, ?)",
                [(source, kind, ref, links.reference_key(ref), *place) for (kind, ref), place in refs.items()],
            )
            self._pending.add(source)

    def _put_edges(self, source: int, slug: str, edges: dict[tuple[str, str], tuple[str, int]]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO edge VALUES (?, ?, ?, ?, ?)",
            [(self._target(name), source, kind, *place) for (kind, name), place in edges.items()],
        )
        if edges:
            self._soil(slug, [name for _, name in edges])

    def _patterns_of(self, record: Record) -> Patterns:
        project = project_of(record.path)
        if project not in self._patterns:
            self._patterns[project] = load_patterns(
                self._root, project, report=lambda path, why: self._put_problems(path, (Problem(1, why),))
            )
        return self._patterns[project]

    def _target(self, name: str) -> int:
        known = self._targets.get(name)
        if known is None:
            row = self._connection.execute("SELECT id FROM target WHERE name = ?", (name,)).fetchone()
            known = (
                int(row[0])
                if row
                else int(self._connection.execute("INSERT INTO target(name) VALUES (?)", (name,)).lastrowid or 0)
            )
            if len(self._targets) >= _TARGET_CACHE:
                self._targets.clear()
            self._targets[name] = known
        return known

    def _forget_links(self, source: int, slug: str) -> None:
        old = self._connection.execute(
            "SELECT name, type FROM edge JOIN target ON id = target_id WHERE source_id = ?", (source,)
        ).fetchall()
        self._connection.execute("DELETE FROM edge WHERE source_id = ?", (source,))
        self._connection.execute("DELETE FROM reference WHERE source_id = ?", (source,))
        self._touched_slugs.update(name for name, kind in old if kind in RETIRING)
        if old:
            self._soil(slug, [name for name, _ in old])

    def _soil_all(self, source: int, slug: str) -> None:
        names = self._connection.execute(
            "SELECT name FROM edge JOIN target ON id = target_id WHERE source_id = ?", (source,)
        ).fetchall()
        if names:
            self._soil(slug, [name for (name,) in names])

    def _soil(self, slug: str, targets: list[str]) -> None:
        """Mark the projections of a source and of its targets as out of date."""
        if not self._bulk:
            self._connection.execute("INSERT OR IGNORE INTO dirty VALUES (?, ?)", (LINKS, slug))
            self._connection.executemany(
                "INSERT OR IGNORE INTO dirty VALUES (?, ?)", [(BACKLINKS, name) for name in targets]
            )

    # -- the second step -------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Resolve the references that this transaction's changes may have moved, then say which records are retired."""
        for source in self._unsettled():
            self._resolve(source)
        self._mark_retired()
        self._pending.clear()
        self._touched_keys.clear()
        self._touched_slugs.clear()

    def _unsettled(self) -> list[int]:
        if self._bulk:
            return [
                source for (source,) in self._connection.execute("SELECT DISTINCT source_id FROM reference").fetchall()
            ]
        moved = set(self._pending)
        for key in self._touched_keys:
            rows = self._connection.execute("SELECT DISTINCT source_id FROM reference WHERE key = ?", (key,))
            moved.update(source for (source,) in rows)
        return sorted(moved)

    def _resolve(self, source: int) -> None:
        slug = self._connection.execute("SELECT slug FROM record WHERE id = ?", (source,)).fetchone()[0]
        rows = self._connection.execute(
            "SELECT type, ref, key, snippet, line, target_id, resolved FROM reference WHERE source_id = ? ORDER BY line, type, ref",
            (source,),
        ).fetchall()
        edges: dict[tuple[str, str], tuple[str, int]] = {}
        changed: list[tuple[int | None, int, int, str, str]] = []
        for kind, ref, key, snippet, line, old_target, old_resolved in rows:
            name, resolved = self._meaning(ref, slug, key)
            target = self._target(name) if name else None
            if name:
                edges.setdefault((kind, name), (snippet, line))
            if (target, resolved) != (old_target, old_resolved):
                changed.append((target, resolved, source, kind, ref))
        if changed or source in self._pending:
            self._connection.executemany(
                "UPDATE reference SET target_id = ?, resolved = ? WHERE source_id = ? AND type = ? AND ref = ?", changed
            )
            self._replace_record_edges(source, slug, edges)

    def _meaning(self, ref: str, source_slug: str, key: str) -> tuple[str, int]:
        """Return the slug that a reference means and whether such a record exists; "" for a link to oneself."""
        candidates = [slug for (slug,) in self._connection.execute("SELECT slug FROM record WHERE key = ?", (key,))]
        found = links.resolve(ref, source_slug, candidates)
        name = found if found is not None else links.unresolved_target(ref, source_slug)
        return ("", 0) if name == source_slug else (name, int(found is not None))

    def _replace_record_edges(self, source: int, slug: str, edges: dict[tuple[str, str], tuple[str, int]]) -> None:
        old = self._connection.execute(
            "SELECT name, type FROM edge JOIN target ON id = target_id WHERE source_id = ?", (source,)
        ).fetchall()
        gone = [(name, kind) for name, kind in old if kind in _REFERENCE_TYPES]
        for name, kind in gone:
            self._connection.execute(
                "DELETE FROM edge WHERE target_id = ? AND source_id = ? AND type = ?",
                (self._target(name), source, kind),
            )
        self._touched_slugs.update(name for name, kind in gone if kind in RETIRING)
        self._touched_slugs.update(name for kind, name in edges if kind in RETIRING)
        if gone:
            self._soil(slug, [name for name, _ in gone])
        self._put_edges(source, slug, edges)

    def _mark_retired(self) -> None:
        """Let each touched record know the newest record that supersedes or retires it."""
        touched = self._touched_slugs
        if self._bulk:
            rows = self._connection.execute(
                "SELECT DISTINCT name FROM edge JOIN target ON id = target_id WHERE type IN ('supersedes', 'retires')"
            )
            touched = {name for (name,) in rows}
        for slug in sorted(touched):
            by = self._connection.execute(_NEWEST_RETIRER, (slug,)).fetchone() or (None, None)
            self._connection.execute("UPDATE record SET retired_by = ?, retired_how = ? WHERE slug = ?", (*by, slug))


def slug_in(path: str, names: frozenset[str] | set[str] | dict[str, Stat]) -> str:
    """Return the slug of a record file among the names of its folder: `x.json` beside `x.md` keeps its suffix."""
    slug = slug_of(path)
    beside = os.path.basename(slug) + ".md"
    return path if path.endswith(".json") and beside in names else slug


def _prose(document: Document) -> list[tuple[str, int]]:
    """Return the texts that are searched for links, each with the line of the file on which it begins."""
    fields = [(document.fields.get(name, ""), document.key_lines.get(name, 1)) for name in _MENTION_FIELDS]
    texts = [(value, line) for value, line in fields if isinstance(value, str) and value]
    return [*texts, (document.body, document.body_line)]


def _searched(document: Document) -> str:
    values = [as_text(value) for key, value in document.fields.items() if key not in _UNSEARCHED_FIELDS]
    return "\n".join([document.body, *values])
