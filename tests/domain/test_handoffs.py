"""Try the state of every combination of files, when it grows stale, and who acts next."""

from __future__ import annotations

import re
from itertools import chain, combinations

import pytest

from oracle.domain.delivery.handoffs import HandoffStep, Party, Piece, is_stale, join, state

# One row a state: the files that must be there (upper case) and those that must not (lower case); the rest is free.
# d/D dispatch, k/K claim, e/E expired claim, s/S claim of the memory seat, x/X consumed, r/R response, c/C completion, a/A acked,
# p/P pending wake-up, n/N notified, f/F conflict.
TABLE = [
    ("dxrcaf", HandoffStep.NONE, Party.NOBODY),
    ("Rca", HandoffStep.ANSWERED, Party.ORACLE),
    ("rcaF", HandoffStep.CONFLICT, Party.OPERATOR),
    ("Xrcaf", HandoffStep.UNANSWERED, Party.ANSWERER),
    ("DSxrcaf", HandoffStep.WITH_SEAT, Party.ANSWERER),
    ("DKsxrcaf", HandoffStep.CLAIMED, Party.ANSWERER),
    ("DkEsxrcaf", HandoffStep.CLAIM_EXPIRED, Party.ANSWERER),
    ("DkesxrcafPn", HandoffStep.UNNOTIFIED, Party.ORACLE),
    ("Dkesxrcafp", HandoffStep.OPEN, Party.ANSWERER),
    ("DkesxrcafPN", HandoffStep.OPEN, Party.ANSWERER),
    ("DC", HandoffStep.DELIVERED, Party.ORACLE),
    ("DcA", HandoffStep.DELIVERED, Party.ORACLE),
    ("dCaPnf", HandoffStep.UNNOTIFIED, Party.ORACLE),
    ("dCaF", HandoffStep.CONFLICT, Party.OPERATOR),
    ("dAF", HandoffStep.CONFLICT, Party.OPERATOR),
    ("dAf", HandoffStep.ACKED, Party.NOBODY),
    ("dCapf", HandoffStep.CONSUMED, Party.ASKER),
    ("dCaPNf", HandoffStep.CONSUMED, Party.ASKER),
]
LETTERS = dict(zip("dkesxrcapnf", Piece.__members__.values(), strict=True)) | {
    "k": Piece.CLAIM,
    "e": Piece.CLAIM_EXPIRED,
    "s": Piece.WITH_SEAT,
    "x": Piece.CONSUMED,
    "r": Piece.RESPONSE,
    "c": Piece.COMPLETION,
    "a": Piece.ACKED,
    "p": Piece.PENDING,
    "n": Piece.NOTIFIED,
    "f": Piece.CONFLICT,
}
COMBINATIONS = list(chain.from_iterable(combinations(Piece, size) for size in range(len(Piece) + 1)))


def fits(pattern: str, pieces: tuple[Piece, ...]) -> bool:
    return all((LETTERS[letter.lower()] in pieces) is letter.isupper() for letter in pattern)


def test_the_table_names_every_file() -> None:
    assert set(LETTERS.values()) == set(Piece)
    assert {step for _, step, _ in TABLE} == set(HandoffStep) - {HandoffStep.SUPERSEDED}  # its receipt says that
    assert len(COMBINATIONS) == 2048


def faults(pieces: tuple[Piece, ...]) -> list[str]:
    """Return what the state of these files has wrong, which is nothing."""
    found = state(pieces)
    rows = [(step, party) for pattern, step, party in TABLE if fits(pattern, pieces)]
    names_command = re.search(r": `(oracle|complete_handoff) [^`]+`\.$", found.action)
    wanted = {
        "one row of the table": rows == [(found.step, found.party)],
        "a sentence": found.action.endswith("."),
        "unsolicited": found.unsolicited is fits("Cdx", pieces),
        "stale after": (found.party is Party.NOBODY) is (found.stale_after == 0),
        "a command": found.party not in (Party.ORACLE, Party.OPERATOR, Party.ASKER) or bool(names_command),
    }
    return [name for name, holds in wanted.items() if not holds]


def test_every_combination_of_files_is_one_row_of_the_table_and_names_its_command() -> None:
    assert {"+".join(pieces): wrong for pieces in COMBINATIONS if (wrong := faults(pieces))} == {}


def test_a_handoff_grows_stale_by_what_it_waits_for() -> None:
    day = 24 * 3600.0
    assert not is_stale(state({Piece.DISPATCH}), 2.9 * day)
    assert is_stale(state({Piece.DISPATCH}), 3.1 * day)
    assert is_stale(state({Piece.RESPONSE}), 3600)
    assert not is_stale(state({Piece.CONSUMED, Piece.COMPLETION, Piece.ACKED}), 1000 * day)


@pytest.mark.parametrize(
    ("pieces", "seat"),
    [
        ({Piece.DISPATCH}, "memory"),
        ({Piece.COMPLETION, Piece.CONSUMED}, "planner"),
        ({Piece.RESPONSE}, "oracle"),
        ({Piece.COMPLETION, Piece.CONFLICT}, "operator"),
        ({Piece.ACKED}, ""),
    ],
)
def test_the_seat_that_acts_next_is_named(pieces: set[Piece], seat: str) -> None:
    assert join("T1", "planner", "memory", pieces).next_seat() == seat
