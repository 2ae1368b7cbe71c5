"""Keep, reflect on, refresh and show an agent's memories. A memory is a record like all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracle.app.context import Context
from oracle.app.memories.packets import read_memory
from oracle.app.records import naming
from oracle.app.records.graph import resolve
from oracle.app.records.naming import show
from oracle.app.records.once import make_root
from oracle.app.records.retire import link_to, name_to_repeat
from oracle.app.records.views import Summary, Written
from oracle.app.records.write import write
from oracle.domain import timestamps
from oracle.domain.markdown.documents import Value, as_text, clip
from oracle.domain.names import SHARED, check_name, is_entity, project_of
from oracle.domain.records import memories as rules
from oracle.domain.records.drafts import Draft, retirement_of
from oracle.domain.records.memories import EDGES, PROCEDURE, REFLECTION, Given, Memory
from oracle.domain.records.records import understand
from oracle.domain.values import NOTHING, replace, value
from oracle.errors import UsageError
from oracle.index.db import Connection
from oracle.index.read import memories as places
from oracle.index.read import query
from oracle.store.markdown import records
from oracle.wording import say

_EDGE_NAMES = {relation: name for name, relation in EDGES.items()}
_LONGEST_TITLE = 120


@value
class Kept:
    """What was written: memories by slug, those that it retired, and the edges between them."""

    memories: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    replacement: str = ""
    edges: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@value
class Lesson:
    """What is learned at the end of a piece of work, good or bad."""

    goal: str
    outcome: str = ""
    worked: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    next_time: tuple[str, ...] = ()
    project: str = SHARED
    author: str = "memory_router"
    session_id: str = ""
    task_id: str = ""


@value
class Seen:
    """A memory as it is now: whether it holds, what replaced it and why, and its edges (type, memory)."""

    memory: Memory
    is_active: bool
    replaced_by: str = ""
    retired_reason: str = ""
    edges: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form, as the routing skill names its parts."""
        memory = self.memory
        return {
            "id": memory.id,
            "memory_type": memory.type,
            "abstraction_level": memory.level,
            "role_scope": memory.role_scope,
            "project": memory.project,
            "session_id": memory.session_id or None,
            "task_id": memory.task_id or None,
            "title": memory.title,
            "summary": memory.summary,
            "details": dict(memory.details),
            "keywords": list(memory.keywords),
            "tags": list(memory.tags),
            "source_refs": list(memory.source_refs),
            "importance": memory.importance,
            "confidence": memory.confidence,
            "success_score": memory.success_score,
            "recency_ts": memory.ts,
            "valid_from_ts": memory.valid_from or None,
            "valid_to_ts": memory.valid_to or None,
            "is_active": self.is_active,
            "replaced_by_memory_id": self.replaced_by or None,
            "retired_reason": self.retired_reason or None,
            "edges": [{"to_memory_id": target, "edge_type": kind, "weight": 1.0} for kind, target in self.edges],
            "path": memory.path,
        }


# -- writing -----------------------------------------------------------------------------------------------------------


def remember(context: Context, given: Given, *, new_project: bool = False) -> Kept:
    """Write a memory; one that it replaces is retired.

    Raises UsageError, MistypedProject, NotInMemory, SecretFound, InvalidRecord, InvalidName.
    """
    rules.check(given)
    make_root(context)
    if given.replaces:
        old = _resolve(context, given.replaces)
        given = replace(given, replaces=old, reason=given.reason.strip() or f"Replaced by {given.title.strip()}.")
    given = replace(given, edges=tuple((kind, _resolve(context, target)) for kind, target in given.edges))
    similar = tuple(target for kind, target in given.edges if kind == rules.SIMILAR)
    written = write(context, rules.draft(given, similar), new_project=new_project)
    edges = [(kind, target) for kind, target in given.edges]
    if given.replaces:
        edges.append(("supersedes", given.replaces))
    return Kept(
        (written.slug,),
        retired=(given.replaces,) if given.replaces else (),
        replacement=written.slug if given.replaces else "",
        edges=tuple(edge_id(written.slug, *edge) for edge in edges),
        warnings=_warnings(written),
    )


