"""Try the names of receipts, what their bytes say, and when two say the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.delivery.receipts import (
    ReceiptKind,
    ReceiptName,
    correlation_id,
    fingerprint,
    new_receipt,
    parse_file_name,
    read_receipt,
    receipt_name,
    render_receipt,
    say_the_same,
)
from oracle.errors import InvalidName

NAME = ReceiptName("T1", "planner", "memory")

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
    receipt = new_receipt(ReceiptKind.DISPATCH, NAME, {"title": "标题\ud800", "extra": [1], "task_id": "other"})
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
    first = new_receipt(ReceiptKind.COMPLETION, NAME, {"summary": "s", "delivered_at": "1", "notified_at": None})
    later = first.with_fields({"delivered_at": "2", "notified_at": "3", "lineage_status": "divergent", "verdict": None})
    assert say_the_same(first, later)
    assert not say_the_same(first, first.with_fields({"summary": "other"}))
    assert not say_the_same(first, new_receipt(ReceiptKind.DISPATCH, NAME, {}))


def test_a_fingerprint_knows_values_of_other_types_apart() -> None:
    values = [1, True, "1", 1.5, [1], {"a": 1}]
    assert len({fingerprint({"v": value}) for value in values}) == len(values)
    assert fingerprint({"v": None}) == fingerprint({})


def test_the_correlation_id_is_the_one_that_other_tools_compute() -> None:
    assert correlation_id("demo", "T1") == "17847267"
