"""What the quick programs import: every module costs each run its time, so a new one is a decision, not an accident.

The lists in `tests/startup/` hold the top-level names that a program imports beyond a bare interpreter. Renew them with
`.venv/bin/python -m tests.test_startup` and look at the difference before it is committed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
LISTS = CHECKOUT / "tests" / "startup"
RENEW = ".venv/bin/python -m tests.test_startup"
RECORD = "projects/q/decision/a.md"
PROMPT = "See ARENA-228 before you begin"

PROGRAMS: dict[str, tuple[str, ...]] = {
    "query_memory-backlinks": ("scripts/query_memory.py", "--backlinks", "entity:taskid:ARENA-228"),
    "memory_write-dry-run": (
        *("scripts/memory_write.py", "--kind", "decision", "--project", "q", "--author", "builder"),
        *("--title", "Lock", "--body", "See ARENA-228 and src/lock.py.", "--dry-run"),
    ),
    "memory_write": (
        *("scripts/memory_write.py", "--kind", "decision", "--project", "q", "--author", "builder"),
        *("--title", "Lock", "--body", "See ARENA-228 and src/lock.py."),
    ),
    "prompt_hook": (
        "tests/startup/prompt_hook.py",
        json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": PROMPT}),
    ),
}
LINKS = {"oracle.domain.markdown.masks", "oracle.domain.tables"} | {
    f"oracle.domain.links.{name}" for name in ("addresses", "entities", "extraction", "references", "vocabulary")
}
"""What reads links out of a text, and is of no use to a program that reads none."""

COSTLY = frozenset(
    "asyncio concurrent dataclasses email frontmatter http inspect jsonschema logging multiprocessing pathlib rich shutil socket"
    " ssl subprocess tempfile tomllib typer typing urllib yaml".split()
)
"""Names that may not creep in on any version of Python, although the lists are exact on one version only."""


def settle(root: Path) -> None:
    """Bring the index of a Root with one record up to date, so that a read finds nothing to do but to read."""
    from oracle.api import Oracle
    from oracle.index.db import immediate, set_meta
    from oracle.index.fresh import CHEAP_NS

    path = root / RECORD
    path.parent.mkdir(parents=True)
    path.write_text("See ARENA-228.\n", encoding="utf-8")
    for place in (path, *list(path.parents)[:3]):
        os.utime(place, (1, 1))
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        connection = oracle.index.database.connect()
        with immediate(connection):
            connection.execute("UPDATE record SET racy = 0")
            set_meta(connection, "full_look", f"{time.time_ns()} {CHEAP_NS}")  # it holds longer than a slow start takes


def modules(*words: str) -> set[str]:
    """Return the dotted names of the modules that an interpreter run with these words imports."""
    command = [sys.executable, "-X", "importtime", *words]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines[1:]}


def imported(name: str, root: Path) -> set[str]:
    """Return what a program imports beyond a bare interpreter; the Root has to be settled."""
    script, *words = PROGRAMS[name]
    return modules(script, "--memory-dir", str(root), *words) - modules("-c", "")


def top_level(names: set[str]) -> set[str]:
    """Return the public top-level names; the private ones belong to them and differ from version to version."""
    tops = {name.partition(".")[0] for name in names} - {"org"}  # `copy` looks for a module of Jython's
    return {top for top in tops if not top.startswith("_")}


def read_list(name: str) -> tuple[str, set[str]]:
    """Return the version of Python that a list was made with, and its names."""
    version, *names = (LISTS / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    return version.removeprefix("# Python "), {line for line in names if line}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_imports_what_its_list_says(name: str, root: Path):
    settle(root)
    version, listed = read_list(name)
    found = top_level(imported(name, root))
    is_exact = version == running_version()
    new, gone = found - listed, listed - found
    if not is_exact:
        new, gone = new & COSTLY, set()
    assert not new, (
        f"{name} imports {', '.join(sorted(new))}, which its list does not hold. Import it in the function that needs it "
        f"(`python -X importtime` shows by whom it is imported); if every run needs it, renew the list with `{RENEW}`."
    )
    assert not gone, f"{name} no longer imports {', '.join(sorted(gone))}: renew its list with `{RENEW}`."


@pytest.mark.parametrize("name", ["query_memory-backlinks", "memory_write-dry-run"])
def test_a_program_that_reads_no_links_does_not_load_what_does(name: str, root: Path):
    settle(root)
    assert not imported(name, root) & LINKS


def running_version() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def renew() -> None:
    """Write the lists anew from what the programs import now."""
    LISTS.mkdir(exist_ok=True)
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            settle(Path(folder))
            names = sorted(top_level(imported(name, Path(folder))))
        (LISTS / f"{name}.txt").write_text("\n".join([f"# Python {running_version()}", *names, ""]), encoding="utf-8")


if __name__ == "__main__":
    renew()
