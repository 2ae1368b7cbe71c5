"""Make the vectors of a Root's records, in an order that pays early: the beginning of every record before the rest of any.

May be stopped at any moment and goes on where it was. What is there already, under the hash of its text, is never made twice.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from time import monotonic

from oracle.app.context import Context
from oracle.app.records.listing import check_filters, require_present
from oracle.app.records.views import Summary
from oracle.app.search.models import NEUTRAL, Model, find_models, neutral, require_models
from oracle.app.search.ranking.pages import read_page
from oracle.domain.markdown.embedding_chunks import EmbeddingChunk, embedding_chunks, is_wide
from oracle.domain.values import contents_of, value
from oracle.errors import DiskFailure
from oracle.index.read import query
from oracle.index.vectors import Damaged, Made, Vectors, text_hash
from oracle.store.disk.files import disk_failure
from oracle.store.markdown import records
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.app.search.models import Rows
    from oracle.index.db import Connection
    from oracle.index.reports import Progress

_BATCH = 64
"""Texts whose vectors are made and written at once, at most."""
_AT_ONCE = 1.0
"""Seconds that a batch takes, about: what an interruption may cost, and how far a run goes beyond its time."""


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
        models = [contents_of(one) for one in self.models]
        return {"records": self.records, "complete": self.is_complete, "models": models}


@value
class _Task:
    """A record whose vectors are to be made."""

    summary: Summary
    file_hash: bytes


@value
class _Held:
    """A record and those of its texts that a model is to read, under their hashes."""

    task: _Task
    texts: dict[bytes, str]


class _Pace:
    """How many texts are read at once: what takes about a second at the pace of the last batch, and ends in time."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._bytes_a_second = 0.0

    def is_over(self) -> bool:
        """Tell whether there is no time left."""
        return not monotonic() < self._deadline

    def read(self, model: Model, texts: Sequence[tuple[bytes, str]]) -> tuple[Sequence[tuple[bytes, str]], Rows]:
        """Let a model read the first of these texts, one at least (the very first time, one); return them and their vectors."""
        begun = monotonic()
        room = min(_AT_ONCE, self._deadline - begun) * self._bytes_a_second
        sizes = list(accumulate(len(text.encode(errors="replace")) for _, text in texts[:_BATCH]))
        number = max(1, bisect_right(sizes, room))
        rows = model.read([text for _, text in texts[:number]])
        self._bytes_a_second = sizes[number - 1] / max(monotonic() - begun, 1e-3)
        return texts[:number], rows


class _Run:
    """One run of a model over a Root, ended by its deadline."""

    def __init__(
        self, context: Context, model: Model, vectors: Vectors, pace: _Pace, progress: Progress | None
    ) -> None:
        self._oracle = context
        self._model = model
        self._vectors = vectors
        self._pace = pace
        self._progress = progress
        self.made = 0
        self._read = 0
        self._wanted = 0

    def begin(self) -> bool:
        """Start anew when what is there was made by another version of the model; tell whether there was time for it.

        What was asked of the model before time was up is kept, so that short runs get there too.
        """
        name, about = self._model.name, self._model.about.encode()
        meta = self._vectors.meta()
        if meta.get(f"{name} about") == about:
            return True
        asked = {
            script: meta[f"{name} {script}"] for script in NEUTRAL if meta.get(f"{name} asked {script} of") == about
        }
        for script in NEUTRAL:
            if self._pace.is_over():
                return False
            if script not in asked:
                asked[script] = neutral(self._model, script)
                self._vectors.note(name, {script: asked[script], f"asked {script} of": about})
        self._vectors.begin_model(name, {"about": about, **asked})
        return True

    def sources(self) -> dict[str, tuple[bytes, bool]]:
        """Return what the model has read already."""
        return self._vectors.sources(self._model.name)

    def make(self, tasks: Sequence[_Task], *, whole: bool) -> bool:
        """Make what is missing of each record, or of its beginning; tell whether that was all, before the deadline."""
        self._read, self._wanted = 0, len(tasks)
        held: list[_Held] = []
        for task in tasks:
            if self._pace.is_over():
                break
            found = self._chunks(task)[: None if whole else 1]
            held.append(_Held(task, {text_hash(chunk.text): chunk.text for chunk in found}))
            if sum(len(one.texts) for one in held) >= _BATCH:
                self._write(held, whole=whole)
                held = []
        self._write(held, whole=whole)
        return self._read == self._wanted

    def _chunks(self, task: _Task) -> list[EmbeddingChunk]:
        """Cut the file as it is now; nothing when it is gone, or is not what the index read any more."""
        try:
            raw = records.read(self._oracle.root.join(task.summary.path))
        except OSError:
            return []
        return embedding_chunks(task.summary.title, read_page(task.summary, raw).passages)

    def _write(self, held: Sequence[_Held], *, whole: bool) -> None:
        """Make what is missing of these, while there is time, and write down which of them have been read."""
        texts = {name: text for one in held for name, text in one.texts.items()}
        known = self._vectors.known(self._model.name, list(texts))
        missing = [(name, text) for name, text in texts.items() if name not in known]
        held = self._place(held, missing, whole=whole)
        try:
            while missing and not self._pace.is_over():
                missing = missing[self._encode(missing) :]
                held = self._place(held, missing, whole=whole)
                self._report()
        finally:
            self._place_parts(held, missing)

    def _place(self, held: Sequence[_Held], missing: Sequence[tuple[bytes, str]], *, whole: bool) -> Sequence[_Held]:
        """Write down which of these have been read, now that those texts alone are missing; return the others."""
        unread = {name for name, _ in missing}
        waiting = [one for one in held if not unread.isdisjoint(one.texts)]
        for one in held:
            if one.texts and unread.isdisjoint(one.texts):
                path = one.task.summary.path
                self._vectors.place(self._model.name, path, one.task.file_hash, list(one.texts), is_whole=whole)
        self._read += len(held) - len(waiting)
        return waiting

    def _place_parts(self, held: Sequence[_Held], missing: Sequence[tuple[bytes, str]]) -> None:
        """Write down what has been read of records that have not been read whole: a text that no record holds is forgotten."""
        unread = {name for name, _ in missing}
        for one in held:
            read = [name for name in one.texts if name not in unread]
            if read:
                self._vectors.place(self._model.name, one.task.summary.path, one.task.file_hash, read, is_whole=False)

    def _encode(self, missing: Sequence[tuple[bytes, str]]) -> int:
        """Make and write the vectors of the first of these texts; return how many that were."""
        texts, rows = self._pace.read(self._model, missing)
        self._vectors.keep(
            self._model.name,
            (
                Made(name, is_wide(text), row.tobytes())
                for (name, text), row in zip(texts, rows.astype("<f2"), strict=True)
            ),
        )
        self.made += len(texts)
        return len(texts)

    def _report(self) -> None:
        if self._progress is not None:
            what = say(
                "passages embedded by the {model} model, {read:,} of {wanted:,} records read",
                model=self._model.name,
                read=self._read,
                wanted=self._wanted,
            )
            self._progress(self.made, what)


