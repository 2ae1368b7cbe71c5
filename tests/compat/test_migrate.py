"""A team switches over from ClawSeat unattended, works by its old paths, and goes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.app.migration import shims
from oracle.app.migration.ledger import Ledger
from tests.compat.old_team import OldTeam

HOOK_SESSION = "5b1c0000-0000-4000-8000-000000000001"
ORACLE = "core/skills/memory-oracle/scripts"
HARNESS = "core/skills/gstack-harness/scripts"


@pytest.fixture
def old(tmp_path: Path) -> OldTeam:
    return OldTeam(tmp_path)


def test_a_check_changes_nothing_and_its_exit_code_tells(old: OldTeam):
    before = old.snapshot()
    done = old.oracle("migrate", "clawseat", "--check", "--json")
    assert (done.code, done.err) == (1, "")
    changes = {(one["what"], Path(one["subject"]).name) for one in done.json["changes"]}
    assert {("mode", "memory"), ("mode", "credentials.json"), ("answer", "Q-1")} <= changes
    assert {("hook", "settings.json"), ("hook", "settings.local.json"), ("shim", "send-and-verify.sh")} <= changes
    assert done.json["clawseat_root"] == str(old.checkout)
    assert old.snapshot() == before
    assert old.oracle("migrate", "clawseat").code == 0
    again = old.oracle("migrate", "clawseat", "--check", "--json")
    assert (again.code, again.json["changes"]) == (0, [])


def test_a_second_migration_changes_nothing(old: OldTeam):
    assert old.oracle("migrate", "clawseat").code == 0
    before = old.snapshot()
    done = old.oracle("migrate", "clawseat")
    assert done.code == 0
    assert "nothing to change" in done.out
    assert old.snapshot() == before


def test_undo_puts_everything_back_byte_for_byte(old: OldTeam):
    before = old.snapshot()
    assert old.oracle("migrate", "clawseat").code == 0
    assert old.snapshot() != before
    done = old.oracle("migrate", "clawseat", "--undo")
    assert (done.code, done.err) == (0, "")
    assert old.snapshot() == before
    again = old.oracle("migrate", "clawseat", "--undo")
    assert again.code == 2


def test_a_team_works_by_its_old_paths_after_the_migration(old: OldTeam):
    before = old.snapshot()
    assert old.oracle("migrate", "clawseat").code == 0
    profile = ("--profile", str(old.profile))

    wrote = old.shim(
        f"{ORACLE}/memory_write.py",
        *("--kind", "decision", "--project", "demo"),
        *("--title", "T", "--author", "memory"),
    )
    assert wrote.code == 0
    assert old.shim(f"{ORACLE}/query_memory.py", "--project", "demo", "--kind", "decision").code == 0
    order = (
        "--task-id",
        "T1",
        "--target",
        "builder",
        "--title",
        "t",
        "--objective",
        "do it",
        "--test-policy",
        "EXTEND",
    )
    dispatched = old.shim(f"{HARNESS}/dispatch_task.py", *profile, *order, "--reply-to", "planner", "--no-notify")
    assert dispatched.out.startswith("dispatched T1 -> builder\n")
    given = ("--source", "builder", "--task-id", "T1", "--summary", "done", "--commit", "abc1234", "--no-notify")
    assert old.shim(f"{HARNESS}/complete_handoff.py", *profile, *given).out.startswith("completed T1 -> planner\n")
    ends = ("--task-id", "T1", "--source", "builder", "--target", "planner")
    assert old.shim(f"{HARNESS}/verify_handoff.py", *profile, *ends).code == 1
    assert old.shim("core/shell-scripts/send-and-verify.sh", "planner", "hi").code == 1
    assert old.shim("core/skills/clawseat-intake/scripts/decision-log.py", "list", "demo").code == 0

    settings = json.loads((old.workspaces / "memory/.claude/settings.json").read_text())
    (hook,) = settings["hooks"]["Stop"][0]["hooks"]
    message = "It is in the yard. [DELIVER:seat=planner,task_id=Q-2,project=demo]"
    payload = {"session_id": HOOK_SESSION, "hook_event_name": "Stop", "last_assistant_message": message}
    answered = old.start(["sh", "-c", hook["command"]], stdin=json.dumps(payload))
    assert (answered.code, answered.out, answered.err) == (0, "", "")
    assert (old.folder / "Q-2__memory__planner.json").exists()

    undone = old.oracle("migrate", "clawseat", "--undo", "--json")
    assert undone.code == 0
    after = old.snapshot()
    changed = {path for path in before if after.get(path) != before[path]}
    assert changed <= {
        ".agents/tasks/demo/patrol/handoffs/Q-2__planner__memory.json",  # answered since
        *(path for path in before if path.startswith(".agents/tasks/demo/") and path.endswith(".md")),
    }
    assert (old.folder / "Q-2__memory__planner.json").exists(), "what was delivered since stays"


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> OldTeam:
    team = OldTeam(tmp_path_factory.mktemp("migrated"))
    assert team.oracle("migrate", "clawseat").code == 0
    return team


@pytest.mark.parametrize("place", sorted({*shims.PROGRAMS, *shims.HOOKS}))
def test_every_old_path_has_a_shim(migrated: OldTeam, place: str):
    words = ("task", "--help") if place == shims.ADMIN else () if place in shims.HOOKS else ("--help",)
    done = migrated.shim(place, *words)
    assert (done.code, done.err) == (0, "")


def test_an_older_program_still_does_what_ours_does_not(old: OldTeam):
    assert old.oracle("migrate", "clawseat").code == 0
    assert old.shim(shims.ADMIN, "engineer", "list").out == "older agent_admin engineer list __main__\n"
    assert old.shim(shims.ADMIN, "task", "create", "T9", "--project", "demo").code == 0
    code = f"import sys; sys.path.insert(0, {str(old.checkout / ORACLE)!r}); import query_memory; print(query_memory.POLICY)"
    assert old.start(["python3", "-c", code]).out == "older program\nolder\n"


def test_the_hook_of_a_workspace_runs_once(old: OldTeam):
    assert old.oracle("migrate", "clawseat").code == 0
    folder = old.workspaces / "memory/.claude"
    shared, local = (json.loads((folder / name).read_text()) for name in ("settings.json", "settings.local.json"))
    assert [len(group["hooks"]) for group in shared["hooks"]["Stop"]] == [1]
    assert "stop_hook.py" in shared["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert "hooks" not in local
    assert local["permissions"] == {"allow": ["Bash(ls)"]}


def test_a_settings_file_that_can_not_be_kept_is_named_and_the_rest_is_done(old: OldTeam):
    broken = old.put(old.workspaces / "builder/.claude/settings.json", "{ // mine\n}\n")
    done = old.oracle("migrate", "clawseat")
    assert done.code == 0
    assert str(broken) in done.err
    assert broken.read_text() == "{ // mine\n}\n"
    assert (old.checkout / "core/shell-scripts/send-and-verify.sh").exists()


def test_an_old_path_that_no_shim_answers_is_named(old: OldTeam):
    old.put(
        old.workspaces / "planner/AGENTS.md", "Run core/skills/gstack-harness/scripts/fly.py, then start_seat.py.\n"
    )
    done = old.oracle("migrate", "clawseat", "--check", "--json")
    (problem,) = done.json["problems"]
    assert "fly.py" in problem


@pytest.mark.parametrize("words", [(), ("--check",)])
def test_a_warning_is_given_once(old: OldTeam, words: tuple[str, ...]):
    text = old.profile.read_text().replace('"~/.agents/tasks/demo/STATUS.md"', '"/tmp/demo/STATUS.md"')
    old.profile.write_text(text)
    done = old.oracle("migrate", "clawseat", *words)
    assert done.err.count("status_doc of") == 1


@pytest.mark.parametrize("profile", ["not toml [", "project_name = 1\n", ""])
def test_a_project_that_can_not_be_read_stops_no_other(old: OldTeam, profile: str):
    broken = old.put(old.profile.with_name("broken-profile-dynamic.toml"), profile)
    done = old.oracle("migrate", "clawseat", "--json")
    assert (done.code, done.json["projects"]) == (0, ["demo"])
    assert any(broken.name in problem for problem in done.json["problems"])
    assert (old.folder / "Q-1__memory__planner.json").exists()


def test_an_answer_of_two_projects_is_left_to_a_person(old: OldTeam):
    other = old.profile.with_name("other-profile-dynamic.toml")
    other.write_text(old.profile.read_text().replace("demo", "other"))
    old.put(old.home / ".agents/tasks/other/patrol/handoffs/Q-1__planner__memory.json", '{"kind": "dispatch"}')
    assert old.oracle("migrate", "clawseat").code == 0
    assert not (old.folder / "Q-1__memory__planner.json").exists()
    assert old.oracle("migrate", "clawseat", "--check").code == 0


@pytest.mark.parametrize("elsewhere", ["flag", "variable", "default"])
def test_the_checkout_is_named_by_flag_or_variable(old: OldTeam, tmp_path: Path, elsewhere: str):
    other = tmp_path / "other"
    words = ["--clawseat-root", str(other)] if elsewhere == "flag" else []
    environ = {"CLAWSEAT_ROOT": str(other)} if elsewhere == "variable" else {}
    if elsewhere == "default":
        other = old.home / ".clawseat"
        for name in ("settings.json", "settings.local.json"):
            (old.workspaces / "memory/.claude" / name).unlink()
    assert old.oracle("migrate", "clawseat", *words, **environ).code == 0
    assert (other / "core/shell-scripts/send-and-verify.sh").exists()


def test_a_home_that_is_not_the_callers_is_named_in_shims_and_hooks(old: OldTeam, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    environ = {"HOME": str(tmp_path / "elsewhere")}
    assert old.oracle("migrate", "clawseat", "--home", str(old.home), **environ).code == 0
    words = ("--kind", "decision", "--project", "demo", "--title", "T", "--author", "memory")
    done = old.shim(f"{ORACLE}/memory_write.py", *words, **environ)
    assert done.json["path"].startswith(str(old.root))
    assert f"ORACLE_ROOT={old.root}" in (old.workspaces / "memory/.claude/settings.json").read_text()


# The ledger -----------------------------------------------------------------------------------------------------------


def test_a_file_that_stays_takes_no_copy_of_another_with_it(tmp_path: Path):
    changed, same = tmp_path / "a.json", tmp_path / "b.json"
    for path in (changed, same):
        path.write_text("{}")
    ledger = Ledger(str(tmp_path / "ledger"))
    with ledger.keeping(lambda: [str(changed), str(same)]):
        changed.write_text('{"ours": 1}')
    Ledger(str(tmp_path / "ledger")).undo()
    assert changed.read_text() == "{}"


def test_the_ledger_leaves_what_changed_since(tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    ledger = Ledger(str(tmp_path / "ledger"))
    ledger.write({str(path): (b"new", 0o600) for path in (one, two, tmp_path / "sub/three")})
    two.write_text("mine")
    undone = Ledger(str(tmp_path / "ledger")).undo()
    assert (one.read_text(), two.read_text(), (tmp_path / "sub").exists()) == ("1", "mine", False)
    assert undone.left == (str(two),)
    assert not (tmp_path / "ledger").exists()


def test_a_migration_that_dies_can_be_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "one"
    path.write_text("1")
    ledger = Ledger(str(tmp_path / "ledger"))
    monkeypatch.setattr(
        "oracle.app.migration.ledger.files.set_mode", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        ledger.write({str(path): (b"new", path.stat().st_mode & 0o777)})
    monkeypatch.undo()
    Ledger(str(tmp_path / "ledger")).undo()
    assert path.read_text() == "1"


@pytest.mark.parametrize("target", ["elsewhere", "absent"])
def test_a_link_is_replaced_and_put_back(tmp_path: Path, target: str):
    (tmp_path / "elsewhere").write_text("theirs")
    path = tmp_path / "link"
    path.symlink_to(target)
    Ledger(str(tmp_path / "ledger")).write({str(path): (b"new", 0o755)})
    assert (path.read_text(), path.is_symlink(), (tmp_path / "elsewhere").read_text()) == ("new", False, "theirs")
    Ledger(str(tmp_path / "ledger")).undo()
    assert (path.is_symlink(), str(path.readlink())) == (True, target)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_several_migrations_are_undone_to_the_first(tmp_path: Path, rounds: int):
    path = tmp_path / "one"
    path.write_text("first")
    for number in range(rounds):
        Ledger(str(tmp_path / "ledger")).write({str(path): (b"%d" % number, 0o600)})
    Ledger(str(tmp_path / "ledger")).undo()
    assert path.read_text() == "first"
