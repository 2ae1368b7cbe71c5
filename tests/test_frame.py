"""The frame itself: the wheel, the fronts of a checkout, the guard around the tests."""

from __future__ import annotations

import ast
import os
import pwd
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import guard
from tests.conftest import GUARD

CHECKOUT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((CHECKOUT / "scripts").rglob("*.py"))
FRONTS = ("extract_links", "memory_write", "query_memory", "scan_index")
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


# The wheel ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """Build the wheel from a copy of the checkout in which a Root has been at work, and return the names in it."""
    copy = tmp_path_factory.mktemp("wheel") / "checkout"
    copy.mkdir()
    for name in filter(lambda name: (CHECKOUT / name).is_dir(), ("oracle", "schemas", "references")):
        shutil.copytree(CHECKOUT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "_state"))
    for name in filter(None, ("pyproject.toml", "LICENSE", ".gitignore", PROJECT["project"].get("readme"))):
        shutil.copy(CHECKOUT / name, copy)
    for name in ("schemas/planted.schema.json", "references/planted.md", "references/kb/_state/inbox/planted.json"):
        planted = copy / name
        planted.parent.mkdir(parents=True, exist_ok=True)
        planted.write_text("{}", encoding="utf-8")
    sqlite3.connect(copy / "references/kb/_state/oracle.db").close()
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(copy / "dist")]
    subprocess.run(build, cwd=copy, check=True, capture_output=True)
    (built,) = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return frozenset(archive.namelist())


def files_below(name: str) -> set[str]:
    """Return the files that a folder of the checkout holds, what a Root keeps for itself aside."""
    found = (path.relative_to(CHECKOUT) for path in (CHECKOUT / name).rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not {"_state", "__pycache__"} & set(path.parts)}


def test_wheel_holds_every_module_and_the_typing_marker(wheel: frozenset[str]):
    assert files_below("oracle") <= wheel
    assert "oracle/py.typed" in wheel


@pytest.mark.parametrize("folder", ["schemas", "references"])
def test_wheel_holds_the_data_under_the_package(wheel: frozenset[str], folder: str):
    assert {f"oracle/_data/{name}" for name in files_below(folder)} <= wheel
    assert any(name.startswith(f"oracle/_data/{folder}/planted") for name in wheel)


def test_wheel_holds_the_package_alone_and_nothing_of_a_root_at_work(wheel: frozenset[str]):
    assert {name.split("/")[0].split("-")[0] for name in wheel} == {"oracle", "memory_oracle"}
    assert not [name for name in wheel if "_state" in name or "__pycache__" in name]


# The fronts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_script_compiles(script: Path):
    assert compile(script.read_bytes(), str(script), "exec").co_filename == str(script)


@pytest.mark.parametrize("name", FRONTS)
def test_front_is_executable(name: str):
    script = CHECKOUT / "scripts" / f"{name}.py"
    assert os.access(script, os.X_OK)


def test_four_programs_are_on_the_path_and_one_for_uvx():
    on_path = {"oracle": "oracle.cli.main:run"}
    on_path |= {name: f"oracle.compat.{name}:run" for name in ("query_memory", "memory_write", "memory_deliver")}
    on_path["memory-oracle"] = on_path["oracle"]  # `uvx` runs the program that has the name of the package
    assert PROJECT["project"]["scripts"] == on_path


@pytest.mark.parametrize("name", FRONTS)
def test_front_loads_nothing_of_its_own(name: str, tmp_path: Path):
    """Compare the modules that a front has loaded when it hands over with those of a bare start."""
    checkout = make_checkout(tmp_path, run="import sys; print(*sorted(sys.modules)); return 0")
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sorted(sys.modules))"], capture_output=True, text=True, check=True
    )
    front = run_front(checkout, name, python=[sys.executable])
    loaded = set(front.stdout.split()) - set(bare.stdout.split())
    assert loaded == {"_bootstrap", "oracle", "oracle.compat", f"oracle.compat.{name}"}


# A checkout and an interpreter without site-packages stand for a user's bare python3.
BARE = [sys.executable, "-S"]


