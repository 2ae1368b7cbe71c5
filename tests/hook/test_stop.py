"""The Stop hook as a process: what it must bear, what it must not do, and what it costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from oracle.api import Oracle
from oracle.domain.delivery.receipts import ReceiptKind, new_receipt, receipt_name
from oracle.store.delivery import handoffs as receipts
from oracle.store.delivery import inbox
from tests.growth import costs_at_most
from tests.hook.seat import HOOK, SESSION, Seat
from tests.wake.stage import Stage

MARKER = "[DELIVER:seat=planner task_id=T-1 project=install]"


# The first test -------------------------------------------------------------------------------------------------------


def loaded(seat: Seat, data: bytes) -> set[str]:
    """Return the modules that the hook loads beyond those of a bare start with the same options."""
    show = "sys.stderr.write(' '.join(sys.modules))"
    run = f"sys.path.insert(0, {str(HOOK.parent)!r}); import turn_end; turn_end.main()"
    found = []
    for code in ("pass", run):
        command = [sys.executable, "-I", "-S", "-c", f"import sys; {code}; {show}"]
        done = subprocess.run(command, input=data, capture_output=True, env=seat.environ, check=True)
        found.append(set(done.stderr.decode().split()))
    return found[1] - found[0] - {"turn_end"}


def test_turn_without_a_marker_imports_nothing(seat: Seat):
    message = "plain text with \x1b[31mcolours\x1b[0m and a\tb in DELIVERY.md"
    assert loaded(seat, json.dumps(seat.payload(message)).encode()) == set()


@pytest.mark.parametrize("prompt", ["plain", 'with "last_assistant_message": null in it'])
def test_turn_of_gemini_without_a_marker_imports_nothing(seat: Seat, prompt: str):
    payload = {"prompt": prompt, **from_gemini(seat, "plain text")}
    assert loaded(seat, json.dumps(payload).encode()) == set()


def test_sockets_of_daemons_beside_kept_answers_are_none(seat: Seat, tmp_path: Path):
    folder = tmp_path / f"memory-oracle-{os.getuid()}"
    folder.mkdir(mode=0o700)
    (folder / ("0" * 24)).touch()
    seat.environ["TMPDIR"] = str(tmp_path)
    assert loaded(seat, json.dumps(seat.payload("plain text")).encode()) == set()
    (folder / f"{'0' * 12}-intent-{'0' * 24}.json").touch()
    assert loaded(seat, json.dumps(seat.payload("plain text")).encode()) != set()


@pytest.mark.parametrize("data", [b"", b"  \n"])
def test_empty_stdin_imports_nothing(seat: Seat, data: bytes):
    assert loaded(seat, data) == set()


@pytest.mark.parametrize("switch", [{"ORACLE_INTERNAL": "1"}, {"ORACLE_HOOKS": "0"}])
def test_hook_that_is_switched_off_does_nothing(seat: Seat, switch: dict[str, str]):
    seat.dispatch("T-1")
    assert seat.run(seat.payload(f"x {MARKER}"), **switch).stderr == b""
    assert (seat.answers(), seat.log()) == ({}, [])


def escape(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


def test_marker_in_escapes_is_seen(seat: Seat):
    seat.dispatch("T-1")
    data = json.dumps(seat.payload("x @")).replace("@", escape("[DELIVER:seat=stranger]")).encode()
    assert b"DELIVER" not in data
    assert seat.run(data).stderr == b"deliver_skipped: missing_task_id\n"


@pytest.mark.parametrize(
    "marker",
    [
        "[DELIVER seat=planner task_id=T-1]",
        "[DELIVER:seat=planner task_id=T-1",
        "\nDELIVER:seat=planner]",
        "[deliver:seat=planner]",
        "[DELIVER：seat=planner]",
        "【DELIVER：seat=planner】",
    ],
)
def test_marker_that_is_nearly_one_is_named(seat: Seat, marker: str):
    seat.dispatch("T-1")
    for data in (seat.payload(f"x {marker}"), json.dumps(seat.payload(f"x {marker}"), ensure_ascii=False).encode()):
        assert seat.run(data).stderr == b"deliver_skipped: marker_malformed\n"
    assert {line["what"] for line in seat.log()} == {"deliver_skipped: marker_malformed"}
    assert seat.answers() == {}


def test_a_link_to_the_script_is_the_hook(seat: Seat, tmp_path: Path):
    link = tmp_path / "linked.py"
    link.symlink_to(HOOK)
    seat.dispatch("T-1")
    data = json.dumps(seat.payload(f"Option B. {MARKER}")).encode()
    subprocess.run([sys.executable, "-I", "-S", str(link)], input=data, env=seat.environ, check=True)
    assert seat.answers() == {"T-1": "Option B."}


def test_stdin_that_is_closed_is_borne(seat: Seat):
    command = ["sh", "-c", 'exec "$0" -I -S "$1" <&-', sys.executable, str(HOOK)]
    done = subprocess.run(command, capture_output=True, env=seat.environ, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_hook_without_a_marker_costs_no_more_than_a_bare_start(seat: Seat):
    """The transcript's size plays no part: it is not opened."""
    path = seat.workspace / "long.jsonl"
    line = json.dumps({"type": "assistant", "message": {"role": "assistant", "content": MARKER * 10}})
    path.write_text((line + "\n") * (5_000_000 // len(line)), encoding="utf-8")
    data = json.dumps(seat.payload("nothing to do " * 500, transcript_path=str(path))).encode()

    def start(*words: str) -> None:
        for _ in range(40):
            subprocess.run([sys.executable, *words], input=data, env=seat.environ, check=True)

    assert costs_at_most(1.2, lambda: start("-I", "-S", str(HOOK)), than=lambda: start("-c", "pass"))


def test_marker_that_is_not_obeyed_costs_no_heavy_module(seat: Seat):
    """`dataclasses` and what it imports would be a third of the whole."""
    found = loaded(seat, json.dumps(seat.payload("x [DELIVER:seat=planner task_id=T-404]")).encode())
    assert "oracle.hook.stop" in found
    heavy = {"dataclasses", "inspect", "tempfile", "libtmux", "sqlite3", "subprocess"}
    assert sorted(found & heavy) == []


# Other clients --------------------------------------------------------------------------------------------------------


def from_codex(seat: Seat, message: str | None) -> dict[str, Any]:
    """Return what Codex sends at the end of a turn."""
    beside = {"turn_id": "01a2", "model": "m", "permission_mode": "default", "stop_hook_active": False}
    return {**seat.payload(None, transcript_path=""), **beside, "last_assistant_message": message}


def from_gemini(seat: Seat, message: str) -> dict[str, Any]:
    """Return what Gemini sends at the end of a turn."""
    beside = {"hook_event_name": "AfterAgent", "timestamp": "2026-11-29T01:15:44.036Z", "stop_hook_active": False}
    return {**seat.payload(None, transcript_path=""), **beside, "prompt": "Who decided?", "prompt_response": message}


@pytest.mark.parametrize("client", [from_codex, from_gemini])
def test_marker_of_another_client_delivers_and_empties_no_context(seat: Seat, client: Any):
    seat.dispatch("T-1")
    done = seat.run(client(seat, f"Option B. {MARKER} [CLEAR-REQUESTED]"), TMUX="/tmp/absent,1,0", TMUX_PANE="%1")
    assert done.stderr == b"clear_skipped: other_client\n"
    assert seat.answers() == {"T-1": "Option B."}
    assert {"T-1__memory__planner.json", "T-1__planner__memory.json.consumed"} <= seat.receipts()


def test_codex_turn_without_a_message_delivers_nothing(seat: Seat):
    seat.dispatch("T-1")
    assert seat.run(from_codex(seat, None)).stderr == b""
    assert seat.answers() == {}


# What it must bear ----------------------------------------------------------------------------------------------------

ODD: dict[str, bytes] = {
    "not-json": b"[DELIVER: {",
    "array": b'["[DELIVER:seat=planner]"]',
    "string": b'"[CLEAR-REQUESTED]"',
    "null": b"null [DELIVER",
    "not-utf-8": b'{"x": "\xff[DELIVER"}',
    "deep": b"[" * 100_000 + b"[DELIVER",
    "too-long": b'{"last_assistant_message": "' + b"x" * (4 << 20) + b'[CLEAR-REQUESTED]"}',
    "number-for-message": b'{"last_assistant_message": 7, "x": "[DELIVER"}',
    "object-for-path": b'{"transcript_path": {}, "x": "[DELIVER"}',
    "nul": b"\0[DELIVER\0",
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD.keys())
def test_odd_stdin_costs_one_line_at_most(seat: Seat, data: bytes):
    stderr = seat.run(data).stderr
    assert stderr.count(b"\n") <= 1
    assert stderr == b"" or stderr.startswith(b"deliver_skipped: ")
    assert b"Traceback" not in stderr


def test_long_message_is_delivered_whole(seat: Seat):
    seat.dispatch("T-1")
    text = "答" * 200_000
    seat.run(seat.payload(f"{text} {MARKER}"))
    assert seat.answers() == {"T-1": text}


def test_message_is_data(seat: Seat):
    seat.dispatch("T-1")
    text = "$(touch planted) `touch planted` ; touch planted\n' \" \\ %s {0} #{pane_id}"
    seat.run(seat.payload(f"{text}\n\n{MARKER}"))
    assert "$(touch planted)" in seat.answers()["T-1"]
    assert not list(seat.workspace.glob("planted"))


@pytest.mark.parametrize("event", ["SubagentStop", "SessionStart", "UserPromptSubmit"])
def test_other_events_do_nothing(seat: Seat, event: str):
    seat.dispatch("T-1")
    done = seat.run({**seat.payload(f"x {MARKER}"), "hook_event_name": event})
    assert (done.stderr, seat.answers()) == (b"", {})


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_a_subagent_does_not_deliver_as_its_seat(seat: Seat, event: str):
    seat.dispatch("T-1")
    done = seat.run(
        {**seat.payload(f"x {MARKER}"), "hook_event_name": event, "agent_id": "a1", "agent_type": "Explore"}
    )
    assert (done.stderr, done.stdout, seat.answers()) == (b"", b"", {})


def test_a_session_of_an_agent_delivers(seat: Seat):
    seat.dispatch("T-1")
    seat.run({**seat.payload(f"x {MARKER}"), "agent_type": "reviewer"})
    assert seat.answers() == {"T-1": "x"}


def test_numbers_of_any_length_are_borne(seat: Seat):
    seat.dispatch("T-1")
    path = seat.workspace / "transcript.jsonl"
    number = "9" * 10_000
    line = {
        "type": "assistant",
        "n": 0,
        "message": {"role": "assistant", "content": [{"type": "text", "text": f"Yes. {MARKER}"}]},
    }
    path.write_text(json.dumps(line).replace('"n": 0', f'"n": {number}') + "\n")
    payload = {**seat.payload(None, transcript_path=str(path)), "n": 0}
    done = seat.run(json.dumps(payload).replace('"n": 0', f'"n": {number}, "f": 1e999').encode())
    assert (done.stderr, seat.answers()) == (b"", {"T-1": "Yes."})


def test_payload_of_a_message_alone_is_enough(seat: Seat):
    seat.dispatch("T-1")
    seat.run({"last_assistant_message": f"x {MARKER}"})
    assert seat.answers() == {"T-1": "x"}


def test_root_that_is_not_there_is_not_made(seat: Seat, tmp_path: Path):
    done = seat.run(seat.payload(f"x {MARKER}"), ORACLE_ROOT=str(tmp_path / "absent"))
    assert done.stderr == b"deliver_skipped: unknown_project\n"
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize("message", [MARKER, f"[{MARKER}]", f"**{MARKER}** -- …"])
def test_marker_alone_delivers_nothing(seat: Seat, message: str):
    seat.dispatch("T-1")
    assert seat.run(seat.payload(message)).stderr == b"deliver_skipped: empty_answer\n"
    assert seat.answers() == {}


def test_details_are_in_the_log(seat: Seat):
    seat.run(seat.payload("x [DELIVER:seat=stranger task_id=T-5 project=install]"))
    (line,) = seat.log()
    assert line["what"] == "deliver_skipped: unknown_seat"
    assert "no such seat" in line["detail"]
    assert Path(seat.root.hook_log).stat().st_mode & 0o777 == 0o600


# Transcripts ----------------------------------------------------------------------------------------------------------


def said(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"type": "assistant", "isSidechain": False, "message": {"role": "assistant", "content": content}, **more}


def asked(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def test_last_message_comes_from_the_end_of_a_long_transcript(seat: Seat):
    seat.dispatch("T-1")
    path = write(seat.workspace / "t.jsonl", *[said("old " * 1000)] * 500, "{broken", said(f"line\u2028two {MARKER}"))
    seat.run(seat.payload(None, transcript_path=str(path)))
    assert seat.answers() == {"T-1": "line\u2028two"}


def test_marker_before_the_last_256_kib_is_not_read(seat: Seat):
    seat.dispatch("T-1")
    filler = [{"type": "attachment", "text": "x" * 1000}] * 300
    path = write(seat.workspace / "t.jsonl", said(f"x {MARKER}"), *filler)
    seat.run(seat.payload(None, transcript_path=str(path)))
    assert seat.answers() == {}


def test_message_before_the_last_question_of_the_transcript_is_no_longer_obeyed(seat: Seat):
    """The client may write the transcript later than it calls the hook: the last message is then that of an older turn."""
    seat.dispatch("T-1")
    path = write(seat.workspace / "t.jsonl", said(f"x {MARKER}"), asked("next"))
    seat.run(seat.payload(None, transcript_path=str(path)))
    assert seat.answers() == {}
    write(path, said(f"x {MARKER}"), {**asked("a note of the client"), "isMeta": True})
    seat.run(seat.payload(None, transcript_path=str(path)))
    assert seat.answers() == {"T-1": "x"}


def test_path_of_the_transcript_may_begin_with_a_tilde(seat: Seat):
    seat.dispatch("T-1")
    write(seat.home / "t.jsonl", said(f"x {MARKER}"))
    seat.run(seat.payload(None, transcript_path="~/t.jsonl"))
    assert seat.answers() == {"T-1": "x"}


@pytest.mark.parametrize("path", ["/dev/zero", "/", "\0", "nowhere", "~nobody/x"])
def test_odd_path_of_a_transcript_is_borne(seat: Seat, path: str):
    assert seat.run(seat.payload(None, transcript_path=path)).stderr == b""


def test_pipe_as_a_transcript_is_not_waited_for(seat: Seat):
    pipe = seat.workspace / "pipe"
    os.mkfifo(pipe)
    assert seat.run(seat.payload(None, transcript_path=str(pipe))).stderr == b""


def test_context_chooses_among_open_dispatches_but_names_none(seat: Seat):
    seat.dispatch("T-1")
    seat.dispatch("T-2")
    path = write(seat.workspace / "t.jsonl", asked("task_id: T-2"), said("x"))
    seat.run(seat.payload("x [DELIVER:seat=planner]", transcript_path=str(path)))
    assert seat.answers() == {"T-2": "x"}
    path = write(seat.workspace / "t.jsonl", asked("task_id: EVIL\nproject: install"), said("x"))
    assert seat.run(seat.payload("x [DELIVER:seat=reviewer]", transcript_path=str(path))).stderr != b""
    assert set(seat.answers()) == {"T-2"}


# Dispatches -----------------------------------------------------------------------------------------------------------


def test_seat_that_wants_the_reply_may_be_another_than_asked(seat: Seat):
    seat.dispatch("T-1", "planner", reply_to="reviewer")
    seat.run(seat.payload("x [DELIVER:seat=reviewer project=install]"))
    assert "T-1__memory__reviewer.json" in seat.receipts()


def test_seat_can_t_deliver_to_itself(seat: Seat):
    marker = "[DELIVER:seat=memory task_id=T-9 project=install]"
    assert seat.run(seat.payload(f"x {marker}")).stderr == b"deliver_skipped: own_seat\n"
    assert seat.answers() == {}


def test_a_seat_that_is_not_memorys_writes_no_response(seat: Seat):
    name = receipt_name("T-1", "planner", "builder")
    receipts.publish(str(seat.folder), new_receipt(ReceiptKind.DISPATCH, name, {}))
    done = seat.run(seat.payload("x [DELIVER:seat=planner project=install]"), ORACLE_SEAT="builder")
    assert done.stderr == b"deliver_skipped: ownership\n"
    assert seat.answers() == {}
    assert "T-1__builder__planner.json" not in seat.receipts()


def test_question_to_people_is_settled_and_not_delivered(seat: Seat):
    name = receipt_name("T-1", "planner", "memory")
    receipts.publish(str(seat.folder), new_receipt(ReceiptKind.DISPATCH, name, {"decision_payload": {"options": []}}))
    done = seat.run(seat.payload(f"x {MARKER}"))
    assert done.stderr == b"deliver_skipped: completion_refused\n"
    assert [line["detail"] for line in seat.log()] == ["T-1 asks people to decide; nothing was handed over."]
    assert (seat.answers(), seat.receipts()) == ({}, {name.file_name})


def test_completion_addressed_to_memory_is_no_dispatch(seat: Seat):
    seat.folder.mkdir(parents=True)
    (seat.folder / "T-1__planner__memory.json").write_text('{"kind": "completion"}')
    done = seat.run(seat.payload("x [DELIVER:seat=planner project=install]"))
    assert done.stderr == b"deliver_skipped: missing_task_id\n"


def test_broken_receipts_and_profiles_beside_are_borne(seat: Seat):
    seat.dispatch("T-1")
    (seat.folder / "T-0__planner__memory.json").write_text("{")
    (seat.folder / "noise.json").write_text("")
    Path(seat.root.profile_file("other")).write_text("= broken")
    seat.run(seat.payload("x [DELIVER:seat=planner]"))
    assert seat.answers() == {"T-1": "x"}


def test_profile_named_by_a_marker_is_never_opened(seat: Seat, tmp_path: Path):
    seat.dispatch("T-1")
    os.mkfifo(tmp_path / "evil.toml")
    seat.run(seat.payload(f"x [DELIVER:seat=planner task_id=T-1 project=install profile={tmp_path}/evil.toml]"))
    assert seat.answers() == {"T-1": "x"}


# Twice, and killed ----------------------------------------------------------------------------------------------------


def test_same_answer_again_changes_nothing_and_wakes_nobody(seat: Seat):
    for _ in range(2):
        seat.run(seat.payload("x [DELIVER:seat=planner task_id=T-404 project=install]"))
    assert seat.answers() == {"T-404": "x"}
    (wake_up,) = inbox.read(seat.root, time.time()).waiting
    assert (wake_up.kind, wake_up.subject[1:5], wake_up.tries) == ("wake", ("T-404", "memory", "planner", "planner"), 1)


def test_other_answer_is_a_conflict_and_is_kept_aside(seat: Seat):
    seat.run(seat.payload("one [DELIVER:seat=planner task_id=T-404 project=install]"))
    done = seat.run(seat.payload("two [DELIVER:seat=planner task_id=T-404 project=install]"))
    assert done.stderr == b"deliver_skipped: conflict\n"
    assert (seat.answers(), seat.conflicts()) == ({"T-404": "one"}, ["two"])
    assert [entry.kind for entry in inbox.read(seat.root, time.time()).waiting] == ["wake"]


@pytest.mark.parametrize("marker", [MARKER, "[DELIVER:seat=planner task_id=T-1]"])
def test_other_answer_to_a_question_that_is_answered_is_kept_aside_and_said(seat: Seat, marker: str):
    seat.dispatch("T-1", delivered="first")
    done = seat.run(seat.payload(f"second {marker}"))
    assert (done.stderr, seat.answers(), seat.conflicts()) == (
        b"deliver_skipped: conflict\n",
        {"T-1": "first"},
        ["second"],
    )
    (kept,) = Path(seat.root.responses).glob("T-1.conflict-*.json")
    assert kept.name in json.loads(done.stdout)["systemMessage"]
    assert [line["what"] for line in seat.log()] == ["deliver_skipped: conflict"]


def test_same_text_as_the_answer_that_stands_is_kept_nowhere(seat: Seat):
    """The claims of the first answer play no part: a message has none."""
    seat.dispatch("T-1", delivered="first\n")
    done = seat.run(seat.payload(f"first {MARKER}"))
    assert (done.stderr, seat.conflicts()) == (b"deliver_skipped: already_delivered\n", [])


def test_task_that_is_completed_without_a_response_stays_so(seat: Seat):
    seat.dispatch("T-1", delivered="first")
    Path(seat.root.responses, "T-1.json").unlink()
    before = seat.receipts()
    done = seat.run(seat.payload(f"second {MARKER}"))
    assert (done.stderr, seat.receipts()) == (b"deliver_skipped: already_delivered\n", before)


def test_marker_without_a_task_keeps_nothing_aside_of_a_task_that_is_answered(seat: Seat):
    """A transcript may complete a marker only with an open dispatch."""
    seat.dispatch("T-1", delivered="first")
    said = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "task_id: T-1"}}
    path = seat.workspace / "t.jsonl"
    path.write_text(json.dumps(said) + "\n", encoding="utf-8")
    done = seat.run(seat.payload("second [DELIVER:seat=planner]", transcript_path=str(path)))
    assert (done.stderr, seat.conflicts()) == (b"deliver_skipped: already_delivered\n", [])


@pytest.mark.parametrize(
    ("rules", "code"),
    [("", "secret_found"), ("BLOCK: the answer", "privacy_blocked"), ("BLOCK the answer", "rules_unusable")],
)
def test_answer_with_what_must_not_leave_is_refused_said_and_not_lost(seat: Seat, stage: Stage, rules: str, code: str):
    """Nothing of it is on disk, the question stays open, and the context that holds it is not emptied."""
    seat.dispatch("T-1")
    if rules:
        Path(seat.root.machine).mkdir()
        Path(seat.root.machine, "privacy.md").write_text(rules, encoding="utf-8")
    token = "gh" + "p_" + "q7Rk2Zp9Lx4V" * 3
    mine = stage.box("a", "--work")
    text = f"the answer is {token if not rules else 'x'} {MARKER} [CLEAR-REQUESTED]"
    done = seat.run(seat.payload(text), **in_pane(stage, mine.pane))
    assert done.stderr == f"deliver_skipped: {code}\n".encode()
    assert [line["what"] for line in seat.log()] == [f"deliver_skipped: {code}"]
    assert (seat.answers(), seat.inbox(), mine.read()) == ({}, [], [])
    kept = [path for path in Path(seat.root.path).parent.rglob("*") if path.is_file()]
    assert not any(token.encode() in path.read_bytes() for path in kept)
    if rules:
        Path(seat.root.machine, "privacy.md").write_text("", encoding="utf-8")
    seat.run(seat.payload(f"the answer is elsewhere {MARKER}"))
    assert seat.answers() == {"T-1": "the answer is elsewhere"}


def test_hook_that_is_killed_leaves_its_intent(seat: Seat):
    seat.dispatch("T-1")
    code = (
        "import os, signal, sys; from oracle.app.delivery import deliver; from oracle.hook import stop;"
        "deliver._carry_out = lambda *_: os.kill(os.getpid(), signal.SIGKILL);"
        "stop.serve(sys.stdin.buffer.read())"
    )
    data = json.dumps(seat.payload(f"the answer {MARKER}")).encode()
    environ = {**seat.environ, "PYTHONPATH": str(HOOK.parent.parent.parent)}
    killed = subprocess.run([sys.executable, "-c", code], input=data, env=environ, check=False)
    assert killed.returncode == -9
    found = inbox.read(seat.root, time.time())
    assert [entry.fields["content"]["response"]["answer"] for entry in found.waiting] == ["the answer"]
    assert not inbox.is_worked_on(found.waiting[0], time.time())
    with Oracle.open(seat.root.path) as oracle:
        oracle.resume()
    assert seat.answers() == {"T-1": "the answer"}
    assert [entry.kind for entry in inbox.read(seat.root, time.time()).waiting] == ["wake"]


# The own pane ---------------------------------------------------------------------------------------------------------


def in_pane(stage: Stage, pane: str) -> dict[str, str]:
    return {"TMUX": stage.tmux("display-message", "-p", "#{socket_path},#{pid},0"), "TMUX_PANE": pane}


def test_clear_reaches_the_own_pane_alone_while_the_agent_works(seat: Seat, stage: Stage):
    mine, other = stage.box("a", "--work"), stage.box("install-memory-claude")
    named = {"TMUX_SESSION_NAME": "install-memory-claude", "ORACLE_TMUX_SOCKET": "t-elsewhere"}
    seat.run(seat.payload("done [CLEAR-REQUESTED]"), **in_pane(stage, mine.pane), **named)
    assert (mine.read(), other.read()) == (["/clear"], [])


@pytest.mark.parametrize("pane", ["", "%", "%x", "=a", "a:", "%99"])
def test_clear_without_a_pane_of_its_own_types_nothing(seat: Seat, stage: Stage, pane: str):
    other = stage.box("a")
    done = seat.run(seat.payload("done [CLEAR-REQUESTED]"), **in_pane(stage, pane))
    assert done.stderr.startswith(b"clear_skipped: ")
    assert other.read() == []


def test_clear_outside_of_tmux_is_said(seat: Seat):
    assert seat.run(seat.payload("done [CLEAR-REQUESTED]")).stderr == b"clear_skipped: no_pane\n"


@pytest.mark.parametrize("sign", [{"CLAUDE_CODE_SESSION_ATTENDED": "0"}, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}])
def test_headless_agent_types_nothing_into_the_pane_it_was_started_from(seat: Seat, stage: Stage, sign: dict[str, str]):
    other = stage.box("a")
    done = seat.run(seat.payload("done [CLEAR-REQUESTED]"), **in_pane(stage, other.pane), **sign)
    assert done.stderr == b"clear_skipped: headless\n"
    assert other.read() == []


