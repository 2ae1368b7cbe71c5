"""The skills of the seats: what they name exists, and they come into a workspace and out of it without touching the rest."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from oracle.cli.application import Group, command, walk
from oracle.cli.main import run
from oracle.compat import memory_router
from oracle.errors import Conflict, NotFound, UsageError
from oracle.hook import skills
from oracle.hook.changes import FileChange
from oracle.store.markdown.markdown import parse

CHECKOUT = Path(__file__).resolve().parents[2]
ON_PATH = {"oracle", "query_memory", "memory_write", "memory_deliver"}
COMMANDS = dict(walk(command()))
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
ELSEWHERE = {"install.sh", "project", "not_in_memory_db", "not_in_federated_kb"}
"""What a skill names that is no program of ours: the team's own installation, and answers."""

# What a skill says ----------------------------------------------------------------------------------------------------


def calls(role: str) -> list[str]:
    """Return each piece of code in a skill that begins with a word: of a fence each line."""
    text = skills.read_skill(role)
    fenced = [
        line for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL) for line in block.splitlines()
    ]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [piece for piece in (*fenced, *spans) if re.match(r"[a-z_]+(\.sh)? |[a-z]+_[a-z_]+$", piece)]


CALLS = [(role, call) for role in skills.NAMES for call in calls(role)]


def options(parser: argparse.ArgumentParser) -> set[str]:
    found = {name for action in parser._actions for name in action.option_strings}
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return found.union(*(options(sub) for action in below for sub in action.choices.values()))


def flags_of(program: str) -> set[str]:
    module = importlib.import_module(f"oracle.compat.{program}")
    return options(module._parser()) if hasattr(module, "_parser") else set(FLAG.findall(module.USAGE))


def flags_of_command(words: list[str]) -> set[str]:
    """Return the flags of a command of `oracle`; a call that is written out has those that are needed."""
    if words[:1] == ["compat"]:
        return flags_of(words[1])
    words = words[words[0] == "help" :]
    command, path = COMMANDS.get(words[0], COMMANDS["doctor"]), 1
    while isinstance(command, Group) and words[path : path + 1]:
        command = command.get_command(None, words[path]) or command.commands[command.default]
        path += 1
    needed = {
        parameter.opts[0] for parameter in command.params if parameter.required and parameter.opts[0].startswith("--")
    }
    assert needed <= {*words} or not FLAG.search(" ".join(words)), "a flag that is needed is left out"
    return {name for parameter in command.params for name in parameter.opts}


@pytest.mark.parametrize(("role", "call"), CALLS, ids=[f"{role}-{call[:40]}" for role, call in CALLS])
def test_every_command_and_flag_of_a_skill_exists(role: str, call: str):
    program, *words = shlex.split(call)
    assert program in {*ON_PATH, *ELSEWHERE}
    if program not in ELSEWHERE:
        assert set(FLAG.findall(call)) <= (flags_of_command(words) if program == "oracle" else flags_of(program))


PLUGIN_SKILL = CHECKOUT / "references" / "plugin" / "skills" / "memory" / "SKILL.md"
TAUGHT = {name: skills.read_skill(name) for name in skills.NAMES} | {"plugin": PLUGIN_SKILL.read_text("utf-8")}


@pytest.mark.parametrize("name", TAUGHT)
def test_a_skill_teaches_the_packet_and_the_router_by_calls_that_work(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
):
    text = TAUGHT[name]
    assert "`oracle packet --role " in text
    taught = dict(re.findall(r"`oracle compat memory_router (\w+) --input-json '([^'`]+)'`", text))
    assert taught.keys() == {"route", "add", "reflect", "refresh"}
    kept = ""
    for call in ("add", "route", "reflect", "refresh"):
        given = taught[call].replace("SLUG", kept).replace("…", f"Words for {call}")
        words = [call, "--memory-dir", str(tmp_path), "--input-json", given]
        memory_router.main(words)
        said = json.loads(capsys.readouterr().out)
        assert said["ok"], said
        kept = kept or said["memory_id"]
        assert said["warnings"] == []


def test_a_good_part_of_the_skills_is_commands():
    assert len([call for role, call in CALLS if role == "memory"]) > 40
    assert all(len([call for of, call in CALLS if of == role]) >= 5 for role in skills.NAMES)


def test_flags_that_stand_alone_exist():
    known = {name for command in COMMANDS.values() for parameter in command.params for name in parameter.opts}
    known |= flags_of("dispatch_task")
    for role in skills.NAMES:
        alone = set(re.findall(r"`(--[a-z-]+)", skills.read_skill(role)))
        assert alone <= known


@pytest.mark.parametrize("role", skills.NAMES)
def test_skill_is_short_and_has_the_frontmatter_that_a_tool_reads(role: str):
    text = skills.read_skill(role)
    document = parse(text.encode())
    assert document.fields["name"] == skills.NAMES[role]
    assert 50 < len(document.fields["description"]) <= 1024
    assert set(document.fields) == {"name", "description"}
    assert len(text.splitlines()) < 500
    assert len(text.encode()) < 30_000, "Codex reads 32 KiB of a page"
    assert not re.search(r"\]\((?!https)", text), "a link leads nowhere once it is installed"


