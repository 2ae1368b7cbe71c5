"""The programs of delivery as teams call them: flags, words on standard output, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from oracle.app.context import Context
from oracle.app.delivery import handoffs, resume
from oracle.compat import intents
from oracle.store.root import projects
from oracle.store.root.layout import Root
from tests.app.gitbox import GitBox
from tests.compat.team import SCRIPTS, Done
from tests.forked import run_python
from tests.wake.stage import Stage

SEATS = ("memory", "planner", "builder", "reviewer")


class Crew:
    """A home with a profile, and the programs as processes in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        root = Root(str(self.home / ".agents" / "memory"))
        self.root = Path(root.path)
        self.profile = projects.init_profile(root, "demo", SEATS)
        self.tasks = self.home / ".agents" / "tasks" / "demo"
        self.folder = self.tasks / "patrol" / "handoffs"
        self.environ = {**os.environ, "HOME": str(self.home), "ORACLE_TMUX_SOCKET": str(folder / "no-server")}

    def call(self, program: str, *words: str, stdin: str = "", **environ: str) -> Done:
        command = [str(SCRIPTS / f"{program}.py"), "--profile", self.profile, *words]
        done = run_python(command, stdin=stdin, env={**self.environ, **environ})
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def dispatch(self, task: str = "T1", target: str = "builder", *words: str) -> Done:
        given = ["--task-id", task, "--target", target, "--objective", "do it", "--test-policy", "EXTEND"]
        return self.call("dispatch_task", *given, "--no-notify", *words)

    def complete(self, task: str = "T1", *words: str) -> Done:
        return self.call("complete_handoff", "--source", "builder", "--task-id", task, "--no-notify", *words)

    def deliver(self, task: str, response: str, *words: str) -> Done:
        given = ["--task-id", task, "--target", "planner", "--response-inline", response, "--no-notify"]
        return self.call("memory_deliver", *given, *words)

    def receipt(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / name).read_bytes())
        return content


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(tmp_path)


def test_round_of_a_task(crew: Crew):
    done = crew.dispatch("T1", "builder", "--user-summary", "why")
    assert (done.code, done.err) == (0, "")
    todo, receipt = crew.tasks / "builder" / "TODO.md", crew.folder / "T1__planner__builder.json"
    assert done.out == f"dispatched T1 -> builder\ntodo: {todo}\nreceipt: {receipt}\n"
    assert list(json.loads(receipt.read_bytes())) == sorted(json.loads(receipt.read_bytes()))
    verify = ("--task-id", "T1", "--source", "builder", "--target", "planner")
    assert crew.call("verify_handoff", *verify).code == 1
    done = crew.complete("T1", "--summary", "done", "--commit", "abc1234")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "completed T1 -> planner"
    assert done.out.splitlines()[1] == f"delivery: {crew.tasks / 'builder' / 'DELIVERY.md'}"
    assert crew.complete("T1", "--summary", "done", "--commit", "abc1234").out.startswith(
        "already completed T1 -> planner\n"
    )
    done = crew.call("complete_handoff", "--ack-only", "--source", "builder", "--target", "planner", "--task-id", "T1")
    assert done.code == 0
    assert done.out.startswith("Consumed: T1 from builder at ")
    found = crew.call("verify_handoff", *verify, "--json").json
    assert (found["assigned"], found["consumed"], found["notified"], found["healthy"]) == (True, True, False, False)
    assert list(found) == sorted(found)
    assert crew.call("verify_handoff", *verify).out.splitlines() == [
        "task: T1",
        "source: builder",
        "target: planner",
        "assigned: True",
        "notified: False",
        "consumed: True",
        f"ack: {done.out.splitlines()[0]}",
        "healthy: False",
    ]


