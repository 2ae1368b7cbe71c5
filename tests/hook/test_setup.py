"""`oracle setup`: the files of every agent on a machine, changed on request and put back byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from pathlib import Path

import pytest

from oracle.cli.main import run
from oracle.hook.setup import find_hosts, plan_setup
from tests.hook.test_skills import files

TOOLS = ("claude", "codex", "gemini")
FILES = {
    ".claude/settings.json": json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}),
    ".claude.json": '{"numStartups": 12345678901234567890, "mcpServers": {"other": {"command": "other"}}}',
    ".claude/skills/mine/SKILL.md": "mine",
    ".codex/config.toml": "# mine\nmodel = 'x'  # so\n\n[mcp_servers.other]\ncommand = \"other\"",
    ".codex/AGENTS.md": "# Rules\r\n\r\nBe brief.",
    ".gemini/settings.json": '{\n\t"security": {"auth": {}}\n}\n',
    ".gemini/GEMINI.md": "",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a home folder with the files of three agents."""
    folder = tmp_path / "home"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (folder / ".claude.json").chmod(0o600)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("ORACLE_ROOT", str(tmp_path / "memory"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def state(home: Path) -> dict[str, tuple[bytes, int, int]]:
    return {
        name: (data, (home / name).stat().st_mode, (home / name).stat().st_mtime_ns)
        for name, data in files(home).items()
    }


def test_nothing_changes_without_a_yes(home: Path, capsys: pytest.CaptureFixture[str]):
    before = state(home)
    assert run(["setup"]) == 0
    said = capsys.readouterr()
    assert all(f"{tool}\t" in said.out for tool in TOOLS)
    assert "oracle setup --yes" in said.err
    assert run(["setup", "--dry-run"]) == 0
    assert "scripts/hooks/stop_hook.py" in capsys.readouterr().out
    assert state(home) == before


def test_every_agent_gets_hook_server_and_skill_and_keeps_its_own(home: Path):
    assert run(["setup", "--yes"]) == 0
    claude = json.loads((home / ".claude/settings.json").read_text())
    assert len(claude["hooks"]["Stop"]) == 2
    assert set(claude["hooks"]) == {
        "Stop",
        "UserPromptSubmit",
        "SessionStart",
        "PreCompact",
        "SessionEnd",
        "SubagentStop",
    }
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert set(servers) == {"other", "oracle"}
    codex = tomllib.loads((home / ".codex/config.toml").read_text())
    assert set(codex["mcp_servers"]) == {"other", "oracle"}
    assert "required" not in codex["mcp_servers"]["oracle"]  # a session starts without it
    gemini = json.loads((home / ".gemini/settings.json").read_text())
    assert {"security", "hooks", "mcpServers"} <= set(gemini)
    assert {
        servers["oracle"]["command"],
        gemini["mcpServers"]["oracle"]["command"],
        codex["mcp_servers"]["oracle"]["command"],
    } == {servers["oracle"]["command"]}
    for page in (".claude/skills/oracle-memory/SKILL.md", ".codex/AGENTS.md", ".gemini/GEMINI.md"):
        assert "oracle remember" in (home / page).read_text()
    assert (home / ".claude.json").stat().st_mode & 0o777 == 0o600


def test_the_second_time_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]):
    run(["setup", "--yes"])
    before = state(home)
    assert run(["setup", "--yes"]) == 0
    assert "everything is set up already" in capsys.readouterr().err
    assert state(home) == before


def test_undo_puts_every_file_back_byte_for_byte(home: Path, capsys: pytest.CaptureFixture[str]):
    before, folders = state(home), {path for path in home.rglob("*") if path.is_dir()}
    run(["setup", "--yes", "--tool", "codex"])
    run(["setup", "--yes"])
    assert state(home) != before
    assert run(["setup", "--undo"]) == 0
    assert state(home) == before
    assert {path for path in home.rglob("*") if path.is_dir()} == folders
    assert run(["setup", "--undo"]) == 2
    assert "no set-up to undo" in capsys.readouterr().err