def test_context_is_kept_when_the_delivery_failed(seat: Seat, stage: Stage):
    mine = stage.box("a")
    done = seat.run(seat.payload("x [DELIVER:seat=<X>]\n[CLEAR-REQUESTED]"), **in_pane(stage, mine.pane))
    assert done.stderr.startswith(b"deliver_skipped: ")
    assert mine.read() == []


# The shell front ------------------------------------------------------------------------------------------------------


def test_shell_front_finds_its_neighbour_from_anywhere_and_through_a_link(seat: Seat, tmp_path: Path):
    front = HOOK.with_name("memory-stop-hook.sh")
    assert len(front.read_text(encoding="utf-8").splitlines()) == 2
    link = tmp_path / "a link's name.sh"
    link.symlink_to(front)
    data = json.dumps(seat.payload("x [DELIVER:seat=<X>]")).encode()
    for path in (front, link):
        done = subprocess.run(
            ["bash", str(path)], input=data, capture_output=True, env=seat.environ, cwd="/", check=False
        )
        assert (done.returncode, list(json.loads(done.stdout))) == (0, ["systemMessage"])
        assert done.stderr.startswith(b"deliver_skipped: ")


# The session of the seat ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("message", ["nothing to hand over", f"It is B. {MARKER}", '"session_id": "other"'])
@pytest.mark.parametrize("name", [{}, {"ORACLE_SEAT": "memory-2"}, {"CLAWSEAT_SEAT": "memory-3"}])
def test_the_session_is_kept_where_launchers_look_for_it(seat: Seat, message: str, name: dict[str, str]):
    folder = seat.home / ".agent-runtime" / "active"
    seat.run(seat.payload(message), **name)
    assert not folder.exists()
    folder.mkdir(parents=True)
    seat.run(seat.payload(message), **name)
    (file,) = folder.iterdir()
    assert (file.name, file.read_text()) == (f"{next(iter(name.values()), 'memory')}.session", f"{SESSION}\n")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("session", ["", "../x", 'a"b', "a b", 7, None, "a\nb", "x" * 300])
