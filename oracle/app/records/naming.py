"""Find the record that a person means by a name, or the hint when there is none. Every command uses this.

A name is a slug or the end of one, a name without its stamp, the words of a title, or a part of a slug.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from oracle.app.context import Context
from oracle.app.records.graph import resolve
from oracle.app.records.views import Shown, Summary
from oracle.domain.links.links import CLAIMS, reference_key
from oracle.domain.links.resolution import namesakes, stamp_of
from oracle.domain.markdown.documents import lines_of
from oracle.domain.names import ENTITY, SHARED, entity, is_entity, project_of, split_entity
from oracle.domain.values import replace
from oracle.errors import NotInMemory, UsageError
from oracle.index.db import Connection
from oracle.index.fold import is_run
from oracle.index.read import names, query
from oracle.store.markdown import records
from oracle.wording import Sentence, say, say_many

_NEAR = 5
_MANY = 10_000
_MANY_TITLES = 200
_SHORTEST_PART = 3
"""Letters of a part of a slug that may name its record."""

_LIKELY = 0.6
"""How alike two names are, from 0 to 1, when one may be meant by the other."""


def find(context: Context, text: str, *, fresh: bool = False) -> str:
    """Return the record or entity that a person named and that links may lead to. Raises NotInMemory, UsageError.

    A record may be named without its stamp, by the words of its title or by a part of its slug. An entity may be named by its
    value, a part of a hash or the end of a path. Of several namesakes the newest is taken, with a warning.
    """
    name = resolve(context, text)
    return context.index.find(lambda connection: find_target(context, connection, name), fresh=fresh)


def titled(context: Context, titles: Iterable[str]) -> dict[str, str]:
    """Return the slug of the record with each of these titles. No link is read so, but a person may mean it."""
    wanted = list(titles)
    return context.index.read(lambda connection: slugs_by_title(connection, wanted))


def find_namesakes(connection: Connection, name: str) -> list[str]:
    """Return the slugs that `name` may mean, the newest stamp first; just the record of that very slug when there is one."""
    if query.summary(connection, name) is not None:
        return [name]
    found: list[str] = []
    for form in dict.fromkeys((name, name.replace("/", " "))):  # a title may hold a slash
        found = found or namesakes(form, names.slugs_named(connection, reference_key(form), limit=_MANY))
    found = found or names.slugs_called(connection, reference_key(name), limit=_MANY)
    return found or ([] if names.entities_alike(connection, name) else slugs_titled(connection, name))


def find_with_words(context: Context, text: str, filters: Mapping[str, str]) -> list[str]:
    """Return up to five slugs of records whose file's name has these words, which their texts need not have; the newest first."""
    from oracle.app.records.listing import check_filters

    key, wanted = reference_key(text.replace("/", " ")), check_filters(filters)
    return context.index.read(lambda connection: names.with_words(connection, key, wanted, limit=_NEAR)) if key else []


def slugs_titled(connection: Connection, title: str) -> list[str]:
    """Return the slugs of the records that have this title, word for word whatever the case, the newest stamp first."""
    from oracle.index.fold import words_of

    def words(text: str) -> list[str]:
        return words_of(text.casefold())

    found = [slug for slug, other in names.titled(connection, title) if words(other) == words(title)]
    return sorted(sorted(found), key=stamp_of, reverse=True)


def slugs_by_title(connection: Connection, titles: Iterable[str]) -> dict[str, str]:
    """Return of each text that is just a record's title the slug of that record, the newest; `_MANY_TITLES` are looked for."""
    found = {name: slugs_titled(connection, name)[:1] for name in [*dict.fromkeys(titles)][:_MANY_TITLES]}
    return {name: slugs[0] for name, slugs in found.items() if slugs}


def find_record(context: Context, connection: Connection, name: str) -> str:
    """Return the slug of the record, with a warning the newest of several. Raises NotInMemory, UsageError without stamps."""
    found = find_namesakes(connection, name)
    if len(found) > 1 and stamp_of(found[0]) != stamp_of(found[1]):
        context.warn(
            say("{name} names {count} records; this is the newest, {slug}", name=name, count=len(found), slug=found[0])
        )
        return found[0]
    return _only(connection, name, found)


def find_only(context: Context, name: str, *, project: str = "") -> str:
    """Return the slug of the one record that is meant, for a change. Raises UsageError for several, NotInMemory for none.

    Of several, only those that still hold are meant, unless none does.

    A part of a name must be whole words of it, with a `project` of a record there; a warning says what it was taken for.
    """

    def read(connection: Connection) -> tuple[str, bool]:
        namesakes = find_namesakes(connection, name)
        found = namesakes or _with_part(connection, name)
        if len(found) > 1:
            found = [slug for slug in found if not any(query.retirers(connection, slug))] or found
        return _only(connection, name, found), not namesakes

    slug, is_part = context.index.read(read)
    is_elsewhere = project and project_of(slug) not in (project, SHARED)
    if is_part and (is_elsewhere or not _has_words(slug, name)):
        raise UsageError(
            say("{name!r} is only a part of a name, too little to change a record by.", name=name),
            hint=say("Did you mean {names}?", names=[slug]),
        )
    if is_part or (is_elsewhere and name != slug):
        context.warn(say("{name} was taken for {slug}", name=name, slug=slug))
    return slug


