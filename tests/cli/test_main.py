"""How a call ends: an exit code for each kind of failure, one sentence, never a traceback."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.cli.application import EPILOG, MOVED, Group, walk
from oracle.cli.application import command as build_command
from oracle.cli.commands.compat import PROGRAMS
from oracle.cli.main import run
from oracle.cli.output import cells
from oracle.errors import NOT_JUDGED, Conflict, LockTimeout, OracleError, RecordExists, TreeEmptied
from tests.cli.transcript import call
from tests.forked import run_python

PROGRAM = [sys.executable, "-c", "import sys; from oracle.cli.main import run; sys.exit(run())"]
CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def oracle(root, monkeypatch):
    monkeypatch.setenv("ORACLE_ROOT", str(root))

    def ask(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        return call(list(words), monkeypatch, stdin=stdin)

    return ask


def put(root: Path, name: str, text: str) -> Path:
    path = root / "projects" / "arena" / "builder" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def process(*words: str, **options) -> subprocess.Popen[bytes]:
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*PROGRAM, *words], cwd=CHECKOUT, **streams)


# Exit codes -----------------------------------------------------------------------------------------------------------


def test_the_page_that_the_help_names_explains_every_exit_code():
    (page,) = re.findall(r"references/\S+\.md", EPILOG)
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    told = {int(number) for number in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    kinds, codes = [OracleError], set()
    while kinds:
        kind = kinds.pop()
        kinds += [one for one in kind.__subclasses__() if one.__module__ == OracleError.__module__]
        codes.add(kind.exit_code)
    assert told == {0, NOT_JUDGED, 128 + signal.SIGINT, *codes}


NEEDY = [
    (path, str(one.epilog).partition(": ")[2])
    for path, one in walk(build_command(), hidden=True)
    if not isinstance(one, Group) and any(parameter.required for parameter in one.params)
]


@pytest.mark.parametrize(("path", "example"), NEEDY, ids=[path for path, _ in NEEDY])
def test_the_error_of_what_is_missing_shows_the_example_of_the_command(oracle, path: str, example: str):
    code, out, err = oracle(*path.split())
    assert (code, out) == (2, "")
    assert err.startswith("Missing ")
    assert example.startswith("oracle ")
    assert err.endswith(f" Example: {example}\n")


@pytest.mark.parametrize(
    ("words", "code", "name"),
    [
        (["write", "finding", "--project", "arena", "--title", "T"], 1, "invalid_record"),
        (["write", "decision", "--project", "arena", "--title", "T", "--confidence", "sure"], 1, "invalid_record"),
        (["nothing"], 2, "usage"),
        (["list", "--limit", "many"], 2, "usage"),
        (["list", "--limit", "-1"], 2, "usage"),
        (["list", "--nothing"], 2, "usage"),
        (["show"], 2, "usage"),
        (["show", ""], 2, "usage"),
        (["write", "decision", "--title", "T"], 2, "usage"),
        (["write", "decision", "--project", "a/b", "--title", "T"], 2, "invalid_name"),
        (["write", "decision", "--project", "arena", "--title", "T", "--secrets", "keep"], 2, "usage"),
        (["list", "--until", "2026-13-01"], 2, "usage"),
        (["list", "--project", ".."], 2, "invalid_name"),
        (["graph", "a", "--depth", "-1"], 2, "usage"),
        (["show", "../network"], 2, "usage"),
        (["show", "nowhere"], 4, "not_in_memory_db"),
        (["show", "network.proxy"], 4, "not_in_memory_db"),
        (["search", "!!!"], 4, "not_in_memory_db"),
        (["list", "--project", "nowhere"], 4, "not_in_federated_kb"),
        (["write", "observation", "--project", "arena", "--title", "T"], 5, "ownership"),
        (["write", "plan", "--project", "arena", "--title", "T", "--seat", "planner"], 5, "ownership"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input(oracle, root, words, code, name):
    assert oracle(*words)[0] == code
    found, out, err = oracle(*words, "--json")
    assert found == code
    assert err == ""
    assert json.loads(out)["error"]["code"] == name
    assert not list(root.glob("projects/**/*.md"))


@pytest.mark.parametrize("number", ["9223372036854775807", "9" * 20])
@pytest.mark.parametrize(
    "words",
    [
        ("list", "--limit"),
        ("list", "--timeline", "--limit"),
        ("search", "T-7", "--limit"),
        ("list", "--entities", "--top"),
    ],
)
def test_a_number_beyond_all_bounds_is_as_good_as_all(oracle, root, words, number):
    put(root, "a", "See T-7.")
    assert oracle(*words, number)[::2] == (0, "")


@pytest.mark.parametrize("number", ["9223372036854775807", "9" * 20])
def test_all_events_may_be_asked_for_by_a_number_beyond_all_bounds(oracle, root, number):
    assert oracle("log", "--limit", number)[0] in (0, 4)


@pytest.mark.parametrize(
    ("error", "code"),
    [(Conflict, 6), (RecordExists, 7), (TreeEmptied, 8), (LockTimeout, 75)],
    ids=lambda value: str(value),
)
def test_an_error_ends_the_call_with_its_own_code(oracle, monkeypatch, error, code):
    def refuse(self, **_):
        raise error("What is wrong.", hint="The way out.")

    monkeypatch.setattr("oracle.app.overview.status.status", refuse)
    assert oracle("index", "status") == (code, "", "What is wrong.\nhint: The way out.\n")


def test_a_tree_that_is_suddenly_empty_is_refused(oracle, root):
    paths = [put(root, f"r{number}", f"ARENA-{number}") for number in range(20)]
    assert oracle("index", "reconcile")[0] == 0
    for path in paths:
        path.unlink()
    code, out, err = oracle("list")
    assert (code, out) == (8, "")
    assert "--accept-removals" in err
    assert oracle("index", "reconcile", "--accept-removals")[0] == 0
    assert oracle("list")[0] == 4


def test_a_lock_that_is_held_is_waited_for_only_so_long(oracle, root, monkeypatch):
    from oracle.store.root import lock
    from oracle.store.root.layout import Root

    oracle("index", "reconcile")
    monkeypatch.setattr(lock, "DEFAULT_TIMEOUT", 0.01)
    with lock.WriteLock(Root(str(root)), 1.0):
        code, out, err = oracle("write", "plan", "--project", "arena", "--title", "T", "--body", "B")
    assert (code, out) == (75, "")
    assert "Traceback" not in err


def test_a_secret_is_refused_and_never_printed(oracle, root):
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    words = ("write", "plan", "--project", "arena", "--title", "T", "--body", f"token {token}")
    code, out, err = oracle(*words)
    assert code == 1
    assert token not in out + err
    assert oracle(*words, "--secrets", "redact")[0] == 0
    assert token not in "".join(path.read_text() for path in root.rglob("*.md"))


# What nobody foresaw --------------------------------------------------------------------------------------------------


def test_a_crash_is_one_sentence_and_the_traceback_goes_to_the_log(oracle, root, monkeypatch):
    def crash(self, **_):
        raise RuntimeError("out of \x1b[31m luck\nand more")

    monkeypatch.setattr("oracle.app.overview.status.status", crash)
    code, out, err = oracle("index", "status")
    log = root / "_state" / "oracle.log"
    assert (code, out) == (70, "")
    assert err.splitlines() == [
        "Unexpected error: RuntimeError: out of \\x1b[31m luck.",
        f"hint: Details are in {log}.",
    ]
    assert "Traceback" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    code, out, _ = oracle("index", "status", "--json")
    assert json.loads(out)["error"]["code"] == "unexpected"


def test_a_crash_makes_no_root(oracle, tmp_path, monkeypatch):
    def crash(self, **_):
        raise RuntimeError

    monkeypatch.setattr("oracle.app.overview.status.status", crash)
    code, _, err = oracle("index", "status", "--memory-dir", str(tmp_path / "none"))
    assert code == 70
    assert "no details were kept" in err
    assert not (tmp_path / "none").exists()


def test_an_interrupt_is_quiet(oracle, monkeypatch):
    def interrupt(self, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr("oracle.app.overview.status.status", interrupt)
    assert oracle("index", "status")[::2] == (130, "")


def test_a_real_interrupt_is_quiet_and_writes_nothing(root):
    words = ("write", "plan", "--project", "arena", "--title", "T", "--memory-dir", str(root), "-")
    with process(*words, stdin=subprocess.PIPE) as running:
        # more than a pipe holds, so that this ends once the text is being read
        os.write(running.stdin.fileno(), b"x" * 100_000)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
    assert (running.returncode, out, err) == (130, b"", b"")
    assert not (root / "projects").exists()


def test_a_reader_that_leaves_is_no_error(root):
    for number in range(400):
        put(root, f"record-{number:04}-{'x' * 150}", "text")
    with process("list", "--memory-dir", str(root)) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr is not None
        assert running.stderr.read() == b""
    assert running.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("config", "get", "root", "--json"), 70, "The output could not be written"),
        (("lst", "--json"), 2, "No such command"),
        (("show", "zzz", "--json"), 4, "not_in_memory_db"),
    ],
)
def test_what_json_can_not_say_on_a_full_disk_is_said_to_people(
    root: Path, words: tuple[str, ...], code: int, said: str
):
    with Path("/dev/full").open("wb") as full, process(*words, "--memory-dir", str(root), stdout=full) as running:
        _, err = running.communicate()
    assert running.returncode == code
    assert said in err.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_output_that_cannot_be_written_is_said(root):
    put(root, "a", "text")
    with Path("/dev/full").open("wb") as full, process("list", "--memory-dir", str(root), stdout=full) as running:
        _, err = running.communicate(timeout=120)
    assert running.returncode == 70
    assert err.startswith(b"The output could not be written")


# Words ----------------------------------------------------------------------------------------------------------------


def test_the_root_is_named_before_or_after_the_command(oracle, root, tmp_path):
    put(root, "a", "text")
    other = str(tmp_path / "other")
    assert oracle("--memory-dir", other, "list")[0] == 2
    assert oracle("list", "--memory-dir", other)[0] == 2
    assert oracle("--memory-dir", other, "list", "--memory-dir", str(root))[0] == 0
    assert oracle("--memory-dir", str(root), "--json", "list")[1].startswith("{")


def test_the_seat_may_come_from_the_environment(oracle, monkeypatch):
    monkeypatch.setenv("ORACLE_SEAT", "builder")
    assert oracle("write", "plan", "--project", "arena", "--title", "T", "--body", "B")[0] == 5
    assert oracle("write", "plan", "--project", "arena", "--title", "T", "--body", "B", "--seat", "memory")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("show", "a\nb\x1b[31m"),
        ("list", "--project", "a\nb"),
        ("a\nb",),
        ("search", "--a\nb"),
        ("graph", "a\nb\rc"),
        ("log", "--limit", "a\nb"),
    ],
)
def test_no_error_repeats_what_steers_a_terminal(oracle, words):
    code, _, err = oracle(*words)
    assert code in (2, 4)
    assert [line for line in err.splitlines() if line.startswith(("b", "c"))] == []
    assert not set("\r\x1b") & set(err)


@pytest.mark.parametrize(
    "words",
    [
        ("list", "--project", ""),
        ("list", "--project="),
        ("list", "--since", ""),
        ("list", "--task", ""),
        ("search", "x", "--kind", ""),
        ("log", "--project", ""),
        ("handoffs", "--state", ""),
        ("ask", "--now", "x", "--seat", ""),
        ("check", "--project", ""),
        ("scan", "machine", "--only", ""),
        ("ack", "check", "T-1", "--project", ""),
    ],
)
def test_an_option_with_nothing_in_it_is_no_wish_for_everything(oracle, words):
    code, out, err = oracle(*words)
    name = next(word for word in words if word.startswith("--") and word != "--now").rstrip("=")
    assert (code, out) == (2, "")
    assert err == f"{name} is empty.\nhint: Give it a value, or leave it out.\n"


def test_free_text_may_be_empty_and_so_may_a_variable_of_the_environment(oracle, monkeypatch):
    oracle("init")
    monkeypatch.setenv("ORACLE_SEAT", "")
    assert oracle("write", "decision", "--project", "a", "--title", "One", "--body", "B", "--detail", "")[0] == 0


@pytest.mark.parametrize("body", [(), ("--body", ""), ("--body", " \n\t")])
def test_a_record_needs_a_text(oracle, root, body):
    assert oracle("write", "decision", "--project", "arena", "--title", "One", *body) == (
        1,
        "",
        "The record has no text.\nhint: Give it a body of at least one sentence.\n",
    )
    assert [*root.rglob("projects/**/*.md")] == []


def test_a_new_project_beside_a_similar_one_is_confirmed(oracle, root):
    words = ("write", "decision", "--title", "One", "--body", "B", "--project")
    assert oracle(*words, "arena")[0] == 0
    code, _, err = oracle(*words, "arema")
    assert (code, err.splitlines()[0]) == (2, "The project arema does not exist; did you mean arena?")
    assert not (root / "projects/arema").exists()
    assert oracle(*words, "arema", "--new-project")[0] == 0


def test_words_that_are_no_utf_8_are_refused(oracle):
    code, _, err = oracle("search", b"\xff".decode("utf-8", "surrogateescape"))
    assert code == 2
    assert err.startswith("Argument 2 is not UTF-8: b'\\xff'.")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_names_every_command(oracle, words):
    code, out, _ = oracle(*words)
    assert code == 0
    assert all(f"\n  {name} " in out for name in build_command().list_commands(None))
    assert "..." not in out.partition("COMMAND [ARGS]...")[2]
    assert "\x1b" not in out


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_commands_fit_on_one_screen(oracle, language, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert len(build_command().list_commands(None)) <= 36
    lines = oracle("--help", "--lang", language)[1].splitlines()
    assert len(lines) <= 50
    assert max(map(cells, lines)) <= 80


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("words", [(), ("deliver",), ("write",), ("handoffs", "show")])
def test_help_fits_a_narrow_terminal(oracle, words, language, monkeypatch):
    """A line that is too long is broken in mid-word by the terminal."""
    monkeypatch.setenv("COLUMNS", "40")
    lines = oracle(*words, "--help", "--lang", language)[1].splitlines()
    assert len(lines) > 10
    assert [line for line in lines if cells(line) > 40] == []


def test_a_command_that_the_help_leaves_out_still_runs_and_explains_itself(oracle):
    unlisted = build_command().unlisted.split()
    assert unlisted
    for word in unlisted:
        assert f"\n  {word} " not in oracle("--help")[1]
        assert oracle(word)[0] == 0
        assert f"oracle {word} " in oracle(word, "--help")[1]


LEVELS = dict(walk(build_command()))


@pytest.mark.parametrize("path", LEVELS)
def test_every_level_has_a_help_with_one_example_that_can_be_typed(oracle, path):
    code, out, err = oracle(*path.split(), "--help")
    assert (code, err) == (0, "")
    (example,) = re.findall(r"Example: ((?:.|\n)+)", out)
    words = shlex.split(example)
    assert words[: 1 + len(path.split())] == ["oracle", *path.split()]
    command, rest = build_command(), words[1:]
    while isinstance(command, Group):
        context = command.make_context("x", rest)
        _, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
    command.make_context("x", rest, resilient_parsing=True)
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= {*options, "--help"}


GROUPS = [path for path, command in LEVELS.items() if isinstance(command, Group)]


@pytest.mark.parametrize("path", [path for path in GROUPS if path != "handoffs"])
def test_a_bare_group_prints_its_commands(oracle, path):
    code, out, err = oracle(*path.split())
    assert (code, err) == (0, "")
    assert out == oracle(*path.split(), "--help")[1]
    assert all(f"\n  {word.split()[-1]} " in out for word in LEVELS if word.rpartition(" ")[0] == path)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["timeline"], "oracle list --timeline"),
        (["get", "network.host"], "oracle show"),
        (["stale"], "oracle check --only stale"),
        (["task", "create"], "oracle team task"),
        (["status"], "oracle index status"),
        (["reconcile"], "oracle index reconcile"),
        (["root"], "oracle config get root"),
        (["srch", "x"], "oracle search"),
        (["team", "tsk"], "oracle team task"),
        (["daemon", "stat"], "oracle daemon start"),
    ],
)
def test_a_word_that_is_no_command_is_answered_with_the_one_that_is_meant(oracle, words, meant):
    code, out, err = oracle(*words)
    assert (code, out) == (2, "")
    assert f"`{meant}`" in err.splitlines()[1]


def test_every_old_word_has_a_new_place():
    for old, new in MOVED.items():
        assert old not in LEVELS
        assert " ".join(new.partition(" --")[0].split()[:3]).removesuffix(" root") in LEVELS, new


def test_a_call_loads_the_command_that_it_names_and_no_other():
    check = "import sys; from oracle.cli.main import run; run(['config', 'get', 'root']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    loaded = {name for name in done.stdout.split() if name.startswith("oracle.cli.commands.")}
    assert loaded == {"oracle.cli.commands.config"}


def test_help_reaches_for_neither_index_nor_rich():
    check = (
        "import sys; from oracle.cli.main import run; run(['--help']);"
        "heavy = ('sqlite3', 'rich', 'yaml', 'tomllib', 'polib', 'oracle.index', 'oracle.app', 'oracle.store.');"
        "light = ('oracle.app', 'oracle.app.settings', 'oracle.store.root', "  # the language of the help
        "'oracle.store.root.layout', 'oracle.store.root.configuration', 'oracle.store.disk', 'oracle.store.disk.folders');"
        "sys.exit(' '.join(name for name in sys.modules if name.startswith(heavy) and name not in light) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown(oracle, monkeypatch, shell):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    with process("--show-completion", shell, env=environment) as running:
        out, _ = running.communicate(timeout=120)
    assert running.returncode == 0
    assert b"_ORACLE_COMPLETE" in out


def test_completion_knows_the_commands():
    environment = {**os.environ, "_ORACLE_COMPLETE": "complete_bash", "COMP_WORDS": "oracle ba", "COMP_CWORD": "1"}
    with process(env=environment) as running:
        out, _ = running.communicate(timeout=120)
    assert out.decode().split() == ["backlinks"]


def test_doctor_as_json(oracle, root):
    assert oracle("init")[0] == 0
    code, out, _ = oracle("doctor", "--json")
    report = json.loads(out)
    assert code == (0 if report["ok"] else 1)
    assert {"name", "ok", "severity", "detail", "fix"} <= set(report["checks"][0])
    put(root, "bad", "---\ntitle: [broken\n---\n")
    code, out, _ = oracle("doctor", "--json")
    assert code == 1
    assert not json.loads(out)["ok"]


def test_published_files_are_named(oracle, root):
    put(root, "a", "text")
    code, out, _ = oracle("index", "reconcile", "--publish", "--json")
    assert code == 0
    assert str(root / "index.json") in {str(root / path) for path in json.loads(out)["published"]}


def test_check_changes_nothing(oracle, root):
    put(root, "a", "See ARENA-7.")
    oracle("index", "reconcile")
    put(root, "b", "See ARENA-8.")
    put(root, "a", "See ARENA-9, rewritten.")

    def files():
        return {
            path: path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and path.name[-4:] not in ("-wal", "-shm")
        }

    before = files()
    code, out, _ = oracle("index", "reconcile", "--check")
    assert code == 1
    assert out.splitlines() == ["changed\tprojects/arena/builder/a.md", "new\tprojects/arena/builder/b.md"]
    assert files() == before
    oracle("index", "reconcile", "--full")
    (root / "projects/arena/builder/b.md").unlink()
    assert oracle("index", "reconcile", "--check")[1] == "gone\tprojects/arena/builder/b.md\n"


# Surroundings ---------------------------------------------------------------------------------------------------------

PLAIN_C = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_names_of_other_scripts_are_read_and_printed_whatever_the_locale(root):
    put(root, "记录", "# 标题\n")
    with process("list", "--memory-dir", str(root), env=PLAIN_C) as running:
        out, err = running.communicate(timeout=120)
    assert (running.returncode, err) == (0, b"")
    assert "arena/builder/记录\t" in out.decode()
    with process("search", "标题", "--memory-dir", str(root), env=PLAIN_C) as running:
        assert "记录".encode() in running.communicate(timeout=120)[0]


def test_a_working_directory_that_is_gone_is_said(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    check = (
        f"import os, sys; sys.path.insert(0, {str(CHECKOUT)!r}); os.rmdir(os.getcwd());"
        "from oracle.cli.main import run; sys.exit(run(['list', '--memory-dir', 'rel']))"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=gone, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"The working directory is gone.\n")


@pytest.mark.parametrize("words", [("--help",), ("list", "-h")])
def test_help_that_nobody_reads_is_no_error(words):
    read, write = os.pipe()
    os.close(read)
    with process(*words, stdout=write) as running:
        os.close(write)
        assert running.communicate(timeout=120)[1] == b""
    assert running.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_help_that_cannot_be_written_is_said():
    with Path("/dev/full").open("wb") as full, process("--help", stdout=full) as running:
        _, err = running.communicate(timeout=120)
    assert running.returncode == 70
    assert err.startswith(b"The output could not be written")


def test_a_root_where_nothing_can_be_made_is_refused_with_a_way_out(oracle):
    code, _, err = oracle("init", "--memory-dir", "/proc/none")
    assert code == 70
    assert "--memory-dir" in err.splitlines()[1]


def test_a_root_below_a_file_is_refused(oracle, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = oracle("init", "--memory-dir", str(tmp_path / "file" / "x" / "y"))
    assert code == 2
    assert f"{tmp_path / 'file'} is not a folder" in err


@pytest.mark.parametrize(
    "words",
    [
        ("write", "plan", "--project", "arena", "--title", "T", "--status"),
        ("write", "plan", "--project", "arena", "--title", "T", "--confidence"),
        ("write", "plan", "--project", "arena", "--title", "T", "--seat"),
        ("write", "--project", "arena", "--title", "T"),
        ("list", "--limit"),
        ("search",),
    ],
)
def test_no_sentence_repeats_a_secret(oracle, words):
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    for more in ((), ("--json",)):
        code, out, err = oracle(*words, secret, *more)
        assert code
        assert secret[:12] not in out + err
        assert "[REDACTED:" in out + err or "looks like a secret" in out + err


def test_a_long_search_that_finds_nothing_is_not_repeated_whole(oracle):
    code, out, err = oracle("search", "x" * 100_000)
    assert code == 4
    assert len(out + err) < 1000


@pytest.mark.parametrize("words", [("list",), ("list", "--timeline"), ("search", "colour", "--limit", "99")])
def test_a_long_chain_is_named_by_its_nearest_and_its_last(oracle, root, words):
    for number in range(60):
        put(root, f"r{number:02}", f"---\nsupersedes: [r{number - 1:02}]\n---\ncolour\n" if number else "colour\n")
    code, out, _ = oracle(*words)
    slug = "projects/arena/builder/r"
    assert code == 0
    assert f"by {slug}01, then {slug}02, then {slug}03, … 55 more, then {slug}59" in out
    assert f"by {slug}56, then {slug}57, then {slug}58, then {slug}59" in out
    records = {record["slug"][-3:]: record for record in json.loads(oracle(*words, "--json")[1])["records"]}
    assert (len(records["r00"]["chain"]), records["r00"]["chain_length"]) == (50, 59)
    assert (len(records["r09"]["chain"]), "chain_length" in records["r09"]) == (50, False)
    assert "chain" not in records["r59"]


@pytest.mark.parametrize("words", [["show", "a.b"], ["list"], ["show", "x"], ["index", "status"], ["check"]])
def test_without_a_root_every_question_says_so(oracle, tmp_path, words):
    code, out, err = oracle(*words, "--memory-dir", str(tmp_path / "nowhere"))
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == f"The Root {tmp_path / 'nowhere'} does not exist."


IN_THE_WAY = {
    "file": "{place}/file is not a folder",
    "file/below": "{place}/file/below can't be made, because {place}/file is not a folder",
    "to-a-file": "{place}/to-a-file is not a folder",
    "dangling": "{place}/dangling is a link to {place}/nothing, which does not exist",
    "dangling/below": "{place}/dangling is a link to {place}/nothing, which does not exist",
}


@pytest.mark.parametrize(("name", "what"), IN_THE_WAY.items(), ids=IN_THE_WAY)
@pytest.mark.parametrize("is_option", [True, False])
def test_what_is_in_the_place_of_a_root_is_said_once_and_with_the_way_out(
    oracle, tmp_path, monkeypatch, name, what, *, is_option
):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "to-a-file").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    monkeypatch.setenv("ORACLE_ROOT", str(tmp_path / name))
    words = ["--memory-dir", str(tmp_path / name)] if is_option else []
    for command in (["list"], ["init"], ["search", "x"], ["write", "decision", "--project", "a", "--title", "b"]):
        code, out, err = oracle(*words, *command)
        first, hint = err.splitlines()
        assert (code, out, first) == (2, "", f"The Root {what.format(place=tmp_path)}.")
        assert "--memory-dir or ORACLE_ROOT" in hint
    code, out, err = oracle(*words, "doctor")
    assert (code, out.count(what.format(place=tmp_path)), "config" in out + err) == (1, 1, False)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("words", [["team", "language"], ["ask", "--now"], ["team", "privacy", "--text"]])
def test_an_error_about_standard_input_names_no_option_that_nobody_typed(root, monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "stdin", None)
    code = run([*words, "-", "--memory-dir", str(root)])
    assert (code, capsys.readouterr().err) == (
        2,
        "Standard input is closed.\nhint: Pipe the text in, or give it without `-`.\n",
    )


def test_a_root_that_a_command_makes_is_named(oracle, tmp_path):
    made = tmp_path / "made"
    words = ("--memory-dir", str(made), "remember", "--type", "user")
    assert f"note: Created the Root {made}\n" in oracle(*words, "I use tabs.")[2]
    assert "Created" not in oracle(*words, "I write in Dutch.")[2]
    code, out, err = oracle("init", "--memory-dir", str(tmp_path / "other"))
    assert (code, out, err) == (0, f"Created the Root {tmp_path / 'other'}\n", "")


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_of_every_older_program(name: str):
    done = run_python([*PROGRAM[1:], "compat", name, "--help"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {name} ")


# Texts that are refused -----------------------------------------------------------------------------------------------


SECRET = "gh" + "p_" + "q7Rk2Zp9Lx4V" * 3


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ("forget", "a rule", "--reason", "{}"),
        ("retire", "a-rule", "--reason", "{}"),
        ("remember", "{}", "--type", "user"),
        ("write", "decision", "--project", "shop", "--title", "{}", "--body", "B"),
        ("project", "add", "shop", "--repo", "/tmp/{}"),
        ("project", "init", "shop", "--seats", "memory", "--repo", "/tmp/{}"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_the_hint_for_a_refused_text_names_only_options_of_the_command(oracle, root, words, blocked):
    assert oracle("remember", "A rule.", "--type", "user")[0] == 0
    if blocked:
        (root / "machine").mkdir(exist_ok=True)
        (root / "machine" / "privacy.md").write_text("- lotus\n", encoding="utf-8")
    code, _, trouble = oracle(*(word.format("lotus" if blocked else SECRET) for word in words))
    assert (code, "Nothing was written" in trouble) == (1, True), trouble
    hint = trouble.partition("hint: ")[2]
    path = " ".join(words[:2]) if words[0] == "project" else words[0]
    known = {option for param in dict(walk(build_command()))[path].params for option in param.opts}
    assert set(re.findall(r"--[a-z-]+", hint)) <= known, hint