def embed(
    context: Context, project: str = "", *, seconds: float | None = None, progress: Progress | None = None
) -> Coverage:
    """Make the vectors that are missing, of one project or all, for at most `seconds` (None: until all are there).

    The time is looked at between batches of about a second; 0 makes nothing and tells how far it is.

    Takes no lock of the Root: records may be written meanwhile. Raises UsageError without the extra, NotInFederation, DiskFailure.
    """
    deadline = float("inf") if seconds is None else monotonic() + seconds
    models = require_models()
    wanted = check_filters({"project": project})
    tasks = context.index.read(lambda connection: _tasks(connection, wanted))
    if not tasks:
        require_present(context, wanted)
    vectors = Vectors(context.root)
    made: dict[str, int] = {}
    try:
        try:
            vectors.begin()
        except OSError as error:
            raise disk_failure(context.root.vectors, error) from error
        for model in models:
            made[model.name] = _embed(_Run(context, model, vectors, _Pace(deadline), progress), tasks)
        known = set(context.index.read(query.file_hashes))
        vectors.forget(path for model in models for path in vectors.sources(model.name) if path not in known)
        return _count(context, vectors, models, made)
    except Damaged as error:
        raise DiskFailure(
            say("{vectors} can't be used: {error}.", vectors=context.root.vectors, error=error),
            hint=say("Run `oracle doctor`; no record was lost."),
        ) from error
    finally:
        vectors.close()


def embedded(context: Context) -> Coverage | None:
    """Return how much of the Root has vectors, None when no vector was ever made or the extra is not installed."""
    vectors = Vectors(context.root)
    models = find_models()
    try:
        return _count(context, vectors, models, {}) if models and vectors.meta() else None
    except Damaged as error:
        context.warn(say("The vectors can't be used: {error}.", error=error))
        return None
    finally:
        vectors.close()


def _tasks(connection: Connection, wanted: dict[str, str]) -> list[_Task]:
    hashes = query.file_hashes(connection)
    rows = query.listing(connection, wanted, limit=0, newest_first=True)
    summaries = (Summary.from_row(row) for row in rows)
    return [_Task(summary, hashes[summary.path]) for summary in summaries]


def _embed(run: _Run, tasks: Sequence[_Task]) -> int:
    """Let one model read the beginnings, then the rest; return how many vectors it made."""
    if not run.begin():
        return 0
    for whole in (False, True):
        sources = run.sources()
        missing = [task for task in tasks if not _is_read(task, sources.get(task.summary.path), whole=whole)]
        if not run.make(missing, whole=whole):
            break
    return run.made


def _is_read(task: _Task, source: tuple[bytes, bool] | None, *, whole: bool) -> bool:
    return source is not None and source[0] == task.file_hash and (source[1] or not whole)


def _count(context: Context, vectors: Vectors, models: Sequence[Model], made: Mapping[str, int]) -> Coverage:
    hashes = context.index.read(query.file_hashes)
    found = []
    for model in models:
        sources = vectors.sources(model.name)
        states = [is_whole for path, (name, is_whole) in sources.items() if hashes.get(path) == name]
        whole = sum(states)
        number = vectors.count(model.name)
        found.append(Embedded(model.name, model.about, whole, len(states) - whole, number, made.get(model.name, 0)))
    return Coverage(len(hashes), tuple(found))
