"""The brief of a session: what waits for its seat, the rules that always hold, and what changed since its last session."""

from __future__ import annotations

import os

from oracle.app.delivery.handoffs import list_all
from oracle.app.prompting import sessions
from oracle.app.prompting.context_for import SessionPrompt, is_bypassed, note, render
from oracle.app.prompting.rules import find_rules
from oracle.app.records.listing import list_records
from oracle.domain import timestamps
from oracle.domain.delivery.handoffs import Piece
from oracle.domain.injection.envelope import ContextItem, ContextSection
from oracle.domain.values import replace
from oracle.errors import NotInFederation, OracleError
from oracle.store.disk import files, steps
from oracle.store.root.features import load_injection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.context import Context

MOST, MOST_COMPACTED = 2000, 1200
"""Characters of a brief, and of one after a compaction, whose summary holds the work already."""

COMPACT, CLEAR, RESUME = "compact", "clear", "resume"

_LONGEST_QUESTION = 160
_MOST_OPEN, _MOST_CHANGES = 6, 8


def brief(context: Context, prompt: SessionPrompt, *, reason: str) -> str:
    """Return the brief for a session that begins, "" when there is nothing to say. `reason` is the host's: `startup` or `resume`.

    What the session was given before is left out, unless its context was emptied or summarised.
    """
    settings = load_injection(context.root)
    if not (settings["enabled"] and settings["brief"]) or is_bypassed(settings, prompt.session_id, prompt.folder):
        return ""
    if reason in (COMPACT, CLEAR):
        sessions.forget_items(context, prompt.session_id)
    sessions.remove_old(context)
    given = sessions.load(context, prompt.session_id)
    since = _last_session(context, prompt)
    sections = [
        ContextSection(
            "Waiting for this seat",
            "Questions that this seat has not answered, the one that waits longest first, then answers for it.",
            given.new(_waiting(context, prompt)),
            is_list=True,
            longest=_LONGEST_QUESTION,
        ),
        ContextSection(
            "Rules that hold",
            "What people decided for all work.",
            given.new(find_rules(context, prompt.project)),
            is_list=True,
        ),
    ]
    if since and reason != COMPACT:
        about = f"Records of others since this seat's last session ({since[:16]}Z)."
        changes = given.new(_changes(context, prompt, since))
        sections.append(ContextSection("Changed since", about, changes, is_list=True))
    most = MOST_COMPACTED if reason == COMPACT else MOST
    made = render(context, sections, most=most, cites=settings["citations"])
    if not prompt.is_awaited():
        return ""
    if made.text:
        sessions.keep(context, prompt.session_id, given, "", "", made.items)
        note(context, "SessionStart", prompt, made)
    if reason not in (COMPACT, RESUME):
        mark_session(context, prompt)
    return made.text


def mark_session(context: Context, prompt: SessionPrompt) -> None:
    """Note that a session of the seat begins or ends now. Raises DiskFailure."""
    files.replace(_mark_of(context, prompt), context.stamp().encode("ascii"), scratch=context.root.scratch)


def _last_session(context: Context, prompt: SessionPrompt) -> str:
    """Return when the last session of the seat began or ended, "" for the first."""
    return timestamps.to_utc((steps.read(_mark_of(context, prompt)) or b"").decode("ascii", "replace"))


def _mark_of(context: Context, prompt: SessionPrompt) -> str:
    return f"{context.root.injected}/seat-{sessions.file_name(f'{prompt.project}/{prompt.seat}')}"


def _waiting(context: Context, prompt: SessionPrompt) -> list[ContextItem]:
    """Return the handoffs whose next step is the seat's, the one that waits longest first."""
    try:
        found = list_all(context, project=prompt.project).items
    except OracleError:  # a project without a profile has no handoffs
        return []
    told = [replace(one.handoff, pieces=one.handoff.pieces - {Piece.PENDING}) for one in found]
    waiting = [one for one in told if one.next_seat() == prompt.seat]
    return [
        ContextItem(
            f"{one.task_id}, asked by {one.asker} of {one.answerer}",
            one.question,
            date=one.since,
            status=one.state.step.value,
            slug=f"{one.task_id}/{one.asker}/{one.answerer}",
        )
        for one in waiting[:_MOST_OPEN]
    ]


def _changes(context: Context, prompt: SessionPrompt, since: str) -> list[ContextItem]:
    """Return the newest records that other seats wrote since the last session."""
    filters = {"project": prompt.project, "since": since} if prompt.project else {"since": since}
    try:
        found = list_records(context, filters, limit=4 * _MOST_CHANGES, newest_first=True)
    except NotInFederation:
        return []
    others = [record for record in found if prompt.seat not in (record.seat, record.author) and not record.is_retired]
    return [
        ContextItem(
            record.title, path=record.path, date=record.sort_ts, seat=record.seat, status=record.kind, slug=record.slug
        )
        for record in others[:_MOST_CHANGES]
        if os.path.exists(context.root.join(record.path))
    ]