def _has_words(slug: str, part: str) -> bool:
    """Return whether a part of a name is whole words of it. Chinese has no space between its words."""
    key = reference_key(part.rpartition("/")[2])
    return any(map(is_run, key)) or f"-{key}-" in f"-{reference_key(slug.rpartition('/')[2])}-"


def find_named(connection: Connection, name: str) -> list[str]:
    """Return the slugs of the records that a name or a part of a slug may mean, those that no longer hold among them."""
    return find_namesakes(connection, name) or _with_part(connection, name)


def _only(connection: Connection, name: str, namesakes: list[str]) -> str:
    """Return the only namesake, else the only record with the name as a part of its slug."""
    found = namesakes or _with_part(connection, name)
    if not found:
        raise _not_a_record(connection, name)
    return _require_one(name, found)


def _require_one(name: str, found: list[str]) -> str:
    if len(found) == 1:
        return found[0]
    hint = say("Give one of {found}.", found=found[:_NEAR])
    if len(found) > _NEAR:
        hint = say("Give one of {found}, … ({rest} more).", found=found[:_NEAR], rest=len(found) - _NEAR)
    if any(map(is_entity, found)):
        raise UsageError(say("{name!r} names {count} targets.", name=name, count=len(found)), hint=hint)
    raise UsageError(say("{name!r} names {count} records.", name=name, count=len(found)), hint=hint)


def _with_part(connection: Connection, name: str) -> list[str]:
    """Return the slugs of which the name is a part, the newest first; none for a name that an entity has."""
    folder, _, last = name.rpartition("/")
    key = reference_key(last)
    if len(key) < (_SHORTEST_PART if key.isascii() else 2) or names.entities_alike(connection, name):
        return []
    stamped = names.slugs_with(connection, key, f"{folder}/{last}", limit=_MANY_TITLES) if stamp_of(last) else []
    return stamped or names.slugs_with(connection, key, folder, limit=_MANY_TITLES)


def find_target(context: Context, connection: Connection, name: str) -> str:
    """Return the record or entity that something may link to, which may be missing. Raises NotInMemory with what to type."""
    if query.count_backlinks(connection, name):
        return name
    if is_entity(name):
        raise NotInMemory(
            say("not_in_memory_db: no record mentions {name}.", name=name),
            hint=_likely_entities(connection, name) or say("See what is mentioned with `oracle list --entities`."),
        )
    if not find_namesakes(connection, name) and (found := _entities_meant(connection, name)):
        return _require_one(name, found)
    return find_record(context, connection, name)


def _entities_meant(connection: Connection, name: str) -> list[str]:
    """Return the mentioned entities that a person may mean: by their value, by a part of a hash, by the end of a path."""
    alike = [entity for entity, _ in names.entities_alike(connection, name)]
    exact = [entity for entity in alike if entity.endswith(f":{name}")]
    written = [entity for entity in _entities_in(name) if query.count_backlinks(connection, entity)]
    return exact or alike or written or names.entities_with(connection, name, limit=_MANY_TITLES)


def find_near(connection: Connection, name: str) -> list[str]:
    """Return some slugs whose name or title is like `name`, the likest first; only those that share a word's head are looked at."""
    from difflib import SequenceMatcher

    key = reference_key(name)
    heads = [word[:3] for word in key.split("-") if len(word) > 2 or not word.isascii()] or [key]
    matcher = SequenceMatcher(b=key)

    def likeness(text: str) -> float:
        words, others = set(key.split("-")), set(text.split("-"))
        shared = len(words & others)
        if shared > len(words) / 2 or (shared == len(others) > 1):
            return 1 + shared / len(words | others)
        matcher.set_seq1(text)
        return matcher.ratio() if matcher.quick_ratio() >= _LIKELY else 0.0

    found: list[tuple[float, str]] = []
    for slug, other, title in names.named_alike(connection, heads[:8]):
        score = max(likeness(other), likeness(reference_key(title.replace("/", " "))))
        if score >= _LIKELY:
            found.append((-score, slug))
    return [slug for _, slug in sorted(found)[:_NEAR]]


def _not_a_record(connection: Connection, name: str) -> NotInMemory:
    if is_entity(name):
        return NotInMemory(
            say("not_in_memory_db: {name} is an entity, not a record.", name=name), hint=_advise(connection, name)
        )
    return NotInMemory(say("not_in_memory_db: no record {name}.", name=name), hint=_advise_folder(connection, name))


def _advise_folder(connection: Connection, name: str) -> Sentence:
    """Return how to list what a folder of records holds, or a project of this name; else what else may be meant."""
    parts = name.strip("/").split("/")
    folder = "/".join(parts if parts[0] == "projects" else ["projects", *parts])
    project = folder.split("/")[1:2]
    if project and names.holds_records(connection, folder):
        return say(
            "It is a folder of records; list them with `oracle list --project {project}`.", project=_word(project[0])
        )
    return _advise(connection, name)


