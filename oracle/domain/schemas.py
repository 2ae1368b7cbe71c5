"""The JSON Schemas of files that come from outside, `schemas/<name>.schema.json`, and the check against them.

Importing jsonschema takes 0.2 s, longer than a delivery. jsonschema-rs takes 19 ms and fastjsonschema 11 ms, as long as a bare
Python. This check knows the keywords that the schemas of receipts, responses and the inbox use. A test compares it with jsonschema.
"""

from __future__ import annotations

import json
import os
from functools import cache

from oracle.domain.compiling import compiled
from oracle.errors import DiskFailure
from oracle.wording import Sentence, say, say_each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Fault = tuple[str, Sentence] | None
    Check = Callable[[Any], Fault]

_TYPES: dict[str, Callable[[object], bool]] = {
    "string": lambda item: isinstance(item, str),
    "object": lambda item: isinstance(item, dict),
    "array": lambda item: isinstance(item, list),
    "null": lambda item: item is None,
    "boolean": lambda item: isinstance(item, bool),
    "number": lambda item: _is_number(item),
    "integer": lambda item: _is_number(item) and not (isinstance(item, float) and not item.is_integer()),
}
_SAMPLES: tuple[object, ...] = ("", {}, [], None, True, 0, 0.5)
_WORDS = dict(
    zip(
        _TYPES,
        say_each("a text", "an object", "a list", "null", "true or false", "a number", "a whole number"),
        strict=True,
    )
)
_FORMS = {"name": say("must be a name"), "moment": say("must be a time such as 2026-05-01T12:30:00Z")}
"""What is wrong with a value that does not fit one of these definitions."""
_OTHER = ("", say("does not have the required form"))


def _is_number(item: object) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool)


@cache
def load(name: str) -> dict[str, Any]:
    """Return the schema `schemas/<name>.schema.json`. Raises DiskFailure if the installation lacks it."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (f"{os.path.dirname(package)}/schemas", f"{package}/_data/schemas"):
        path = f"{folder}/{name}.schema.json"
        if os.path.isfile(path):
            with open(path, "rb") as stream:
                content: dict[str, Any] = json.load(stream)
            return content
    raise DiskFailure(say("The schema {name} is not installed.", name=name), hint=say("Install the package again."))


def find_fault(name: str, content: object) -> Fault:
    """Return (place, what is wrong there) for the first fault of a JSON value by the schema of this name, None if it is valid."""
    return _check_of(name)(content)


@cache
def _check_of(name: str) -> Check:
    schema = load(name)
    return _compile(schema, schema.get("$defs", {}))


def _compile(schema: dict[str, Any], definitions: dict[str, Any]) -> Check:
    """Return the check of a schema. Keywords that are not in _KEYWORDS only describe."""
    checks = [_KEYWORDS[key](wanted, definitions) for key, wanted in schema.items() if key in _KEYWORDS]
    if len(checks) == 1:
        return checks[0]

    def check(item: object) -> Fault:
        for one in checks:
            if (fault := one(item)) is not None:
                return fault
        return None

    return check


def _unless(fits: Callable[[Any, Any], bool], what: Sentence) -> Callable[[Any, object], Check]:
    """Return the maker of a check: `what` is wrong unless `fits(item, wanted)`."""
    return lambda wanted, _: lambda item: None if fits(item, wanted) else ("", what)


def _type(wanted: str | list[str], _: object) -> Check:
    types = [wanted] if isinstance(wanted, str) else wanted
    words = [_WORDS[one] for one in types if one != "null"]
    fault = ("", say("must be {type}", type=words[0]) if len(words) == 1 else _one_of(words))
    tests = [_TYPES[one] for one in types]
    quick = {type(item) for item in _SAMPLES if any(test(item) for test in tests)}
    return lambda item: None if type(item) in quick or any(test(item) for test in tests) else fault


def _one_of(choices: list[Sentence] | list[str]) -> Sentence:
    return say("must be one of these: {choices}", choices=choices)


def _enum(wanted: list[str], _: object) -> Check:
    return lambda item: None if item in wanted else ("", _one_of(wanted))


def _required(wanted: list[str], _: object) -> Check:
    def check(item: object) -> Fault:
        absent = [key for key in wanted if key not in item] if isinstance(item, dict) else ()
        return (absent[0], say("is missing")) if absent else None

    return check


def _properties(wanted: dict[str, Any], definitions: dict[str, Any]) -> Check:
    checks = {key: _compile(schema, definitions) for key, schema in wanted.items()}

    def check(item: object) -> Fault:
        for key, inner in item.items() if isinstance(item, dict) else ():
            if key in checks and (fault := checks[key](inner)) is not None:
                place = fault[0]
                return f"{key}.{place}" if place and place[0] != "[" else f"{key}{place}", fault[1]
        return None

    return check


def _items(wanted: dict[str, Any], definitions: dict[str, Any]) -> Check:
    inner = _compile(wanted, definitions)

    def check(item: object) -> Fault:
        for number, one in enumerate(item if isinstance(item, list) else ()):
            if (fault := inner(one)) is not None:
                return f"[{number}]{fault[0] and f'.{fault[0]}'}", fault[1]
        return None

    return check


def _ref(wanted: str, definitions: dict[str, Any]) -> Check:
    name = wanted.removeprefix("#/$defs/")
    inner = _compile(definitions[name], definitions)
    return (lambda item: inner(item) and ("", _FORMS[name])) if name in _FORMS else inner


def _some(wanted: list[dict[str, Any]], definitions: dict[str, Any], most: int) -> Check:
    """Return the check that one to `most` schemas fit. The fault is the one deepest inside the value."""
    checks = [_compile(one, definitions) for one in wanted]

    def check(item: object) -> Fault:
        found = [one(item) for one in checks]
        if 1 <= found.count(None) <= most:
            return None
        return max(filter(None, found), key=lambda fault: len(fault[0]), default=_OTHER)

    return check


_KEYWORDS: dict[str, Callable[[Any, dict[str, Any]], Check]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda wanted, _: _enum([wanted], _),
    "required": _required,
    "properties": _properties,
    "items": _items,
    "$ref": _ref,
    "pattern": _unless(
        lambda item, wanted: not isinstance(item, str) or bool(compiled(wanted).search(item)), _OTHER[1]
    ),
    "minLength": _unless(lambda item, least: not isinstance(item, str) or len(item) >= least, say("is too short")),
    "maxLength": _unless(lambda item, most: not isinstance(item, str) or len(item) <= most, say("is too long")),
    "minItems": _unless(lambda item, least: not isinstance(item, list) or len(item) >= least, say("has too few items")),
    "maxItems": _unless(lambda item, most: not isinstance(item, list) or len(item) <= most, say("has too many items")),
    "minimum": _unless(lambda item, least: not _is_number(item) or item >= least, say("is too small")),
    "maximum": _unless(lambda item, most: not _is_number(item) or item <= most, say("is too large")),
    "anyOf": lambda wanted, definitions: _some(wanted, definitions, len(wanted)),
    "oneOf": lambda wanted, definitions: _some(wanted, definitions, 1),
    "not": lambda wanted, definitions: lambda item: None if _compile(wanted, definitions)(item) else _OTHER,
}
