"""JSON Schemas (2020-12) of what tools take: building blocks, and the arguments that several tools share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracle.mcp.schemas import Schema


def words(description: str, example: str) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": description, "examples": [example]}


def choice(description: str, *options: str) -> Schema:
    """Return the schema of a choice between words."""
    return {"type": "string", "enum": list(options), "description": description, "examples": [options[0]]}


def number(description: str, *, least: int, most: int, default: int) -> Schema:
    """Return the schema of a whole number."""
    bounds: Schema = {"minimum": least, "maximum": most, "default": default}
    return {"type": "integer", "description": description, **bounds, "examples": [default or least]}


def flag(description: str, *, default: bool = False) -> Schema:
    """Return the schema of a boolean."""
    return {"type": "boolean", "description": description, "default": default, "examples": [not default]}


def several(description: str, *example: object, item: Schema | None = None) -> Schema:
    """Return the schema of a list, of texts by default."""
    return {
        "type": "array",
        "items": item or {"type": "string"},
        "description": description,
        "examples": [list(example)],
    }


def record(properties: Mapping[str, Schema], *, required: Sequence[str] = (), closed: bool = True) -> Schema:
    """Return the schema of an object."""
    whole: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": not closed}
    return {**whole, "required": list(required)} if required else whole


FILTERS = {
    "project": words("Only this project; default: every project.", "arena"),
    "seat": words("Only records of this seat.", "planner"),
    "kind": words("Only records of this kind, such as decision, finding, task, plan or experience.", "decision"),
    "status": words("Only records of this status, such as open or superseded.", "open"),
    "author": words("Only records of this author.", "memory"),
    "task": words("Only records that mention this task id.", "ARENA-228"),
    "since": words("Only since this date or time (UTC).", "2026-04-27"),
    "until": words("Only until this date or time (UTC).", "2026-04-30T18:00:00Z"),
}
FILTER_NAMES = tuple(FILTERS)

RECORD = words(
    "A record: its slug, its path, a place in it (PATH:16-18), or the words of its title.",
    "projects/arena/decision/2026-04-27-retry-policy",
)
TYPES = several("Only edges of these types.", "references-task", "supersedes")
TARGET_PROJECT = words("The project; default: that of the server.", "arena")

EVIDENCE = record(
    {
        "trust": choice("How far it can be trusted.", "high", "medium", "low"),
        "source_url": words("Where it is: a path with a line, or a URL.", "src/retry.py:42"),
        "quote": words("The exact quote.", "MAX_TRIES = 5"),
    },
    required=("trust", "source_url"),
    closed=False,
)
_CLAIM = record(
    {
        "statement": words("What is claimed.", "At most five attempts are made."),
        "evidence": several(
            "Where to check it: path, lines and quote, as `ask` gives them.",
            {"path": "projects/arena/decision/a.md", "lines": [16, 18], "quote": "Five attempts."},
            item={"type": "object"},
        ),
    },
    required=("statement",),
    closed=False,
)
RESPONSE = {
    **record(
        {
            "answer": words("The answer, in words.", "Five attempts, with jitter."),
            "claims": several("What the answer claims, with evidence that is looked up on disk.", item=_CLAIM),
        },
        required=("answer",),
        closed=False,
    ),
    "description": "The response: the object that `ask` returned, or your own.",
    "examples": [{"answer": "Five attempts, with jitter.", "claims": []}],
}
