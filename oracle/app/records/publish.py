"""Print `index.json` and the projects' `_index/` from the records, for other programs.

They are printed only on request (`scan_index`, `oracle index reconcile --publish`), never by a write. Each holds all records of
its project, so that a write would cost more and more. Only the short MEMORY.md follows each memory that is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from oracle.app.context import Context
from oracle.app.records import memory_index
from oracle.domain import timestamps
from oracle.domain.markdown.documents import Document, Value
from oracle.domain.names import ORPHAN_KINDS, SHARED, check_name, is_entity
from oracle.domain.records.records import Record, interpret
from oracle.domain.values import value
from oracle.errors import InvalidName, NotInFederation, OracleError
from oracle.index.read import query
from oracle.store.disk import files
from oracle.store.markdown import records
from oracle.store.root.layout import Root
from oracle.wording import LIST, joined, say

VERSION = 1
_NOTE_FORMAT = "markdown_note"
_WRITTEN = {"true": True, "false": False}

Entry = dict[str, object]


@value
class Filed:
    """A Markdown record with frontmatter as `files.json` lists it, and what else is printed of it."""

    record: Record
    entry: Entry


def publish_all(context: Context) -> list[str]:
    """Print every project's `_index/`, merge `index.json`; return the absolute paths. Raises LockTimeout, DiskFailure."""
    written: list[str] = []
    projects: list[Entry] = []
    notes: list[Entry] = []
    for project in project_names(context.root):
        filed, paths = _publish(context, project)
        written += paths
        projects.append(_project_entry(project, filed))
        notes += [_note_entry(context.root, item) for item in filed if _is_note(item)]
    with context.index.lock():
        _merge_catalogue(context, projects, notes)
    return [*written, context.root.catalogue]


def publish_project(context: Context, project: str) -> list[str]:
    """Print one project's `_index/` and return the absolute paths. Raises NotInFederation when it has no folder."""
    return _publish(context, project)[1]


def publish_memories(context: Context, project: str) -> list[str]:
    """Print the MEMORY.md of a project after a memory of it changed; of a memory without a project, that of every project.

    Returns warnings: the records are written, whatever happens here.
    """
    names = [project] if project != SHARED else project_names(context.root)
    try:
        with context.index.lock():
            connection = context.index.database.connect()
            for name in names:
                path = context.root.join(f"{context.root.project_index(name)}/{memory_index.NAME}")
                text = memory_index.print_memories(context, connection, name)
                if text or os.path.isfile(path):
                    files.replace(path, text.encode("utf-8", "replace"), scratch=context.root.scratch)
    except (OracleError, OSError) as error:
        failed = say(
            "{name} of {projects} could not be printed: {error}",
            name=memory_index.NAME,
            projects=joined(LIST, names),
            error=error,
        )
        return [failed]
    return []


def load_published(path: str) -> Entry:
    """Return what was just printed; others may print again meanwhile, but a file is always whole."""
    with open(path, "rb") as stream:
        content: Entry = json.loads(stream.read())
    return content


def project_names(root: Root) -> list[str]:
    """Return the projects of a Root that have a proper name, in the order of the alphabet."""
    names = []
    try:
        folders = sorted(
            entry.name for entry in os.scandir(root.join("projects")) if entry.is_dir(follow_symlinks=False)
        )
    except OSError:
        return []
    for name in folders:
        try:
            names.append(check_name(name, "project"))
        except InvalidName:
            continue
    return names


def list_filed(context: Context, project: str) -> list[Entry]:
    """Return the entries of `files.json`, with `seat` and effective status, as they are now; nothing is printed."""
    folder = context.root.project(project)
    rows = context.index.read(lambda connection: query.below(connection, folder))
    found = []
    for row, filed in _read_all(context.root, folder, rows):
        entry = {"seat": filed.record.seat, **filed.entry}
        if row[3]:
            entry.update(status="retired" if row[4] == "retires" else "superseded", retired_by=row[3])
        found.append(entry)
    return found


# -- one project -------------------------------------------------------------------------------------------------------


def _publish(context: Context, project: str) -> tuple[list[Filed], list[str]]:
    root = context.root
    folder, index = root.project(project), root.project_index(project)
    if not os.path.isdir(root.join(folder)):
        raise NotInFederation(
            say("not_in_federated_kb: {path} has no project {project}.", project=project, path=root.path)
        )
    with context.index.lock():
        context.index.reconcile_held()
        connection = context.index.database.connect()
        found = list(_read_all(root, folder, query.below(connection, folder)))
        filed = [item for _, item in found]
        edges = list(query.outgoing(connection, [item.record.slug for item in filed], ("references-record",)))
        head = {"version": VERSION, "project": project, "last_built": _built(context)}
        printed = {
            "files.json": _dump({**head, "files": [item.entry for item in filed]}),
            "search.json": _dump({**head, "tokens": _tokens(filed)}),
            "links.json": _dump(_graph(filed, edges)),
            "timeline.jsonl": "".join(_dump(line) for line in _timeline(found)),
        }
        memories = memory_index.print_memories(context, connection, project)
        if memories or os.path.isfile(root.join(f"{index}/{memory_index.NAME}")):
            printed[memory_index.NAME] = memories
        paths = [root.join(f"{index}/{name}") for name in printed]
        for path, text in zip(paths, printed.values(), strict=True):
            files.replace(path, text.encode("utf-8", "replace"), scratch=root.scratch)
    return filed, paths


