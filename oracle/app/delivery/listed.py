"""A handoff as every list shows it: what was asked, how long it has waited, who acts next. And the order of a list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache

from oracle.domain import timestamps
from oracle.domain.delivery.handoffs import Handoff, HandoffStep, Party, is_stale
from oracle.domain.layout import cut
from oracle.domain.names import say_state
from oracle.domain.values import replace, value
from oracle.wording import LIST, Sentence, joined, say, say_each

STATES = tuple(step.value for step in HandoffStep if step is not HandoffStep.NONE)


def states_shown() -> tuple[tuple[str, str], ...]:
    """Return the states of handoffs as (name, word for people)."""
    return tuple((state, say_state(state)) for state in STATES)


@value
class AnswerChoice:
    """One way to settle a conflict: the file of the answer that will count, and the command."""

    path: str
    is_current: bool
    command: str

    @property
    def meaning(self) -> Sentence:
        """What the command does."""
        if self.is_current:
            return say("To keep the current answer:")
        return say("To take {name}:", name=os.path.basename(self.path))

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"path": self.path, "current": self.is_current, "command": self.command}


@value
class ListedHandoff:
    """One handoff. `age` is in seconds since it was asked, once answered since then; `command` is what the next seat types, or "".

    `choices` are the commands of which one settles a conflict: to keep the current answer, or to take one kept aside.
    `machine` is another machine on which the next seat runs, "" for this one.
    """

    project: str
    handoff: Handoff
    age: float
    command: str = ""
    machine: str = ""
    is_away: bool = False
    """Whether nobody saw that machine lately."""
    choices: tuple[AnswerChoice, ...] = ()
    waits_longest: bool = False
    """Whether several questions of its list wait for an answer, and this one waits longest."""

    @property
    def question_line(self) -> str:
        """What was asked, on one line."""
        return " ".join(self.handoff.question.split())

    @property
    def state_shown(self) -> str:
        """The state as people read it, with the machine of the next seat."""
        word = say_state(self.handoff.state.step.value)
        if not self.machine:
            return word
        told = {"state": word, "machine": self.machine}
        return say("{state} on {machine}, away", **told) if self.is_away else say("{state} on {machine}", **told)

    @property
    def action(self) -> str:
        """What the next seat does, or how another machine takes its place."""
        if self.is_away:
            return say("{machine} was not seen lately: start it, or let the seat run here.", machine=self.machine)
        return self.handoff.state.action

    @property
    def is_stale(self) -> bool:
        """Return whether it has waited for longer than it should."""
        return is_stale(self.handoff.state, self.age)

    @property
    def age_shown(self) -> Sentence:
        """The age as people read it, marked when it has waited too long."""
        age = timestamps.say_age(max(self.age, 1.0))
        return say("{age}, stale", age=age) if self.is_stale else age

    @property
    def wait_shown(self) -> Sentence:
        """The age, marked also when it waits longest: for lists without captions."""
        return say("{age}, waits longest", age=self.age_shown) if self.waits_longest else self.age_shown

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        item, state = self.handoff, self.handoff.state
        return {
            "project": self.project,
            "task_id": item.task_id,
            "asker": item.asker,
            "answerer": item.answerer,
            "question": item.question,
            "state": state.step.value,
            "answered": item.is_answered,
            "next": item.next_seat(),
            "action": self.action,
            "command": self.command,
            "age_seconds": round(self.age),
            "stale": self.is_stale,
            "waits_longest": self.waits_longest,
            "unsolicited": state.unsolicited,
            "problems": list(item.problems),
            **({"machine": self.machine, "away": self.is_away} if self.machine else {}),
            **({"choices": [one.as_json() for one in self.choices]} if self.choices else {}),
        }


def age_of(handoff: Handoff, now: float) -> float:
    """Return how many seconds a handoff has waited since it was asked or answered, by its receipt, else by its newest file."""
    return max(0.0, now - (_seconds(handoff.since) or handoff.changed_at))


@lru_cache(maxsize=16_384)  # a view reads the same receipts again and again
def _seconds(moment: str) -> float:
    found = timestamps.parse(moment)
    return found.timestamp() if found else 0.0


# The order of a list --------------------------------------------------------------------------------------------------

_WAITING, _ANSWERED, _CLOSED = range(3)
_CAPTIONS = say_each("Wait for an answer, the longest first", "Answered, not closed yet", "Closed, the last one first")


def in_order(items: Iterable[ListedHandoff]) -> tuple[ListedHandoff, ...]:
    """Return handoffs in the order of every list: those that wait for an answer, the longest first, the answered, the closed."""
    found = sorted(items, key=_place)
    if len(found) > 1 and _group(found[0]) == _group(found[1]) == _WAITING:
        found[0] = replace(found[0], waits_longest=True)
    return tuple(found)


def captions(items: Sequence[ListedHandoff]) -> list[str]:
    """Return the line above each item of an ordered list: the caption of a group that begins there, else ""."""
    groups = list(map(_group, items))
    return [_CAPTIONS[group] if not at or group != groups[at - 1] else "" for at, group in enumerate(groups)]


def without_old(items: Sequence[ListedHandoff], most: int) -> Sequence[ListedHandoff]:
    """Return an ordered list with at most so many closed handoffs behind others."""
    first = next((at for at, item in enumerate(items) if _group(item) == _CLOSED), len(items))
    return items[: first + most] if first else items


def _group(item: ListedHandoff) -> int:
    if item.handoff.state.party is Party.NOBODY:
        return _CLOSED
    return _ANSWERED if item.handoff.is_answered else _WAITING


def _place(item: ListedHandoff) -> tuple[int, float, str, str]:
    group = _group(item)
    return group, item.age if group == _CLOSED else -item.age, item.project, item.handoff.task_id


# Columns --------------------------------------------------------------------------------------------------------------

_WIDE, NARROW, _TIGHT = 100, 72, 56
"""Columns of a terminal. From the first on, it shows the two seats of each handoff. Below the second, a question has a line of
its own. Below the third, state and project are on that line too, so that the seat that acts next is seen."""

_LONGEST_TASK = 24
"""Columns of a task id where there is no room to spare: those that oracle makes fit."""

HEADINGS = say_each("task", "state", "age", "next step", "project", "from", "to", "question")
NEXT_STEP, QUESTION = 3, len(HEADINGS) - 1
"""The columns of the next step, which names the seat, and of the question."""


def rows(items: Sequence[ListedHandoff], width: int) -> list[tuple[str, ...]]:
    """Return the cells of each handoff below `HEADINGS` in so many columns; "" where there is no room for one."""
    is_wide, is_mixed = width >= _WIDE, len({item.project for item in items}) > 1
    if width < _TIGHT:
        return [_tight_row(item, is_mixed=is_mixed) for item in items]
    return [
        (
            item.handoff.task_id if is_wide else cut(item.handoff.task_id, _LONGEST_TASK, keeps_end=True),
            item.state_shown,
            item.age_shown if is_wide else timestamps.say_age(item.age),
            item.handoff.next_step,
            item.project if is_mixed else "",
            *((item.handoff.asker, item.handoff.answerer) if is_wide else ("", "")),
            item.question_line,
        )
        for item in items
    ]


def _tight_row(item: ListedHandoff, *, is_mixed: bool) -> tuple[str, ...]:
    task = cut(item.handoff.task_id, _LONGEST_TASK, keeps_end=True)
    below = joined(LIST, [item.state_shown, *([item.project] if is_mixed else [])])
    if item.question_line:
        below = say("{what}: {question}", what=below, question=item.question_line)
    return task, "", timestamps.say_age(item.age), item.handoff.next_step, "", "", "", below
