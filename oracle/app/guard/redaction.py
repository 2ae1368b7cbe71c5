"""Look through what is about to be kept or handed over, whatever its shape, for what must not be: refuse or replace it. App room.

Findings name field and rule, never the value. `allow` is for secrets: what the owner of a Root blocks is no matter of a writer's.
"""

from __future__ import annotations

from collections.abc import Mapping

from oracle.app.guard import privacy
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.values import fields_of
from oracle.errors import PrivacyBlocked, SecretFound, UsageError
from oracle.wording import joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from oracle.app.context import Context
    from oracle.domain.safety.privacy import Guard
    from oracle.wording import Sentence

POLICIES = (REFUSE, REDACT, ALLOW) = ("refuse", "redact", "allow")
"""What becomes of what looks like a secret."""


def require_policy(policy: str) -> None:
    """Raise UsageError for a policy that is none."""
    if policy not in POLICIES:
        raise UsageError(
            say("The policy {secrets!r} is unknown.", secrets=policy),
            hint=say("Choose one of {choices}.", choices=POLICIES),
        )


def look_through(
    context: Context, fields: Mapping[str, Any], policy: str
) -> tuple[dict[str, Any], tuple[Sentence, ...]]:
    """Return fields with all that must not be kept replaced, and what was found where, () for nothing. Raises RulesUnusable."""
    guard = privacy.guard(context, secrets=policy != ALLOW)
    if not guard.finds_in(texts([item for item in fields.values() if item])):
        return dict(fields), ()  # nearly always: each field is looked at alone only to name it
    found: list[Sentence] = []
    values = {name: _clean(guard, item, name, found) for name, item in fields.items()}
    return values, tuple(dict.fromkeys(found))


def guard_handoff(
    context: Context, fields: Mapping[str, Any], policy: str
) -> tuple[dict[str, Any], tuple[Sentence, ...]]:
    """Return what is handed to another seat as it may be, and what was replaced. Raises SecretFound, PrivacyBlocked, UsageError."""
    require_policy(policy)
    values, found = look_through(context, fields, policy)
    if not found or policy == REDACT:
        return values, found
    named = joined("; ", found)
    hint = say(
        "Take it out, or hand it over with --secrets redact (it is replaced) or --secrets allow (it is no secret)."
    )
    if any(item.startswith(privacy.RULES) for item in found):
        raise PrivacyBlocked(
            say("What is handed over holds what must not leave: {what}. Nothing was written.", what=named), hint=hint
        )
    if policy == ALLOW:
        return dict(fields), ()
    raise SecretFound(
        say("What is handed over holds what looks like a secret: {what}. Nothing was written.", what=named), hint=hint
    )


def texts(value: object) -> Iterator[str]:
    """Yield every text in a value of whatever shape, and what a map says as `key: value`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (f"{key}: {item}" if isinstance(item, str) else str(key), *texts(item))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, Draft | Evidence):
        for name in fields_of(value):
            yield from texts(getattr(value, name))


def _clean(guard: Guard, value: Any, name: str, found: list[Sentence]) -> Any:  # noqa: ANN401
    """Return `value` with all that the guard finds in its texts replaced, whatever its shape; `found` names it."""
    if isinstance(value, str):
        text, rules = guard.clean(value)
        found += [say("{rule} in {place}", rule=rule, place=name) for rule in rules]
        return text
    if isinstance(value, Evidence):
        return Evidence(value.trust, *(_clean(guard, part, f"{name}.{key}", found) for key, part in _parts(value)))
    if isinstance(value, Mapping):
        return {
            _clean(guard, key, say("{name} (a key)", name=name), found): _clean_item(guard, key, item, name, found)
            for key, item in value.items()
        }
    if isinstance(value, tuple | list):
        return type(value)(_clean(guard, item, name, found) for item in value)
    return value


def _clean_item(guard: Guard, key: str, item: Any, name: str, found: list[Sentence]) -> Any:  # noqa: ANN401
    """Return a value of a map cleaned: beside its key a word may be a secret that it is not alone (`api_key: …`)."""
    cleaned = _clean(guard, item, f"{name}.{key}", found)
    if isinstance(cleaned, str):
        beside, rules = guard.clean(f"{key}: {cleaned}")
        if rules and beside.startswith(f"{key}: "):
            found += [say("{rule} in {place}", rule=rule, place=f"{name}.{key}") for rule in rules]
            return beside.removeprefix(f"{key}: ")
    return cleaned


def _parts(evidence: Evidence) -> list[tuple[str, object]]:
    return [("source_url", evidence.source), ("quote", evidence.quote), ("extra", dict(evidence.extra))]
