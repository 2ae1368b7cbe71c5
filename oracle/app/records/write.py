"""Write orphan records: check, look for secrets, create, index, publish, note in the journal — in that order.

Order of a write: lock, print what a dead writer left dirty, create the file for good, rows and dirty targets in one
transaction, print the projections, append to the journal, unlock. A failure after the file was created loses nothing:
the next command finds the file and does the rest.
"""

from __future__ import annotations

import os
from datetime import timedelta

from oracle.app.context import Context
from oracle.app.guard import privacy, redaction
from oracle.app.records import naming
from oracle.app.records.targets import resolve
from oracle.app.records.views import Written
from oracle.domain import timestamps
from oracle.domain.names.slugs import SHARED, is_entity, project_of, slug_of
from oracle.domain.records.drafts import Draft, retirement_of
from oracle.domain.records.records import RELATIONS, RETIRING
from oracle.domain.values import contents_of, replace
from oracle.errors import NotInMemory, OracleError, PrivacyBlocked, SecretFound, UsageError
from oracle.index.db import Corrupt, immediate, snapshot
from oracle.index.scan import expect_folder, stat_of
from oracle.index.write import projections
from oracle.index.write.rows import Writer
from oracle.store import journal
from oracle.store.markdown import records
from oracle.wording import joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from oracle.app.records.views import Summary
    from oracle.domain.markdown.documents import Document
    from oracle.store.markdown.records import Created

_RELATIONS = tuple(name.replace("-", "_") for name in RELATIONS)
"""The fields of a draft that name other records."""

_MOST_NAMED = 3
"""Remarks on a new record that are made in full."""


def write_all(context: Context, drafts: Sequence[Draft], *, secrets: str, dry_run: bool = False) -> list[Written]:
    """Write drafts under one lock and return their outcomes in order; every draft is checked before the first is written."""
    context.root.require()
    first = {draft.project: draft for draft in reversed(drafts)}
    checked = [_check(context, draft, secrets, is_first=first[draft.project] is draft) for draft in drafts]
    if dry_run:
        moment = timestamps.from_ns(context.clock.now_ns())
        return [_rehearse(context, draft, redacted, warnings, moment) for draft, redacted, warnings in checked]
    with context.index.lock():
        now = timestamps.from_ns(context.clock.now_ns())
        moments = [now + timedelta(microseconds=number) for number in range(len(checked))]
        created = records.create_all(context.root, [draft for draft, *_ in checked], moments)
        trouble = _index(context, created)
        trouble += _note(
            context,
            [
                ("write", timestamps.print_moment(moment), _event(draft, new.path))
                for (draft, *_), moment, new in zip(checked, moments, created, strict=True)
            ],
        )
    written = [
        _outcome(context, new.path, new.raw, redacted, (*warnings, *trouble))
        for (_, redacted, warnings), new in zip(checked, created, strict=True)
    ]
    named = [_name_duplicates(context, draft, outcome) for (draft, *_), outcome in zip(checked, written, strict=True)]
    is_claim = len(named) == 1 and not drafts[0].retires
    return [_remark(context, named[0], created[0].document)] if is_claim else named


def write(context: Context, draft: Draft, *, secrets: str = "refuse", dry_run: bool = False) -> Written:
    """Write one orphan record: on return it is on disk, linked, indexed and published.

    Raises InvalidRecord, SecretFound, OwnershipError, InvalidName, LockTimeout, DiskFailure.
    """
    return write_all(context, [draft], secrets=secrets, dry_run=dry_run)[0]


def retire(
    context: Context, slug: str, reason: str, *, seat: str = "memory", secrets: str = "refuse", dry_run: bool = False
) -> Written:
    """Write the small decision that retires a record, unless it is retired or superseded already.

    Raises NotInMemory for no such record, UsageError for several.
    """
    if not reason.strip():
        raise UsageError(say("The reason is empty."), hint=say("Say why with --reason, in a sentence."))
    from oracle.app.records.show import show

    name = resolve(context, slug)
    found = show(context, context.index.read(lambda connection: naming.find_only(connection, name))).record
    if found.retired_by:
        return _retired_before(context, found)
    draft = Draft(
        kind="decision",
        project=project_of(found.path) or SHARED,
        title=retirement_of(found.title),
        body=f"{reason.strip()}\n\nRetires [[{found.slug}]].",
        seat=seat,
        retires=(found.slug,),
        extra={"retired_reason": reason.strip()},
    )
    return write_all(context, [draft], secrets=secrets, dry_run=dry_run)[0]