def test_verify_names_the_receipt_that_is_there(crew: Crew):
    crew.dispatch()
    verify = ("--task-id", "T1", "--source", "planner", "--target", "builder")
    paths = [Path(crew.call("verify_handoff", *verify, "--json").json["receipt_path"])]
    assert paths[0].exists()
    crew.complete("T1", "--summary", "done")
    paths.append(Path(crew.call("verify_handoff", *verify, "--json").json["receipt_path"]))
    assert paths[1].exists()
    assert [path.name for path in paths] == ["T1__planner__builder.json", "T1__planner__builder.json.consumed"]


def test_verify_spells_its_lines_as_the_older_program_did(crew: Crew):
    done = crew.call("verify_handoff", "--task-id", "T1", "--source", "builder", "--target", "planner")
    lines = done.out.splitlines()
    assert {"assigned: False", "healthy: False"} <= set(lines)
    assert not any(line.startswith(("verdict", "ack", "receipt_path")) for line in lines)
    crew.dispatch("R1", "reviewer")
    given = ("--source", "reviewer", "--task-id", "R1", "--no-notify", "--verdict", "APPROVED")
    assert crew.call("complete_handoff", *given).code == 0
    done = crew.call("verify_handoff", "--task-id", "R1", "--source", "reviewer", "--target", "planner")
    assert done.out.splitlines()[6:] == ["verdict: APPROVED", "verdict_valid: True", "healthy: False"]


def test_same_task_twice(crew: Crew):
    crew.dispatch()
    done = crew.dispatch()
    assert done.code == 2
    assert "TASK_ALREADY_QUEUED T1 @ " in done.err


def test_codes_of_dispatch(crew: Crew):
    assert crew.dispatch("T1", "nobody").code == 1
    assert crew.dispatch("T1", "builder", "--strict-lineage").code == 1
    assert "refusing" in crew.dispatch("Q-1", "memory").err
    assert crew.dispatch("Q-1", "memory").code == 2
    assert crew.dispatch("Q-1", "memory", "--kind", "query").code == 0
    assert crew.dispatch("T2", "builder", "--task-type", "external-integration").code == 2
    assert crew.dispatch("T2", "builder", "--task-type", "external-integration", "--docs-skip-reason", "none").code == 0
    assert "BLOCKED: builder" in crew.dispatch("T3").err
    assert crew.dispatch("T3", "builder", "--force-parallel-builder").code == 0
    role = ("--objective", "x", "--test-policy", "N/A", "--no-notify", "--target-role")
    assert crew.call("dispatch_task", *role, "patrol").code == 3
    assert crew.call("dispatch_task", *role, "reviewer").out.endswith("__planner__reviewer.json\n")
    assert crew.call("dispatch_task", "--target", "builder", "--objective", "x", "--test-policy", "MAYBE").code == 2


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("dispatch_task", ("--target", "builder", "--objective", "x", "--test-policy", "N/A")),
        ("complete_handoff", ("--source", "builder", "--task-id", "T1")),
        ("memory_deliver", ("--task-id", "T1", "--target", "planner", "--response-inline", "{}")),
        ("verify_handoff", ("--task-id", "T1", "--source", "builder", "--target", "planner")),
        ("audit_planner_closeout", ("--task-id", "T1")),
        ("notify_seat", ("--source", "planner", "--target", "builder", "--message", "x")),
    ],
)
def test_profile_that_is_absent_or_broken_is_one_sentence(crew: Crew, program: str, words: tuple[str, ...]):
    Path(crew.profile).write_text('seats = ["x"]', encoding="utf-8")
    done = crew.call(program, *words)
    assert (done.code, done.out) == (2, "")
    assert "lacks profile_name" in done.err
    Path(crew.profile).unlink()
    done = crew.call(program, *words)
    assert (done.code, done.out) == (2, "")
    assert "oracle project init" in done.err


