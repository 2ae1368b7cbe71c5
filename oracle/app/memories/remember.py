"""Remember what people say, one topic in one record, and forget it: memories of the types user, feedback, project, reference."""

from __future__ import annotations

import os
from collections.abc import Iterator

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.records import naming, review
from oracle.app.records.graph import resolve
from oracle.app.records.memory_index import TYPE_KEYS
from oracle.app.records.naming import show
from oracle.app.records.once import make_root
from oracle.app.records.publish import publish_memories
from oracle.app.records.retire import retire
from oracle.app.records.views import Summary, Written
from oracle.app.records.write import write
from oracle.domain.markdown.documents import text_of
from oracle.domain.names import FOREIGN, MEMORY, SHARED, is_entity
from oracle.domain.records import remembered as rules
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.records.remembered import Parts
from oracle.domain.relative_dates import make_absolute
from oracle.domain.spelling import suggest
from oracle.domain.values import contents_of, replace, value
from oracle.errors import InvalidRecord, NotInMemory, OwnershipError, UsageError
from oracle.index import fold
from oracle.index.db import Connection
from oracle.index.read import memories as places
from oracle.index.read import query
from oracle.store.markdown import records
from oracle.store.root import projects
from oracle.wording import Sentence, say, say_each

_PAGES = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md")
"""Files that a coding agent reads at the start of each session anyway."""

_MOST_BYTES = 1 << 20
_MANY, _CANDIDATES = 1_000, 8
_FORGOTTEN = "Asked to forget it."
_DESCRIBED = dict(
    zip(
        ("why", "how_to_apply"),
        say_each("--why (the reason that was given)", "--how-to-apply (when it counts)"),
        strict=True,
    )
)


@value
class Note:
    """Something to remember: its type, its text, and what belongs to it. `supersedes` names the memory that it updates.

    Whoever is asked may keep it: the record is Memory's, and `author` is the seat that was asked.
    """

    type: str
    text: str
    title: str = ""
    why: str = ""
    how_to_apply: str = ""
    project: str = SHARED
    author: str = MEMORY
    source: str = ""
    task_id: str = ""
    supersedes: tuple[str, ...] = ()
    is_another: bool = False
    """Whether it is another topic, though a memory says nearly the same."""


@value
class Remembered:
    """What was written, which memories it replaces, and the relative dates in it, each as (before, after)."""

    written: Written
    superseded: tuple[str, ...] = ()
    dates: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        dates = [{"was": was, "is": now} for was, now in self.dates]
        return {**self.written.as_json(), "superseded": list(self.superseded), "dates": dates}


def missing_parts(note: Note) -> tuple[str, ...]:
    """Return which of `why` and `how_to_apply` a note still needs. Raises UsageError for an unknown type."""
    if note.type not in rules.MEMORY_TYPES:
        raise UsageError(
            say("The memory type {type!r} is unknown.", type=note.type[:60]),
            hint=suggest(note.type, rules.MEMORY_TYPES),
        )
    return rules.missing_parts(note.type, _parts(note))


def remember(
    context: Context,
    note: Note,
    *,
    folder: str = "",
    secrets: str = guard.FIXED,
    dry_run: bool = False,
    new_project: bool = False,
) -> Remembered:
    """Write a memory; one on the same topic is superseded. `folder` is where the person works: its CLAUDE.md is read.

    Raises UsageError for a missing part, InvalidRecord for what is not kept, and what a write raises.
    """
    own = {name: guard.without_context(getattr(note, name)) for name in ("text", "title", "why", "how_to_apply")}
    note = replace(note, **own)
    _require_parts(note)
    make_root(context)
    today = context.now().astimezone().date()
    dates: dict[tuple[str, str], None] = {}
    texts = contents_of(_parts(note)) | {"title": note.title.strip()}
    for name, text in texts.items():
        texts[name], changes = make_absolute(text, today)
        dates |= dict.fromkeys(changes)
    title = texts.pop("title") or rules.title_of(texts["statement"])
    parts = Parts(**texts)
    _require_kept(context, note, parts, folder)
    draft = _draft(replace(note, title=title), parts)
    same, earlier = context.index.read(lambda connection: _find_earlier(context, connection, draft, note))
    if same and not note.supersedes:
        return Remembered(_kept_before(context, same))
    draft = replace(draft, supersedes=note.supersedes or earlier)
    written = write(context, draft, secrets=secrets, dry_run=dry_run, needs_body=True, new_project=new_project)
    if not dry_run:
        written = _published(context, written, note.project)
    return Remembered(written, draft.supersedes, tuple(dates))


