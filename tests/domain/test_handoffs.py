"""Try the names of receipts, what their bytes say, and the state of every combination of files."""

from __future__ import annotations

import json
import re
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.handoffs import (
    Handoff,
    Kind,
    Party,
    Piece,
    ReceiptName,
    Step,
    correlation_id,
    fingerprint,
    is_stale,
    new_receipt,
    parse_file_name,
    read_receipt,
    receipt_name,
    render_receipt,
    say_the_same,
    state,
)
from oracle.errors import InvalidName

NAME = ReceiptName("T1", "planner", "memory")

# State ----------------------------------------------------------------------------------------------------------------

# One row a state: the files that must be there (upper case) and those that must not (lower case); the rest is free.
# d/D dispatch, k/K claim, e/E expired claim, s/S claim of the memory seat, x/X consumed, r/R response, c/C completion, a/A acked,
# p/P pending wake-up, n/N notified, f/F conflict.
TABLE = [
    ("dxrcaf", Step.NONE, Party.NOBODY),
    ("Rca", Step.ANSWERED, Party.ORACLE),
    ("rcaF", Step.CONFLICT, Party.OPERATOR),
    ("Xrcaf", Step.UNANSWERED, Party.ANSWERER),
    ("DSxrcaf", Step.WITH_SEAT, Party.ANSWERER),
    ("DKsxrcaf", Step.CLAIMED, Party.ANSWERER),
    ("DkEsxrcaf", Step.CLAIM_EXPIRED, Party.ANSWERER),
    ("DkesxrcafPn", Step.UNNOTIFIED, Party.ORACLE),
    ("Dkesxrcafp", Step.OPEN, Party.ANSWERER),
    ("DkesxrcafPN", Step.OPEN, Party.ANSWERER),
    ("DC", Step.DELIVERED, Party.ORACLE),
    ("DcA", Step.DELIVERED, Party.ORACLE),
    ("dCaPnf", Step.UNNOTIFIED, Party.ORACLE),
    ("dCaF", Step.CONFLICT, Party.OPERATOR),
    ("dAF", Step.CONFLICT, Party.OPERATOR),
    ("dAf", Step.ACKED, Party.NOBODY),
    ("dCapf", Step.CONSUMED, Party.ASKER),
    ("dCaPNf", Step.CONSUMED, Party.ASKER),
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
    assert {step for _, step, _ in TABLE} == set(Step)
    assert len(COMBINATIONS) == 2048


@pytest.mark.parametrize("pieces", COMBINATIONS, ids=lambda pieces: "+".join(pieces) or "nothing")
def test_every_combination_of_files_is_one_row_of_the_table(pieces: tuple[Piece, ...]) -> None:
    rows = [(step, party) for pattern, step, party in TABLE if fits(pattern, pieces)]
    found = state(pieces)
    assert rows == [(found.step, found.party)]
    assert found.action.endswith(".")
    assert found.unsolicited is fits("Cdx", pieces)
    assert (found.party is Party.NOBODY) is (found.stale_after == 0)


@pytest.mark.parametrize("piece", COMBINATIONS, ids=lambda pieces: "+".join(pieces) or "nothing")
def test_what_oracle_and_the_operator_do_names_its_command(piece: tuple[Piece, ...]) -> None:
    found = state(piece)
    if found.party in (Party.ORACLE, Party.OPERATOR, Party.ASKER):
        assert re.search(r": `(oracle|complete_handoff) [^`]+`\.$", found.action)


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
    assert Handoff("T1", "planner", "memory", frozenset(pieces)).next_seat() == seat


# Names ----------------------------------------------------------------------------------------------------------------

NAMES = st.text(st.sampled_from("ab1_.-项_"), min_size=1, max_size=8)


@given(st.tuples(NAMES, NAMES, NAMES), st.sampled_from(["", ".claim", ".consumed", ".superseded-ab12"]))
def test_a_name_is_read_as_it_was_written_or_refused(parts: tuple[str, str, str], suffix: str) -> None:
    try:
        name = receipt_name(*parts)
    except InvalidName:
        return
    assert parse_file_name(name.file_name + suffix) == (name, suffix)


@given(
    st.text(max_size=60) | st.lists(st.sampled_from(["a", "__", "_", ".json", ".claim", ".consumed", "."])).map("".join)
)
def test_any_file_name_is_read_or_passed_over(file_name: str) -> None:
    found = parse_file_name(file_name)
    if found:
        assert found[0].file_name + found[1] == file_name


def test_a_task_may_hold_the_divider_and_a_seat_may_not() -> None:
    assert parse_file_name("T1__sub__builder__planner.json") == (ReceiptName("T1__sub", "builder", "planner"), "")
    with pytest.raises(InvalidName, match="divides"):
        receipt_name("T1", "sub__builder", "planner")


@pytest.mark.parametrize("part", ["", "..", "../x", "a/b", "a\nb", "<X>", "$(x)", "-rf", " a", ".hidden", "a" * 129])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_part_of_a_name_may_be_odd(part: str, place: int) -> None:
    parts = ["T1", "planner", "memory"]
    parts[place] = part
    with pytest.raises(InvalidName):
        receipt_name(*parts)


def test_a_name_too_long_for_a_file_is_refused() -> None:
    assert receipt_name("a" * 128, "planner", "memory").file_name.startswith("a" * 128)
    with pytest.raises(InvalidName, match="240"):
        receipt_name("a" * 128, "b" * 100, "c" * 100)


@pytest.mark.parametrize(
    "file_name", ["DELIVERY.md", "T1__a__b.json.tmp", "T1__a__b.json.superseded-x.y", "T1__a.json", "a.json"]
)
def test_other_files_are_no_receipts(file_name: str) -> None:
    assert parse_file_name(file_name) is None


# Receipts -------------------------------------------------------------------------------------------------------------


def test_a_new_receipt_has_every_key_and_comes_back() -> None:
    receipt = new_receipt(Kind.DISPATCH, NAME, {"title": "标题\ud800", "extra": [1], "task_id": "other"})
    assert receipt.fields["task_id"] == "T1"
    assert receipt.reply_to == "planner"
    again = read_receipt(NAME, render_receipt(receipt))
    assert again == receipt
    assert list(json.loads(render_receipt(receipt))) == sorted(receipt.fields)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "is empty"),
        (b'{"kind": "dispatch", "task', "half written"),
        (b"[1]", "no JSON object"),
        (b"\xff\xfe\x00", "half written"),
        (b"[" * 100_000, "half written"),
        (b'{"kind": "memo"}', "no kind"),
        (b'{"kind": ["dispatch"]}', "no kind"),
        (b'{"kind": "dispatch", "target": "a/b"}', "its name counts"),
        (b'{"kind": "dispatch", "schema_version": 9}', "newer program"),
    ],
)
def test_a_foreign_receipt_is_read_or_reported(raw: bytes, problem: str) -> None:
    receipt = read_receipt(NAME, raw)
    assert any(problem in sentence for sentence in receipt.problems)
    assert all(sentence.startswith(NAME.file_name) and sentence.endswith(".") for sentence in receipt.problems)


