"""What an agent's attention goes to: candidates for a packet, what each is worth to a role, and their order. Pure.

The order is total (score, then time, then id), so the same candidates come out in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from oracle.domain.records.memories import (
    EPISODE,
    LONG_TERM,
    PREFERENCE,
    PROCEDURE,
    REFLECTION,
    SUMMARY,
    TASK,
    Memory,
)
from oracle.domain.values import replace, value

READS = {
    "planner": (PREFERENCE, PROCEDURE, SUMMARY),
    "executor": (PREFERENCE, PROCEDURE, EPISODE, REFLECTION),
    "critic": (REFLECTION, PREFERENCE, SUMMARY),
    "responder": (PREFERENCE, SUMMARY, PROCEDURE),
}
"""The types of memory that each role reads, the most wanted first."""

TASK_SCOPED, SESSION_SCOPED, DURABLE, RECENT = "task_scoped", "session_scoped", "durable_global", "recent_fallback"
BLOCKS = (TASK_SCOPED, SESSION_SCOPED, DURABLE, RECENT)

_WEIGHTS = {
    "relevance": 0.45,
    "type": 0.15,
    "scope": 0.08,
    "importance": 0.12,
    "confidence": 0.08,
    "success": 0.05,
    "durability": 0.07,
}
_PLACES = {TASK_SCOPED: 0.15, SESSION_SCOPED: 0.10, DURABLE: 0.0, RECENT: 0.0}
MATCH = 0.15
"""The least relevance that counts as one."""
_WANTED = (1.0, 0.85, 0.7, 0.6)
"""How much a type is wanted by its place among those of a role."""
_SUPPORT = 0.08
"""What the first support adds; each further one adds half of the one before, so that support decides what is close."""
_CONTRADICTION = 0.25
_STEP = 0.01
"""By how much the target of a contradiction ranks below the memory that contradicts it, at least."""


@value
class Candidate:
    """A memory that may be chosen: how well it fits the goal, from 0 to 1, and whether it is of the task or session asked for."""

    memory: Memory
    relevance: float = 0.0
    in_task: bool = False
    in_session: bool = False

    @property
    def block(self) -> str:
        """The block it belongs to: of this task, of this session, distilled at any other time, or merely recent."""
        if self.in_task:
            return TASK_SCOPED
        if self.in_session:
            return SESSION_SCOPED
        return DURABLE if self.memory.level >= TASK else RECENT


@value
class Edge:
    """`source` supports or contradicts `target`; a source that stands for no candidate counts as support all the same."""

    source: str
    type: str
    target: str


@value
class Choice:
    """A candidate with its score and what the score is made of; `section` is "" until it is selected."""

    candidate: Candidate
    score: float
    why: Mapping[str, float]
    section: str = ""

    @property
    def memory(self) -> Memory:
        """The memory of the candidate."""
        return self.candidate.memory

    @property
    def is_matched(self) -> bool:
        """Return whether the goal, the task or the session speaks for it."""
        return self.candidate.relevance >= MATCH or self.candidate.in_task or self.candidate.in_session

    def as_json(self) -> dict[str, object]:
        """Return the JSON form, which says why it was selected."""
        memory = self.memory
        return {
            "memory_id": memory.id,
            "title": memory.title,
            "memory_type": memory.type,
            "block": self.candidate.block,
            "section": self.section,
            "score": round(self.score, 4),
            "why": {name: round(part, 4) for name, part in self.why.items()},
        }


def rank(role: str, candidates: Iterable[Candidate], edges: Iterable[Edge] = ()) -> list[Choice]:
    """Return every candidate with its score, best first.

    Support adds a little; a contradiction lowers its target alone, to below the newer memory that states it.
    """
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        known = found.get(candidate.memory.id)
        if known is None or _fit(candidate) > _fit(known):
            found[candidate.memory.id] = candidate
    links = sorted({(edge.source, edge.type, edge.target) for edge in edges if edge.source != edge.target})
    supporters: dict[str, int] = {}
    for _, kind, target in links:
        if kind == "supports":
            supporters[target] = supporters.get(target, 0) + 1
    choices = {name: _score(role, candidate, supporters.get(name, 0)) for name, candidate in found.items()}
    _lower_targets(choices, [(source, target) for source, kind, target in links if kind == "contradicts"])
    return ordered(choices.values())


def _fit(candidate: Candidate) -> tuple[float, bool, bool]:
    return candidate.relevance, candidate.in_task, candidate.in_session


def _score(role: str, candidate: Candidate, supporters: int) -> Choice:
    memory = candidate.memory
    wanted = READS[role]
    parts = {
        "relevance": candidate.relevance,
        "type": _WANTED[wanted.index(memory.type)] if memory.type in wanted else 0.0,
        "scope": {role: 1.0, "global": 0.5}.get(memory.role_scope, 0.0),
        "importance": memory.importance,
        "confidence": memory.confidence,
        "success": memory.success_score,
        "durability": memory.level / LONG_TERM,
    }
    why = {name: _WEIGHTS[name] * part for name, part in parts.items()}
    why["place"] = _PLACES[candidate.block]
    if supporters:
        why["supports"] = 2 * _SUPPORT * (1 - 0.5**supporters)
    return Choice(candidate, sum(why.values()), why)


def _lower_targets(choices: dict[str, Choice], contradictions: Sequence[tuple[str, str]]) -> None:
    """Lower each target of a contradiction below its newer source, newest source first, so that sources are settled before."""
    age = {name: (choice.memory.ts, name) for name, choice in choices.items()}
    known = [(source, target) for source, target in contradictions if source in age and target in age]
    for source, target in sorted(known, key=lambda pair: age[pair[0]], reverse=True):
        if age[source] <= age[target]:
            continue  # what is older speaks of what there was before
        old = choices[target]
        score = min(old.score - _CONTRADICTION, choices[source].score - _STEP)
        why = {**old.why, "contradicted": old.why.get("contradicted", 0.0) + score - old.score}
        choices[target] = replace(old, score=score, why=why)


def ordered(choices: Iterable[Choice]) -> list[Choice]:
    """Return choices by score, the newer of equals first, then by id."""
    by_id = sorted(choices, key=lambda choice: choice.memory.id)
    by_time = sorted(by_id, key=lambda choice: choice.memory.ts, reverse=True)
    return sorted(by_time, key=lambda choice: round(choice.score, 6), reverse=True)


def reads(role: str, memory: Memory) -> bool:
    """Return whether a role gets a memory: it reads the type, or the memory was written for this role."""
    return memory.type in READS[role] or memory.role_scope == role