ELSEWHERE_ROOT = "/srv/a team's memory"


@pytest.mark.parametrize("role", skills.NAMES)
def test_root_of_another_place_is_named_and_the_default_one_is_not(workspace: Path, role: str):
    change = skills.plan_install(str(workspace), tool="claude", seat=role, root=ELSEWHERE_ROOT)
    text = change.after or ""
    assert "~/.agents/memory" not in text
    assert f"ORACLE_ROOT={shlex.quote(ELSEWHERE_ROOT)}" in text
    assert "finds the Root by itself" not in text
    assert role in ("memory", skills.SESSION) or f"{ELSEWHERE_ROOT}/projects/P/{role}/" in text
    assert parse(text.encode()).fields["name"] == skills.NAMES[role]
    plain = skills.plan_install(str(workspace), tool="claude", seat=role).after or ""
    assert "ORACLE_ROOT" not in plain


@pytest.mark.parametrize("way", ["option", "variable"])
def test_command_puts_the_chosen_root_in(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], way: str
):
    root = tmp_path / "kept"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ORACLE_ROOT", raising=False)
    words = ["skill", "install", "--workspace", str(workspace), "--tool", "codex", "--seat", "builder"]
    if way == "option":
        words += ["--memory-dir", str(root)]
    else:
        monkeypatch.setenv("ORACLE_ROOT", str(root))
    assert [run(words), run(words)] == [0, 0]
    assert f"{root}/projects/P/builder/" in (workspace / "AGENTS.md").read_text()
    assert capfd.readouterr().out.splitlines()[1] == f"unchanged: {workspace}/AGENTS.md"


# Where it comes -------------------------------------------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


def install(workspace: Path, tool: str, seat: str = "memory") -> FileChange:
    change = skills.plan_install(str(workspace), tool=tool, seat=seat)
    if change.is_needed:
        change.apply()
    return change


def uninstall(workspace: Path, tool: str, seat: str = "") -> None:
    for change in skills.plan_uninstall(str(workspace), tool=tool, seat=seat):
        if change.is_needed:
            change.apply()


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


PLACES = {
    "claude": ".claude/skills/oracle-builder/SKILL.md",
    "codex": "AGENTS.md",
    "gemini": "GEMINI.md",
}


@pytest.mark.parametrize("tool", PLACES)
def test_second_time_changes_nothing_and_out_is_as_before(workspace: Path, tool: str):
    (workspace / "other.txt").write_text("x")
    change = install(workspace, tool, "builder-1")
    assert set(files(workspace)) == {"other.txt", PLACES[tool]}
    assert "# A builder and memory" in (workspace / PLACES[tool]).read_text()
    assert change.diff().startswith(f"--- /dev/null\n+++ {workspace / PLACES[tool]}\n")
    before = (workspace / PLACES[tool]).stat()
    assert not install(workspace, tool, "builder-1").is_needed
    assert (workspace / PLACES[tool]).stat().st_mtime_ns == before.st_mtime_ns
    uninstall(workspace, tool)
    assert files(workspace) == {"other.txt": b"x"}
    assert not (workspace / ".claude/skills/oracle-builder").exists()


@pytest.mark.parametrize("text", ["# Team\n\nOur rules.\n", "no line end", "windows\r\nlines\r\n", "雪\n\n\n"])
@pytest.mark.parametrize("tool", ["codex", "gemini"])
def test_page_of_a_team_is_kept(workspace: Path, tool: str, text: str):
    page = workspace / PLACES[tool]
    page.write_bytes(text.encode())
    page.chmod(0o640)
    install(workspace, tool)
    install(workspace, tool, "planner")
    assert page.read_bytes().startswith(text.encode())
    assert page.stat().st_mode & 0o777 == 0o640
    uninstall(workspace, tool, "memory")
    assert b"# The planner and memory" in page.read_bytes()
    uninstall(workspace, tool)
    assert page.read_bytes() == text.encode()
    assert set(files(workspace)) == {PLACES[tool]}


def test_every_skill_is_taken_out_at_once(workspace: Path):
    for tool in PLACES:
        for role in skills.NAMES:
            install(workspace, tool, role)
        uninstall(workspace, tool)
    assert files(workspace) == {}


def test_skill_of_somebody_else_is_left_alone(workspace: Path):
    theirs = workspace / ".claude/skills/memory-oracle/SKILL.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("---\nname: memory-oracle\n---\ntheirs\n")
    with pytest.raises(Conflict):
        install(workspace, "claude")
    uninstall(workspace, "claude")
    assert theirs.read_text().endswith("theirs\n")


def test_other_files_of_a_skill_stay(workspace: Path):
    install(workspace, "claude")
    extra = workspace / ".claude/skills/memory-oracle/notes.md"
    extra.write_text("mine")
    uninstall(workspace, "claude")
    assert files(workspace) == {".claude/skills/memory-oracle/notes.md": b"mine"}


