"""Fit and measure how probable it is that a quoted passage holds the answer.

    benchmarks/confidence.py [--shared DIR] [--kept DIR] [--write]

The questions are those of `recall.py`, which are not part of the project; where they are absent this says so and ends. Each is
asked twice: as it is, and without the records that answer it, so that half of all questions have no answer but near ones. A
passage holds the answer if it covers a line of the evidence. A question of a small set counts up to six times. Figures are for
one half of the questions by weights that the other half gave; the table says how often the quotes hold the answer. `--write`
puts the weights of all questions into `data/probability.toml`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import corpus
import numpy
from recall import SETS, make_root

from oracle.api import Oracle
from oracle.app.answers import answer
from oracle.app.answers.probability import read_signals
from oracle.app.answers.question import read_question

WEIGHTS = Path(__file__).resolve().parent.parent / "oracle/domain/data/probability.toml"
SIGNALS = ("known", "asking", "sentence", "rows", "untyped", "lead")
RIDGE = 2.0
"""The penalty on the square of each weight."""
NEAR, MOST = 0.4, 5
"""What is quoted: the passages that are so near to the best, and so many."""
STEPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.01)


@dataclass
class Case:
    """A question with the signals of each passage, whether it holds the answer, and what the question counts."""

    half: int
    signals: Any
    rights: Any
    weight: float = 1.0


def evidence_of(question: dict[str, Any], documents: Path, places: dict[str, Any]) -> dict[str, set[int]]:
    """Return the lines that hold the answer, by record."""
    found: dict[str, set[int]] = {}
    for one in question.get("evidence", ()):
        place = places[one["path"]]
        found.setdefault(place["slug"], set()).add(one["line"] + place["shift"])
    for path in question.get("paths", ()):
        quote, place = question["answer_quote"], places[path]
        before, at, _ = (documents / path).read_text("utf-8", "replace").partition(quote)
        if at:
            first = before.count("\n") + 1 + place["shift"]
            found.setdefault(place["slug"], set()).update(range(first, first + quote.count("\n") + 1))
    return found


def ask(questions: Sequence[dict[str, Any]], documents: Path, root: Path) -> Iterator[Case]:
    """Ask each question of a set as it is, and without the records that answer it."""
    places = json.loads(root.with_suffix(".json").read_text("utf-8"))
    with Oracle.open(str(root)) as oracle:
        for question in questions:
            filters = {"project": question["collection"]} if "collection" in question else {}
            asked = read_question(oracle, question["question"], filters)
            hits = answer.find_hits(oracle, asked, filters)
            evidence = evidence_of(question, documents, places)
            half = zlib.crc32(question["id"].encode()) % 2
            for some in (hits, [hit for hit in hits if hit.record.slug not in evidence]):
                if some:
                    rows = [[1.0, *(one[signal] for signal in SIGNALS)] for one in read_signals(asked, some)]
                    spans = [(hit.record.slug, range(hit.first_line, hit.last_line + 1)) for hit in some]
                    rights = [not evidence.get(slug, set()).isdisjoint(span) for slug, span in spans]
                    yield Case(half, numpy.array(rows), numpy.array(rights))


def learn(cases: Sequence[Case]) -> Any:  # noqa: ANN401 -- an array
    """Return the weights of a ridge logistic regression on all passages, by Newton's method; the first is the bias."""
    x = numpy.concatenate([case.signals for case in cases])
    y = numpy.concatenate([case.rights for case in cases]).astype(float)
    counts = numpy.concatenate([numpy.full(len(case.rights), case.weight) for case in cases])
    weights = numpy.zeros(x.shape[1])
    penalty = RIDGE * numpy.eye(len(weights))
    penalty[0, 0] = 1e-6
    for _ in range(60):
        likely = 1 / (1 + numpy.exp(-(x @ weights)))
        slope = x.T @ (counts * (y - likely)) - penalty @ weights
        step = numpy.linalg.solve((x * (counts * likely * (1 - likely))[:, None]).T @ x + penalty, slope)
        weights += step
        if abs(step).max() < 1e-8:
            break
    return weights


def judge(case: Case, weights: Any) -> tuple[float, bool]:  # noqa: ANN401 -- an array
    """Return the probability of the best passage, and whether a quote holds the answer."""
    likely = 1 / (1 + numpy.exp(-(case.signals @ weights)))
    best = float(likely.max())
    return best, bool(case.rights[likely >= NEAR * best][:MOST].any())


def print_table(judged: Sequence[tuple[float, bool]]) -> None:
    """Print for each span of probabilities how often the quotes hold the answer."""
    print("| probability of the best passage | questions | quotes hold the answer |\n| --- | --- | --- |")
    for low, high in pairwise(STEPS):
        held = [holds for best, holds in judged if low <= best < high]
        if held:
            print(f"| {low} to {min(high, 1.0)} | {len(held)} | {100 * sum(held) / len(held):.0f} % |")


def write(weights: Sequence[float]) -> None:
    """Put the weights into their file."""
    head, _, _ = WEIGHTS.read_text("utf-8").partition("[weights]")
    lines = (f"{name} = '{number:.2f}'\n" for name, number in zip(("bias", *SIGNALS), weights, strict=True))
    WEIGHTS.write_text(f"{head}[weights]\n{''.join(lines)}", "utf-8")


def main() -> None:
    """Ask, fit both halves, print the table."""
    parser = corpus.beside(__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights of all questions")
    args = parser.parse_args()
    kept = corpus.kept_in(args)
    sets: list[list[Case]] = []
    for name, folder in SETS.items():
        questions, documents = corpus.read_questions(args.shared, name), args.shared / folder
        make_root(args.shared / "bench", documents, kept / name)
        listed = kept / f"{name}.json"
        if not listed.exists():
            (kept / name / "map.json").rename(listed)
        sets.append(list(ask(questions, documents, kept / name)))
    largest = max(map(len, sets))
    cases = [case for one in sets for case in one]
    for one in sets:
        for case in one:
            case.weight = min(6.0, largest / len(one))
    halves = [learn([case for case in cases if case.half == half]) for half in (0, 1)]
    print_table([judge(case, halves[1 - case.half]) for case in cases])
    if args.write:
        write(learn(cases))


if __name__ == "__main__":
    main()
