"""Completing without a response: rework, closeouts, lineage, ACKs, notices; each thing that older tools got wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from oracle.app import git as asked_git
from oracle.app.delivery.acknowledge import acknowledge, audit_closeout
from oracle.app.delivery.panes import Notice, notify
from oracle.domain import timestamps
from oracle.errors import CompletionRefused, Conflict, DiskFailure, HandoffFailed, NotFound, UsageError
from oracle.store.disk import steps
from tests.app.squad import Squad


def git(repo: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(repo), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> dict[str, str]:
    """Make the squad's repository: `main`, a commit on it, and one on a branch that is not merged."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    first = git(folder, "rev-parse", "HEAD")
    git(folder, "switch", "-q", "-c", "feat/T1")
    git(folder, "commit", "-q", "--allow-empty", "-m", "two")
    branch = git(folder, "rev-parse", "HEAD")
    git(folder, "switch", "-q", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "three")
    return {"path": str(folder), "first": first, "branch": branch, "head": git(folder, "rev-parse", "HEAD")}


def test_completion_answers_its_dispatch(squad: Squad):
    squad.ask("T1", target="builder", title="Retry", test_policy="EXTEND", user_summary="why")
    done = squad.complete(summary="done", commit="abc1234")
    assert done.is_new
    assert squad.receipts() == {"T1__builder__planner.json", "T1__planner__builder.json.consumed"}
    receipt = squad.receipt("T1__builder__planner.json")
    facts = {
        key: receipt[key] for key in ("title", "test_policy", "user_summary", "commit", "builder_commit", "status")
    }
    assert facts == {
        "title": "Retry",
        "test_policy": "EXTEND",
        "user_summary": "why",
        "commit": "abc1234",
        "builder_commit": "abc1234",
        "status": "completed",
    }
    assert squad.recorder.woken() == [("builder", "T1"), ("planner", "T1")]
    assert not squad.complete(summary="done", commit="abc1234").is_new
    assert len(squad.recorder.woken()) == 2


def test_an_open_question_is_not_put_aside_by_a_completion_that_goes_the_same_way(squad: Squad):
    squad.ask("Q-1")
    before = squad.receipt("Q-1__planner__memory.json")
    with pytest.raises(Conflict, match="still open"):
        squad.complete("Q-1", source="planner", target="memory", verdict="PASS", summary="x")
    assert squad.receipts() == {"Q-1__planner__memory.json"}
    assert squad.receipt("Q-1__planner__memory.json") == before
    assert squad.states() == {"Q-1": "open"}
    squad.deliver()
    assert squad.states() == {"Q-1": "consumed"}
    squad.complete("Q-1", source="planner", target="memory", verdict="PASS", summary="x")
    assert "Q-1__planner__memory.json.superseded-" in "".join(squad.receipts())


def test_target_is_inferred_or_asked_for(squad: Squad):
    with pytest.raises(CompletionRefused, match="no dispatch") as caught:
        squad.complete()
    assert caught.value.exit_code == 1
    squad.ask("T1", target="builder", reply_to="reviewer")
    assert squad.complete().name.target == "reviewer"


def test_only_the_exact_entry_is_completed(squad: Squad):
    squad.ask("T10", target="builder")
    squad.complete("T1", target="planner")
    assert "## [pending] T10" in squad.text("builder/TODO.md")


def test_closing_a_task_leaves_a_longer_one_alone(squad: Squad):
    squad.ask("T1__sub", source="builder", target="planner")
    squad.ask("T1", source="builder", target="planner")
    squad.complete("T1", source="planner", target="memory")
    assert "T1__sub__builder__planner.json" in squad.receipts()
    assert "T1__builder__planner.json.consumed" in squad.receipts()


def test_closeout_consumes_what_was_sent_to_the_planner_under_this_id(squad: Squad):
    squad.ask("T1", target="builder")
    squad.complete("T1")
    squad.complete("T1", source="planner", target="memory", summary="closed")
    assert "T1__builder__planner.json.consumed" in squad.receipts()
    assert audit_closeout(squad.oracle, "demo", "T1") == ()
    assert squad.states()["T1"] in ("acked", "consumed")


