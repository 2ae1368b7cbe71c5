"""The gates that a skill passes before a model sees it, each with its reason. Pure: what is there is handed in."""

from __future__ import annotations

from oracle.domain.skills.skill import Requirements, Skill
from oracle.domain.values import NOTHING, AsJson, value
from oracle.wording import Sentence, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

NAMES = ("enabled", "allow-list", "os", "binaries", "environment", "config", "model")


@value
class SkillGate(AsJson):
    """One gate: whether the skill passes it, and why or why not. Values of variables and settings are never named."""

    name: str
    passes: bool
    reason: Sentence


@value
class Surroundings:
    """What is there: this system, remote ones with their programs, programs, variables, and settings.

    `given_env` are variables that the settings give to a skill, by its key. `config` is the configuration in which a skill
    wants keys to be set, None if it can't be read.
    """

    system: str
    has_program: Callable[[str], bool]
    variables: Collection[str] = ()
    config: Mapping[str, object] | None = NOTHING
    remotes: Mapping[str, Collection[str]] = NOTHING
    disabled: Collection[str] = ()
    allowed: Collection[str] = ()
    given_env: Mapping[str, Collection[str]] = NOTHING


def judge(skill: Skill, around: Surroundings) -> tuple[SkillGate, ...]:
    """Return every gate of a skill, in the order of `NAMES`."""
    needs = Requirements() if skill.is_always else skill.requires
    remotes = [name for name in around.remotes if not needs.systems or name in needs.systems]
    return (
        _enabled(skill, around),
        _allowed(skill, around),
        _system(needs, around, remotes),
        _binaries(needs, around, remotes),
        _environment(needs, skill, around),
        _config(needs, around),
        _model(skill),
    )


def passes(gates: Collection[SkillGate]) -> bool:
    """Return whether a model may see the skill."""
    return all(gate.passes for gate in gates)


def _enabled(skill: Skill, around: Surroundings) -> SkillGate:
    is_off = bool({skill.name, skill.key} & set(around.disabled))
    return SkillGate("enabled", not is_off, say("the settings switch it off") if is_off else say("not switched off"))


def _allowed(skill: Skill, around: Surroundings) -> SkillGate:
    if skill.source != "bundled" or not around.allowed:
        return SkillGate("allow-list", True, say("no list of allowed skills concerns it"))
    is_listed = bool({skill.name, skill.key} & set(around.allowed))
    reason = say("the list of allowed skills has it") if is_listed else say("the list of allowed skills lacks it")
    return SkillGate("allow-list", is_listed, reason)


def _system(needs: Requirements, around: Surroundings, remotes: list[str]) -> SkillGate:
    if not needs.systems:
        return SkillGate("os", True, say("any system will do"))
    if around.system in needs.systems:
        return SkillGate("os", True, say("this system is {system}", system=around.system))
    if remotes:
        return SkillGate("os", True, say("a remote {system} is there", system=remotes[0]))
    return SkillGate(
        "os", False, say("it needs {systems}; this system is {system}", systems=needs.systems, system=around.system)
    )


def _binaries(needs: Requirements, around: Surroundings, remotes: list[str]) -> SkillGate:
    def is_there(name: str) -> bool:
        return around.has_program(name) or any(name in around.remotes[remote] for remote in remotes)

    missing = [name for name in needs.bins if not is_there(name)]
    if missing:
        return SkillGate("binaries", False, say("these programs are missing: {names}", names=missing))
    if needs.any_bins and not any(map(is_there, needs.any_bins)):
        return SkillGate("binaries", False, say("none of these programs is there: {names}", names=needs.any_bins))
    found = needs.bins or needs.any_bins
    return SkillGate("binaries", True, say("its programs are there") if found else say("it needs no program"))


def _environment(needs: Requirements, skill: Skill, around: Surroundings) -> SkillGate:
    given = set(around.given_env.get(skill.key, ())) | set(around.given_env.get(skill.name, ()))
    missing = [name for name in needs.env if name not in around.variables and name not in given]
    if missing:
        return SkillGate("environment", False, say("these variables are not set: {names}", names=missing))
    return SkillGate("environment", True, say("its variables are set") if needs.env else say("it needs no variable"))


def _config(needs: Requirements, around: Surroundings) -> SkillGate:
    if not needs.config:
        return SkillGate("config", True, say("it needs no setting"))
    if around.config is None:
        return SkillGate("config", False, say("the configuration can't be read"))
    missing = [path for path in needs.config if not _look_up(around.config, path)]
    if missing:
        return SkillGate("config", False, say("these settings are missing: {names}", names=missing))
    return SkillGate("config", True, say("its settings are there"))


def _look_up(config: Mapping[str, object], path: str) -> object:
    found: object = config
    for part in filter(None, path.split(".")):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _model(skill: Skill) -> SkillGate:
    reason = say("`disable-model-invocation` keeps it from models") if skill.is_hidden else say("models may see it")
    return SkillGate("model", not skill.is_hidden, reason)
