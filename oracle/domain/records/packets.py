"""Packets by role: which memories an agent gets for its next step, in named sections with caps. Pure.

Two stages: the best blocks are chosen, then memories inside them. The order is total (score, then time, then id), so the same
candidates give the same packet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from oracle.domain.records.attention import (
    BLOCKS,
    READS,
    RECENT,
    Candidate,
    Choice,
    Edge,
    ordered,
    rank,
    reads,
)
from oracle.domain.records.memories import (
    EPISODE,
    LONG_TERM,
    PREFERENCE,
    PROCEDURE,
    REFLECTION,
    SUMMARY,
    Memory,
)
from oracle.domain.spelling import suggest
from oracle.domain.values import replace, value
from oracle.errors import UsageError
from oracle.wording import say

SECTIONS = {
    PREFERENCE: "hard_constraints",
    SUMMARY: "relevant_facts",
    EPISODE: "relevant_facts",
    PROCEDURE: "procedures_to_follow",
    REFLECTION: "pitfalls_to_avoid",
}
CAPS = {
    "hard_constraints": 4,
    "relevant_facts": 3,
    "procedures_to_follow": 3,
    "pitfalls_to_avoid": 3,
    "open_questions": 5,
}
MOST_SELECTED = 5
_CUT = 0.55
"""Share of the best score below which a memory is noise, unless it is a durable preference."""
_CUT_OF_BLOCKS = 0.5
_FEW = 3
"""With fewer candidates than this in the other blocks, recent memories fill the packet."""
_SIMILAR = 0.5
"""Share of common words (Jaccard) from which an episode says what a summary says."""


@value
class Request:
    """A step that an agent is about to take. `constraints`, `failures` and `questions` are the caller's own words."""

    goal: str
    role: str
    project: str = ""
    task_id: str = ""
    session_id: str = ""
    constraints: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise UsageError for an empty goal or an unknown role."""
        if not self.goal.strip():
            raise UsageError(say("The goal is missing."), hint=say("Say in a sentence what the step is to reach."))
        if self.role not in READS:
            unknown = say("The role {role!r} is unknown.", role=self.role[:60])
            what = unknown if self.role else say("The role is missing.")
            raise UsageError(what, hint=suggest(self.role, READS))

    def as_json(self) -> dict[str, object]:
        """Return the JSON form, as the routing skill names its parts."""
        return {
            "goal": self.goal,
            "step_role": self.role,
            "project": self.project,
            "task_id": self.task_id,
            "session_id": self.session_id,
            "user_constraints": list(self.constraints),
            "recent_failures": list(self.failures),
            "unresolved_questions": list(self.questions),
        }


@value
class PacketItem:
    """A line of a packet; `id` is the memory that says it, "" for the caller's own words."""

    text: str
    id: str = ""


@value
class Packet:
    """What a role gets for its step: `sections` in the order of CAPS, `selected` best first."""

    request: Request
    sections: Mapping[str, tuple[PacketItem, ...]]
    selected: tuple[Choice, ...]
    blocks: tuple[str, ...]
    block_scores: Mapping[str, float]

    def as_json(self) -> dict[str, object]:
        """Return `packet` and `debug`, the parts that a caller reads."""
        texts = {name: [item.text for item in items] for name, items in self.sections.items()}
        return {
            "packet": {
                "goal": self.request.goal,
                "step_role": self.request.role,
                **texts,
                "selected_memory_ids": [choice.memory.id for choice in self.selected],
            },
            "debug": {
                "selected_blocks": list(self.blocks),
                "block_scores": {name: round(score, 4) for name, score in self.block_scores.items()},
                "selected_memories": [choice.as_json() for choice in self.selected],
            },
        }


def compose(request: Request, candidates: Iterable[Candidate], edges: Iterable[Edge] = ()) -> Packet:
    """Return the packet for a request; of two candidates of one id the one that fits better counts. Raises UsageError."""
    request.check()
    ranked = rank(request.role, candidates, edges)
    readable = _readable(request.role, ranked)
    scores = _score_blocks(readable)
    blocks = _choose_blocks(readable, scores)
    selected = _select(request, [choice for choice in readable if choice.candidate.block in blocks])
    return Packet(request, _fill(request, selected), selected, blocks, scores)