def test_a_session_that_is_no_name_is_not_kept(seat: Seat, session: object):
    folder = seat.home / ".agent-runtime" / "active"
    folder.mkdir(parents=True)
    seat.run({**seat.payload("x"), "session_id": session})
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["../memory", "a/b", "é"])
def test_a_seat_that_is_no_name_keeps_no_session(seat: Seat, name: str):
    (seat.home / ".agent-runtime" / "active").mkdir(parents=True)
    seat.run(seat.payload("x"), CLAWSEAT_SEAT=name)
    assert list((seat.home / ".agent-runtime").rglob("*.session")) == []


def test_a_session_file_that_is_a_link_is_left_alone(seat: Seat):
    folder = seat.home / ".agent-runtime" / "active"
    folder.mkdir(parents=True)
    other = seat.home / "mine.txt"
    other.write_text("mine")
    (folder / "memory.session").symlink_to(other)
    seat.run(seat.payload("x"))
    assert other.read_text() == "mine"


@pytest.mark.parametrize(
    "marker",
    [
        "[DELIVER:seat=planner]",
        "[DELIVER:task_id=T-9]",
        "[DELIVER:]",
        "[DELIVER:seat=<X>]",
        "[DELIVER:seat=planner task_id=T-9]",
    ],
)
def test_an_incomplete_marker_costs_one_line(seat: Seat, marker: str):
    done = seat.run(seat.payload(f"Option B. {marker}"))
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)
    assert done.stderr.startswith(b"deliver_skipped: ")
    assert (seat.answers(), seat.receipts()) == ({}, set())
