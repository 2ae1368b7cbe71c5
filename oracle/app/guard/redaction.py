"""Check values before they are written or handed over: refuse or replace what must not be in them.

A finding names a field and a rule, never the value. A writer may `allow` secrets, but not what the owner of a Root blocks.
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
"""What happens to a value that looks like a secret."""


def require_policy(policy: str) -> None:
    """Raise UsageError for an unknown policy."""
    if policy not in POLICIES:
        raise UsageError(
            say("Unknown policy {secrets!r}.", secrets=policy),
            hint=say("Choose one of {choices}.", choices=POLICIES),
        )


def look_through(
    context: Context, fields: Mapping[str, Any], policy: str
) -> tuple[dict[str, Any], tuple[Sentence, ...]]:
    """Return fields with what must not be kept replaced, and sentences about it. Raises RulesUnusable."""
    guard = privacy.guard(context, secrets=policy != ALLOW)
    if not guard.finds_in(texts([item for item in fields.values() if item])):
        return dict(fields), ()  # nearly always; fields are checked one by one only to name them
    found: list[Sentence] = []
    values = {name: _clean(guard, item, name, found) for name, item in fields.items()}
    return values, tuple(dict.fromkeys(found))


def guard_handoff(
    context: Context, fields: Mapping[str, Any], policy: str
) -> tuple[dict[str, Any], tuple[Sentence, ...]]:
    """Return the fields of a handoff as they may be, and what was replaced. Raises SecretFound, PrivacyBlocked, UsageError."""
    require_policy(policy)
    values, found = look_through(context, fields, policy)
    if not found or policy == REDACT:
        return values, found
    named = joined("; ", found)
    hint = say(
        "Remove it, or hand it over with --secrets redact (it is replaced) or --secrets allow (it is not a secret)."
    )
    if any(item.startswith(privacy.RULES) for item in found):
        raise PrivacyBlocked(
            say("The handoff contains something that must not leave: {what}. Nothing was written.", what=named),
            hint=hint,
        )
    if policy == ALLOW:
        return dict(fields), ()
    raise SecretFound(
        say("The handoff contains what looks like a secret: {what}. Nothing was written.", what=named), hint=hint
    )


def texts(value: object) -> Iterator[str]:
    """Yield every text in a value of any shape, and each pair of a map as `key: value`."""
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
    """Return a value of any shape with what the guard finds in its texts replaced. Add sentences about it to `found`."""
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
    """Return a cleaned value of a map. Behind its key a word may be a secret that it is not alone (`api_key: …`)."""
    cleaned = _clean(guard, item, f"{name}.{key}", found)
    if isinstance(cleaned, str):
        beside, rules = guard.clean(f"{key}: {cleaned}")
        if rules and beside.startswith(f"{key}: "):
            found += [say("{rule} in {place}", rule=rule, place=f"{name}.{key}") for rule in rules]
            return beside.removeprefix(f"{key}: ")
    return cleaned


def _parts(evidence: Evidence) -> list[tuple[str, object]]:
    return [("source_url", evidence.source), ("quote", evidence.quote), ("extra", dict(evidence.extra))]