def test_failed_closeout_consumes_nothing(squad: Squad, monkeypatch: pytest.MonkeyPatch):
    squad.ask("T1", target="builder", notifies=False)
    squad.complete("T1", notifies=False)
    before = squad.snapshot()
    with pytest.raises(CompletionRefused):
        squad.complete("T1", source="planner", target="memory", needs_lineage=True)
    assert squad.snapshot() == before
    plain = steps.create_once

    def refuse(path: str, data: bytes) -> bool:
        if path.startswith(str(squad.folder)):
            raise DiskFailure("The disk is full.")
        return plain(path, data)

    monkeypatch.setattr(steps, "create_once", refuse)
    with pytest.raises(HandoffFailed):
        squad.complete("T1", source="planner", target="memory")
    assert squad.snapshot() == before


def test_audit_names_each_missing_artifact(squad: Squad):
    absent = audit_closeout(squad.oracle, "demo", "T1")
    assert [line.split(":")[0] for line in absent] == [
        ".consumed missing",
        "planner→memory receipt missing",
        "planner DELIVERY.md missing",
    ]


def test_audit_reports_a_corrupt_receipt(squad: Squad):
    squad.folder.mkdir(parents=True)
    (squad.folder / "T1__planner__memory.json").write_text("{", encoding="utf-8")
    assert any(
        line.startswith("planner→memory receipt unreadable") for line in audit_closeout(squad.oracle, "demo", "T1")
    )


def test_rework_is_a_new_round(squad: Squad):
    squad.ask("T1", target="builder")
    squad.complete(commit="abc1234")
    squad.ack()
    assert squad.verify("T1", "builder", "planner")["healthy"] is True
    assert squad.complete(commit="def5678").is_new
    receipt = squad.receipt("T1__builder__planner.json")
    assert (receipt["commit"], receipt["builder_commit"]) == ("def5678", "def5678")
    assert "consumed_at" not in receipt
    found = squad.verify("T1", "builder", "planner")
    assert (found["consumed"], found["healthy"]) == (False, False)
    assert [name for name in squad.receipts() if ".superseded-" in name]
    squad.ack()
    assert squad.verify("T1", "builder", "planner")["consumed"] is True
    assert squad.recorder.woken().count(("planner", "T1")) == 2


@pytest.mark.parametrize("is_acknowledged", [False, True])
def test_completion_that_takes_the_place_of_another_says_of_which(squad: Squad, *, is_acknowledged: bool):
    squad.ask("T1", target="builder")
    squad.complete(commit="abc1234", verdict="APPROVED")
    before = squad.receipt("T1__builder__planner.json")
    if is_acknowledged:
        squad.ack()
    squad.warnings.clear()
    assert not squad.complete(commit="abc1234", verdict="APPROVED").is_new
    assert [line for line in squad.warnings if "place" in line] == []
    squad.warnings.clear()
    assert squad.complete(commit="def5678", verdict="CHANGES_REQUESTED").is_new
    (line,) = [line for line in squad.warnings if "takes the place" in line]
    assert f"of T1 from {before['delivered_at']} (status completed, verdict APPROVED, commit abc1234)" in line
    assert ("acknowledged" in line) is is_acknowledged
    assert line.endswith("; the old receipt is kept")


def test_ack_is_written_once_and_clears_the_queue(squad: Squad):
    squad.ask("T1", target="builder")
    squad.ask("T10", target="builder", stacks=True)
    squad.complete()
    first, second = squad.ack(), squad.ack()
    assert first.is_new
    assert not second.is_new
    assert first.line == second.line
    assert first.line.startswith("Consumed: T1 from builder at ")
    assert squad.text("planner/TODO.md").count("Consumed: T1 ") == 1
    assert {"T1__builder__planner.json", "T1__builder__planner.json.consumed"} <= squad.receipts()
    assert "T10" in squad.text("builder/TODO.md")
    assert squad.states()["T1"] == "acked"
    assert squad.events().count("ack") == 1


