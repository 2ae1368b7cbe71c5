"""Memories: records seen as an agent's long-term memory, and the records that are written for one. Pure.

A memory that was given states its type in the frontmatter (`memory_type`); any other record has the type of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping

from oracle.domain import timestamps
from oracle.domain.markdown.documents import Value, as_list, as_map, as_text, clip
from oracle.domain.names import SHARED, entity
from oracle.domain.records import remembered
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.records.records import Record, understand
from oracle.domain.spelling import suggest
from oracle.domain.values import NOTHING, value
from oracle.errors import UsageError
from oracle.wording import say

PREFERENCE, PROCEDURE, REFLECTION, SUMMARY, EPISODE = "preference", "procedure", "reflection", "summary", "episode"
KINDS = {PREFERENCE: "decision", PROCEDURE: "plan", REFLECTION: "finding", SUMMARY: "finding", EPISODE: "task"}
"""The kind of record that holds each type of memory."""

SCOPES = ("planner", "executor", "critic", "responder", "global")
RAW, SESSION, TASK, LONG_TERM = range(4)
"""Levels of abstraction."""

LEVELS = {PREFERENCE: LONG_TERM, PROCEDURE: LONG_TERM, REFLECTION: TASK, SUMMARY: TASK, EPISODE: SESSION}
"""The level of a memory that states none."""

EDGES = {"supports": "supports", "contradicts": "contradicts", "extends": "extends", "derived_from": "derived-from"}
"""Edges between memories as they are given, and the relation of a record that holds each."""

SIMILAR = "similar"
"""An edge that is no relation: a link in the text."""

NEUTRAL = 0.5
LONGEST_TEXT = 500
"""Characters of a memory in a packet."""

REMEMBERED = {
    remembered.USER: PREFERENCE,
    remembered.FEEDBACK: PREFERENCE,
    remembered.PROJECT: SUMMARY,
    remembered.REFERENCE: SUMMARY,
}
"""How a packet reads what people asked to remember."""

_TYPES = {
    "decision": PREFERENCE,
    "plan": PROCEDURE,
    "pattern": PROCEDURE,
    "reflection": REFLECTION,
    "issue": REFLECTION,
    **dict.fromkeys(("task", "test_result", "delivery", "event", "example"), EPISODE),
}
_WORDS = {"high": 0.9, "medium": 0.6, "low": 0.3}
_SURE, _UNSURE = 0.75, 0.4
_LONGEST_SESSION = 120
_OVER = ("superseded", "retired")


@value
class Memory:
    """One record as a memory. Scores are from 0 to 1, times sortable; `words` are those by which two memories are compared.

    `is_stated` tells that the record was written as a memory; `retires` that it only says what no longer holds.
    """

    id: str
    type: str
    title: str
    summary: str
    path: str = ""
    project: str = ""
    role_scope: str = "global"
    session_id: str = ""
    task_id: str = ""
    level: int = LONG_TERM
    importance: float = NEUTRAL
    confidence: float = NEUTRAL
    success_score: float = NEUTRAL
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source_refs: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    details: Mapping[str, Value] = NOTHING
    ts: str = ""
    valid_from: str = ""
    valid_to: str = ""
    status: str = ""
    words: frozenset[str] = frozenset()
    is_stated: bool = False
    retires: bool = False

    @property
    def text(self) -> str:
        """The memory on one line of a packet; a procedure with its steps, a record that is no stated memory with its title."""
        parts = [self.summary] if self.is_stated and self.summary else [self.title, self.summary]
        text = ": ".join(dict.fromkeys(part for part in parts if part))
        steps = as_list(self.details.get("steps", "")) if self.type == PROCEDURE else []
        if steps:
            text = f"{text.rstrip('.。')}. Steps: " + " ".join(
                f"{number}. {step}" for number, step in enumerate(steps, 1)
            )
        text = " ".join(text.split())
        return clip(text, LONGEST_TEXT)

    def holds(self, now: str) -> bool:
        """Return whether the record's own words let it hold at `now`, a sortable time."""
        if self.status in _OVER or (self.valid_from and self.valid_from > now):
            return False
        return not self.valid_to or now <= self.valid_to


