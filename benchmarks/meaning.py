"""Vectors for a Root of synthetic records without reading them: random ones, in the product's own store.

To read 200,000 chunks takes the careful model a day. What a search costs does not depend on what the vectors say.
"""

from __future__ import annotations

from pathlib import Path

from oracle.api import Oracle
from oracle.app.records.views import Summary
from oracle.app.search.models import SCRIPTS, find_models, neutral
from oracle.app.search.ranking.pages import read_page
from oracle.domain.markdown.passages import embedding_chunks
from oracle.index.db import immediate
from oracle.index.read import query
from oracle.index.vectors import Made, Vectors, text_hash
from oracle.store.markdown import records

_BATCH = 2_000


def available() -> bool:
    """Tell whether both models of the semantic extra are installed."""
    return len(find_models()) == 2


def fill(root: Path) -> int:
    """Give every chunk of every record a vector of each model; return how many chunks there are."""
    import numpy

    generator = numpy.random.default_rng(20260101)
    count = 0
    with Oracle.open(str(root)) as oracle:
        hashes = oracle.index.read(query.file_hashes)
        rows = oracle.index.read(lambda connection: query.listing(connection, {}, limit=0, newest_first=True))
        vectors = Vectors(oracle.root)
        vectors.begin()
        for model in find_models():
            asked = {script: neutral(model, script) for script in SCRIPTS}
            vectors.begin_model(model.name, {"about": model.about.encode(), **asked})
        for start in range(0, len(rows), _BATCH):
            held = {}
            for summary in map(Summary.from_row, rows[start : start + _BATCH]):
                page = read_page(summary, records.read(oracle.root.join(summary.path)))
                held[summary.path] = [text_hash(chunk.text) for chunk in embedding_chunks(summary.title, page.passages)]
            names = [name for found in held.values() for name in found]
            count += len(names)
            for model in find_models():
                made = generator.standard_normal((len(names), model.dimension), dtype=numpy.float32)
                made /= numpy.linalg.norm(made, axis=1, keepdims=True)
                half = made.astype("<f2")
                vectors.keep(
                    model.name, (Made(name, False, row.tobytes()) for name, row in zip(names, half, strict=True))
                )
                place(vectors, model.name, held, hashes)
        vectors.close()
    return count


def place(vectors: Vectors, model: str, held: dict[str, list[bytes]], hashes: dict[str, bytes]) -> None:
    """Do for many records at once what `Vectors.place` does for one: a commit a record would take minutes."""
    with immediate(vectors._connect()) as connection:
        connection.executemany(
            "INSERT OR IGNORE INTO place SELECT ?, id FROM text WHERE hash = ?",
            [(path, name) for path, found in held.items() for name in found],
        )
        connection.executemany(
            "INSERT OR REPLACE INTO source VALUES (?, ?, ?, 1)", [(model, path, hashes[path]) for path in held]
        )


def empty(root: Path) -> None:
    """Delete the vectors of a Root."""
    with Oracle.open(str(root)) as oracle:
        Vectors(oracle.root).discard()
