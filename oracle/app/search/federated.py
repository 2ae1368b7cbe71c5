"""Read the federated knowledge base as whole records: every seat's, in old and new layouts, as they are on disk.

The index lists the records, their files have the content. JSON records of the old layouts are returned unchanged, Markdown as one
flat object. Index blobs and entries of `index.json` are not records.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from oracle.app.context import Context
from oracle.app.records.listing import list_records, read_moment
from oracle.app.records.views import Summary
from oracle.domain import timestamps
from oracle.domain.markdown.documents import Document
from oracle.domain.names import MEMORY, SHARED, check_name, fold_name, role_of, slug_of
from oracle.domain.records.records import Record, interpret
from oracle.domain.safety.secrets import redact
from oracle.store import journal
from oracle.store.markdown import records
from oracle.store.root import facts
from oracle.store.root.layout import Root

MAX_VALUE, MAX_HITS = 200, 50
EVENT, REFLECTION = "event", "reflection"
_HEAD = ("schema_version", "format", "id", "project", "kind", "title", "author", "ts", "created_at")
_TAIL = ("filename_stamp", "content_source")

Entry = dict[str, object]
"""A record as JSON."""

_Placed = tuple[str, str, str, Entry]
"""(sortable timestamp, path, id, the record): the order of a listing."""


def list_whole(context: Context, filters: Mapping[str, str], *, fresh: bool = False) -> list[Entry]:
    """Return the records that pass `filters` (project, seat, kind, since), oldest first.

    The kind `event` reads the journal, `reflection` the projects' `reflections.jsonl` too. Raises NotInFederation for a
    project or seat without a folder, UsageError for a bad name or date.
    """
    wanted = {name: _checked(name, value) for name, value in filters.items() if value}
    since = read_moment(wanted["since"], "since") if wanted.get("since") else ""
    if wanted.get("kind") == EVENT:
        found = list(_events(context.root, wanted))
    else:
        found = [*_records(context, wanted, fresh=fresh), *_reflections(context.root, wanted)]
    return [entry for ts, _, _, entry in sorted(found, key=lambda item: item[:3]) if ts >= since]


def _checked(name: str, value: str) -> str:
    if name in ("project", "seat") and value != SHARED:
        value = check_name(value, name)
    return fold_name(value) if name in ("seat", "kind") else value


# -- records -----------------------------------------------------------------------------------------------------------


def _records(context: Context, wanted: Mapping[str, str], *, fresh: bool) -> Iterator[_Placed]:
    is_shared = wanted.get("project") == SHARED
    asked = {name: value for name, value in wanted.items() if not (is_shared and name == "project")}
    for summary in list_records(context, asked, fresh=fresh):
        if is_shared and summary.project != SHARED and not summary.path.startswith("shared/"):
            continue
        try:
            raw = records.load(context.root, summary.path)
        except OSError:
            continue
        source = context.root.source_of(summary.path)
        record = interpret(records.parse(summary.path, raw), summary.slug, summary.path, mtime_ns=0, source=source)
        if _still_passes(record, asked):
            entry = _as_entry(context.root, summary, record, raw)
            yield summary.sort_ts, summary.path, str(entry.get("id") or ""), entry


def _still_passes(record: Record, asked: Mapping[str, str]) -> bool:
    """Return whether the file, which may have been edited since the index looked, is still what was asked for."""
    return all(getattr(record, name) == asked[name] for name in ("project", "seat", "kind") if name in asked)


def _as_entry(root: Root, summary: Summary, record: Record, raw: bytes) -> Entry:
    verbatim = _load(raw) if record.path.endswith(".json") else None
    entry = verbatim if isinstance(verbatim, dict) else note(record, root.join(record.path))
    if record.claims_seat:
        entry.update(seat=record.seat, claims_seat=record.claims_seat)
    if summary.retired_by:
        entry["status"] = summary.effective_status
        entry["retired_by"] = summary.retired_by
    return entry


def _load(raw: bytes) -> object:
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def note(record: Record, path: str) -> Entry:
    """Return a Markdown record as one flat object: the well-known keys first, then its other fields.

    What is absent is null, or what older tools say in its place.
    """
    fields = record.document.fields
    entry: Entry = {key: fields.get(key) or None for key in (*_HEAD, *_TAIL)}
    entry.update(
        project=record.project or None, kind=record.kind, title=record.title, body=record.document.body.strip("\n")
    )
    version = str(entry["schema_version"] or "")
    entry["schema_version"] = int(version) if re.fullmatch(r"[0-9]{1,9}", version) else 1
    entry["format"] = entry["format"] or "markdown_note"
    entry["id"] = entry["id"] or os.path.basename(path).removesuffix(".md")
    entry["ts"] = entry["ts"] or entry["created_at"]
    entry.update(path=path, source=fields.get("source") or "drop_cli", seat=record.seat, status=record.status or None)
    entry.update({key: value for key, value in fields.items() if key not in entry})
    return entry


def note_of_text(text: str, path: str, root: Root) -> Entry:
    """Return the text of a Markdown record that is not on disk (yet) as `note` would; `path` is absolute."""
    relative = root.relative(path)
    document: Document = records.parse(relative, text.encode())
    return note(interpret(document, slug_of(relative), relative, mtime_ns=0), path)


# -- lines of logs -----------------------------------------------------------------------------------------------------


def _events(root: Root, wanted: Mapping[str, str]) -> Iterator[_Placed]:
    """Yield the events of the journal without those that name another project or seat."""
    for number, event in enumerate(journal.read(root)):
        if all(event.get(name, wanted[name]) == wanted[name] for name in ("project", "seat") if name in wanted):
            yield timestamps.to_utc(str(event.get("ts", ""))), "events.log", f"{number:09d}", event


def _reflections(root: Root, wanted: Mapping[str, str]) -> Iterator[_Placed]:
    if wanted.get("kind", REFLECTION) != REFLECTION or role_of(wanted.get("seat", MEMORY)) != MEMORY:
        return
    asked = wanted.get("project", "")
    for project in [asked] if asked else _projects(root):
        path = f"projects/{project}/reflections.jsonl"
        for number, entry in enumerate(_lines(root, path)):
            if str(entry.get("project") or project) == project:
                yield timestamps.to_utc(str(entry.get("ts") or "")), path, f"{number:09d}", entry


def _projects(root: Root) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(root.join("projects")) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _lines(root: Root, path: str) -> Iterator[Entry]:
    """Yield the JSON objects of a file of lines; other lines are skipped, and a file outside the Root."""
    if not root.contains(root.join(path)):
        return
    try:
        with open(root.join(path), "rb") as stream:
            for line in stream:
                entry = _load(line)
                if isinstance(entry, dict):
                    yield entry
    except OSError:
        return


# -- search ------------------------------------------------------------------------------------------------------------


def search_everything(
    context: Context, term: str, files: Sequence[str], *, project: str = "", fresh: bool = False
) -> list[Entry]:
    """Return the places that have `term`: {file, path, value, match}, values at most 200 characters, secrets masked.

    Facts first (`match` is key or value; `files` restricts the search to these), then records (`match` is record, `path`
    their lines). With a project only its own records are searched, which includes its scans.
    """
    from oracle.app.search.search import search

    found: list[Entry] = []
    if not project:
        found = [{**match, "value": _masked(match)} for match in facts.search(context.root, term, list(files))]
    if not files:
        found += [
            {
                "file": hit.record.path,
                "path": f"{hit.first_line}:{hit.last_line}",
                "value": redact(hit.snippet)[0][:MAX_VALUE],
                "match": "record",
            }
            for hit in search(context, term, {"project": project}, limit=MAX_HITS, fresh=fresh, lexical=True)
        ]
    return found


def keys_of_facts(context: Context, term: str) -> list[str]:
    """Return up to three keys of facts that have `term`, in the key or in the value, as `oracle show` takes them."""
    found = (
        f"{match['file'].removeprefix('machine/')}.{match['path']}" for match in facts.search(context.root, term, [])
    )
    return list(islice(dict.fromkeys(found), 3))


def _masked(match: Mapping[str, str]) -> str:
    """Mask secrets in a value; its key counts too, as `API_KEY` before random letters shows one."""
    key = match["path"].removesuffix(".value").rpartition(".")[2]
    text, _ = redact(f"{key}={match['value']}")
    return text.removeprefix(f"{key}=")[:MAX_VALUE]