def test_undo_takes_only_ours_out_of_a_file_that_changed_since(home: Path):
    run(["setup", "--yes"])
    path = home / ".claude.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "numStartups": 7}))
    page = home / ".codex/AGENTS.md"
    page.write_bytes(page.read_bytes() + b"\r\nAnd be kind.\r\n")
    skill = home / ".claude/skills/oracle-memory/SKILL.md"
    skill.write_text(skill.read_text() + "mine")
    toml = home / ".codex/config.toml"
    toml.write_text(toml.read_text().replace("model = 'x'", "model = 'y'"))
    assert run(["setup", "--undo"]) == 0
    assert json.loads(path.read_text()) == {"numStartups": 7, "mcpServers": {"other": {"command": "other"}}}
    assert page.read_bytes().startswith(b"# Rules\r\n\r\nBe brief.")
    assert b"And be kind." in page.read_bytes()
    assert b"oracle" not in page.read_bytes()
    assert tomllib.loads(toml.read_text()) == {"model": "y", "mcp_servers": {"other": {"command": "other"}}}
    assert (home / ".gemini/settings.json").read_bytes() == FILES[".gemini/settings.json"].encode()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "added",
    [
        "# a note of mine\n",
        '# a note\n[projects."/x"]\ntrust_level = "trusted" # so\n',
        "\n# far\n\n[a]\n# b\n",
        "# no end",
    ],
)
@pytest.mark.parametrize("before", ["", "model = 'x'  # so\n"])
def test_undo_leaves_what_was_appended_to_the_settings_of_codex(home: Path, before: str, added: str, line_end: str):
    path = home / ".codex/config.toml"
    old, new = (text.replace("\n", line_end).encode() for text in (before, added))
    path.write_bytes(old)
    run(["setup", "--yes"])
    path.write_bytes(path.read_bytes() + new)
    assert run(["setup", "--undo"]) == 0
    assert path.read_bytes() == old + new


def test_undo_takes_no_comment_with_the_server_of_codex(home: Path):
    path = home / ".codex/config.toml"
    path.write_text("a = 1\n")
    run(["setup", "--yes"])
    text = (
        path.read_text()
        .replace("\nargs", "\n# why\nargs")
        .replace("[mcp_servers.oracle]", "# above\n[mcp_servers.oracle]")
    )
    path.write_text(f'{text}# env\n[mcp_servers.oracle.env]\nX = """\n[y]\n"""\n# last\n')
    assert run(["setup", "--undo"]) == 0
    assert path.read_text() == "a = 1\n\n# above\n# why\n# env\n# last\n"


@pytest.mark.parametrize("name", [".codex/AGENTS.md", ".gemini/GEMINI.md"])
def test_undo_leaves_what_was_appended_to_a_page_on_its_line(home: Path, name: str):
    page = home / name
    page.write_bytes(b"# Rules")
    run(["setup", "--yes"])
    page.write_bytes(page.read_bytes() + b"Be kind.\n")
    assert run(["setup", "--undo"]) == 0
    assert page.read_bytes() == b"# Rules\nBe kind.\n"


@pytest.mark.parametrize("name", [".codex/AGENTS.md", ".gemini/GEMINI.md", ".claude/skills/oracle-memory/SKILL.md"])
def test_undo_keeps_what_was_changed_inside_of_the_skill(home: Path, name: str, capsys: pytest.CaptureFixture[str]):
    run(["setup", "--yes"])
    page = home / name
    page.write_text(changed := page.read_text().replace("\n<!-- memory-oracle:", "\nMy own line.\n<!-- memory-oracle:"))
    assert run(["setup", "--undo"]) == 0
    backup = page.with_name(f"{page.name}.bak")
    assert backup.read_text() == changed
    assert str(backup) in capsys.readouterr().err


def test_undo_leaves_a_server_of_that_name_that_was_there(home: Path):
    path = home / ".gemini/settings.json"
    mine = {"oracle": {"command": "mine"}}
    path.write_text(json.dumps({"mcpServers": mine}))
    run(["setup", "--yes"])
    path.write_text(json.dumps({**json.loads(path.read_text()), "security": {}}))
    assert run(["setup", "--undo"]) == 0
    assert json.loads(path.read_text()) == {"mcpServers": mine, "security": {}}


