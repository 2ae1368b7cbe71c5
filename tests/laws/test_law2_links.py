"""Law 2 with links in the Root: whatever lies there as a symbolic link, nothing outside of the Root is changed."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app import root as rooms
from oracle.cli.main import run
from oracle.domain.names import SHARED
from oracle.domain.records.drafts import Draft
from oracle.errors import OracleError
from oracle.store.daemon import mcp_token, state
from oracle.store.delivery import inbox
from oracle.store.disk import files, folders, steps
from oracle.store.root.layout import Root
from tests.app.test_decisions import ID, payload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DAY = """
project init demo --seats memory,planner,builder --repo {repo}
project add demo --repo {repo}
write decision --project demo --title {n}-One --body "ARENA-1 [[x]]"
write finding --project demo --title {n}-Two --evidence high:src/app.py:1
retire projects/demo/builder/x --reason over
team task create T-{n} --project demo
ask --project demo --from planner --task-id Q-{n} --no-notify who
deliver --project demo --task-id Q-{n} --target planner --no-notify --response-inline '{{"answer": "A"}}'
deliver --project demo --task-id Q-{n} --target planner --no-notify --supersede --response-inline '{{"answer": "B"}}'
compat dispatch_task {task} --source planner --target builder --objective do --title t --test-policy EXTEND --no-notify
compat complete_handoff {task} --source builder --summary done --commit abc1234 --no-notify
compat complete_handoff {task} --source builder --target planner --ack-only
compat notify_seat {task} --source planner --target builder --message hello
resume
scan machine --only current_context
scan project --project demo --repo {repo} --depth medium --commit
packet --role executor --goal paint
config set daemon.hold true
team decision send --session demo-koder --no-notify --payload-file {payload}
index reconcile --full --publish
index reconcile --rebuild
compat scan_index rebuild --project demo
doctor --repair
"""
"""What writes, as a team does it; `n` counts the days."""


def work(root: Path, number: int) -> None:
    """Do a day's work. Each command may be refused, and none may fail in another way."""
    import shlex

    top = ["--memory-dir", str(root)]
    given = {
        "n": number,
        "repo": root.parent / "repo",
        "payload": root.parent / "payload.json",
        "task": f"--profile {root}/profiles/demo-profile-dynamic.toml --task-id D-{number}",
    }
    for line in DAY.strip().splitlines():
        first, *words = shlex.split(line.format(**given))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ORACLE_ROOT", str(root))
            code = run([first, *words] if first == "compat" else [first, *top, *words])
        assert code in range(9), (line, code)
    with contextlib.suppress(OracleError), Oracle.open(str(root)) as oracle:
        oracle.write(Draft("plan", SHARED, f"{number}-Three"))
        rooms.note_crash(oracle, "trace")
        rooms.note_hook(oracle, "what", "detail")
        entry = inbox.begin(oracle.root, "deliver", (str(number),), {}, 0)
        state.write_status(oracle.root, {})
        state.move_probe(oracle.root, number)
        mcp_token.find_or_make(oracle.root)
        if entry is not None:
            inbox.finish(oracle.root, entry)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a Root of its own with a day's work in it."""
    root = tmp_path_factory.mktemp("day") / "memory"
    (root.parent / "repo").mkdir()
    (root.parent / "repo/pyproject.toml").write_text('[project]\nname = "x"\n')
    (root.parent / "payload.json").write_bytes(payload(decision_id=ID))
    assert run(["init", "--memory-dir", str(root)]) == 0
    seat = root / "projects/demo/builder/x.md"
    seat.parent.mkdir(parents=True)
    seat.write_text("ARENA-1")
    work(root, 1)
    return root


FOLDERS = """
.clawseat _backlinks _links _state _state/inbox _state/packets _state/probe _state/tmp config machine profiles projects
projects/demo projects/demo/_index projects/demo/decision projects/demo/finding responses shared shared/plan tasks
tasks/demo tasks/demo/T-1 tasks/demo/T-2 tasks/demo/builder tasks/demo/memory tasks/demo/patrol
tasks/demo/patrol/handoffs tasks/demo/patrol/handoffs/audit tasks/demo/patrol/handoffs/notices tasks/demo/planner
""".split()
"""Every folder in which a day's work writes, and some that it makes when they are missing."""

FILES = (
    "_state/lock _state/oracle.db _state/oracle.db-wal _state/mcp.token _state/hook.log _state/oracle.log _state/daemon.json"
    " events.log index.json config.toml config.toml.lock tasks/demo/builder/TODO.md tasks/demo/builder/TODO.md.lock"
    " tasks/demo/TASKS.md tasks/demo/patrol/handoffs/.receipts.lock machine/current_context.json responses/Q-2.json"
).split()
"""Files of every sort that a day's work changes."""


