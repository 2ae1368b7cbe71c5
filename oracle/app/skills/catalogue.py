"""List, show, print and match the skills that an agent has in a workspace."""

from __future__ import annotations

import os
import sys
from math import log

from oracle.app.context import Context
from oracle.app.skills import scan
from oracle.app.skills.scan import roots_of
from oracle.domain.compiling import compiled
from oracle.domain.skills import catalogue, gates
from oracle.domain.skills.catalogue import SkillCatalogue
from oracle.domain.skills.gates import SkillGate, Surroundings
from oracle.domain.skills.skill import SOURCES, Skill
from oracle.domain.values import value
from oracle.errors import NotFound, UsageError
from oracle.index.read.candidates import stems_in
from oracle.store.root import configuration
from oracle.store.root.features import SkillSettings, load_skills
from oracle.wording import Sentence, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LEAST, _LEAD = 0.34, 1.25
"""The share of a request's words that a match must have, and how many times the score of the next one."""
_LONGEST = 2000
_NAMED = r"(?<![\w/.-])[/$]([a-z0-9][\w-]*)"


@value
class ListedSkill:
    """A skill with its gates; `replaced_by` is the source of another with its name that counts instead."""

    skill: Skill
    gates: tuple[SkillGate, ...]
    replaced_by: str = ""

    @property
    def is_visible(self) -> bool:
        """Return whether a model sees it."""
        return not self.replaced_by and gates.passes(self.gates)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        judged = [gate.as_json() for gate in self.gates]
        more = {"replaced_by": self.replaced_by} if self.replaced_by else {}
        return {**self.skill.as_json(), "is_visible": self.is_visible, "gates": judged, **more}


@value
class Skills:
    """All skills by name, those that count before those that they replace, and what was left out."""

    items: tuple[ListedSkill, ...]
    problems: tuple[str, ...]

    @property
    def visible(self) -> list[Skill]:
        """The skills that a model sees."""
        return [item.skill for item in self.items if item.is_visible]


@value
class Match:
    """The one skill that fits a request, None without one, and why."""

    skill: Skill | None
    reason: Sentence
    score: float = 0.0

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        found = self.skill.as_json() if self.skill is not None else None
        return {"skill": found, "reason": self.reason, "score": round(self.score, 2)}


def list_skills(context: Context, workspace: str, *, extra: Sequence[str] = (), remotes: Sequence[str] = ()) -> Skills:
    """Return the skills of a workspace with their gates. Raises UsageError for settings that can't be read."""
    settings = load_skills(context.root)
    problems: list[str] = []
    openclaw = _openclaw(context, problems)
    known = _merge(settings, openclaw)
    folder = os.path.abspath(os.path.expanduser(workspace))
    home = os.path.expanduser("~")
    found = scan.scan(roots_of(home, folder, known, tuple(extra)))
    around = _surroundings(known, openclaw, (*known.remote, *remotes))
    best: dict[str, Skill] = {}
    for skill in found.skills:  # in the order of their sources
        best[skill.name] = skill
    listed = [
        ListedSkill(skill, gates.judge(skill, around), "" if best[skill.name] is skill else best[skill.name].source)
        for skill in found.skills
    ]
    listed.sort(key=lambda item: (item.skill.name, bool(item.replaced_by), -SOURCES.index(item.skill.source)))
    return Skills(tuple(listed), (*problems, *found.problems))


def show(found: Skills, name: str) -> tuple[ListedSkill, str]:
    """Return the skill of a name that counts, and its text, read now. Raises NotFound, UsageError."""
    item = next((one for one in found.items if name in (one.skill.name, one.skill.key)), None)
    if item is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [one.skill.name for one in found.items], n=1)
        hint = say("Did you mean {near}?", near=near[0]) if near else say("See `oracle skill list`.")
        raise NotFound(say("There is no skill {name!r}.", name=name[:60]), hint=hint)
    return item, scan.read(item.skill.path, item.skill.root).decode("utf-8", "replace")


