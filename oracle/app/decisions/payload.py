"""Check the payload of a decision: its schema, the rules beyond the schema, and secrets."""

from __future__ import annotations

import json

from oracle.domain import timestamps
from oracle.domain.records import decisions as rules
from oracle.domain.records.decisions import DecisionPayload
from oracle.errors import InvalidRecord, SecretFound
from oracle.wording import Sentence, joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonschema import ValidationError

_LONGEST = 160
"""Characters of a value that are quoted."""


def validate(raw: bytes) -> DecisionPayload:
    """Return the payload that a file holds. Raises InvalidRecord with every fault, SecretFound for one that holds a secret."""
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidRecord(
            say("The payload is not valid JSON: {error}.", error=error), hint=say("Correct the file.")
        ) from None
    faults: Sequence[str] = _schema_faults(content)
    payload = DecisionPayload(content if isinstance(content, dict) else {})
    faults = faults or rules.find_faults(payload)
    if faults:
        raise InvalidRecord(
            say("The payload is not valid: {faults}. Nothing was sent.", faults=joined("; ", faults)),
            hint=say("See schemas/decision-payload.schema.json."),
        )
    _refuse_secrets(payload)
    return payload


def _schema_faults(content: object) -> list[Sentence]:
    """Return what a payload breaks of its schema, formats included, in the order of its fields."""
    from jsonschema import Draft202012Validator, FormatChecker

    from oracle.domain import schemas

    checker = FormatChecker(formats=("uuid",))
    checker.checks("date-time")(_is_moment)
    checked = Draft202012Validator(schemas.load("decision-payload"), format_checker=checker)
    errors = sorted(checked.iter_errors(content), key=lambda error: list(map(str, error.absolute_path)))
    return [say("{place}: {fault}", place=error.json_path.removeprefix("$."), fault=_fault(error)) for error in errors]


def _fault(error: ValidationError) -> str:
    """Say what is wrong as the schema checker does."""
    value, bound = repr(error.instance)[:_LONGEST], error.validator_value
    match error.validator:
        case "required":
            return say("{name} is a required property", name=error.message.removesuffix(" is a required property"))
        case "type":
            types = bound if isinstance(bound, list) else [bound]
            return say("{value} is not of type {types}", value=value, types=map(repr, types))
        case "format":
            return say("{value} is not a {format}", value=value, format=repr(bound))
        case "enum":
            return say("{value} is not one of {choices}", value=value, choices=repr(bound))
        case "minLength" | "minItems":
            return say("{value} is too short", value=value)
        case "maxLength" | "maxItems":
            return say("{value} is too long", value=value)
        case "pattern":
            return say("{value} does not match {pattern}", value=value, pattern=repr(bound))
        case "minimum":
            return say("{value} is less than the minimum of {least}", value=value, least=bound)
        case "maximum":
            return say("{value} is greater than the maximum of {most}", value=value, most=bound)
    return error.message[:_LONGEST]


def _is_moment(found: object) -> bool:
    """Return whether a text is a date with a time and an offset (RFC 3339). Another rule refuses other types."""
    if not isinstance(found, str):
        return True
    has_time = len(found) > len("2026-01-01T00:00:00") and found[10] in "Tt " and found[-1] != "\n"
    has_offset = found[-1:] in ("Z", "z") or (found[-6:-5] in ("+", "-") and found[-3:-2] == ":")
    return has_time and has_offset and timestamps.parse(found) is not None


def _refuse_secrets(payload: DecisionPayload) -> None:
    from oracle.domain.safety import secrets

    found = secrets.find_secrets(json.dumps(payload.fields, ensure_ascii=False))
    if found:
        kinds = ", ".join(dict.fromkeys(one.kind for one in found))
        raise SecretFound(
            say("The payload holds what looks like a secret ({kinds}). Nothing was sent.", kinds=kinds),
            hint=say("Take it out."),
        )
