"""Make the vectors of a Root's records, in an order that pays early: the beginning of every record before the rest of any.

May be stopped at any moment and goes on where it was. What is there already, under the hash of its text, is never made twice.
"""

from __future__ import annotations

from time import monotonic

from oracle.app.embedding_model import Model, find_models, neutral, require_models
from oracle.app.oracle import Oracle
from oracle.app.ranking.semantic import digest
from oracle.app.recall import read_page
from oracle.app.retrieve import check_filters, require_present
from oracle.app.views import Summary
from oracle.domain.stretches import Stretch, is_wide, stretches
from oracle.domain.values import fields_of, value
from oracle.errors import DiskFailure
from oracle.index import query
from oracle.index.vectors import Damaged, Made, Vectors, file_hashes
from oracle.store import records
from oracle.store.files import disk_failure
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.index.db import Connection
    from oracle.index.reports import Progress

_BATCH = 64
"""Texts whose vectors are made and written at once: what an interruption may cost."""


@value
class Embedded:
    """How far one model is: records of which it has read all (`whole`) or the beginning alone; `made` in this run."""

    model: str
    about: str
    whole: int
    begun: int
    vectors: int
    made: int = 0


@value
class Coverage:
    """How far each model is, the quick one first."""

    records: int
    models: tuple[Embedded, ...]

    @property
    def is_complete(self) -> bool:
        """Tell whether every model has read every record."""
        return all(one.whole == self.records for one in self.models)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        models = [{name: getattr(one, name) for name in fields_of(one)} for one in self.models]
        return {"records": self.records, "complete": self.is_complete, "models": models}


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

    def begin(self) -> None:
        """Start anew when what is there was made by another version of the model."""
        about = self._model.about.encode()
        if self._vectors.meta().get(f"{self._model.name} about") != about:
            self._vectors.begin_model(self._model.name, {"about": about, **neutral(self._model)})

    def sources(self) -> dict[str, tuple[bytes, bool]]:
        """Return what the model has read already."""
        return self._vectors.sources(self._model.name)

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
        known = self._vectors.known(self._model.name, list(texts))
        missing = [(name, text) for name, text in texts.items() if name not in known]
        for start in range(0, len(missing), _BATCH):
            self._encode(missing[start : start + _BATCH])
        for task, found in held:
            names = [digest(stretch.text) for stretch in found]
            self._vectors.place(self._model.name, task.summary.path, task.file_hash, names, is_whole=whole)

    def _encode(self, texts: Sequence[tuple[bytes, str]]) -> None:
        made = self._model.read([text for _, text in texts]).astype("<f2")
        self._vectors.keep(
            self._model.name,
            (Made(name, is_wide(text), row.tobytes()) for (name, text), row in zip(texts, made, strict=True)),
        )
        self.made += len(texts)
        if self._progress is not None:
            self._progress(self.made, say("passages embedded"))


def embed(oracle: Oracle, project: str = "", *, seconds: float = 0.0, progress: Progress | None = None) -> Coverage:
    """Make the vectors that are missing, of one project or all, for at most `seconds` (0: until all are there).

    Takes no lock of the Root: records may be written meanwhile. Raises UsageError without the extra, NotInFederation, DiskFailure.
    """
    deadline = monotonic() + seconds if seconds else float("inf")
    models = require_models()
    wanted = check_filters({"project": project})
    tasks = oracle.index.read(lambda connection: _tasks(connection, wanted))
    if not tasks:
        require_present(oracle, wanted)
    vectors = Vectors(oracle.root)
    made: dict[str, int] = {}
    try:
        try:
            vectors.begin()
        except OSError as error:
            raise disk_failure(oracle.root.vectors, error) from error
        for model in models:
            made[model.name] = _embed(_Run(oracle, model, vectors, deadline, progress), tasks)
        known = set(oracle.index.read(file_hashes))
        vectors.forget(path for model in models for path in vectors.sources(model.name) if path not in known)
        return _count(oracle, vectors, models, made)
    except Damaged as error:
        raise DiskFailure(
            say("{vectors} can't be used: {error}.", vectors=oracle.root.vectors, error=error),
            hint=say("Run `oracle doctor`; no record was lost."),
        ) from error
    finally:
        vectors.close()


def embedded(oracle: Oracle) -> Coverage | None:
    """Return how much of the Root has vectors, None when no vector was ever made or the extra is not installed."""
    vectors = Vectors(oracle.root)
    models = find_models()
    try:
        return _count(oracle, vectors, models, {}) if models and vectors.meta() else None
    except Damaged as error:
        oracle.warn(say("The vectors can't be used: {error}.", error=error))
        return None
    finally:
        vectors.close()


def _tasks(connection: Connection, wanted: dict[str, str]) -> list[_Task]:
    hashes = file_hashes(connection)
    rows = query.listing(connection, wanted, limit=0, newest_first=True)
    summaries = (Summary.from_row(row) for row in rows)
    return [_Task(summary, hashes[summary.path]) for summary in summaries]


def _embed(run: _Run, tasks: Sequence[_Task]) -> int:
    """Let one model read the beginnings, then the rest; return how many vectors it made."""
    run.begin()
    for whole in (False, True):
        sources = run.sources()
        missing = [task for task in tasks if not _is_read(task, sources.get(task.summary.path), whole=whole)]
        if not run.make(missing, whole=whole):
            break
    return run.made


def _is_read(task: _Task, source: tuple[bytes, bool] | None, *, whole: bool) -> bool:
    return source is not None and source[0] == task.file_hash and (source[1] or not whole)


def _count(oracle: Oracle, vectors: Vectors, models: Sequence[Model], made: Mapping[str, int]) -> Coverage:
    hashes = oracle.index.read(file_hashes)
    found = []
    for model in models:
        sources = vectors.sources(model.name)
        states = [is_whole for path, (name, is_whole) in sources.items() if hashes.get(path) == name]
        whole = sum(states)
        number = vectors.count(model.name)
        found.append(Embedded(model.name, model.about, whole, len(states) - whole, number, made.get(model.name, 0)))
    return Coverage(len(hashes), tuple(found))
