"""Measure a source of Claude Code's memories: the first query, and later ones against a Root that holds the same files itself.

    benchmarks/sources.py [--memories 4000] [--times 9]

Each query is a process of its own. The files of the source are made as that client writes them: a topic, its type, a few sentences.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
sys.path.insert(0, str(HERE))

import corpus  # noqa: E402

BAR = 3.0
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.cli.main import run; sys.exit(run())"
TYPES = ("user", "feedback", "project", "reference")
WORDS = (*corpus.COMMON, *"the a of in for with that this when before after every never always must should".split())


def make_memories(folder: Path, count: int) -> None:
    """Write memories and the list that names them. Deterministic."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    generator = random.Random(20260101)
    lines = []
    for number in range(count):
        kind = TYPES[number % len(TYPES)]
        topic = " ".join(generator.choices(corpus.COMMON, k=3)).capitalize()
        name = f"{kind}_{topic.lower().replace(' ', '_')}_{number:05d}"
        about = _sentence(generator)
        said = "\n".join(f"- {_sentence(generator)}" for _ in range(generator.randrange(2, 6)))
        body = f"{_sentence(generator)} {_sentence(generator)}\n\n{said}\n\n"
        body += f"**Why:** {_sentence(generator)} See `src/{generator.choice(corpus.COMMON)}.py`.\n\n"
        body += f"**How to apply:** {_sentence(generator)} {_sentence(generator)}\n"
        head = f"---\nname: {topic}\ndescription: {about}\ntype: {kind}\n---\n\n"
        (folder / f"{name}.md").write_text(head + body, encoding="utf-8")
        lines.append(f"- [{topic}]({name}.md) — {about}\n")
    (folder / "MEMORY.md").write_text("".join(lines), encoding="utf-8")


def _sentence(generator: random.Random) -> str:
    return " ".join(generator.choices(WORDS, k=generator.randrange(8, 16))).capitalize() + "."


class Stage:
    """A home with two Roots: one reads the memories as a source, the other holds them itself."""

    def __init__(self, folder: Path) -> None:
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "ORACLE_DAEMON_SOCKET": "0"}
        self.notes = folder / "memory"
        self.notes.mkdir()
        self.reading, self.holding = folder / "reading", folder / "holding"
        for root in (self.reading, self.holding):
            self.run(root, "init")
        self.run(self.reading, "source", "add", "claude-code", str(self.notes), "--project", "bench")
        self.query(self.reading)

    def run(self, root: Path, *words: str) -> tuple[float, float]:
        """Run a command; return its seconds and its processor seconds."""
        began = time.perf_counter()
        command = [sys.executable, "-c", START, str(CHECKOUT), *words, "--memory-dir", str(root)]
        with subprocess.Popen(command, env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            assert process.stderr
            said = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode in (0, 4), said
        return time.perf_counter() - began, used.ru_utime + used.ru_stime

    def query(self, root: Path) -> tuple[float, float]:
        """Search a Root."""
        return self.run(root, "search", "when must the cache lease of a shard end")


def main() -> int:
    """Print the figures; return 1 when the first query takes longer than the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=4_000, help="files of the source (default 4000)")
    parser.add_argument("--times", type=int, default=9, help="later queries of each kind (default 9)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-sources-") as folder:
        stage = Stage(Path(folder))
        make_memories(stage.notes, given.memories)
        shutil.copytree(stage.notes, stage.holding / "projects" / "bench" / "planner")
        first, used = stage.query(stage.reading)
        stage.query(stage.holding)
        time.sleep(2.1)  # files that young are read again
        pairs = [(stage.query(stage.reading)[0], stage.query(stage.holding)[0]) for _ in range(given.times + 1)][1:]
    later, own = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"first query of {given.memories} memories\t{first:.2f} s, processor {used:.2f} s (bar {BAR:g} s)")
    print(
        f"later ones ÷ those of a Root that holds them\t{later * 1000:.0f} ms ÷ {own * 1000:.0f} ms\t{later / own:.2f}"
    )
    return int(first > BAR)


if __name__ == "__main__":
    sys.exit(main())
