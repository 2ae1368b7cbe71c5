"""Each case of stop_hook.jsonl against a real process, in a pane of a private tmux server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hook.seat import Seat
from tests.wake.stage import Stage


def fill(value: Any, workspace: Path) -> Any:
    return json.loads(json.dumps(value).replace("$WORKSPACE", str(workspace)))


def transcript(seat: Seat, lines: list[Any]) -> str:
    path = seat.workspace / "transcript.jsonl"
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.cases("stop_hook")
def test_case(seat: Seat, stage: Stage, case: dict[str, Any]):
    expect = case["expect"]
    before = {item["task_id"]: item.get("delivered") for item in case["open_dispatches"]}
    for item in case["open_dispatches"]:
        seat.dispatch(item["task_id"], item["source"], delivered=item.get("delivered"))
    receipts = seat.receipts()
    prompts = stage.box("demo-memory")
    payload = {"transcript_path": transcript(seat, case["transcript"]), **fill(case["payload"], seat.workspace)}
    tmux = {"TMUX": stage.tmux("display-message", "-p", "#{socket_path},#{pid},0"), "TMUX_PANE": prompts.pane}

    done = seat.start(payload, **tmux, **case["env"])

    stderr = done.stderr.decode()
    assert expect.get("stderr", "") in stderr
    assert stderr.count("\n") == (1 if "stderr" in expect else 0), stderr
    assert prompts.read() == (["/clear"] if expect["cleared"] else [])
    standing = {task: text for task, text in before.items() if text is not None}
    new = {task: seat.answers()[task] for task, _ in expect["delivered"]}
    assert seat.answers() == {**standing, **new}
    assert all("[" not in text for text in new.values())
    made = {f"{task}__memory__{reader}.json" for task, reader in expect["delivered"]}
    turned = {f"{task}__{reader}__memory.json" for task, reader in expect["delivered"]} & receipts
    assert seat.receipts() == (receipts - turned) | made | {f"{name}.consumed" for name in turned}
    for name in made:
        receipt = json.loads((seat.folder / name).read_text(encoding="utf-8"))
        assert bool(receipt.get("unsolicited")) is bool(expect.get("unsolicited"))
    assert [name for name in seat.inbox() if name.startswith("intent-")] == []