def _readable(role: str, choices: Sequence[Choice]) -> list[Choice]:
    """Return what a role reads, a summary in the place of every episode that says the same.

    A record that nobody gave as a memory has to fit, unless it is merely recent: what a team decides about something else
    is no rule for this step.
    """
    choices = [
        choice for choice in choices if choice.is_matched or choice.memory.is_stated or choice.candidate.block == RECENT
    ]
    read = [choice for choice in choices if reads(role, choice.memory)]
    episodes = [choice.memory.words for choice in read if choice.memory.type == EPISODE]
    told = {
        choice.memory.id: choice.memory.words
        for choice in choices
        if choice.memory.type == SUMMARY and any(_is_similar(choice.memory.words, words) for words in episodes)
    }
    return [
        choice
        for choice in choices
        if choice.memory.id in told
        or (
            reads(role, choice.memory)
            and not (choice.memory.type == EPISODE and _is_told(choice.memory, told.values()))
        )
    ]


def _is_told(episode: Memory, told: Iterable[frozenset[str]]) -> bool:
    return any(_is_similar(episode.words, words) for words in told)


def _is_similar(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) >= _SIMILAR * max(1, len(words | others))


# -- blocks ------------------------------------------------------------------------------------------------------------


def _score_blocks(choices: Sequence[Choice]) -> dict[str, float]:
    """Return the score of each block that holds something: the mean of its best three, in the order of BLOCKS."""
    scores = {}
    for block in BLOCKS:
        best = [choice.score for choice in choices if choice.candidate.block == block][:3]
        if best:
            scores[block] = sum(best) / len(best)
    return scores


def _choose_blocks(choices: Sequence[Choice], scores: Mapping[str, float]) -> tuple[str, ...]:
    """Return the blocks to look into, best first.

    Task, session and durable memory are chosen when they come near the best of them, or hold a preference that binds every
    step. Recent memory is chosen when the others hold too little, or when it fits the goal better.
    """
    first = {name: score for name, score in scores.items() if name != RECENT}
    floor = _CUT_OF_BLOCKS * max(first.values(), default=0.0)
    chosen = {name for name, score in first.items() if score >= floor}
    chosen |= {choice.candidate.block for choice in choices if _binds(choice.memory)}
    others = [choice for choice in choices if choice.candidate.block in chosen]
    recent = [choice.candidate.relevance for choice in choices if choice.candidate.block == RECENT]
    fits = max((choice.candidate.relevance for choice in others), default=0.0)
    if recent and (len(others) < _FEW or max(recent) > fits):
        chosen.add(RECENT)
    return tuple(sorted(chosen, key=lambda name: (-round(scores[name], 6), BLOCKS.index(name))))


def _binds(memory: Memory) -> bool:
    """Return whether a memory is a rule for every step: a preference that was given for good."""
    return memory.type == PREFERENCE and memory.is_stated and memory.level == LONG_TERM


# -- memories ----------------------------------------------------------------------------------------------------------


def _select(request: Request, choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """Return up to MOST_SELECTED of the choices, best first; the two types that a role wants most have a place each.

    Of memories that say the same, word for word, the first counts.
    """
    floor = _CUT * max((choice.score for choice in choices), default=0.0)
    nothing_fits = not any(choice.is_matched for choice in choices)
    room = _room(request)
    taken: dict[tuple[str, ...], Choice] = {}

    def take(choice: Choice) -> None:
        section = SECTIONS[choice.memory.type]
        said = (section, *choice.memory.text.split())
        if len(taken) < MOST_SELECTED and said not in taken and room[section] > 0:
            room[section] -= 1
            taken[said] = replace(choice, section=section)

    for wanted in READS[request.role][:2]:
        for choice in choices:
            if choice.memory.type == wanted and (choice.is_matched or nothing_fits or _binds(choice.memory)):
                take(choice)
                break
    for choice in choices:
        if choice.score >= floor or _binds(choice.memory):
            take(choice)
    return tuple(ordered(taken.values()))


def _room(request: Request) -> dict[str, int]:
    """Return how many memories each section takes: the caller's own words leave one place at least."""
    given = {"hard_constraints": len(request.constraints), "pitfalls_to_avoid": len(request.failures)}
    return {name: max(1, cap - given.get(name, 0)) for name, cap in CAPS.items()}


def _fill(request: Request, selected: Sequence[Choice]) -> dict[str, tuple[PacketItem, ...]]:
    """Return the sections: the caller's own words first, as far as the selected memories leave room, then the memories."""
    own = {
        "hard_constraints": request.constraints,
        "pitfalls_to_avoid": request.failures,
        "open_questions": request.questions,
    }
    sections = {}
    for name, cap in CAPS.items():
        items = [PacketItem(choice.memory.text, choice.memory.id) for choice in selected if choice.section == name]
        said = {item.text for item in items}
        texts = dict.fromkeys(" ".join(text.split()) for text in own.get(name, ()))
        words = [PacketItem(text) for text in texts if text and text not in said]
        sections[name] = (*words[: cap - len(items)], *items)
    return sections
