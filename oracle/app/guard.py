"""Check what is written or leaves: records, handoffs, wake-ups, questions to the outside.

Credentials and what the owner of a Root blocks stop a record, a handoff or a wake-up, or are replaced. Personal data only adds a
warning to a record, because a wake-up must be able to name a path, and a record its author. It stops a text that leaves the
machine. A finding names a place and a rule, never the value.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from oracle.domain.compiling import compiled
from oracle.domain.injection import envelope
from oracle.domain.markdown.documents import replace_surrogates
from oracle.domain.records.drafts import Draft, Evidence, refuse_merge
from oracle.domain.safety.privacy import Guard, PrivacyFinding, find_personal
from oracle.domain.safety.together import clean_together
from oracle.domain.spelling import suggest
from oracle.domain.values import contents_of, fields_of, replace
from oracle.errors import InvalidRecord, NotFound, PrivacyBlocked, SecretFound, UsageError
from oracle.process import read_input
from oracle.store.root import privacy
from oracle.wording import Sentence, joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar

    from oracle.app.context import Context
    from oracle.domain.safety.privacy import OwnerRule
    from oracle.store.root.layout import Root

    Handed = TypeVar("Handed")

POLICIES = (REFUSE, REDACT, ALLOW) = ("refuse", "redact", "allow")
"""What happens to a value that looks like a secret. `allow` is for secrets alone, not for what the owner of a Root blocks."""

FIXED = ""
"""The policy of a command without --secrets: it refuses, and its hint names no option."""

_HUNK = r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@"


def open_guard(context: Context, *, secrets: bool = True, personal: bool = False) -> Guard:
    """Return the guard of a Root. Raises RulesUnusable."""
    return Guard(_owner_rules(context.root), secrets=secrets, personal=personal)


def _owner_rules(root: Root) -> tuple[OwnerRule, ...]:
    """Return the rules of the owner of a Root. Most have none."""
    try:
        os.lstat(f"{root.machine}/{privacy.NAME}")
    except FileNotFoundError:
        if not os.path.islink(root.machine):
            return ()
    except OSError:
        return privacy.load(root)  # it says why the file can't be read
    return privacy.load(root)


# Fields of a record or a handoff --------------------------------------------------------------------------------------


def clean(
    context: Context, fields: Mapping[str, Any], policy: str, *, what: Sentence
) -> tuple[dict[str, Any], tuple[Sentence, ...]]:
    """Return the fields to write, and what was replaced. Raises SecretFound, PrivacyBlocked, RulesUnusable, UsageError.

    Context that a hook added to a prompt is left out of every text, so that memory is not written back into memory.
    """
    if policy not in (*POLICIES, FIXED):
        raise UsageError(
            say("Unknown policy {secrets!r}.", secrets=policy),
            hint=suggest(policy, POLICIES),
        )
    if any(envelope.TAG in text.lower() for text in texts(dict(fields))):
        fields = {name: mapped(item, _strip) for name, item in fields.items()}
    rules = open_guard(context, secrets=policy != ALLOW)
    found: list[Sentence] = []
    values = dict(fields)
    if rules.finds_in(texts([item for item in fields.values() if item])):  # rarely; then each is checked to name it
        values = {name: _clean(rules, item, name, found) for name, item in fields.items()}
    if policy != ALLOW:
        values, parts = clean_together(values)
        found += [say("{rule} in {place}", rule=part.kind, place=part.place) for part in parts]
    if found and policy != REDACT:
        raise _refusal(what, tuple(dict.fromkeys(found)), has_option=policy != FIXED)
    return values, tuple(dict.fromkeys(found))


def clean_handoff(context: Context, given: Handed, policy: str) -> tuple[Handed, tuple[Sentence, ...]]:
    """Return an order, an answer or a completion ready to be written, and what was replaced. Raises what `clean` raises.

    Half a surrogate pair becomes U+FFFD: no file can hold it, and an answer must not be lost for it.
    """
    fields = contents_of(given)
    answer = fields.get("response")
    for name, item in {**fields, **(answer if isinstance(answer, Mapping) else {})}.items():
        if isinstance(item, str) and "<<<<<<<" in item:
            refuse_merge(item, name)
    if not all(text.isascii() for text in texts(fields)):
        fields = {name: mapped(item, replace_surrogates) for name, item in fields.items()}
    cleaned, found = clean(context, fields, policy, what=say("The handoff"))
    return replace(given, **cleaned), found


def without_context(text: str) -> str:
    """Return a text without the context that a hook added. Raises InvalidRecord if nothing is left."""
    kept = envelope.strip(text) if "<" in text else text
    if text.strip() and not kept.strip():
        raise InvalidRecord(
            say("Nothing is left of the text without <{tag}>, which a hook added.", tag=envelope.TAG),
            hint=say("Say it in words of your own."),
        )
    return kept


def _strip(text: str) -> str:
    return envelope.strip(text) if "<" in text else text


def mapped(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401
    """Return a value of any shape with each text changed, the value itself if it holds none."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Evidence):
        return Evidence(value.trust, *(mapped(part, change) for _, part in _parts(value)))
    if isinstance(value, Mapping):
        return {mapped(key, change): mapped(item, change) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(mapped(item, change) for item in value)
    return value


def require_unchanged(context: Context, found: Mapping[str, Any], fields: Mapping[str, object]) -> None:
    """Raise SecretFound or PrivacyBlocked for what an intent keeps in `fields`: only `secrets: allow` allows a secret there."""
    clean(context, found, ALLOW if fields.get("secrets") == ALLOW else FIXED, what=say("The handoff"))


def _refusal(what: Sentence, found: tuple[Sentence, ...], *, has_option: bool) -> PrivacyBlocked | SecretFound:
    from oracle.domain.safety.telling import is_owners, tell_found

    named = joined("; ", map(tell_found, found))
    if any(map(is_owners, found)):
        return PrivacyBlocked(
            say(
                "{what} contains something that must not be written: {named}. Nothing was written.",
                what=what,
                named=named,
            ),
            hint=say("Remove it, or use --secrets redact (it is replaced). The rules are in machine/privacy.md.")
            if has_option
            else say("Remove it. The rules are in machine/privacy.md."),
        )
    return SecretFound(
        say("{what} contains what looks like a secret: {named}. Nothing was written.", what=what, named=named),
        hint=say("Remove it, or use --secrets redact (it is replaced) or --secrets allow (it is not a secret).")
        if has_option
        else say("Remove it, or say it in other words."),
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


# Texts ----------------------------------------------------------------------------------------------------------------


def require_clean(context: Context, texts: Mapping[str, str], *, what: str) -> None:
    """Raise PrivacyBlocked if a text to be sent holds a credential or is blocked. Raises RulesUnusable."""
    rules = open_guard(context)
    found = [finding for place, text in texts.items() for finding in rules.look(text, place)]
    if found:
        named = joined(
            "; ", dict.fromkeys(say("{rule} in {place}", rule=item.rule, place=item.place) for item in found)
        )
        raise PrivacyBlocked(
            say("{what} contains something that must not leave: {named}.", what=what, named=named),
            hint=say("Remove it. `oracle team privacy` checks again."),
        )


def warnings(texts: Mapping[str, str]) -> list[Sentence]:
    """Return a sentence for each sort of personal data in texts, by the name of their place."""
    if not any(True for _ in find_personal("\n".join(texts.values()))):
        return []
    from oracle.domain.safety.telling import tell_personal

    found = [item for place, text in texts.items() for item in Guard(secrets=False).look(text, place)]
    return list(dict.fromkeys(map(tell_personal, found)))[:10]


def check_text(context: Context, text: str, place: str = "text") -> tuple[PrivacyFinding, ...]:
    """Return findings of what must not leave this machine. Raises RulesUnusable."""
    return open_guard(context, personal=True).look(text, place)


def check_file(context: Context, path: str) -> tuple[PrivacyFinding, ...]:
    """Return the findings of a file. Raises NotFound, and UsageError for a binary file."""
    if not os.path.exists(path):
        raise NotFound(say("{path} does not exist.", path=path), hint=say("Give the path of a file."))
    raw = read_input(path, "--file")
    if b"\0" in raw:
        raise UsageError(
            say("{path} can't be read: {reason}.", path=path, reason=say("it is not text")),
            hint=say("Give the path of a text file."),
        )
    return check_text(context, raw.decode("utf-8", "replace"), path)


def check_staged(context: Context, repository: str) -> tuple[PrivacyFinding, ...]:
    """Return the findings of the added lines and the paths of the next commit. Raises UsageError outside a repository."""
    from oracle.app.git import ask_git

    words = ("-c", "core.quotepath=off", "diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv")
    code, diff = ask_git(repository, *words, "--unified=0")
    _, names = ask_git(repository, *words, "--name-only", "--diff-filter=d", "-z")
    if code:
        raise UsageError(
            say("{repository} is not a Git repository, or Git failed.", repository=repository),
            hint=say("Run the command inside the repository."),
        )
    rules = open_guard(context, personal=True)
    found = [item for name in names.split("\0") for item in rules.look(name, say("(a path)"))]
    for path, first, lines in _added(diff):
        found += [
            PrivacyFinding(item.rule, item.sort, path, item.line + first - 1, item.column)
            for item in rules.look("\n".join(lines), path)
        ]
    return tuple(found)


def _added(diff: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield (path, first line, lines) of each piece that a diff adds. It counts lines: one may look like a header."""
    path, removed, added, first = "", 0, 0, 0
    lines: list[str] = []
    for line in diff.split("\n"):
        if removed and line.startswith("-"):
            removed -= 1
        elif added and line.startswith("+"):
            added -= 1
            lines.append(line[1:])
            if not added:
                yield path, first, lines
        elif line.startswith("+++ "):
            path = line[4:].rstrip("\t").strip('"').removeprefix("b/")
        elif hunk := compiled(_HUNK).match(line):
            removed, first, added = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            lines = []