@pytest.mark.parametrize(
    ("tool", "place"), [("claude", ".claude/skills/memory-oracle/SKILL.md"), ("codex", "AGENTS.md")]
)
def test_change_by_hand_is_kept_beside(workspace: Path, tool: str, place: str):
    install(workspace, tool)
    page = workspace / place
    edited = page.read_text().replace("Never guess", "Guess")
    page.write_text(edited)
    assert skills.plan_install(str(workspace), tool=tool, seat="memory").keeps_backup
    install(workspace, tool)
    assert page.with_name(f"{page.name}.bak").read_text() == edited
    assert "## Never guess" in page.read_text()
    again = page.read_text().replace("Never guess", "Guess again")
    page.write_text(again)
    install(workspace, tool)
    assert page.with_name(f"{page.name}.bak2").read_text() == again
    assert page.with_name(f"{page.name}.bak").read_text() == edited


@pytest.mark.parametrize("tool", PLACES)
def test_link_that_leaves_the_workspace_is_refused(workspace: Path, tmp_path: Path, tool: str):
    outside = tmp_path / "outside"
    outside.mkdir()
    first = PLACES[tool].partition("/")[0]
    (workspace / first).symlink_to(outside / ("" if tool == "claude" else first))
    for act in (install, uninstall):
        with pytest.raises(UsageError, match="out of the workspace"):
            act(workspace, tool)
    assert files(outside) == {}


def test_link_inside_of_the_workspace_is_followed(workspace: Path):
    (workspace / "CLAUDE.md").write_text("rules\n")
    (workspace / "AGENTS.md").symlink_to("CLAUDE.md")
    install(workspace, "codex")
    assert (workspace / "AGENTS.md").is_symlink()
    assert "# The memory seat" in (workspace / "CLAUDE.md").read_text()


def test_backup_never_follows_a_link(workspace: Path, tmp_path: Path):
    install(workspace, "codex")
    page = workspace / "AGENTS.md"
    page.write_text(page.read_text().replace("Never guess", "Guess"))
    target = tmp_path / "target"
    target.write_text("theirs")
    (workspace / "AGENTS.md.bak").symlink_to(target)
    install(workspace, "codex")
    assert target.read_text() == "theirs"


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"<!-- memory-oracle:begin memory-oracle sha256=0123456789abcdef -->\n"]
)
def test_page_that_can_t_be_kept_is_left_alone(workspace: Path, content: bytes):
    (workspace / "AGENTS.md").write_bytes(content)
    for act in (install, uninstall):
        with pytest.raises(UsageError):
            act(workspace, "codex")
    assert files(workspace) == {"AGENTS.md": content}


def test_what_is_no_file_is_left_alone(workspace: Path):
    os.mkfifo(workspace / "AGENTS.md")
    with pytest.raises(UsageError):
        install(workspace, "codex")


def test_diff_is_one_that_patch_takes(workspace: Path):
    (workspace / "AGENTS.md").write_text("rules")
    change = skills.plan_install(str(workspace), tool="codex", seat="patrol")
    diff = change.diff().replace(str(workspace / "AGENTS.md"), "AGENTS.md")
    subprocess.run(["patch", "-p0"], input=diff, cwd=workspace, text=True, check=True, capture_output=True)
    assert (workspace / "AGENTS.md").read_text() == change.after


def test_rehearsal_prints_the_diff_and_writes_nothing(workspace: Path, capfd: pytest.CaptureFixture[str]):
    assert run(["skill", "install", "--workspace", str(workspace), "--tool", "codex", "--dry-run"]) == 0
    assert capfd.readouterr().out.startswith(f"--- /dev/null\n+++ {workspace}/AGENTS.md\n@@ -0,0 +1,")
    assert files(workspace) == {}


@pytest.mark.parametrize(("tool", "seat"), [("vim", "memory"), ("claude", "../x")])
def test_tool_or_seat_that_is_none_is_said(workspace: Path, tool: str, seat: str):
    with pytest.raises(UsageError):
        install(workspace, tool, seat)
    with pytest.raises(NotFound):
        install(workspace / "absent", "claude")
    assert files(workspace) == {}


# Any seat -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", PLACES)
@pytest.mark.parametrize("seat", ["qa", "designer", "qa-2", "质检"])
def test_a_seat_of_any_name_gets_a_skill_of_its_own(workspace: Path, tool: str, seat: str):
    install(workspace, tool, seat)
    (text,) = files(workspace).values()
    content = text if isinstance(text, str) else text.decode()
    assert f"--source {seat} --task-id" in content
    assert f"/projects/P/{seat}/" in content
    assert not re.search(r"\bSEAT\b", content)
    uninstall(workspace, tool, seat)
    assert files(workspace) == {}


@pytest.mark.parametrize("seat", ["../qa", "a/b", "", "x\ny"])
def test_a_seat_that_is_no_name_is_refused(workspace: Path, seat: str):
    with pytest.raises(UsageError):
        skills.plan_install(str(workspace), tool="claude", seat=seat)
    assert files(workspace) == {}