@pytest.mark.parametrize("later", [0, 4, 60])
def test_ack_of_an_answer_that_replaced_another_tells_its_own_time(squad: Squad, later: int):
    def acknowledge_later(seconds: int) -> str:
        oracle = squad.open(seconds)
        return acknowledge(oracle, "demo", "T1", source="builder", target="planner").line

    squad.ask("T1", target="builder")
    squad.complete()
    first = acknowledge_later(0)
    squad.complete(commit="def5678")
    verified = squad.verify("T1", "builder", "planner")
    assert (verified["consumed"], verified["consumed_ack"]) == (False, None)
    second = acknowledge_later(later)
    receipt = squad.receipt("T1__builder__planner.json")
    assert receipt["consumed_ack"] == second == acknowledge_later(2 * later + 1)
    told, stamped = (timestamps.parse(text) for text in (second.rpartition(" at ")[2], receipt["consumed_at"]))
    assert (stamped - told).total_seconds() < 2
    assert squad.text("planner/TODO.md").count("Consumed: T1 ") == len({first, second})


def test_ack_whose_receipt_was_lost_keeps_its_line(squad: Squad):
    squad.ask("T1", target="builder")
    squad.complete()
    before = {name: (squad.folder / name).read_bytes() for name in squad.receipts()}
    first = squad.ack().line
    (squad.folder / "T1__builder__planner.json.consumed").unlink()
    for name, content in before.items():
        (squad.folder / name).write_bytes(content)
    again = acknowledge(squad.open(60), "demo", "T1", source="builder", target="planner")
    assert (again.is_new, again.line) == (True, first)


def test_ack_of_nothing_is_not_found_and_writes_nothing(squad: Squad):
    squad.ask("T1", target="builder")
    before = squad.snapshot()
    with pytest.raises(NotFound):
        squad.ack()
    with pytest.raises(NotFound):
        squad.ack("T1", "planner", "builder")
    assert squad.snapshot() == before


def test_verify_reads_each_task_by_itself(squad: Squad):
    squad.ask("T10", target="builder")
    assert squad.verify("T1", "planner", "builder")["assigned"] is False
    assert squad.verify("T10", "planner", "builder")["assigned"] is True
    squad.complete("T10")
    squad.ask("T2", target="builder")
    squad.complete("T2")
    assert squad.verify("T10", "builder", "planner")["assigned"] is True


def test_verify_of_a_foreign_ack_line(squad: Squad):
    squad.ask("T1", target="builder")
    squad.complete()
    queue = squad.tasks / "planner" / "TODO.md"
    queue.parent.mkdir(parents=True, exist_ok=True)
    queue.write_text("# Queue: planner\n\n# Completed\n\nConsumed: T1 from builder at 2099-01-01T00:00:00+00:00\n")
    assert squad.verify("T1", "builder", "planner")["consumed"] is True
    queue.write_text("# Queue: planner\n\n# Completed\n\nConsumed: T1 from builder at 2020-01-01T00:00:00+00:00\n")
    assert squad.verify("T1", "builder", "planner")["consumed"] is False


def test_verify_writes_nothing(squad: Squad):
    squad.ask("T1", target="builder", notifies=False)
    before = squad.snapshot()
    squad.verify("T1", "planner", "builder")
    audit_closeout(squad.oracle, "demo", "T1")
    assert squad.snapshot() == before


# Rules ----------------------------------------------------------------------------------------------------------------


def test_reviewer_needs_a_verdict(squad: Squad):
    squad.ask("T1", target="reviewer")
    for verdict in ("", "FINE"):
        with pytest.raises(CompletionRefused, match="verdict; FINE is unknown" if verdict else r"needs a verdict\.$"):
            squad.complete(source="reviewer", verdict=verdict)
    assert squad.complete(source="reviewer", verdict="APPROVED").is_new
    assert squad.verify("T1", "reviewer", "planner")["verdict_valid"] is True


def test_branch_is_locked(squad: Squad):
    squad.ask("T1", target="builder")
    with pytest.raises(CompletionRefused, match="BOUNCE: branch mismatch"):
        squad.complete(branch="feat/other")
    assert squad.complete(branch="feat/other", is_any_branch=True).is_new