@pytest.mark.parametrize("tool", TOOLS)
def test_an_undo_of_one_agent_leaves_the_others(home: Path, tool: str, capsys: pytest.CaptureFixture[str]):
    for name in (".claude/settings.json", ".gemini/settings.json", ".codex/hooks.json"):
        (home / name).write_text("{}")  # copies of equal bytes
    before = state(home)
    run(["setup", "--yes"])
    with_all = state(home)
    assert run(["setup", "--undo", "--tool", tool]) == 0
    after = state(home)
    for name in with_all:
        if not name.startswith(".local"):
            assert after.get(name) == (before.get(name) if f".{tool}" in name else with_all[name])
    assert run(["setup", "--undo", "--tool", tool]) == 2
    assert f"There is no set-up of {tool} to undo" in capsys.readouterr().err
    assert run(["setup", "--undo"]) == 0
    assert state(home) == before


@pytest.mark.parametrize(
    "broken", [".claude/settings.json", ".claude.json", ".codex/config.toml", ".gemini/settings.json"]
)
def test_a_file_that_can_not_be_read_leaves_its_agent_out_and_no_other(
    home: Path, broken: str, capsys: pytest.CaptureFixture[str]
):
    (home / broken).write_text("{ not = = valid")
    assert run(["setup", "--yes"]) == 0
    tool = "claude" if "claude" in broken else "codex" if "codex" in broken else "gemini"
    said = capsys.readouterr()
    assert f"{tool} is left out" in said.err
    assert (home / broken).read_text() == "{ not = = valid"
    assert all((f"{other}\t" in said.out) is (other != tool) for other in TOOLS)


def test_the_plugin_of_claude_code_is_not_doubled(home: Path, capsys: pytest.CaptureFixture[str]):
    (home / ".claude/settings.json").write_text('{"enabledPlugins": {"oracle@memory-oracle": true}}')
    before = state(home)
    assert run(["setup", "--yes", "--tool", "claude"]) == 0
    assert "its plugin brings the same" in capsys.readouterr().out
    assert state(home) == before


def test_a_server_of_that_name_stays(home: Path):
    mine = {"mcpServers": {"oracle": {"command": "mine"}}}
    (home / ".claude.json").write_text(json.dumps(mine))
    run(["setup", "--yes"])
    assert json.loads((home / ".claude.json").read_text()) == mine


def test_only_agents_of_this_machine_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / ".codex").mkdir()
    found = find_hosts(str(tmp_path), {"PATH": str(program.parent)})
    assert [(host.tool, host.program) for host in found] == [("codex", ""), ("gemini", str(program))]
    elsewhere = find_hosts(str(tmp_path), {"PATH": "", "CLAUDE_CONFIG_DIR": str(tmp_path), "CODEX_HOME": "/nowhere"})
    assert [set(map(os.path.dirname, host.files.values())) for host in elsewhere] == [
        {str(tmp_path), f"{tmp_path}/skills/oracle-memory"}
    ]
    assert plan_setup(found[0], command="x", server=None)[0].parts == ("hook",)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("PATH", "")
    assert run(["setup"]) == 4
    assert "No agent was found" in capsys.readouterr().err


# What a Root from elsewhere says ----------------------------------------------------------------------------------------


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("command", [["setup", "--undo"], ["migrate", "clawseat", "--undo"]])
@pytest.mark.parametrize("harm", ["restore", "overwrite", "delete", "mode", "link"])
def test_a_ledger_inside_the_root_is_not_obeyed(
    home: Path, tmp_path: Path, command: list[str], harm: str, capsys: pytest.CaptureFixture[str]
):
    victim = tmp_path / "victim"
    if harm != "restore":
        victim.write_bytes(b"mine")
        victim.chmod(0o600)
    now = None if harm == "restore" else {"mode": 0o600, "digest": digest(b"mine")}
    before = {
        "delete": None,
        "mode": {"mode": 0o777, "digest": None},
        "link": {"link": "/etc/passwd"},
    }.get(harm, {"mode": 0o755, "digest": digest(b"evil")})
    saved = "0-evil" if harm in ("restore", "overwrite") else None
    entry = {"path": str(victim), "saved": saved, "before": before, "mtime_ns": 1, "after": now}
    folder = tmp_path / "memory" / ("setup" if command[0] == "setup" else "migration-clawseat")
    folder.mkdir(parents=True)
    (tmp_path / "memory/projects").mkdir()
    (folder / "0-evil").write_bytes(b"evil")
    (folder / "ledger.json").write_text(json.dumps({"version": 1, "entries": [entry]}))
    assert run(command) == 2
    assert f"The ledger in {folder} is not used" in capsys.readouterr().err
    if harm == "restore":
        assert not victim.exists()
    else:
        assert (victim.read_bytes(), victim.stat().st_mode & 0o777, victim.is_symlink()) == (b"mine", 0o600, False)


