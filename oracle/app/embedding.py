"""Make the vectors of a Root's records, in an order that pays early: the beginning of every record before the rest of any.

May be stopped at any moment and goes on where it was. What is there already, under the hash of its text, is never made twice.
"""

from __future__ import annotations

from time import monotonic

from oracle.app.embedding_model import Model, neutral, require_model
from oracle.app.oracle import Oracle
from oracle.app.ranking_semantic import digest
from oracle.app.recall import read_page
from oracle.app.retrieve import check_filters, require_present
from oracle.app.views import Summary
from oracle.domain.stretches import Stretch, is_wide, stretches
from oracle.domain.values import value
from oracle.index import query
from oracle.index.vectors import Damaged, Made, Vectors, file_hashes
from oracle.store import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.index.db import Connection
    from oracle.index.reports import Progress

_BATCH = 64
"""Texts whose vectors are made and written at once: what an interruption may cost."""


@value
class Embedded:
    """How many records have vectors: all of their text (`whole`), or its beginning alone; `made` are those of this run."""

    records: int
    whole: int
    begun: int
    vectors: int
    made: int = 0
    model: str = ""

    @property
    def is_complete(self) -> bool:
        """Tell whether every record has all its vectors."""
        return self.whole == self.records

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "records": self.records,
            "whole": self.whole,
            "begun": self.begun,
            "vectors": self.vectors,
            "made": self.made,
            "complete": self.is_complete,
            "model": self.model,
        }


@value
class _Task:
    """A record whose vectors are to be made."""

    summary: Summary
    file_hash: bytes


class _Run:
    """One run over a Root, ended by the deadline at the latest."""

    def __init__(
        self, oracle: Oracle, model: Model, vectors: Vectors, deadline: float, progress: Progress | None
    ) -> None:
        self._oracle = oracle
        self._model = model
        self._vectors = vectors
        self._deadline = deadline
        self._progress = progress
        self.made = 0

    def make(self, tasks: Sequence[_Task], *, whole: bool) -> bool:
        """Make what is missing of each record, or of its beginning; tell whether that was all, before the deadline."""
        held: list[tuple[_Task, list[Stretch]]] = []
        for task in tasks:
            if monotonic() >= self._deadline:
                return False
            found = self._stretches(task)
            if found:
                held.append((task, found if whole else found[:1]))
            if sum(len(some) for _, some in held) >= _BATCH:
                self._write(held, whole=whole)
                held = []
        self._write(held, whole=whole)
        return True

    def _stretches(self, task: _Task) -> list[Stretch]:
        """Cut the file as it is now; nothing when it is gone, or is not what the index read any more."""
        try:
            raw = records.read(self._oracle.root.join(task.summary.path))
        except OSError:
            return []
        return stretches(task.summary.title, read_page(task.summary, raw).passages)

    def _write(self, held: Sequence[tuple[_Task, list[Stretch]]], *, whole: bool) -> None:
        texts = {digest(stretch.text): stretch.text for _, found in held for stretch in found}
        known = self._vectors.known(list(texts))
        missing = [(name, text) for name, text in texts.items() if name not in known]
        for start in range(0, len(missing), _BATCH):
            self._encode(missing[start : start + _BATCH])
        for task, found in held:
            names = [digest(stretch.text) for stretch in found]
            self._vectors.place(task.summary.path, task.file_hash, names, is_whole=whole or len(found) < 1)

    def _encode(self, texts: Sequence[tuple[bytes, str]]) -> None:
        made = self._model.encode([text for _, text in texts]).astype("<f2")
        self._vectors.keep(
            Made(name, is_wide(text), row.tobytes()) for (name, text), row in zip(texts, made, strict=True)
        )
        self.made += len(texts)
        if self._progress is not None:
            self._progress(self.made, "passages embedded")


def embed(oracle: Oracle, project: str = "", *, seconds: float = 0.0, progress: Progress | None = None) -> Embedded:
    """Make the vectors that are missing, of one project or all, for at most `seconds` (0: until all are there).

    Takes no lock of the Root: records may be written meanwhile. Raises UsageError without the extra, NotInFederation.
    """
    deadline = monotonic() + seconds if seconds else float("inf")
    model = require_model()
    wanted = check_filters({"project": project})
    tasks = oracle.index.read(lambda connection: _tasks(connection, wanted))
    if not tasks:
        require_present(oracle, wanted)
    vectors = Vectors(oracle.root)
    try:
        _begin(vectors, model)
        sources = vectors.sources()
        run = _Run(oracle, model, vectors, deadline, progress)
        run.make([task for task in tasks if sources.get(task.summary.path, (b"",))[0] != task.file_hash], whole=False)
        sources = vectors.sources()
        run.make([task for task in tasks if sources.get(task.summary.path) != (task.file_hash, True)], whole=True)
        known = set(oracle.index.read(file_hashes))
        vectors.forget(path for path in vectors.sources() if path not in known)
        return _count(oracle, vectors, made=run.made)
    finally:
        vectors.close()


def embedded(oracle: Oracle) -> Embedded | None:
    """Return how much of the Root has vectors, None when no vector was ever made."""
    vectors = Vectors(oracle.root)
    try:
        return _count(oracle, vectors) if vectors.meta() else None
    except Damaged as error:
        oracle.warn(f"The vectors can't be used: {error}.")
        return None
    finally:
        vectors.close()


def _tasks(connection: Connection, wanted: dict[str, str]) -> list[_Task]:
    hashes = file_hashes(connection)
    rows = query.listing(connection, wanted, limit=0, newest_first=True)
    summaries = (Summary.from_row(row) for row in rows)
    return [_Task(summary, hashes[summary.path]) for summary in summaries]


def _begin(vectors: Vectors, model: Model) -> None:
    """Make the file, unless it is there for this model."""
    try:
        is_begun = vectors.meta().get("model") == model.name.encode()
    except Damaged:
        vectors.discard()
        is_begun = False
    if not is_begun:
        vectors.begin({"model": model.name.encode(), **neutral(model)})


def _count(oracle: Oracle, vectors: Vectors, *, made: int = 0) -> Embedded:
    hashes = oracle.index.read(file_hashes)
    sources = vectors.sources()
    states = [is_whole for path, (digest_, is_whole) in sources.items() if hashes.get(path) == digest_]
    model = vectors.meta().get("model", b"").decode()
    return Embedded(len(hashes), sum(states), len(states) - sum(states), vectors.count(), made, model)
