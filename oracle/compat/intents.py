"""Expand `--intent NAME` of `dispatch_task` by `references/intents.toml`, which people may edit."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from oracle.compat.door import complain
from oracle.errors import UsageError
from oracle.store.disk import steps
from oracle.wording import say

_VARIABLE = "GSTACK_SKILLS_ROOT"
_SKILLS = "~/.gstack/repos/gstack/.agents/skills"


def expand(name: str, objective: str, refs: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a task and its skills as an intent extends them. Doing it twice changes nothing more.

    Raises UsageError for an unknown name, and for a file that can't be used.
    """
    path, intents = _load()
    intent = intents.get(name)
    if not isinstance(intent, dict):
        near = get_close_matches(name, intents) or sorted(intents)
        raise UsageError(
            say("Unknown intent {name!r}.", name=name),
            hint=say("Choose one of {names}, or add it to {path}.", names=near, path=path),
        )
    words, skill = str(intent.get("objective", "")), str(intent.get("skill", ""))
    skill = skill.replace(f"{{{_VARIABLE}}}", _skills_root(environ))
    if words.casefold() not in objective.casefold():
        objective = f"**{words}** {objective.strip()}"
    return objective, (*refs, skill) if skill and skill not in refs else refs


def _load() -> tuple[str, dict[str, object]]:
    package = Path(__file__).parent.parent
    for path in (package.parent / "references/intents.toml", package / "_data/references/intents.toml"):
        raw = steps.read(str(path))
        if raw is not None:
            break
    try:
        return str(path), tomllib.loads((raw or b"").decode("utf-8-sig"))
    except ValueError as error:
        raise UsageError(
            say("{path} can't be read: {error}.", path=path, error=error),
            hint=say("Correct that line; the file is TOML."),
        ) from error


def _skills_root(environ: Mapping[str, str]) -> str:
    given = Path(environ.get(_VARIABLE) or _SKILLS).expanduser()
    if given.is_absolute():
        return str(given)
    complain(f"warning: {_VARIABLE} is not an absolute path; {_SKILLS} is used")
    return str(Path(_SKILLS).expanduser())
