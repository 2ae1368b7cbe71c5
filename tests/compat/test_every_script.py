"""Every old program, run as a team runs it: one day of work that goes well, and calls that don't. None ends in a traceback."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from oracle.store.root import projects
from oracle.store.root.layout import Root
from tests.app.test_decisions import ID, payload
from tests.compat.team import SCRIPTS, Done
from tests.forked import run_python

DAY = """
0 memory_write --kind decision --project demo --title 'Use NATS' --author memory --body 'See ARENA-228 and src/app.py.'
0 memory_write --kind finding --project demo --content-file {home}/note.md --author memory --evidence high:src/app.py:1
0 query_memory --project demo --kind decision
0 query_memory --backlinks entity:taskid:ARENA-228
0 query_memory --graph projects/demo/decision --depth 2
0 extract_links --file {home}/.agents/memory/projects/demo/builder/seat.md
0 scan_index rebuild --project demo
0 scan_index update --file {home}/.agents/memory/projects/demo/builder/seat.md
0 scan_index query --project demo --kind decision
0 scan_environment --only current_context,credentials --quiet
0 query_memory --key current_context.current_project_dir
0 scan_project --project demo --repo {home}/repo --depth deep
0 scan_project --project demo --repo {home}/repo --depth medium --commit
0 agent_admin task create T1 --project demo
0 dispatch_task {profile} --task-id T1 {order} --target builder --objective 'do it' --title t
0 agent_admin task list-pending --project demo --owner-role builder
0 complete_handoff {profile} --task-id T1 --source builder --summary done --commit abc1234 --no-notify
0 complete_handoff {profile} --task-id T1 --source builder --target planner --ack-only
1 verify_handoff {profile} --task-id T1 --source builder --target planner
0 agent_admin task create T3 --project demo
0 dispatch_task {profile} --task-id T3 {order} --source memory --target planner --reply-to planner --objective 'plan it' --title t
0 complete_handoff {profile} --task-id T3 --source planner --target memory --summary planned --no-notify
0 audit_planner_closeout {profile} --task-id T3
0 dispatch_task {profile} --task-id Q1 {order} --target memory --kind query --objective 'who?' --title q
0 memory_deliver {profile} --task-id Q1 --target planner --response-inline '{{"answer": "Ada"}}' --no-notify
0 decision_log append demo T1 'Take plan A' 'It is shorter.'
0 decision_log list demo
0 decision_log projects
0 decision_payload validate --payload-file {home}/payload.json
0 decision_payload send --session demo-koder --payload-file {home}/payload.json
0 archive_merged_dispatches --memory-path {home}/MEMORY.md --commit
0 check_compact_marker --text '[memory: compact-me]'
0 wave_count_since_compact --status-file {home}/STATUS.md --threshold 1
0 memory_router add --input-json '{{"memory_type": "preference", "title": "t", "summary": "Use spaces."}}'
0 memory_router route --input-json '{{"goal": "write code", "step_role": "planner"}}'
0 memory_router list
0 install_memory_hook --workspace {home}/ws
0 install_memory_hook --workspace {home}/ws --dry-run
0 send_and_verify --help
1 notify_seat {profile} --source planner --target builder --message hello
"""
"""Lines `CODE PROGRAM WORDS…`, in order. Nobody runs in a pane here, so what must wake somebody says that it could not."""

WRONG = """
2 memory_write
5 memory_write --kind event --project demo --content-file {home}/note.md
2 memory_write --kind decision --project ../../x --title t --author memory
2 memory_write --kind decision --project demo --content-file /nowhere
2 memory_write --kind decision --project demo --content-file /dev/zero
2 query_memory
2 query_memory --ask x
1 query_memory --key nothing.at.all
2 query_memory --project ../x --kind decision
2 extract_links --file /nowhere/x.md
2 extract_links
2 scan_index
2 scan_index query --project demo --kind ''
2 scan_index update --file /nowhere/x.md
2 scan_environment --only nothing
1 scan_project --project demo --repo /nowhere
2 scan_project --project ../x --repo {home}/repo
2 scan_project --project demo --repo {home}/repo --depth abyss
1 agent_admin task create .. --project demo
1 agent_admin task update-status T1 nothing done --project demo
2 agent_admin
2 dispatch_task {profile}
2 dispatch_task --profile /nowhere --task-id T2 {order} --target builder --objective x --title t
2 dispatch_task {profile} --task-id T1 {order} --target builder --objective x --title t --force-parallel-builder
1 dispatch_task {profile} --task-id T2 {order} --target nobody --objective x --title t
2 complete_handoff {profile}
1 complete_handoff {profile} --task-id T9 --source builder
1 complete_handoff {profile} --task-id ../x --source builder
2 memory_deliver {profile} --task-id Q1 --target planner --response-inline '[1]'
2 memory_deliver {profile} --task-id Q1 --target planner --response-file /dev/zero
2 memory_deliver {profile} --task-id ../../x --target planner --response-inline '{{}}'
6 memory_deliver {profile} --task-id Q1 --target planner --response-inline '{{"answer": "Bob"}}' --no-notify
1 verify_handoff {profile} --task-id T9 --source builder --target planner
2 verify_handoff {profile}
1 audit_planner_closeout {profile} --task-id T9
2 audit_planner_closeout
2 notify_seat {profile} --source planner
2 notify_seat {profile} --source planner --target nobody --message x
2 decision_log append demo T1 '' x
2 decision_log append ../x T1 t d
2 decision_log
2 decision_payload validate --payload-file /nowhere
2 decision_payload validate --payload-file {home}/note.md
2 decision_payload send --payload-file {home}/payload.json
2 archive_merged_dispatches --memory-path /nowhere
2 archive_merged_dispatches --default-period soon
0 check_compact_marker --relay-text-file /nowhere
0 wave_count_since_compact --status-file /nowhere --threshold 1
2 wave_count_since_compact
2 memory_router route --input-json '{{'
4 memory_router inspect --memory-id nothing
2 install_memory_hook --workspace {home}/ws --hook-script /nowhere
2 install_memory_hook
1 send_and_verify
2 send_and_verify --project demo planner {control}
"""

QUICK_REFERENCE = """
0 memory_write --kind decision --project install --title '...' --author memory
0 query_memory --project install --kind decision
0 query_memory --project install --kind decision --since 2026-04-01
0 scan_environment --output {home}/.agents/memory/
0 query_memory --key credentials.keys.MINIMAX_API_KEY.value
0 scan_project --project clawseat --repo {home}/repo --depth shallow --commit
0 scan_project --project clawseat --repo {home}/repo --depth medium --commit
0 query_memory --project clawseat --kind runtime
0 memory_deliver {profile} --task-id ARENA-228 --target planner --response-inline '{{"answer": "Ada"}}'
0 extract_links --file {home}/.agents/memory/projects/demo/builder/seat.md
0 query_memory --backlinks entity:taskid:ARENA-228
0 query_memory --graph projects/arena/decision/foo --depth 2
"""
"""The commands that the memory seat's specification lists, in an order in which each finds what it asks for."""

