"""Retire a record: write the small decision that ends it. It does not repeat what must not be written."""

from __future__ import annotations

import os

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.records import naming
from oracle.app.records.graph import resolve
from oracle.app.records.naming import show
from oracle.app.records.views import Shown, Summary, Written
from oracle.app.records.write import write_all
from oracle.domain.names import SHARED, project_of
from oracle.domain.records.drafts import Draft, retirement_of
from oracle.domain.values import replace
from oracle.errors import PrivacyBlocked, SecretFound, UsageError
from oracle.store.markdown import records
from oracle.wording import joined, say


def retire(
    context: Context,
    slug: str,
    reason: str,
    *,
    seat: str = "",
    secrets: str = guard.FIXED,
    dry_run: bool = False,
    called: str = "",
) -> Written:
    """Write the small decision that retires a record, unless it is retired. Raises NotInMemory, UsageError for several.

    With `called` it calls the record so, and repeats neither its title nor, in its text, its slug.
    """
    reason = guard.without_context(reason)
    if not reason.strip():
        raise UsageError(say("The reason is empty."), hint=say("Say why with --reason, in a sentence."))
    shown = show(context, naming.find_only(context, resolve(context, slug)))
    found = shown.record
    if found.retired_by:
        return _retired_before(context, found)
    draft = Draft(
        kind="decision",
        project=project_of(found.path) or SHARED,
        title=retirement_of(called or name_to_repeat(context, found)),
        body=f"{reason.strip()}\n\nRetires {called or link_to(context, found)}.",
        seat=seat,
        retires=(found.slug,),
        extra={"retired_reason": reason.strip()},
    )
    written = write_all(context, [draft], secrets=secrets, dry_run=dry_run)[0]
    return replace(written, warnings=(*written.warnings, *_ended_before(shown), *_warn_of_file(context, found)))


def name_to_repeat(context: Context, record: Summary) -> str:
    """Return what another record may call this one: its title, or its kind and day if that must not be written."""
    return record.title if _is_clean(context, record.title) else _name_without_title(record)


def link_to(context: Context, record: Summary) -> str:
    """Return a link to a record, or its kind and day if its slug must not be written."""
    return f"[[{record.slug}]]" if _is_clean(context, record.slug) else _name_without_title(record)


def _name_without_title(record: Summary) -> str:
    return f"the {record.kind} of {record.sort_ts[:10]}"


def _is_clean(context: Context, text: str) -> bool:
    try:
        guard.clean(context, {"text": text}, guard.FIXED, what=say("The record"))
    except (SecretFound, PrivacyBlocked):
        return False
    return True


def _ended_before(shown: Shown) -> tuple[str, ...]:
    """Say that what the retired record had ended stays ended."""
    ended = [slug for slug in shown.supersedes if slug != shown.record.slug]
    if not ended:
        return ()
    return (say("what it had ended stays so: {slugs}; if one holds again, write it once more", slugs=ended),)


def _warn_of_file(context: Context, record: Summary) -> tuple[str, ...]:
    """Say that the file of a retired record still holds what must not be written."""
    try:
        text = records.load(context.root, record.path).decode("utf-8", "replace")
    except OSError:
        return ()
    if _is_clean(context, text):
        return ()
    return (
        say(
            "the file still holds what must not be written; if nobody may read it: rm {path}",
            path=context.root.join(record.path),
        ),
    )


def _retired_before(context: Context, found: Summary) -> Written:
    """Return the outcome for a record that is retired already: nothing is written, the path is that of what retired it."""
    from oracle.app.records import listing

    by = show(context, found.retired_by).record
    chain = listing.chains(context, [found.slug]).get(found.slug, (by.slug,))
    by_whom = joined(", then ", chain)
    if found.retired_how == "retires":
        already = say("{slug} is retired already, by {chain}; nothing was written", slug=found.slug, chain=by_whom)
    else:
        already = say("{slug} is superseded already, by {chain}; nothing was written", slug=found.slug, chain=by_whom)
    return Written(by.slug, context.root.join(by.path), os.path.basename(by.slug), "", False, already=already)
