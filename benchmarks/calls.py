"""Count the code that somebody reads who follows one call from its entry to the disk.

    benchmarks/calls.py [--json] [--walk] [NAME…]

Each call runs once in its own process, on a small Root made for it. Counted are the functions of `oracle/` that the call enters, in
every thread: how many files they are in, how many lines these files have, how deep the functions stack. Code that runs while a
module is imported does not count, nor the compiling that importing a value puts off. The counts do not depend on the machine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NoReturn

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))

from oracle.api import Oracle  # noqa: E402
from oracle.app.delivery.team import init_profile  # noqa: E402

PACKAGE = f"{CHECKOUT}{os.sep}oracle{os.sep}"
IS_FUNCTION = 0x1
"""The flag of code that is neither a module nor the body of a class."""

PUT_OFF = "value.<locals>.first"
"""The function that compiles the initialiser of a value for its first instance."""

LATER = 3600
"""Seconds by which the clock is ahead in a call, so that no file is young."""

PROJECT, TASK, SEATS = "shop", "Q-1", ("memory", "planner", "builder", "reviewer")
PROFILE = f".agents/profiles/{PROJECT}-profile-dynamic.toml"
QUESTION = "Does the cache keep a page for an hour?"
RECORDS = (
    ("One write lock", "Writers of the index take one lock, see src/lock.py. Readers take none. ARENA-228."),
    ("Retries wait longer each time", "A failed order is tried again after 1 s, 2 s and 4 s. ARENA-228."),
    ("The cache keeps a page for an hour", "The cache keeps a page for an hour, since prices change often."),
    ("The queue is one file a job", "A worker takes a job by renaming its file. See [[one-write-lock]]."),
    ("Backups run at night", "The backup copies the database file by file. ARENA-229."),
)


class Walk:
    """The functions of `oracle/` that are entered while it is on."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str, int], None] = {}
        self.deepest = 0
        self._thread = threading.local()

    @contextmanager
    def on(self) -> Iterator[None]:
        """Watch this thread and every thread that starts meanwhile."""
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return"):
            return
        thread, code, step = self._thread, frame.f_code, 1 if event == "call" else -1
        if code.co_name == "<module>" or code.co_qualname == PUT_OFF:
            thread.imports = getattr(thread, "imports", 0) + step
        elif is_ours(code) and not getattr(thread, "imports", 0):
            thread.depth = getattr(thread, "depth", 0) + step
            if event == "call":
                self.functions[code.co_filename, code.co_qualname, code.co_firstlineno] = None
                self.deepest = max(self.deepest, thread.depth)

    def as_json(self) -> dict[str, Any]:
        """Return the counts, and the functions of each file."""
        walk: dict[str, list[str]] = {}
        for file, name, _ in self.functions:
            walk.setdefault(os.path.relpath(file, CHECKOUT), []).append(name)
        lines = sum(len((CHECKOUT / file).read_bytes().splitlines()) for file in walk)
        counts = {"files": len(walk), "functions": len(self.functions), "lines": lines, "deepest": self.deepest}
        return {**counts, "walk": walk}


def is_ours(code: CodeType) -> bool:
    """Tell whether code is a function of `oracle/`. Comprehensions do not count, since newer Pythons inline them."""
    is_function = code.co_flags & IS_FUNCTION and code.co_name not in ("<listcomp>", "<setcomp>", "<dictcomp>")
    return bool(is_function) and code.co_filename.startswith(PACKAGE)


# The calls ------------------------------------------------------------------------------------------------------------


def run_command(module: str, *words: str) -> int:
    """Run a command as its script does; return its exit code."""
    sys.argv = [module.rpartition(".")[2], *words]
    code: int = importlib.import_module(f"oracle.{module}").run()
    return code


def run_round() -> int:
    """Run one round of the daemon; return 0 when it answered the question that waits."""
    from oracle.daemon.serve import Daemon

    root = Oracle.open().root
    Daemon(root).once()
    return int(not Path(root.path, "responses", f"{TASK}.json").exists())