def _read_all(root: Root, folder: str, rows: list[query.Row]) -> Iterator[tuple[query.Row, Filed]]:
    """Read the Markdown records of a folder that have frontmatter; a file that is gone by now is left out."""
    for row in rows:
        path = str(row[0])
        document = records.read_document(root, path) if path.endswith(".md") else None
        if document and document.fields:
            record = interpret(document, str(row[1]), path, mtime_ns=int(str(row[5])))
            yield row, Filed(record, _entry(record, path[len(folder) + 1 :], row))


def _entry(record: Record, path: str, row: query.Row) -> Entry:
    known: Entry = {key: _plain(value) for key, value in record.document.fields.items()}
    known.update({"path": path, "size": row[6], "mtime": timestamps.print_second(int(str(row[5])) // timestamps.NS)})
    return {"project": record.project, "kind": record.kind, **known}


def _plain(value: Value) -> object:
    return _WRITTEN.get(value, value) if isinstance(value, str) else value


def _tokens(filed: list[Filed]) -> dict[str, list[str]]:
    """Return, for each pair of neighbouring characters in a record's fields, the records' paths."""
    tokens: dict[str, list[str]] = {}
    for item in filed:
        text = _field_text(item.record.document)
        path = str(item.entry["path"])
        for pair in {text[at : at + 2] for at in range(len(text) - 1)}:
            tokens.setdefault(pair, []).append(path)
    return tokens


def _field_text(document: Document) -> str:
    joined = "".join(value for value in document.fields.values() if isinstance(value, str))
    return "".join(joined.lower().split())


def _graph(filed: list[Filed], edges: list[tuple[str, str, str, str]]) -> Entry:
    nodes = {item.record.slug: (item.record.kind, item.record.title) for item in filed}
    for _, _, target, _ in edges:
        nodes.setdefault(target, ("entity" if is_entity(target) else "record", target.rpartition("/")[2]))
    return {
        "nodes": [{"id": name, "kind": kind, "label": label} for name, (kind, label) in sorted(nodes.items())],
        "edges": [{"from": source, "to": target, "type": "references"} for source, _, target, _ in edges],
    }


def _timeline(found: list[tuple[query.Row, Filed]]) -> list[Entry]:
    ordered = sorted(found, key=lambda item: (str(item[0][2]), str(item[0][0])))
    return [
        {"kind": filed.record.kind, "path": filed.entry["path"], "ts": filed.record.ts or row[2]}
        for row, filed in ordered
    ]


def _built(context: Context) -> str:
    moment = datetime.fromtimestamp(context.clock.now_ns() // 1_000_000_000, UTC)
    return f"{moment.isoformat()[:19]}Z"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n"


# -- index.json --------------------------------------------------------------------------------------------------------


def _project_entry(project: str, filed: list[Filed]) -> Entry:
    newest = max(filed, key=lambda item: item.record.sort_ts, default=None)
    return {
        "project": project,
        "file_count": len(filed),
        "kinds": sorted({item.record.kind for item in filed}),
        "last_ts": newest.record.ts or newest.record.sort_ts if newest else None,
    }


def _is_note(item: Filed) -> bool:
    fields, folders = item.record.document.fields, item.record.path.split("/")
    return fields.get("format") == _NOTE_FORMAT or (len(folders) == 4 and folders[2] in ORPHAN_KINDS)


def _note_entry(root: Root, item: Filed) -> Entry:
    fields = item.record.document.fields
    kept = ("id", "author", "ts", "created_at", "filename_stamp", "content_source")
    return {
        **{key: fields.get(key) or None for key in kept},
        "project": item.record.project,
        "kind": item.record.kind,
        "title": item.record.title,
        "path": root.join(item.record.path),
        "content_bytes": len(item.record.document.body.strip("\n").encode()) + 1,
        "source": "drop_cli" if fields.get("format") == _NOTE_FORMAT else fields.get("source") or "write_api",
    }


def _merge_catalogue(context: Context, projects: list[Entry], notes: list[Entry]) -> None:
    built = _built(context)
    changes: Entry = {
        "last_built": built,
        "memory_notes": sorted(notes, key=lambda entry: str(entry["path"])),
        "memory_notes_count": len(notes),
        "memory_notes_updated_at": built,
        "projects": projects,
    }
    merge_catalogue(context.root, changes)


def merge_catalogue(root: Root, changes: Mapping[str, object]) -> None:
    """Replace keys in `index.json` and keep every other; an invalid file is kept aside first. The caller holds the lock."""
    path, scratch = root.catalogue, root.scratch
    catalogue, broken = _load_catalogue(path)
    if broken:
        files.replace(f"{path}.broken", broken, scratch=scratch)
    merged = {**catalogue, **changes}
    merged.setdefault("version", VERSION)
    text = json.dumps(merged, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    files.replace(path, text.encode("utf-8", "replace"), scratch=scratch)


def _load_catalogue(path: str) -> tuple[Mapping[str, object], bytes]:
    """Return the content of `index.json`, and its bytes when they are no JSON object."""
    try:
        with open(path, "rb") as stream:
            raw = stream.read()
    except FileNotFoundError:
        return {}, b""
    except OSError as error:
        raise files.disk_failure(path, error) from error
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        content = None
    return (content, b"") if isinstance(content, dict) else ({}, raw)
