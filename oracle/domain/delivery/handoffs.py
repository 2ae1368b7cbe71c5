"""Handoffs: how far one task between two seats is, and who acts next, by the set of files that exist. Pure.

What those files are called and say is the business of `receipts`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from oracle.domain.values import replace, value
from oracle.wording import Sentence, say, say_many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from oracle.domain.delivery.receipts import Receipt


class Piece(StrEnum):
    """A file that exists, and so says something about a handoff."""

    DISPATCH = "dispatch"
    CLAIM = "claim"
    CLAIM_EXPIRED = "claim_expired"
    WITH_SEAT = "with_seat"
    CONSUMED = "consumed"
    RESPONSE = "response"
    COMPLETION = "completion"
    ACKED = "acked"
    PENDING = "pending"
    NOTIFIED = "notified"
    CONFLICT = "conflict"


class HandoffStep(StrEnum):
    """How far a handoff is; the value is the word that `--state` takes."""

    NONE = "none"
    OPEN = "open"
    CLAIMED = "claimed"
    CLAIM_EXPIRED = "claim-expired"
    WITH_SEAT = "with-memory-seat"
    ANSWERED = "answered"
    DELIVERED = "delivered"
    UNANSWERED = "consumed-unanswered"
    UNNOTIFIED = "unnotified"
    CONSUMED = "consumed"
    CONFLICT = "conflict"
    ACKED = "acked"
    SUPERSEDED = "superseded"


class Party(StrEnum):
    """Who acts next."""

    ASKER = "asker"
    ANSWERER = "answerer"
    ORACLE = "oracle"
    OPERATOR = "operator"
    NOBODY = "nobody"


@value
class State:
    """How far a handoff is, who acts next and what they do; `stale_after` is in seconds, 0 for never."""

    step: HandoffStep
    party: Party
    action: str
    stale_after: int = 0
    unsolicited: bool = False


_HOUR = 3600
_DAY = 24 * _HOUR
_STATES = {
    HandoffStep.NONE: (Party.NOBODY, say("Nothing to do."), 0),
    HandoffStep.OPEN: (
        Party.ANSWERER,
        say("Read the dispatch and answer it: `oracle compat complete_handoff`, the memory seat `oracle deliver`."),
        3 * _DAY,
    ),
    HandoffStep.CLAIMED: (Party.ANSWERER, say("Finish the answer that was begun."), 3 * _DAY),
    HandoffStep.CLAIM_EXPIRED: (
        Party.ANSWERER,
        say("Take the dispatch up again; the seat that claimed it is gone."),
        _DAY,
    ),
    HandoffStep.WITH_SEAT: (Party.ANSWERER, say("With memory seat: it was woken with the packet and answers."), _DAY),
    HandoffStep.ANSWERED: (
        Party.ORACLE,
        say("Write the completion receipt, since the response is on disk: `oracle resume`."),
        _HOUR // 6,
    ),
    HandoffStep.DELIVERED: (
        Party.ORACLE,
        say("Mark the dispatch as consumed, since it is answered: `oracle resume`."),
        _HOUR // 6,
    ),
    HandoffStep.UNANSWERED: (
        Party.ANSWERER,
        say("Answer again: the dispatch was consumed, yet no answer is on disk."),
        _DAY,
    ),
    HandoffStep.UNNOTIFIED: (
        Party.ORACLE,
        say("Send the wake-up that is still pending, which an acknowledgement ends too: `oracle resume`."),
        _HOUR,
    ),
    HandoffStep.CONSUMED: (Party.ASKER, say("Read the answer and acknowledge it: `oracle ack`."), 3 * _DAY),
    HandoffStep.CONFLICT: (
        Party.OPERATOR,
        say("Decide which answer counts, the first or one that was kept aside: `oracle deliver --supersede`."),
        _DAY,
    ),
    HandoffStep.ACKED: (Party.NOBODY, say("Nothing to do."), 0),
    HandoffStep.SUPERSEDED: (Party.NOBODY, say("Nothing to do: nobody took the task up, so it was ended."), 0),
}

_DECIDE_STILL = say(
    "The first answer is acknowledged, yet another was kept aside. Decide which counts: `oracle deliver --supersede`."
)
_DECIDE = say("Read the question and settle it: `oracle team decision resolve`.")


def state(pieces: Collection[Piece]) -> State:
    """Return what a set of files means: the first thing that is left to do, a conflict before a wake-up.

    A crash while a dispatch is consumed may leave it and its `.consumed`; consuming again ends that. A response without a
    completion belongs to a delivery that died before its receipt; a completion without any dispatch was unsolicited.
    """
    return _state(frozenset(pieces))


@cache
def _state(present: frozenset[Piece]) -> State:
    step = _step(present)
    party, action, limit = _STATES[step]
    if step is HandoffStep.CONFLICT and Piece.ACKED in present:
        action = _DECIDE_STILL
    unsolicited = Piece.COMPLETION in present and not present & {Piece.DISPATCH, Piece.CONSUMED}
    return State(step, party, action, limit, unsolicited)


def _step(present: frozenset[Piece]) -> HandoffStep:
    if not present & _SUBSTANCE:
        return HandoffStep.NONE
    answer = present & {Piece.COMPLETION, Piece.ACKED}
    if Piece.RESPONSE in present and not answer:
        return HandoffStep.ANSWERED
    if not answer:
        return _step_before_answer(present)
    if Piece.DISPATCH in present:
        return HandoffStep.DELIVERED
    if Piece.CONFLICT in present:
        return HandoffStep.CONFLICT
    if _has_pending_wake_up(present) and Piece.ACKED not in present:
        return HandoffStep.UNNOTIFIED
    return HandoffStep.ACKED if Piece.ACKED in present else HandoffStep.CONSUMED


_SUBSTANCE = frozenset((Piece.DISPATCH, Piece.CONSUMED, Piece.RESPONSE, Piece.COMPLETION, Piece.ACKED, Piece.CONFLICT))


_ANSWERS = frozenset((Piece.RESPONSE, Piece.COMPLETION, Piece.ACKED, Piece.CONFLICT))


def _step_before_answer(present: frozenset[Piece]) -> HandoffStep:
    if Piece.CONFLICT in present:
        return HandoffStep.CONFLICT
    if Piece.CONSUMED in present:
        return HandoffStep.UNANSWERED
    if Piece.WITH_SEAT in present:
        return HandoffStep.WITH_SEAT
    if Piece.CLAIM in present:
        return HandoffStep.CLAIMED
    if Piece.CLAIM_EXPIRED in present:
        return HandoffStep.CLAIM_EXPIRED
    return HandoffStep.UNNOTIFIED if _has_pending_wake_up(present) else HandoffStep.OPEN


def _has_pending_wake_up(present: frozenset[Piece]) -> bool:
    """Return whether a wake-up waits that was not sent yet; one that is noted as sent is never sent again."""
    return Piece.PENDING in present and Piece.NOTIFIED not in present


def is_stale(found: State, age: float) -> bool:
    """Return whether a handoff has waited for longer than it should; `age` in seconds."""
    return 0 < found.stale_after < age


@value
class Unreached:
    """A seat that was not found in tmux, in that many tries, and the session in which it is looked for."""

    reason: str
    tries: int
    session: str

    def advise(self, seat: str, *, is_answered: bool) -> Sentence:
        """Return what helps: to start the seat, or to go on without the wake-up."""
        failed = say_many(
            "{seat} was not woken in {n} try: {reason}.",
            "{seat} was not woken in {n} tries: {reason}.",
            n=self.tries,
            seat=seat,
            reason=self.reason,
        )
        if is_answered:
            hint = say(
                "Start it in the tmux session {session} and run `oracle resume`, "
                "or read the answer and acknowledge it: `oracle ack`.",
                session=self.session,
            )
        else:
            hint = say(
                "Start it in the tmux session {session} and run `oracle resume`, "
                "or let it read the dispatch without a wake-up.",
                session=self.session,
            )
        return say("{what} {hint}", what=failed, hint=hint)


@value
class Handoff:
    """One task between two seats, as its files tell it: see `join`."""

    task_id: str
    asker: str
    answerer: str
    pieces: frozenset[Piece]
    state: State
    """How far it is, worked out once."""
    dispatch: Receipt | None = None
    completion: Receipt | None = None
    changed_at: float = 0.0
    """When the newest of its files changed, in seconds since 1970."""
    problems: tuple[str, ...] = ()
    unreached: Unreached | None = None
    """Set when a wake-up waits for a seat that was not found: no `oracle resume` helps before it is started."""

    @property
    def question(self) -> str:
        """What was asked, "" if nobody asked or the receipt can't be used."""
        return self.dispatch.question if self.dispatch is not None else ""

    @property
    def is_answered(self) -> bool:
        """Return whether there is an answer, whatever is left to do with it."""
        return bool(self.pieces & _ANSWERS)

    @property
    def since(self) -> str:
        """When it was asked, or answered, as far as its receipt says so; "" once nobody has anything to do."""
        receipt = (self.completion if self.is_answered else None) or self.dispatch
        return "" if receipt is None or self.state.party is Party.NOBODY else receipt.since

    @property
    def next_step(self) -> Sentence:
        """What happens next, in two words, and who does it."""
        seat = self.next_seat()
        match self.state.party:
            case Party.ASKER:
                return say("read: {seat}", seat=seat)
            case Party.ANSWERER:
                return say("answer: {seat}", seat=seat)
            case Party.OPERATOR:
                return say("decide: {seat}", seat=seat)
            case Party.ORACLE:
                return say("oracle resume")
        return say("none")

    def next_seat(self) -> str:
        """Return the seat that acts next, or "oracle", "operator" or "" when none does."""
        parties = {Party.ASKER: self.asker, Party.ANSWERER: self.answerer, Party.NOBODY: ""}
        return parties.get(self.state.party, self.state.party.value)


