"""What scripts of teams look for in the output and files of the older programs, program by program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.gitbox import GitBox
from tests.compat.team import Team
from tests.compat.test_delivery import Crew, clone_of_a_remote


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(tmp_path)


def last_log_line(crew: Crew) -> str:
    return (crew.tasks / "STATUS.md").read_text(encoding="utf-8").splitlines()[-1]


# dispatch_task --------------------------------------------------------------------------------------------------------


def test_flags_of_a_finding_are_told_in_queue_log_and_receipt(crew: Crew):
    words = ("--finding-id", "F-1", "--rca-override", "--core-ux")
    assert crew.dispatch("T1", "builder", *words).code == 0
    queue = (crew.tasks / "builder/TODO.md").read_text(encoding="utf-8").split("### Objective")[0]
    keys = [line.partition(":")[0] for line in queue.splitlines() if ": " in line]
    order = ["test_policy", "core_ux", "finding_id", "hypothesis_fix_counter", "rca_override"]
    assert [key for key in keys if key in order] == order
    told = "planner dispatched T1 to builder test_policy=EXTEND finding_id=F-1 hypothesis_counter=0 rca_override=true"
    assert last_log_line(crew).endswith(f"{told} core_ux=true")
    receipt = crew.receipt("T1__planner__builder.json")
    assert (receipt["rca_override"], receipt["core_ux"]) == (True, True)
    assert crew.dispatch("T2", "builder", "--rca-override", "a race", "--force-parallel-builder").code == 0
    assert crew.receipt("T2__planner__builder.json")["rca_override"] == "a race"


def test_a_finding_goes_to_a_builder_that_has_a_task(crew: Crew):
    crew.dispatch("T1")
    assert crew.dispatch("T2").code == 2
    assert crew.dispatch("T2", "builder", "--finding-id", "F-1").code == 0


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ((), "dispatched via gstack-harness"),
        (("--docs-consulted", "kb/x.md"), "dispatched via gstack-harness; docs_consulted:kb/x.md"),
        (("--docs-skip-reason", "known", "--notes", "n"), "n; docs_skip_reason:known"),
    ],
)
def test_docs_are_noted_in_the_task_table(crew: Crew, words: tuple[str, ...], note: str):
    crew.dispatch("T1", "builder", *words)
    assert (crew.tasks / "TASKS.md").read_text(encoding="utf-8").splitlines()[-1].endswith(f"| pending | {note} |")
    receipt = crew.receipt("T1__planner__builder.json")
    assert (receipt["docs_consulted"] is None) == (not words or "--docs-skip-reason" in words)


def test_what_a_dispatch_says_of_its_target(crew: Crew):
    role = ("--objective", "x", "--test-policy", "N/A", "--no-notify", "--target-role", "reviewer")
    assert "target-role resolved: reviewer -> reviewer\n" in crew.call("dispatch_task", *role).err
    assert "is not a declared seat" in crew.dispatch("T1", "nobody").err
    refused = crew.dispatch("T1", "memory")
    assert "does not support --target memory" in refused.err
    assert "query_memory.py" in refused.err
    assert "warn: no --user-summary" in crew.dispatch("T1", "builder", "--user-summary", " ").err


# complete_handoff -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--test-policy", "MAYBE"), ("--enforce-planner-self-closeout=maybe",)])
def test_a_completion_takes_known_words_alone(crew: Crew, words: tuple[str, ...]):
    crew.dispatch()
    done = crew.complete("T1", *words)
    assert (done.code, done.out) == (2, "")
    assert not (crew.folder / "T1__builder__planner.json").exists()


def test_an_unknown_disposition_is_refused_whoever_gets_it(crew: Crew):
    crew.dispatch()
    done = crew.complete("T1", "--frontstage-disposition", "LATER")
    assert done.code == 1
    assert "AUTO_ADVANCE or USER_DECISION_NEEDED" in done.err


def test_a_completion_without_a_summary_says_who_did_what(crew: Crew):
    crew.dispatch()
    crew.complete()
    assert "\n## Summary\n\nbuilder completed T1.\n" in (crew.tasks / "builder/DELIVERY.md").read_text(encoding="utf-8")
    assert crew.receipt("T1__builder__planner.json")["summary"] == "builder completed T1."


def test_a_branch_stands_for_the_commit_that_is_left_out(crew: Crew):
    box = GitBox(crew.home / "demo")
    tip = box.commit()
    box.git("branch", "feat/T1")
    crew.dispatch()
    crew.complete("T1", "--branch", "feat/T1")
    assert crew.receipt("T1__builder__planner.json")["builder_commit"] == tip


def test_a_branch_that_git_does_not_know_is_told(crew: Crew):
    crew.dispatch()
    done = crew.complete("T1", "--branch", "feat/T1")
    assert done.code == 0
    assert "git does not know the branch feat/T1" in done.err


def test_a_branch_that_git_does_not_know_closes_no_task_with_a_base(crew: Crew):
    clone_of_a_remote(crew)
    crew.dispatch()
    done = crew.complete("T1", "--branch", "feat/T1", "--pr-number", "7", "--ci-conclusion", "success")
    assert done.code == 1
    assert "feat/T1" in done.err
    assert not (crew.folder / "T1__builder__planner.json").exists()


def test_the_commit_of_memory_is_named_as_such(crew: Crew):
    crew.dispatch("Q-1", "memory", "--kind", "query")
    given = ("--source", "memory", "--task-id", "Q-1", "--commit", "abc1234", "--no-notify")
    assert crew.call("complete_handoff", *given).code == 0
    receipt = crew.receipt("Q-1__memory__planner.json")
    assert (receipt["memory_commit"], receipt["builder_commit"]) == ("abc1234", None)


def test_the_front_gets_what_is_handed_back_into_its_queue(crew: Crew):
    given = ("--source", "memory", "--target", "koder", "--task-id", "F1", "--user-summary", "It works.")
    more = ("--frontstage-disposition", "USER_DECISION_NEEDED", "--next-action", "Ship it?")
    for _ in range(2):
        assert crew.call("complete_handoff", *given, *more).code == 0
    queue = (crew.tasks / "koder/TODO.md").read_text(encoding="utf-8")
    assert queue.count("## [pending] F1") == 1
    for line in ("FrontstageDisposition: USER_DECISION_NEEDED", "UserSummary: It works.", "NextAction: Ship it?"):
        assert f"\n{line}\n" in queue
    assert str(crew.tasks / "memory/DELIVERY.md") in queue
    ack = ("--ack-only", "--source", "memory", "--target", "koder", "--task-id", "F1")
    assert crew.call("complete_handoff", *ack).code == 0
    assert "[pending] F1" not in (crew.tasks / "koder/TODO.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("program", ["complete_handoff", "memory_deliver"])
def test_who_is_not_of_the_team_is_answered_and_not_woken(crew: Crew, program: str):
    given = ["--task-id", "X-1", "--target", "installer", "--source", "memory"]
    given += ["--response-inline", '{"answer": "On 8443."}'] if program == "memory_deliver" else []
    done = crew.call(program, *given)
    assert (done.code, "completed X-1 -> installer" in done.out) == (0, True)
    assert "notify_skipped: installer is not a registered seat" in done.err
    assert crew.receipt("X-1__memory__installer.json")["notify_skipped"] == "target_not_registered_seat"
    near = crew.call(program, *[word.replace("installer", "planer").replace("X-1", "X-2") for word in given])
    assert (near.code, "Did you mean planner?" in near.err) == (2, True)


# The other programs ---------------------------------------------------------------------------------------------------


def test_a_planners_closeout_is_audited_in_the_older_words(crew: Crew):
    def audit() -> list[str]:
        return crew.call("audit_planner_closeout", "--task-id", "T1").out.splitlines()

    named = [".consumed missing: ", "planner→memory receipt missing: ", "planner DELIVERY.md missing: "]
    for line, words in zip(audit(), named, strict=True):
        assert line.startswith(f"{words}{crew.tasks}")
    assert crew.dispatch("T1", "planner", "--source", "memory").code == 0
    given = ("--source", "planner", "--no-notify")
    crew.call("complete_handoff", *given, "--task-id", "T1", "--target", "memory")
    assert audit() == ["all 3 artifacts present"]
    crew.call("complete_handoff", *given, "--task-id", "T2", "--target", "memory")
    assert audit() == ["planner DELIVERY.md task_id mismatch: expected T1, got T2"]


def test_a_closeout_consumes_what_others_completed_for_the_planner(crew: Crew):
    crew.dispatch()
    crew.complete()
    closeout = ("--source", "planner", "--task-id", "T1", "--target", "memory", "--no-notify")
    assert crew.call("complete_handoff", *closeout).code == 0
    assert (crew.folder / "T1__builder__planner.json.consumed").exists()
    assert crew.call("audit_planner_closeout", "--task-id", "T1").out == "all 3 artifacts present\n"


def test_old_notes_have_the_values_that_older_tools_give_them(team: Team):
    team.put("projects/q/decision/a.md", "---\ncreated_at: 2026-04-01T00:00:00Z\n---\n\n# Words\n")
    (entry,) = team.query("--project", "q").json
    shown = {key: entry[key] for key in ("schema_version", "format", "source", "ts", "title")}
    assert shown == {
        "schema_version": 1,
        "format": "markdown_note",
        "source": "drop_cli",
        "ts": "2026-04-01T00:00:00Z",
        "title": "Words",
    }
    team.put("projects/q/decision/a.md", f"---\nschema_version: {'9' * 5000}\n---\n\n# Words\n")
    assert team.query("--project", "q").json[0]["schema_version"] == 1


def test_a_fact_file_that_is_asked_for_by_name_goes_by_it(team: Team):
    team.put("machine/ports.json", '{"web": "8443"}')
    team.put("flat.json", '{"web": "old"}')
    found = team.query("--search", "web", "--files", "ports,flat")
    assert [match["file"] for match in found.json["matches"]] == ["ports", "flat"]
    assert "legacy: ports" not in found.err
    assert [match["file"] for match in team.query("--search", "web").json["matches"]][:2] == ["machine/ports", "flat"]


def test_small_words_of_the_other_programs(team: Team, tmp_path: Path):
    assert "deprecated" in team.query("--ask", "what").err
    assert "error: not a file: " in team.call("extract_links", "--file", tmp_path / "gone.md").err
    team.put("projects/q/decision/a.md", "---\nkind: decision\n---\n\n# Words\n")
    (filed,) = team.call("scan_index", "rebuild", "--project", "q").json["files"]
    assert len(filed["mtime"]) == len("2026-04-27T18:30:00Z")
    lines = team.call("scan_environment", "--only", "current_context").out.splitlines()
    assert lines[-3:] == ["", "scan complete: 1/1 scanners succeeded", f"index: {team.root / 'index.json'}"]


def test_the_log_of_decisions_is_printed_on_one_line(team: Team):
    for title in ("one", "two"):
        done = team.call("decision_log", "append", "demo", "T-1", title, "why")
        assert (done.out.count("\n"), done.json["title"]) == (1, title)
        assert list(done.json) == sorted(done.json)
    assert [entry["title"] for entry in team.call("decision_log", "list", "demo", "--limit", "1").json] == ["two"]
    assert team.call("decision_log", "list", "demo", "--limit", "0").out == "[]\n"


def test_a_rehearsed_hook_is_printed_as_the_settings_would_be(team: Team, tmp_path: Path):
    script = tmp_path / "hook.sh"
    script.write_text("#!/bin/bash\n", encoding="utf-8")
    settings = tmp_path / "ws/.claude/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"a": 1}', encoding="utf-8")
    words = ("--workspace", str(tmp_path / "ws"), "--hook-script", str(script), "--dry-run")
    head, _, rest = team.run("install_memory_hook", *words).out.partition("\n")
    assert head == f"target: {settings}"
    assert json.loads(rest)["hooks"]["Stop"][0]["hooks"][0]["command"] == f"bash {script}"
    assert settings.read_text(encoding="utf-8") == '{"a": 1}'
