"""The installer: what it keeps, what it finds, what it refuses; and the front with the old options."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.cli.main import run
from oracle.errors import NotFound, UsageError
from oracle.hook import clients, settings, settings_files, workspaces
from oracle.hook.changes import FileChange

CHECKOUT = Path(__file__).resolve().parent.parent.parent
FRONT = CHECKOUT / "scripts" / "install_memory_hook.py"
OTHER = {"type": "command", "command": "other --flag", "timeout": 3}


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "a 'quoted' \"checkout\" $(touch planted)" / "scripts" / "hooks" / "stop_hook.py"
    path.parent.mkdir(parents=True)
    path.write_text("import sys; open('ran', 'w').write(str(sys.flags.no_site))")
    return str(path)


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=4), encoding="utf-8")
    return path


def install(path: Path, script: str) -> FileChange:
    change = settings.plan_install(str(path), settings.hook_command(script))
    if change.is_needed:
        change.apply()
    return change


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8-sig"))


def test_new_file_holds_the_hook_alone(tmp_path: Path, script: str):
    path = tmp_path / "w" / ".claude" / "settings.json"
    change = install(path, script)
    hook = {"type": "command", "command": settings.hook_command(script), "timeout": 10}
    assert read(path) == {"hooks": {"Stop": [{"matcher": "", "hooks": [hook]}]}}
    assert change.before is None
    assert not Path(f"{path}.bak").exists()


def test_command_survives_a_shell_whatever_the_path(tmp_path: Path, script: str):
    subprocess.run(settings.hook_command(script), shell=True, cwd=tmp_path, check=True)  # noqa: S602 - as the host does
    assert (tmp_path / "ran").read_text() == "1"
    assert not (tmp_path / "planted").exists()


def test_second_time_changes_nothing(tmp_path: Path, script: str):
    path = write(tmp_path / "s.json", {"a": 1})
    install(path, script)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert not install(path, script).is_needed
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


EXISTING = {
    "permissions": {"allow": ["x"], "deny": []},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [OTHER]}],
        "Stop": [{"hooks": [OTHER]}, {"matcher": "x", "hooks": []}, "odd", {"hooks": "odd"}],
    },
    "雪": "é\ud800",
    "n": [1, 2.5, None, True],
}


def test_every_other_key_and_hook_is_kept_in_its_order(tmp_path: Path, script: str):
    path = write(tmp_path / "s.json", EXISTING)
    install(path, script)
    found = read(path)
    ours = found["hooks"]["Stop"].pop()
    assert found == EXISTING
    assert list(found) == list(EXISTING)
    assert ours["hooks"][0]["command"] == settings.hook_command(script)


def test_taking_out_what_was_put_in_gives_the_same_settings(tmp_path: Path, script: str):
    path = write(tmp_path / "s.json", EXISTING)
    before = path.read_bytes()
    install(path, script)
    settings.plan_uninstall(str(path)).apply()
    assert read(path) == EXISTING
    assert b"\n    " in path.read_bytes()
    assert json.loads(before) == EXISTING


OWN = {
    "old-form": {"type": "command", "command": "bash /old/place/scripts/hooks/memory-stop-hook.sh", "timeout": 600},
    "unquoted-blank": {"type": "command", "command": "bash /old place/memory-stop-hook.sh"},
    "quoted": {"type": "command", "command": "'/my python' -I -S '/old place/scripts/hooks/stop_hook.py'"},
    "exec-form": {"type": "command", "command": "/p/python", "args": ["-I", "-S", "/x/scripts/hooks/stop_hook.py"]},
    "wheel": {"type": "command", "command": "exec /p/python -I -S /site-packages/oracle/_data/hooks/stop_hook.py"},
}


@pytest.mark.parametrize("entry", OWN.values(), ids=OWN.keys())
def test_older_entry_of_ours_is_renewed_in_its_place(tmp_path: Path, script: str, entry: dict[str, Any]):
    groups = [{"matcher": "", "hooks": [OTHER, {**entry, "statusMessage": "mine"}, OTHER]}, {"hooks": [entry]}]
    path = write(tmp_path / "s.json", {"hooks": {"Stop": groups}})
    install(path, script)
    renewed = {"type": "command", "command": settings.hook_command(script), "timeout": 10, "statusMessage": "mine"}
    assert read(path) == {"hooks": {"Stop": [{"matcher": "", "hooks": [OTHER, renewed, OTHER]}]}}


@pytest.mark.parametrize(
    "command",
    [
        "python /home/me/stop_hook.py",
        "python3 /other/project/scripts/hooks/stop_hook.py",
        "echo memory-stop-hook.sh.bak",
        "bash /x/my-memory-stop-hook.sh",
    ],
)
def test_hook_of_somebody_else_is_not_ours(tmp_path: Path, script: str, command: str):
    theirs = {"type": "command", "command": command}
    path = write(tmp_path / "s.json", {"hooks": {"Stop": [{"hooks": [theirs]}]}})
    install(path, script)
    assert len(read(path)["hooks"]["Stop"]) == 2
    settings.plan_uninstall(str(path)).apply()
    assert read(path) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


BROKEN = {
    "comment": '{"permissions": {"allow": ["x"]}, // comment\n}',
    "trailing-comma": '{"a": 1,}',
    "half": '{"a": ',
    "array": "[]",
    "number": "3",
    "hooks-list": '{"hooks": []}',
    "stop-table": '{"hooks": {"Stop": {}}}',
    "twice": '{"a": 1, "a": 2}',
    "nan": '{"a": NaN}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_file_that_can_t_be_kept_is_left_alone(tmp_path: Path, script: str, text: str):
    path = write(tmp_path / "s.json", text)
    with pytest.raises(settings_files.InvalidSettings) as caught:
        install(path, script)
    assert str(path) in caught.value.sentence
    assert path.read_text(encoding="utf-8") == text
    assert sorted(tmp_path.iterdir()) == sorted({path, *[one for one in tmp_path.iterdir() if one.is_dir()]})


@pytest.mark.parametrize(
    ("text", "key", "lines"),
    [
        ('{"a": 1, "a": 2}', "a", (1, 1)),
        ('{\n  "hooks": {},\n  "x": [{"hooks": ":"}],\n  "hooks": {}\n}', "hooks", (2, 4)),
        ('\ufeff{"x": [{\n"b": {"b": 1},\n"\\u0062": 2}, {}]}', "b", (2, 3)),
    ],
)
def test_key_that_is_there_twice_is_named_with_its_lines(
    tmp_path: Path, script: str, text: str, key: str, lines: tuple[int, int]
):
    path = write(tmp_path / "s.json", text)
    with pytest.raises(settings_files.InvalidSettings) as caught:
        install(path, script)
    assert f"the key '{key}' twice in one object, on line {lines[0]} and on line {lines[1]}" in caught.value.sentence
    assert "comma" not in str(caught.value.hint)


def test_file_that_is_no_utf_8_is_left_alone(tmp_path: Path, script: str):
    path = tmp_path / "s.json"
    path.write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(settings_files.InvalidSettings):
        install(path, script)
    assert path.read_bytes() == b'{"a": "\xe9"}'


@pytest.mark.parametrize("text", ["", "\n", "{}", "\ufeff{}"])
def test_empty_file_is_as_good_as_none(tmp_path: Path, script: str, text: str):
    path = write(tmp_path / "s.json", text)
    install(path, script)
    assert list(read(path)) == ["hooks"]


NUMBERS = (
    "1e400",
    "-1E400",
    "9" * 5000,
    "1.10",
    "1E5",
    "0.1000000000000000055",
    "12345678901234567890123",
    "-0",
    "-0.0",
    "3",
)


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_keep_their_spelling(tmp_path: Path, script: str, number: str):
    path = write(tmp_path / "s.json", f'{{"n": {number}, "list": [{number}, "{number}"]}}')
    install(path, script)
    installed = json.loads(path.read_text(), parse_int=str, parse_float=str, parse_constant=pytest.fail)
    assert (installed["n"], installed["list"]) == (number, [number, number])
    assert not install(path, script).is_needed
    settings.plan_uninstall(str(path)).apply()
    assert json.loads(path.read_text(), parse_int=str, parse_float=str) == {"n": number, "list": [number, number]}


@pytest.mark.parametrize("depth", [40, 900, 100_000])
def test_what_is_nested_deeply_is_kept_or_left_alone(tmp_path: Path, script: str, depth: int):
    nested = "[" * depth + "]" * depth
    path = write(tmp_path / "s.json", f'{{"deep":{nested}}}')
    try:
        install(path, script)
    except settings_files.InvalidSettings:
        assert path.read_text() == f'{{"deep":{nested}}}'
        assert depth > 40
    else:
        assert nested in "".join(path.read_text().split())


@pytest.mark.parametrize("word", ["Infinity", "-Infinity", "NaN"])
def test_words_that_are_no_json_are_never_written(tmp_path: Path, script: str, word: str):
    path = write(tmp_path / "s.json", f'{{"n": {word}}}')
    with pytest.raises(settings_files.InvalidSettings):
        install(path, script)
    assert [name.name for name in tmp_path.iterdir() if name.is_file()] == ["s.json"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_mode_is_kept_and_the_file_as_it_was_stands_beside(tmp_path: Path, script: str, mode: int):
    path = write(tmp_path / "s.json", {"a": 1})
    path.chmod(mode)
    before = path.read_bytes()
    install(path, script)
    backup = Path(f"{path}.bak")
    assert backup.read_bytes() == before
    assert [one.stat().st_mode & 0o777 for one in (path, backup)] == [mode, mode]


def test_link_is_followed(tmp_path: Path, script: str):
    real = write(tmp_path / "dotfiles.json", {"a": 1})
    link = tmp_path / "s.json"
    link.symlink_to(real)
    install(link, script)
    assert link.is_symlink()
    assert "hooks" in read(real)


@pytest.mark.parametrize(
    "text",
    [
        '{\n\t"a": 1\n}\n',
        '{\n    "a": 1\n}',
        '{\r\n  "a": 1\r\n}\r\n',
        '{"a": 1}\n',
        '{"a":[1,"b: c, d"]}',
        '{"a": [1, 2]}',
    ],
    ids=["tab", "4", "crlf", "one", "tight", "wide"],
)
def test_manner_of_the_file_is_kept(tmp_path: Path, script: str, text: str):
    path = tmp_path / "s.json"
    path.write_bytes(text.encode())
    install(path, script)
    assert ("\n" in text.strip()) == ("\n" in path.read_text().strip())
    settings.plan_uninstall(str(path)).apply()
    assert path.read_bytes() == text.encode()


def test_what_stood_there_before_us_is_kept_whatever_comes_later(tmp_path: Path, script: str):
    path = write(tmp_path / "s.json", {"a": 1})
    original = path.read_bytes()
    for _ in range(3):
        install(path, script)
        installed = path.read_bytes()
        settings.plan_uninstall(str(path)).apply()
    kept = {name.name: name.read_bytes() for name in tmp_path.glob("s.json.bak*")}
    assert kept == {"s.json.bak": original, "s.json.bak2": installed}


def test_uninstall_without_a_file_or_a_hook_changes_nothing(tmp_path: Path):
    assert not settings.plan_uninstall(str(tmp_path / "absent.json")).is_needed
    path = write(tmp_path / "s.json", EXISTING)
    assert not settings.plan_uninstall(str(path)).is_needed


def test_diff_is_one_that_patch_takes(tmp_path: Path, script: str):
    path = write(tmp_path / "s.json", '{"a": 1}')
    change = settings.plan_install(str(path), settings.hook_command(script))
    copy = write(tmp_path / "copy.json", '{"a": 1}')
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "-p1", "-"],
        input=renamed(change.diff()),
        cwd=tmp_path,
        text=True,
        check=True,
    )
    assert copy.read_text() == change.after


def renamed(diff: str) -> str:
    """Aim a diff at the copy."""
    old, new, *rest = diff.splitlines(keepends=True)
    assert (old[:4], new[:4]) == ("--- ", "+++ ")
    return "".join(["--- a/copy.json\n", "+++ b/copy.json\n", *rest])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES, max_size=5))
def test_any_settings_come_back(tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]):
    content.pop("hooks", None)
    folder = tmp_path_factory.mktemp("settings")
    script = folder / "memory-stop-hook.sh"
    script.touch()
    path = write(folder / "s.json", content)
    install(path, str(script))
    settings.plan_uninstall(str(path)).apply()
    assert read(path) == content


# Every client ---------------------------------------------------------------------------------------------------------

ORIGINALS = {
    "none": None,
    "empty": "",
    "line-end": "\n",
    "braces": "{}",
    "mark": "\ufeff{}\n",
    "flat-lists": '{\n  "allow": ["x", "y"],\n  "n": 1.0, "big": 1e400\n}',
    "tab": '{\n\t"a": {"b": []}\n}\n',
    "crlf": '{\r\n  "a": 1\r\n}\r\n',
    "tight": '{"a":[1,"b: c, d"]}',
    "no-hooks": '{"hooks": {}}\n',
    "no-groups": '{\n  "hooks": {"Stop": [], "AfterAgent": [], "BeforeTool": []}\n}\n',
    "others": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}], "AfterAgent": [{"hooks": []}]}}',
    "mixed": '{"b": 1,\n      "a": [\n2]}\n\n',
}
TOOLS = tuple(clients.CLIENTS)


def oracle(action: str, tool: str, workspace: Path, *words: str) -> int:
    return run(["hook", action, "--tool", tool, "--workspace", str(workspace), *words])


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("text", ORIGINALS.values(), ids=ORIGINALS.keys())
@pytest.mark.parametrize("roots", [("",), ("one", "two"), ("one", "", "one")], ids=["once", "renewed", "twice"])
def test_uninstall_leaves_the_file_byte_for_byte(tmp_path: Path, tool: str, text: str | None, roots: tuple[str, ...]):
    path = tmp_path / clients.CLIENTS[tool].place
    path.parent.mkdir()
    if text is not None:
        path.write_bytes(text.encode())
    for _ in range(2):
        for root in roots:
            assert oracle("install", tool, tmp_path, *(["--memory-dir", str(tmp_path / root)] if root else [])) == 0
        assert oracle("status", tool, tmp_path) == 0
        assert oracle("uninstall", tool, tmp_path) == 0
        assert (path.read_bytes() if path.exists() else None) == (None if text is None else text.encode())


@pytest.mark.parametrize("tool", TOOLS)
def test_what_was_added_after_the_installation_stays(tmp_path: Path, tool: str):
    path = tmp_path / clients.CLIENTS[tool].place
    oracle("install", tool, tmp_path)
    content = read(path)
    write(path, {**content, "mine": 1})
    oracle("uninstall", tool, tmp_path)
    assert read(path) == {"mine": 1}


@pytest.mark.parametrize(("tool", "event", "timeout"), [("codex", "Stop", 10), ("gemini", "AfterAgent", 10_000)])
def test_other_clients_have_their_own_file_event_and_unit(tmp_path: Path, tool: str, event: str, timeout: int):
    oracle("install", tool, tmp_path)
    ((key, (group,)),) = read(tmp_path / clients.CLIENTS[tool].place)["hooks"].items()
    assert (key, group["hooks"][0]["timeout"]) == (event, timeout)
    assert group["hooks"][0]["command"] == settings.hook_command(settings.default_script())


@pytest.mark.parametrize(("tool", "word"), [("claude", ""), ("codex", "/hooks"), ("gemini", "trusted folder")])
def test_trust_is_said_and_is_no_fault(
    tmp_path: Path, tool: str, word: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("HOME", str(tmp_path))
    oracle("install", tool, tmp_path)
    said = capfd.readouterr().err
    assert word in said if word else said == ""
    assert oracle("status", tool, tmp_path, "--json") == 0
    assert [word in note for note in json.loads(capfd.readouterr().out)["notes"]] == [True] * bool(word)


@pytest.mark.parametrize(
    ("tool", "file", "text", "setting"),
    [
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
        ("codex", "home/.codex/config.toml", "[features]\ncodex_hooks = false\n", "features.codex_hooks"),
        ("claude", ".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ],
)
def test_switch_of_each_client_is_seen(
    tmp_path: Path,
    tool: str,
    file: str,
    text: str,
    setting: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text)
    oracle("install", tool, tmp_path)
    capfd.readouterr()
    assert oracle("status", tool, tmp_path) == 1
    shown = capfd.readouterr()
    assert "hooks are disabled" in shown.out
    assert setting in shown.err


@pytest.mark.parametrize("text", ["features = 1", "[features", "[features]\nhooks = true\n", ""])
def test_odd_configuration_of_codex_is_no_switch(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text(text)
    oracle("install", "codex", tmp_path)
    assert oracle("status", "codex", tmp_path) == 0


def test_unknown_tool_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    assert oracle("install", "vim", tmp_path) == 2
    assert "claude, codex, gemini" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


# The Root -------------------------------------------------------------------------------------------------------------


def test_root_of_another_place_reaches_the_hook_through_a_shell(tmp_path: Path, script: str):
    root = str(tmp_path / "a 'kept' $(touch planted) root")
    Path(script).write_text("import os; open('ran', 'w').write(os.environ['ORACLE_ROOT'])")
    command = settings.hook_command(script, root=root)
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)  # noqa: S602 - as the host does
    assert (tmp_path / "ran").read_text() == root
    assert not (tmp_path / "planted").exists()


def test_command_names_the_root_that_is_not_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ORACLE_ROOT", raising=False)
    path = tmp_path / ".claude" / "settings.json"

    def oracle(action: str, root: Path | None = None) -> str:
        words = ["hook", action, "--workspace", str(tmp_path)]
        assert run([*words, "--memory-dir", str(root)] if root else words) == 0
        return capfd.readouterr().out.split(":")[0]

    root = tmp_path / "kept"
    assert [oracle("install", root), oracle("install", root)] == ["written", "unchanged"]
    command = read(path)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command.startswith(f"ORACLE_ROOT={root} exec ")
    assert oracle("status") == "installed"
    assert [oracle("install"), oracle("install", tmp_path / ".agents" / "memory")] == ["updated", "unchanged"]
    assert read(path)["hooks"]["Stop"][0]["hooks"][0]["command"].startswith("exec ")
    assert [oracle("install", root), oracle("uninstall")] == ["updated", "removed"]
    assert not path.exists()


# Status ---------------------------------------------------------------------------------------------------------------


def test_status_of_a_good_installation(tmp_path: Path, script: str):
    path = tmp_path / "s.json"
    assert not settings.read_status(str(path)).is_installed
    install(path, script)
    status = settings.read_status(str(path))
    assert (status.is_installed, status.notes) == (True, ())
    assert status.commands == (settings.hook_command(script),)


def test_status_names_what_keeps_the_hook_from_running(tmp_path: Path, script: str):
    path = tmp_path / "s.json"
    install(path, script)
    content = read(path)
    content["disableAllHooks"] = True
    content["hooks"]["Stop"] *= 2
    content["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 1
    write(path, content)
    Path(script).unlink()
    notes = " ".join(settings.read_status(str(path)).notes)
    for word in ("disableAllHooks", "more than once", "timeout of 1 s", "is missing"):
        assert word in notes
    assert settings.read_status(str(path)).is_disabled


# The front ------------------------------------------------------------------------------------------------------------


def front(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(FRONT), *words], capture_output=True, text=True, check=False)


def test_front_installs_once(tmp_path: Path):
    path = tmp_path / ".claude" / "settings.json"
    first, second = front("--workspace", str(tmp_path)), front("--workspace", str(tmp_path))
    assert (first.returncode, first.stdout) == (0, f"updated: {path}\n")
    assert (second.returncode, second.stdout, second.stderr) == (0, f"unchanged: {path}\n", "")
    words = shlex.split(read(path)["hooks"]["Stop"][0]["hooks"][0]["command"])
    assert words[-1] == str(CHECKOUT / "scripts" / "hooks" / "stop_hook.py")
    assert os.access(words[1], os.X_OK)


LOCATIONS = ("settings.json", "settings.local.json")
OLD = {"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "bash /old/memory-stop-hook.sh"}]}]}}


def commands_of(workspace: Path) -> list[list[str]]:
    """Return the commands of the hook in both settings files of a workspace."""
    return [list(settings.read_status(str(workspace / ".claude" / name)).commands) for name in LOCATIONS]


@pytest.mark.parametrize("where", [("settings.json",), ("settings.local.json",), LOCATIONS])
@pytest.mark.parametrize("installer", ["front", "oracle"])
def test_both_settings_files_are_looked_at(tmp_path: Path, where: tuple[str, ...], installer: str):
    (tmp_path / ".claude").mkdir()
    for name in where:
        write(tmp_path / ".claude" / name, json.dumps({**OLD, "model": "x"}))
    before = workspaces.status_of(workspaces.settings_files(str(tmp_path)))
    assert len(before.commands) == len(where)
    assert any("Both settings files" in note for note in before.notes) is (len(where) > 1)
    words = ["--workspace", str(tmp_path)]
    assert (front(*words).returncode if installer == "front" else run(["hook", "install", *words])) == 0
    found = commands_of(tmp_path)
    assert [len(one) for one in found] == [int(name == where[0]) for name in LOCATIONS]
    assert all("stop_hook.py" in command for one in found for command in one)
    after = workspaces.status_of(workspaces.settings_files(str(tmp_path)))
    assert (after.path, after.is_installed) == (str(tmp_path / ".claude" / where[0]), True)
    assert run(["hook", "uninstall", *words]) == 0
    assert commands_of(tmp_path) == [[], []]
    assert all(read(tmp_path / ".claude" / name)["model"] == "x" for name in where)


def test_a_given_file_is_the_only_one(tmp_path: Path):
    (tmp_path / ".claude").mkdir()
    write(tmp_path / ".claude/settings.local.json", json.dumps(OLD))
    assert run(["hook", "install", "--settings-path", str(tmp_path / "other.json"), "--workspace", str(tmp_path)]) == 0
    assert commands_of(tmp_path) == [[], ["bash /old/memory-stop-hook.sh"]]
    assert len(settings.read_status(str(tmp_path / "other.json")).commands) == 1


def test_front_shows_the_new_settings_and_writes_nothing(tmp_path: Path):
    done = front("--workspace", str(tmp_path), "--dry-run")
    target = tmp_path / ".claude" / "settings.json"
    assert done.returncode == 0
    assert done.stdout.startswith(f'target: {target}\n{{\n  "hooks": {{\n    "Stop": [')
    assert not target.exists()


def test_front_takes_the_old_options(tmp_path: Path):
    script = tmp_path / "my hook" / "memory-stop-hook.sh"
    script.parent.mkdir()
    script.touch()
    path = tmp_path / "other.json"
    done = front("--workspace", str(tmp_path), "--settings-path", str(path), "--hook-script", str(script))
    assert done.stdout == f"updated: {path}\n"
    assert read(path)["hooks"]["Stop"][0]["hooks"][0]["command"] == f"bash '{script}'"


@pytest.mark.parametrize("words", [("--hook-script", "/absent/x.sh"), ("--clawseat-root", "/absent")])
def test_front_says_that_the_script_is_not_there(tmp_path: Path, words: tuple[str, ...]):
    done = front("--workspace", str(tmp_path), *words)
    assert done.returncode == 2
    assert done.stdout.startswith("error: hook script not found: /absent/")
    assert list(tmp_path.iterdir()) == []


def test_front_leaves_broken_settings_alone(tmp_path: Path):
    path = write(tmp_path / "s.json", '{"a": 1, // why\n}')
    done = front("--workspace", str(tmp_path), "--settings-path", str(path))
    assert done.returncode == 2
    assert "is not valid JSON" in done.stderr
    assert path.read_text() == '{"a": 1, // why\n}'


def test_workspace_that_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(NotFound):
        settings.settings_file(str(tmp_path / "absent"))
    with pytest.raises(UsageError):
        settings.hook_command(str(tmp_path / "absent.py"))


# What a person added --------------------------------------------------------------------------------------------------


def entry_of(path: Path) -> dict[str, Any]:
    entry: dict[str, Any] = read(path)["hooks"]["Stop"][0]["hooks"][0]
    return entry


@pytest.mark.parametrize("timeout", [3, 60, 600])
def test_a_timeout_that_a_person_set_outlives_a_new_installation(tmp_path: Path, script: str, timeout: int):
    path = tmp_path / "s.json"
    install(path, script)
    content = read(path)
    content["hooks"]["Stop"][0]["hooks"][0]["timeout"] = timeout
    write(path, content)
    settings.plan_install(str(path), settings.hook_command(script, root=str(tmp_path))).apply()
    assert entry_of(path)["timeout"] == timeout
    assert "ORACLE_ROOT=" in entry_of(path)["command"]


@pytest.mark.parametrize(
    ("around", "rest"),
    [
        ("{} && echo more", "echo more"),
        ("{}; echo 'a && b'", "echo 'a && b'"),
        ("echo first && {}", "echo first"),
        ("echo first;{} | tee log", "echo first;tee log"),
        ("cd '/x;y' && {} || true", "cd '/x;y' && true"),
        ('{} & echo "it\'s; done"', 'echo "it\'s; done"'),
        ("{}\necho more", "echo more"),
        ("{} 2>&1 | tee log", "tee log"),
        ("{} >> '/tmp/a log' 2>&1 && echo more", "echo more"),
        ("{} &>/dev/null; echo more", "echo more"),
        ("{{ {}; echo more; }}", "{ true; echo more; }"),
        ("{{ echo first; {}; }}", "{ echo first; }"),
        ("({}) && echo more", "(true) && echo more"),
        ("(echo first; {} 2>&1)", "(echo first; true)"),
        ("if [ -f /x ]; then {}; fi; echo more", "if [ -f /x ]; then true; fi; echo more"),
        ("if [ -f /x ]\nthen\n  {}\nfi", "if [ -f /x ]\nthen\n  true\nfi"),
        ("case $A in a) {};; esac", "case $A in a) true;; esac"),
        ("A=$({}); echo more", "A=$(true); echo more"),
    ],
)
@pytest.mark.parametrize(
    "own", ["bash '/old place/memory-stop-hook.sh'", "exec /p -I -S /x/scripts/hooks/stop_hook.py"]
)
def test_the_other_commands_of_an_entry_stay(tmp_path: Path, script: str, around: str, rest: str, own: str):
    before = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": around.format(own), "timeout": 7}]}]}}
    path = write(tmp_path / "s.json", before)
    mine = settings.hook_command(script).replace("exec ", "", 1)  # it must not replace the shell
    for _ in range(2):
        install(path, script)
        assert entry_of(path)["command"] == around.format(mine)
    written = write(tmp_path / "own.json", read(path))
    settings.plan_uninstall(str(written)).apply()
    assert entry_of(written)["command"] == rest
    for command in (entry_of(path)["command"], rest):
        assert subprocess.run(["bash", "-n", "-c", command], check=False).returncode == 0


@pytest.mark.parametrize("around", ["({})", "{{ {}; }}", "{{\n{}\n}}"])
def test_a_group_of_our_command_alone_goes_with_it(tmp_path: Path, script: str, around: str):
    command = around.format("bash /old/memory-stop-hook.sh")
    path = write(tmp_path / "s.json", {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    install(path, script)
    settings.plan_uninstall(str(path)).apply()
    assert not path.exists()


@pytest.mark.parametrize(
    "own", ["bash /old/memory-stop-hook.sh", "ORACLE_ROOT='/the old root' exec /p -I -S /x/scripts/hooks/stop_hook.py"]
)
@pytest.mark.parametrize("variables", ["ORACLE_SEAT=planner ", "A='b c' ORACLE_SEAT=\"planner\" "])
@pytest.mark.parametrize("rest", ["", " && echo more"])
def test_variables_that_a_person_set_for_the_hook_stay(
    tmp_path: Path, script: str, own: str, variables: str, rest: str
):
    command = f"{variables}{own}{rest}"
    path = write(tmp_path / "s.json", {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    mine = settings.hook_command(script).replace("exec ", "", 1)
    for _ in range(2):
        install(path, script)
        assert entry_of(path)["command"] == f"{variables}{mine}{rest}"


@pytest.mark.parametrize("test", ["[ -x {} ]", "test -f {}", "[[ -e {} ]]"])
def test_a_test_of_the_old_script_names_the_new_one(tmp_path: Path, script: str, test: str):
    old = "/old/memory-stop-hook.sh"
    command = f"{test.format(old)} && bash {old} && echo more"
    path = write(tmp_path / "s.json", {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    install(path, script)
    mine = settings.hook_command(script).replace("exec ", "", 1)
    assert entry_of(path)["command"] == f"{test.format(shlex.quote(script))} && {mine} && echo more"


def test_status_says_that_the_root_of_the_command_is_gone(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    root = tmp_path / "the root"
    root.mkdir()
    oracle("install", "claude", tmp_path, "--memory-dir", str(root))
    capfd.readouterr()
    oracle("status", "claude", tmp_path)
    assert "does not exist" not in capfd.readouterr().err
    root.rmdir()
    oracle("status", "claude", tmp_path)
    assert f"The Root {root} that it names does not exist" in capfd.readouterr().err


def test_uninstalling_names_the_command_that_the_installation_replaced(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    older = "bash /old/memory-stop-hook.sh"
    write(path, {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": older}]}]}})
    oracle("install", "claude", tmp_path)
    capfd.readouterr()
    oracle("uninstall", "claude", tmp_path)
    assert f"before the installation it ran {older}" in capfd.readouterr().err


def test_a_strict_hook_is_installed_recognised_and_made_plain_again(tmp_path: Path):
    path = tmp_path / ".claude" / "settings.json"
    for words, ends in ((["--strict"], True), (["--strict"], True), ([], False)):
        oracle("install", "claude", tmp_path, *words)
        (entry,) = read(path)["hooks"]["Stop"][0]["hooks"]
        assert entry["command"].endswith(" --strict") is ends
    assert oracle("status", "claude", tmp_path) == 0
