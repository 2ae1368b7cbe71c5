"""Messages to people: what has to be so before one leaves, and what leaves then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.journal import events
from oracle.app.teamwork.push import Message, check_mentions, prepare, send
from oracle.errors import InvalidName, NotFound, PrivacyBlocked, PushFailed, UsageError
from tests.push_reader import read_push

SAYS = """#!/bin/sh
printf '%s\\0' "$@" > "$(dirname "$0")/words"
env > "$(dirname "$0")/environment"
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a lark-cli on PATH that keeps what it was called with."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = folder / "lark-cli"
    path.write_text(SAYS)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return path


@pytest.fixture
def bound(root: Path) -> Oracle:
    """Switch pushing on and bind the project demo to a group."""
    oracle = Oracle.open(str(root))
    oracle.init()
    (root / "config.toml").write_text("[push]\nenabled = true\n")
    (root / "config.toml").chmod(0o600)
    folder = Path(oracle.root.task_tree("demo"))
    folder.mkdir(parents=True)
    (folder / "PROJECT_BINDING.toml").write_text('feishu_group_id = "oc_group"\n')
    return oracle


def words(program: Path) -> list[str]:
    return (program.parent / "words").read_text().split("\0")[:-1]


MESSAGE = Message("Done; $(touch planted) `x`", "demo", task_id="T-1", verdict="PASS")


def test_message_leaves_as_one_argument_of_the_program(bound: Oracle, program: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "must-stay")
    monkeypatch.setenv("LARK_CLI_HOME", "/lark")
    made = send(bound, MESSAGE)
    assert words(program) == ["im", "+messages-send", "--as", "user", "--chat-id", "oc_group", "--text", made.text()]
    assert read_push(made.text()) == made
    assert (made.session, made.body) == ("demo-memory", MESSAGE.body)
    environment = (program.parent / "environment").read_text()
    assert "must-stay" not in environment
    assert "LARK_CLI_HOME=/lark\n" in environment
    assert [event["event"] for event in events(bound, project="demo", task="T-1", limit=5)] == ["pushed"]


OFF = {
    "no-file": None,
    "no-table": "synthesizer = ['x']\n",
    "false": "[push]\nenabled = false\n",
    "empty": "[push]\n",
    "no-table-at-all": "push = true\n",
    "text": "[push]\nenabled = 'yes'\n",
    "other-key": "[push]\nenabled = true\nprogram = '/bin/sh'\n",
    "broken": "[push\n",
}


@pytest.mark.parametrize("config", OFF.values(), ids=OFF.keys())
def test_nothing_leaves_unless_its_owner_says_so(bound: Oracle, program: Path, config: str | None):
    path = Path(bound.root.join("config.toml"))
    path.unlink() if config is None else path.write_text(config)
    with pytest.raises(UsageError):
        send(bound, MESSAGE)
    assert not (program.parent / "words").exists()


def test_file_that_others_can_write_switches_nothing_on(bound: Oracle, program: Path):
    Path(bound.root.join("config.toml")).chmod(0o666)
    with pytest.raises(UsageError, match="written by others"):
        send(bound, MESSAGE)
    assert not (program.parent / "words").exists()


