#!/usr/bin/env python3
"""Run the main job on real records and show every command with what it printed.

Without options the records are those of this project (references/kb); with --corpus DIR any folder of Markdown. Either is
copied to a temporary Root that is removed at the end, so nothing here or there is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "scripts")]

from _bootstrap import EXIT_UNEXPECTED, WAY_OUT  # noqa: E402 - the checkout has to be on the path
from _corpus import lay_out, printable  # noqa: E402 - the checkout has to be on the path

from oracle.domain.names import check_name  # noqa: E402
from oracle.errors import InvalidName  # noqa: E402

KB = CHECKOUT / "references" / "kb"
DERIVED = ("_state", "_links", "_backlinks", "_index", "index.json", ".gitignore")
MAX_LINES = 40
BODY = "The main job is demonstrated on a copy, so that no record of yours changes."
QUESTION = "Why is the main job demonstrated on a copy?"
TASK = "DEMO-1"
_START = "import sys; from oracle.cli.main import run; sys.exit(run())"
_HAN = re.compile("[\u4e00-\u9fff]{2,}")
_WORD = re.compile("[A-Za-z]{4,}")


@dataclass(frozen=True, slots=True)
class Targets:
    """What the job asks about; empty texts are chosen from the data, or their step is left out when there is nothing."""

    project: str
    entity: str
    record: str
    english: str
    chinese: str
    superseded: str


OF_THE_PROJECT = Targets(
    project="oracle",
    entity="entity:taskid:ORACLE-9",
    record="projects/oracle/decision/2026-11-28T01-03-40-000000Z-young-folders-are-compared-name-by-name",
    english="why is the database disposable",
    chinese="疑似密钥",
    superseded="projects/oracle/decision/2026-11-28T00-31-30-000000Z-a-folder-whose-time-stands-still-is-unchanged",
)


class Demo:
    """One run on one Root: every step is a process of its own, and `failed` names those that did not end as they should."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.failed: list[str] = []
        self._number = 0
        self._python = _interpreter()
        installed = Path(self._python).with_name("oracle")
        self._oracle = [str(installed)] if os.access(installed, os.X_OK) else [self._python, "-c", _START]
        self._environment = {
            **os.environ,
            "ORACLE_ROOT": str(root),
            "PYTHONPATH": str(CHECKOUT),
            "PYTHONIOENCODING": "utf-8",
            "NO_COLOR": "1",
        }

    def step(self, title: str, *words: str, codes: Sequence[int] = (0,)) -> str:
        """Show a command line and its output, cut to MAX_LINES, and return what it printed; `codes` are the good ends."""
        self._number += 1
        say(f"\n## {self._number}. {title}\n\n$ {printable(shlex.join(words))}")
        done = self._run(words)
        output = _text(done.stdout)
        lines = (output + _text(done.stderr)).rstrip("\n").split("\n")
        say("\n".join(lines[:MAX_LINES]))
        if len(lines) > MAX_LINES:
            say(f"… {len(lines) - MAX_LINES} more lines")
        if done.returncode not in codes:
            self.fail(f"step {self._number} ended with exit code {done.returncode}: {title}")
        return output

    def ask(self, *words: str) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON answer of a command that is not shown."""
        try:
            return json.loads(_text(self._run(("oracle", *words, "--json")).stdout))
        except ValueError:
            return {}

    def fail(self, sentence: str) -> None:
        """Say that something is not as it should be."""
        self.failed.append(sentence)
        say(f"!! {sentence}")

    def _run(self, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        first, rest = words[0], list(words[1:])
        command = [*self._oracle, *rest] if first == "oracle" else [self._python, str(CHECKOUT / first), *rest]
        return subprocess.run(
            command, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )


def say(text: str) -> None:
    """Print at once, so that a reader sees the steps as they happen."""
    print(text, flush=True)


def _interpreter() -> str:
    of_checkout = CHECKOUT / ".venv" / "bin" / "python"
    return str(of_checkout) if os.access(of_checkout, os.X_OK) else sys.executable


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


# What to ask about ----------------------------------------------------------------------------------------------------


def choose(demo: Demo) -> Targets | None:
    """Choose from the data: the task most mentioned, the record most linked, words of the longest titles; None for no data."""
    records = demo.ask("list").get("records", [])
    if not records:
        return None
    tasks = demo.ask("list", "--entities", "--namespace", "taskid", "--top", "20").get("entities", [])
    entities = [str(task["entity"]) for task in tasks if _may_be_written(str(task["entity"]))]
    record = _most_linked(demo.root) or str(records[0]["slug"])
    superseded = [entry["slug"] for entry in records if entry["status"] == "superseded" and entry.get("chain")]
    return Targets(
        project=record.split("/")[1],
        entity=entities[0] if entities else record,
        record=record,
        english=_longest(" ".join(_WORD.findall(entry["title"])[:3]) for entry in records),
        chinese=_longest(run[:4] for entry in records for run in _HAN.findall(entry["title"])),
        superseded=str(superseded[0]) if superseded else "",
    )


def _may_be_written(task: str) -> bool:
    """Return whether Memory may write the id of a task that somebody else mentioned."""
    try:
        return bool(check_name(task.removeprefix("entity:taskid:"), "task id"))
    except InvalidName:
        return False


def _most_linked(root: Path) -> str:
    """Return the record with the most lines in `_backlinks/`, the first of equals, "" when none is linked."""
    best, most = "", 0
    for path in sorted((root / "_backlinks").glob("projects__*.jsonl")):
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        if len(lines) > most and (root / f"{json.loads(lines[0])['to']}.md").is_file():
            best, most = str(json.loads(lines[0])["to"]), len(lines)
    return best


def _longest(texts: Iterable[str]) -> str:
    return max(texts, key=lambda text: (len(text), text), default="")


# The job --------------------------------------------------------------------------------------------------------------


def run_job(demo: Demo, targets: Targets | None) -> None:
    """Run the steps in order; without targets they are chosen from the data, and the doctor may find its faults."""
    demo.step("What the Root holds", "oracle", "index", "status")
    wanted = targets or choose(demo)
    if wanted is None:
        demo.fail("no record was read")
        return
    demo.step("Who mentions this?", "scripts/query_memory.py", "--backlinks", wanted.entity)
    _show_graph(demo, wanted.record)
    _search(demo, wanted)
    if wanted.superseded:
        _show_chain(demo, wanted.superseded)
    demo.step("Links to records that are not there (yet)", "oracle", "check", "--only", "unresolved")
    written = _write(demo, wanted)
    if written:
        _ask_and_answer(demo, wanted.project, f"{written}.md")
    if not wanted.superseded and written:
        words = ["--project", wanted.project, "--title", "Demonstrate again", "--body", "It holds now."]
        words.append(f"--supersedes={written}")
        demo.step("A newer decision takes the place of that one", "oracle", "write", "decision", *words)
        _show_chain(demo, written)
    demo.step("The verdict of the doctor", "oracle", "doctor", codes=(0,) if targets else (0, 1))


def _show_graph(demo: Demo, record: str) -> None:
    words = ("oracle", "graph", record, "--direction", "both")
    demo.step("What hangs together with this record", *words)
    demo.step("The same as a drawing (Mermaid)", *words, "--format", "mermaid")


def _search(demo: Demo, wanted: Targets) -> None:
    for language, words in (("English", wanted.english), ("Chinese", wanted.chinese)):
        if words:
            demo.step(f"A search in {language}", "oracle", "search", words, "--limit", "3")
        else:
            say(f"\n(No title has words in {language}: that search is left out.)")


def _show_chain(demo: Demo, slug: str) -> None:
    demo.step(
        "A decision that no longer holds: its bytes are untouched, the chain names what does", "oracle", "show", slug
    )
    demo.step("What took the place of what", "oracle", "list", "--status", "superseded")


def _write(demo: Demo, wanted: Targets) -> str:
    """Write a record that mentions the entity, look at its backlinks again, and return the slug ("" when none came)."""
    task = wanted.entity.removeprefix("entity:taskid:")
    about = f"--task-id={task}" if task != wanted.entity else f"--supports={wanted.entity}"
    words = ("--project", wanted.project, "--title", "Demonstrate the main job", about, "--body", BODY)
    printed = demo.step("Memory writes a record about it", "oracle", "write", "decision", *words)
    path = Path(printed.strip().split("\n")[0])
    slug = path.relative_to(demo.root).as_posix().removesuffix(".md") if demo.root in path.parents else ""
    again = demo.step(
        "The same question again: the new record is there at once",
        "scripts/query_memory.py",
        "--backlinks",
        wanted.entity,
    )
    if not slug or slug not in again:
        demo.fail("the new record is not among the backlinks")
    return slug


def _ask_and_answer(demo: Demo, project: str, path: str) -> None:
    """Ask about the new record from disk, then let one seat ask another, answer and acknowledge."""
    of_project = ("--project", project)
    demo.step("A question answered from disk", "oracle", "ask", "--now", *of_project, QUESTION, codes=(0, 9))
    demo.step("A project with seats", "oracle", "project", "init", project, "--seats", "memory,planner")
    task = (*of_project, "--task-id", TASK, "--no-notify")
    demo.step("The planner asks the memory seat", "oracle", "ask", *task, "--from", "planner", QUESTION)
    evidence = [{"path": path, "quote": "so that no record of yours changes"}]
    claim = {"statement": "It works on a copy.", "evidence": evidence}
    response = json.dumps({"answer": "So that no record of yours changes.", "claims": [claim]})
    demo.step(
        "Memory delivers an answer; its quote is looked up in the record",
        *("oracle", "deliver", *task, "--to", "planner", "--response-inline", response),
    )
    ends = ("--from", "memory", "--to", "planner")
    demo.step("The planner has read it", "oracle", "ack", TASK, *of_project, *ends)
    demo.step("How the handoff ended", "oracle", "handoffs", *of_project)


# The Root -------------------------------------------------------------------------------------------------------------


def fill(root: Path, corpus: str | None) -> None:
    """Put the records into the temporary Root and say what was done. Raises SystemExit for a folder without Markdown."""
    if corpus is None:
        shutil.copytree(KB, root, ignore=shutil.ignore_patterns(*DERIVED), dirs_exist_ok=True)
        root.chmod(0o700)
        say("The knowledge base of this project, copied to a temporary Root; the checkout is not touched.")
    else:
        _fill_from(Path(corpus), root)
    say(f"export ORACLE_ROOT={root}")


def _fill_from(corpus: Path, root: Path) -> None:
    if not corpus.is_dir():
        raise SystemExit(
            f"error: {printable(str(corpus))} is not a folder.\nhint: Name a folder of Markdown files with --corpus."
        )
    count, left_out = lay_out(corpus, root)
    if not count:
        raise SystemExit(
            f"error: {printable(str(corpus))} holds no Markdown file.\nhint: Files named .md, .mdx and .markdown are read."
        )
    say(
        f"{count} documents of {printable(str(corpus))}, laid out as records of seats in a temporary Root; they are not touched."
    )
    for line in left_out:
        say(f"left out: {line}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demonstration and return the exit code: 0; 1 for a failed step, 2 for an unusable corpus, 70 without typer."""
    parser = argparse.ArgumentParser(prog="demo", description="Run the main job on real records and show it.")
    parser.add_argument(
        "--corpus", metavar="DIR", help="a folder of Markdown (default: the project's own knowledge base)"
    )
    args = parser.parse_args(argv)
    if _interpreter() == sys.executable and find_spec("typer") is None:
        print(f"error: typer is not installed for {sys.executable}: {WAY_OUT}", file=sys.stderr)
        return EXIT_UNEXPECTED
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory(prefix="oracle-demo-") as folder:
        root = Path(folder).resolve()
        try:
            fill(root, args.corpus)
        except SystemExit as refusal:
            print(refusal, file=sys.stderr)
            return 2
        demo = Demo(root)
        run_job(demo, OF_THE_PROJECT if args.corpus is None else None)
    say(
        f"\n{len(demo.failed)} steps failed."
        if demo.failed
        else "\nEvery step ended as it should; the temporary Root is removed."
    )
    return 1 if demo.failed else 0


def run() -> int:
    """Run on the words of the process; 130 for an interrupt, quiet when the reader of a pipe has gone."""
    try:
        return main()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


if __name__ == "__main__":
    sys.exit(run())
