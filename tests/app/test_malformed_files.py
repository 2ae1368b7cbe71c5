"""A file from outside that its schema refuses is shown in a sentence, never used, never changed, and stops nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from oracle.app.teamwork.peers import list_peers, synthesise
from oracle.daemon.serve import Daemon
from oracle.domain import schemas
from oracle.errors import Conflict, HandoffFailed, OracleError
from oracle.store.delivery.entries import InboxEntry, InboxKind
from tests.app.squad import Squad
from tests.domain.test_schemas import mutants

NOT_USED = "is not used"
ASKED, ANSWERED = "Q-1__planner__memory.json", "Q-1__memory__planner.json"


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out a team with two answered questions that lack the last step, a wake-up that waits, and a peer's delivery."""
    folder = tmp_path_factory.mktemp("ready") / "team"
    squad = Squad(folder)
    squad.oracle.init()
    squad.recorder.away = {"planner"}
    for task_id in ("Q-1", "Q-2"):
        squad.ask(task_id)
        squad.deliver(task_id)
        asked = squad.folder / f"{task_id}__planner__memory.json"
        asked.with_name(f"{asked.name}.consumed").rename(asked)
    peer = squad.tasks / "peer-deliveries/north"
    peer.mkdir(parents=True)
    (peer / "DELIVERY.md").write_text("task_id: T-7\nstatus: completed\n", encoding="utf-8")
    (peer / "receipt.json").write_text('{"task_id": "T-7", "verdict": "SUBMITTED"}', encoding="utf-8")
    squad.oracle.close()
    return folder


def again(ready: Path) -> Squad:
    """Lay the team out anew, at the same place, since its files name it."""
    kept = ready.with_name("kept")
    if not kept.exists():
        shutil.copytree(ready, kept)
    shutil.rmtree(ready)
    shutil.copytree(kept, ready)
    for profile in (ready / "home/.agents/profiles").glob("*.toml"):
        profile.unlink()  # it is written again
    return Squad(ready)


class Doors:
    """What the doors did and said after one file was changed."""

    def __init__(self, squad: Squad, path: Path, content: object) -> None:
        self.raw = json.dumps(content).encode()
        self.path = path
        path.write_bytes(self.raw)
        self.problems = [text for text in squad.oracle.handoffs().problems if NOT_USED in text]
        Daemon(squad.oracle.root, waker=squad.recorder).once()
        resumed = squad.oracle.resume()
        self.left = resumed.left
        self.said = [*self.problems, *resumed.left, *(line for line in squad.warnings if NOT_USED in line)]
        assert squad.states()["Q-2"] == "consumed"

    def is_as_it_was(self) -> bool:
        return self.path.exists() and self.path.read_bytes() == self.raw


def is_valid(name: str, content: dict[str, Any]) -> bool:
    return Draft202012Validator(schemas.load(name)).is_valid(content)


FEW = settings(max_examples=8, suppress_health_check=list(HealthCheck))


@FEW
@given(data=st.data())
def test_a_dispatch(ready: Path, data: st.DataObject) -> None:
    squad = again(ready)
    (squad.folder / ANSWERED).unlink()
    (squad.path / "responses/Q-1.json").unlink()
    content = data.draw(mutants("receipt-dispatch", squad.receipt(ASKED)))
    assume(content.get("kind") == "dispatch")
    found = Doors(squad, squad.folder / ASKED, content)
    if is_valid("receipt-dispatch", content):
        assert found.problems == []
        squad.deliver()
        return
    assert [line.startswith(f"{ASKED}: ") for line in found.problems] == [True]
    with pytest.raises(HandoffFailed, match=NOT_USED):
        squad.deliver()
    assert found.is_as_it_was()
    assert "Q-1.json" not in squad.responses()
    assert ANSWERED not in squad.receipts()


@FEW
@given(data=st.data())
def test_a_completion(ready: Path, data: st.DataObject) -> None:
    squad = again(ready)
    content = data.draw(mutants("receipt-completion", squad.receipt(ANSWERED)))
    assume(content.get("kind") == "completion")
    dispatch = (squad.folder / ASKED).read_bytes()
    found = Doors(squad, squad.folder / ANSWERED, content)
    if is_valid("receipt-completion", content):
        assert found.problems == []
        squad.ack("Q-1", "memory", "planner")
        return
    assert [line.startswith(f"{ANSWERED}: ") for line in found.problems] == [True]
    assert [task for seat, task in squad.recorder.woken() if seat == "planner"] == ["Q-2"]
    before = squad.snapshot()
    for act in (lambda: squad.ack("Q-1", "memory", "planner"), squad.deliver, lambda: squad.deliver(supersedes=True)):
        with pytest.raises((HandoffFailed, Conflict), match=NOT_USED):
            act()
    assert squad.snapshot() == before
    assert found.is_as_it_was()
    assert (squad.folder / ASKED).read_bytes() == dispatch