def ledger_of(home: Path) -> Path:
    (found,) = (home / ".local/state/memory-oracle").glob("setup-*/ledger.json")
    return found


def test_the_ledger_is_outside_of_the_root_and_of_one_root(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    before = state(home)
    assert run(["setup", "--yes"]) == 0
    folder = ledger_of(home).parent
    assert {path.stat().st_mode & 0o777 for path in (folder, folder.parent)} == {0o700}
    assert not list((tmp_path / "memory").rglob("ledger.json"))
    assert run(["--memory-dir", str(tmp_path / "other"), "setup", "--undo"]) == 2
    (tmp_path / "link").symlink_to(tmp_path / "memory")
    assert run(["--memory-dir", str(tmp_path / "link"), "setup", "--undo"]) == 0
    assert state(home) == before


@pytest.mark.parametrize("place", ["file", "folder", "above"])
@pytest.mark.parametrize("bits", [0o020, 0o002])
def test_a_ledger_that_others_may_write_is_refused(
    home: Path, place: str, bits: int, capsys: pytest.CaptureFixture[str]
):
    run(["setup", "--yes"])
    file = ledger_of(home)
    path = {"file": file, "folder": file.parent, "above": file.parent.parent}[place]
    path.chmod(path.stat().st_mode & 0o777 | bits)
    before = state(home)
    assert run(["setup", "--undo"]) == 5
    assert f"{path} is not used: others may write it." in capsys.readouterr().err
    assert state(home) == before


@pytest.mark.parametrize(
    "text",
    [
        "garbage",
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"version": "1", "entries": []}',
        '{"version": 1, "entries": {}}',
        '{"version": 1, "entries": [5]}',
        '{"version": 1, "entries": [{"path": "relative", "saved": null}]}',
        '{"version": 1, "entries": [{"path": "/x", "saved": "../y", "mtime_ns": 1}]}',
        '{"version": 1, "entries": [{"path": "/x", "saved": null, "before": {"mode": "x"}}]}',
    ],
)
@pytest.mark.parametrize("words", [["--undo"], ["--yes"]])
def test_a_damaged_ledger_is_one_sentence(home: Path, text: str, words: list[str], capsys: pytest.CaptureFixture[str]):
    run(["setup", "--yes", "--tool", "codex"])
    ledger_of(home).write_text(text)
    before = state(home)
    capsys.readouterr()
    assert run(["setup", *words]) == 2
    said = capsys.readouterr().err
    assert "is damaged" in said
    assert "by hand" in said
    assert state(home) == before


def test_an_undo_without_the_old_bytes_takes_out_only_ours(home: Path):
    run(["setup", "--yes"])
    for path in ledger_of(home).parent.glob("*-*"):
        path.unlink()
    assert run(["setup", "--undo"]) == 0
    assert json.loads((home / ".claude.json").read_text())["mcpServers"] == {"other": {"command": "other"}}


