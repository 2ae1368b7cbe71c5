"""Measure a cold build of the index against bare FTS5 of the same texts, in processor time.

    benchmarks/building.py DOCUMENTS [--records 5000] [--times 5]

The Markdown files below DOCUMENTS become records, each as often as needed. Each build is a process of its own, and what it starts
counts too: read, link, index, print. Bare FTS5 reads the same files and inserts them with the tokenizer of the index.

ext4 is slow to create files for five minutes after many were deleted, as at the end of a run: wait that long for the next one, or
set TMPDIR to a folder in memory.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
sys.path[:0] = [str(HERE), str(CHECKOUT)]

import corpus  # noqa: E402

from oracle.api import Oracle  # noqa: E402

BAR = 6.0
OURS = (
    "import sys; sys.path.insert(0, sys.argv[1]); from oracle.api import Oracle; Oracle.open(sys.argv[2]).reconcile()"
)
BARE = """
import sqlite3, sys
from pathlib import Path
connection = sqlite3.connect(sys.argv[1])
connection.execute('CREATE VIRTUAL TABLE passage USING fts5(body, tokenize = "porter unicode61 remove_diacritics 2")')
texts = ((path.read_text(encoding="utf-8"),) for path in sorted(Path(sys.argv[2]).glob("projects/*/*/*.md")))
connection.executemany("INSERT INTO passage VALUES (?)", texts)
connection.commit()
"""


def processor(words: list[str]) -> float:
    """Return the processor seconds of a process and of those that it started."""
    with subprocess.Popen(words) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert not process.returncode
    return used.ru_utime + used.ru_stime


def build(root: Path) -> float:
    """Build everything derived of a Root anew. What is there is put aside: ext4 is slow to create where files were just deleted."""
    aside = Path(tempfile.mkdtemp(dir=root.parent))
    for name in ("_state", "_links", "_backlinks"):
        if (root / name).exists():
            (root / name).rename(aside / name)
    return processor([sys.executable, "-c", OURS, str(CHECKOUT), str(root)])


def build_bare(root: Path) -> float:
    """Fill a table of FTS5 with the same texts."""
    path = root.parent / "bare.db"
    path.unlink(missing_ok=True)
    return processor([sys.executable, "-c", BARE, str(path), str(root)])


def main() -> int:
    """Print the figures; return 1 when the ratio is over the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path, metavar="DOCUMENTS")
    parser.add_argument("--records", type=int, default=5_000, help="records of the Root (default 5000)")
    parser.add_argument("--times", type=int, default=5, help="builds of each kind (default 5)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-build-") as folder:
        root = Path(folder) / "root"
        size = sum(path.stat().st_size for path in corpus.lay_out(given.documents, root, given.records))
        pairs = [(build(root), build_bare(root)) for _ in range(given.times)]
        with Oracle.open(str(root)) as oracle:
            assert len(oracle.records({})) == given.records
    ours, bare = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"records\t{given.records}, {size / 1e6:.1f} MB")
    print(f"build ÷ bare FTS5, processor\t{ours:.2f} s ÷ {bare:.2f} s\t{ours / bare:.2f} (bar {BAR:g})")
    return int(ours / bare > BAR)


if __name__ == "__main__":
    sys.exit(main())