def _likely_entities(connection: Connection, name: str) -> Sentence | None:
    """Return which entities that are mentioned may be meant by one that is not, None when none is like it."""
    alike = names.entities_alike(connection, split_entity(name)[1])
    others = alike or _entities_near(connection, _beginning(name), name)
    return say("Did you mean {names}?", names=_list_entities(others)) if others else None


def _beginning(name: str) -> str:
    """Return what all entities of the namespace of one begin with."""
    return entity(split_entity(name)[0], "")


def _entities_near(connection: Connection, beginning: str, name: str) -> list[tuple[str, int]]:
    """Return the mentioned entities that begin so, and whose value or file is likest to a name; the likest first."""
    from difflib import SequenceMatcher

    text = name.removeprefix(beginning).lower()
    heads = [word[:3] for word in re.findall(r"\w{2,}", text)][:8] or [text]
    matcher = SequenceMatcher(b=text)
    found: list[tuple[float, str, int]] = []
    for target, count in names.entities_near(connection, beginning, heads):
        value = split_entity(target)[1].lower()
        for part in dict.fromkeys((value, value.rpartition("/")[2])):
            matcher.set_seq1(part)
            if matcher.quick_ratio() >= _LIKELY and (likeness := matcher.ratio()) >= _LIKELY:
                found.append((-likeness, target, count))
    return list(dict.fromkeys((target, count) for _, target, count in sorted(found)))[:_NEAR]


def _advise(connection: Connection, name: str) -> Sentence:
    """Return what to type for an entity or a record of nearly this name."""
    if is_entity(name):
        count = query.count_backlinks(connection, name)
        if count:
            return say(
                "This is an entity; ask `oracle backlinks {name}` ({count}).", name=_word(name), count=_count(count)
            )
        return _likely_entities(connection, name) or say("No record mentions it; see `oracle list --entities`.")
    others = names.entities_alike(connection, name) or [
        (target, query.count_backlinks(connection, target)) for target in _entities_in(name)
    ]
    near: list[str] | list[Sentence] = find_near(connection, name)
    if not near and not any(count for _, count in others):
        near = _list_entities(_entities_near(connection, _beginning(others[0][0]) if others else ENTITY, name))
    meant = say("Did you mean {names}?", names=near)
    if others:
        typed = say("To ask for an entity, type {names}.", names=_list_entities(others))
        return say("{what} {hint}", what=typed, hint=meant) if near else typed
    return meant if near else say("See what there is with `oracle list`.")


def _entities_in(name: str) -> list[str]:
    """Return the entity that a whole name looks like."""
    from oracle.domain.links.references import extract

    for text in dict.fromkeys((name, name.upper())):
        found = [mention.target for mention in extract(text).mentions if mention.target.endswith(f":{text}")]
        if found:
            return found[:1]
    return []


def _list_entities(found: list[tuple[str, int]]) -> list[Sentence]:
    return [say("{name} ({count})", name=name, count=_count(count)) for name, count in found[:_NEAR]]


def _count(count: int) -> Sentence:
    return say_many("{n} backlink", "{n} backlinks", n=count) if count else say("no backlinks")


def _word(text: str) -> str:
    from shlex import quote

    return quote(text)


def show(context: Context, slug: str, *, first_line: int = 1, last_line: int = 0, fresh: bool = False) -> Shown:
    """Return lines of a record; `last_line` 0 means the end. Any name of a record will do. Raises NotInMemory, UsageError."""
    name = resolve(context, slug)

    def find(connection: Connection) -> Shown:
        record = Summary.from_row(query.summary(connection, find_record(context, connection, name)) or ())
        slug, path = record.slug, record.path
        chain = tuple(by for by, _ in query.retirers(connection, slug))
        supersedes = tuple(query.retired_by(connection, slug))
        problems = tuple((line, reason) for one, line, reason in query.problems(connection, path) if one == path)
        claims = tuple(row[:2] for row in query.backlinks(connection, slug, tuple(CLAIMS.values())))
        ended_by = dict.fromkeys(row[0] for row in query.backlinks(connection, slug, tuple(CLAIMS)))
        also_by = tuple(by for by in ended_by if by not in (slug, *chain))
        return Shown(record, "", 1, 0, 0, chain, supersedes, problems, claims, also_by)

    shown = context.index.find(find, fresh=fresh)
    record = shown.record
    try:
        raw = records.load(context.root, record.path)
    except OSError as error:
        raise NotInMemory(
            say("not_in_memory_db: {path} can't be read: {strerror}.", path=record.path, strerror=error.strerror),
            hint=say("Run `oracle doctor`."),
        ) from error
    lines = lines_of(raw)
    last = min(last_line or len(lines), len(lines))
    if first_line < 1 or (lines and first_line > last):
        raise UsageError(
            say(
                "{slug} has lines 1 to {count}, not {first_line}:{last_line}.",
                slug=record.slug,
                count=len(lines),
                first_line=first_line,
                last_line=last_line,
            ),
            hint=say("Choose lines inside it, as in --lines 1:20."),
        )
    text = "\n".join(lines[first_line - 1 : last])
    return replace(shown, text=text, first_line=first_line, last_line=last, total_lines=len(lines))