ORACLE, WRITE, DELIVER, QUERY = "cli.main", "compat.memory_write", "compat.memory_deliver", "compat.query_memory"
DRAFT = ("--project", PROJECT, "--title", "Orders are numbered", "--body", "See ARENA-228 and src/order.py.")
ANSWER = ("--task-id", TASK, "--target", "planner", "--response-inline", '{"answer": "An hour."}')
CALLS: dict[str, tuple[int, Callable[[], int]]] = {
    "memory_write": (45, partial(run_command, WRITE, "--kind", "decision", "--author", "builder", *DRAFT)),
    "oracle write": (45, partial(run_command, ORACLE, "write", "decision", *DRAFT)),
    "oracle search": (50, partial(run_command, ORACLE, "search", "cache", "page")),
    "oracle ask --now": (60, partial(run_command, ORACLE, "ask", "--now", QUESTION)),
    "memory_deliver": (40, partial(run_command, DELIVER, "--profile", PROFILE, *ANSWER)),
    "a daemon round": (90, run_round),
    "query_memory --backlinks": (16, partial(run_command, QUERY, "--backlinks", "entity:taskid:ARENA-228")),
}
"""What is run, and how many files it may enter at most."""


def make_stage() -> None:
    """Make a Root with records, a team and an open question."""
    with Oracle.open() as oracle:
        oracle.init()
        init_profile(oracle, PROJECT, SEATS)
        folder = Path(oracle.root.path, "projects", PROJECT, "decision")
        folder.mkdir(parents=True)
        for number, (title, body) in enumerate(RECORDS):
            stamp = f"2026-04-0{number + 1}T10-00-00Z"
            text = f'---\ntitle: "{title}"\nkind: decision\nts: "{stamp[:10]}T10:00:00Z"\n---\n\n# {title}\n\n{body}\n'
            (folder / f"{stamp}-{title.lower().replace(' ', '-')}.md").write_text(text, encoding="utf-8")
        run_command(
            ORACLE, "ask", QUESTION, "--project", PROJECT, "--from", "planner", "--task-id", TASK, "--no-notify"
        )
        oracle.reconcile()
        connection = oracle.index.database.connect()
        connection.execute("UPDATE record SET racy = 0")
        connection.execute("DELETE FROM meta WHERE key = 'full_look'")


def walk_here(name: str) -> dict[str, Any]:
    """Walk a call in this process. Raises RuntimeError when the call fails."""

    def end(code: int) -> NoReturn:
        sys.exit(code)

    os._exit = end  # type: ignore[assignment]  # commands end their process at once
    now, now_ns = time.time, time.time_ns
    time.time, time.time_ns = lambda: now() + LATER, lambda: now_ns() + LATER * 10**9
    walk = Walk()
    code: int | str | None
    with walk.on():
        try:
            code = CALLS[name][1]()
        except SystemExit as ended:
            code = ended.code
    if code not in (None, 0):
        raise RuntimeError(f"{name} ended with {code}")
    return walk.as_json()


def walk(name: str) -> dict[str, Any]:
    """Return what a call enters, from a process of its own."""
    home = Path(tempfile.gettempdir(), f"oracle-calls-{os.getpid()}")  # no letters by chance: guards read this name too
    home.mkdir(mode=0o700)
    try:
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "TZ": "UTC", "ORACLE_TMUX_SOCKET": f"{home}/none"}
        made = home / "walk.json"
        for words in ((), (name,)):  # first the stage: what its process has loaded would not be entered again
            command = [sys.executable, __file__, "--into", str(made), *words]
            done = subprocess.run(command, env=environ, cwd=home, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{name or 'the stage'} failed:\n{done.stdout}{done.stderr}")
        found: dict[str, Any] = json.loads(made.read_text(encoding="utf-8"))
        return {"bar": CALLS[name][0], **found}
    finally:
        shutil.rmtree(home)


def main() -> int:
    """Print a table; return 1 when a call enters more files than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(CALLS)} (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--walk", action="store_true", help="name the files and functions too")
    parser.add_argument("--into", metavar="FILE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.into:
        if given.names:
            Path(given.into).write_text(json.dumps(walk_here(given.names[0])), encoding="utf-8")
        else:
            make_stage()
        return 0
    found = {name: walk(name) for name in given.names or CALLS}
    if given.json:
        keys = ("bar", "files", "functions", "lines", "deepest", "walk")[: 6 if given.walk else 5]
        print(json.dumps({name: {key: one[key] for key in keys} for name, one in found.items()}, indent=1))
    else:
        print_table(found)
    for name, one in found.items() if given.walk and not given.json else ():
        for file, functions in one["walk"].items():
            print(f"{name}\t{file}\t{', '.join(functions)}")
    return int(any(one["files"] > one["bar"] for one in found.values()))


def print_table(found: dict[str, dict[str, Any]]) -> None:
    """Print one row a call, in Markdown."""
    print("| call | files | bar | functions | lines in the files | deepest stack |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, one in found.items():
        print(
            f"| {name} | {one['files']} | ≤ {one['bar']} | {one['functions']} | {one['lines']:,} | {one['deepest']} |"
        )


if __name__ == "__main__":
    sys.exit(main())