def _retired_before(context: Context, found: Summary) -> Written:
    """Return the outcome for a record that is retired already: nothing is written, the path is that of what retired it."""
    from oracle.app.records import succession
    from oracle.app.records.show import show

    by = show(context, found.retired_by).record
    chain = succession.chains(context, [found.slug]).get(found.slug, (by.slug,))
    by_whom = joined(", then ", chain)
    if found.retired_how == "retires":
        already = say("{slug} is retired already, by {chain}; nothing was written", slug=found.slug, chain=by_whom)
    else:
        already = say("{slug} is superseded already, by {chain}; nothing was written", slug=found.slug, chain=by_whom)
    return Written(by.slug, context.root.join(by.path), os.path.basename(by.slug), "", False, already=already)


def _check(
    context: Context, draft: Draft, secrets: str, *, is_first: bool
) -> tuple[Draft, tuple[str, ...], tuple[str, ...]]:
    """Return the draft as it will be written, what was redacted and what a person should know.

    Of the project it is said with the `is_first` draft of it alone.
    """
    redaction.require_policy(secrets)
    records.place(context.root, draft, timestamps.from_ns(context.clock.now_ns()))
    draft, redacted = _guard(context, draft, secrets)
    draft, warnings = _settle_relations(context, draft)
    stated = {name: item for name, item in contents_of(draft).items() if item}
    personal = privacy.warnings({name: "\n".join(redaction.texts(item)) for name, item in stated.items()})
    remarks = _look_at_project(context, draft) if is_first else ()
    return draft, redacted, (*remarks, *warnings, *personal)


def _look_at_project(context: Context, draft: Draft) -> tuple[str, ...]:
    """Return a remark on a project that this write makes: what looks closer is imported in that case alone."""
    if draft.project == SHARED or os.path.isdir(context.root.join(context.root.project(draft.project))):
        return ()
    from oracle.app.records import new_project

    return new_project.remark(context.root, draft.project)


# -- secrets ---------------------------------------------------------------------------------------------------------


def _guard(context: Context, draft: Draft, policy: str) -> tuple[Draft, tuple[str, ...]]:
    """Refuse or redact what must not be written, in every field; findings name field and rule, never the value.

    `allow` is for secrets: what the owner of the Root blocks is no matter of a writer's.
    """
    values, found = redaction.look_through(context, contents_of(draft), policy)
    if policy != redaction.REDACT and any(item.startswith(privacy.RULES) for item in found):
        raise PrivacyBlocked(
            say(
                "The record holds what must not be written: {what}. Nothing was written.",
                what=joined("; ", found),
            ),
            hint=say("Take it out, or write with --secrets redact (it is replaced); machine/privacy.md has the rules."),
        )
    if found and policy == redaction.REFUSE:
        raise SecretFound(
            say(
                "The record holds what looks like a secret: {what}. Nothing was written.",
                what=joined("; ", found),
            ),
            hint=say(
                "Take it out, or write with --secrets redact (it is replaced) or --secrets allow (it is no secret)."
            ),
        )
    return (replace(draft, **values) if found else draft), found


# -- relations -------------------------------------------------------------------------------------------------------