def _parts(note: Note) -> Parts:
    """Return the parts of a note: what was stated beside its text wins over what the text says."""
    said = rules.parse_parts(note.text)
    return Parts(said.statement, note.why.strip() or said.why, note.how_to_apply.strip() or said.how_to_apply)


def _require_parts(note: Note) -> None:
    missing = missing_parts(note)
    if not _parts(note).statement:
        raise UsageError(say("There is nothing to remember."), hint=say("Say it in a sentence."))
    if missing:
        raise UsageError(
            say("A memory of the type {type} says why it holds and how to apply it.", type=note.type),
            hint=say_missing(missing),
        )


def say_missing(missing: tuple[str, ...]) -> Sentence:
    """Return what to add for parts that a note still needs."""
    return say("Add {missing}.", missing=[_DESCRIBED[name] for name in missing])


def _require_kept(context: Context, note: Note, parts: Parts, folder: str) -> None:
    """Raise InvalidRecord for what the repository says anyway, and for a judgement about a person."""
    for text in (parts.statement, note.title):
        if text and (objection := rules.find_objection(text)):
            raise InvalidRecord(objection.why, hint=objection.instead)
    for path in _pages(context, note.project, folder):
        if line := rules.find_in_page(parts.statement, _read(path)):
            raise InvalidRecord(
                say("{path}:{line} says this already, and every session reads it.", path=path, line=line),
                hint=say("Keep what it does not say: why the rule holds, or an exception."),
            )


def _pages(context: Context, project: str, folder: str) -> Iterator[str]:
    """Yield the pages for agents of the project's repository and of the folder with all above it."""
    repository = projects.repository(context.root, project, os.environ) if project != SHARED else ""
    places = [repository] if repository else []
    while folder and folder != os.path.dirname(folder):
        places.append(folder)
        folder = os.path.dirname(folder)
    for place in dict.fromkeys(places):
        yield from (f"{place}/{name}" for name in _PAGES if os.path.isfile(f"{place}/{name}"))