def test_the_folders_of_a_day_are_all_tried(worked: Path) -> None:
    made = {str(path.relative_to(worked)) for path in worked.rglob("*") if path.is_dir()}
    assert made - {"learnings", "projects/demo/builder"} <= set(FOLDERS)


@pytest.mark.parametrize(
    ("where", "way"),
    [
        *((where, "moved") for where in FOLDERS),
        *(
            (where, "empty")
            for where in ("_links", "_state", "responses", "projects/demo/decision", "tasks/demo/builder")
        ),
    ],
)
def test_nothing_is_written_through_a_folder_that_is_a_link(
    worked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], where: str, way: str
) -> None:
    outside = tmp_path / "outside"
    with kept(worked):
        place = worked / where
        if way == "moved" and place.is_dir():
            shutil.move(place, outside)
        else:
            shutil.rmtree(place, ignore_errors=True)
            outside.mkdir()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(outside)
        before = look(outside)
        work(worked, 2)
        assert look(outside) == before
        assert place.is_symlink()
    assert "symbolic link" in "".join(capsys.readouterr())


@pytest.mark.parametrize("where", FILES)
def test_nothing_is_written_through_a_file_that_is_a_link(worked: Path, tmp_path: Path, where: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with kept(worked):
        place = worked / where
        if place.exists():
            shutil.copy2(place, outside / "kept")
            place.unlink()
        else:
            (outside / "kept").write_text("mine")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(outside / "kept")
        before = look(outside)
        work(worked, 2)
        assert look(outside) == before


@contextlib.contextmanager
def kept(root: Path) -> Iterator[None]:
    """Give the Root back as it was: its profile holds its path, so that no copy serves."""
    copy = root.with_name("copy")
    shutil.copytree(root, copy, symlinks=True)
    try:
        yield
    finally:
        shutil.rmtree(root)
        copy.rename(root)


def look(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return what a change would show: every name below a folder with its status and content."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (status.st_mtime_ns, status.st_ctime_ns, data)
    return found


# A folder that is swapped for a link while writes go on ----------------------------------------------------------------

OPERATIONS: dict[str, Callable[[str, str], object]] = {
    "create": lambda top, name: files.create(f"{top}/a/b/{name}", b"x", scratch=f"{top}/tmp"),
    "replace": lambda top, name: files.replace(f"{top}/a/b/{name}", b"x", scratch=f"{top}/tmp"),
    "scratch": lambda top, name: files.create(f"{top}/made/{name}", b"x", scratch=f"{top}/a/b"),
    "create once": lambda top, name: steps.create_once(f"{top}/a/b/{name}", b"x"),
    "replace for good": lambda top, name: steps.replace(f"{top}/a/b/{name}", b"x"),
    "append": lambda top, name: files.append_line(f"{top}/a/b/{name}", b"x"),
    "lock": lambda top, name: steps.FileLock(f"{top}/a/b/{name}", 0.01).__enter__().__exit__(None, None, None),
    "folder": lambda top, name: files.make_folder(f"{top}/a/b/{name}"),
    "swap": lambda top, name: steps.swap(f"{top}/a/b/{name}", b"x", scratch=f"{top}/tmp"),
    "many": lambda top, name: steps.create_folder(f"{top}/a/b/{name}", [("x", b"x")], scratch=f"{top}/tmp"),
    "remove": lambda top, name: steps.remove(f"{top}/a/b/mine"),
    "empty": lambda top, name: folders.empty(f"{top}/a/b"),
}


@pytest.mark.parametrize("level", ["a", "a/b"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_folder_that_is_swapped_for_a_link_leads_nowhere(tmp_path: Path, operation: str, level: str) -> None:
    top, outside = tmp_path / "top", tmp_path / "outside"
    (top / "a/b").mkdir(parents=True)
    (outside / "b").mkdir(parents=True)
    for folder in (outside, outside / "b"):
        (folder / "mine").write_text("mine")
    (top / "link").symlink_to(outside)
    Root(str(top))
    before = look(outside)
    done = threading.Event()
    swapper = threading.Thread(target=swap_until, args=(top, level, done))
    swapper.start()
    end = time.monotonic() + 0.4
    tries = written = 0
    while time.monotonic() < end:
        tries += 1
        with contextlib.suppress(OracleError, OSError):
            OPERATIONS[operation](str(top), str(tries))
            written += 1
    done.set()
    swapper.join()
    assert look(outside) == before
    assert 0 < written < tries or operation in ("folder", "empty")


def swap_until(top: Path, level: str, done: threading.Event) -> None:
    """Exchange a folder and a link, again and again."""
    while not done.is_set():
        assert steps.exchange(str(top / level), str(top / "link"))
