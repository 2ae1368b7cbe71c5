"""The tables of the owner's `config.toml` for prompts and skills: `[experience]`, `[injection]`, `[skills]`. Read only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from oracle.domain.values import contents_of, value
from oracle.errors import UsageError
from oracle.store.root.configuration import (
    SETTINGS,
    is_push_on,
    load_command,
    load_daemon,
    load_language,
    read_settings,
    shown,
)
from oracle.store.root.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@value
class ExperienceSettings:
    """What `[experience]` says: whether experiences are recalled, how many at most, and from which score, 0 to 1."""

    enabled: bool = False
    limit: int = 3
    threshold: float = 0.35


def load_experience(root: Root) -> ExperienceSettings:
    """Return `[experience]` of `config.toml`. Raises UsageError."""
    stated = read_settings(root).get("experience", {})
    if not isinstance(stated, dict):
        raise UsageError(
            say("{settings}: {fault}", settings=SETTINGS, fault=say("experience is not a table.")),
            hint=say("Correct it; see references/experiences.md."),
        )
    for key, item in stated.items():
        if not is_experience_value(key, item):
            raise UsageError(
                say(
                    "{settings}: experience.{key} = {item} is not valid.", settings=SETTINGS, key=key, item=shown(item)
                ),
                hint=say("The keys are enabled (true or false), limit (1 to 20) and threshold (0 to 1)."),
            )
    return ExperienceSettings(**stated)


def is_experience_value(key: str, item: object) -> bool:
    """Return whether `experience.<key>` may have this value."""
    if key == "enabled":
        return isinstance(item, bool)
    if isinstance(item, bool) or not isinstance(item, int | float):
        return False
    return 0 <= item <= 1 if key == "threshold" else key == "limit" and isinstance(item, int) and 1 <= item <= 20


INJECTION: Mapping[str, object] = {
    "enabled": True,
    "brief": True,
    "memories": True,
    "memory_chars": 3000,
    "experience_chars": 3000,
    "limit": 5,
    "threshold": 0.35,
    "citations": True,
    "bypass_session_patterns": [],
}
"""The keys of `[injection]` with their defaults."""


def load_injection(root: Root) -> dict[str, Any]:
    """Return `[injection]` of `config.toml` with the defaults. Raises UsageError.

    No default replaces what can't be used: the owner may have written it to keep sessions out.
    """
    stated = read_settings(root).get("injection", {})
    if not isinstance(stated, dict):
        raise UsageError(
            say("{settings}: {fault}", settings=SETTINGS, fault=say("injection is not a table.")),
            hint=say("Correct it; see references/context.md."),
        )
    for key, item in stated.items():
        if not fits_default(item, INJECTION.get(key)):
            raise UsageError(
                say("{settings}: injection.{key} = {item} is not valid.", settings=SETTINGS, key=key, item=shown(item)),
                hint=say("The keys are {keys}; see references/context.md.", keys=list(INJECTION)),
            )
    return {**INJECTION, **stated}


def fits_default(item: object, default: object) -> bool:
    """Return whether a value is of the same type as a default: a flag, a positive number, or a list of texts. None fits nothing."""
    if isinstance(default, bool) or isinstance(item, bool):
        return isinstance(default, bool) and isinstance(item, bool)
    if isinstance(default, list):
        return isinstance(item, list) and all(isinstance(one, str) for one in item)
    types = {int: (int,), float: (int, float)}.get(type(default), ())
    return isinstance(item, types) and item >= 0


@value
class SkillSettings:
    """What `[skills]` says: further folders, bundled skills that are allowed, those switched off, and remote systems."""

    extra: tuple[str, ...] = ()
    allow_bundled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    remote: tuple[str, ...] = ()


def load_skills(root: Root) -> SkillSettings:
    """Return `[skills]` of `config.toml`. Raises UsageError."""
    stated = read_settings(root).get("skills", {})
    known = contents_of(SkillSettings())
    if not isinstance(stated, dict) or not all(key in known and is_text_list(item) for key, item in stated.items()):
        raise UsageError(
            say("[skills] in {settings} is not valid.", settings=SETTINGS),
            hint=say("The keys are {keys}, each a list of texts.", keys=list(known)),
        )
    return SkillSettings(**{key: tuple(item) for key, item in stated.items()})


def is_text_list(item: object) -> bool:
    """Return whether a value is a list of texts that say something."""
    return isinstance(item, list) and all(isinstance(one, str) and one.strip() for one in item)


def find_faults(root: Root) -> list[UsageError]:
    """Return what in `config.toml` can't be used; of a table only the first fault."""
    faults = load_language(root)[1]
    loads: tuple[Callable[[Root], object], ...] = (
        *(partial(load_command, name=name) for name in ("synthesizer", "judge")),
        *(load_daemon, load_experience, load_injection, load_skills, is_push_on),
    )
    for load in loads:
        try:
            load(root)
        except UsageError as error:
            if error.sentence not in [fault.sentence for fault in faults]:  # a file that can't be read is one fault
                faults.append(error)
    return faults
