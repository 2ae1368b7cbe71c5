"""Propose what of the last days' notes belongs in long-term memory, and write what somebody accepted."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import timedelta

from oracle.app.context import Context
from oracle.app.memories.remember import Note, missing_parts, remember
from oracle.app.records.listing import list_records
from oracle.domain import timestamps
from oracle.domain.markdown.documents import text_of
from oracle.domain.names import MEMORY, SHARED
from oracle.domain.records.daily_notes import propose
from oracle.domain.records.remembered import parse_parts
from oracle.domain.sources.source import OPENCLAW
from oracle.domain.values import AsJson, replace, value
from oracle.errors import NotFound, OracleError, UsageError
from oracle.store.disk import files, steps
from oracle.store.markdown import records
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oracle.app.records.views import Summary

DAYS = 7
_SESSIONS = "learnings/sessions/"


@value
class PlanItem(AsJson):
    """A sentence that may become a memory. Whoever reviews the plan sets `accept`, corrects the text and adds what is missing."""

    type: str
    text: str
    project: str
    source: str
    why: str = ""
    how_to_apply: str = ""
    missing: tuple[str, ...] = ()
    accept: bool = False


@value
class Applied(AsJson):
    """What became of an accepted item: the record, or why it was not written."""

    text: str
    record: str = ""
    reason: str = ""


def plan(context: Context, *, days: int = DAYS, project: str = "") -> list[PlanItem]:
    """Return what the snapshots and the daily notes of OpenClaw say that is durable and not remembered yet."""
    since = (context.now() - timedelta(days=days)).date().isoformat()
    found: dict[str, PlanItem] = {}
    try:
        listed = list_records(context, {"since": since, "project": project}, newest_first=True)
    except NotFound:
        return []
    for record in listed:
        if _is_daily(context, record):
            for item in _propose(context, record):
                found.setdefault(item.text.casefold(), item)
    return list(found.values())


def document_of(items: list[PlanItem], days: int) -> dict[str, object]:
    """Return a plan as JSON, as `apply` reads it."""
    return {"version": 1, "days": days, "items": [one.as_json() for one in items]}


def write_plan(context: Context, every: float) -> str:
    """Write a plan for review, unless the last one is younger than `every` seconds. Nothing is remembered.

    Return the path of a plan that proposes something, else "". Raises DiskFailure.
    """
    newest = 0.0
    with suppress(OSError):
        newest = max((entry.stat().st_mtime for entry in os.scandir(context.root.plans)), default=0.0)
    if context.now_seconds() - newest < every:
        return ""
    items = plan(context)
    path = f"{context.root.plans}/{timestamps.print_stamp(context.now())}.json"
    data = json.dumps(document_of(items, DAYS), ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")
    files.replace(path, data + b"\n", scratch=context.root.scratch)
    return path if items else ""


def _is_daily(context: Context, record: Summary) -> bool:
    source = context.root.source_of(record.path)
    return record.path.startswith(_SESSIONS) or (
        source is not None and source.kind == OPENCLAW and "/memory/" in record.path
    )


def _propose(context: Context, record: Summary) -> Iterator[PlanItem]:
    try:
        lines = text_of(records.load(context.root, record.path)).splitlines()
    except OSError:
        return
    body = records.parse(record.path, "\n".join(lines).encode("utf-8", "replace")).body_line
    blank = [""] * (body - 1)
    for one in propose([*blank, *lines[body - 1 :]]):
        source = f"{record.path}:{one.line}"
        note = Note(one.type, one.text, project=record.project, source=source)
        said = parse_parts(one.text)
        if not _is_known(context, note):
            yield PlanItem(one.type, one.text, record.project, source, said.why, said.how_to_apply, missing_parts(note))


def _is_known(context: Context, note: Note) -> bool:
    """Return whether a memory says this already."""
    full = replace(note, why=note.why or "?", how_to_apply=note.how_to_apply or "?")
    try:
        found = remember(context, full, dry_run=True)
    except OracleError:
        return False
    return bool(found.written.already or found.superseded)


def apply(context: Context, path: str) -> list[Applied]:
    """Remember the accepted items of a plan file. Raises UsageError for a file that is no plan, DiskFailure."""
    return [_apply(context, item) for item in _load(path) if item.get("accept") is True]


def _apply(context: Context, item: Mapping[str, object]) -> Applied:
    def word(key: str) -> str:
        return str(item.get(key) or "")

    if any("\ud800" <= char <= "\udfff" for part in item.values() for char in str(part)):
        text = word("text").encode("utf-8", "replace").decode()
        return Applied(text, reason=say("It holds a character that is not valid Unicode. Correct it in the plan."))
    note = Note(
        word("type"),
        word("text"),
        why=word("why"),
        how_to_apply=word("how_to_apply"),
        project=word("project") or SHARED,
        author=context.seat or MEMORY,
        source=word("source"),
    )
    try:
        found = remember(context, note)
    except OracleError as error:
        if error.exit_code not in (1, 2):
            raise
        return Applied(note.text, reason=say("{what} {hint}", what=error.sentence, hint=error.hint))
    return Applied(note.text, found.written.slug)


def _load(path: str) -> list[Mapping[str, object]]:
    hint = say("Make one with `oracle source consolidate --json > FILE`.")
    try:
        text = steps.read(path)
    except steps.NotPlain as error:
        raise UsageError(error.sentence, hint=hint) from error
    if text is None:
        raise UsageError(say("{path} does not exist.", path=path), hint=hint)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    items = content.get("items") if isinstance(content, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise UsageError(say("{path} holds no plan.", path=path), hint=hint)
    return items
