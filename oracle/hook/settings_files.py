"""Read the settings file of a client, and print it in its own layout."""

from __future__ import annotations

from collections.abc import Mapping

from oracle.errors import UsageError
from oracle.hook.json_text import RepeatedKey, parse_json, render_json
from oracle.store.disk import steps
from oracle.wording import Sentence, say


class InvalidSettings(UsageError):
    """The settings file is not a JSON object, so that its content could not be kept."""

    code = "invalid_settings"


def read(path: str) -> tuple[str | None, dict[str, object]]:
    """Return the text and the content of a settings file, (None, {}) without one. Raises InvalidSettings."""
    raw = steps.read(path)
    if raw is None:
        return None, {}
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise _invalid(path, error) from error
    return text, parse(path, text)


def parse(path: str, text: str) -> dict[str, object]:
    """Return the content of settings. Raises InvalidSettings."""
    try:
        content = parse_json(text) if text.strip("\ufeff \t\r\n") else {}
    except RepeatedKey as error:
        raise InvalidSettings(
            say(
                "{path} has the key {key!r} twice in one object, on line {first} and on line {second}; it was not changed.",
                path=path,
                key=error.key,
                first=error.lines[0],
                second=error.lines[1],
            ),
            hint=say("Keep one of the two, then try again."),
        ) from error
    except (ValueError, RecursionError) as error:
        raise _invalid(path, error) from error
    if not isinstance(content, dict):
        raise misshapen(path, say("is not a JSON object"))
    return content


def _invalid(path: str, error: Exception) -> InvalidSettings:
    return InvalidSettings(
        say("{path} is not valid JSON ({error}); it was not changed.", path=path, error=error),
        hint=say("Remove comments and trailing commas, then try again."),
    )


def misshapen(path: str, what: Sentence) -> InvalidSettings:
    """Return the error for settings that have another form than the host's."""
    return InvalidSettings(
        say("{path} {what}; it was not changed.", path=path, what=what),
        hint=say("Correct it as the host's documentation says."),
    )


def table(content: Mapping[str, object], key: str, path: str) -> dict[str, object]:
    """Return the object at a key, {} without one. Raises InvalidSettings."""
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise misshapen(path, say("has no object at {key}", key=key))
    return value


def list_at(content: Mapping[str, object], key: str, path: str) -> list[object]:
    """Return the list at a key of the hooks, [] without one. Raises InvalidSettings."""
    value = content.get(key, [])
    if not isinstance(value, list):
        raise misshapen(path, say("has no list at hooks.{key}", key=key))
    return value


def render(content: Mapping[str, object], before: str | None, path: str) -> str:
    """Return settings as text, in the layout of `before`. Raises InvalidSettings."""
    try:
        return render_json(content, before or "")
    except ValueError as error:
        raise misshapen(path, say("has content that can't be rewritten unchanged")) from error