@FEW
@given(data=st.data())
def test_a_response(ready: Path, data: st.DataObject) -> None:
    squad = again(ready)
    (squad.folder / ANSWERED).unlink()
    content = data.draw(mutants("response", squad.response()))
    found = Doors(squad, squad.path / "responses/Q-1.json", content)
    assert found.is_as_it_was()
    if is_valid("response", content):
        assert not [line for line in found.said if NOT_USED in line]
        return
    assert any("responses/Q-1.json: " in line and NOT_USED in line for line in found.said)
    squad.warnings.clear()
    squad.oracle.handoff("Q-1")
    assert len([line for line in squad.warnings if NOT_USED in line]) == 1
    assert ANSWERED not in squad.receipts()
    with pytest.raises(Conflict):
        squad.deliver()
    assert found.is_as_it_was()
    assert squad.deliver(supersedes=True).is_new


@FEW
@given(data=st.data())
def test_an_entry_of_the_inbox(ready: Path, data: st.DataObject) -> None:
    squad = again(ready)
    (path,) = (one for one in (squad.path / "_state/inbox").glob("wake-*.json") if '"Q-1"' in one.read_text())
    squad.recorder.away.clear()
    content = data.draw(mutants("inbox-entry", json.loads(path.read_bytes())))
    if is_valid("inbox-entry", content):
        path.unlink()
        path = path.with_name(InboxEntry(InboxKind(content["kind"]), tuple(content["subject"]), {}, 0).file_name)
    found = Doors(squad, path, content)
    is_named = any(str(path) in line and "not an inbox entry" in line for line in found.left)
    assert is_named is not is_valid("inbox-entry", content)
    assert not is_named or found.is_as_it_was()
    assert ("planner", "Q-2") in squad.recorder.woken()


@FEW
@given(data=st.data())
def test_a_receipt_of_a_peer(ready: Path, data: st.DataObject) -> None:
    squad = again(ready)
    path = squad.tasks / "peer-deliveries/north/receipt.json"
    content = data.draw(mutants("receipt-peer", json.loads(path.read_bytes())))
    found = Doors(squad, path, content)
    (listed,) = list_peers(squad.oracle, "demo")
    is_named = [line for line in listed.delivery.problems if NOT_USED in line]
    assert len(is_named) == (not is_valid("receipt-peer", content))
    if is_named:
        assert (listed.delivery.said("verdict"), listed.delivery.task_id) == ("", "T-7")
    assert Path(synthesise(squad.oracle, "demo", "north")).exists()
    assert found.is_as_it_was()


CHANGES: tuple[dict[str, object], ...] = (
    {"delivered_at": "yesterday"},
    {"unsolicited": "yes"},
    {"task_id": "../x"},
    {"status": ["done"]},
)


@pytest.mark.parametrize("change", CHANGES, ids=repr)
@pytest.mark.parametrize(
    ("step", "suffix"),
    [("supersede", ""), ("supersede", ".consumed"), ("complete", ""), ("complete", ".consumed"), ("withdraw", "")],
)
def test_no_step_takes_the_place_of_a_malformed_receipt(
    tmp_path: Path, change: dict[str, object], suffix: str, step: str
) -> None:
    from oracle.domain.delivery.receipts import ReceiptKind, new_receipt, receipt_name
    from oracle.store.delivery import handoffs

    name = receipt_name("T-1", "memory", "planner")
    receipt = new_receipt(ReceiptKind.COMPLETION, name, {"summary": "B."})
    path = tmp_path / f"{name.file_name}{suffix}"
    path.write_text(json.dumps({**receipt.fields, **change}), encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(OracleError, match=f"{next(iter(change))} must be .*{NOT_USED}"):
        handoffs.withdraw(str(tmp_path), name) if step == "withdraw" else getattr(handoffs, step)(
            str(tmp_path), receipt
        )
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if not one.name.startswith(".")] == [path.name]
