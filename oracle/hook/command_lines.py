"""The command line of a hook: find our command in it, and what else it runs.

A hook of this program is recognised by the script that it runs, with any interpreter.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping

OWN_PATHS = ("/scripts/hooks/stop_hook.py", "/_data/hooks/stop_hook.py")
OWN_NAME = "memory-stop-hook.sh"
"""Endings of the paths of the hook scripts, and a name that earlier installers wrote with unquoted blanks."""

STRICT = "--strict"
"""The argument of a hook that makes the agent go on after a delivery was skipped."""

_CONTROL = ("&&", "||", ";", "|", "&", "\n")
"""What divides the commands of a command line."""


def script_of(command: str) -> str:
    """Return the script that our command line runs."""
    return [word for word in shlex.split(command) if word != STRICT][-1]


def around_own(entry: Mapping[str, object], *, with_arguments: bool = False) -> tuple[str, str]:
    """Return the text before and behind our command in the command line of a hook.

    What a person wrote behind the script, such as `2>&1`, belongs to it only `with_arguments`.
    """
    text = entry.get("command")
    if not isinstance(text, str) or entry.get("args"):
        return "", ""
    at = 0
    for part, control in _commands(text):
        if is_own({"command": part}):
            blank = len(part) - len(part.lstrip())
            end = len(part.rstrip()) if with_arguments else _end_of_script(part)
            return text[: at + blank], text[at + end :]
        at += len(part) + len(control)
    return "", ""


def _end_of_script(part: str) -> int:
    """Return where the script and its own argument end in our command."""
    ends = [at for at, char in enumerate(part) if char.isspace()]
    end = next((at for at in ends if is_own({"command": part[:at]})), len(part))
    return end + len(STRICT) + 1 if part[end + 1 :].split(" ")[0] == STRICT else end


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a command line, each with what divides it from the next."""
    start = at = 0
    quote = ""
    while at < len(text):
        control = next((one for one in _CONTROL if text.startswith(one, at)), "")
        if control == "&" and ">" in (text[at - 1 : at], text[at + 1 : at + 2]):  # `2>&1`, `&>log`
            control = ""
        if text[at] == "\\" and quote != "'":
            at += 1
        elif quote or text[at] in "'\"":
            quote = "" if quote == text[at] else quote or text[at]
        elif control:
            yield text[start:at], control
            at = start = at + len(control)
            continue
        at += 1
    yield text[start:], ""


def without_own_command(entry: Mapping[str, object]) -> dict[str, object] | None:
    """Return a hook without our command, None when nothing else is in it."""
    before, after = around_own(entry, with_arguments=True)
    after, ahead = after.lstrip(" \t"), before.rstrip(" \t")
    behind = next((after[len(one) :] for one in _CONTROL if after.startswith(one)), "").strip()
    ahead = next((ahead[: -len(one)] for one in _CONTROL if ahead.endswith(one)), "").strip()
    command = f"{before}{behind}" if behind else ahead
    return {**entry, "command": command} if command.strip() else None


def is_own(entry: object, script: str = "") -> bool:
    """Return whether a hook runs a script of this program, or the one named, with any interpreter."""
    if not isinstance(entry, dict):
        return False
    words = list(words_of(entry))
    named = any(os.path.basename(word) == OWN_NAME or (script and word == script) for word in words)
    return named or ("-I" in words and any(word.endswith(OWN_PATHS) for word in words))


def words_of(entry: Mapping[str, object]) -> Iterable[str]:
    """Return the words of a hook's command line and of its arguments."""
    command, args = entry.get("command"), entry.get("args")
    words: list[str] = []
    for text, _ in _commands(command if isinstance(command, str) else ""):
        try:
            words += shlex.split(text)
        except ValueError:
            words += text.split()
    return [*words, *(word for word in args if isinstance(word, str))] if isinstance(args, list) else words
