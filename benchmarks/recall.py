"""Measure recall of passages on the question sets that lie beside a checkout, with plain FTS5 beside it in the same run.

    benchmarks/recall.py [--shared DIR] [--write]

The sets and their scorer are not part of the project: where they are absent this says so and ends. A Root is made of each
corpus in a temporary folder. `--write` puts the table into benchmarks/RESULTS.md, under its own heading.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BESIDE = HERE.parent.parent / "shared"
RESULTS = HERE / "RESULTS.md"
HEADING = "## Recall"
SETS = {"locomo": "bench/locomo", "adr-en": "corpora/adr-en", "docs-zh": "corpora/docs-zh"}
SHOWN = {"locomo": ("all",), "adr-en": ("adr-en", "adr-zh"), "docs-zh": ("dz",)}
SEARCH = "from oracle.cli.main import run; run()"


def measure(name: str, bench: Path, corpus: Path, folder: Path) -> list[str]:
    """Return the rows of the table for one set: plain FTS5, then ours."""
    root = folder / name
    subprocess.run([sys.executable, bench / "build_root.py", corpus, root], check=True, stdout=subprocess.DEVNULL)
    command = f'{sys.executable} -c "{SEARCH}" --memory-dir {root} search --stdin --json --limit 10'
    done = subprocess.run(
        [sys.executable, bench / "score.py", root, bench / f"{name}.questions.jsonl", "--command", command],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
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


def put(table: str) -> None:
    """Put the table under its heading, whatever else the page says."""
    text = RESULTS.read_text(encoding="utf-8")
    before, _, after = text.partition(HEADING + "\n")
    _, mark, rest = after.partition("\n## ")
    RESULTS.write_text(f"{before.rstrip()}\n\n{HEADING}\n\n{table}{mark and chr(10) + '## '}{rest}", encoding="utf-8")


def main() -> None:
    """Measure the sets that are there and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=BESIDE, help="the folder that holds bench/ and corpora/")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/RESULTS.md")
    args = parser.parse_args()
    bench = args.shared / "bench"
    found: list[str] = []
    folder = Path(tempfile.mkdtemp(prefix="oracle-recall-"))
    try:
        for name, place in SETS.items():
            corpus = args.shared / place
            if not (bench / "score.py").is_file() or not corpus.is_dir():
                print(f"{name}: skipped, {corpus} and its scorer are not there")
                continue
            found += measure(name, bench, corpus, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not found:
        return
    table = "\n".join(
        [
            f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, `benchmarks/recall.py`; no language model, no network."
            " Milliseconds are of a whole process, its start and the reading of every file among them.",
            "",
            "| questions | search | doc@5 | passage@10 | mrr | ms a question |",
            "| --- | --- | --- | --- | --- | --- |",
            *found,
            "",
        ]
    )
    print(table)
    if args.write:
        put(table)


if __name__ == "__main__":
    main()
