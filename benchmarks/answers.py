"""Measure how far answers can be trusted, on questions written from documents alone.

    benchmarks/answers.py open|sealed [--meaning] [--shared DIR] [--kept DIR]

`questions/*.jsonl` hold the questions. One half of them, chosen by a hash of the id, is sealed: only `sealed` reads it, which
prints totals alone and adds a line to `questions/sealed.log`. `open` measures the open half by form.

The corpora are not part of the project; questions on a corpus that is absent are left out, and it says so. `--meaning` asks
with the vectors, which must be in the Roots of `--kept` (`oracle index embed`). Figures are shares in per cent with the
standard error of 1,000 bootstrap samples.
"""

from __future__ import annotations

import datetime
import json
import random
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import beside, kept_in

from oracle.api import Oracle
from oracle.app.answers.reply import ANSWERED, CANDIDATES
from oracle.app.search import models

HERE = Path(__file__).resolve().parent
QUESTIONS = HERE / "questions"
LOG = QUESTIONS / "sealed.log"
FOLDERS = ("adr-en", "docs-zh", "vault-en", "vault-en-foam", "kb")
SAMPLES = 1000


@dataclass
class Case:
    """A question with what was found, and whether a quote holds the answer."""

    id: str
    form: str
    is_answerable: bool
    status: str = ""
    holds: bool = False


def is_sealed(name: str) -> bool:
    """Return whether a question is of the sealed half."""
    return zlib.crc32(f"sealed {name}".encode()) % 2 == 1


def read_questions(folder: str, *, sealed: bool) -> list[dict[str, Any]]:
    """Return the questions of one half on a folder."""
    lines = (line for path in sorted(QUESTIONS.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines())
    found = (json.loads(line) for line in lines)
    return [one for one in found if one["folder"] == folder and is_sealed(one["id"]) is sealed]


def make_root(folder: str, shared: Path, kept: Path) -> Path | None:
    """Lay a folder out as a Root below `kept`, unless it is there; None where the corpus is absent."""
    root = kept / folder
    if root.exists():
        return root
    if folder == "kb":
        shutil.copytree(HERE.parent / "references/kb", root)
        return root
    corpus, build = shared / "corpora" / folder, shared / "bench/build_root.py"
    if not corpus.is_dir() or not build.is_file():
        return None
    command = list(map(str, (sys.executable, build, corpus, root, "--map", kept / f"{folder}.map.json")))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return root


class Evidence:
    """Where the answer to a question is: the lines of the records, and the words that say it."""

    def __init__(self, question: dict[str, Any], places: dict[str, Any]) -> None:
        self._words = [_plain(word) for word in question["answer"]]
        self._lines: dict[str, list[tuple[int, int]]] = {}
        for one in question["evidence"]:
            place = places.get(one["path"], {"slug": one["path"].removesuffix(".md"), "shift": 0})
            first, last = (number + place["shift"] for number in one["lines"])
            self._lines.setdefault(place["slug"], []).append((first, last))

    def is_in(self, slug: str, first: int, last: int, text: str) -> bool:
        """Return whether a quote lies on the lines and holds one of the words."""
        touches = any(first <= end and begin <= last for begin, end in self._lines.get(slug, ()))
        return touches and any(word in _plain(text) for word in self._words)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def ask(folder: str, root: Path, kept: Path, *, sealed: bool) -> Iterator[Case]:
    """Ask one half of the questions on a folder."""
    listed = kept / f"{folder}.map.json"
    places = json.loads(listed.read_text("utf-8")) if listed.is_file() else {}
    with Oracle.open(str(root)) as oracle:
        for question in read_questions(folder, sealed=sealed):
            evidence = Evidence(question, places)
            case = Case(question["id"], question["form"], bool(question["evidence"]))
            reply = oracle.answer(question["question"])
            case.status = reply.status
            case.holds = any(
                evidence.is_in(item.record.slug, *item.quote.lines, item.quote.text) for item in reply.claims
            )
            yield case


# Totals ---------------------------------------------------------------------------------------------------------------


def share(values: Sequence[bool], chance: random.Random) -> str:
    """Return a share in per cent with its bootstrap error and the number of values."""
    if not values:
        return "– (n=0)"
    means = [sum(chance.choices(values, k=len(values))) / len(values) for _ in range(SAMPLES)]
    middle = sum(means) / SAMPLES
    error = (sum((one - middle) ** 2 for one in means) / SAMPLES) ** 0.5
    return f"{100 * sum(values) / len(values):.1f} ± {100 * error:.1f} (n={len(values)})"


def totals(cases: Sequence[Case]) -> dict[str, str]:
    """Return the figures by which answers are judged."""
    chance = random.Random(1)
    answerable = [case for case in cases if case.is_answerable]
    others = [case for case in cases if not case.is_answerable]
    found = (ANSWERED, CANDIDATES)
    return {
        "answers that hold": share([case.holds for case in cases if case.status == ANSWERED], chance),
        "answerable: answered": share([case.status == ANSWERED and case.holds for case in answerable], chance),
        "answerable: answered or among candidates": share(
            [case.status in found and case.holds for case in answerable], chance
        ),
        "answerable: nothing found": share([case.status not in found for case in answerable], chance),
        "unanswerable: answered": share([case.status == ANSWERED for case in others], chance),
        "unanswerable: nothing found": share([case.status not in found for case in others], chance),
    }


def print_forms(cases: Sequence[Case]) -> None:
    """Print the figures of each form of question."""
    for form in sorted({case.form for case in cases}):
        print(f"\n{form}")
        for name, figure in totals([case for case in cases if case.form == form]).items():
            print(f"  {name:42} {figure}")


def main() -> None:
    """Measure one half."""
    parser = beside(__doc__)
    parser.add_argument("what", choices=("open", "sealed"))
    parser.add_argument("--meaning", action="store_true", help="use the vectors of the Roots in --kept")
    args = parser.parse_args()
    kept = kept_in(args)
    if not args.meaning:
        models.find_models = tuple
    cases: list[Case] = []
    for folder in FOLDERS:
        root = make_root(folder, args.shared, kept)
        if root is None:
            print(f"{folder}: the corpus is absent, its questions are left out")
            continue
        cases += ask(folder, root, kept, sealed=args.what == "sealed")
    figures = totals(cases)
    part = "meaning" if args.meaning else "words"
    print(f"{part}, {'sealed' if args.what == 'sealed' else 'open'} half, {len(cases)} questions")
    for name, figure in figures.items():
        print(f"  {name:42} {figure}")
    if args.what == "sealed":
        head = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE
        ).stdout.strip()
        line = {
            "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M}",
            "commit": head,
            "ranking": part,
            **figures,
        }
        with LOG.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        return
    print_forms(cases)


if __name__ == "__main__":
    main()
