"""An experience: the situation of earlier work, the approach that was taken, and what to think of it. Pure.

It is a record of the kind `experience` with the headings Situation, Approach and Reflect. For a reader at work it is rendered as
Trigger, Do, Avoid, Scope and Check. A part that the record lacks is taken from another, so that no part is empty.
"""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import clip
from oracle.domain.markdown.passages import cut
from oracle.domain.records.drafts import Draft
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oracle.domain.markdown.documents import Value

KIND = "experience"
SITUATION, APPROACH, REFLECT = PARTS = ("Situation", "Approach", "Reflect")
_HEADINGS = {
    SITUATION: ("situation", "context", "trigger", "when", "情境", "场景", "情况", "背景"),
    APPROACH: ("approach", "what worked", "do", "steps", "做法", "方法", "步骤"),
    REFLECT: ("reflect", "reflection", "reflections", "lessons", "avoid", "反思", "教训", "总结"),
}
"""The headings of each part, in small letters; the first is the one that is written."""

_CHECK = r"(?i)^(?:check|verify|confirm|make sure|assert|检查|验证|确认|核对)"
_BULLET = r"^\s*(?:[-*+]|\d{1,3}[.)、])\s+"
_LONGEST_LINE, _MOST_LINES = 300, 5
_NO_PITFALL, _NO_CHECK = "No pitfall is recorded.", "No check is recorded."
LONGEST_TITLE = 120


@value
class Experience:
    """The three parts of an experience, each as it is written; `summary` is the text above them, or all of it without them."""

    title: str
    situation: str = ""
    approach: str = ""
    reflect: str = ""
    summary: str = ""

    @property
    def trigger(self) -> str:
        """The words that say when the experience helps."""
        return f"{self.title}\n{self.situation or self.summary}"

    @property
    def body(self) -> str:
        """The text of the record."""
        parts = zip(PARTS, (self.situation, self.approach, self.reflect), strict=True)
        return "\n\n".join(f"## {name}\n\n{text.strip()}" for name, text in parts if text.strip())

    def rendered(self) -> str:
        """Return Trigger, Do, Avoid, Scope and Check, each as a list of at most five short lines."""
        situation = _lines(self.situation) or _lines(self.title) or _lines(self.summary)
        approach = _lines(self.approach) or _lines(self.summary) or _lines(self.title)
        reflect = _lines(self.reflect)
        checks = [line for line in reflect if compiled(_CHECK).match(line)]
        avoid = [line for line in reflect if line not in checks] or reflect
        check = checks or reflect or _lines(self.approach)
        parts = (
            ("Trigger", situation),
            ("Do", approach),
            ("Avoid", avoid or [_NO_PITFALL]),
            ("Scope", situation),
            ("Check", check or [_NO_CHECK]),
        )
        return "\n".join(f"{name}:\n" + "\n".join(f"- {line}" for line in lines) for name, lines in parts)


def is_experience(kind: str) -> bool:
    """Return whether a record of this kind is an experience, which never counts as a memory."""
    return kind == KIND


def read(title: str, body: str) -> Experience:
    """Read the body of a record. A text without the headings is its summary."""
    found: dict[str, list[str]] = {"": []}
    for passage in cut(body):
        if not passage.is_heading:
            part = next((part for name in reversed(passage.headings) if (part := _part_of(name))), "")
            found.setdefault(part, []).append(passage.text)
    texts = {part: "\n\n".join(lines).strip() for part, lines in found.items()}
    situation, approach, reflect = (texts.get(part, "") for part in PARTS)
    return Experience(title, situation, approach, reflect, texts[""])


def _part_of(heading: str) -> str:
    name = heading.strip().strip("*_:： ").lower()
    return next((part for part, names in _HEADINGS.items() if name in names), "")


def _lines(text: str) -> list[str]:
    """Return the lines of a part without bullets and marks of fences, cut where they are long."""
    bare = (" ".join(compiled(_BULLET).sub("", line).split()) for line in text.splitlines())
    kept = [line for line in bare if line and not line.startswith(("```", "~~~"))][:_MOST_LINES]
    return [clip(line, _LONGEST_LINE) for line in kept]


# -- writing -----------------------------------------------------------------------------------------------------------


def check(experience: Experience) -> None:
    """Raise UsageError for an experience without a title or a situation, or without an approach and a reflection."""
    if not experience.title.strip():
        raise UsageError(say("The title is empty."), hint=say("Give a title of one line with --title."))
    if not experience.situation.strip():
        raise UsageError(
            say("The situation is missing."), hint=say("Say with --situation when the experience helps, in a sentence.")
        )
    if not (experience.approach.strip() or experience.reflect.strip()):
        raise UsageError(
            say("The approach and the reflection are missing."),
            hint=say("Say with --approach what to do, or with --reflect what to avoid or check."),
        )


def draft(
    experience: Experience,
    project: str,
    *,
    task_id: str = "",
    author: str = "",
    seat: str = "",
    derived_from: tuple[str, ...] = (),
    supersedes: tuple[str, ...] = (),
    extra: Mapping[str, Value] | None = None,
) -> Draft:
    """Return the record that keeps an experience. Raises UsageError."""
    check(experience)
    return Draft(
        kind=KIND,
        project=project,
        title=" ".join(experience.title.split()),
        body=experience.body,
        author=author or seat or "memory",
        seat=seat,
        task_id=task_id,
        derived_from=derived_from,
        supersedes=supersedes,
        extra=extra or {},
    )


def from_lesson(
    goal: str, *, worked: Sequence[str], failed: Sequence[str], lessons: Sequence[str], next_time: Sequence[str]
) -> Experience | None:
    """Return the experience that a reflection holds; None unless it says both what to do and what was learned."""
    do, avoid = bullets(worked or next_time), bullets([*failed, *lessons, *(next_time if worked else ())])
    goal = " ".join(goal.split())
    if not (goal and do and avoid):
        return None
    return Experience(clip(goal, LONGEST_TITLE), goal, do, avoid)


def bullets(texts: Iterable[str]) -> str:
    """Return a list of the texts that say something."""
    lines = (" ".join(text.split()) for text in texts)
    return "\n".join(f"- {line}" for line in dict.fromkeys(lines) if line)
