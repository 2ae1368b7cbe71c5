"""Upkeep of what agents are given: move merged dispatches out of a MEMORY.md, read a file that a program names. App room."""

from __future__ import annotations

import os
import re

from oracle.app.context import Context
from oracle.domain.delivery.compaction import MOST_LINES
from oracle.errors import UsageError
from oracle.store.disk import input_file
from oracle.store.markdown import memory_index
from oracle.wording import say


def archive_merged(context: Context, named: str, *, period: str = "", commit: bool = False) -> dict[str, object]:
    """Move the merged dispatches of a MEMORY.md into archives, or say what would be moved. Raises UsageError."""
    if period and not re.fullmatch(r"20\d\d_(?:0[1-9]|1[0-2])", period):
        raise UsageError(say("{period!r} is no period.", period=period), hint=say("Write YYYY_MM, as in 2026_04."))
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
        "entries": [{"task_id": one.task_id, "period": one.period, "archive": one.archive} for one in found.merged],
        "backup": found.backup or None,
        "archives_written": list(found.archives),
    }


def read_text(path: str, option: str) -> str:
    """Return the text of a file, whatever its bytes. Raises UsageError."""
    return input_file.read(path, option).decode("utf-8", "replace")
