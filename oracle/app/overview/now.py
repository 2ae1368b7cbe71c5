"""What goes on now: open handoffs, the seats of each team, and the decisions that wait for people. Writes nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from threading import Lock

from oracle.app import journal
from oracle.app.context import Context
from oracle.app.decisions.overdue import OpenDecision, open_decision
from oracle.app.delivery import handoffs, homes
from oracle.app.delivery.handoffs import Handoffs
from oracle.app.delivery.listed import ListedHandoff
from oracle.app.delivery.team import Team
from oracle.domain import timestamps
from oracle.domain.delivery.handoffs import Party
from oracle.domain.delivery.task_queue import OPEN_STATES
from oracle.domain.names import say_state
from oracle.domain.values import AsJson, value
from oracle.errors import OracleError
from oracle.store.delivery import task_tree
from oracle.store.disk.file_cache import FileCache

Seat = tuple[str, str]
"""The project and the name of a seat."""


@value
class SeatNow(AsJson):
    """A seat: the machine that it runs on, when it last did something, "" if unknown, and how many tasks wait in its queue."""

    project: str
    seat: str
    machine: str
    last_seen: str
    queue: int


@value
class Now:
    """The open handoffs in the order of every list; the seats; the open decisions, the most urgent first."""

    moment: str
    handoffs: tuple[ListedHandoff, ...]
    seats: tuple[SeatNow, ...]
    decisions: tuple[OpenDecision, ...]
    problems: tuple[str, ...] = ()

    @property
    def states(self) -> dict[str, int]:
        """How many open handoffs are in each state, the most common first."""
        return dict(Counter(item.handoff.state.step.value for item in self.handoffs).most_common())

    @property
    def states_shown(self) -> tuple[tuple[str, str, int], ...]:
        """The states as (name, word for people, count)."""
        return tuple((name, say_state(name), count) for name, count in self.states.items())

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "moment": self.moment,
            "states": self.states,
            "handoffs": [item.as_json() for item in self.handoffs],
            "seats": [item.as_json() for item in self.seats],
            "decisions": [item.as_json() for item in self.decisions],
            "problems": list(self.problems),
        }


def now(context: Context, cache: FileCache | None = None) -> Now:
    """Return what goes on now. A view that asks again and again passes the same `cache`. Raises RootUnusable."""
    context.root.require()
    cache = cache or FileCache()
    cache.begin_round()
    found = handoffs.list_all(context, cache=cache)
    seen = _last_seen(context, found.items, cache)
    waiting = [item for item in found.items if item.handoff.state.party is not Party.NOBODY]
    return Now(
        timestamps.print_moment(context.now()),
        tuple(waiting),
        tuple(_seats(context, found.teams, seen, cache)),
        tuple(sorted(_decisions(context, waiting), key=_urgency)),
        found.problems,
    )


_CACHES: dict[str, FileCache] = {}
"""What was read of the handoffs of each Root. Threads share it, one at a time: each with its own would be twice as slow."""

_one_at_a_time = Lock()


def look(context: Context) -> Now:
    """Return what goes on now. What this process read before is not read again, unless it changed. Raises RootUnusable."""
    with _one_at_a_time:
        return now(context, _CACHES.setdefault(context.root.path, FileCache()))


def list_handoffs(context: Context, *, project: str = "", state: str = "") -> Handoffs:
    """Return handoffs as `handoffs.list_all` does. What this process read before is not read again, unless it changed."""
    with _one_at_a_time:
        cache = _CACHES.setdefault(context.root.path, FileCache())
        return handoffs.list_all(context, project=project, state=state, cache=cache)


def _seats(context: Context, teams: Iterable[Team], seen: dict[Seat, str], cache: FileCache) -> Iterator[SeatNow]:
    here, machines = os.uname().nodename, homes.elsewhere(context)
    for team in teams:
        for seat in team.profile.seats:
            key = (team.project, seat)
            machine = machines[key].name if key in machines else here
            queue = cache.get(team.tree.todo_file(seat), partial(_queue, team, seat))
            yield SeatNow(*key, machine, seen.get(key, ""), queue)


def _queue(team: Team, seat: str, _path: str) -> int:
    try:
        return sum(task.state in OPEN_STATES for task in task_tree.read_queue(team.tree, seat))
    except OracleError:
        return 0


def _last_seen(context: Context, items: Iterable[ListedHandoff], cache: FileCache) -> dict[Seat, str]:
    """Return when each seat last wrote a receipt or caused an event, as far as the files say."""
    seen: dict[Seat, str] = {}
    for seat, moment in (
        *cache.get(context.root.events, lambda _: list(_in_journal(context))),
        *(found for item in items for found in _in_receipts(item)),
    ):
        if moment > seen.get(seat, ""):
            seen[seat] = moment
    return seen


def _in_journal(context: Context) -> Iterator[tuple[Seat, str]]:
    """Yield the seats that caused the last events. A wake-up names a seat that did nothing."""
    for event in journal.tail(context):
        seat = event.get("seat") or event.get("source")
        if event.get("event") not in ("wake-up", "skip") and seat:
            yield (str(event.get("project", "")), str(seat)), timestamps.to_utc(str(event.get("ts", "")))


def _in_receipts(item: ListedHandoff) -> Iterator[tuple[Seat, str]]:
    asked, answered = item.handoff.dispatch, item.handoff.completion
    for receipt, key, seat in (
        (asked, "assigned_at", asked and asked.name.source),
        (answered, "delivered_at", answered and answered.name.source),
        (answered, "consumed_at", answered and answered.name.target),
    ):
        if receipt is not None and seat and (moment := receipt.text(key)):
            yield (item.project, seat), _in_utc(moment)


@lru_cache(maxsize=16_384)  # a view reads the same receipts again and again
def _in_utc(moment: str) -> str:
    return timestamps.to_utc(moment)


def _decisions(context: Context, waiting: Iterable[ListedHandoff]) -> Iterator[OpenDecision]:
    for item in waiting:
        asked = item.handoff.dispatch
        if asked is not None and asked.asks_people and item.handoff.completion is None:
            yield open_decision(item.project, asked, context.now())


def _urgency(decision: OpenDecision) -> tuple[bool, float, str]:
    left = decision.seconds_left
    return left is None, left or 0.0, decision.decision_id
