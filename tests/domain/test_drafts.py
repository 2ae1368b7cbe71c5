"""What Memory may write, and how."""

from __future__ import annotations

import pytest

from oracle.domain.records.drafts import Draft, Evidence, name_of
from oracle.errors import InvalidName, InvalidRecord, OracleError, OwnershipError


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (Draft("delivery", "a", "t"), OwnershipError),
        (Draft("decision", "a", "\n"), InvalidRecord),
        (Draft("decision", "a", "t", confidence=""), InvalidRecord),
        (Draft("decision", "a", "t", status="x"), InvalidRecord),
        (Draft("finding", "a", "t"), InvalidRecord),
        (Draft("finding", "a", "t", evidence=(Evidence("", "s"),)), InvalidRecord),
        (Draft("plan", "a", "t", evidence=(Evidence("low", ""),)), InvalidRecord),
        (Draft("plan", "a", "t", task_id="PAY 7"), InvalidName),
        (Draft("plan", "a", "t", task_id="../x"), InvalidName),
        (Draft("plan", "a", "t", task_id="#"), InvalidName),
        (Draft("plan", "a", "t", task_id="GH#"), InvalidName),
        (Draft("plan", "a", "t", task_id="#1 2"), InvalidName),
        (Draft("plan", "a", "t", task_id="entity:taskid:"), InvalidName),
        (Draft("plan", "a", "t", related_task_ids=("T-1", "a\nb")), InvalidName),
    ],
)
def test_rules(draft: Draft, error: type[OracleError]) -> None:
    with pytest.raises(error) as caught:
        draft.check()
    assert caught.value.hint


@pytest.mark.parametrize(
    "task", ["", "PAY-7", "#12", "GH#12", "entity:taskid:PAY-7", "entity:taskid:GH#1", "任务-1", "v1.2"]
)
def test_names_of_tasks(task: str) -> None:
    draft = Draft("plan", "a", "t", task_id=task, related_task_ids=(task,))
    assert draft.check() is None


def test_a_secret_is_not_repeated_as_a_bad_name() -> None:
    draft = Draft("plan", "a", "t", task_id="x " + "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8")
    assert draft.check() is None


def test_fields_in_their_order_without_the_empty_ones() -> None:
    fields = Draft(
        "decision", "a", " a\tb ", supersedes=("x",), extra={"title": "no", "more": "yes", "none": ""}
    ).fields("ID", "TS")
    assert list(fields) == [
        "schema_version", "id", "project", "seat", "kind", "title", "author", "status", "ts", "confidence", "source",
        "supersedes", "more",
    ]  # fmt: skip
    assert (fields["title"], fields["supersedes"], fields["more"]) == ("a b", ["x"], "yes")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Use One Lock!", "use-one-lock"),
        ("修复 锁", "修复-锁"),
        ("ＡＲＥＮＡ", "arena"),
        ("--", "untitled"),
        ("", "untitled"),
        ("a" * 200, "a" * 80),
        ("../..", "untitled"),
        ("字" * 40, "字" * 26),
    ],
)
def test_names(title: str, name: str) -> None:
    assert name_of(title) == name


@pytest.mark.parametrize("field", ["kind", "status", "confidence", "task_id"])
def test_a_long_value_that_is_refused_is_not_repeated_whole(field: str) -> None:
    fields = {"kind": "plan", "project": "arena", "title": "T", field: "no " * 1000}
    with pytest.raises(OracleError) as caught:
        Draft(**fields).check()
    assert len(caught.value.sentence) < 200
