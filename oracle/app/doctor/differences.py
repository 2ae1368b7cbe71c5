"""Which rows two indexes have apart: digests of each aspect of each record, and what was left over."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter

from oracle.index.db import Database
from oracle.index.listing import ABSENT as ABSENT_FOLDER
from oracle.index.listing import folder_mtime

_ASPECTS = {
    "fields": "SELECT slug, path, folder, key, mtime_ns, size, hash, project, seat, kind, title, status, author, task_id,"
    " ts, sort_ts, confidence, claims_seat, retired_by, retired_how FROM {record} ORDER BY slug",
    "edges": "SELECT slug, type, name, snippet, edge.line FROM {record} CROSS JOIN edge ON source_id = record.id"
    " CROSS JOIN target ON target.id = target_id ORDER BY slug, type, name",
    "references": "SELECT slug, type, ref, reference.key, snippet, line, target.name, resolved FROM {record}"
    " CROSS JOIN reference ON source_id = record.id LEFT JOIN target ON target.id = target_id ORDER BY slug, type, ref",
    "text": "SELECT slug, passage.title, body FROM {record} CROSS JOIN passage ON passage.rowid = record.id ORDER BY slug",
}


_ORPHANED = {
    "edges": "SELECT count(*) FROM edge WHERE source_id NOT IN (SELECT id FROM record) OR target_id NOT IN (SELECT id FROM target)",
    "references": "SELECT count(*) FROM reference WHERE source_id NOT IN (SELECT id FROM record)",
    "passages": "SELECT count(*) FROM passage WHERE rowid NOT IN (SELECT id FROM record)",
}


# Configuration is checked on its own; its rows come and go with the records that made somebody read it.
_PROBLEMS = "SELECT path, line, reason FROM problem WHERE path NOT GLOB '*.toml' ORDER BY path, line, reason"


def differences(index: Database, truth: Database) -> dict[str, str]:
    """Return what is wrong by slug, or by what is not a record's."""
    named = name_differences(digests_of(index), digests_of(truth))
    for what, statement in _ORPHANED.items():
        if index.connect().execute(statement).fetchone()[0]:
            named[f"{what} of no record"] = "left over"
    if _problems_in(index) != _problems_in(truth):
        named["the problem rows"] = "differ"
    return named


def digests_of(database: Database, among: str = "record") -> dict[str, dict[str, bytes]]:
    """Return the digests of each aspect's rows, by slug."""
    kept = _kept_by(database)
    return {
        aspect: {
            slug: digest
            for slug, digest in _digests(database, statement.format(record=among))
            if not slug.startswith(kept)
        }
        for aspect, statement in _ASPECTS.items()
    }


def _problems_in(database: Database) -> list[tuple[object, ...]]:
    kept = _kept_by(database)
    return [row for row in database.connect().execute(_PROBLEMS) if not row[0].startswith(kept)]


def _kept_by(database: Database) -> tuple[str, ...]:
    """Return the folders of sources that are not there: what the index keeps of them, no rebuild would have."""
    root = database.root
    return tuple(f"{tree}/" for tree in root.load_sources() if folder_mtime(root, tree) == ABSENT_FOLDER)


def name_differences(ours: dict[str, dict[str, bytes]], theirs: dict[str, dict[str, bytes]]) -> dict[str, str]:
    """Return what is wrong by slug: "missing", "not on disk", or the aspects that differ."""
    wrong: dict[str, list[str]] = {}
    for aspect, digests in ours.items():
        true = theirs[aspect]
        for slug in sorted(digests.keys() | true.keys()):
            if digests.get(slug) != true.get(slug):
                whole = aspect == "fields" and not (slug in digests and slug in true)
                wrong.setdefault(slug, []).append(
                    ("not on disk" if slug in digests else "missing") if whole else aspect
                )
    return {slug: what[0] if what[0] in ("missing", "not on disk") else ", ".join(what) for slug, what in wrong.items()}


def _digests(database: Database, statement: str) -> Iterator[tuple[str, bytes]]:
    """Yield a digest of each slug's rows; the rows come ordered by slug."""
    for slug, rows in groupby(database.connect().execute(statement), key=itemgetter(0)):
        digest = blake2b(digest_size=16)
        for row in rows:
            digest.update(repr(row).encode("utf-8", "backslashreplace"))
        yield slug, digest.digest()
