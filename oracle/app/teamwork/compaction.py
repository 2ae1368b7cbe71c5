"""Check whether the conversation may be compacted: only when every fact of this turn is on disk. Archive merged dispatches.

A turn begins at the last check that passed, or when the caller says. Each dispatch by memory and each delivery to it needs a
record by memory, nothing may be half done, and each fact that the caller states must be found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from oracle.app.context import Context
from oracle.app.delivery.team import Team, open_team
from oracle.app.journal import events
from oracle.app.records.listing import list_records
from oracle.app.search.search import search
from oracle.domain import timestamps
from oracle.domain.delivery.compaction import MOST_LINES
from oracle.domain.values import value
from oracle.errors import NotFound, UsageError
from oracle.process import read_input
from oracle.store.delivery.entries import InboxKind
from oracle.store.markdown import memory_index
from oracle.wording import say, say_many

RECOMMENDED = "建议 /compact — 重要记忆已索引,可安全压缩"
NOT_YET = "不建议 /compact; 先落盘再说"
EVENT = "compact"
ENOUGH = 0.75
"""The share of a stated fact's words that one passage must hold."""

_LONGEST_TURN = timedelta(hours=24)


@value
class CompactionVerdict:
    """What is missing on disk, a sentence each; none means that it is safe. `since` is where the turn begins."""

    missing: tuple[str, ...]
    since: str

    @property
    def line(self) -> str:
        """The line that ends the report to the operator."""
        return NOT_YET if self.missing else RECOMMENDED

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"safe": not self.missing, "line": self.line, "missing": list(self.missing), "since": self.since}


def check(context: Context, project: str, *, since: str = "", facts: Sequence[str] = ()) -> CompactionVerdict:
    """Look whether everything of this turn is on disk. Raises UsageError for an invalid time, NoProfile."""
    team = open_team(context, project)
    begin = _begin(context, team, since)
    missing = [*_unrecorded(context, team, begin), *_half_done(context), *_unknown(context, team, facts)]
    if not missing:
        context.note(EVENT, {"project": team.project})
    return CompactionVerdict(tuple(missing), timestamps.print_moment(begin))


def _begin(context: Context, team: Team, since: str) -> datetime:
    if since:
        given = timestamps.parse(since)
        if given is None:
            raise UsageError(
                say("--since {since!r} is not a time.", since=since),
                hint=say("Write 2026-04-27 or 2026-04-27T18:30:00Z."),
            )
        return given
    earliest = context.now() - _LONGEST_TURN
    held = [
        timestamps.parse(str(event.get("ts", "")))
        for event in events(context, project=team.project)
        if event.get("event") == EVENT
    ]
    return max([moment for moment in held if moment is not None] + [earliest])


def _unrecorded(context: Context, team: Team, begin: datetime) -> list[str]:
    """Return a sentence for each task that memory handed out or got back and of which no record of its own tells."""
    memory = team.profile.seats_of("memory") or ("memory",)
    found: dict[tuple[str, str], str] = {}
    for event in events(context, project=team.project):
        moment = timestamps.parse(str(event.get("ts", "")))
        task_id, what = str(event.get("task_id", "")), str(event.get("event", ""))
        if moment is None or moment <= begin or not task_id:
            continue
        if what == "dispatch" and event.get("source") in memory:
            found[what, task_id] = say(
                "the dispatch of {task} to {seat} has no record", task=task_id, seat=event.get("target")
            )
        elif what == "delivery" and event.get("target") in memory:
            found[what, task_id] = say(
                "the delivery of {task} by {seat} has no record", task=task_id, seat=event.get("source")
            )
    return [text for (what, task_id), text in found.items() if not _has_record(context, team, task_id, what)]


def _has_record(context: Context, team: Team, task_id: str, what: str) -> bool:
    """Return whether memory wrote about a task; the entry of its dispatch says nothing about its delivery."""
    try:
        records = list_records(context, {"project": team.project, "seat": "memory", "task": task_id})
    except NotFound:
        return False
    if what == "dispatch":
        return bool(records)
    return any(not record.title.startswith(f"Dispatch {task_id} to ") for record in records)


def _half_done(context: Context) -> list[str]:
    from oracle.store.delivery import inbox

    found = inbox.read(context.root, context.now_seconds())
    begun = [entry for group in (found.waiting, found.taken, found.poisoned) for entry in group]
    count = sum(entry.kind is InboxKind.INTENT for entry in begun)
    left = say_many(
        "{n} thing was begun and not finished (`oracle resume`)",
        "{n} things were begun and not finished (`oracle resume`)",
        n=count,
    )
    return [left] if count else []


def _unknown(context: Context, team: Team, facts: Sequence[str]) -> list[str]:
    return [
        say("no record says: {fact}", fact=" ".join(fact.split())[:120])
        for fact in facts
        if not _is_known(context, team, fact)
    ]


def _is_known(context: Context, team: Team, fact: str) -> bool:
    try:
        hits = search(context, fact, {"project": team.project, "seat": "memory"}, limit=3, strict=True, fresh=True)
    except NotFound:
        return False
    return any(hit.coverage >= ENOUGH for hit in hits)


def archive_merged(context: Context, named: str, *, period: str = "", commit: bool = False) -> dict[str, object]:
    """Move the merged dispatches of a MEMORY.md into archives, or say what would be moved. Raises UsageError."""
    if period and not re.fullmatch(r"20\d\d_(?:0[1-9]|1[0-2])", period):
        raise UsageError(say("{period!r} is not a period.", period=period), hint=say("Write YYYY_MM, as in 2026_04."))
    path = memory_index.find(named, os.environ, home=context.root.home)
    moment = context.now()
    when = period or f"{moment:%Y_%m}"
    found = (
        memory_index.archive(path, period=when, moment=moment) if commit else memory_index.rehearse(path, period=when)
    )
    return {
        "mode": "commit" if commit else "dry-run",
        "memory_path": path,
        "archive_count": len(found.merged),
        "line_count_after": found.lines_after,
        "within_200_lines": found.lines_after <= MOST_LINES,
        "entries": [
            {"archive": one.archive, "lines": one.lines, "period": one.period, "task_id": one.task_id}
            for one in found.merged
        ],
        "backup": found.backup or None,
        "archives_written": list(found.archives),
    }


def read_text(path: str, option: str) -> str:
    """Return the text of a file, whatever its bytes. Raises UsageError."""
    return read_input(path, option).decode("utf-8", "replace")