ODD = '{\n   "permissions": {"allow": ["a", "b"]},\n   "word": "\\u00e9",\n\n   "x": [1,2, 3],  \n   "hooks": {"Stop": []}\n}'
"""Settings in a layout that no program prints."""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", [".claude/settings.json", ".gemini/settings.json", ".codex/hooks.json"])
def test_undo_keeps_the_layout_of_what_changed_since(home: Path, name: str, line_end: str):
    path = home / name
    path.write_bytes(ODD.replace("\n", line_end).encode())
    run(["setup", "--yes"])
    path.write_bytes(path.read_bytes().replace(b'"x"', b'"mine": {}, "y"'))
    assert run(["setup", "--undo"]) == 0
    assert path.read_bytes().decode() == ODD.replace("\n", line_end).replace('"x"', '"mine": {}, "y"')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        ("{}", "{}"),
        ('{"mcpServers": {}}', '{"mcpServers": {}}'),
        ('{"hooks":{"AfterAgent":[]}}\n', '{"hooks":{"AfterAgent":[]}}\n'),
    ],
)
def test_undo_leaves_nothing_empty_that_was_not_there(home: Path, before: str | None, after: str | None):
    path = home / ".gemini/settings.json"
    path.unlink()
    if before is not None:
        path.write_text(before)
    run(["setup", "--yes"])
    text = path.read_text()
    path.write_text(text.replace('"timeout"', '  "timeout"', 1))
    assert run(["setup", "--undo"]) == 0
    assert (path.read_text() if path.exists() else None) == after


@pytest.mark.parametrize(
    ("name", "old", "new", "key"),
    [
        (".claude.json", '"type"', '"env": {"A": "1"}, "type"', "mcpServers.oracle.env"),
        (".gemini/settings.json", '"command": "', '"trust": true, "command": "', "hooks.AfterAgent.trust"),
        (".codex/config.toml", "args =", "startup_timeout_sec = 5\nargs =", "mcp_servers.oracle.startup_timeout_sec"),
    ],
)
def test_undo_names_what_a_person_added_to_ours(
    home: Path, name: str, old: str, new: str, key: str, capsys: pytest.CaptureFixture[str]
):
    run(["setup", "--yes"])
    path = home / name
    path.write_text(changed := path.read_text().replace(old, new, 1))
    assert run(["setup", "--undo"]) == 0
    said = capsys.readouterr().err
    assert "oracle" not in path.read_text()
    assert f"{key} went with it; the old file: {path}.bak" in said
    assert path.with_name(f"{path.name}.bak").read_text() == changed


# Settings that can't be changed -----------------------------------------------------------------------------------------


TOML = [
    ('mcp_servers = { oracle = { command = "/x/oracle", args = ["mcp"] } }', "[mcp_servers.NAME]"),
    ('[mcp_servers]\noracle = { command = "/x/oracle", args = ["mcp"] }', "[mcp_servers.NAME]"),
    ('mcp_servers.oracle = { command = "/x/oracle", args = ["mcp"] }', "[mcp_servers.NAME]"),
    ("a = 1\na = 2\n", "line 2"),
    ("[a]\n[a]\n", "line 2"),
]


@pytest.mark.parametrize(("text", "word"), TOML)
def test_toml_that_can_not_be_cut_is_left_with_a_way_out(
    home: Path, text: str, word: str, capsys: pytest.CaptureFixture[str]
):
    path = home / ".codex/config.toml"
    run(["setup", "--yes"])
    good = path.read_text()
    path.write_text(text)
    for _ in range(2):
        capsys.readouterr()
        assert run(["setup", "--undo"]) == 0
        (warning,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("warning"))
        assert word in warning
        assert path.read_text() == text
    path.write_text(f"{good}# mended\n")
    assert run(["setup", "--undo"]) == 0
    assert "oracle" not in path.read_text()


@pytest.mark.parametrize(
    ("text", "word"), [('mcp_servers = { other = { command = "x" } }', "[mcp_servers.NAME]"), *TOML[3:]]
)
def test_toml_to_which_nothing_can_be_added_is_left_with_a_way_out(
    home: Path, text: str, word: str, capsys: pytest.CaptureFixture[str]
):
    path = home / ".codex/config.toml"
    path.write_text(text)
    assert run(["setup", "--yes"]) == 0
    assert word in capsys.readouterr().err
    assert path.read_text() == text


def spoil(path: Path, how: str) -> None:
    path.unlink()
    if how == "fifo":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    else:
        path.write_text(how)