def reflect(context: Context, lesson: Lesson, *, new_project: bool = False) -> Kept:
    """Write a reflection, and the procedure that it yields when steps worked. Raises UsageError, SecretFound, InvalidName."""
    if not lesson.goal.strip():
        raise UsageError(say("The goal is missing."), hint=say("Say what the work was to reach."))
    said = _said(lesson)
    if not said:
        raise UsageError(
            say("There is nothing to reflect on."),
            hint=say("Give outcome, what_worked, what_failed, lessons or next_time."),
        )
    make_root(context)
    reflection = _given(lesson, REFLECTION, f"Reflection: {lesson.goal}", " ".join(said), _details(lesson))
    first = write(context, rules.draft(reflection), new_project=new_project)
    if not lesson.worked:
        return Kept((first.slug,), warnings=_warnings(first))
    steps: dict[str, Value] = {"steps": list(lesson.worked)}
    procedure = replace(
        _given(lesson, PROCEDURE, f"Procedure: {lesson.goal}", f"What worked: {lesson.goal.strip()}", steps),
        edges=(("derived_from", first.slug),),
    )
    second = write(context, rules.draft(procedure))
    return Kept(
        (first.slug, second.slug),
        edges=(edge_id(second.slug, "derived_from", first.slug),),
        warnings=(*_warnings(first), *_warnings(second)),
    )


def _given(lesson: Lesson, kind: str, title: str, summary: str, details: Mapping[str, Value]) -> Given:
    title = " ".join(title.split())
    return Given(
        type=kind,
        title=clip(title, _LONGEST_TITLE),
        summary=summary,
        project=lesson.project,
        author=lesson.author,
        session_id=lesson.session_id,
        task_id=lesson.task_id,
        details=details,
    )


def _said(lesson: Lesson) -> list[str]:
    """Return the sentences of a reflection, the most important first, because a packet shows only its beginning."""
    parts = (
        ("Lesson", lesson.lessons),
        ("Failed", lesson.failed),
        ("Next time", lesson.next_time),
        ("Outcome", (lesson.outcome,)),
        ("Worked", lesson.worked),
    )
    texts = ((name, [text.strip().rstrip(".。") for text in items if text.strip()]) for name, items in parts)
    return [f"{name}: {'; '.join(items)}." for name, items in texts if items]


def _details(lesson: Lesson) -> dict[str, Value]:
    values: dict[str, Value] = {
        "goal": lesson.goal,
        "outcome": lesson.outcome,
        "what_worked": list(lesson.worked),
        "what_failed": list(lesson.failed),
        "lessons": list(lesson.lessons),
        "next_time": list(lesson.next_time),
    }
    return {name: item for name, item in values.items() if item}


def refresh(context: Context, stale: Sequence[str], *, replacement: str = "", reason: str = "") -> Kept:
    """Retire memories that still hold by a record that says why and by what. Raises UsageError, NotInMemory, SecretFound."""
    if not stale:
        raise UsageError(say("stale_memory_ids is empty."), hint=say("Name the memories that no longer hold."))
    names = tuple(dict.fromkeys(_resolve(context, name) for name in stale))
    new = _resolve(context, replacement) if replacement else ""
    if new in names:
        raise UsageError(
            say("{new} can't replace itself.", new=new), hint=say("Name another memory as replacement_memory_id.")
        )
    shown = {name: show(context, name).record for name in (*names, *([new] if new else []))}
    if new and shown[new].retired_by:
        raise UsageError(
            say(
                "{new} no longer holds itself: {retired_by} replaced it.",
                new=new,
                retired_by=shown[new].retired_by,
            ),
            hint=say("Name that one."),
        )
    active = tuple(name for name in names if not shown[name].retired_by)
    already = tuple(name for name in names if shown[name].retired_by)
    if not active:
        return Kept(already=already, replacement=new)
    why = reason.strip() or ("Newer evidence replaces it." if new else "It no longer holds.")
    written = write(context, _retirement(context, [shown[name] for name in active], new, why))
    edges = [edge_id(new, "contradicts", name) for name in active] if new else []
    return Kept((written.slug,), active, already, new, tuple(edges), _warnings(written))


