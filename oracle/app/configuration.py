"""Read, change and trust the owner's `config.toml`.

A Root may come from elsewhere, with a `config.toml` that names a program. The program runs only after the owner trusted this
very content: its SHA-256 is kept outside of the Root.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import os

from oracle.domain.spelling import suggest
from oracle.domain.values import value
from oracle.errors import OwnershipError, UsageError
from oracle.store.disk import files, rewriting, steps
from oracle.store.root.configuration import LANGUAGES, SETTINGS, read_settings
from oracle.store.root.features import (
    INJECTION,
    ExperienceSettings,
    find_faults,
    fits_default,
    is_experience_value,
    is_text_list,
)
from oracle.wording import joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tomlkit import TOMLDocument

    from oracle.app.context import Context
    from oracle.wording import Sentence


@value
class Setting:
    """A key of `config.toml`, its meaning, its default, and the value that it has now."""

    key: str
    meaning: Sentence
    default: object
    content: object

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        is_set = self.content is not None
        return {
            "key": self.key,
            "value": self.content if is_set else self.default,
            "is_set": is_set,
            "default": self.default,
            "meaning": self.meaning,
        }


_SKILLS = {
    "extra": say("further folders with skills"),
    "allow_bundled": say("bundled skills that agents may see; empty is all"),
    "disabled": say("skills that are switched off"),
    "remote": say("systems that agents reach, each with its programs"),
}
"""The settings of `[skills]`, each a list of texts."""

_INJECTION: Mapping[str, Sentence] = {
    "enabled": say("whether hooks add context to prompts"),
    "brief": say("whether a session begins with its seat's brief"),
    "memories": say("whether prompts get long-term memories"),
    "memory_chars": say("characters of the long-term memories of a prompt"),
    "experience_chars": say("characters of the experiences of a prompt"),
    "limit": say("how many memories a prompt gets"),
    "threshold": say("how relevant a memory must be, from 0 to 1"),
    "citations": say("whether memories are given with path and lines"),
    "bypass_session_patterns": say("the sessions or folders that get no context"),
}

_SETTINGS: tuple[tuple[str, object, Sentence, Callable[[object], bool], Sentence], ...] = (
    (
        "language",
        "en",
        say("the language of messages"),
        lambda item: item in LANGUAGES,
        say("Choose one of {choices}.", choices=LANGUAGES),
    ),
    (
        "synthesizer",
        [],
        say("the program that puts an answer into prose"),
        lambda item: isinstance(item, list) and bool(item) and all(isinstance(one, str) and one for one in item),
        say('Write the command as a JSON list, as in ["claude", "-p"].'),
    ),
    (
        "judge",
        [],
        say("the program that judges whether candidates answer a question"),
        lambda item: isinstance(item, list) and bool(item) and all(isinstance(one, str) and one for one in item),
        say('Write the command as a JSON list, as in ["claude", "-p"].'),
    ),
    (
        "daemon.hold",
        False,
        say("whether unanswered questions stay open"),
        lambda item: isinstance(item, bool),
        say("Write true or false."),
    ),
    (
        "daemon.seat_bound",
        300.0,
        say("seconds to wait for a seat"),
        lambda item: isinstance(item, int | float) and not isinstance(item, bool) and 1 <= item <= 31 * 86_400,
        say("Write seconds, from 1 to a month."),
    ),
    (
        "daemon.seat_lease",
        1800.0,
        say("seconds that a seat may work on a question"),
        lambda item: isinstance(item, int | float) and not isinstance(item, bool) and 1 <= item <= 31 * 86_400,
        say("Write seconds, from 1 to a month."),
    ),
    (
        "daemon.consolidate_every",
        0.0,
        say("seconds from one plan of what to remember to the next; 0 is never"),
        lambda item: isinstance(item, int | float) and not isinstance(item, bool) and 1 <= item <= 31 * 86_400,
        say("Write seconds, from 1 to a month."),
    ),
    (
        "push.enabled",
        False,
        say("whether messages go out by Feishu"),
        lambda item: isinstance(item, bool),
        say("Write true or false."),
    ),
    (
        "experience.enabled",
        False,
        say("whether prompts recall experiences"),
        lambda item: is_experience_value("enabled", item),
        say("Write true or false."),
    ),
    (
        "experience.limit",
        ExperienceSettings().limit,
        say("experiences recalled at most"),
        lambda item: is_experience_value("limit", item),
        say("Write a whole number from 1 to 20."),
    ),
    (
        "experience.threshold",
        ExperienceSettings().threshold,
        say("the score from which an experience is recalled"),
        lambda item: is_experience_value("threshold", item),
        say("Write a number from 0 to 1."),
    ),
    *(
        (
            f"injection.{key}",
            INJECTION[key],
            meaning,
            lambda item, default=INJECTION[key]: fits_default(item, default),
            say("Write a value like the default: {default}.", default=json.dumps(INJECTION[key])),
        )
        for key, meaning in _INJECTION.items()
    ),
    *(
        (f"skills.{key}", [], meaning, is_text_list, say('Write a JSON list of texts, as in ["one", "two"].'))
        for key, meaning in _SKILLS.items()
    ),
)

KEYS = tuple(key for key, *_ in _SETTINGS)
"""The settings, in the order of a listing."""


def list_settings(context: Context) -> list[Setting]:
    """Return every setting, and warn of each that is unknown or can't be used. Raises UsageError for a file that can't be read."""
    stated = read_settings(context.root)
    for fault in find_faults(context.root):
        context.warn(say("{what} {hint}", what=fault.sentence, hint=fault.hint))
    return [Setting(key, meaning, default, _find(stated, key)) for key, default, meaning, *_ in _SETTINGS]


def find_setting(context: Context, key: str) -> Setting:
    """Return one setting. Raises UsageError for an unknown key or a file that can't be read."""
    found = [one for one in list_settings(context) if one.key == key]
    if not found:
        raise _unknown(key)
    return found[0]


