"""Measure recall of passages on the question sets that lie beside a checkout, with plain FTS5 beside it in the same run.

    benchmarks/recall.py [--shared DIR] [--only SET …] [--meaning] [--kept DIR] [--write]

The sets and their scorer are not part of the project: where they are absent this says so and ends. A Root is made of each
corpus in a temporary folder, or in `--kept DIR`, where one that is there is taken as it is. `--meaning` embeds every record,
which takes an hour and more, and asks once more with the vectors. Everything is asked by `oracle search --stdin`. `--write`
puts the tables into benchmarks/RESULTS.md, under their own headings.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from corpus import beside, kept_in

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "RESULTS.md"
RECALL, MEANING = "## Recall", "## Meaning"
SETS = {"locomo": "bench/locomo", "adr-en": "corpora/adr-en", "docs-zh": "corpora/docs-zh"}
SHOWN = {"locomo": ("all",), "adr-en": ("adr-en", "adr-zh"), "docs-zh": ("dz",)}
ORACLE = "from oracle.cli.main import run; run()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parent)}


def make_root(bench: Path, corpus: Path, root: Path) -> None:
    """Lay a corpus out as a Root, unless it is there."""
    if not root.exists():
        subprocess.run([sys.executable, bench / "build_root.py", corpus, root], check=True, stdout=subprocess.DEVNULL)


def embed(root: Path) -> None:
    """Have both models read every record."""
    subprocess.run([sys.executable, "-c", ORACLE, "--memory-dir", root, "index", "embed"], check=True, env=ENVIRONMENT)


def measure(name: str, bench: Path, root: Path, *, lexical: bool) -> list[str]:
    """Return the rows of the table for one set: plain FTS5, then ours."""
    command = f'{sys.executable} -c "{ORACLE}" --memory-dir {root} search --stdin --json --limit 10'
    done = subprocess.run(
        [
            sys.executable,
            bench / "score.py",
            root,
            bench / f"{name}.questions.jsonl",
            "--command",
            f"{command} --lexical" if lexical else command,
        ],
        check=True,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
    )
    print(done.stdout)
    return rows(name, done.stdout)


def rows(name: str, report: str) -> list[str]:
    """Read the scorer's report: a heading a search, a line a category."""
    found = []
    search = pace = ""
    for line in report.splitlines():
        if line.startswith("## "):
            search = "plain FTS5" if "plain FTS5" in line else "oracle search"
            match = re.search(r"([\d.]+) ms a question", line)
            pace = match[1] if match else ""
            continue
        category, _, figures = line.strip().partition(" ")
        values = dict(re.findall(r"(\S+)\s+([\d.]+) \(n=\d+\)", figures))
        if category in SHOWN[name] and "mrr" in values:
            label = name if category == "all" else category
            found.append(
                f"| {label} | {search} | {values['doc@5']} | {values['passage@10']} | {values['mrr']} | {pace} |"
            )
    return found


def put(heading: str, table: str) -> None:
    """Put a table under its heading, whatever else the page says."""
    text = RESULTS.read_text(encoding="utf-8")
    before, _, after = text.partition(heading + "\n")
    _, mark, rest = after.partition("\n## ")
    RESULTS.write_text(f"{before.rstrip()}\n\n{heading}\n\n{table}{mark and chr(10) + '## '}{rest}", encoding="utf-8")


def print_table(about: str, found: list[str]) -> str:
    """Print the rows as Markdown."""
    lines = [
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, `benchmarks/recall.py`; {about}",
        "",
        "| questions | search | doc@5 | passage@10 | mrr | ms a question |",
        "| --- | --- | --- | --- | --- | --- |",
        *found,
        "",
    ]
    table = "\n".join(lines)
    print(table)
    return table


def main() -> None:
    """Measure the sets that are there and print the tables."""
    parser = beside(__doc__)
    parser.add_argument("--only", nargs="+", choices=sorted(SETS), default=list(SETS))
    parser.add_argument("--meaning", action="store_true", help="embed every record and measure with vectors too")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/RESULTS.md")
    args = parser.parse_args()
    bench = args.shared / "bench"
    by_words: list[str] = []
    by_meaning: list[str] = []
    folder = kept_in(args)
    try:
        for name in args.only:
            corpus = args.shared / SETS[name]
            if not (bench / "score.py").is_file() or not corpus.is_dir():
                print(f"{name}: skipped, {corpus} and its scorer are not there")
                continue
            make_root(bench, corpus, folder / name)
            by_words += measure(name, bench, folder / name, lexical=True)
            if args.meaning:
                embed(folder / name)
                found = measure(name, bench, folder / name, lexical=False)
                by_meaning += [row for row in found if "oracle search" in row]
    finally:
        if not args.kept:
            shutil.rmtree(folder, ignore_errors=True)
    if not by_words:
        return
    about = "milliseconds are of a whole process, its start and the reading of every file among them."
    tables = {RECALL: print_table(f"no language model, no network; {about}", by_words)}
    if by_meaning:
        tables[MEANING] = print_table(f"the same questions, every record read by both models; {about}", by_meaning)
    if args.write:
        for heading, table in tables.items():
            put(heading, table)


if __name__ == "__main__":
    main()