def prompt(found: Skills, budget: int = catalogue.BUDGET) -> SkillCatalogue:
    """Return the catalogue of the skills that a model sees, of at most `budget` characters."""
    return catalogue.render(found.visible, budget)


# -- what is there -----------------------------------------------------------------------------------------------------


def _openclaw(context: Context, problems: list[str]) -> dict[str, object] | None:
    """Return OpenClaw's configuration, {} without one, None for one that can't be read, which becomes a problem."""
    try:
        return configuration.read_openclaw(configuration.openclaw_file(context.root, os.environ)) or {}
    except UsageError as error:
        problems.append(error.sentence)
        return None


def _merge(settings: SkillSettings, openclaw: Mapping[str, object] | None) -> SkillSettings:
    """Return the settings of the Root with those of OpenClaw."""
    stated = _table((openclaw or {}).get("skills"))
    entries = _table(stated.get("entries"))
    off = tuple(name for name, entry in entries.items() if _table(entry).get("enabled") is False)
    return SkillSettings(
        extra=(*_texts(_table(stated.get("load")).get("extraDirs")), *settings.extra),
        allow_bundled=(*_texts(stated.get("allowBundled")), *settings.allow_bundled),
        disabled=(*off, *settings.disabled),
        remote=settings.remote,
    )


def _surroundings(settings: SkillSettings, openclaw: dict[str, object] | None, remotes: Sequence[str]) -> Surroundings:
    from shutil import which

    entries = _table(_table((openclaw or {}).get("skills")).get("entries"))
    return Surroundings(
        system=sys.platform,
        has_program=lambda name: which(name) is not None,
        variables=[name for name, text in os.environ.items() if text],
        config=openclaw,
        remotes={system: programs.split(",") for system, _, programs in (one.partition(":") for one in remotes)},
        disabled=settings.disabled,
        allowed=settings.allow_bundled,
        given_env={
            name: [key for key, text in _table(_table(entry).get("env")).items() if text]
            for name, entry in entries.items()
        },
    )


def _table(stated: object) -> dict[str, object]:
    return stated if isinstance(stated, dict) else {}


def _texts(stated: object) -> tuple[str, ...]:
    return tuple(item for item in stated if isinstance(item, str)) if isinstance(stated, list) else ()


# -- one match ---------------------------------------------------------------------------------------------------------


def match(found: Skills, request: str) -> Match:
    """Return the one skill that clearly fits a request: named in it, else by its words; none if several fit alike."""
    text = request[:_LONGEST]
    skills = found.visible
    by_name = {skill.name.lower(): skill for skill in skills}
    named = [by_name[word] for word in compiled(_NAMED).findall(text.lower()) if word in by_name]
    if named:
        return Match(named[0], say("the request names it"), 1.0)
    scores = _scores(text, skills)
    scored = sorted(((scores[skill.name], skill) for skill in skills), key=lambda one: (-one[0], one[1].name))
    best = scored[0] if scored else (0.0, None)
    if best[1] is None or best[0] < _LEAST:
        return Match(None, say("no skill clearly fits"), best[0])
    if len(scored) > 1 and best[0] < _LEAD * scored[1][0]:
        both = [scored[0][1].name, scored[1][1].name]
        return Match(None, say("several fit alike: {names}", names=both), best[0])
    return Match(best[1], say("its description fits the request"), best[0])


def _scores(request: str, skills: Sequence[Skill]) -> dict[str, float]:
    """Return the share of a request's words that each skill has in its name and description, rare ones counting more."""
    words = {skill.name: stems_in(f"{skill.name} {skill.description}") for skill in skills}
    asked = stems_in(request)
    weights = {word: log(1 + (len(skills) + 1) / (1 + sum(word in own for own in words.values()))) for word in asked}
    known = [word for word in asked if any(word in own for own in words.values())]
    whole = sum(weights[word] for word in known) + sum(weights[word] for word in asked if word not in known) / 2
    return {name: sum(weights[word] for word in asked & own) / whole if whole else 0.0 for name, own in words.items()}
