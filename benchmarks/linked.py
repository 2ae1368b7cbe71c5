"""Measure how many of the linked records that a question needs are among the first records of a search.

    benchmarks/linked.py open|sealed [--meaning] [--misses] [--shared DIR] [--kept DIR]

`questions/linked/*.jsonl` hold the questions. Those that name two things need two linked records, and are judged by the first
five; those that need a chain of two to four are judged by the first ten. Each folder is copied as it is into a project of a Root of
its own, so that its links lead where they did. Halves are those of `answers.py`; a sealed run adds a line to
`questions/linked/sealed.log`. `--meaning` asks with the vectors, which must be in the Roots of `--kept` (`oracle index embed`).
Figures are per cent, with the standard error of 1,000 bootstrap samples. `--misses` prints what the open half misses, with the
rank of each record, 0 for none.
"""

from __future__ import annotations

import datetime
import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from answers import FOLDERS, HERE, QUESTIONS, is_sealed, share
from corpus import beside, kept_in

from oracle.api import Oracle
from oracle.app.search import models

LINKED = QUESTIONS / "linked"
PLACE = "projects/{}/notes"
FIRST = {"two-things": 5, "chain": 10}
"""How many records are looked at for each form. Twice as many hits are asked for: half of them are of different records."""


def make_root(folder: str, shared: Path, kept: Path) -> Path:
    """Copy a folder into a Root below `kept`, unless it is there."""
    root = kept / folder
    if not root.exists():
        own = HERE.parent / "references/kb"
        source, place = (own, root) if folder == "kb" else (shared / "corpora" / folder, root / PLACE.format(folder))
        shutil.copytree(source, place, copy_function=shutil.copyfile)
    return root


def look(folder: str, root: Path, *, sealed: bool) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Yield each question of one half on a folder with the ranks of the records that it needs."""
    place = "" if folder == "kb" else f"{PLACE.format(folder)}/"
    lines = [line for path in sorted(LINKED.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    with Oracle.open(str(root)) as oracle:
        for one in map(json.loads, lines):
            if one["folder"] != folder or is_sealed(one["id"]) is not sealed:
                continue
            hits = oracle.search(one["question"], limit=2 * FIRST[one["form"]])
            slugs = list(dict.fromkeys(hit.record.slug for hit in hits))
            needed = dict.fromkeys(place + each["path"].removesuffix(".md") for each in one["evidence"])
            yield one, [slugs.index(slug) + 1 if slug in slugs else 0 for slug in needed]


def figures(ranks: list[list[int]], first: int) -> dict[str, str]:
    """Return the share of the records that are among the first ones, and of the questions with all and with one of theirs."""
    chance = random.Random(1)
    found = [[0 < rank <= first for rank in needed] for needed in ranks]
    return {
        f"R@{first}": share([one for needed in found for one in needed], chance),
        f"all@{first}": share([all(needed) for needed in found], chance),
        f"one@{first}": share([any(needed) for needed in found], chance),
    }


def main() -> None:
    """Measure one half."""
    parser = beside(__doc__)
    parser.add_argument("what", choices=("open", "sealed"))
    parser.add_argument("--meaning", action="store_true", help="use the vectors of the Roots in --kept")
    parser.add_argument("--misses", action="store_true", help="print the questions of the open half that miss a record")
    args = parser.parse_args()
    kept, sealed = kept_in(args), args.what == "sealed"
    if not args.meaning:
        models.find_models = tuple
    cases: list[tuple[dict[str, Any], list[int]]] = []
    for folder in FOLDERS:
        cases += look(folder, make_root(folder, args.shared, kept), sealed=sealed)
    part = "meaning" if args.meaning else "words"
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=LINKED).stdout
    line: dict[str, Any] = {
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M}",
        "commit": head.strip(),
        "ranking": part,
    }
    for form, first in FIRST.items():
        line[form] = figures([ranks for one, ranks in cases if one["form"] == form], first)
        print(f"{part}, {args.what} half, {form}: {line[form]}")
    if sealed:
        with (LINKED / "sealed.log").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    for one, ranks in cases if args.misses and not sealed else ():
        if not all(0 < rank <= FIRST[one["form"]] for rank in ranks):
            print(one["id"], one["folder"], ranks, one["question"])


if __name__ == "__main__":
    main()