def make_checkout(folder: Path, *, run: str) -> Path:
    """Lay out a checkout whose commands all have the body `run`, one line of Python."""
    checkout = folder / "a checkout"
    compat = checkout / "oracle" / "compat"
    compat.mkdir(parents=True)
    (checkout / "oracle" / "__init__.py").touch()
    (compat / "__init__.py").touch()
    for name in FRONTS:
        (compat / f"{name}.py").write_text(f"def run():\n    {run}\n", encoding="utf-8")
    shutil.copytree(CHECKOUT / "scripts", checkout / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    return checkout


def make_venv(checkout: Path, *options: str) -> None:
    """Give the checkout a `.venv` that says on stderr that it was started, then is this test's own interpreter."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    words = " ".join([f"'{sys.executable}'", *options])
    python.write_text(f'#!/bin/sh\necho from-venv >&2\nexec {words} "$@"\n', encoding="utf-8")
    python.chmod(0o755)


def run_front(
    checkout: Path, name: str, *words: str, python: list[str] = BARE, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [*python, str(checkout / "scripts" / f"{name}.py"), *words]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)


def test_front_runs_on_a_bare_python_while_the_standard_library_is_enough(tmp_path: Path):
    checkout = make_checkout(tmp_path, run="import json, sys; print(json.dumps(sys.argv[1:])); return 4")
    make_venv(checkout)
    done = run_front(checkout, "query_memory", "--key", "a b")
    assert (done.returncode, done.stdout, done.stderr) == (4, '["--key", "a b"]\n', "")


@pytest.mark.parametrize("name", FRONTS)
def test_front_changes_over_to_the_venv_for_a_missing_library(tmp_path: Path, name: str):
    checkout = make_checkout(tmp_path, run="import sys, yaml; print(sys.argv[1:], sys.stdin.read()); return 3")
    make_venv(checkout)
    done = run_front(checkout, name, "--title", "two words", stdin="the body")
    assert (done.returncode, done.stderr) == (3, "from-venv\n")
    assert done.stdout == "['--title', 'two words'] the body\n"


def test_front_changes_over_even_when_the_command_swallows_errors(tmp_path: Path):
    swallow = "\n    ".join(["try:", "    import yaml", "except Exception:", "    return 70", "return 0"])
    checkout = make_checkout(tmp_path, run=swallow)
    make_venv(checkout)
    assert run_front(checkout, "query_memory").returncode == 0


def test_writing_front_keeps_stdin_for_the_run_that_counts(tmp_path: Path):
    checkout = make_checkout(tmp_path, run="import sys; body = sys.stdin.read(); import yaml; print(body); return 0")
    make_venv(checkout)
    assert run_front(checkout, "memory_write", stdin="the body").stdout == "the body\n"


@pytest.mark.parametrize("name", FRONTS)
def test_front_without_a_venv_names_the_way_out(tmp_path: Path, name: str):
    checkout = make_checkout(tmp_path, run="import yaml; return 0")
    done = run_front(checkout, name)
    assert done.returncode == 70
    assert done.stderr.startswith("error: yaml is not installed for ")
    assert f"run `make install` in {checkout}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_front_with_a_venv_that_lacks_the_library_gives_up_after_one_change(tmp_path: Path):
    checkout = make_checkout(tmp_path, run="import yaml; return 0")
    make_venv(checkout, "-S")
    done = run_front(checkout, "query_memory")
    assert done.returncode == 70
    assert done.stderr.startswith("from-venv\nerror: yaml is not installed for ")


def test_front_does_not_hide_a_module_that_we_lack_ourselves(tmp_path: Path):
    checkout = make_checkout(tmp_path, run="import oracle.absent; return 0")
    make_venv(checkout)
    done = run_front(checkout, "query_memory")
    assert done.returncode == 1
    assert "No module named 'oracle.absent'" in done.stderr


def test_front_prefers_its_own_checkout_and_may_be_reached_by_a_link(tmp_path: Path):
    checkout = make_checkout(tmp_path, run="import oracle; print(oracle.__file__); return 0")
    link = tmp_path / "query_memory.py"
    link.symlink_to(checkout / "scripts" / "query_memory.py")
    done = subprocess.run([sys.executable, "-P", str(link)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{checkout / 'oracle' / '__init__.py'}\n"


# make -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("corpus", ["plain", "two words", 'a "quoted" one', "it's $(touch planted) `touch planted`;"])
def test_make_demo_hands_on_the_corpus_as_one_word(tmp_path: Path, corpus: str):
    lay_out_makefile(tmp_path)
    done = subprocess.run(
        ["make", "-s", "demo"],
        cwd=tmp_path,
        env={**os.environ, "CORPUS": corpus},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"<scripts/demo.py><--corpus><{corpus}>"
    assert not (tmp_path / "planted").exists()


def test_make_demo_without_a_corpus_hands_on_nothing(tmp_path: Path):
    lay_out_makefile(tmp_path)
    done = subprocess.run(["make", "-s", "demo"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "<scripts/demo.py>"


def lay_out_makefile(folder: Path) -> None:
    """Copy the Makefile beside a finished `.venv` whose python prints its words."""
    shutil.copy(CHECKOUT / "Makefile", folder)
    (folder / "pyproject.toml").touch()
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nprintf '<%s>' \"$@\"\n", encoding="utf-8")
    python.chmod(0o755)
    (folder / ".venv" / ".installed").write_text(f"{folder}\n4294967295 0\n", encoding="utf-8")


def test_make_installs_again_when_the_project_changed_or_moved(tmp_path: Path):
    lay_out_makefile(tmp_path)
    assert "pip install" not in plan_install(tmp_path)
    os.utime(tmp_path / "pyproject.toml", (2**31, 2**31))
    assert "pip install" not in plan_install(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert "pip install" in plan_install(tmp_path)
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    assert "pip install" not in plan_install(tmp_path)
    moved = tmp_path.rename(tmp_path.with_name(tmp_path.name + " moved"))
    assert "pip install" in plan_install(moved)


def plan_install(folder: Path) -> str:
    return subprocess.run(["make", "-n", "install"], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        ("exit 1", "Python 3.11 or newer was not found"),
        ('case "$2" in *ensurepip*) exit 1;; esac', "apt install python3-venv"),
    ],
)
def test_make_install_says_what_is_missing(tmp_path: Path, broken: str, sentence: str):
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    python = tmp_path / "python-for-make"
    python.write_text(f"#!/bin/sh\n{broken}\nexit 0\n", encoding="utf-8")
    python.chmod(0o755)
    done = subprocess.run(
        ["make", "install", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert sentence in done.stderr.splitlines()[0]
    assert not (tmp_path / ".venv").exists()


# The guard ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def expected():
    """Take what the guard kept during the test off its list: it was meant to happen."""
    yield GUARD.violations
    GUARD.violations.clear()


REAL_HOME = pwd.getpwuid(os.getuid()).pw_dir


@pytest.mark.skipif(REAL_HOME == "/", reason="this user has no home of its own")
@pytest.mark.parametrize(
    "touch",
    [
        lambda path: path.write_text("x"),
        lambda path: path.mkdir(),
        lambda path: path.symlink_to("elsewhere"),
        lambda path: os.open(path, os.O_CREAT | os.O_WRONLY),
        lambda path: sqlite3.connect(path),
    ],
)
def test_guard_stops_a_change_in_the_real_home(expected: list[str], touch):
    path = Path(REAL_HOME) / ".oracle-test-must-not-exist"
    with pytest.raises(guard.OutsideTouched):
        touch(path)
    assert str(path) in expected[0]
    assert not path.is_symlink()
    assert not path.exists()


@pytest.mark.skipif(REAL_HOME == "/", reason="this user has no home of its own")
def test_guard_stops_a_look_into_a_running_team(expected: list[str]):
    with pytest.raises(guard.OutsideTouched):
        list((Path(REAL_HOME) / ".agents").iterdir())
    assert len(expected) == 1


def test_guard_stops_the_network(expected: list[str]):
    with socket.socket() as plain, pytest.raises(guard.OutsideTouched):
        plain.connect(("192.0.2.1", 9))
    with pytest.raises(guard.OutsideTouched):
        socket.getaddrinfo("host.invalid", 80)
    assert len(expected) == 2


def test_guard_lets_loopback_and_sockets_of_the_file_system_pass(tmp_path_factory: pytest.TempPathFactory):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
    left, right = socket.socketpair()
    left.close()
    right.close()
    assert GUARD.violations == []


def test_guard_stops_the_default_tmux_server(expected: list[str], monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(guard.OutsideTouched):
        subprocess.run(["tmux", "ls"], env={"PATH": os.environ["PATH"]}, check=False)
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    with pytest.raises(guard.OutsideTouched):
        subprocess.run(["tmux", "ls"], check=False)
    assert len(expected) == 2


def test_world_is_empty_and_in_utc(home: Path, root: Path):
    assert Path.home() == home
    assert list(home.iterdir()) == []
    assert root.stat().st_mode & 0o777 == 0o700
    assert not {"AGENT_HOME", "CLAWSEAT_REAL_HOME", "ORACLE_ROOT", "NO_COLOR", "TMUX"} & set(os.environ)
    assert os.environ["TZ"] == "UTC"


@given(st.text())
def test_guard_reads_any_path_without_failing(text: str):
    assert GUARD.judge("open", (text, "r", os.O_RDONLY)) == ""


# The tests themselves -------------------------------------------------------------------------------------------------


ASSERTS = re.compile(r"\bassert\b|\bassert_\w+\(|\bpytest\.(?:raises|fail|warns)\(")


def find_silent_tests(path: Path) -> list[str]:
    """Return the tests of a file without an `assert`, `pytest.raises` or a helper named `assert_…` in sight."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    tests = [node for node in found if node.name.startswith("test")]
    return [node.name for node in tests if not ASSERTS.search("\n".join(lines[node.lineno : node.end_lineno]))]


def test_every_test_shows_what_it_asserts():
    found = {path.name: find_silent_tests(path) for path in (CHECKOUT / "tests").rglob("test_*.py")}
    assert {name: tests for name, tests in found.items() if tests} == {}


def test_a_test_without_an_assertion_is_found(tmp_path: Path):
    path = tmp_path / "test_x.py"
    path.write_text(
        "def test_bare():\n    run()\n\ndef test_helped():\n    check_it()\n\n"
        "def test_good():\n    assert run()\n\ndef test_named():\n    assert_runs()\n",
        encoding="utf-8",
    )
    assert find_silent_tests(path) == ["test_bare", "test_helped"]
