"""What becomes of a pulled row: nothing is lost, nothing is overwritten but an earlier copy, and all machines agree in the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.delivery.receipts import ReceiptKind, new_receipt, read_receipt, receipt_name
from oracle.domain.hub.forms import mark_of, read_mark, round_of, shared_form
from oracle.domain.hub.paths import FileKind, parse
from oracle.domain.hub.replication import (
    Agreed,
    Standing,
    Step,
    differences,
    folder_digests,
    is_much,
    may_send,
    step_for,
)

FILES = [
    found
    for path in (
        "projects/a/decision/x.md",
        "projects/a/builder/x.md",
        "responses/T.json",
        "tasks/a/patrol/handoffs/T__planner__memory.json",
        "tasks/a/patrol/handoffs/T__planner__memory.json.claim",
    )
    if (found := parse(path))
]
DIGESTS = st.sampled_from(["", "1", "2", "3"])
STANDINGS = st.builds(Standing, DIGESTS, DIGESTS, DIGESTS, st.booleans(), st.booleans())


@given(st.sampled_from(FILES), STANDINGS)
def test_only_an_earlier_copy_is_overwritten(file: object, at: Standing):
    step = step_for(file, at)  # type: ignore[arg-type]
    if step in (Step.PLACE, Step.REMOVE) and at.here != at.theirs:
        assert at.here in ("", at.agreed) or file.kind is FileKind.CLAIM  # type: ignore[attr-defined]
    if step is Step.PLACE:
        assert at.theirs
    if step is Step.AGREE:
        assert at.here == at.theirs


@given(st.sampled_from(FILES), DIGESTS, DIGESTS.filter(bool), DIGESTS)
def test_a_copy_always_becomes_what_its_owner_wrote_or_is_named(file: object, here: str, theirs: str, agreed: str):
    step = step_for(file, Standing(here, agreed, theirs, is_mine=False))  # type: ignore[arg-type]
    assert step in (Step.AGREE, Step.PLACE, Step.SET_ASIDE, Step.KEEP_BESIDE)


@given(st.sampled_from(FILES), STANDINGS)
def test_the_owner_never_removes_its_own_file(file: object, at: Standing):
    if at.is_mine and at.here:
        assert step_for(file, at) is not Step.REMOVE  # type: ignore[arg-type]


@given(st.sampled_from(FILES), st.sampled_from([None, Agreed("1", ""), Agreed("1", "a"), Agreed("1", "b")]),
       st.sampled_from(["", "a", "b"]))  # fmt: skip
def test_at_most_one_machine_may_send_a_file(file: object, agreed: Agreed | None, home: str):
    homes = {(file.project, file.seat): home} if home else {}  # type: ignore[attr-defined]
    able = [machine for machine in "ab" if may_send(file, agreed, machine, homes)]  # type: ignore[arg-type]
    is_new = (agreed is None or not agreed.owner) and not (home and file.seat)  # type: ignore[attr-defined]
    assert able == ["a", "b"] if is_new else len(able) == 1


@given(st.sets(st.integers(), max_size=60), st.integers(0, 200))
def test_few_removals_are_never_asked_about_and_more_than_a_fifth_always_is(gone: set[int], owned: int):
    named = [str(one) for one in gone]
    assert is_much(named, owned) == (len(gone) > 5 and len(gone) > owned / 5)


@given(st.dictionaries(st.sampled_from(["a/x", "a/y", "b/x", "b/c/x"]), st.sampled_from("123")),
       st.dictionaries(st.sampled_from(["a/x", "a/y", "b/x", "b/c/x"]), st.sampled_from("123")))  # fmt: skip
def test_folders_differ_just_when_their_files_do(one: dict[str, str], other: dict[str, str]):
    differing = {path.rpartition("/")[0] for path in differences(one, other)}
    assert set(differences(folder_digests(one.items()), folder_digests(other.items()))) == differing


_FIELDS = st.dictionaries(
    st.sampled_from(
        "title objective notified_at notify_message consumed_at consumed_ack todo_path response_path".split()
    ),
    st.text(max_size=8),
)


@given(st.sampled_from([ReceiptKind.DISPATCH, ReceiptKind.COMPLETION]), _FIELDS, _FIELDS)
def test_what_a_machine_notes_for_itself_does_not_change_what_travels(
    kind: ReceiptKind, said: dict[str, str], own: dict[str, str]
):
    name = receipt_name("T", "planner", "memory")
    receipt = new_receipt(kind, name, said)
    noted = receipt.with_fields(
        {key: item for key, item in own.items() if key.startswith(("noti", "todo", "consumed"))}
    )
    sent = shared_form(receipt)
    assert sent == shared_form(noted)
    arrived = read_receipt(name, sent or b"")
    assert shared_form(arrived) == sent
    assert round_of(arrived) == round_of(receipt) == read_mark(mark_of(noted)[1])[1]
