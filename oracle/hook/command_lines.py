"""The command line of a hook: find our command in it, and what else it runs.

A hook of this program is recognised by the script that it runs, with any interpreter.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

STOP_SCRIPT, PROMPT_SCRIPT = "/stop_hook.py", "/prompt_hook.py"
OWN_PATHS = tuple(
    f"{folder}{name}" for folder in ("/scripts/hooks", "/_data/hooks") for name in (STOP_SCRIPT, PROMPT_SCRIPT)
)
OWN_NAME = "memory-stop-hook.sh"
"""Endings of the paths of the hook scripts, and a name that earlier installers wrote with unquoted blanks."""

STRICT = "--strict"
"""The argument of a hook that makes the agent go on after a delivery was skipped."""

_SEPARATORS = ("&&", "||", ";", "|", "&", "\n")
_MARK = re.compile(r"""\\.?|&&|\|\||[;|&\n()'"]""", re.DOTALL)
"""What divides the commands of a command line, quotes, and an escaped character."""

_TESTS = re.compile(r"\[{1,2}\s|test\s")
"""The beginning of a command that may name our script and does not run it."""

_OPENING = r"if|then|elif|else|while|until|do|time"
_AHEAD = re.compile(rf"\s*(?:(?:{_OPENING}|!|\{{)\s+)*")
_ENDS_OPEN = re.compile(rf"(?:\b(?:{_OPENING})|[!{{()])\s*$")
"""What may precede a command on its line, and an end after which the shell needs a command."""

_ASSIGNMENT = re.compile(r"""(\w+)=(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])*\s+""")
_NOTHING_ELSE = re.compile(r"(?:true\b|[\s(){};])*")


def script_of(command: str) -> str:
    """Return the script that our command line runs."""
    return [word for word in shlex.split(command) if word != STRICT][-1]


def prompt_command(command: str) -> str:
    """Return the command line for the other events of a session, made of the one for turns; "" for another script."""
    made = command.removesuffix(f" {STRICT}").replace(STOP_SCRIPT, PROMPT_SCRIPT)
    return made if PROMPT_SCRIPT in made else ""


def around_own(entry: Mapping[str, object], *, with_arguments: bool = False) -> tuple[str, str, str]:
    """Return the text before our command in the command line of a hook, our command, and the text behind it.

    Variables that a person set for the script, and its redirections, belong to it only `with_arguments`.
    """
    text = entry.get("command")
    if not isinstance(text, str) or entry.get("args"):
        return "", "", ""
    at = 0
    for part, control in _commands(text):
        if is_own({"command": part}):
            start = len(part) - len(_AHEAD.sub("", part, count=1))
            end = len(part.rstrip()) if with_arguments else _end_of_script(part)
            variables = "" if with_arguments else _variables(part, start)
            return text[: at + start] + variables, part[start:end], text[at + end :]
        at += len(part) + len(control)
    return "", "", ""


def _variables(part: str, at: int) -> str:
    """Return what sets variables of a command, without the Root that an installation sets."""
    kept = ""
    while found := _ASSIGNMENT.match(part, at):
        kept += "" if found[1] == "ORACLE_ROOT" else found[0]
        at = found.end()
    return kept


def _end_of_script(part: str) -> int:
    """Return where the script and its own argument end in our command."""
    ends = [at for at, char in enumerate(part) if char.isspace()]
    end = next((at for at in ends if is_own({"command": part[:at]})), len(part))
    return end + len(STRICT) + 1 if part[end + 1 :].split(" ")[0] == STRICT else end


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a command line, each with what divides it from the next."""
    start = end = 0
    quote = ""
    while found := _MARK.search(text, end):
        at, end = found.span()
        mark = found[0]
        if quote == "'" and mark[0] == "\\":
            end = at + 1
        elif quote or mark in "'\"":
            quote = "" if quote == mark else quote or mark
        elif mark[0] != "\\" and not (
            mark == "&" and ">" in (text[at - 1 : at], text[end : end + 1])
        ):  # `2>&1`, `&>log`
            yield text[start:at], mark
            start = end
    yield text[start:], ""


def without_own_command(entry: Mapping[str, object]) -> dict[str, object] | None:
    """Return a hook without our command, None when nothing else is in it.

    Where the shell needs a command, as in `if …; then …; fi`, `true` replaces it.
    """
    before, _, after = around_own(entry, with_arguments=True)
    if _ENDS_OPEN.search(before) or after.lstrip().startswith(")"):
        command = f"{before}true{after}"
        return None if _NOTHING_ELSE.fullmatch(command) else {**entry, "command": command}
    after, ahead = after.lstrip(" \t"), before.rstrip(" \t")
    behind = next((after[len(one) :] for one in _SEPARATORS if after.startswith(one)), "").strip()
    ahead = next((ahead[: -len(one)] for one in _SEPARATORS if ahead.endswith(one)), "").strip()
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
    """Return the words of a hook's command line and of its arguments, without those of `[ … ]`."""
    command, args = entry.get("command"), entry.get("args")
    words: list[str] = []
    for text, _ in _commands(command if isinstance(command, str) else ""):
        if _TESTS.match(text.lstrip()):
            continue
        try:
            words += shlex.split(text)
        except ValueError:
            words += text.split()
    return [*words, *(word for word in args if isinstance(word, str))] if isinstance(args, list) else words