@pytest.mark.parametrize("branch", ["main", "abc1234", "feat/T1"])
def test_the_main_line_and_a_commit_are_no_other_branch(squad: Squad, branch: str):
    squad.ask("T1", target="builder")
    assert squad.complete(branch=branch).is_new


def test_the_dispatch_log_names_policy_verdict_and_commit(squad: Squad):
    squad.ask("T1", target="builder")
    squad.complete(commit="abc1234", verdict="APPROVED")
    line = "builder ack T1 test_policy=N/A verdict=APPROVED commit=abc1234\n"
    assert squad.text("STATUS.md").endswith(line)
    squad.ack("T1", "builder", "planner")
    assert squad.text("STATUS.md").count(line) == 1


def test_expected_base_asks_for_the_branch(squad: Squad):
    squad.ask("T1", target="builder", receipt={"expected_base_sha": "abc1234"})
    with pytest.raises(CompletionRefused, match="--pr-number"):
        squad.complete(branch="feat/T1")


def test_core_of_the_product_needs_its_gate(squad: Squad):
    squad.ask("T1", target="builder", receipt={"core_ux": True})
    with pytest.raises(CompletionRefused, match="core"):
        squad.complete()
    assert squad.complete(core_ux_gate="PASS").is_new


def test_front_is_for_the_owner_of_the_loop(tmp_path: Path):
    squad = Squad(tmp_path, seats=("memory", "planner", "koder"))
    with pytest.raises(CompletionRefused, match="closed"):
        squad.complete(source="planner", target="koder")
    with pytest.raises(CompletionRefused, match="disposition"):
        squad.complete(source="memory", target="koder")
    with pytest.raises(CompletionRefused, match="next-action"):
        squad.complete(source="memory", target="koder", disposition="USER_DECISION_NEEDED")
    assert squad.complete(source="memory", target="koder", disposition="AUTO_ADVANCE").is_new


def test_plain_planner_means_the_one_there_is(tmp_path: Path):
    squad = Squad(tmp_path, seats=("memory", "planner-1", "builder"))
    squad.ask("T1", source="planner-1", target="builder")
    assert squad.complete(target="planner").name.target == "planner-1"
    many = Squad(tmp_path, seats=("memory", "planner-1", "planner-2", "builder"), project="many")
    with pytest.raises(UsageError, match="planner-2"):
        many.complete(target="planner")


# Lineage --------------------------------------------------------------------------------------------------------------


def test_lineage_is_told_from_git(repo: dict[str, str]):
    path = repo["path"]
    assert asked_git.lineage_of(path, repo["first"]) == "in-lineage"
    assert asked_git.lineage_of(path, repo["first"][:9]) == "in-lineage"
    assert asked_git.lineage_of(path, repo["branch"]) == "divergent"
    for commit in ("f" * 40, "HEAD", "--help", "", "main", "../x"):
        assert asked_git.lineage_of(path, commit) == "unknown"
    assert asked_git.lineage_of(f"{path}/nowhere", repo["first"]) == "unknown"
    assert asked_git.tip_of(path, "feat/T1") == repo["branch"]
    assert asked_git.tip_of(path, "--all") == ""
    assert asked_git.base_of(path, "feat/T1") == repo["first"]