def test_delivery_and_its_codes(crew: Crew):
    crew.dispatch("Q-1", "memory", "--kind", "query")
    done = crew.deliver("Q-1", '{"answer": "B."}')
    assert done.code == 0
    response = crew.root / "responses" / "Q-1.json"
    assert done.out.splitlines()[:2] == [f"response_written: {response}", "completed Q-1 -> planner"]
    assert json.loads(response.read_bytes())["query_id"] == "Q-1"
    assert response.stat().st_mode & 0o777 == 0o600
    again = crew.deliver("Q-1", '{"answer": "B."}')
    assert (again.code, again.out.split(":")[0]) == (0, "already delivered Q-1 -> planner")
    assert crew.deliver("Q-1", '{"answer": "C."}').code == 6
    assert crew.deliver("Q-1", '{"answer": "C."}', "--supersede").code == 0
    for bad in ("[1]", "{", "3", '{"claims": 3}'):
        assert crew.deliver("Q-2", bad).code == 2
    assert crew.deliver("../../evil", "{}").code == 2
    strict = '{"claims": [{"statement": "x", "evidence": [{"path": "gone", "quote": "x"}]}]}'
    assert crew.deliver("Q-3", strict, "--strict").code == 6
    assert crew.deliver("Q-3", strict).code == 0
    assert not list(crew.root.parent.rglob("evil*"))


def test_response_from_a_file_and_from_standard_input(crew: Crew, tmp_path: Path):
    long = tmp_path / "long.json"
    long.write_text(json.dumps({"answer": "答" * 100_000}), encoding="utf-8")
    words = ("--target", "planner", "--no-notify", "--response-file")
    assert crew.call("memory_deliver", "--task-id", "Q-1", *words, str(long)).code == 0
    assert crew.call("memory_deliver", "--task-id", "Q-2", *words, "-", stdin='{"answer": "x"}').code == 0
    assert crew.call("memory_deliver", "--task-id", "Q-3", *words, str(tmp_path / "none")).code == 2
    assert crew.receipt("Q-2__memory__planner.json")["unsolicited"] is True


def test_failed_receipt_is_exit_3_and_says_how_to_go_on(crew: Crew):
    crew.folder.parent.mkdir(parents=True)
    crew.folder.write_text("no folder", encoding="utf-8")
    done = crew.deliver("Q-1", '{"answer": "B."}')
    assert done.code == 3
    assert "retry: memory_deliver --profile" in done.err
    assert (crew.root / "responses" / "Q-1.json").exists()
    crew.folder.unlink()
    assert crew.deliver("Q-1", '{"answer": "B."}').code == 0
    assert crew.receipt("Q-1__memory__planner.json")["kind"] == "completion"


def test_failed_wake_up_is_a_warning(crew: Crew):
    words = ("--task-id", "T1", "--target", "builder", "--objective", "x", "--test-policy", "N/A")
    done = crew.call("dispatch_task", *words)
    assert done.code == 0
    assert "warning: builder was not woken" in done.err
    assert crew.receipt("T1__planner__builder.json")["notified_at"] is None


def test_closeout_and_its_audit(crew: Crew):
    assert crew.call("audit_planner_closeout", "--task-id", "T1").code == 1
    crew.dispatch()
    crew.complete()
    done = crew.call(
        "complete_handoff", "--source", "planner", "--target", "memory", "--task-id", "T1", "--no-notify",
        "--enforce-planner-self-closeout=false",
    )  # fmt: skip
    assert done.code == 0
    assert done.out.startswith("completed T1 -> memory\n")
    assert crew.call("audit_planner_closeout", "--task-id", "T1").out == "all 3 artifacts present\n"
    (consumed,) = crew.folder.glob("T1__builder__planner.json.consumed")
    consumed.unlink()
    assert crew.call("audit_planner_closeout", "--task-id", "T1").code == 1
    done = crew.call("audit_planner_closeout", "--task-id", "T1", "--relaxed")
    assert (done.code, done.out) == (0, "2 authoritative artifacts present (receipt + DELIVERY)\n")