def test_an_old_receipt_without_lineage_and_with_unknown_keys_is_fine() -> None:
    raw = json.dumps(
        {"kind": "dispatch", "task_id": "T1", "source": "planner", "target": "memory", "x": {"y": 1}}
    ).encode()
    receipt = read_receipt(NAME, b"\xef\xbb\xbf" + raw)
    assert receipt.problems == ()
    assert receipt.fields["x"] == {"y": 1}
    assert receipt.text("assigned_at") == receipt.text("x") == ""


@given(st.binary(max_size=60))
def test_any_bytes_are_read(raw: bytes) -> None:
    receipt = read_receipt(NAME, raw)
    assert receipt.name == NAME
    assert receipt.fields or receipt.problems


def test_two_receipts_agree_when_only_when_and_where_differ() -> None:
    first = new_receipt(Kind.COMPLETION, NAME, {"summary": "s", "delivered_at": "1", "notified_at": None})
    later = first.with_fields({"delivered_at": "2", "notified_at": "3", "lineage_status": "divergent", "verdict": None})
    assert say_the_same(first, later)
    assert not say_the_same(first, first.with_fields({"summary": "other"}))
    assert not say_the_same(first, new_receipt(Kind.DISPATCH, NAME, {}))


def test_a_fingerprint_knows_values_of_other_types_apart() -> None:
    values = [1, True, "1", 1.5, [1], {"a": 1}]
    assert len({fingerprint({"v": value}) for value in values}) == len(values)
    assert fingerprint({"v": None}) == fingerprint({})


def test_the_correlation_id_is_the_one_that_other_tools_compute() -> None:
    assert correlation_id("demo", "T1") == "17847267"