SPOILT = ["[]", '{"hooks": 5}', "5", "garbage", "fifo", "folder"]


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("words", [[], ["--yes"], ["--dry-run"], ["--json"]])
def test_an_agent_that_is_left_out_alone_is_not_set_up(
    home: Path, how: str, words: list[str], capsys: pytest.CaptureFixture[str]
):
    spoil(home / ".claude/settings.json", how)
    assert run(["setup", "--tool", "claude", *words]) == 2
    said = capsys.readouterr()
    assert said.err.count("claude is left out") == 1
    assert "Nothing can be set up for claude" in said.err + said.out
    assert "already" not in said.err


@pytest.mark.parametrize("how", SPOILT)
def test_the_other_agents_are_set_up_and_undone(home: Path, how: str, capsys: pytest.CaptureFixture[str]):
    spoil(home / ".gemini/settings.json", how)
    assert run(["setup", "--yes"]) == 0
    assert capsys.readouterr().err.count("gemini is left out") == 1
    assert run(["setup", "--yes"]) == 0
    said = capsys.readouterr().err
    assert "the other agents are set up already" in said
    assert "everything" not in said


@pytest.mark.parametrize("how", SPOILT)
def test_an_undo_leaves_what_was_spoilt_since(home: Path, how: str, capsys: pytest.CaptureFixture[str]):
    run(["setup", "--yes"])
    spoil(home / ".claude/settings.json", how)
    assert run(["setup", "--undo"]) == 0
    assert (home / ".gemini/settings.json").read_bytes() == FILES[".gemini/settings.json"].encode()


BOM = b"\xef\xbb\xbf"
MARKED = (".claude/settings.json", ".claude.json", ".codex/config.toml", ".codex/AGENTS.md", ".gemini/settings.json")


@pytest.mark.parametrize("is_edited", [False, True])
def test_a_mark_of_the_byte_order_stays_through_every_change(home: Path, is_edited: bool):
    for name in MARKED:
        (home / name).write_bytes(BOM + FILES[name].encode())
    before = {name: (home / name).read_bytes() for name in MARKED}
    assert run(["setup", "--yes"]) == 0
    for name in MARKED:
        raw = (home / name).read_bytes()
        assert raw != before[name]
        assert (raw.count(BOM), raw[:3]) == (1, BOM)
    if is_edited:
        for name in MARKED:
            (home / name).write_bytes((home / name).read_bytes() + b"\n")
    assert run(["setup", "--undo"]) == 0
    assert {name: (home / name).read_bytes().rstrip() for name in MARKED} == {
        name: raw.rstrip() for name, raw in before.items()
    }


@pytest.mark.parametrize("top", [b"\n", b"\n\n# Mine\n", b"# Mine\n\n"])
@pytest.mark.parametrize("before", [None, b"", b"# Rules\n"])
def test_undo_leaves_what_was_written_at_the_top_of_a_page(home: Path, before: bytes | None, top: bytes):
    page = home / ".gemini/GEMINI.md"
    page.unlink()
    if before is not None:
        page.write_bytes(before)
    run(["setup", "--yes"])
    page.write_bytes(top + page.read_bytes())
    assert run(["setup", "--undo"]) == 0
    if before is None and not top.strip():
        assert not page.exists()
    else:
        assert page.read_bytes() == top + (before or b"")


@pytest.mark.parametrize("is_edited", [False, True])
def test_undo_says_which_files_it_removed(home: Path, is_edited: bool, capsys: pytest.CaptureFixture[str]):
    page, skill = home / ".gemini/GEMINI.md", home / ".claude/skills/oracle-memory/SKILL.md"
    page.unlink()
    run(["setup", "--yes"])
    if is_edited:
        page.write_text(page.read_text() + "\n")
    capsys.readouterr()
    assert run(["setup", "--undo"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert {f"removed: {page}", f"removed: {skill}", f"restored: {home / '.claude.json'}"} <= set(said)
    assert [path for path in (page, skill) if path.exists()] == []
    assert all(Path(line.removeprefix("restored: ")).exists() for line in said if line.startswith("restored: "))
