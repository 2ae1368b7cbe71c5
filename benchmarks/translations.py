"""Make `oracle/domain/data/translations.txt`: for English and Chinese words the nearest words in the other language.

    benchmarks/translations.py --english FILE --chinese FILE

Both files hold a word a line. The one in use was made of 3,738 English words that are pieces of the quick model's vocabulary and
occur in the documentation of at least five Python packages, and of 19,580 Chinese words of two to four characters from the
dictionary of jieba (MIT), without names, and terms of the trade. The quick model reads each word; the mean of its language is
taken off; words in the other language from a cosine of 0.5 are near, up to three for an English word and four for a Chinese one.
Reading the words takes the model six minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy

from oracle.app.search.models import Model, find_models
from oracle.index.read.candidates import stemmer

TABLE = Path(__file__).resolve().parent.parent / "oracle/domain/data/translations.txt"
LEAST = 0.5
OF_ENGLISH, OF_CHINESE = 3, 4
BATCH = 512


def read(model: Model, words: Sequence[str]) -> Any:  # noqa: ANN401 -- an array
    """Return a unit vector for each word, the mean of them all taken off."""
    rows = numpy.concatenate([model.read(words[at : at + BATCH]) for at in range(0, len(words), BATCH)])
    rows = rows - rows.mean(axis=0)
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def near(keys: Sequence[str], others: Sequence[str], cosines: Any, most: int) -> Iterator[str]:  # noqa: ANN401
    """Yield a line for each word that has near words, the nearest first."""
    for key, row in zip(keys, cosines, strict=True):
        best = [at for at in numpy.argsort(-row)[:most] if row[at] >= LEAST]
        if best:
            yield f"{key} {' '.join(f'{others[at]}{min(9, int(row[at] * 10))}' for at in best)}"


def main() -> None:
    """Read the words and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--english", type=Path, required=True, help="English words, the most common first")
    parser.add_argument("--chinese", type=Path, required=True, help="Chinese words of two to four characters")
    args = parser.parse_args()
    stems: dict[str, str] = {}
    for word, stem in stemmer().stems(args.english.read_text("utf-8").split()).items():
        stems.setdefault(stem, word)
    english, chinese = list(stems.values()), list(dict.fromkeys(args.chinese.read_text("utf-8").split()))
    model = next(one for one in find_models() if one.reads_words)
    cosines = read(model, english) @ read(model, chinese).T
    lines = [*near(list(stems), chinese, cosines, OF_ENGLISH), *near(chinese, english, cosines.T, OF_CHINESE)]
    TABLE.write_text("\n".join(sorted(lines)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
