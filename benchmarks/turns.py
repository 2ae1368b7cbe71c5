"""Measure how often a turn of a conversation is found when each is a record of its own.

    benchmarks/turns.py [--shared DIR] [--kept DIR] [--meaning]

The conversations and questions are LoCoMo's, which are not part of the project; where they are absent this says so and ends. The
turns of a conversation are the records of one seat, thirty seconds apart, of the day that its file states. A question is asked in
its project. R@10 is the share of the evidence that is among the first ten records, MRR counts the first of it. `--meaning` asks
with the vectors of the Root in `--kept` (`oracle index embed`). It prints processor time, too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import corpus

from oracle.api import Oracle

DATE = re.compile(r"^Date: (.+)$", re.MULTILINE)
APART = timedelta(seconds=30)


def lay_out(source: Path, root: Path) -> dict[str, str]:
    """Write a record for each turn, unless it is there; return their slugs by file and line."""
    slugs: dict[str, str] = {}
    for path in sorted(source.glob("*/*.md")):
        project, text = path.parent.name, path.read_text("utf-8")
        said = DATE.search(text)
        if said is None:
            continue
        ts = datetime.strptime(said[1], "%I:%M %p on %d %B, %Y")  # noqa: DTZ007 -- no zone is stated
        turns = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.startswith("**")]
        for at, (number, line) in enumerate(turns, 1):
            slug = f"projects/{project}/memory/finding/{ts:%Y-%m-%dT%H-%M-%S}-000000Z-turn-{at:03}"
            record = root / f"{slug}.md"
            record.parent.mkdir(parents=True, exist_ok=True)
            head = f'project: {project}\nseat: memory\nkind: finding\ntitle: "{path.stem}, turn {at}"\nts: "{ts.isoformat()}Z"'
            if not record.exists():
                record.write_text(f"---\n{head}\n---\n\n{line}\n", "utf-8")
            slugs[f"{project}/{path.name}:{number}"] = slug
            ts += APART
    return slugs


def share(values: Sequence[float]) -> str:
    """Return the mean in per cent."""
    return f"{100 * sum(values) / len(values):.1f}"


def main() -> None:
    """Ask every question and print the figures."""
    parser = corpus.beside(__doc__)
    parser.add_argument("--meaning", action="store_true", help="ask with the vectors, too")
    args = parser.parse_args()
    questions = corpus.read_questions(args.shared, "locomo")
    root = corpus.kept_in(args) / "turns"
    slugs = lay_out(args.shared / "bench/locomo", root)
    held: list[float] = []
    ranks: list[float] = []
    started = time.process_time()
    with Oracle.open(str(root)) as oracle:
        for question in questions:
            hits = oracle.search(question["question"], {"project": question["collection"]}, lexical=not args.meaning)
            found = [hit.record.slug for hit in hits]
            wanted = [slugs[f"{one['path']}:{one['line']}"] for one in question["evidence"]]
            held.append(sum(slug in found for slug in wanted) / len(wanted))
            ranks.append(next((1 / at for at, slug in enumerate(found, 1) if slug in wanted), 0.0))
    each = 1000 * (time.process_time() - started) / len(held)
    print(f"{len(held)} questions, R@10 {share(held)}, MRR {share(ranks)}, {each:.1f} ms of processor time each")


if __name__ == "__main__":
    main()
