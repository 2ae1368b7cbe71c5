"""Write Memory's own records: guard, check, create, index, publish, note in the journal.

Order of a write: lock; print what a dead writer left dirty; create the file; rows and dirty targets in one transaction; print the
projections; append to the journal; unlock. A failure after the file was created loses nothing: the next command finds the file
and does the rest.
"""

from __future__ import annotations

import os
from datetime import timedelta
from itertools import compress

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.records import naming
from oracle.app.records.graph import resolve
from oracle.app.records.views import Written
from oracle.domain.names import MEMORY, SHARED, is_entity, role_of, slug_of
from oracle.domain.records.drafts import Draft
from oracle.domain.records.records import RELATIONS, RETIRING
from oracle.domain.values import contents_of, replace, value
from oracle.errors import NotInMemory, OracleError, UsageError
from oracle.index.db import Corrupt, immediate, snapshot
from oracle.index.write import projections
from oracle.index.write.rows import Writer
from oracle.store import journal
from oracle.store.disk.folders import stat_of
from oracle.store.markdown import records
from oracle.store.markdown.records import CheckedDraft, Created
from oracle.wording import Sentence, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

_RELATIONS = tuple(name.replace("-", "_") for name in RELATIONS)
"""The fields of a draft that name other records."""

_MOST_NAMED = 3
"""Remarks on a new record that are made in full."""


@value
class _Ready:
    """A draft as it will be written, what was replaced in it, and what a person should know."""

    checked: CheckedDraft
    redacted: tuple[Sentence, ...]
    warnings: tuple[str, ...]


def write(
    context: Context,
    draft: Draft,
    *,
    secrets: str = guard.FIXED,
    dry_run: bool = False,
    needs_body: bool = False,
    new_project: bool = False,
) -> Written:
    """Write one record: on return it is on disk, linked, indexed and published.

    `new_project` confirms a new project whose name is one letter off a known one.

    Raises InvalidRecord, SecretFound, OwnershipError, InvalidName, MistypedProject, LockTimeout, DiskFailure.
    """
    return write_all(
        context, [draft], secrets=secrets, dry_run=dry_run, needs_body=needs_body, new_project=new_project
    )[0]


def write_all(
    context: Context,
    drafts: Sequence[Draft],
    *,
    secrets: str = guard.FIXED,
    dry_run: bool = False,
    needs_body: bool = False,
    new_project: bool = False,
) -> list[Written]:
    """Write drafts under one lock and return their outcomes in order. All are checked before the first is written."""
    context.root.require()
    ready = [_make_ready(context, draft, secrets, needs_body=needs_body) for draft in drafts]
    new = {one.project: _look_at_names(context, one, is_confirmed=new_project) for one in reversed(drafts)}
    ready = [replace(one, warnings=(*new.pop(one.checked.draft.project, ()), *one.warnings)) for one in ready]
    if dry_run:
        rendered = [records.render(one.checked, context.now()) for one in ready]
        return [replace(_outcome(context, *pair), dry_run=True) for pair in zip(ready, rendered, strict=True)]
    with context.index.lock():
        now = context.now()
        created, is_new = _create_all(context, [one.checked for one in ready], now)
        is_unknown = [new or not _is_indexed(context, one.path) for one, new in zip(created, is_new, strict=True)]
        trouble = _index(context, created)
        trouble += _note(context, compress(zip(ready, created, strict=True), is_unknown))
    written = [_outcome(context, *pair, trouble) for pair in zip(ready, created, strict=True)]
    written = [one if new else _written_before(one) for one, new in zip(written, is_new, strict=True)]
    written = [_add_duplicates(context, one.checked.draft, each) for one, each in zip(ready, written, strict=True)]
    is_claim = len(written) == 1 and not drafts[0].retires
    return [_add_remarks(context, written[0], created[0])] if is_claim else written


# Before the write -----------------------------------------------------------------------------------------------------


def _make_ready(context: Context, draft: Draft, policy: str, *, needs_body: bool) -> _Ready:
    """Guard and check a draft, and resolve the records that it names."""
    draft = replace(draft, title=guard.without_context(draft.title), body=guard.without_context(draft.body))
    given = contents_of(draft)
    if draft.retires and all(os.path.isfile(context.root.join(f"{slug}.md")) for slug in draft.retires):
        del given["retires"]  # else nobody could end a record whose name holds what is blocked by now
    fields, redacted = guard.clean(context, given, policy, what=say("The record"))
    draft = replace(draft, **fields)
    if not draft.seat:
        draft = replace(draft, seat=context.seat or MEMORY)
    checked = records.check(context.root, draft, context.now(), needs_body=needs_body)
    relations, warnings = _resolve_relations(context, draft)
    if relations:
        checked = replace(checked, draft=replace(draft, **relations))
    texts = {name: "\n".join(guard.texts(item)) for name, item in fields.items() if item}
    return _Ready(checked, redacted, (*warnings, *guard.warnings(texts)))


def _look_at_names(context: Context, draft: Draft, *, is_confirmed: bool) -> tuple[str, ...]:
    """Return remarks on a project that this write makes, and on its author. Raises MistypedProject."""
    project = draft.project
    is_known = project == SHARED or os.path.isdir(context.root.join(context.root.project(project)))
    if is_known and (not draft.author or role_of(draft.author)):
        return ()
    from oracle.app.records import new_project

    if is_known:
        return new_project.remark_on_author(context, project, draft.author)
    if not is_confirmed:
        new_project.refuse_mistyped(context, project)
    return new_project.remark(context.root, project)