def interpret(record: Record, summary: str, words: frozenset[str] = frozenset()) -> Memory:
    """Read a record as a memory; what it does not state, its kind says. `summary` is the first paragraph of its text."""
    fields = understand(record.document).fields
    given = stated_type(fields)
    kind = given or _type_of(record.kind, fields)
    scope = as_text(fields.get("role_scope", "")).strip().lower()
    return Memory(
        id=record.slug,
        type=kind,
        title=record.title,
        summary=" ".join(summary.split()),
        path=record.path,
        project=record.project,
        role_scope=scope if scope in SCOPES else "global",
        session_id=as_text(fields.get("session_id", "")).strip(),
        task_id=record.task_id,
        level=_level(fields, kind),
        importance=_score(fields.get("importance", ""), NEUTRAL),
        confidence=_score(fields.get("confidence_score", ""), _WORDS.get(record.confidence.lower(), NEUTRAL)),
        success_score=_score(fields.get("success_score", ""), NEUTRAL),
        keywords=tuple(as_list(fields.get("keywords", ""))),
        tags=tuple(as_list(fields.get("tags", ""))),
        source_refs=tuple(as_list(fields.get("source_refs", ""))),
        similar=tuple(as_list(fields.get("similar", ""))),
        details=as_map(fields.get("details", "")),
        ts=record.sort_ts,
        valid_from=timestamps.to_utc(as_text(fields.get("valid_from", ""))),
        valid_to=timestamps.to_utc(as_text(fields.get("valid_to", ""))),
        status=record.status,
        words=words,
        is_stated=bool(given),
        retires=any(relation.type == "retires" for relation in record.relations),
    )


def stated_type(fields: Mapping[str, Value]) -> str:
    """Return the type that frontmatter states, "" for a record that was not written as a memory."""
    stated = as_text(fields.get("memory_type", "")).strip().lower()
    return stated if stated in KINDS else REMEMBERED.get(remembered.memory_type_in(fields), "")


def _type_of(kind: str, fields: Mapping[str, Value]) -> str:
    """Return the type of a record that states none; a finding with a severity is something to avoid."""
    if kind == "finding" and fields.get("severity"):
        return REFLECTION
    return _TYPES.get(kind, SUMMARY)


def _level(fields: Mapping[str, Value], kind: str) -> int:
    text = as_text(fields.get("abstraction_level", "")).strip()
    return int(text) if text in ("0", "1", "2", "3") else LEVELS[kind]


def _score(stated: Value, default: float) -> float:
    try:
        found = float(as_text(stated))
    except ValueError:
        return default
    return min(1.0, max(0.0, found))


def type_keys(kind: str) -> list[str]:
    """Return the entities that memories of a type mention: those that an agent gave, and those that people asked for."""
    given = [name for name, read_as in REMEMBERED.items() if read_as == kind]
    return [entity("key", f"mar/{kind}"), *map(remembered.type_key, given)]


def session_key(session_id: str) -> str:
    """Return the entity that every memory of a session mentions."""
    return entity("key", f"session/{session_id}")


def check_session(session_id: str) -> str:
    """Return a session id as it is kept. Raises UsageError for one that can't be written into a key."""
    text = session_id.strip()
    if len(text) > _LONGEST_SESSION or not text.isprintable() or set(text) & set("[]`") or "  " in text:
        raise UsageError(
            say("The session id {text!r} can't be used.", text=text[:40]),
            hint=say(
                "Use up to {longest_session} printable characters on one line, without brackets and backticks.",
                longest_session=_LONGEST_SESSION,
            ),
        )
    return text


# -- writing -----------------------------------------------------------------------------------------------------------


@value
class Given:
    """A memory that somebody wants kept. A score or level of None is not stated; `edges` are (type, memory)."""

    type: str
    title: str
    summary: str
    project: str = SHARED
    author: str = "memory_router"
    role_scope: str = "global"
    session_id: str = ""
    task_id: str = ""
    level: int | None = None
    importance: float | None = None
    confidence: float | None = None
    success_score: float | None = None
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source_refs: tuple[str, ...] = ()
    details: Mapping[str, Value] = NOTHING
    valid_from: str = ""
    valid_to: str = ""
    edges: tuple[tuple[str, str], ...] = ()
    replaces: str = ""
    reason: str = ""