def test_refused_completion_is_exit_1(crew: Crew):
    done = crew.call("complete_handoff", "--source", "reviewer", "--target", "planner", "--task-id", "T1")
    assert done.code == 1
    assert "verdict" in done.err
    done = crew.complete("T1", "--target", "planner", "--strict-lineage")
    assert done.code == 1


def test_notice_is_sent_to_a_pane_and_its_failure_is_told(crew: Crew, stage: Stage):
    words = ("--source", "planner", "--target", "builder", "--message", "look", "--task-id", "T1")
    crew.dispatch()
    before = crew.receipt("T1__planner__builder.json")
    done = crew.call("notify_seat", *words)
    assert done.code == 1
    assert "not notified builder" in done.err
    assert crew.call("notify_seat", *words, "--allow-notify-failure").code == 0
    prompts = stage.box("demo-builder")
    done = crew.call("notify_seat", *words, ORACLE_TMUX_SOCKET=stage.socket)
    assert done.code == 0
    assert done.out.endswith("notified builder\n")
    assert prompts.read() == ["T1 notice from planner to builder: look"]
    assert crew.receipt("T1__planner__builder.json") == before
    assert crew.call("notify_seat", "--source", "planner", "--target", "nobody", "--message", "x").code == 2


def test_dispatch_wakes_a_real_pane_once(crew: Crew, stage: Stage):
    prompts = stage.box("demo-memory")
    words = (
        "--task-id",
        "Q-1",
        "--target",
        "memory",
        "--kind",
        "query",
        "--objective",
        "x",
        "--test-policy",
        "N/A",
    )
    done = crew.call("dispatch_task", *words, ORACLE_TMUX_SOCKET=stage.socket)
    assert (done.code, len(prompts.read())) == (0, 1)
    assert prompts.read()[0].startswith("Q-1 assigned from planner to memory. Read ")
    assert crew.receipt("Q-1__planner__memory.json")["notified_at"]


def test_another_root_keeps_everything_to_itself(crew: Crew, tmp_path: Path):
    other = tmp_path / "other"
    done = crew.call(
        "memory_deliver", "--memory-dir", str(other), "--task-id", "Q-1", "--target", "planner", "--no-notify",
        "--response-inline", '{"answer": "B."}',
    )  # fmt: skip
    assert done.code == 0
    assert (other / "responses" / "Q-1.json").exists()
    assert not crew.folder.exists()
    assert list(other.rglob("Q-1__memory__planner.json"))


FRONTS = (
    "dispatch_task",
    "complete_handoff",
    "memory_deliver",
    "verify_handoff",
    "audit_planner_closeout",
    "notify_seat",
)


@pytest.mark.parametrize("name", [*FRONTS, "send_and_verify", "install_memory_hook"])
def test_front_is_executable(name: str):
    assert os.access(SCRIPTS / f"{name}.py", os.X_OK)


@pytest.mark.parametrize("name", FRONTS)
def test_help_needs_no_profile(name: str):
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"usage: {name} ")
    assert "--profile FILE" in done.stdout


@pytest.mark.parametrize("blank", ['{"answer": ""}', '{"answer": " "}', "{}", '""'])
def test_blank_answer_is_a_wrong_call_and_leaves_the_question_open(crew: Crew, blank: str):
    crew.dispatch("Q-1", "memory", "--kind", "query")
    done = crew.deliver("Q-1", blank)
    assert (done.code, done.out) == (2, "")
    assert not list((crew.root / "responses").glob("Q-1*"))
    assert crew.receipt("Q-1__planner__memory.json")["kind"] == "dispatch"


# Questions of older tools ----------------------------------------------------------------------------------------------

OLD_NOTICE = {
    "task_id": "Q-1",
    "source": "planner",
    "target": "memory",
    "reply_to": "planner",
    "message": "Q-1 notice from planner to memory: where is it?",
    "notified_at": "2026-05-01T10:00:00+00:00",
    "transport": "tmux",
}
ASK = ("--source", "planner", "--target", "memory", "--message", "where is it?", "--task-id", "Q-1")