TOOLS = {"_bootstrap", "_corpus", "demo", "draw_picture"}
FRONTS = {path.stem for path in SCRIPTS.glob("*.py")} - TOOLS
MISSING = 70
WAY_OUT = re.compile(
    r"error: \w+ is not installed for .+: run `make install` in .+, whose \.venv is then found by itself\n"
)


class Office:
    """A home with a team, a repository and the files that the programs are given."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        root = Root(str(self.home / ".agents" / "memory"))
        (self.home / "repo").mkdir(parents=True)
        (self.home / "ws").mkdir()
        self.profile = projects.init_profile(root, "demo", ("memory", "planner", "builder", "reviewer"))
        seat = Path(root.path, "projects", "demo", "builder", "seat.md")
        seat.parent.mkdir(parents=True)
        for path, text in {
            seat: "---\nkind: decision\ntitle: Seat\n---\n\nSee ARENA-228.\n",
            self.home / "note.md": "# A note\n\nThe queue drops messages.\n",
            self.home / "MEMORY.md": "- T-1: ✅ MERGED 2026-04-27\n",
            self.home / "STATUS.md": "- x phase=CLOSED\n",
            self.home / "payload.json": payload(decision_id=ID).decode(),
            self.home / "repo/pyproject.toml": '[project]\nname = "x"\n',
        }.items():
            path.write_text(text, encoding="utf-8")

    def call(self, line: str, *, scripts: Path = SCRIPTS, options: tuple[str, ...] = ()) -> tuple[int, Done]:
        """Run one line; return the code that is expected of it and how it ended."""
        given = {"profile": f"--profile {self.profile}", "order": "--test-policy EXTEND --no-notify", "home": self.home}
        code, program, *words = shlex.split(line.format(**given, control="@"))
        environ = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "ORACLE_TMUX_SOCKET": "no-server",
            "ORACLE_ROOT": str(self.home / ".agents/memory"),
            "CLAWSEAT_PROJECT": "demo",
            "CLAWSEAT_WORKSPACE_ROOT": str(self.home / "ws"),
        }
        command = [str(scripts / f"{program}.py"), *(word.replace("@", "a\rb") for word in words)]
        if options:  # for an interpreter of its own
            command = [sys.executable, *options, *command]
            done = subprocess.run(
                command, input="", capture_output=True, text=True, env=environ, cwd=self.home, check=False
            )
        else:
            done = run_python(command, env=environ, cwd=self.home)
        return int(code), Done(done.returncode, done.stdout, done.stderr)


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """Give an office in which the day of work was done; what went otherwise than it should is kept."""
    return Office(tmp_path_factory.mktemp("office"))


@pytest.fixture(scope="module")
def day(office: Office) -> dict[str, tuple[int, Done]]:
    return {line: office.call(line) for line in lines(DAY)}


@pytest.mark.parametrize("line", lines(DAY))
def test_what_is_right_ends_well(day: dict[str, tuple[int, Done]], line: str) -> None:
    code, done = day[line]
    assert (done.code, "Traceback" in done.err) == (code, False), done.err


@pytest.mark.parametrize("line", lines(WRONG))
def test_what_is_wrong_is_said_in_a_sentence(office: Office, day: dict[str, tuple[int, Done]], line: str) -> None:
    assert day
    code, done = office.call(line)
    assert (done.code, "Traceback" in done.err) == (code, False), (done.err, done.out)
    assert done.err.strip() or done.out.strip()
    assert "\\n" not in done.err + done.out, "a line end is printed as one"


def test_the_quick_reference_of_the_specification_works_as_it_is_typed(tmp_path: Path) -> None:
    office = Office(tmp_path)
    (office.home / ".env").write_text("MINIMAX_API_KEY=made-up-value-1\n", encoding="utf-8")
    done = {line: office.call(line) for line in lines(QUICK_REFERENCE)}
    assert {line: (ended.code, ended.err) for line, (code, ended) in done.items() if ended.code != code} == {}
    said = {line: ended.out for line, (_, ended) in done.items()}
    assert said["0 query_memory --key credentials.keys.MINIMAX_API_KEY.value"] == "made-up-value-1\n"
    assert '"title": "..."' in said["0 query_memory --project install --kind decision --since 2026-04-01"]
    assert '"incoming_count": 1' in said["0 query_memory --backlinks entity:taskid:ARENA-228"]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the scripts of a checkout that has no `.venv`."""
    checkout = tmp_path_factory.mktemp("checkout")
    shutil.copytree(SCRIPTS, checkout / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("oracle", "references", "schemas", "pyproject.toml"):
        (checkout / name).symlink_to(SCRIPTS.parent / name)
    return checkout / "scripts"


def test_without_libraries_every_script_works_or_says_what_to_install(tmp_path: Path, bare: Path) -> None:
    office = Office(tmp_path)
    wrong = []
    for line in lines(DAY) + lines(WRONG):
        code, done = office.call(line, scripts=bare, options=("-S",))
        is_refused = done.code == MISSING and WAY_OUT.fullmatch(done.err) and not done.out
        ends = (0, 1, code)  # 1: what a refused call should have made is missing
        if not is_refused and (done.code not in ends or "Traceback" in done.err):
            wrong.append((line, done))
    assert not wrong
    assert not (office.home / ".agents/memory/machine").exists()


def test_without_libraries_the_tools_and_hooks_work_or_say_what_to_install(tmp_path: Path, bare: Path) -> None:
    def call(name: str, *words: str) -> Done:
        command = [sys.executable, "-S", str(bare / name), *words]
        given = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        done = subprocess.run(command, input="{}", capture_output=True, text=True, env=given, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    demo = call("demo.py")
    assert (demo.code, demo.out) == (MISSING, "")
    assert WAY_OUT.fullmatch(demo.err)
    assert call("hooks/stop_hook.py") == Done(0, "", "")


def test_every_library_that_is_installed_with_the_package_is_known_to_the_scripts() -> None:
    project = tomllib.loads((SCRIPTS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[^\w-]", name)[0].lower() for name in project["dependencies"]}
    found = {
        module
        for module, packages in metadata.packages_distributions().items()
        if not module.startswith("_") and wanted & {package.lower() for package in packages}
    }
    assert found == set(runpy.run_path(str(SCRIPTS / "_bootstrap.py"))["LIBRARIES"])


def test_no_program_is_left_out() -> None:
    for text in (DAY, WRONG):
        assert {line.split()[1] for line in lines(text)} == FRONTS