def _read(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return text_of(stream.read(_MOST_BYTES))
    except OSError:
        return ""


def _draft(note: Note, parts: Parts) -> Draft:
    kind = rules.KINDS[note.type]
    return Draft(
        kind=kind,
        project=note.project,
        title=note.title,
        body=rules.print_parts(parts),
        author=note.author,
        seat=MEMORY,
        detail=f"[KEY: memory/{note.type}]",
        task_id=note.task_id,
        evidence=(Evidence("medium", note.source.strip() or "the user"),) if kind == "finding" else (),
        extra={"memory_type": note.type, **({"source_refs": [note.source]} if note.source else {})},
    )


def _published(context: Context, written: Written, project: str) -> Written:
    return replace(written, warnings=(*written.warnings, *publish_memories(context, project)))


def _kept_before(context: Context, slug: str) -> Written:
    path = context.root.join(show(context, slug).record.path)
    return Written(slug, path, os.path.basename(slug), "", False, already=say("this is remembered already"))


# One topic, one record ------------------------------------------------------------------------------------------------


def _find_earlier(context: Context, connection: Connection, draft: Draft, note: Note) -> tuple[str, tuple[str, ...]]:
    """Return the memory that says just this, "" for none, and those on the same topic: of this title, or nearly the same."""
    words = review.words_of(draft.title, draft.body)
    shared = query.sharing(connection, words.telling, _CANDIDATES)
    found = [Summary.from_row(row) for row in (*_titled(connection, draft.title), *shared)]
    same, earlier = "", []
    for record in {one.slug: one for one in found}.values():
        if record.is_retired or record.path.startswith(FOREIGN) or (record.project or SHARED) != draft.project:
            continue
        document = records.parse(record.path, records.load(context.root, record.path))
        if rules.memory_type_in(document.fields) != note.type:
            continue
        is_titled = record.title.casefold() == draft.title.casefold()
        if is_titled and document.body.strip() == draft.body.strip():
            same = record.slug
        if is_titled or _is_update(draft, record.title, document.body):
            earlier.append(record.slug)
    return same, () if note.is_another else tuple(earlier)


def _titled(connection: Connection, title: str) -> list[query.Row]:
    slugs = naming.slugs_titled(connection, title)
    return [row for row in (query.summary(connection, slug) for slug in slugs) if row is not None]


def _is_update(draft: Draft, title: str, body: str) -> bool:
    """Return whether a draft says nearly what a memory says, about the same thing."""
    new, old = rules.parse_parts(draft.body).statement, rules.parse_parts(body).statement
    one, other = review.words_of(draft.title, new), review.words_of(title, old)
    return review.says_nearly_the_same(one, other) and rules.is_one_topic(new, old)


# Forget ---------------------------------------------------------------------------------------------------------------


def forget(context: Context, target: str, reason: str = "", *, project: str = "", dry_run: bool = False) -> Written:
    """Retire the one memory that a name or words of its text mean. Its file stays; no answer, packet or MEMORY.md has it.

    With a `project`, only one of that. Raises NotInMemory for none, UsageError for several and for another record.
    """
    context.root.require()
    record = _meant(context, target)
    home = record.project or SHARED
    if project and home != project:
        raise OwnershipError(
            say("{slug} is not a memory of the project {project}.", slug=record.slug, project=project),
            hint=say("Forget it where it was remembered."),
        )
    called = (
        f"a {_type_of(context, record)} memory of {record.sort_ts[:10]}"  # what is to be forgotten is not said again
    )
    why = reason.strip() or _FORGOTTEN
    written = retire(context, record.slug, why, seat=MEMORY, dry_run=dry_run, called=called)
    return written if dry_run or written.already else _published(context, written, home)


def _meant(context: Context, target: str) -> Summary:
    """Return the memory that is meant; of several of one name, the one that holds."""
    text = target.strip().removeprefix("[[").removesuffix("]]").strip()
    if not text:
        raise UsageError(
            say("The memory to forget is not named."),
            hint=say("Give its slug, its title, or words that only it holds."),
        )
    try:
        name = resolve(context, text)
        found = [] if is_entity(name) else context.index.read(lambda connection: naming.find_named(connection, name))
    except UsageError:
        found = []
    named = [record for slug in found if _type_of(context, record := show(context, slug).record)]
    named = named or context.index.read(lambda connection: _saying(context, connection, text))
    holding = [record for record in named if not record.is_retired]
    if len(holding) > 1:
        raise UsageError(
            say("{target!r} names {count} memories.", target=target, count=len(holding)),
            hint=say("Give one of {found}.", found=[record.slug for record in holding[:_CANDIDATES]]),
        )
    if named:
        return (holding or named)[0]
    if found:
        raise UsageError(
            say("{slug} is a record, but nobody asked to remember it.", slug=found[0]),
            hint=say("To end it: `oracle retire {slug} --reason WHY`.", slug=found[0]),
        )
    raise NotInMemory(
        say("not_in_memory_db: no memory is called {target!r} or says it.", target=target),
        hint=say(
            "To see memories of a type: `oracle backlinks entity:key:memory/project`, or `user`, `feedback`, `reference`."
        ),
    )


def _type_of(context: Context, record: Summary) -> str:
    document = records.read_document(context.root, record.path)
    return rules.memory_type_in(document.fields) if document else ""


def _saying(context: Context, connection: Connection, text: str) -> list[Summary]:
    """Return the memories whose words include all those of a text. One word alone must be in the title."""
    wanted = review.words_of(text, "").title - fold.STOP_WORDS
    rows = places.last_used(connection, "", TYPE_KEYS, limit=_MANY) if wanted else []
    found = []
    for record in map(Summary.from_row, rows):
        words = review.words_in(context.root, record.path, record.title)
        if words is not None and wanted <= (words.title if len(wanted) == 1 else words.whole):
            found.append(record)
    return found