def test_environment_switches_it_off(bound: Oracle, program: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CLAWSEAT_FEISHU_ENABLED", "0")
    with pytest.raises(UsageError):
        send(bound, MESSAGE)
    assert not (program.parent / "words").exists()


def test_other_form_of_the_binding_is_read(bound: Oracle, program: Path):
    Path(bound.root.task_tree("demo"), "PROJECT_BINDING.toml").write_text('[bridge]\ngroup_id = "oc_other"\n')
    send(bound, MESSAGE)
    assert words(program)[5] == "oc_other"


@pytest.mark.parametrize("binding", ["", 'feishu_group_id = "--chat"\n', "feishu_group_id = 5\n", "x = [\n"])
def test_project_without_a_group_is_told_nothing(bound: Oracle, program: Path, binding: str):
    Path(bound.root.task_tree("demo"), "PROJECT_BINDING.toml").write_text(binding)
    with pytest.raises(UsageError):
        send(bound, MESSAGE)
    assert not (program.parent / "words").exists()


SECRET = "sk-" + "ant-api03-" + "Qw7Zk2Lp9Xv4Tn8Rb3Jm6Yc1Hd5Fg0Ks"


@pytest.mark.parametrize(
    "body",
    [f"the key is {SECRET}", "write to wang.li@corp-mail.cn", f"1\n2\n3\n4\n{SECRET}", "x" * 3440 + " " + SECRET],
    ids=["secret", "mail", "in-a-line-that-is-cut-off", "cut-in-the-middle"],
)
def test_what_must_not_leave_does_not(bound: Oracle, program: Path, body: str):
    with pytest.raises(PrivacyBlocked) as caught:
        send(bound, Message(body, "demo"))
    assert SECRET not in caught.value.sentence
    assert not (program.parent / "words").exists()


def test_program_that_is_not_there_is_said(bound: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(UsageError, match="not on PATH"):
        send(bound, MESSAGE)


def test_failure_is_an_error_and_no_event(bound: Oracle, program: Path):
    program.write_text("#!/bin/sh\necho first >&2\necho 'no such chat' >&2\nexit 7\n")
    with pytest.raises(PushFailed, match="ended with 7: no such chat"):
        send(bound, MESSAGE)
    assert events(bound, project="demo", limit=5) == []


@pytest.mark.parametrize("script", ["exec tail -f /dev/null", "tail -f /dev/null & exit 0"])
def test_program_that_is_not_done_in_time_is_said_and_ended(
    bound: Oracle, program: Path, monkeypatch: pytest.MonkeyPatch, script: str
):
    program.write_text(f"#!/bin/sh\n{script}\n")
    monkeypatch.setattr("oracle.app.teamwork.push.PATIENCE", 0.5)
    with pytest.raises(PushFailed, match=r"lark-cli gave no answer in 0\.5 s\.") as caught:
        send(bound, MESSAGE)
    assert caught.value.hint == "Whether it was sent is not known."
    assert events(bound, project="demo", task="T-1", limit=5) == []


@pytest.mark.parametrize("script", ["exec yes", "exec yes >&2", "yes & exit 0"])
def test_program_that_prints_without_end_is_said_and_ended(bound: Oracle, program: Path, script: str):
    program.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(PushFailed, match="lark-cli printed more than 1 MiB and was stopped") as caught:
        send(bound, MESSAGE)
    assert caught.value.hint == "Whether it was sent is not known."
    assert events(bound, project="demo", task="T-1", limit=5) == []


def test_long_body_leaves_cut_with_a_note_and_is_read_back(bound: Oracle, program: Path):
    made = send(
        bound, Message("\n".join(["长" * 2000, "b" * 2000, "c", "d", "e", "f"]), "demo", session="demo_memory_x")
    )
    text = words(program)[-1]
    assert read_push(text) == made
    assert (made.session, len(made.body.splitlines()) <= 4, len(text) < 4000) == ("demo_memory_x", True, True)
    assert "truncated" in text


def test_rehearsal_needs_no_switch_and_sends_nothing(root: Path, program: Path):
    made = prepare(Oracle.open(str(root)), Message("a\n\nb", "demo", seat="builder-1", session="demo_b_"))
    assert (made.sender, made.body, read_push(made.text()).session) == ("Builder-1", "a\nb", "demo_b_")
    assert not (program.parent / "words").exists()


def test_project_that_is_no_name_is_refused(bound: Oracle):
    with pytest.raises(InvalidName):
        send(bound, Message("done", "../demo"))


# Mentions -------------------------------------------------------------------------------------------------------------

STATES = {
    "on": ({"requireMention": True}, ["ok"]),
    "off": ({"requireMention": False}, ["off"]),
    "not-stated": ({}, ["missing"]),
    "text-is-not-on": ({"requireMention": "true"}, ["off"]),
    "a-group-says-otherwise": ({"requireMention": True, "groups": {"oc_a": {"requireMention": False}}}, ["ok", "off"]),
    "a-group-says-nothing": ({"requireMention": True, "groups": {"oc_a": {"x": 1}}}, ["ok"]),
    "an-account": ({"requireMention": True, "accounts": {"b": {"requireMention": False}}}, ["ok", "off"]),
    "an-account-inherits": ({"requireMention": True, "accounts": {"b": {"groups": {}}}}, ["ok", "ok"]),
}
OF_A_GROUP = {
    "default": ({"requireMention": True, "groups": {"oc_x": {"requireMention": False}}}, ["ok"]),
    "own": ({"requireMention": False, "groups": {"oc_group": {"requireMention": True}}}, ["ok"]),
    "every": ({"requireMention": True, "groups": {"*": {"requireMention": False}}}, ["off"]),
}


def configure(monkeypatch: pytest.MonkeyPatch, folder: Path, channel: object) -> None:
    (folder / "openclaw.json").write_text(json.dumps({"channels": {"feishu": channel}}))
    monkeypatch.setenv("OPENCLAW_HOME", str(folder))


@pytest.mark.parametrize(("channel", "states"), STATES.values(), ids=STATES.keys())
def test_first_layer_is_read_and_the_second_is_a_persons(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: object, states: list[str]
):
    configure(monkeypatch, tmp_path, channel)
    found = check_mentions(Oracle.open(str(root)))
    assert [item.state for item in found] == [*states, "confirm"]
    assert [item.layer for item in found] == [1] * len(states) + [2]


@pytest.mark.parametrize(("channel", "states"), OF_A_GROUP.values(), ids=OF_A_GROUP.keys())
def test_of_a_project_only_its_group_counts(
    bound: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: object, states: list[str]
):
    configure(monkeypatch, tmp_path, channel)
    assert [item.state for item in check_mentions(bound, "demo")] == [*states, "confirm"]


def test_what_is_not_there_is_said(bound: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENCLAW_HOME", str(tmp_path))
    with pytest.raises(NotFound):
        check_mentions(bound)
    with pytest.raises(NotFound):
        check_mentions(bound, "other")
    (tmp_path / "openclaw.json").write_text("{broken")
    with pytest.raises(UsageError):
        check_mentions(bound)