def set_value(context: Context, key: str, text: str) -> Setting:
    """Change one key to JSON or a plain word, and keep the rest of the file. Raises UsageError, DiskFailure."""
    context.root.require()
    rule = next((row for row in _SETTINGS if row[0] == key), None)
    if rule is None:
        raise _unknown(key)
    content = _parse(text)
    if not rule[3](content):
        hint = suggest(text, LANGUAGES) if key == "language" else rule[4]
        raise UsageError(say("{text!r} is not a value of {key}.", text=text[:100], key=key), hint=hint)
    read_settings(context.root)
    path = context.root.join(SETTINGS)

    def alter(raw: bytes | None) -> bytes:
        raw = raw or b""
        document = _read_document(raw)
        table, _, name = key.rpartition(".")
        target = document.setdefault(table, {}) if table else document
        target[name] = content
        mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
        return mark + document.as_string().encode()

    with steps.FileLock(path):
        if rewriting.change(path, alter):
            files.make_private(path)
    return find_setting(context, key)


def trust(context: Context) -> str:
    """Trust the present content of `config.toml`; return its SHA-256. Raises UsageError, OwnershipError, DiskFailure."""
    digest = _digest(context)
    if not digest:
        raise UsageError(say("There is no {settings}.", settings=SETTINGS), hint=say("Set something first."))
    path = context.root.trusted
    files.make_folder(os.path.dirname(path))
    with steps.FileLock(path):
        known = {**_trusted(context), os.path.realpath(context.root.path): digest}
        steps.replace(path, json.dumps(known, ensure_ascii=False, indent=2).encode())
    return digest


def is_trusted(context: Context) -> bool:
    """Return whether the owner trusted the present content of `config.toml`. A list that others may write is left unread."""
    digest = _digest(context)
    if not digest:
        return False
    try:
        return _trusted(context).get(os.path.realpath(context.root.path)) == digest
    except OwnershipError as error:
        context.warn(joined(" ", (error.sentence, error.hint)))
        return False


def _trusted(context: Context) -> Mapping[str, object]:
    """Return the SHA-256 of each trusted Root. Raises OwnershipError for a list that others may write."""
    path = files.require_own_list(context.root.trusted)
    try:
        found = json.loads(steps.read(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(context: Context) -> str:
    raw = steps.read(context.root.join(SETTINGS))
    return hashlib.sha256(raw).hexdigest() if raw else ""


def _read_document(raw: bytes) -> TOMLDocument:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(raw.decode("utf-8-sig"))
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise UsageError(
            say("{settings} can't be read: {error}.", settings=SETTINGS, error=error), hint=say("Correct the file.")
        ) from error


def _find(stated: Mapping[str, object], key: str) -> object:
    table, _, name = key.rpartition(".")
    inner = stated.get(table, {}) if table else stated
    return inner.get(name) if isinstance(inner, dict) else None


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _unknown(key: str) -> UsageError:
    return UsageError(say("Unknown setting {key!r}.", key=key[:100]), hint=suggest(key, KEYS))
