"""Each fault is planted for real, must be named, and is repaired when it is derived; the truth stays as it is, byte for byte."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.app import doctor
from oracle.app.delivery.team import init_profile
from oracle.app.doctor import diagnosis, index, machine, records, root_checks, snapshot
from oracle.app.doctor.context import CAP, FIX, Check, capped, in_order, one_line, walk, warning
from oracle.app.doctor.diagnosis import diagnose
from oracle.app.records.listing import list_problems
from oracle.app.records.publish import publish_all
from oracle.domain.names import flatten
from oracle.domain.records.drafts import Draft
from oracle.errors import RootUnusable
from oracle.index.write import projection_checks
from oracle.store.markdown import records as store_records
from tests.disks import Disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHECKOUT = Path(__file__).parents[2]
DERIVED = ("_state", "_links", "_backlinks")
TEN_YEARS_NS = 10 * 365 * 24 * 3600 * 1_000_000_000


class Clock:
    def __init__(self, shift_ns: int = 0, at_ns: int = 0) -> None:
        self.shift_ns, self.at_ns = shift_ns, at_ns

    def now_ns(self) -> int:
        return self.at_ns or time.time_ns() + self.shift_ns


@pytest.fixture
def oracle(root: Path) -> Iterator[Oracle]:
    """Give a Root with records of Memory and of a seat that link to each other, and an index that is closed."""
    with Oracle.open(str(root)) as opened:
        opened.init()
        put(
            root,
            "projects/arena/builder/notes.md",
            "---\nid: notes\nproject: arena\nseat: builder\n---\nSee ARENA-228.\n",
        )
        put(root, "machine/network.json", "{}")
        first = opened.write(Draft("decision", "arena", "Take the left door", "For ARENA-228, see [[notes]]."))
        opened.write(Draft("decision", "arena", "Take the right door", "Not the left.", supersedes=(first.slug,)))
        age(root)
        opened.reconcile(full=True)
        opened.close()
        yield opened


def put(root: Path, path: str, text: str | bytes) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    file.chmod(0o600)
    return file


def age(root: Path) -> None:
    """Make files and folders old enough that their times are trusted."""
    then = time.time_ns() - 3600 * 1_000_000_000
    for path in sorted((root / "projects").rglob("*"), reverse=True):
        os.utime(path, ns=(then, then))


def fingerprint(root: Path, *, without: tuple[str, ...] = ()) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for path in [root, *sorted(root.rglob("*"))]:
        name = str(path.relative_to(root))
        if name.split("/")[0] in without or "/_index" in name:
            continue
        status = path.lstat()
        data = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        mtime = status.st_mtime_ns if not (without and path.is_dir()) else 0
        mode = 0 if without and path == root else status.st_mode
        found[name] = (mode, status.st_ino, mtime, data)
    return found


def truth(root: Path) -> dict[str, tuple[object, ...]]:
    return fingerprint(root, without=DERIVED)


def faults(oracle: Oracle, name: str = "") -> list[Check]:
    """Return what is wrong; the examination must have changed nothing at all."""
    before = fingerprint(Path(oracle.root.path))
    checks = oracle.doctor()
    assert fingerprint(Path(oracle.root.path)) == before
    assert all(check.fix for check in checks if not check.ok)
    assert all("\n" not in check.detail for check in checks)
    return [check for check in checks if not check.ok and name in ("", check.name)]


def said(oracle: Oracle, name: str) -> str:
    return "\n".join(check.detail for check in oracle.doctor() if check.name == name)


def only_fault(oracle: Oracle, name: str) -> Check:
    found = faults(oracle)
    assert [check.name for check in found] == [name], found
    return found[0]


def repaired(oracle: Oracle) -> list[str]:
    """Repair, make sure that the truth was not touched and that nothing derived is wrong any more."""
    root = Path(oracle.root.path)
    before = truth(root)
    lines = doctor.repair(oracle, patience=0)
    assert truth(root) == before
    assert not [line for line in lines if line.startswith("not repaired")], lines
    assert doctor.repair(oracle, patience=0) == []
    return lines


# -- a sound Root ------------------------------------------------------------------------------------------------------


def test_a_sound_root_has_no_fault_and_needs_no_repair(oracle: Oracle) -> None:
    assert faults(oracle) == []
    assert repaired(oracle) == []


def test_the_index_of_a_running_writer_is_read_from_its_log(oracle: Oracle) -> None:
    oracle.write(Draft("decision", "arena", "Third", "Written while the log is open, for ARENA-7."))
    assert Path(oracle.root.database + "-wal").stat().st_size > 0
    assert faults(oracle) == []
    assert "3 records" not in said(oracle, "index")
    assert "4 records" in said(oracle, "index")


def test_every_check_says_something_and_the_worst_comes_first(oracle: Oracle) -> None:
    put(Path(oracle.root.path), "projects/arena/builder/a.markdown", "x")
    Path(oracle.root.database).write_bytes(b"")
    checks = oracle.doctor()
    ranks = [(check.ok, ("error", "warning", "note").index(check.severity)) for check in checks]
    assert ranks == sorted(ranks)
    assert ranks[0] == (False, 0)
    assert {"root", "programs", "lock", "clock", "disk", "flock", "journal"} <= {check.name for check in checks}


def test_a_check_that_fails_itself_is_named_and_hides_no_other(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: str) -> None:
        raise ValueError(f"odd\n{path}")

    monkeypatch.setattr(os, "statvfs", fail)
    put(Path(oracle.root.path), "projects/arena/builder/a.markdown", "x")
    failed, near = faults(oracle)
    assert (failed.name, failed.severity, near.name) == ("disk", "error", "suffixes")
    assert "this check failed: ValueError: odd\\x0a" in failed.detail


# -- the Root ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["absent", "file", "dangling"])
def test_a_root_that_is_no_folder(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "memory"
    if kind == "file":
        path.write_text("x")
    elif kind == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    with Oracle.open(str(path)) as opened:
        found = [check for check in opened.doctor() if not check.ok]
        assert [(check.name, check.severity) for check in found] == [("root", "error")]
        with pytest.raises(RootUnusable):
            doctor.repair(opened)
    assert not path.exists() or path.read_text() == "x"


def test_a_folder_that_is_no_root_is_not_examined_further(tmp_path: Path) -> None:
    (tmp_path / "thesis.md").write_text("Words.\n")
    with Oracle.open(str(tmp_path)) as oracle:
        wrong = [check for check in oracle.doctor() if not check.ok]
    assert [(check.name, check.severity) for check in wrong] == [("root", "error")]
    assert wrong[0].detail == f"The Root {tmp_path} holds other files and no projects/."
    assert wrong[0].fix.startswith("oracle init")


def test_an_open_root_is_closed_with_what_is_derived_in_it(oracle: Oracle) -> None:
    root = Path(oracle.root.path)
    root.chmod(0o755)
    (root / "_state").chmod(0o755)
    record = next(root.glob("projects/arena/decision/*.md"))
    record.chmod(0o644)
    assert [check.name for check in faults(oracle)] == ["root", "private index"]
    assert repaired(oracle)
    assert faults(oracle) == []
    assert root.stat().st_mode & 0o777 == 0o700
    assert (root / "_state").stat().st_mode & 0o777 == 0o700
    assert record.stat().st_mode & 0o777 == 0o644


def test_a_root_of_somebody_else_is_named_and_left(oracle: Oracle) -> None:
    if os.geteuid():
        pytest.skip("only root may give files away")
    os.chown(oracle.root.path, 54321, -1)
    Path(oracle.root.path).chmod(0o755)
    assert "belongs to user 54321" in faults(oracle, "root")[0].detail
    doctor.repair(oracle)
    assert Path(oracle.root.path).stat().st_mode & 0o777 == 0o755


def test_facts_that_others_may_read_are_named_and_left(oracle: Oracle) -> None:
    fact = Path(oracle.root.path, "machine/network.json")
    fact.chmod(0o640)
    found = only_fault(oracle, "private facts")
    assert found.fix == f"chmod 600 {fact}"
    assert repaired(oracle) == []
    assert fact.stat().st_mode & 0o777 == 0o640
    subprocess.run(found.fix.split(" "), check=True)
    assert faults(oracle) == []


def test_files_and_folders_without_read_permission(oracle: Oracle) -> None:
    root = Path(oracle.root.path)
    put(root, "projects/arena/builder/closed.md", "x").chmod(0o200)
    folder = root / "projects/arena/reviewer"
    folder.mkdir(mode=0o300)
    details = "\n".join(check.detail for check in faults_unread(oracle))
    folder.chmod(0o700)
    assert "projects/arena/builder/closed.md can't be read" in details
    assert "projects/arena/reviewer" in details


def faults_unread(oracle: Oracle) -> list[Check]:
    return [check for check in oracle.doctor() if check.name == "readable" and check.severity == "error"]


# -- the lock ----------------------------------------------------------------------------------------------------------


@contextmanager
def held_elsewhere(oracle: Oracle) -> Iterator[int]:
    """Hold the write lock in another process, until the block ends."""
    program = (
        "import sys; from oracle.store.root.layout import Root; from oracle.store.root.lock import WriteLock\n"
        "with WriteLock(Root(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, oracle.root.path],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid


def test_the_holder_of_the_lock_is_named_and_a_long_one_is_a_fault(oracle: Oracle) -> None:
    put(Path(oracle.root.path), "_state/tmp/new.1.1", "half")
    with held_elsewhere(oracle) as pid:
        assert faults(oracle) == []
        assert f"held by process {pid}" in said(oracle, "lock")
        oracle.clock = Clock(shift_ns=(root_checks.LONG_HELD + 5) * 1_000_000_000)
        late = faults(oracle, "lock")[0]
        assert f"kill {pid}" in late.fix
        (line,) = doctor.repair(oracle, patience=0)
        assert line.startswith("not repaired: ")
        assert str(pid) in line
    assert "new.1.1" in faults(oracle, "scratch")[0].detail
    oracle.clock = Clock()
    assert len(repaired(oracle)) == 1
    assert faults(oracle) == []


# -- the index ---------------------------------------------------------------------------------------------------------


def edit_index(oracle: Oracle, statement: str) -> None:
    with sqlite3.connect(oracle.root.database) as connection:
        connection.execute(statement)
    connection.close()


def spoil_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def spoil_head(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.write(b"no database at all")


def empty(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize("harm", [spoil_middle, truncate, spoil_head, empty])
def test_a_damaged_database(oracle: Oracle, harm: object) -> None:
    harm(Path(oracle.root.database))  # type: ignore[operator]
    found = only_fault(oracle, "index")
    assert found.severity == "error"
    assert "damaged" in found.detail
    assert any("index" in line for line in repaired(oracle))
    assert faults(oracle) == []
    assert len(oracle.backlinks("entity:taskid:ARENA-228")) == 2


def test_a_full_text_index_that_does_not_fit_its_rows(oracle: Oracle) -> None:
    edit_index(oracle, "UPDATE passage_content SET c1 = 'other words' WHERE id = 1")
    assert only_fault(oracle, "index").severity == "error"
    repaired(oracle)
    assert faults(oracle) == []


def test_no_index_or_one_of_another_version(oracle: Oracle) -> None:
    edit_index(oracle, "UPDATE meta SET value = '0' WHERE key = 'ready'")
    assert "version 0" in only_fault(oracle, "index").detail
    repaired(oracle)
    oracle.close()
    shutil.rmtree(oracle.root.state)
    assert "there is none" in only_fault(oracle, "index").detail
    assert not Path(oracle.root.state).exists()
    repaired(oracle)
    assert faults(oracle) == []


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("UPDATE record SET title = 'Forged' WHERE path LIKE '%notes.md'", "projects/arena/builder/notes (fields)"),
        ("UPDATE record SET status = 'resolved' WHERE path LIKE '%left-door.md'", "left-door (fields)"),
        ("UPDATE record SET retired_by = NULL, retired_how = NULL", "left-door (fields)"),
        ("DELETE FROM edge", "(edges"),
        ("UPDATE edge SET snippet = 'other'", "(edges"),
        ("DELETE FROM reference", "(references)"),
        ("DELETE FROM record WHERE path LIKE '%notes.md'", "projects/arena/builder/notes (missing)"),
        ("INSERT INTO problem VALUES ('projects/arena/x.md', 1, 'made up', '')", "problem rows"),
        ("INSERT INTO edge VALUES (1, 999999, 'mentions', '', 1, 1)", "edges of no record"),
    ],
)
def test_an_index_that_says_other_things_than_the_files(oracle: Oracle, statement: str, word: str) -> None:
    edit_index(oracle, statement)
    found = faults(oracle, "index")
    assert len(found) == 1
    assert word in found[0].detail
    assert found[0].severity == "error"
    assert any("differed from a rebuild" in line for line in repaired(oracle))
    assert faults(oracle) == []


def test_a_file_changed_since_the_last_look_is_no_fault(oracle: Oracle) -> None:
    root = Path(oracle.root.path)
    put(root, "projects/arena/builder/new.md", "See [[notes]] and ARENA-9.\n")
    next(root.glob("projects/arena/decision/*left-door.md")).unlink()
    assert faults(oracle, "index") == []
    assert "2 changes on disk wait" in said(oracle, "index")
    assert "2 changes on disk were not in it" in repaired(oracle)[0]
    assert len(oracle.backlinks("entity:taskid:ARENA-9")) == 1
    put(root, "projects/arena/builder/newer.md", "One more.\n")
    assert "1 change on disk was not in it" in repaired(oracle)[0]


def test_an_emptied_tree_is_told_and_never_overridden(oracle: Oracle) -> None:
    root = Path(oracle.root.path)
    for number in range(30):
        put(root, f"projects/arena/builder/n{number}.md", f"See ARENA-{number}.\n")
    oracle.reconcile()
    oracle.close()
    shutil.rmtree(root / "projects/arena/builder")
    found = faults(oracle, "tree")
    assert "are gone" in found[0].detail
    assert "--accept-removals" in found[0].fix
    before = sorted((root / "_links").iterdir())
    lines = doctor.repair(oracle, patience=0)
    assert any(line.startswith("not repaired") and "--accept-removals" in line for line in lines)
    assert sorted((root / "_links").iterdir()) == before
    assert diagnose(oracle.root, now_ns=time.time_ns()).emptied


# -- projections and published files -----------------------------------------------------------------------------------


def places_of_files(oracle: Oracle) -> list[Path]:
    """Return one derived file of each sort, and the place of a stray one."""
    root = Path(oracle.root.path)
    publish_all(oracle)
    found = [next(root.glob(f"{side}/*.jsonl")) for side in ("_links", "_backlinks")]
    return [*found, root / "_links" / "projects__gone__decision__x.jsonl", next(root.glob("projects/*/_index/*.json"))]


@pytest.mark.parametrize("which", range(4))
def test_an_empty_folder_in_the_place_of_a_derived_file(oracle: Oracle, which: int) -> None:
    place = places_of_files(oracle)[which]
    place.unlink(missing_ok=True)
    (place / "a" / "b").mkdir(parents=True)
    named = [fault for fault in faults(oracle) if fault.name == "shapes"]
    assert [(fault.severity, fault.fix) for fault in named] == [("error", FIX)]
    assert f"{place.parent.name}/{place.name} must be a file, but is an empty folder" in named[0].detail
    assert any("removed an empty folder" in line for line in repaired(oracle))
    assert not place.is_dir()
    assert faults(oracle) == []


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_an_empty_folder_in_the_place_of_the_database(oracle: Oracle, suffix: str) -> None:
    oracle.close()
    place = Path(oracle.root.database + suffix)
    place.unlink(missing_ok=True)
    place.mkdir()
    with Oracle.open(oracle.root.path) as anew:
        named = [fault for fault in faults(anew) if fault.name == "shapes"]
        assert [(fault.severity, fault.fix) for fault in named] == [("error", FIX)]
        assert any("removed an empty folder" in line for line in doctor.repair(anew, patience=0))
        assert faults(anew) == []


@pytest.mark.parametrize(
    "make", [lambda path: path.mkdir(), lambda path: path.symlink_to(path.name)], ids=["folder", "loop"]
)
def test_what_stands_in_the_place_of_the_lock_is_named_once_and_hides_nothing(
    oracle: Oracle, make: Callable[[Path], None]
) -> None:
    Path(oracle.root.lock).unlink(missing_ok=True)
    make(Path(oracle.root.lock))
    next(Path(oracle.root.path, "_links").iterdir()).write_text("{}\n")
    Path(oracle.root.scratch, "left").touch()
    found = {fault.name: fault for fault in faults(oracle)}
    assert "can't be opened for writing" in found["lock"].detail
    assert not [fault for fault in found.values() if "this check failed" in fault.detail]
    assert {"lock", "projections", "scratch"} <= found.keys()


@pytest.mark.parametrize("held", ["note.txt", ".hidden", "deep/er/note.txt", "link"])
def test_a_folder_with_files_in_the_place_of_a_derived_file_is_named_and_stays(oracle: Oracle, held: str) -> None:
    place = places_of_files(oracle)[1]
    place.unlink()
    kept = place / held
    kept.parent.mkdir(parents=True)
    kept.symlink_to("nowhere") if held == "link" else kept.write_text("mine")
    next(Path(oracle.root.path).glob("projects/*/_index/*.json")).write_text("{")
    named = [fault for fault in faults(oracle) if fault.name == "shapes"]
    assert "but is a folder that holds files" in named[0].detail
    assert str(place) in named[0].fix
    lines = doctor.repair(oracle, patience=0)
    assert any(line.startswith("not repaired: ") and "move it away" in line for line in lines)
    assert any("published" in line for line in lines), "what else was wrong is repaired"
    assert kept.is_symlink() or kept.read_text() == "mine"
    place.rename(Path(oracle.root.path).parent / "kept")
    repaired(oracle)
    assert faults(oracle) == []


@pytest.mark.parametrize("side", ["_links", "_backlinks"])
@pytest.mark.parametrize("harm", ["delete", "change", "plant"])
def test_projections_that_are_missing_stale_or_stray(oracle: Oracle, side: str, harm: str) -> None:
    file = next(Path(oracle.root.path, side).glob("*.jsonl"))
    sound = file.read_bytes()
    if harm == "delete":
        file.unlink()
    elif harm == "change":
        file.write_bytes(sound + b"{}\n")
    else:
        file = file.with_name("projects__gone__decision__x.jsonl")
        file.write_text("{}\n")
    found = only_fault(oracle, "projections")
    assert f"{side}/{file.name}" in found.detail
    assert ("stray)" in found.detail) == (harm == "plant")
    assert "projections: repaired 1 " in repaired(oracle)[0]
    assert faults(oracle) == []
    assert not file.exists() if harm == "plant" else file.read_bytes() == sound


def test_targets_that_a_dead_writer_did_not_print(oracle: Oracle) -> None:
    edit_index(oracle, "INSERT INTO dirty VALUES ('backlinks', 'entity:taskid:ARENA-228')")
    Path(oracle.root.backlinks_file("entity:taskid:ARENA-228")).unlink()
    assert "1 projections wait" in only_fault(oracle, "unprinted").detail
    repaired(oracle)
    assert faults(oracle) == []
    assert Path(oracle.root.backlinks_file("entity:taskid:ARENA-228")).exists()


@pytest.mark.parametrize(
    "path", ["index.json", "projects/arena/_index/files.json", "projects/arena/_index/timeline.jsonl"]
)
def test_published_files_that_are_torn(oracle: Oracle, path: str) -> None:
    put(Path(oracle.root.path), path, '{"a": 1}\n{"b":' if path.endswith("l") else '{\n"a": ')
    assert f"{path}:2" in only_fault(oracle, "published").detail


def test_torn_published_files_are_published_anew(oracle: Oracle) -> None:
    pytest.importorskip("oracle.app.records.publish")
    put(Path(oracle.root.path), "projects/arena/_index/files.json", '{"a": ')
    assert any("published" in line for line in doctor.repair(oracle, patience=0))
    assert faults(oracle, "published") == []


# -- names and places --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["projects/arena/builder/out.md", "projects/arena/planner", "machine/out.json", "_links/out.jsonl", "elsewhere"],
)
def test_links_that_leave_the_root(oracle: Oracle, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").mkdir()
    Path(oracle.root.path, path).symlink_to(tmp_path / "outside")
    found = faults(oracle, "links")
    assert [check.detail.startswith(f"{path} is a symbolic link that leaves the Root") for check in found] == [True]
    assert faults(oracle, "problem") == []


def test_every_problem_that_an_answer_counts_is_named(oracle: Oracle, tmp_path: Path) -> None:
    builder = Path(oracle.root.path, "projects/arena/builder")
    (builder / "nowhere.md").symlink_to("not there.md")
    (builder / "loop.md").symlink_to("loop.md")
    (builder / "folder").symlink_to("..")
    (builder / "folder.md").symlink_to("..")
    (builder / "out.md").symlink_to(tmp_path)
    (builder / "bad.md").write_bytes(b"\xff")
    counted = {path for path, *_ in list_problems(oracle)}
    named = {
        path
        for path in counted
        for check in oracle.doctor()
        if check.name in ("problem", "links") and path in check.detail
    }
    assert len(counted) == 6
    assert named == counted
    assert [check.detail.partition(":")[0] for check in faults(oracle, "problem")] == [
        f"projects/arena/builder/{name}.md" for name in ("bad", "loop", "nowhere")
    ]


@pytest.mark.parametrize("path", ["_links", "_backlinks", "_state/tmp"])
def test_nothing_is_removed_through_a_link_that_leaves_the_root(oracle: Oracle, tmp_path: Path, path: str) -> None:
    mine = put(tmp_path, "outside/mine.jsonl", "{}\n")
    folder = Path(oracle.root.path, path)
    shutil.rmtree(folder)
    folder.symlink_to(mine.parent)
    assert path in faults(oracle, "links")[0].detail
    assert doctor.repair(oracle) == [f"not repaired: {path} lead out of the Root, where nothing is ours to remove"]
    assert mine.read_text() == "{}\n"


@pytest.mark.parametrize("path", ["_links", "_state", "projects", "events.log", "_state/lock", "machine/pipe.json"])
def test_something_else_where_a_file_or_folder_should_be(oracle: Oracle, path: str) -> None:
    place = Path(oracle.root.path, path)
    was_folder = place.is_dir()
    if was_folder:
        shutil.rmtree(place)
        place.write_text("x")
    elif path.endswith("pipe.json"):
        os.mkfifo(place)
    else:
        place.unlink()
        place.mkdir()
    named = [check for check in faults(oracle) if path in check.detail and check.name in ("shapes", "lock")]
    assert len(named) == 1
    assert not [check for check in oracle.doctor() if "this check failed" in check.detail]
    doctor.repair(oracle, patience=0)
    assert place.is_file() if was_folder else not place.is_file()


@pytest.mark.parametrize(
    "path", ["_state/lock", "events.log", "index.json", "config.toml", "machine/privacy.md", "machine/network.json"]
)
def test_a_pipe_is_one_fault_and_stops_no_check(oracle: Oracle, path: str) -> None:
    place = Path(oracle.root.path, path)
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    checks = [check for check in oracle.doctor() if not check.ok]
    assert len([check for check in checks if path in check.detail]) == 1, checks


def test_a_silent_prompt_hook_is_named(oracle: Oracle) -> None:
    missed = put(Path(oracle.root.path), "_state/deadlines-missed", "xxx")
    os.utime(missed, ns=(oracle.clock.now_ns(),) * 2)
    fault = only_fault(oracle, "prompt hook")
    assert "3 answers in a row" in fault.detail
    assert shlex.quote(str(missed)) in fault.fix
    os.utime(missed, ns=(oracle.clock.now_ns() - 601 * 10**9,) * 2)
    assert faults(oracle) == []
    missed.write_text("xx")
    assert faults(oracle) == []


def test_a_folder_in_the_place_of_a_projection_hides_no_other_fault(oracle: Oracle) -> None:
    file = next(Path(oracle.root.path, "_links").iterdir())
    file.unlink()
    file.mkdir()
    put(Path(oracle.root.path), "projects/arena/builder/bad.json", "{")
    names = [check.name for check in faults(oracle)]
    assert names == ["shapes", "projections", "problem"]
    doctor.repair(oracle, patience=0)
    assert [check.name for check in faults(oracle)] == ["problem"]


def test_links_that_stay_are_no_fault(oracle: Oracle) -> None:
    Path(oracle.root.path, "projects/arena/builder/same.md").symlink_to("notes.md")
    assert faults(oracle, "links") == []


PLANTED = {
    "projects/loose.md": ("strays", "projects/loose.md"),
    "projects/arena/patrol/diary/day.md": ("strays", "projects/arena/patrol/diary/"),
    "projects/arena/builder/plan.markdown": ("suffixes", "projects/arena/builder/plan.markdown"),
    "projects/arena/builder/PLAN.MD": ("suffixes", "projects/arena/builder/PLAN.MD"),
    "shared/patterns/a.Json": ("suffixes", "shared/patterns/a.Json"),
    "projects/arena/builder/notes.json": ("twins", "projects/arena/builder/notes.json"),
    "projects/arena/builder/ blank.md": ("names", "projects/arena/builder/ blank.md"),
    "projects/arena/builder/blank .md": ("names", "projects/arena/builder/blank .md"),
    "projects/arena/builder/bell\a.md": ("names", "projects/arena/builder/bell\\x07.md"),
    "projects/arena/builder/cafe\u0301.md": ("names", "composed form"),
    "projects/my project/builder/a.md": ("names", "projects/my project"),
}


@pytest.mark.parametrize("path", PLANTED)
def test_files_in_odd_places_and_under_odd_names(oracle: Oracle, path: str) -> None:
    name, word = PLANTED[path]
    put(Path(oracle.root.path), path, "{}" if path.lower().endswith("json") else "Words.\n")
    found = only_fault(oracle, name)
    assert word in found.detail
    assert found.severity == "warning"
    repaired(oracle)
    assert only_fault(oracle, name) == found


def test_a_folder_that_may_be_a_seats_is_a_note_and_a_seat_of_the_profile_not_even_that(oracle: Oracle) -> None:
    root = Path(oracle.root.path)
    for seat in ("qa", "attic"):
        put(root, f"projects/arena/{seat}/old.md", "Words.\n")
    init_profile(oracle, "arena", ("memory", "planner", "qa"), repo_root="")
    told = [check for check in oracle.doctor() if check.name == "strays"]
    assert [(check.ok, check.severity) for check in told] == [(True, "note")]
    assert "projects/arena/attic/" in told[0].detail
    Path(oracle.root.profile_file("arena")).write_text("= no")
    assert [check.severity for check in oracle.doctor() if check.name == "strays"] == ["note", "note"]
    assert faults(oracle, "strays") == []


def test_a_name_that_is_not_utf8(oracle: Oracle) -> None:
    Path(oracle.root.path, "projects/arena/builder", os.fsdecode(b"\xff.md")).write_text("Words.")
    assert "\\xff.md: the name is not UTF-8" in faults(oracle, "names")[0].detail


def test_older_layouts_are_noted_and_no_fault(oracle: Oracle) -> None:
    root = Path(oracle.root.path)
    put(root, "projects/arena/decisions/d-1.json", '{"schema_version": 1, "kind": "decision", "title": "Old"}')
    put(root, "credentials.json", "{}")
    assert faults(oracle) == []
    told = said(oracle, "old layouts")
    assert "1 record in a plural folder, read, never written: projects/arena/decisions/d-1.json" in told
    assert "1 flat fact file, read, never written (machine/ wins): credentials.json" in told


# -- what files say ----------------------------------------------------------------------------------------------------


def test_problems_are_named_by_path_and_line(oracle: Oracle) -> None:
    put(Path(oracle.root.path), "projects/arena/builder/bad.json", '{\n"title": ')
    found = only_fault(oracle, "problem")
    assert found.detail.startswith("projects/arena/builder/bad.json:2: ")


def test_many_problems_are_capped_with_a_count(oracle: Oracle) -> None:
    for number in range(130):
        put(Path(oracle.root.path), f"projects/arena/builder/bad-{number}.json", "{")
    found = faults(oracle, "problem")
    assert len(found) == 101
    assert found[-1].detail == "… and 30 more"


@pytest.mark.parametrize(("key", "value"), [("seat", "planner"), ("project", "install")])
def test_frontmatter_that_names_another_folder(oracle: Oracle, key: str, value: str) -> None:
    put(Path(oracle.root.path), "projects/arena/builder/b.md", f"---\ntitle: B\n{key}: {value}\n---\nWords.\n")
    assert (
        f"projects/arena/builder/b.md:3: the frontmatter names the {key} {value}" in only_fault(oracle, "owners").detail
    )


def test_ids_borne_twice(oracle: Oracle) -> None:
    put(Path(oracle.root.path), "projects/arena/builder/copy.md", "---\ntitle: C\nid: notes\n---\nWords.\n")
    put(Path(oracle.root.path), "projects/other/builder/copy.md", "---\ntitle: C\nid: notes\n---\nWords.\n")
    detail = only_fault(oracle, "ids").detail
    assert "projects/arena/builder/copy.md:3" in detail
    assert "projects/arena/builder/notes.md:2" in detail
    assert "other" not in detail


def test_records_of_a_newer_program(oracle: Oracle) -> None:
    put(Path(oracle.root.path), "projects/arena/builder/new.md", "---\nschema_version: 99\ntitle: N\n---\nWords.\n")
    found = only_fault(oracle, "versions")
    assert "new.md:2: schema_version 99" in found.detail
    assert "Upgrade" in found.fix


def test_retirements_that_run_in_a_circle_or_lead_nowhere(oracle: Oracle) -> None:
    root = Path(oracle.root.path)
    for name, target in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("e", "nowhere")):
        put(
            root,
            f"projects/arena/builder/{name}.md",
            f"---\nsupersedes: projects/arena/builder/{target}\n---\nWords.\n",
        )
    circle, unresolved = faults(oracle)
    assert circle.detail.startswith("projects/arena/builder/a.md:2: ")
    assert circle.detail.count(" -> ") == 3
    assert "projects/arena/builder/e.md:2: supersedes projects/arena/builder/nowhere" in unresolved.detail


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3), max_size=6))
def test_a_circle_is_found_exactly_when_there_is_one(after: dict[str, list[str]]) -> None:
    def reaches(start: str) -> bool:
        seen: set[str] = set()
        waiting = list(after.get(start, []))
        while waiting:
            node = waiting.pop()
            if node == start:
                return True
            if node not in seen:
                seen.add(node)
                waiting += after.get(node, [])
        return False

    cycles = records.find_cycles(after)
    assert bool(cycles) == any(map(reaches, after))
    for cycle in cycles:
        assert all(following in after[node] for node, following in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


@pytest.mark.parametrize("path", ["machine/network.json", "credentials.json", "responses/Q-1.json"])
def test_facts_and_responses_that_are_no_json(oracle: Oracle, path: str) -> None:
    put(Path(oracle.root.path), path, '{\n\n"a": ')
    assert f"{path}:3: not valid JSON" in only_fault(oracle, "facts").detail


@pytest.mark.parametrize("path", ["link-patterns.toml", "projects/arena/component-patterns.toml"])
def test_configuration_that_is_no_toml(oracle: Oracle, path: str) -> None:
    put(Path(oracle.root.path), path, "task_prefixes = [")
    assert f"{path}:1: " in only_fault(oracle, "link patterns").detail


SETTINGS = {
    "unknown key": (
        'langauge = "zh"',
        "Unknown setting 'langauge'.",
    ),
    "unknown language": ('language = "deutsch"', "Unknown language 'deutsch'."),
    "language of another type": ('language = ["zh"]', "Unknown language \"['zh']\"."),
    "language in a wide letter": ('language = "ｚｈ"', "Unknown language 'ｚｈ'"),
    "command": ("synthesizer = 3", "The synthesizer in config.toml is not a command."),
    "key of the daemon": ("[daemon]\nhould = true", "daemon.hould = True is not valid."),
    "value of the daemon": ("[daemon]\nseat_lease = 0", "daemon.seat_lease = 0 is not valid."),
    "key of what prompts get": (
        "[injection]\nbypas_session_patterns = []",
        "injection.bypas_session_patterns = [] is not",
    ),
    "value of what prompts get": ('[injection]\nenabled = "no"', "injection.enabled = 'no' is not valid."),
    "no table": ("injection = 1", "injection is not a table."),
    "push": ("[push]\nenable = true", "[push] in config.toml is not valid."),
    "no TOML": ("language = ", "The configuration can't be read"),
    "no UTF-8": ("language = '\udcff'", "The configuration can't be read"),
}


@pytest.mark.parametrize(("text", "said"), SETTINGS.values(), ids=SETTINGS)
def test_a_setting_that_nothing_understands(oracle: Oracle, text: str, said: str) -> None:
    path = Path(oracle.root.path, "config.toml")
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    path.chmod(0o600)
    fault = only_fault(oracle, "settings")
    assert said in fault.detail
    assert "config.toml" in fault.detail
    assert fault.fix


def test_no_check_praises_the_configuration_beside_a_config_toml_that_cannot_be_read(oracle: Oracle) -> None:
    Path(oracle.root.path, "config.toml").write_text("[daemon\nhold = ")
    found = oracle.doctor()
    assert [check.name for check in found if not check.ok] == ["settings"]
    praised = [check for check in found if check.ok and "config" in f"{check.name} {check.detail}"]
    assert praised == []


def test_every_fault_of_the_settings_is_named(oracle: Oracle) -> None:
    Path(oracle.root.path, "config.toml").write_text('a = 1\nb = 2\nlanguage = "x"\n[push]\nc = 3\n[daemon]\nd = 4\n')
    assert [fault.name for fault in faults(oracle)] == ["settings"] * 5


def test_settings_that_are_understood(oracle: Oracle) -> None:
    path = Path(oracle.root.path, "config.toml")
    path.write_text(
        '\ufefflanguage = "zh"\nsynthesizer = ["true"]\n[daemon]\nhold = true\nseat_bound = 60\n[push]\nenabled = true\n'
    )
    path.chmod(0o600)
    assert faults(oracle) == []


def test_a_rule_of_what_must_not_leave_that_can_not_be_used(oracle: Oracle) -> None:
    put(Path(oracle.root.path), "machine/privacy.md", "BLOCK: fine\nBLOCK: (\n")
    fault = only_fault(oracle, "privacy")
    assert fault.detail.startswith("The pattern in machine/privacy.md:2 ")
    assert fault.severity == "error"


def test_lines_of_the_journal_that_are_no_events(oracle: Oracle) -> None:
    with Path(oracle.root.events).open("ab") as stream:
        stream.write(b'no json\n[1]\n{"ts": "2026')
    whole = Path(oracle.root.events).read_bytes().count(b"\n") + 1
    told = [(check.detail.split(": ")[0], check.severity) for check in oracle.doctor() if check.name == "journal"]
    assert told == [
        (f"events.log:{whole}", "warning"),
        (f"events.log:{whole - 2}", "note"),
        (f"events.log:{whole - 1}", "note"),
        (f"events.log:{whole}", "note"),
    ]
    assert "no end" in only_fault(oracle, "journal").detail
    repaired(oracle)


@pytest.mark.parametrize("suffix", ["", ".consumed"])
@pytest.mark.parametrize("text", ["{bad", "", "[]", b"\xff"])
def test_a_receipt_that_can_not_be_read(oracle: Oracle, text: str | bytes, suffix: str) -> None:
    init_profile(oracle, "arena", ["memory", "planner"])
    tasks = Path(oracle.root.tasks, "arena/patrol/handoffs")
    put(tasks, "G-2__planner__memory.json", '{"kind": "dispatch", "task_id": "G-2"}')
    assert not faults(oracle, "receipts")
    path = put(tasks, f"G-1__planner__memory.json{suffix}", text)
    fault = only_fault(oracle, "receipts")
    assert fault.detail.startswith(f"{path}: G-1__planner__memory.json")
    assert "backup" in fault.fix


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("G-1__planner.json", "no program reads it"),
        ("G-1_planner_memory.json", "no program reads it"),
        ("G-1__planner__memory.jsn", "no program reads it"),
        ("G-1__planner__memory.json.consumd", "no program reads it"),
        ("notes.txt", "no program reads it"),
        ("G-1__planer__memory.json", "the team has no seat planer; did you mean planner?"),
        ("G-1__planner__memroy.json", "the team has no seat memroy; did you mean memory?"),
    ],
)
def test_a_file_beside_the_receipts_that_no_program_reads(oracle: Oracle, name: str, said: str) -> None:
    init_profile(oracle, "arena", ["memory", "planner"])
    tasks = Path(oracle.root.tasks, "arena/patrol/handoffs")
    known = '{"kind": "dispatch", "task_id": "G-2"}'
    left = ["G-2__planner__memory.json.claim", "G-2__planner__memory.json.superseded-0123456789ab", ".receipts.lock"]
    for kept in ("G-2__planner__memory.json", "G-3__operator__memory.json", "notices/any.json", *left):
        put(tasks, kept, known)
    assert not faults(oracle, "receipts")
    path = put(tasks, name, known)
    fault = only_fault(oracle, "receipts")
    assert fault.detail.startswith(f"{path}: {said}")
    assert fault.fix.startswith("Correct its name")


@pytest.mark.parametrize("name", ["Q-1.txt", "Q-1", "Q 1.json", "-1.json"])
def test_a_file_beside_the_responses_that_no_program_reads(oracle: Oracle, name: str) -> None:
    for kept in ("Q-1.json", "Q-1.conflict-0123456789ab.json", ".responses.lock"):
        put(Path(oracle.root.responses), kept, "{}")
    assert not faults(oracle, "receipts")
    path = put(Path(oracle.root.responses), name, "{}")
    assert only_fault(oracle, "receipts").detail.startswith(f"{path}: no program reads it; the names are <task>.json")


# -- clock, file system, programs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["projects/arena/builder/notes.md", "projects/arena/builder"])
def test_times_of_the_future(oracle: Oracle, path: str) -> None:
    future = time.time_ns() + TEN_YEARS_NS
    os.utime(Path(oracle.root.path, path), ns=(future, future))
    assert f"{path} was changed in the future" in "".join(check.detail for check in faults(oracle, "times"))


def test_a_clock_that_is_behind(oracle: Oracle) -> None:
    put(Path(oracle.root.path), "projects/arena/builder/b.md", "---\nts: 2999-01-01T00:00:00Z\n---\nWords.\n")
    assert "projects/arena/builder/b.md:1 is dated 2999-01-01" in only_fault(oracle, "clock").detail
    oracle.clock = Clock(at_ns=1_000_000_000)
    assert faults(oracle, "clock")[0].severity == "error"


def test_the_kind_of_a_file_system_is_that_of_the_innermost_mount(tmp_path: Path) -> None:
    inner = tmp_path / "with blank"
    inner.mkdir()
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"dev / ext4 rw 0 0\nhost:/x {str(inner).replace(' ', chr(92) + '040')} nfs4 rw 0 0\ndev {tmp_path}/with tmpfs rw 0 0\n"
    )
    assert machine.file_system_of(str(inner / "memory"), str(mounts)) == "nfs4"
    assert machine.file_system_of(str(tmp_path), str(mounts)) == "ext4"
    assert machine.file_system_of(str(tmp_path), str(tmp_path / "none")) == ""


@pytest.mark.parametrize(("kind", "word"), [("nfs4", "shared memory"), ("9p", "9p"), ("vfat", "hard links")])
def test_file_systems_that_lack_something(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, kind: str, word: str
) -> None:
    monkeypatch.setattr(machine, "file_system_of", lambda path: kind)
    assert word in said(oracle, "flock") + said(oracle, "disk")


def test_a_file_system_without_flock(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int, operation: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(machine.fcntl, "flock", refuse)
    assert "knows no flock: Operation not supported" in faults(oracle, "flock")[0].detail


def test_a_disk_that_is_nearly_full(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.statvfs_result((4096, 4096, 1_000_000, 100, 100, 1_000_000, 10, 10, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda path: full)
    space, inodes = faults(oracle, "disk")
    assert "inodes" in inodes.detail
    state = Path(oracle.root.state)
    kept = {put(state, name, "{}") for name in ("inbox/intent.json", "proposals/arena/T-1.md", "hub.json")}
    gone = [put(state, f"{name}.db{end}", "") for name in ("oracle", "vectors") for end in ("", "-wal", "-shm")]
    subprocess.run(["sh", "-c", space.fix[space.fix.index("rm ") :]], check=True)
    assert all(path.exists() for path in kept)
    assert not any(path.exists() for path in gone)


def test_a_root_that_is_mounted_read_only(tmp_path: Path) -> None:
    """Only a private mount is made read-only; the first line must say so, and nothing advises what is impossible there."""
    disk = Disk(tmp_path / "disk")
    try:
        with Oracle.open(str(disk.path / "memory")) as oracle:
            oracle.init()
            oracle.write(Draft("decision", "arena", "Take the left door", "It is open."))
            oracle.close()
            disk.spoil("read-only")
            checks = oracle.doctor()
    finally:
        disk.close()
    assert (checks[0].name, checks[0].severity) == ("disk", "error")
    assert "mounted read-only" in checks[0].detail
    assert not [check for check in checks if "rm -r" in check.fix or ("lock" in check.name and not check.ok)]


# -- the private copy --------------------------------------------------------------------------------------------------


def test_a_copy_leaves_nothing_behind_and_a_full_disk_is_said(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    oracle.write(Draft("decision", "arena", "Third", "Written while the log is open, for ARENA-7."))
    places = [tmp_path / "temporary", tmp_path / "in memory"]  # of our own: others write in those of the system
    for place in places:
        place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(places[0]))
    monkeypatch.setattr(snapshot, "_IN_MEMORY", str(places[1]))
    copy = snapshot.take(oracle.root).database
    assert copy.connect().execute("SELECT count(*) FROM record WHERE title = 'Third'").fetchone() == (1,)
    copy.connect().execute("DELETE FROM record")
    copy.close()
    assert [list(place.iterdir()) for place in places] == [[], []]
    assert faults(oracle) == []

    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    assert "no folder for temporary files has room for a copy" in said(oracle, "index")
    assert [list(place.iterdir()) for place in places] == [[], []]


HARMS = {
    "UPDATE record SET title = 'Another'": "fields",
    "UPDATE edge SET snippet = 'other'": "edges",
    "DELETE FROM reference": "references",
    "UPDATE passage SET body = 'other words'": "text",
}


@pytest.fixture
def large(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> Oracle:
    """Give a Root that counts as large, with 40 records more."""
    monkeypatch.setattr(diagnosis, "LARGE", 20)
    monkeypatch.setattr(diagnosis, "SAMPLE", 15)
    for number in range(40):
        text = f"---\nid: twice\nproject: other\n---\n# Title {number}\n\nFor ARENA-{number}, see [[first]].\n"
        put(Path(oracle.root.path), f"projects/arena/builder/n{number}.md", text)
    oracle.reconcile()
    edit_index(oracle, "UPDATE record SET racy = 0")  # as of files that are old, and so not read again for their age
    return oracle


@pytest.mark.parametrize(("sample", "most"), [(15, 1), (1_000, 1), (0, 2)], ids=["sampled", "all sampled", "small"])
def test_the_text_of_a_record_is_read_once(large: Oracle, sample: int, most: int) -> None:
    """In a small Root, which is compared with a rebuild, it is read once more for its frontmatter."""
    read, counted = store_records.read, Counter[str]()

    def counting(path: str) -> bytes:
        counted[path] += 1
        return read(path)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store_records, "read", counting)
        patched.setattr(diagnosis, "LARGE", 20 if sample else 1_000)
        patched.setattr(diagnosis, "SAMPLE", sample)
        assert {check.name for check in faults(large)} == {"ids", "owners"}  # the heads were looked at
    assert set(counted.values()) == {most}
    assert len(counted) == (sample if sample == 15 else 43)


@pytest.mark.parametrize("count", [3, 30])
def test_the_tree_keeps_what_a_check_looks_at_and_not_each_record(large: Oracle, count: int) -> None:
    before = len(walk(large.root, time.time_ns()).entries)
    for number in range(count):
        put(Path(large.root.path), f"projects/arena/builder/more-{number}.md", "Words.\n")
    age(Path(large.root.path))
    assert len(walk(large.root, time.time_ns()).entries) == before
    for name, mode in (("odd name.md", 0o600), ("x.json", 0o600), ("shut.md", 0o200)):
        put(Path(large.root.path), f"shared/patterns/{name}", "{}").chmod(mode)
    put(Path(large.root.path), "projects/arena/_index/open.md", "").chmod(0o644)
    assert "projects/arena/_index/open.md" in {entry.path for entry in walk(large.root, time.time_ns()).derived}
    kept = {entry.path for entry in walk(large.root, time.time_ns()).entries}
    assert {f"shared/patterns/{name}" for name in ("odd name.md", "x.json", "shut.md")} <= kept
    assert "shared/patterns/later.md" not in kept
    put(Path(large.root.path), "shared/patterns/later.md", "Words.\n")
    assert "shared/patterns/later.md" in {entry.path for entry in walk(large.root, 1).entries}


@pytest.mark.parametrize("side", ["_links", "_backlinks"])
def test_a_sample_of_large_projections_is_a_smaller_one(
    large: Oracle, side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection_checks, "_AVERAGE", 1)
    for file in Path(large.root.path, side).glob("*.jsonl"):
        file.write_bytes(b"{}\n")
    assert 1 <= len(diagnose(large.root, now_ns=time.time_ns()).stale) < 15
    monkeypatch.setattr(projection_checks, "_AVERAGE", 1_000_000)
    assert len(diagnose(large.root, now_ns=time.time_ns()).stale) == 15


@pytest.mark.parametrize("side", ["_links", "_backlinks"])
def test_the_owners_of_stale_projections_are_looked_for_once(
    large: Oracle, side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    monkeypatch.setattr(index, "flatten", lambda name: counted.append(name) or flatten(name))
    for file in Path(large.root.path, side).glob("*.jsonl"):
        file.unlink()
    put(Path(large.root.path), f"{side}/stray.jsonl", "{}")
    assert "(1 of them stray)" in said(large, "projections")
    assert len(counted) <= 2 * len(set(counted))  # a record is a target too


def test_a_large_root_is_compared_by_a_sample(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "LARGE", 20)
    monkeypatch.setattr(diagnosis, "SAMPLE", 15)
    for number in range(40):
        put(
            Path(oracle.root.path),
            f"projects/arena/builder/n{number}.md",
            f"# Title {number}\n\nFor ARENA-{number}, see [[first]].\n",
        )
    oracle.reconcile()
    assert faults(oracle) == []
    assert "of 15 chosen at random" in said(oracle, "index")
    for statement, aspect in HARMS.items():
        with sqlite3.connect(oracle.root.database) as connection:
            connection.execute(statement)
        connection.close()
        assert aspect in said(oracle, "index")
        oracle.reconcile(rebuild=True)
        assert faults(oracle) == []
    (Path(oracle.root.path) / "_links/projects__arena__builder__n7.jsonl").unlink()
    (Path(oracle.root.path) / "_backlinks/stray.jsonl").write_text("{}")
    assert "2 files are missing, stale or stray" in said(oracle, "projections")


# -- checks as values --------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["error", "warning", "note"]))))
def test_checks_are_ordered_worst_first(kinds: list[tuple[bool, str]]) -> None:
    checks = in_order([Check("n", ok, "", "", severity) for ok, severity in kinds])
    assert sorted(map(repr, checks)) == sorted(repr(Check("n", ok, "", "", severity)) for ok, severity in kinds)
    assert [check.ok for check in checks] == sorted(check.ok for check in checks)


@given(st.text())
def test_a_detail_is_one_printable_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len((line + "x").splitlines()) == 1


@given(st.integers(min_value=0, max_value=60))
def test_a_capped_check_counts_what_it_leaves_out(number: int) -> None:
    found = list(capped(warning("n", str(index), "mend") for index in range(number)))
    assert len(found) == min(number, CAP + 1)
    if number > CAP:
        assert found[-1].detail == f"… and {number - CAP} more"


@pytest.mark.parametrize("name", ["events.log", "index.json", "projects/arena/_index/files.json"])
def test_a_file_without_an_end_is_not_read_to_it(oracle: Oracle, name: str) -> None:
    path = Path(oracle.root.join(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.truncate(100 << 30)
    named = [check.name for check in doctor.examine(oracle) if not check.ok]
    assert named == (["journal"] if name == "events.log" else [])
