"""What was not delivered is seen and not lost: on a full or read-only disk, for a marker that is wrong, and for two markers."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.app import journal
from oracle.app.context import Context
from oracle.app.delivery import resume
from oracle.cli.main import run
from oracle.store.delivery.inbox import parse
from tests.disks import Disk
from tests.hook.seat import Seat

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKER = "[DELIVER:seat=planner task_id=T-1 project=install]"


def shown(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(done.stdout)
    return content


# Disks ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def small(disk: Disk, tmp_path: Path) -> Seat:
    """Return a seat whose home is a small file system."""
    (tmp_path / "run").mkdir()
    return Seat(tmp_path)


@pytest.mark.parametrize("door", ["next turn", "resume"])
@pytest.mark.parametrize("place", ["XDG_RUNTIME_DIR", "TMPDIR"])
@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_an_answer_that_the_disk_refuses_is_kept_and_delivered_later(
    disk: Disk, small: Seat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, place: str, door: str
):
    small.dispatch("T-1")
    named = {place: str(tmp_path / "run")}
    disk.spoil(fault)
    done = small.run(small.payload(f"Option B. {MARKER}"), **named)
    assert done.stderr == b"deliver_skipped: disk\n"
    (kept,) = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert str(kept) in shown(done)["systemMessage"]
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert small.answers() == {}

    small.run(small.payload("Nothing yet."), **named)  # the disk is as it was
    assert kept.exists()
    disk.mend(fault)
    if door == "next turn":
        small.run(small.payload("Nothing to deliver."), **named)
    else:
        monkeypatch.setenv(place, str(tmp_path / "run"))
        assert len(resume.resume(Context.open(small.root.path)).done) >= 1
    assert small.answers() == {"T-1": "Option B."}
    assert small.receipts() == {"T-1__memory__planner.json", "T-1__planner__memory.json.consumed"}
    assert not kept.exists()
    assert not [name for name in small.inbox() if name.startswith("intent-")]


@pytest.mark.parametrize("folder", ["absent", "of everyone", "a link"])
def test_an_answer_that_can_be_kept_nowhere_is_said(disk: Disk, small: Seat, tmp_path: Path, folder: str):
    """Nothing is written into a folder that others may enter or that leads elsewhere."""
    small.dispatch("T-1")
    place = tmp_path / "run" / f"memory-oracle-{os.getuid()}"
    if folder == "of everyone":
        place.mkdir()
        place.chmod(0o777)
    elif folder == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    disk.spoil("read-only")
    target = str(tmp_path / "run") if folder != "absent" else str(small.home)
    done = small.run(small.payload(f"Option B. {MARKER}"), TMPDIR=target)
    assert "The answer is kept nowhere" in shown(done)["systemMessage"]
    assert [path for path in tmp_path.rglob("*intent-*") if small.home not in path.parents] == []


@pytest.mark.parametrize("left", ["nothing", "intent", "wake-up", "taken"])
def test_resume_on_a_read_only_root_is_a_failure_of_the_disk(
    disk: Disk, small: Seat, capsys: pytest.CaptureFixture[str], left: str
):
    small.dispatch("T-1")
    if left != "nothing":
        small.run(small.payload(f"Option B. {MARKER}"))
    if left == "taken":
        for path in Path(small.root.inbox).glob("wake-*.json"):
            path.rename(f"{path}.taken")
            os.utime(f"{path}.taken", (1, 1))
    if left == "intent":
        for path in Path(small.root.inbox).glob("wake-*.json"):
            content = {**json.loads(path.read_bytes()), "kind": "intent", "subject": ["delivery", "install"]}
            entry = parse(json.dumps(content).encode())
            assert entry is not None
            (path.parent / entry.file_name).write_text(json.dumps(content))
    disk.spoil("read-only")
    code = run(["resume", "--json", "--memory-dir", small.root.path])
    said = capsys.readouterr()
    if left == "nothing":
        assert (code, said.err) == (0, "")
    else:
        assert json.loads(said.out or said.err)["error"]["code"] == "disk", said


# Markers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes",
    [
        "seat=reviewer task_id=T-1 project=install",
        "seat=reviewer task_id=T-1",
        "seat=reviewer project=install",
        "seat=reviewer",
    ],
)
def test_a_marker_for_a_seat_that_did_not_ask_is_refused_in_every_form(seat: Seat, attributes: str):
    seat.dispatch("T-1")
    before = seat.receipts()
    done = seat.run(seat.payload(f"Option B. [DELIVER:{attributes}]"))
    assert done.stderr == b"deliver_skipped: other_asker\n"
    assert "planner waits for the answer to T-1" in shown(done)["systemMessage"]
    assert (seat.answers(), seat.receipts()) == ({}, before)
    seat.run(seat.payload(f"Option B. {MARKER}"))
    assert seat.answers() == {"T-1": "Option B."}


def test_a_marker_that_is_dropped_is_named(seat: Seat):
    seat.dispatch("T-1")
    seat.dispatch("T-2", "reviewer")
    seat.run(seat.payload(f"One. {MARKER}\nTwo. [DELIVER:seat=reviewer task_id=T-2 project=install]"))
    assert list(seat.answers()) == ["T-2"]
    named = [line for line in seat.log() if line["what"] == "deliver_skipped: dropped_marker"]
    assert [line["detail"].split(":")[0] for line in named] == ["T-1 to planner"]
    events = journal.events(Context.open(seat.root.path), task="T-1")
    assert [event["event"] for event in events] == ["skip"]


@pytest.mark.parametrize(
    ("message", "environ", "stop_hook_active", "blocks"),
    [
        ("x [DELIVER:seat=<X>]", {}, False, True),
        ("x [DELIVER:seat=reviewer task_id=T-1]", {}, False, True),
        ("x [DELIVER:seat=<X>]", {}, True, False),
        (f"x {MARKER}", {"ORACLE_SEAT": "planner"}, False, True),
        ("x", {}, False, False),
    ],
)
def test_a_strict_hook_makes_the_agent_go_on_once(
    seat: Seat, message: str, environ: dict[str, str], stop_hook_active: bool, blocks: bool
):
    seat.dispatch("T-1")
    done = seat.run(seat.payload(message, stop_hook_active=stop_hook_active), "--strict", **environ)
    said = shown(done) if done.stdout else {}
    assert (said.get("decision") == "block") is blocks
    assert ("Correct the marker" in said.get("reason", "")) is blocks
    plain = seat.run(seat.payload(message, stop_hook_active=stop_hook_active), **environ)
    assert b"decision" not in plain.stdout


def test_a_strict_hook_goes_on_for_nothing_that_another_marker_would_not_avoid(seat: Seat):
    seat.dispatch("T-1", delivered="first")
    done = seat.run(seat.payload(f"x {MARKER}"), "--strict")
    assert list(shown(done)) == ["systemMessage"]


@pytest.mark.parametrize("place", ["message", "transcript", "summary"])
def test_half_a_surrogate_pair_reaches_no_file(seat: Seat, place: str):
    seat.dispatch("T-1")
    text = f"Option B \ud800. {MARKER}"
    if place == "summary":
        text = '\udc00 B [DELIVER:seat=planner task_id=T-1 project=install summary="a \ud800 b"]'
    payload = seat.payload(text)
    if place == "transcript":
        path = seat.workspace / "t.jsonl"
        said = {"type": "assistant", "message": {"role": "assistant", "content": text}}
        path.write_text(json.dumps(said) + "\n")
        payload = seat.payload(None, transcript_path=str(path))
    seat.run(json.dumps(payload).encode())
    assert "\ufffd" in seat.answers()["T-1"]
    for found in seat.home.rglob("*"):
        if found.is_file():
            assert b"\\ud8" not in found.read_bytes().lower()
            assert b"\\udc" not in found.read_bytes().lower()
    seat.run(json.dumps(payload).encode())
    assert len(list(Path(seat.root.responses).glob("*.json"))) == 1


@pytest.mark.parametrize("typed", ["t-17", "T-1", "T-71", "TT-17"])
def test_a_marker_with_a_mistyped_task_names_the_one_that_waits(seat: Seat, typed: str):
    seat.dispatch("T-17")
    done = seat.run(seat.payload(f"Option B. [DELIVER:seat=planner task_id={typed} project=install]"))
    assert done.stderr == b"deliver_skipped: mistyped_task\n"
    assert "did you mean T-17, which planner waits for?" in shown(done)["systemMessage"]
    assert seat.answers() == {}


@pytest.mark.parametrize(
    ("attributes", "code", "meant"),
    [
        ("seat=plannr task_id=Q-7", "unknown_task", "seat=planner task_id=Q-7"),
        ("seat=planner task_id=Q-77", "unknown_task", "seat=planner task_id=Q-7"),
        ("seat=Planner task_id=q-7", "unknown_task", "seat=planner task_id=Q-7"),
        ("seat=plannr", "missing_task_id", "seat=planner"),
        ("seat=plannr task_id=Q-7 project=install", "unknown_seat", "seat=planner task_id=Q-7"),
    ],
)
def test_a_marker_that_fits_no_dispatch_by_a_slip_names_the_one_that_waits(
    seat: Seat, attributes: str, code: str, meant: str
):
    seat.dispatch("Q-7")
    done = seat.run(seat.payload(f"Option B. [DELIVER:{attributes}]"))
    assert done.stderr == f"deliver_skipped: {code}\n".encode()
    assert shown(done)["systemMessage"].endswith(f" Did you mean {meant}?")
    assert f"Did you mean {meant}?" in seat.log()[-1]["detail"]
    assert seat.answers() == {}


@pytest.mark.parametrize("attributes", ["seat=planner task_id=T-404", "seat=stranger task_id=Q-7", "seat=builder"])
def test_a_marker_that_fits_no_dispatch_at_all_names_none(seat: Seat, attributes: str):
    seat.dispatch("Q-7")
    seat.dispatch("Q-8", delivered="first")
    done = seat.run(seat.payload(f"Option B. [DELIVER:{attributes}]"))
    assert "Did you mean" not in shown(done)["systemMessage"]
