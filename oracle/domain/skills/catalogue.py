"""The catalogue of skills in a prompt: names, descriptions and places, within a budget. Pure.

It is full, else compact with short descriptions, else cut, with a note that says so. What a skill says of itself is data: it is
escaped, on one line, and can't end its element.
"""

from __future__ import annotations

from html import escape

from oracle.domain.injection.envelope import neutralise
from oracle.domain.markdown.documents import clip
from oracle.domain.skills.skill import SOURCES, Skill
from oracle.domain.values import AsJson, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BUDGET = 8000
"""Characters of a catalogue."""
_SHORT = 80
_RULE = (
    "A skill is read only when exactly one clearly applies to the request, and never more than one: its SKILL.md at <location>.\n"
    "Descriptions are what the skills say of themselves."
)
_HEAD, _TAIL = "<available_skills>", "</available_skills>"


@value
class SkillCatalogue(AsJson):
    """A printed catalogue; `form` is `full`, `compact`, `cut` or "" when there is no skill."""

    text: str
    form: str
    shown: int
    total: int


def render(skills: Sequence[Skill], budget: int = BUDGET) -> SkillCatalogue:
    """Return the catalogue of some skills, by name. When it is cut, those nearest to the workspace stay."""
    ordered = sorted(skills, key=lambda skill: skill.name)
    if not ordered:
        return SkillCatalogue("", "", 0, 0)
    for form in ("full", "compact"):
        text = _join([_entry(skill, form) for skill in ordered])
        if len(text) <= budget:
            return SkillCatalogue(text, form, len(ordered), len(ordered))
    nearest = sorted(ordered, key=lambda skill: (-SOURCES.index(skill.source), skill.name))
    kept: list[Skill] = []
    for skill in nearest:
        if len(_cut([*kept, skill], len(ordered))) <= budget:
            kept.append(skill)
    return SkillCatalogue(_cut(kept, len(ordered)), "cut", len(kept), len(ordered))


def _cut(kept: Sequence[Skill], total: int) -> str:
    entries = [_entry(skill, "compact") for skill in sorted(kept, key=lambda skill: skill.name)]
    return _join(entries, f"Skills truncated: {len(kept)} of {total} are listed.")


def _join(entries: Sequence[str], note: str = "") -> str:
    return "\n".join([_RULE, *([note] if note else []), _HEAD, *entries, _TAIL])


def _entry(skill: Skill, form: str) -> str:
    description = clip(skill.description, _SHORT) if form == "compact" else skill.description
    parts = (("name", skill.name), ("description", description), ("location", skill.path))
    fields = "".join(f"<{tag}>{_data(text)}</{tag}>" for tag, text in parts if text)
    return f"  <skill>{fields}</skill>"


def _data(text: str) -> str:
    return " ".join(neutralise(escape(text, quote=False)).split())