def _resolve_relations(context: Context, draft: Draft) -> tuple[dict[str, Any], list[str]]:
    """Return the relations of a draft as slugs, and warnings about records that do not exist yet."""
    warnings: list[str] = []
    stated = {name: getattr(draft, name) for name in _RELATIONS if getattr(draft, name)}
    found = {
        name: tuple(_resolve(context, target, name, draft.project, warnings) for target in targets)
        for name, targets in stated.items()
    }
    return found, warnings


def _resolve(context: Context, text: str, relation: str, project: str, warnings: list[str]) -> str:
    name = resolve(context, text)
    if is_entity(name):
        raise UsageError(
            say("{text!r} is an entity; {relation} takes a record.", text=text, relation=relation),
            hint=say("Give the slug of a record."),
        )

    try:
        found = naming.find_only(context, name, project=project)
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
    """Warn when a record that is to be superseded was replaced before: it would have two successors."""
    from oracle.app.records import listing

    if now := listing.successor(context, slug):
        yield say(
            "{slug} was replaced before, by {now}; both replace it now. If {now} no longer holds: "
            "oracle retire {now} --reason WHY",
            slug=slug,
            now=now,
        )


# The write itself -----------------------------------------------------------------------------------------------------


def _create_all(context: Context, drafts: Sequence[CheckedDraft], now: datetime) -> tuple[list[Created], list[bool]]:
    """Create the records of drafts, save for those that were just created. Returns the records, and whether each is new."""
    found = records.find_same(context.root, drafts, now)
    missing = [draft for draft, one in zip(drafts, found, strict=True) if one is None]
    moments = [now + timedelta(microseconds=number) for number in range(len(missing))]
    made = iter(records.create_all(context.root, missing, moments))
    return [one or next(made) for one in found], [one is None for one in found]


def _is_indexed(context: Context, path: str) -> bool:
    """Return whether the index knows a record, so that its writer got as far as that."""
    try:
        connection = context.index.database.connect()
        return connection.execute("SELECT 1 FROM record WHERE path = ?", (path,)).fetchone() is not None
    except (OracleError, Corrupt):
        return False


def _written_before(outcome: Written) -> Written:
    return replace(outcome, already=say("the same record was written a moment ago; it was not written again"))


def _index(context: Context, created: Sequence[Created]) -> tuple[str, ...]:
    """Index the created records and print what became dirty. A failure is a warning, since the records are on disk."""
    try:
        _index_held(context, created)
    except (OracleError, OSError, Corrupt) as error:
        return (say("the index could not be brought up to date ({error}); the next command will do it", error=error),)
    if not projections.linked(context.root):
        return ()
    from oracle.app import root

    return tuple(root.links_out(context.root))


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
            writer.expect_folder(folder)
        writer.settle()
    projections.print_dirty(connection, context.root, writer.changed)


def _note(context: Context, written: Iterable[tuple[_Ready, Created]]) -> tuple[str, ...]:
    """Append the writes to the journal. A failure is a warning."""
    lines = [("write", str(new.document.fields["ts"]), _event(one.checked.draft, new.path)) for one, new in written]
    try:
        journal.append_all(context.root, lines)
    except OracleError as error:
        return (say("the event could not be noted: {error}", error=error),)
    return ()


def _event(draft: Draft, path: str) -> Mapping[str, object]:
    facts = {
        "kind": draft.kind,
        "project": draft.project,
        "seat": draft.seat,
        "slug": slug_of(path),
        "title": draft.title,
    }
    return {**facts, **{name: list(getattr(draft, name)) for name in _RELATIONS if getattr(draft, name)}}


def _outcome(context: Context, ready: _Ready, new: Created, trouble: tuple[str, ...] = ()) -> Written:
    slug, path = slug_of(new.path), context.root.join(new.path)
    warnings = (*ready.warnings, *trouble)
    return Written(slug, path, os.path.basename(slug), new.raw.decode(), False, warnings, ready.redacted)


# After the write ------------------------------------------------------------------------------------------------------


def _add_remarks(context: Context, outcome: Written, new: Created) -> Written:
    """Add what people should decide about the new record, such as a near-duplicate."""
    from oracle.app.records.review import remarks_on

    database = context.index.database
    try:
        with snapshot(database.connect()) as connection:
            found = remarks_on(context, connection, outcome.slug, new.document) if database.is_ready() else []
    except (OracleError, OSError, Corrupt):
        return outcome  # `oracle check --only review` will show them
    named = tuple(say("it {remark}", remark=item.sentence) for item in found[:_MOST_NAMED])
    more = (
        (say("{rest} more like these: see `oracle check --only review`", rest=len(found) - _MOST_NAMED),)
        if len(found) > _MOST_NAMED
        else ()
    )
    return replace(outcome, warnings=(*outcome.warnings, *named, *more))


def _add_duplicates(context: Context, draft: Draft, outcome: Written) -> Written:
    """Add near-duplicates of the records that this one retires: they may have to be retired too."""
    retired = [slug for name in RETIRING for slug in getattr(draft, name)]
    if not retired:
        return outcome
    from oracle.app.records.review import near_duplicates

    found = context.index.read(
        lambda connection: [slug for old in retired for slug in near_duplicates(connection, context.root, old)]
    )
    others = dict.fromkeys(slug for slug in found if slug != outcome.slug and slug not in retired)
    return replace(outcome, near_duplicates=tuple(others))
