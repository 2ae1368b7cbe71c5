"""Try that an answer is stored once, that no other is ever lost, and that it all holds for twenty processes and a kill."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.errors import Conflict, InvalidName, InvalidRecord, NewerVersion
from oracle.store.delivery import responses
from oracle.store.delivery.handoffs import Outcome
from oracle.store.root.layout import Root
from tests.store.crash import each_crash, run_at_once

FIRST = {"answer": "Option B.", "claims": [], "delivered_at": "2026-05-01", "zzz": {"unknown": [1]}}
OTHER = {"answer": "Option C.", "claims": []}


@pytest.fixture
def place(root: Path) -> Root:
    return Root(str(root))


def names(place: Root) -> list[str]:
    return sorted(entry.name for entry in Path(place.responses).iterdir() if not entry.name.startswith("."))


def test_an_answer_is_stored_once_and_the_same_again_is_seen(place: Root) -> None:
    stored = responses.put(place, "T-1", FIRST)
    assert (stored.outcome, stored.path) == (Outcome.CREATED, f"{place.path}/responses/T-1.json")
    assert responses.read(place, "T-1") == {"schema_version": 1, "query_id": "T-1", **FIRST}
    again = responses.put(
        place, "T-1", FIRST | {"delivered_at": "2026-05-02", "all_verified": False, "claim_results": [1]}
    )
    assert (again.outcome, again.digest) == (Outcome.ALREADY, stored.digest)
    whole = responses.read(place, "T-1")
    assert whole is not None
    assert responses.put(place, "T-1", whole).outcome is Outcome.ALREADY
    assert names(place) == ["T-1.json"]


def test_another_answer_is_kept_aside_and_the_first_is_untouched(place: Root) -> None:
    responses.put(place, "T-1", FIRST)
    before = Path(responses.path_of(place, "T-1")).read_bytes()
    for _ in range(2):
        with pytest.raises(Conflict, match=r"kept aside as T-1\.conflict-[0-9a-f]{12}\.json") as caught:
            responses.put(place, "T-1", OTHER)
    assert caught.value.exit_code == 6
    assert Path(responses.path_of(place, "T-1")).read_bytes() == before
    assert responses.list_answers(place) == responses.Answers(
        frozenset({"T-1"}), {"T-1": (responses.digest_of(OTHER),)}
    )
    assert len(names(place)) == 2


def test_to_choose_one_of_several_answers_that_were_kept_aside_settles_all(place: Root) -> None:
    old = responses.put(place, "T-1", FIRST)
    third = {**OTHER, "answer": "Option D."}
    for answer in (OTHER, third):
        with pytest.raises(Conflict):
            responses.put(place, "T-1", answer)
    fresh = {**OTHER, "answer": "Option E."}
    assert responses.supersede(place, "T-1", fresh).settled == 0, "who brings a new answer may not know the others"
    assert len(responses.list_answers(place).conflicts["T-1"]) == 2
    chosen = responses.supersede(place, "T-1", OTHER)
    assert (chosen.outcome, chosen.settled) == (Outcome.CREATED, 1)
    assert responses.list_answers(place).conflicts == {}
    left = {f"T-1.superseded-{one}.json" for one in (old.digest, *map(responses.digest_of, (third, fresh)))}
    assert set(names(place)) == {"T-1.json", *left}


def test_superseding_keeps_the_old_and_settles_the_equal_conflict(place: Root) -> None:
    old = responses.put(place, "T-1", FIRST)
    with pytest.raises(Conflict):
        responses.put(place, "T-1", OTHER)
    assert responses.supersede(place, "T-1", OTHER).outcome is Outcome.CREATED
    assert responses.supersede(place, "T-1", OTHER).outcome is Outcome.ALREADY
    standing = responses.read(place, "T-1")
    assert standing is not None
    assert standing["answer"] == "Option C."
    assert names(place) == ["T-1.json", f"T-1.superseded-{old.digest}.json"]
    assert responses.list_answers(place).conflicts == {}
    assert responses.put(place, "T-1", OTHER).outcome is Outcome.ALREADY


@pytest.mark.parametrize("task_id", ["", "..", "../x", "a/b", "<X>", "-rf", "T-1.conflict-0123456789ab", "a" * 129])
def test_an_odd_task_id_never_meets_a_path(place: Root, task_id: str) -> None:
    with pytest.raises(InvalidName):
        responses.put(place, task_id, FIRST)
    assert not (responses.list_answers(place).answered)


def test_a_long_id_has_room_for_its_conflict(place: Root) -> None:
    responses.put(place, "a" * 128, FIRST)
    with pytest.raises(Conflict):
        responses.put(place, "a" * 128, OTHER)


def test_a_foreign_response_that_can_not_be_read_is_a_conflict_and_is_kept(place: Root, root: Path) -> None:
    (root / "responses").mkdir()
    (root / "responses/T-1.json").write_bytes(b'{"answer": "ha')
    with pytest.raises(InvalidRecord, match="may be incomplete"):
        responses.read(place, "T-1")
    with pytest.raises(Conflict, match="can't be read"):
        responses.put(place, "T-1", FIRST)
    responses.supersede(place, "T-1", FIRST)
    assert (next((root / "responses").glob("*.superseded-*"))).read_bytes() == b'{"answer": "ha'
    assert names(place)[0] == "T-1.json"


def test_the_response_of_an_older_tool_counts_as_the_same_answer(place: Root, root: Path) -> None:
    (root / "responses").mkdir()
    (root / "responses/T-1.json").write_text(json.dumps({"query_id": "T-1", "answer": "x", "claims": []}))
    assert responses.put(place, "T-1", {"answer": "x", "claims": []}).outcome is Outcome.ALREADY


def test_a_newer_response_is_never_replaced(place: Root, root: Path) -> None:
    (root / "responses").mkdir()
    (root / "responses/T-1.json").write_text('{"schema_version": 2}')
    with pytest.raises(NewerVersion):
        responses.supersede(place, "T-1", FIRST)
    assert (root / "responses/T-1.json").read_text() == '{"schema_version": 2}'


def test_of_twenty_equal_answers_one_is_stored(place: Root) -> None:
    def act(number: int) -> int:
        return int(
            responses.put(place, "T-1", FIRST | {"delivered_at": f"2026-05-{number + 1:02}"}).outcome is Outcome.ALREADY
        )

    assert sorted(run_at_once(20, act)) == [0] + [1] * 19
    assert names(place) == ["T-1.json"]


def test_of_twenty_different_answers_none_is_lost(place: Root) -> None:
    def act(number: int) -> int:
        try:
            responses.put(place, "T-1", {"answer": f"{number}"})
        except Conflict:
            return 1
        return 0

    assert sorted(run_at_once(20, act)) == [0] + [1] * 19
    assert len(names(place)) == 20
    assert len(responses.list_answers(place).conflicts["T-1"]) == 19


def test_of_twenty_replacements_none_is_lost(place: Root) -> None:
    assert (
        run_at_once(20, lambda number: len(responses.supersede(place, "T-1", {"answer": f"{number}"}).outcome) - 7)
        == [0] * 20
    )
    assert len(names(place)) == 20


def test_death_at_any_file_operation_loses_no_answer(tmp_path: Path) -> None:
    def place_of(at: int) -> Root:
        (tmp_path / str(at)).mkdir(exist_ok=True)
        return Root(f"{tmp_path}/{at}")

    def act(at: int) -> None:
        place = place_of(at)
        responses.put(place, "T-1", FIRST)
        try:
            responses.put(place, "T-1", OTHER)
        except Conflict:
            responses.supersede(place, "T-1", OTHER)

    for number in range(200):
        place_of(number)
    for at in each_crash(act):
        place = place_of(at)
        if responses.list_answers(place).answered:
            for name in names(place):
                assert json.loads((tmp_path / str(at) / "responses" / name).read_bytes())["answer"]
            responses.supersede(place, "T-1", OTHER)
        else:
            act(at)
        assert [name.split("-")[1].split(".")[-1] for name in names(place)] == ["json", "superseded"] or len(
            names(place)
        ) == 2
        standing = responses.read(place, "T-1")
        assert standing is not None
        assert standing["answer"] == "Option C."