def join(
    task_id: str,
    asker: str,
    answerer: str,
    pieces: Collection[Piece],
    *,
    dispatch: Receipt | None = None,
    completion: Receipt | None = None,
    changed_at: float = 0.0,
    problems: tuple[str, ...] = (),
    unreached: Unreached | None = None,
) -> Handoff:
    """Return the handoff of these files, with its state."""
    given = (dispatch, completion, changed_at, problems, unreached)
    made = Handoff(task_id, asker, answerer, frozenset(pieces), state(pieces), *given)
    found = _state_in(made)
    return made if found is made.state else replace(made, state=found)


def _state_in(handoff: Handoff) -> State:
    """Return how far a handoff is, by its files, its dispatch and whether its seat can be woken."""
    found, asked = handoff.state, handoff.dispatch
    if found.step is HandoffStep.UNNOTIFIED and handoff.unreached is not None:
        found = _without_wake_up(handoff, handoff.unreached)
    if found.step is HandoffStep.UNANSWERED and asked is not None and asked.is_superseded:
        return State(HandoffStep.SUPERSEDED, *_STATES[HandoffStep.SUPERSEDED])
    if found.party is Party.ANSWERER and asked is not None and asked.asks_people:
        return replace(found, action=_DECIDE)
    return found


def _without_wake_up(handoff: Handoff, unreached: Unreached) -> State:
    """Return the state of a handoff whose wake-up can't be sent now: the seat acts without it."""
    if handoff.completion is not None:
        advice = unreached.advise(handoff.asker, is_answered=True)
        return replace(handoff.state, party=Party.ASKER, action=advice)
    advice = unreached.advise(handoff.answerer, is_answered=False)
    return replace(handoff.state, party=Party.ANSWERER, action=advice)