def check(given: Given) -> None:
    """Raise UsageError for an unknown type, scope, level, score, time or edge, and for a missing title or summary."""
    _require_word("memory_type", given.type, tuple(KINDS))
    _require_word("role_scope", given.role_scope, SCOPES)
    for name, text in (("title", given.title), ("summary", given.summary)):
        if not text.strip():
            raise UsageError(
                say("The {name} is missing.", name=name), hint=say("A memory needs memory_type, title and summary.")
            )
    if given.level is not None and given.level not in range(4):
        raise UsageError(
            say("Unknown abstraction_level {level}.", level=given.level),
            hint=say("It is 0 raw, 1 session, 2 task or 3 long-term."),
        )
    for name in ("importance", "confidence", "success_score"):
        score = getattr(given, name)
        if score is not None and not 0 <= score <= 1:
            raise UsageError(say("{name} is {score}.", name=name, score=score), hint=say("Give a number from 0 to 1."))
    for name, text in (("valid_from", given.valid_from), ("valid_to", given.valid_to)):
        if text and not timestamps.to_utc(text):
            raise UsageError(
                say("{name} {text!r} is not a time.", name=name, text=text),
                hint=say("Write it as 2026-04-27T18:30:00Z."),
            )
    valid_from, valid_to = timestamps.to_utc(given.valid_from), timestamps.to_utc(given.valid_to)
    if valid_to and valid_from > valid_to:
        raise UsageError(
            say("valid_to {valid_to} is before valid_from {valid_from}.", valid_to=valid_to, valid_from=valid_from),
            hint=say("A memory holds from the first to the second."),
        )
    for kind, _ in given.edges:
        _require_word("edge_type", kind, (*EDGES, SIMILAR))
    check_session(given.session_id)


def _require_word(name: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        unknown = say("The {name} {word!r} is unknown.", name=name, word=word[:60])
        what = unknown if word else say("The {name} is missing.", name=name)
        raise UsageError(what, hint=suggest(word, known))


def draft(given: Given, similar: tuple[str, ...] = ()) -> Draft:
    """Return the record that keeps a memory; `similar` are slugs that its text links to. Raises UsageError."""
    check(given)
    session = check_session(given.session_id)
    lines = [" ".join(given.summary.split())]
    if similar:
        lines.append(f"Similar: {', '.join(f'[[{slug}]]' for slug in similar)}.")
    confidence = NEUTRAL if given.confidence is None else given.confidence
    return Draft(
        kind=KINDS[given.type],
        project=given.project,
        title=given.title,
        body="\n\n".join(lines),
        author=given.author,
        detail=" ".join([f"[KEY: mar/{given.type}]", *([f"[KEY: session/{session}]"] if session else [])]),
        task_id=given.task_id,
        confidence="high" if confidence >= _SURE else "medium" if confidence >= _UNSURE else "low",
        evidence=_evidence(given, session) if KINDS[given.type] == "finding" else (),
        supersedes=(given.replaces,) if given.replaces else (),
        extra=_extra(given, session, similar),
        supports=_targets(given, "supports"),
        contradicts=_targets(given, "contradicts"),
        extends=_targets(given, "extends"),
        derived_from=_targets(given, "derived_from"),
    )


def _targets(given: Given, edge: str) -> tuple[str, ...]:
    return tuple(target for kind, target in given.edges if kind == edge)


def _extra(given: Given, session: str, similar: tuple[str, ...]) -> dict[str, Value]:
    values: dict[str, Value] = {
        "memory_type": given.type,
        "role_scope": given.role_scope,
        "session_id": session,
        "abstraction_level": str(LEVELS[given.type] if given.level is None else given.level),
        "importance": _number(given.importance),
        "confidence_score": _number(given.confidence),
        "success_score": _number(given.success_score),
        "keywords": list(given.keywords),
        "tags": list(given.tags),
        "source_refs": list(given.source_refs),
        "details": dict(given.details),
        "similar": list(similar),
        "valid_from": timestamps.to_utc(given.valid_from),
        "valid_to": timestamps.to_utc(given.valid_to),
        "retired_reason": given.reason if given.replaces else "",
    }
    return {name: item for name, item in values.items() if item not in ("", [], {})}


def _number(score: float | None) -> str:
    return "" if score is None else f"{score:g}"


def _evidence(given: Given, session: str) -> tuple[Evidence, ...]:
    """Return what a finding rests on: its sources, else the session or task in which it was learned, else who gave it."""
    if given.source_refs:
        return tuple(Evidence("medium", source) for source in given.source_refs if source.strip())
    learned = f"session {session}" if session else f"task {given.task_id}" if given.task_id else given.author
    return (Evidence("medium", learned),)
