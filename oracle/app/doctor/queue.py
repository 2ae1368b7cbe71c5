"""Checks of waiting work: entries that failed too often, decisions past their deadline. Reads only."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from oracle.app.decisions import overdue
from oracle.app.doctor.checks import Check, capped, warning
from oracle.app.doctor.context import CheckContext
from oracle.store.delivery import inbox
from oracle.wording import say


def check_set_aside(context: CheckContext) -> Iterator[Check]:
    """Report entries that were abandoned after their tries, with the last error."""
    yield from capped(
        warning(
            "set aside",
            say(
                "{kind} {subject}: given up after {tries} tries; {last_error}",
                kind=entry.kind,
                subject=" ".join(filter(None, entry.subject)),
                tries=entry.tries,
                last_error=entry.last_error,
            ),
            say("oracle resume tries it again; rm {path} forgets it", path=path),
        )
        for path, entry in inbox.set_aside(context.root)
    )


def check_overdue(context: CheckContext) -> Iterator[Check]:
    """Report decisions past their deadline. Nothing settles them by itself."""
    now = datetime.fromtimestamp(context.now_ns / 1e9, UTC)
    yield from capped(
        warning("decisions", one.sentence, one.command) for one in overdue.find_overdue(context.root, now)
    )