def _settle_relations(context: Context, draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """Turn what a person wrote after --supersedes and the like into slugs; warn of records that are not there (yet)."""
    warnings: list[str] = []
    changed: dict[str, Any] = {}
    for name in _RELATIONS:
        targets = getattr(draft, name)
        if targets:
            changed[name] = tuple(_settle(context, target, name, warnings) for target in targets)
    return (replace(draft, **changed) if changed else draft), tuple(warnings)


def _settle(context: Context, text: str, relation: str, warnings: list[str]) -> str:
    name = resolve(context, text.strip().removeprefix("[[").removesuffix("]]"))
    if is_entity(name):
        raise UsageError(
            say("{text!r} is an entity; {relation} takes a record.", text=text, relation=relation),
            hint=say("Give the slug of a record."),
        )

    try:
        found = context.index.read(lambda connection: naming.find_only(connection, name))
    except NotInMemory:
        if "/" not in name:
            raise
    else:
        if relation == "supersedes":
            warnings.extend(_beside(context, found))
        return found
    near = context.index.read(lambda connection: naming.find_near(connection, name))
    absent = say("{relation} {name}: no such record on disk yet", relation=relation, name=name)
    if near:
        absent = say("{absent} (did you mean {near}?)", absent=absent, near=near)
    warnings.append(say("{absent}; the link heals when it appears", absent=absent))
    return name


def _beside(context: Context, slug: str) -> Iterator[str]:
    """Warn when what a record is to supersede was replaced before: two would stand in its place."""
    from oracle.app.records import succession

    if now := succession.successor(context, slug):
        yield say(
            "{slug} was replaced before, by {now}, which stands beside this record; if it no longer holds: "
            "oracle retire {now} --reason WHY",
            slug=slug,
            now=now,
        )


# -- the write itself ------------------------------------------------------------------------------------------------


def _index(context: Context, created: Sequence[Created]) -> tuple[str, ...]:
    """Put created records into the index and print what became dirty; trouble is a warning, since the records stand."""
    try:
        _index_held(context, created)
    except (OracleError, OSError, Corrupt) as error:
        return (say("the index could not be brought up to date ({error}); the next command will do it", error=error),)
    if not projections.leading_out(context.root):
        return ()
    from oracle.app import root

    return tuple(root.links_out(context.root))


def _note(context: Context, events: Sequence[tuple[str, str, Mapping[str, object]]]) -> tuple[str, ...]:
    try:
        journal.append_all(context.root, events)
    except OracleError as error:
        return (say("the event could not be noted: {error}", error=error),)
    return ()


def _index_held(context: Context, created: Sequence[Created]) -> None:
    if not context.index.make_sound():
        context.index.reconcile_held()
        return
    connection = context.index.database.connect()
    projections.flush(connection, context.root)
    with immediate(connection):
        writer = Writer(connection, context.root, now_ns=context.clock.now_ns())
        for new in created:
            status = stat_of(os.stat(context.root.join(new.path)))
            writer.take(new.path, status, slug=slug_of(new.path), raw=new.raw, document=new.document)
        for folder in {os.path.dirname(new.path) for new in created}:
            expect_folder(connection, folder)
        writer.settle()
    projections.print_dirty(connection, context.root, writer.changed)


def _event(draft: Draft, path: str) -> dict[str, object]:
    relations = {name: list(getattr(draft, name)) for name in _RELATIONS if getattr(draft, name)}
    return {
        "kind": draft.kind,
        "project": draft.project,
        "seat": draft.seat,
        "slug": slug_of(path),
        "title": draft.title,
        **relations,
    }


def _rehearse(
    context: Context, draft: Draft, redacted: tuple[str, ...], warnings: tuple[str, ...], moment: datetime
) -> Written:
    path = records.place(context.root, draft, moment)
    raw, _ = records.render(draft, os.path.basename(path).removesuffix(".md"), moment)
    return replace(_outcome(context, path, raw, redacted, warnings), dry_run=True)


def _outcome(context: Context, path: str, raw: bytes, redacted: tuple[str, ...], warnings: tuple[str, ...]) -> Written:
    slug = slug_of(path)
    return Written(slug, context.root.join(path), os.path.basename(slug), raw.decode(), False, warnings, redacted)


# -- near-duplicates -------------------------------------------------------------------------------------------------


def _remark(context: Context, outcome: Written, document: Document) -> Written:
    """Add what people should decide about the new record: what says the same, or stands beside it undecided."""
    from oracle.app.records.review import remarks_on

    database = context.index.database
    try:
        with snapshot(database.connect()) as connection:
            found = remarks_on(context, connection, outcome.slug, document) if database.is_ready() else []
    except (OracleError, OSError, Corrupt):
        return outcome  # the record stands; `oracle review` will tell
    named = tuple(say("it {remark}", remark=item.sentence) for item in found[:_MOST_NAMED])
    more = (
        (say("{rest} more like these: see `oracle review`", rest=len(found) - _MOST_NAMED),)
        if len(found) > _MOST_NAMED
        else ()
    )
    return replace(outcome, warnings=(*outcome.warnings, *named, *more))


def _name_duplicates(context: Context, draft: Draft, outcome: Written) -> Written:
    """Name the records that say nearly what a record retired by this one says: they may have to go with it."""
    retired = [slug for name in RETIRING for slug in getattr(draft, name)]
    if not retired or outcome.dry_run:
        return outcome
    from oracle.app.records.review import near_duplicates

    found = context.index.read(
        lambda connection: [slug for old in retired for slug in near_duplicates(connection, context.root, old)]
    )
    others = dict.fromkeys(slug for slug in found if slug != outcome.slug and slug not in retired)
    return replace(outcome, near_duplicates=tuple(others))