def test_git_is_not_led_astray_by_the_environment(
    repo: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert asked_git.lineage_of(repo["path"], repo["first"]) == "in-lineage"


def test_divergent_commit_is_written_down_once_and_memory_is_told(squad: Squad, repo: dict[str, str]):
    squad.ask("T1", target="builder", notifies=False)
    refs = git(Path(repo["path"]), "for-each-ref")
    done = squad.complete(commit=repo["branch"])
    receipt = squad.receipt("T1__builder__planner.json")
    assert (receipt["lineage_status"], receipt["head_contains_commit"]) == ("divergent", False)
    text = Path(done.record).read_text(encoding="utf-8")
    assert "PASS_NEEDS_INTEGRATION T1" in text
    assert str(squad.folder / "T1__builder__planner.json") in text
    assert [seat for seat, _ in squad.recorder.woken()] == ["memory", "planner"]
    assert "PASS_NEEDS_INTEGRATION: task_id=T1" in squad.recorder.lines()[0]
    assert "PASS_NEEDS_INTEGRATION" in squad.recorder.lines()[1]
    squad.complete(commit=repo["branch"])
    assert len(list(squad.path.glob("projects/demo/finding/*.md"))) == 1
    assert git(Path(repo["path"]), "for-each-ref") == refs


def test_divergent_commit_without_notice_is_written_down_and_nobody_is_woken(squad: Squad, repo: dict[str, str]):
    squad.ask("T1", target="builder", notifies=False)
    assert squad.complete(commit=repo["branch"], notifies=False).record
    assert squad.recorder.woken() == []


@pytest.mark.parametrize("commit", ["deadbeef", "HEAD", "--all"])
def test_commit_that_git_does_not_find_is_warned_about_once(squad: Squad, repo: dict[str, str], commit: str):
    squad.ask("T1", target="builder", notifies=False)
    squad.warnings.clear()
    assert squad.complete(commit=commit, user_summary="Done.", notifies=False).lineage == "unknown"
    assert squad.warnings == [f"the commit {commit} was not found in {repo['path']}; its lineage is unknown"]


@pytest.mark.parametrize("name", ["first", "branch", "head"])
def test_commit_that_git_finds_is_not_warned_about(squad: Squad, repo: dict[str, str], name: str):
    squad.ask("T1", target="builder", notifies=False)
    squad.warnings.clear()
    squad.complete(commit=repo[name][:10], user_summary="Done.", notifies=False)
    assert squad.warnings == []


def test_no_commit_is_missed_where_there_is_no_repository(squad: Squad):
    squad.ask("T1", target="builder", notifies=False)
    squad.warnings.clear()
    squad.complete(commit="deadbeef", user_summary="Done.", notifies=False)
    assert squad.warnings == []


def test_commit_that_is_merely_behind_is_in_lineage(squad: Squad, repo: dict[str, str]):
    squad.ask("T1", target="builder")
    assert squad.complete(commit=repo["first"]).lineage == "in-lineage"
    assert not list(squad.path.glob("projects/demo/finding/*.md"))


def test_dispatch_moves_no_branch(squad: Squad, repo: dict[str, str]):
    refs = git(Path(repo["path"]), "for-each-ref")
    squad.ask("T1", target="builder")
    squad.ask("T9", target="builder", stacks=True)
    assert git(Path(repo["path"]), "for-each-ref") == refs


def test_lineage_of_rework_is_judged_on_the_new_commit(squad: Squad, repo: dict[str, str]):
    squad.ask("T1", target="builder", notifies=False)
    squad.complete(commit=repo["branch"], notifies=False)
    squad.ack()
    assert squad.complete(commit=repo["head"], notifies=False).lineage == "in-lineage"


# Notices --------------------------------------------------------------------------------------------------------------


def test_notice_never_touches_a_dispatch(squad: Squad):
    squad.ask("T1", target="reviewer")
    before = squad.receipt("T1__planner__reviewer.json")
    done = notify(squad.oracle, Notice("demo", "planner", "reviewer", "look\nhere", task_id="T1", reply_to="planner"))
    assert done.sent
    assert squad.receipt("T1__planner__reviewer.json") == before
    content: dict[str, Any] = json.loads(Path(done.receipt_path).read_bytes())
    assert (content["kind"], content["transport"]) == ("notice", "tmux")
    assert content["notified_at"]
    assert squad.recorder.lines()[-1].endswith("look ⏎ here Reply to planner if follow-up or completion is required.")
    assert squad.states() == {"T1": "open"}


def test_notice_that_failed_says_so(squad: Squad):
    squad.recorder.away = {"reviewer"}
    done = notify(squad.oracle, Notice("demo", "planner", "reviewer", "look", task_id="T1"))
    assert not done.sent
    assert json.loads(Path(done.receipt_path).read_bytes())["notified_at"] is None
    assert squad.inbox().waiting == ()
    with pytest.raises(UsageError):
        notify(squad.oracle, Notice("demo", "planner", "nobody", "look"))


def test_a_seat_that_is_none_is_named_before_its_target_is_looked_for(squad: Squad):
    with pytest.raises(UsageError, match="no seat nobody"):
        squad.complete("T1", "nobody")
