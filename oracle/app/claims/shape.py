"""Check the shape of a response before it is stored: the schema `response` is the rule.

Most responses are plain enough to be judged without loading jsonschema, which would take as long as the delivery itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from oracle.errors import UsageError
from oracle.wording import say

_GIVEN = frozenset(("answer", "claims", "confidence", "sources"))
"""The keys of a response that its writer gives. The others that the schema names are filled in by the delivery."""


def require_response(response: Mapping[str, object]) -> None:
    """Raise UsageError if a part of the response that its writer gave breaks the schema."""
    if _is_plain(response):
        return
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    from oracle.domain import tables

    given = {key: item for key, item in response.items() if key in _GIVEN}
    schema = {**tables.load_schema("response"), "required": []}
    if error := best_match(Draft202012Validator(schema).iter_errors(given)):
        raise UsageError(
            say(
                "The response's {place} is wrong: {fault}.",
                place=error.json_path.removeprefix("$."),
                fault=error.message[:200],
            ),
            hint=say("See schemas/response.schema.json."),
        )


def _is_plain(response: Mapping[str, object]) -> bool:
    """Return whether a response is valid by the look of it. False means that the schema must decide."""
    return (
        isinstance(response.get("confidence", ""), str)
        and isinstance(response.get("sources"), list | None)
        and all(map(_is_plain_claim, _listed(response.get("claims"))))
    )


def _is_plain_claim(claim: object) -> bool:
    return (
        isinstance(claim, dict)
        and _is_text(claim.get("statement"))
        and all(map(_is_plain_evidence, _listed(claim.get("evidence", []))))
    )


def _is_plain_evidence(item: object) -> bool:
    if not isinstance(item, dict) or not all(_is_text(item[key]) for key in ("path", "file") if key in item):
        return False
    if "expected_value" in item:
        return "file" in item and "path" in item and "quote" not in item
    return ("path" in item or "file" in item) and _is_text(item.get("quote")) and _is_place(item.get("lines"))


def _is_place(lines: object) -> bool:
    return lines is None or isinstance(lines, str) or (type(lines) is int and lines > 0)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _listed(value: object) -> list[object]:
    """Return a list as it is, an absent value as an empty list, and anything else as a list that is never plain."""
    return value if isinstance(value, list) else [] if value is None else [value, None]