def states(crew: Crew) -> dict[str, tuple[str, str]]:
    """Return (state, answerer) by task id, as `oracle handoffs` lists them."""
    context = Context.open(str(crew.root), environ=crew.environ)
    found = handoffs.list_all(context, project="demo")
    assert found.problems == ()
    return {one.handoff.task_id: (one.handoff.state.step.value, one.handoff.answerer) for one in found.items}


def ask(crew: Crew, how: str) -> None:
    """Ask Q-1 as an older program did, with a notice of some kind, or with ours."""
    if how == "ours":
        done = crew.call("notify_seat", *ASK, "--allow-notify-failure")
        assert done.code == 0
        assert done.out.startswith("receipt: ")
        return
    crew.folder.mkdir(parents=True, exist_ok=True)
    (crew.folder / "Q-1__planner__memory.json").write_text(json.dumps({**OLD_NOTICE, "kind": how}), encoding="utf-8")


def answer(crew: Crew, by: str, text: str = "in the yard") -> Done:
    if by == "program":
        return crew.deliver("Q-1", json.dumps({"answer": text}))
    message = f"{text} [DELIVER:seat=planner,task_id=Q-1]"
    payload = {"session_id": "s", "hook_event_name": "Stop", "last_assistant_message": message}
    command = [sys.executable, "-I", "-S", str(SCRIPTS / "hooks/stop_hook.py")]
    done = subprocess.run(
        command, input=json.dumps(payload), capture_output=True, text=True, env=crew.environ, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("how", ["ours", "notice", "question", "query"])
@pytest.mark.parametrize("by", ["program", "marker"])
def test_a_notice_to_memory_with_a_task_id_is_a_question_answered_once(crew: Crew, how: str, by: str):
    ask(crew, how)
    assert states(crew) == {"Q-1": ("unnotified" if how == "ours" else "open", "memory")}
    assert answer(crew, by).code == 0
    assert states(crew)["Q-1"][0] in ("consumed", "unnotified")
    before = (crew.root / "responses/Q-1.json").read_bytes()
    assert answer(crew, by).code == 0
    answer(crew, by, "elsewhere")
    assert (crew.root / "responses/Q-1.json").read_bytes() == before
    assert "unsolicited" not in crew.receipt("Q-1__memory__planner.json")
    assert not (crew.folder / "Q-1__planner__memory.json").exists()


def test_a_second_notice_under_an_asked_id_is_a_notice(crew: Crew):
    ask(crew, "ours")
    before = crew.receipt("Q-1__planner__memory.json")
    assert crew.call("notify_seat", *ASK[:-3], "hurry", "--task-id", "Q-1", "--allow-notify-failure").code == 0
    assert crew.receipt("Q-1__planner__memory.json") == before
    answer(crew, "program")
    assert crew.call("notify_seat", *ASK, "--allow-notify-failure").code == 0
    assert states(crew)["Q-1"][0] in ("consumed", "unnotified")


@pytest.mark.parametrize("words", [("--skip-receipt",), ("--target", "builder")])
def test_a_notice_that_leaves_no_receipt_or_goes_elsewhere_asks_nothing(crew: Crew, words: tuple[str, ...]):
    assert crew.call("notify_seat", *ASK, *words, "--allow-notify-failure").code == 0
    assert states(crew) == {}


# Answers that an older tool left without a receipt ---------------------------------------------------------------------

OLD_RESPONSES = [
    {"query_id": "Q-1", "answer": "in the yard"},
    {"query_id": "Q-1", "answer": "in the yard", "claims": [], "sources": [], "confidence": "medium"},
    {"query_id": "Q-1", "answer": "in the yard", "claims": [], "sources": ["a.md"], "confidence": "high"},
]


def leave_half_done(crew: Crew, response: dict[str, Any]) -> None:
    ask(crew, "notice")
    file = crew.root / "responses/Q-1.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(response), encoding="utf-8")


@pytest.mark.parametrize("response", OLD_RESPONSES)
def test_the_same_text_delivered_again_finishes_an_answer_without_a_receipt(crew: Crew, response: dict[str, Any]):
    leave_half_done(crew, response)
    again = {key: item for key, item in response.items() if key != "query_id"}
    done = crew.deliver("Q-1", json.dumps(again))
    assert done.code == 0
    assert states(crew)["Q-1"][0] in ("consumed", "unnotified")
    assert crew.deliver("Q-1", json.dumps(again)).out.startswith("already delivered Q-1")
    assert crew.deliver("Q-1", '{"answer": "elsewhere"}').code == 6


def test_the_same_message_with_a_marker_finishes_it_too(crew: Crew):
    leave_half_done(crew, OLD_RESPONSES[1])
    assert answer(crew, "marker") == Done(0, "", "")
    assert states(crew)["Q-1"][0] in ("consumed", "unnotified")


@pytest.mark.parametrize("response", OLD_RESPONSES)
def test_resume_finishes_an_answer_without_a_receipt(crew: Crew, response: dict[str, Any]):
    leave_half_done(crew, response)
    assert states(crew) == {"Q-1": ("answered", "memory")}
    done = resume.resume(Context.open(str(crew.root), environ=crew.environ))
    assert "completed Q-1 from its response" in done.done
    assert states(crew)["Q-1"][0] in ("consumed", "unnotified")
    assert list((crew.root / "responses").glob("Q-1.conflict*")) == []


# What a dispatch adds to a task ----------------------------------------------------------------------------------------


def clone_of_a_remote(crew: Crew, name: str = "origin", branch: str = "main") -> tuple[Path, str]:
    """Make the repository of the project a clone with a remote; return it and the remote's commit."""
    home = GitBox(crew.home / "remote")
    tip = home.commit()
    folder = crew.home / "demo"
    home.git("clone", "-q", "-o", name, str(home.folder), str(folder))
    if branch != "main":
        home.git("-C", str(folder), "update-ref", f"refs/remotes/{name}/{branch}", tip)
        home.git("-C", str(folder), "update-ref", "-d", f"refs/remotes/{name}/main")
    return folder, tip


@pytest.mark.parametrize(("remote", "branch"), [("origin", "main"), ("clawseat", "main"), ("origin", "master")])
def test_a_builders_task_names_the_base_where_the_remote_is_known(crew: Crew, remote: str, branch: str):
    _, tip = clone_of_a_remote(crew, remote, branch)
    assert crew.dispatch().code == 0
    assert crew.receipt("T1__planner__builder.json")["expected_base_sha"] == tip
    crew.dispatch("T2", "reviewer")
    assert "expected_base_sha" not in crew.receipt("T2__planner__reviewer.json")


def test_without_a_remote_no_base_is_named(crew: Crew):
    GitBox(crew.home / "demo").commit()
    crew.dispatch()
    assert "expected_base_sha" not in crew.receipt("T1__planner__builder.json")


def test_the_completion_of_a_task_with_a_base_names_branch_pr_and_ci(crew: Crew):
    folder, tip = clone_of_a_remote(crew)
    crew.dispatch()
    subprocess.run(["git", "-C", str(folder), "branch", "feat/T1"], check=True)
    given = ["--branch", "feat/T1", "--pr-number", "7", "--ci-conclusion", "success"]
    for left_out in range(0, len(given), 2):
        words = given[:left_out] + given[left_out + 2 :]
        done = crew.complete("T1", *words)
        assert done.code == 1
        assert given[left_out] in done.err
    assert crew.complete("T1", *given).code == 0
    receipt = crew.receipt("T1__builder__planner.json")
    assert {key: receipt[key] for key in ("branch_base", "branch_tip", "pr_number", "ci_conclusion")} == {
        "branch_base": tip,
        "branch_tip": tip,
        "pr_number": "7",
        "ci_conclusion": "success",
    }


INTENTS = tomllib.loads((SCRIPTS.parent / "references/intents.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(INTENTS))
def test_an_intent_extends_text_and_skills(name: str):
    text, refs = intents.expand(name, "do it", ("a.md",), {})
    assert text == f"**{INTENTS[name]['objective']}** do it"
    skills = Path("~/.gstack/repos/gstack/.agents/skills").expanduser()
    assert refs == ("a.md", str(skills / INTENTS[name]["skill"].removeprefix("{GSTACK_SKILLS_ROOT}/")))
    assert intents.expand(name, text, refs, {}) == (text, refs)


def test_there_are_the_intents_of_the_older_tool():
    names = """eng-review ceo-review design-review devex-review ship land investigate freeze unfreeze code-review qa-test
        qa-only design-critique design-html design-shotgun office-hours checkpoint"""
    assert set(INTENTS) >= set(names.split())


@pytest.mark.parametrize(("root", "start"), [("/opt/skills", "/opt/skills/"), ("skills", "~/.gstack/")])
def test_the_folder_of_skills_is_an_absolute_path(root: str, start: str):
    _, refs = intents.expand("ship", "do it", (), {"GSTACK_SKILLS_ROOT": root})
    assert refs[0].startswith(str(Path(start).expanduser()))


def test_an_intent_goes_into_queue_and_receipt_and_an_unknown_one_is_refused(crew: Crew):
    assert crew.dispatch("T1", "builder", "--intent", "ship").code == 0
    queue = (crew.tasks / "builder/TODO.md").read_text(encoding="utf-8")
    assert INTENTS["ship"]["objective"] in queue
    assert "gstack-ship/SKILL.md" in queue
    for name in ("shipp", "fly"):
        done = crew.dispatch("T2", "builder", "--intent", name)
        assert done.code == 2
        assert "intents.toml" in done.err
    assert not (crew.folder / "T2__planner__builder.json").exists()


def test_a_finding_that_comes_again_is_counted_and_warned_of(crew: Crew):
    for number in range(4):
        done = crew.dispatch(f"T{number}", "builder", "--finding-id", "F-1", "--force-parallel-builder")
        assert done.code == 0
        assert ("hypothesis_fix_counter" in done.err) is (number == 3)
        receipt = crew.receipt(f"T{number}__planner__builder.json")
        assert (receipt["hypothesis_fix_counter"], receipt["hypothesis_fix_counter_exceeded"]) == (number, number == 3)
    queue = (crew.tasks / "builder/TODO.md").read_text(encoding="utf-8")
    assert "finding_id: F-1\nhypothesis_fix_counter: 3\nhypothesis_fix_counter_exceeded: true\n" in queue
    words = ("--finding-id", "F-1", "--force-parallel-builder", "--rca-override", "cause known")
    assert "hypothesis_fix_counter" not in crew.dispatch("T9", "builder", *words).err


@pytest.mark.parametrize("program", ["dispatch_task", "complete_handoff", "memory_deliver"])
def test_notify_and_no_notify_exclude_each_other(crew: Crew, program: str):
    assert crew.call(program, "--notify", "--no-notify").code == 2


def test_a_refusal_is_printed_on_lines_of_its_own(crew: Crew):
    done = crew.dispatch("Q1", "memory")
    assert done.code == 2
    assert "\\n" not in done.err
    assert "\nhint: " in done.err


# What older teams have -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("owner", ["", 'heartbeat_owner = "koder"\n', 'heartbeat_owner = "front"\n'])
def test_the_front_seat_need_not_be_on_the_roster(crew: Crew, owner: str):
    path = Path(crew.profile)
    path.write_text(f'active_loop_owner = "planner"\n{owner}{path.read_text(encoding="utf-8")}', encoding="utf-8")
    front = "front" if "front" in owner else "koder"
    words = ("--source", "planner", "--task-id", "T1", "--target", front, "--summary", "done")
    assert crew.call("complete_handoff", *words).code == 1
    done = crew.call("complete_handoff", *words, "--frontstage-disposition", "AUTO_ADVANCE")
    assert (done.code, done.out.splitlines()[0]) == (0, f"completed T1 -> {front}")
    assert "was not woken" not in done.err
    assert crew.call("complete_handoff", *words[:-2], "--ack-only").code == 0
    crew.dispatch("T2", "planner", "--source", "memory")
    other = crew.call("complete_handoff", "--source", "planner", "--task-id", "T2", "--target", "nobody")
    assert (other.code, "has no seat nobody" in other.err) == (2, True)


FLAT = "task_id: {task}\ntitle: t\nsource: planner\nreply_to: planner\n\n# Objective\n\ndo it\n"


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_flat_queue_of_one_task_is_read_completed_and_appended_to(crew: Crew, start: str):
    queue = crew.tasks / "builder/TODO.md"
    queue.parent.mkdir(parents=True, exist_ok=True)
    queue.write_text(start + FLAT.format(task="T1"), encoding="utf-8")
    again = crew.dispatch("T1", "builder", "--force-parallel-builder")
    assert (again.code, "TASK_ALREADY_QUEUED T1" in again.err) == (2, True)
    assert crew.dispatch("T2").code == 0
    text = queue.read_text(encoding="utf-8")
    assert text.index("## [pending] T1") < text.index("task_id: T1") < text.index("## [queued] T2")
    queue.write_text(start + FLAT.format(task="T1"), encoding="utf-8")
    assert crew.complete("T1", "--target", "planner").code == 0
    assert queue.read_text(encoding="utf-8").startswith("## [completed] T1\n")


@pytest.mark.parametrize("task", ["null", "~", ""])
def test_a_flat_queue_without_a_task_is_empty(crew: Crew, task: str):
    queue = crew.tasks / "builder/TODO.md"
    queue.parent.mkdir(parents=True, exist_ok=True)
    queue.write_text(FLAT.format(task=task), encoding="utf-8")
    assert crew.dispatch("T2").code == 0
    assert queue.read_text(encoding="utf-8").startswith("# Queue: builder\n\n## [pending] T2\n")


ORDER = {
    "--source": "memory",
    "--target": "reviewer",
    "--task-id": "ARENA-228",
    "--title": "Retry",
    "--objective": "Bound the retries.",
    "--test-policy": "EXTEND",
    "--reply-to": "planner",
}


def test_the_order_of_the_specification_leaves_its_handoff_record(crew: Crew):
    done = crew.call("dispatch_task", *(word for pair in ORDER.items() for word in pair), "--no-notify")
    assert (done.code, done.out.splitlines()[0]) == (0, "dispatched ARENA-228 -> reviewer")
    assert crew.folder == crew.tasks / "patrol/handoffs"
    receipt = crew.receipt("ARENA-228__memory__reviewer.json")
    named = {key.removeprefix("--").replace("-", "_"): item for key, item in ORDER.items() if key != "--objective"}
    assert {key: receipt[key] for key in named} == named


@pytest.mark.parametrize("flag", ["--target", "--objective", "--test-policy"])
def test_a_dispatch_without_a_flag_that_it_needs_is_refused(crew: Crew, flag: str):
    words = [word for key, item in ORDER.items() if key != flag for word in (key, item)]
    done = crew.call("dispatch_task", *words, "--no-notify")
    assert (done.code, done.out) == (2, "")
    assert flag in done.err
    assert not crew.folder.exists()


def test_without_a_profile_no_program_of_delivery_begins(crew: Crew):
    for name in FRONTS:
        done = subprocess.run(
            [sys.executable, str(SCRIPTS / f"{name}.py"), "--task-id", "T1"],
            capture_output=True, text=True, env=crew.environ, check=False,
        )  # fmt: skip
        assert (done.returncode, "--profile" in done.stderr) == (2, True)
