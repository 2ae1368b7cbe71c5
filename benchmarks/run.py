"""Measure speed and memory as ratios against a baseline in the same run, and write the table of benchmarks/RESULTS.md.

    benchmarks/run.py [--quick] [--only NAME …] [--write]

Every figure is the median of interleaved pairs (ours, baseline), so that a noisy machine touches both alike. `--quick`
takes a tenth of the records. Nothing is asserted here: the bars stand beside the figures.
"""

from __future__ import annotations

import argparse
import compileall
import datetime
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import corpus  # noqa: E402
import delivery  # noqa: E402
import meaning  # noqa: E402
import prompting  # noqa: E402
import yaml  # noqa: E402

from oracle.api import Oracle  # noqa: E402
from oracle.app.records.views import Written  # noqa: E402
from oracle.app.records.write import write_all  # noqa: E402
from oracle.domain.records.drafts import Draft  # noqa: E402
from oracle.index import fold  # noqa: E402

SCRIPTS = HERE.parent / "scripts"
PASS = [sys.executable, "-c", "pass"]


class Row(NamedTuple):
    """One line of the table: ours and baseline in seconds (or MB), their ratio, the bar and how the bar is meant."""

    name: str
    ours: str
    baseline: str
    ratio: float
    bar: str


class Bench:
    """The Roots and the size of a run."""

    def __init__(self, folder: Path, scale: int) -> None:
        self.folder = folder
        self.scale = scale

    def root(self, count: int, *, hot: int = 0) -> Path:
        """Return a built Root of `count` records (divided by the scale), made once."""
        size = max(10, count // self.scale)
        path = self.folder / f"root{size}-{hot // self.scale}"
        if not path.exists():
            corpus.make_root(path, size, hot=hot // self.scale)
            with Oracle.open(str(path)) as oracle:
                oracle.reconcile()
        return path


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def pairs(ours: Callable[[], object], baseline: Callable[[], object], times: int) -> tuple[float, float]:
    """Return the medians of `times` interleaved calls of each."""
    taken = [(seconds(ours), seconds(baseline)) for _ in range(times)]
    return statistics.median(one for one, _ in taken), statistics.median(other for _, other in taken)


def run(*command: str | os.PathLike[str]) -> Callable[[], object]:
    """Return a call that runs a program, its output dropped."""
    return lambda: subprocess.run([os.fspath(part) for part in command], check=False, stdout=subprocess.DEVNULL)


def milliseconds(value: float) -> str:
    """Print a duration."""
    return f"{value * 1000:.1f} ms" if value < 10 else f"{value:.1f} s"


def compare(name: str, ours: float, baseline: float, bar: str) -> Row:
    """Make a row of two durations."""
    return Row(name, milliseconds(ours), milliseconds(baseline), ours / baseline, bar)


def bench_backlinks(bench: Bench) -> list[Row]:
    """Time one process of `query_memory.py --backlinks` with 5,000 backlinks in 10,000 records against bare Python."""
    root = bench.root(10_000, hot=5_000)
    command: list[str | Path] = [sys.executable, SCRIPTS / "query_memory.py", "--memory-dir", root, "--backlinks"]
    command.append(corpus.HOT)
    run(*command)()
    ours, bare = pairs(run(*command), run(*PASS), 21)
    return [compare("query_memory.py --backlinks, 5,000 of 10,000 ÷ python3 -c pass", ours, bare, "≤ 4.5")]


def bench_cli(bench: Bench) -> list[Row]:
    """Time the people's command against bare Python."""
    root = bench.root(10_000, hot=5_000)
    command: list[str | Path] = [
        sys.executable,
        "-c",
        "from oracle.cli.main import run; run()",
        "--memory-dir",
        root,
        "list",
        "--limit",
        "20",
    ]
    os.environ["PYTHONPATH"] = str(HERE.parent)
    run(*command)()
    ours, bare = pairs(run(*command), run(*PASS), 11)
    return [compare("oracle list --limit 20 ÷ python3 -c pass", ours, bare, "≤ 12")]


def bench_write_process(bench: Bench) -> list[Row]:
    """Time one `memory_write.py` process in a large Root against one in a small Root."""
    body = bench.folder / "body.md"
    generator = random.Random(7)

    def write(root: Path) -> Callable[[], object]:
        call = run(
            sys.executable, SCRIPTS / "memory_write.py", "--memory-dir", root, "--kind", "decision", "--project", "bench",
            "--title", "A measured decision", "--content-file", body, "--quiet",
        )  # fmt: skip

        def write_another() -> None:
            body.write_text(corpus.record_text(1, generator, hot=False)[1], encoding="utf-8")
            call()

        return write_another

    large, small = bench.root(10_000), bench.root(10)
    write(large)()
    write(small)()
    ours, base = pairs(write(large), write(small), 15)
    _, bare = pairs(run(*PASS), run(*PASS), 9)
    return [
        compare("memory_write.py at 10,000 records ÷ at 10", ours, base, "≤ 1.5"),
        compare("memory_write.py at 10,000 records ÷ python3 -c pass", ours, bare, "≤ 7"),
    ]


def bench_library_writes(bench: Bench) -> list[Row]:
    """Compare `write_many` and `write` with bare create + fsync + link of the same bytes.

    Once of the records alone, which is all that has to be on disk for good, and once of every file that is another one
    afterwards: each target's file of backlinks is whole at any time, so a write puts a new one in its place.
    """
    root = bench.root(10_000)
    generator = random.Random(11)
    rows = []
    with Oracle.open(str(root)) as oracle:
        for name, size, times in (("write_many of 500", 500, 5), ("write, one by one", 1, 60)):
            rates = []
            for turn in range(times):
                drafts = []
                for number in range(size):
                    title, body = corpus.record_text(50_000 + turn * size + number, generator, hot=False)
                    drafts.append(Draft(kind="decision", project="bench", title=title, body=body))
                began = time.perf_counter()
                written = write_all(oracle, drafts)
                ours = time.perf_counter() - began
                texts = [item.text.encode() for item in written]
                bare = [time_bare(bench.folder / f"bare-{size}-{turn}", texts)]
                bare.append(time_bare(bench.folder / f"all-{size}-{turn}", [*texts, *projections_of(oracle, written)]))
                rates.append([taken / size for taken in (ours, *bare)])
            ours, alone, everything = (statistics.median(column) for column in zip(*rates, strict=True))
            for what, bare in (("the record alone", alone), ("record, _links and _backlinks files", everything)):
                named = f"{name}: speed ÷ bare create + fsync + link of {what}"
                rows.append(Row(named, milliseconds(ours), milliseconds(bare), bare / ours, "≥ 0.5"))
    return rows


def projections_of(oracle: Oracle, written: list[Written]) -> list[bytes]:
    """Return the bytes of every projection that a write left changed: links of each record, backlinks of each target."""
    links = [Path(oracle.root.links_file(item.slug)).read_bytes() for item in written]
    targets = {json.loads(line)["target"] for text in links for line in text.splitlines()}
    return links + [Path(oracle.root.backlinks_file(name)).read_bytes() for name in sorted(targets)]


def time_bare(folder: Path, texts: list[bytes]) -> float:
    """Return how long it takes to create, fsync and link files in a new folder, and nothing else."""
    folder.mkdir()
    taken = seconds(lambda: create_bare(folder, texts))
    shutil.rmtree(folder)
    return taken


def create_bare(folder: Path, texts: list[bytes]) -> None:
    """Create, fsync and link files, and do nothing else."""
    for number, data in enumerate(texts):
        scratch = folder / f".{number}"
        handle = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.write(handle, data)
        os.fsync(handle)
        os.close(handle)
        os.link(scratch, folder / f"{number}.md")
        scratch.unlink()


def bench_rebuild(bench: Bench) -> list[Row]:
    """Compare a full rebuild (read, link, index, print) with parsing the same frontmatter by CSafeLoader."""
    root = bench.root(10_000)
    paths = sorted(root.glob("projects/*/*/*.md"))

    def parse() -> None:
        for path in paths:
            yaml.load(path.read_text(encoding="utf-8").split("---", 2)[1], Loader=yaml.CSafeLoader)

    with Oracle.open(str(root)) as oracle:
        ours, base = pairs(lambda: oracle.reconcile(rebuild=True), parse, 5)
    return [compare("full rebuild of 10,000 ÷ yaml.CSafeLoader alone", ours, base, "≤ 3")]


def walk(path: str) -> int:
    """Count the files below a folder with scandir, each stat'ed."""
    count = 0
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += walk(entry.path)
            else:
                entry.stat()
                count += 1
    return count


def bench_looks(bench: Bench) -> list[Row]:
    """Compare a query on an unchanged Root of 100,000 records with scandir + stat of the same files."""
    root = bench.root(100_000)
    time.sleep(2.1)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile(full=True)
        base_path = str(root / "projects")
        full, base = pairs(lambda: oracle.backlinks("entity:taskid:NONE-1", fresh=True), lambda: walk(base_path), 7)
        folders, _ = pairs(lambda: oracle.backlinks("entity:taskid:NONE-1"), lambda: None, 7)
    return [
        compare("no-op reconcile of 100,000, folders unchanged ÷ scandir + stat", folders, base, "≤ 1.5"),
        compare("no-op reconcile of 100,000, full stat ÷ scandir + stat", full, base, "≤ 1.5"),
    ]


def bench_search(bench: Bench) -> list[Row]:
    """Compare a search of five common words, in process, with the bare FTS5 statement."""
    root = bench.root(100_000)
    words = "cache queue lock index planner"
    expression = fold.match_expression(words)
    with Oracle.open(str(root)) as oracle:
        oracle.search(words)
        connection = oracle.index.database.connect()
        statement = "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT 10"
        ours, base = pairs(
            lambda: oracle.search(words), lambda: connection.execute(statement, (expression,)).fetchall(), 15
        )
    return [compare("search of five common words in 100,000 ÷ bare FTS5 OR", ours, base, "≤ 0.7")]


def bench_meaning(bench: Bench) -> list[Row]:
    """Compare searches of five common words, in process, every record embedded, with the bare FTS5 statement of the words."""
    if not meaning.available():
        print("meaning: skipped, the semantic extra is not installed whole", file=sys.stderr)
        return []
    root = bench.root(100_000)
    meaning.fill(root)
    generator = random.Random(5)
    searches = [" ".join(generator.sample(corpus.COMMON, 5)) for _ in range(30)]
    statement = "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT 10"
    try:
        with Oracle.open(str(root)) as oracle:
            oracle.search(searches[0])
            connection = oracle.index.database.connect()
            taken = [
                pairs(
                    lambda words=words: oracle.search(words),  # type: ignore[misc]
                    lambda words=words: connection.execute(  # type: ignore[misc]
                        statement, (fold.match_expression(words),)
                    ).fetchall(),
                    1,
                )
                for words in searches
            ]
    finally:
        meaning.empty(root)
    ours, base = (statistics.median(column) for column in zip(*taken, strict=True))
    return [compare("the same with both models of the semantic extra ÷ bare FTS5 OR", ours, base, "≤ 1.2")]


def bench_memory(bench: Bench) -> list[Row]:
    """Measure the peak resident memory of a process that rebuilds 100,000 records, and that of its reading process.

    The peak of the first is VmHWM of proc(5): what getrusage(2) says begins with the size of the process that started it.
    """
    root = bench.root(100_000)
    program = (
        "import resource, sys; sys.path.insert(0, sys.argv[1]);"
        "from oracle.api import Oracle; Oracle.open(sys.argv[2]).reconcile(rebuild=True);"
        "peak = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'));"
        "print(int(peak) / 1024, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, HERE.parent, root], capture_output=True, text=True, check=True
    )
    own, helper = map(float, done.stdout.split())
    return [
        Row(
            "peak memory of a rebuild of 100,000 (its second process beside it)",
            f"{own:.0f} MB",
            f"{helper:.0f} MB",
            own / 150,
            "≤ 150 MB",
        )
    ]


def bench_delivery(_: Bench) -> list[Row]:
    """Time the hook, a delivery and a listing of handoffs."""
    return [compare(*figures) for figures in delivery.measure()]


def bench_prompts(bench: Bench) -> list[Row]:
    """Time the hook of prompts, alone and where a daemon runs."""
    return [compare(*figures) for figures in prompting.measure(bench.root(10_000))]


BENCHES: dict[str, Callable[[Bench], list[Row]]] = {
    "backlinks": bench_backlinks,
    "cli": bench_cli,
    "write": bench_write_process,
    "library": bench_library_writes,
    "rebuild": bench_rebuild,
    "looks": bench_looks,
    "search": bench_search,
    "memory": bench_memory,
    "meaning": bench_meaning,
    "delivery": bench_delivery,
    "prompts": bench_prompts,
}


def table(rows: list[Row], scale: int) -> str:
    """Print the rows as Markdown."""
    lines = [
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} cores,"
        f" {platform.system()}{', a tenth of the records' if scale > 1 else ''}; median of interleaved pairs.",
        "",
        "| what | ours | baseline | ratio | bar |",
        "| --- | --- | --- | --- | --- |",
        *(f"| {row.name} | {row.ours} | {row.baseline} | {row.ratio:.2f} | {row.bar} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benches and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    parser.add_argument("--only", nargs="+", choices=sorted(BENCHES), default=list(BENCHES))
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/RESULTS.md")
    args = parser.parse_args()
    for package in ("oracle", "scripts"):  # what an installed program has, also where Python may not write bytecode
        compileall.compile_dir(HERE.parent / package, quiet=1)
    folder = Path(tempfile.mkdtemp(prefix="oracle-bench-"))
    scale = 10 if args.quick else 1
    rows: list[Row] = []
    try:
        bench = Bench(folder, scale)
        for name in args.only:
            rows += BENCHES[name](bench)
            if rows:
                print(f"{rows[-1].name}: {rows[-1].ratio:.2f} (bar {rows[-1].bar})", file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table(rows, scale))
    if args.write:
        results = HERE / "RESULTS.md"
        _, mark, others = results.read_text(encoding="utf-8").partition("\n## ")  # what other benchmarks wrote
        results.write_text(
            f"# Results\n\n`make bench` on a shared machine.\n\n{table(rows, scale)}{mark}{others}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