def _retirement(context: Context, ended: Sequence[Summary], replacement: str, reason: str) -> Draft:
    links, stale = f"Retires {', '.join(link_to(context, one) for one in ended)}.", tuple(one.slug for one in ended)
    if replacement:
        links += f" [[{replacement}]] contradicts and replaces them."
    extra: dict[str, Value] = {"retired_reason": reason}
    if replacement:
        extra["replaced_by"] = replacement
    return Draft(
        kind="decision",
        project=project_of(ended[0].path) or SHARED,
        title=retirement_of(name_to_repeat(context, ended[0])),
        body=f"{reason}\n\n{links}",
        retires=stale,
        contradicts=stale if replacement else (),
        supports=(replacement,) if replacement else (),
        extra=extra,
    )


def edge_id(source: str, kind: str, target: str) -> str:
    """Return the name of an edge: its key, printed."""
    return f"{source} {kind} {target}"


def _resolve(context: Context, text: str) -> str:
    """Return the slug of the one record that an id names. Raises NotInMemory, UsageError for none and for several."""
    name = resolve(context, text)
    if is_entity(name):
        raise UsageError(
            say("{text!r} is an entity, not a memory.", text=text), hint=say("Give the id that add returned.")
        )
    return naming.find_only(context, name)


def _warnings(written: Written) -> tuple[str, ...]:
    alike = (
        say("{slug} says nearly what the retired memory said; it may have to go too", slug=slug)
        for slug in written.near_duplicates
    )
    return (*written.warnings, *alike)


# -- looking -----------------------------------------------------------------------------------------------------------


def inspect(context: Context, name: str) -> Seen:
    """Return one memory as it is now, the newest of several that the id names. Raises NotInMemory, UsageError."""
    record = show(context, name).record
    return _look(context, [record])[0]


def list_memories(context: Context, *, project: str = "", limit: int = 20) -> list[Seen]:
    """Return the newest memories, those that no longer hold among them; "" is every project."""
    wanted = check_name(project, "project") if project else ""
    rows = context.index.read(lambda connection: places.newest(connection, wanted, limit=limit, with_retired=True))
    return _look(context, [Summary.from_row(row) for row in rows])


def _look(context: Context, found: Sequence[Summary]) -> list[Seen]:
    now = timestamps.from_mtime(context.clock.now_ns())
    memories = {record.slug: read_memory(context, record) for record in found}

    def see(connection: Connection) -> list[Seen]:
        return [
            _see(context, connection, record, memory, now)
            for record in found
            if (memory := memories[record.slug]) is not None
        ]

    return context.index.read(see)


def _see(context: Context, connection: Connection, record: Summary, memory: Memory, now: str) -> Seen:
    edges = [
        (_EDGE_NAMES[kind], target) for kind, target, *_ in query.links(connection, record.slug, tuple(EDGES.values()))
    ]
    edges += [(rules.SIMILAR, target) for target in memory.similar]
    edges += [("contradicts", target) for target in _contradicted_by_refresh(context, connection, record.slug)]
    is_active = not record.retired_by and memory.holds(now)
    if not record.retired_by:
        return Seen(memory, is_active, edges=tuple(dict.fromkeys(edges)))
    fields = _fields(context, connection, record.retired_by)
    replaced_by = record.retired_by if record.retired_how == "supersedes" else as_text(fields.get("replaced_by", ""))
    return Seen(memory, is_active, replaced_by, as_text(fields.get("retired_reason", "")), tuple(dict.fromkeys(edges)))


def _contradicted_by_refresh(context: Context, connection: Connection, slug: str) -> list[str]:
    """Return the memories that a refresh retired in favour of this one: it speaks against them for it."""
    found = []
    for source, *_ in list(query.incoming(connection, [slug], ("supports",))):
        if as_text(_fields(context, connection, source).get("replaced_by", "")) == slug:
            found += [target for _, target, *_ in query.links(connection, source, ("contradicts",))]
    return found


def _fields(context: Context, connection: Connection, slug: str) -> Mapping[str, Value]:
    """Return the frontmatter of a record, read from disk now; nothing for one that is gone."""
    row = query.summary(connection, slug)
    if row is None:
        return NOTHING
    document = records.read_document(context.root, Summary.from_row(row).path)
    return understand(document).fields if document else NOTHING
