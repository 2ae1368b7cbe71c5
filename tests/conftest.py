"""Give every test a temporary world with a guard around it, and hand out the Root and the cases that tests read."""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from hypothesis import HealthCheck, settings

from oracle.cli import application
from tests import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.wake.stage import Stage

CASES = Path(__file__).parent / "cases"
GUARD = guard.install()

settings.register_profile(
    "ci", deadline=None, derandomize=False, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# A test calls `oracle` many times in one process, and each call makes its parser anew: read every signature once, and make
# the English parser once. A translation, a narrow terminal and a completion change theirs.
typer.main.get_params_from_function = functools.cache(typer.main.get_params_from_function)
make_parser = application.command
make_english_parser = functools.cache(make_parser)


def parser() -> Any:
    is_changed = application.needs_own_help() or "_ORACLE_COMPLETE" in os.environ
    return make_parser() if is_changed else make_english_parser()


application.command = parser


# No test cuts the power, and the kernel outlives every other death: that a file is forced to disk is seen by the call alone.
os.fsync = os.fstat


# The world of a test --------------------------------------------------------------------------------------------------

FOREIGN_PREFIXES = (
    "AGENT_",
    "AGENTCTL_",
    "AGENTS_",
    "CLAUDE_",
    "CLAWSEAT_",
    "CLEAR_AUDIT_",
    "FEISHU_",
    "GIT_",
    "GSTACK_",
    "LARK_CLI_",
    "LC_",
    "MAR_",
    "OPENCLAW_",
    "ORACLE_",
    "TMUX",
    "XDG_",
)
FOREIGN = (
    "CALLS_LOG",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LANG",
    "LANGUAGE",
    "LINES",
    "PYTHON_BIN",
    "PYTHONPATH",
)
HOME_NUMBERS = itertools.count()


MEMORY = "/dev/shm"
ENOUGH = 1 << 30


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """Choose the disk of the tests; heed SIGINT even where a shell started us in the background and it is ignored.

    Programs under test inherit that. A file system of memory, where a large one is mounted, forces a file to disk a
    hundred times faster: the kernel outlives every death that a test brings about, so they find the same bytes.
    """
    if not os.environ.get("TMPDIR") and holds_programs(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect with no search for garbage, and leave the collected tests out of each later search."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def holds_programs(folder: str) -> bool:
    """Tell whether a file system has room for the tests and lets them start programs from it."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize >= ENOUGH and not disk.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK)


@pytest.fixture(scope="session", autouse=True)
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make the temporary world, for fixtures of a wider scope too; return the folder of its HOMEs.

    The folder for tmux sockets is short, because the path of a socket holds about 100 bytes, and it exists, because
    tmux would use /tmp otherwise.
    """
    homes = tmp_path_factory.mktemp("homes")
    sockets = tempfile.mkdtemp(prefix="oracle-tmux-")
    before = dict(os.environ)
    for name in before:
        if name in FOREIGN or name.startswith(FOREIGN_PREFIXES):
            del os.environ[name]
    os.environ.update(HOME=str(homes), TMUX_TMPDIR=sockets, TZ="UTC")
    time.tzset()
    GUARD.enter(str(homes))
    yield homes
    GUARD.active = False
    stop_tmux(Path(sockets))
    restore(before)


def stop_tmux(sockets: Path) -> None:
    """End the servers that tests left behind, and only those: their sockets are in our own folder."""
    for name in sockets.glob("tmux-*/*"):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(["tmux", "-S", str(name), "kill-server"], capture_output=True, timeout=10, check=False)
    shutil.rmtree(sockets, ignore_errors=True)


def restore(environment: dict[str, str]) -> None:
    """Put back only what differs: most tests leave the environment as it was."""
    now = dict(os.environ)
    for name in now.keys() - environment.keys():
        del os.environ[name]
    os.environ.update({name: value for name, value in environment.items() if now.get(name) != value})
    time.tzset()


@pytest.fixture(autouse=True)
def home(world: Path) -> Iterator[Path]:
    """Give the test an empty HOME, and fail it if it left its world."""
    before = dict(os.environ)
    folder = world / str(next(HOME_NUMBERS))
    folder.mkdir(mode=0o700)
    os.environ["HOME"] = str(folder)
    yield folder
    restore(before)
    violations, GUARD.violations = GUARD.violations, []
    if violations:
        pytest.fail("the test left its world: " + "; ".join(violations), pytrace=False)


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Give the folder of the test, without the link beside it: for each new folder pytest reads all names that are there."""
    tmp_path.with_name(re.sub(r"\W", "_", request.node.name)[:30] + "current").unlink(missing_ok=True)
    return tmp_path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a Root as `oracle init` leaves it to everyone: an empty folder that only its owner may enter."""
    folder = tmp_path / "memory"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Give a private tmux server, ended afterwards."""
    from tests.wake.stage import Stage

    made = Stage(tmp_path)
    yield made
    made.close()


# Cases ----------------------------------------------------------------------------------------------------------------


def read_cases(name: str) -> list[Any]:
    with (CASES / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


@pytest.fixture
def cases() -> Callable[[str], list[Any]]:
    """Give the reader of tests/cases/NAME.jsonl; a test marked `cases(NAME, …)` that takes `case` runs once a line."""
    return read_cases


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("cases")
    if marker and "case" in metafunc.fixturenames:
        found = [case for name in marker.args for case in read_cases(name)]
        metafunc.parametrize("case", found, ids=[str(case["id"]) for case in found])
