"""What peers delivered: both layouts are read, a record cites them, nothing of their text is in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from oracle.app.teamwork.peers import list_peers, synthesise
from oracle.errors import NotFound, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.squad import Squad

TEXT = """task_id: ARENA-228
status: completed

# Delivery: the retries

The quick canary of the northern office jumped over every lazy dog that slept beside the old river bank.
It follows ARENA-101 and commit 1a2b3c4d.
"""
RECEIPT = {
    "acknowledged_by": "ops",
    "acknowledged_at": "2026-04-27T18:30:00Z",
    "verdict": "SUBMITTED",
    "notes": "a raw canary note",
}


def put(squad: Squad, path: str, *, text: str | bytes | None = TEXT, receipt: object = RECEIPT) -> Path:
    folder = squad.tasks / "peer-deliveries" / path
    folder.mkdir(parents=True)
    if text is not None:
        (folder / "DELIVERY.md").write_bytes(text if isinstance(text, bytes) else text.encode())
    if receipt is not None:
        (folder / "receipt.json").write_text(
            receipt if isinstance(receipt, str) else json.dumps(receipt), encoding="utf-8"
        )
    return folder


def listed(squad: Squad) -> list[tuple[str, str, str]]:
    return [
        (one.delivery.peer, one.delivery.task_id, one.delivery.said("verdict"))
        for one in list_peers(squad.oracle, "demo")
    ]


def test_both_layouts_are_read(squad: Squad):
    assert listed(squad) == []
    put(squad, "north")
    put(squad, "south/tasks/T-1")
    put(squad, "south/tasks/T-2", receipt=None)
    (squad.tasks / "peer-deliveries" / "south" / "meta.json").write_text("{}", encoding="utf-8")
    assert listed(squad) == [("north", "ARENA-228", "SUBMITTED"), ("south", "T-1", "SUBMITTED"), ("south", "T-2", "")]


def test_record_cites_and_never_copies(squad: Squad):
    folder = put(squad, "north")
    path = synthesise(squad.oracle, "demo", "north", summary="The retries are bounded now; we can merge.")
    shown = squad.oracle.show(path.removeprefix(f"{squad.path}/"))
    for words in (
        str(folder / "DELIVERY.md"),
        "The retries are bounded now",
        "verdict: SUBMITTED",
        "ARENA-101",
        "1a2b3c4d",
    ):
        assert words in shown.text
    for words in ("canary", "lazy dog", "the retries\n", "raw"):
        assert words not in shown.text.replace("The retries are", "")
    assert (shown.record.kind, shown.record.task_id) == ("finding", "ARENA-228")
    assert [one.record for one in list_peers(squad.oracle, "demo")] == [shown.record.path]


def test_nothing_of_the_peer_reaches_the_root_or_the_journal(squad: Squad):
    put(squad, "north")
    synthesise(squad.oracle, "demo", "north")
    squad.oracle.reconcile(full=True)
    found = [path for path in squad.path.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]
    assert found == []


def test_same_delivery_is_recorded_once_and_a_newer_one_supersedes(squad: Squad):
    folder = put(squad, "north")
    first = synthesise(squad.oracle, "demo", "north")
    assert synthesise(squad.oracle, "demo", "north") == first
    (folder / "DELIVERY.md").write_text(TEXT + "more\n", encoding="utf-8")
    second = synthesise(squad.oracle, "demo", "north")
    assert second != first
    statuses = {
        item.path: item.effective_status for item in squad.oracle.records({"project": "demo", "kind": "finding"})
    }
    assert sorted(statuses.values()) == ["open", "superseded"]


@pytest.mark.parametrize(
    "summary",
    [
        "We see that the quick canary of the northern office jumped over every lazy dog, so merge.",
        "THE QUICK canary of the northern office jumped, over every lazy dog that slept",
    ],
)
def test_summary_that_repeats_the_peer_is_refused(squad: Squad, summary: str):
    put(squad, "north")
    with pytest.raises(UsageError, match="repeats more than"):
        synthesise(squad.oracle, "demo", "north", summary=summary)
    assert not (squad.path / "projects" / "demo" / "finding").exists()


def test_summary_in_chinese_is_compared_too(squad: Squad):
    put(squad, "north", text="task_id: T-1\n\n重试的次数已经收紧为五次并且写入了配置文件。\n")
    with pytest.raises(UsageError):
        synthesise(squad.oracle, "demo", "north", summary="结论：重试的次数已经收紧为五次并且写入了配置文件")
    assert synthesise(squad.oracle, "demo", "north", summary="可以合并。")


def test_bad_folders_hide_no_other(squad: Squad, tmp_path: Path):
    put(squad, "a", text=b"\xff\xfe", receipt="{")
    put(squad, "b", text=None, receipt="[1]")
    put(squad, "c d")
    put(squad, "ok")
    outside = tmp_path / "secret.md"
    outside.write_text("task_id: OUT-1\n", encoding="utf-8")
    (put(squad, "link", text=None, receipt=None) / "DELIVERY.md").symlink_to(outside)
    (squad.tasks / "peer-deliveries" / "whole").symlink_to(tmp_path)
    assert [peer for peer, *_ in listed(squad)] == ["a", "b", "link", "ok"]
    assert ("link", "", "") in listed(squad)
    for words in (
        "is not a JSON object",
        "holds no DELIVERY.md",
        "can't be used as a name",
        "leads out of peer-deliveries",
    ):
        assert any(words in line for line in squad.warnings), words


def test_what_can_not_be_recorded(squad: Squad):
    with pytest.raises(NotFound):
        synthesise(squad.oracle, "demo", "north")
    put(squad, "south/tasks/T-1")
    put(squad, "south/tasks/T-2")
    with pytest.raises(UsageError, match="several tasks: T-1, T-2"):
        synthesise(squad.oracle, "demo", "south")
    assert synthesise(squad.oracle, "demo", "south", task_id="T-2")
