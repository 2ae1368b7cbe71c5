"""Make the vectors of a Root's records, in an order that pays early: the beginning of every record before the rest of any.

May be stopped at any moment and goes on where it was. What is there already, under the hash of its text, is never made twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice
from time import monotonic

from oracle.app.context import Context
from oracle.app.records.listing import check_filters, require_present
from oracle.app.records.views import Summary
from oracle.app.search.models import SCRIPTS, Model, find_models, neutral, require_models
from oracle.app.search.ranking.pages import read_page
from oracle.domain.markdown.passages import EmbeddingChunk, embedding_chunks
from oracle.domain.values import contents_of, replace, value
from oracle.errors import DiskFailure
from oracle.index.db import Connection
from oracle.index.fold import is_wide_text
from oracle.index.read import query
from oracle.index.reports import Progress
from oracle.index.vectors import Damaged, Made, Vectors, text_hash
from oracle.store.disk.files import failing
from oracle.store.markdown import records
from oracle.wording import say

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
        """Return whether every model has read every record."""
        return all(one.whole == self.records for one in self.models)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        models = [contents_of(one) for one in self.models]
        return {"records": self.records, "complete": self.is_complete, "models": models}


@value
class _Task:
    """A record, and those of its texts that a model is to read, under their hashes."""

    summary: Summary
    file_hash: bytes
    texts: Mapping[bytes, str]

    def is_read(self, source: tuple[bytes, bool] | None, *, whole: bool) -> bool:
        """Return whether a model has read these bytes, or the beginning."""
        return source is not None and source[0] == self.file_hash and (source[1] or not whole)


class _Run:
    """One run of a model over a Root, ended by its deadline.

    A batch is what takes about a second at the pace of the last one, and ends in time.
    """

    def __init__(
        self, context: Context, model: Model, vectors: Vectors, deadline: float, progress: Progress | None
    ) -> None:
        self._context = context
        self._model = model
        self._vectors = vectors
        self._deadline = deadline
        self._progress = progress
        self._bytes_a_second = 0.0
        self._made = 0
        self._read = 0

    def _is_over(self) -> bool:
        return not monotonic() < self._deadline

    def make(self, tasks: Sequence[_Task]) -> int:
        """Read the beginnings of records, then the rest; return how many vectors were made."""
        if self._begin():
            for whole in (False, True):
                sources = self._vectors.sources(self._model.name)
                missing = [task for task in tasks if not task.is_read(sources.get(task.summary.path), whole=whole)]
                if not self._make(missing, whole=whole):
                    break
        return self._made

    def _begin(self) -> bool:
        """Delete what another version of the model made; return whether there was time to start again.

        What was asked of the model before time was up is kept, so that short runs get there too.
        """
        name, about = self._model.name, self._model.about.encode()
        meta = self._vectors.meta()
        if meta.get(f"{name} about") == about:
            return True
        asked = {one: meta[f"{name} {one}"] for one in SCRIPTS if meta.get(f"{name} asked {one} of") == about}
        for script in SCRIPTS:
            if self._is_over():
                return False
            if script not in asked:
                asked[script] = neutral(self._model, script)
                self._vectors.note(name, {script: asked[script], f"asked {script} of": about})
        self._vectors.begin_model(name, {"about": about, **asked})
        return True

    def _make(self, tasks: Sequence[_Task], *, whole: bool) -> bool:
        """Make what is missing of each record, or of its beginning; return whether that was all, before the deadline."""
        self._read = 0
        held: list[_Task] = []
        for task in tasks:
            if self._is_over():
                break
            chunks = self._chunks(task)[: None if whole else 1]
            held.append(replace(task, texts={text_hash(chunk.text): chunk.text for chunk in chunks}))
            if sum(len(one.texts) for one in held) >= _BATCH:
                self._write(held, len(tasks), whole=whole)
                held = []
        self._write(held, len(tasks), whole=whole)
        return self._read == len(tasks)

    def _chunks(self, task: _Task) -> list[EmbeddingChunk]:
        """Cut the file as it is now; none when it is gone."""
        try:
            raw = records.load(self._context.root, task.summary.path)
        except OSError:
            return []
        return embedding_chunks(task.summary.title, read_page(task.summary, raw).passages)

    def _write(self, held: Sequence[_Task], wanted: int, *, whole: bool) -> None:
        """Make what is missing of these, while there is time, and note which of them were read, or in part."""
        texts = {name: text for one in held for name, text in one.texts.items()}
        known = self._vectors.known(self._model.name, list(texts))
        missing = {name: text for name, text in texts.items() if name not in known}
        held = self._place(held, missing, whole=whole)
        try:
            while missing and not self._is_over():
                self._encode(missing)
                held = self._place(held, missing, whole=whole)
                self._report(wanted)
        finally:
            for one in held:  # a text that no record holds is forgotten
                read = [name for name in one.texts if name not in missing]
                if read:
                    self._vectors.place(self._model.name, one.summary.path, one.file_hash, read, is_whole=False)

    def _place(self, held: Sequence[_Task], missing: Mapping[bytes, str], *, whole: bool) -> list[_Task]:
        """Note which of these were read, now that those texts alone are missing; return the others."""
        waiting = []
        for one in held:
            if not missing.keys().isdisjoint(one.texts):
                waiting.append(one)
            elif one.texts:
                names = list(one.texts)
                self._vectors.place(self._model.name, one.summary.path, one.file_hash, names, is_whole=whole)
        self._read += len(held) - len(waiting)
        return waiting

    def _encode(self, missing: dict[bytes, str]) -> None:
        """Make and write the vectors of the first of these texts, one at least (the very first time, one), and take them out."""
        begun = monotonic()
        room = min(_AT_ONCE, self._deadline - begun) * self._bytes_a_second
        names = list(islice(missing, _BATCH))
        sizes = list(accumulate(len(missing[name].encode(errors="replace")) for name in names))
        names = names[: max(1, bisect_right(sizes, room))]
        texts = [missing[name] for name in names]
        rows = self._model.read(texts)
        self._bytes_a_second = sizes[len(names) - 1] / max(monotonic() - begun, 1e-3)
        made = zip(names, texts, rows.astype("<f2"), strict=True)
        self._vectors.keep(
            self._model.name, (Made(name, is_wide_text(text), row.tobytes()) for name, text, row in made)
        )
        for name in names:
            del missing[name]
        self._made += len(names)

    def _report(self, wanted: int) -> None:
        if self._progress is not None:
            what = say(
                "passages embedded by the {model} model, {read:,} of {wanted:,} records read",
                model=self._model.name,
                read=self._read,
                wanted=wanted,
            )
            self._progress(self._made, what)


def embed(
    context: Context, project: str = "", *, seconds: float | None = None, progress: Progress | None = None
) -> Coverage:
    """Make the vectors that are missing, of one project or all, for at most `seconds` (None: until all are there).

    Time is checked between batches of about a second; with 0 nothing is made, and the result says how far it is.

    Takes no lock of the Root: records may be written meanwhile. Raises UsageError without the extra, NotInFederation, DiskFailure.
    """
    deadline = float("inf") if seconds is None else monotonic() + seconds
    models = require_models()
    wanted = check_filters({"project": project})
    tasks = context.index.read(lambda connection: _tasks(connection, wanted))
    if not tasks:
        require_present(context, wanted)
    vectors = Vectors(context.root)
    try:
        with failing(context.root.vectors):
            vectors.begin()
        made = {model.name: _Run(context, model, vectors, deadline, progress).make(tasks) for model in models}
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
    return [_Task(summary, hashes[summary.path], {}) for summary in map(Summary.from_row, rows)]


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
