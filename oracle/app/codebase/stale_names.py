"""Whether what a record names is still there: paths, symbols, commits and branches, looked up in the project's repository.

It reads the registered repository of the project with git and a time limit, writes nothing and takes no lock.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from enum import StrEnum

from oracle.app.context import Context
from oracle.app.git import OutOfTime, Repository
from oracle.app.records.listing import list_records
from oracle.app.records.views import Summary
from oracle.domain import timestamps
from oracle.domain.links.code_names import Named, NameKind, names_in
from oracle.domain.markdown.documents import Document
from oracle.domain.names import project_of, say_state
from oracle.domain.values import value
from oracle.store.markdown import records
from oracle.store.root import projects
from oracle.store.root.configuration import patterns_of
from oracle.wording import say

ANSWER_BUDGET, LISTING_BUDGET = 10.0, 120.0
"""Seconds that one repository may take of an answer, and of a listing of everything; what is left over is unchecked."""


class Liveness(StrEnum):
    """Whether a name still exists, worst first."""

    GONE = "gone"
    MOVED = "moved"
    LIVE = "live"
    UNCHECKED = "unchecked"

    @property
    def shown(self) -> str:
        """The word as people read it."""
        return say_state(self.value)


_SEVERITY = list(Liveness)


@value
class Looked:
    """A name as it was looked up; `detail` says where it is now, or why nobody could look."""

    named: Named
    liveness: Liveness
    detail: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        item = self.named
        values: dict[str, object] = {"kind": item.sort.value, "name": item.name, "line": item.line}
        values["liveness"] = self.liveness.value
        return {**values, "detail": self.detail} if self.detail else values


@value
class CheckedRecord:
    """A record with what became of the names in it, and when they were looked up."""

    record: Summary
    names: tuple[Looked, ...]
    verified_at: str

    @property
    def liveness(self) -> Liveness:
        """The worst of its names; unchecked when there is none that could be looked up."""
        return worst(self.names)

    def of(self, *wanted: Liveness) -> tuple[Looked, ...]:
        """Return the names in this state."""
        return tuple(item for item in self.names if item.liveness in wanted)

    @property
    def worst_names(self) -> tuple[Looked, ...]:
        """The names that are gone or moved, in the order of their lines."""
        return self.of(Liveness.GONE, Liveness.MOVED)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form: the record, and the names that are gone or moved."""
        names = [item.as_json() for item in self.worst_names]
        values = {"liveness": self.liveness.value, "verified_at": self.verified_at, "names": names}
        return {**self.record.as_json(), **values}


@value
class StaleReport:
    """The records that name something that is gone, and what was looked at to find them."""

    records: tuple[CheckedRecord, ...] = ()
    looked_up: int = 0
    unchecked: int = 0
    repositories: tuple[tuple[str, str], ...] = ()
    """(project, folder of its repository) of every project that has records; "" for one without a repository."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "records": [item.as_json() for item in self.records],
            "looked_up": self.looked_up,
            "unchecked": self.unchecked,
            "repositories": {project: path or None for project, path in self.repositories},
        }


def worst(names: Iterable[Looked]) -> Liveness:
    """Return the worst liveness of some names."""
    return min((item.liveness for item in names), key=_SEVERITY.index, default=Liveness.UNCHECKED)


def check_record(context: Context, record: Summary) -> CheckedRecord | None:
    """Return what became of the names in a record, None for one that cannot be read."""
    document = _read(context, record)
    return Checker(context, budget=ANSWER_BUDGET).check_answer(record, document) if document is not None else None


def stale(context: Context, project: str = "", *, fresh: bool = False) -> StaleReport:
    """Return the records that hold and name something that is gone, newest first. Raises NotInFederation, UsageError."""
    listed = list_records(context, {"project": project} if project else {}, newest_first=True, fresh=fresh)
    checker = Checker(context, budget=LISTING_BUDGET)
    found, looked_up, unchecked = [], 0, 0
    for record in listed:
        document = _read(context, record) if record.effective_status not in ("superseded", "retired") else None
        if document is None:
            continue
        checked = checker.check(record, document)
        unchecked += len(checked.of(Liveness.UNCHECKED))
        looked_up += len(checked.names) - len(checked.of(Liveness.UNCHECKED))
        if checked.liveness is Liveness.GONE:
            found.append(checked)
    names = sorted({project_of(record.path) for record in listed} - {""})
    return StaleReport(tuple(found), looked_up, unchecked, tuple((name, checker.folder_of(name)) for name in names))


def _read(context: Context, record: Summary) -> Document | None:
    return records.read_document(context.root, record.path) if record.path.endswith(".md") else None


class Checker:
    """Look names up, each once a repository; lives for one question."""

    def __init__(self, context: Context, *, budget: float) -> None:
        self._oracle = context
        self._budget = budget
        self._folders: dict[str, str] = {}
        self._repositories: dict[str, Repository] = {}
        self._known: dict[tuple[str, NameKind, str], tuple[Liveness, str]] = {}
        self._faults: dict[str, str] = {}

    def folder_of(self, project: str) -> str:
        """Return the folder of a project's repository, "" when it has none."""
        if project not in self._folders:
            self._folders[project] = projects.repository(self._oracle.root, project, os.environ) if project else ""
        return self._folders[project]

    def check_answer(self, record: Summary, document: Document) -> CheckedRecord:
        """Look up what a record names; nothing where the project has no repository to look into."""
        if self.folder_of(project_of(record.path)):
            return self.check(record, document)
        return CheckedRecord(record, (), timestamps.from_mtime(self._oracle.clock.now_ns()))

    def check(self, record: Summary, document: Document) -> CheckedRecord:
        """Look up what a record names."""
        project = project_of(record.path)
        patterns = patterns_of(self._oracle.root, project, report=self._faults.__setitem__)
        moment = timestamps.from_mtime(self._oracle.clock.now_ns())
        names = tuple(self._look(project, named) for named in names_in(document, patterns))
        return CheckedRecord(record, names, moment)

    def _look(self, project: str, named: Named) -> Looked:
        folder = self.folder_of(project)
        if not folder:
            return Looked(named, Liveness.UNCHECKED, say("the project has no repository"))
        key = (folder, named.sort, named.name)
        if key not in self._known:
            repository = self._repositories.setdefault(folder, Repository(folder, budget=self._budget))
            try:
                self._known[key] = self._ask(repository, named)
            except OutOfTime:
                self._known[key] = (Liveness.UNCHECKED, say("git gave no answer in time"))
        return Looked(named, *self._known[key])

    def _ask(self, repository: Repository, named: Named) -> tuple[Liveness, str]:
        if named.sort is NameKind.PATH:
            return self._path(repository, named.name)
        if not repository.is_git:
            return Liveness.UNCHECKED, say("the registered folder is not a repository")
        if named.sort is NameKind.SYMBOL:
            return self._symbol(repository, named)
        return (_commit if named.sort is NameKind.COMMIT else _branch)(repository, named.name)

    def _path(self, repository: Repository, name: str) -> tuple[Liveness, str]:
        path = _inside(repository, name)
        if not path:
            return Liveness.UNCHECKED, say("it lies outside of the repository")
        if repository.has_file(path) or self._is_of_root(path):
            return Liveness.LIVE, ""
        if repository.has(path):
            return Liveness.LIVE, say("left out of the work tree by a sparse checkout")
        if not repository.is_git:
            return (
                (Liveness.UNCHECKED, say("the repository has no files")) if repository.is_bare else (Liveness.GONE, "")
            )
        namesakes = sorted(one for one in repository.tracked if one == path or one.endswith(f"/{path}"))
        if namesakes and repository.has(namesakes[0]):
            return Liveness.LIVE, say("as {path}", path=namesakes[0])
        place, commit = repository.renamed(path)
        if place:
            return Liveness.MOVED, say("now {place}, since {commit}", place=place, commit=commit)
        named = path.rpartition("/")[2]
        others = sorted(one for one in repository.tracked if one.rpartition("/")[2] == named and one != path)
        if len(others) == 1 and "/" in path:
            return Liveness.MOVED, say("perhaps now {place}", place=others[0])
        return Liveness.GONE, say("since {commit}", commit=commit) if commit else ""

    def _is_of_root(self, path: str) -> bool:
        place = self._oracle.root.join(path)
        return os.path.lexists(place) and self._oracle.root.contains(place)

    def _symbol(self, repository: Repository, named: Named) -> tuple[Liveness, str]:
        """Return whether a symbol is there. Only one that is written as a call, or that the history has, can be gone."""
        base = f"{os.path.realpath(repository.path)}/"
        root = os.path.realpath(self._oracle.root.path)
        own = root.removeprefix(base) if root.startswith(base) else ""
        if named.name.startswith("--"):
            return _flag(repository, named.name, leaving_out=own)
        parts = tuple(re.split(r"\.|::", named.name))
        if repository.has_symbol(parts, leaving_out=own):
            return Liveness.LIVE, ""
        if named.is_call:
            return Liveness.GONE, ""
        missing = [part for part in parts if len(parts) == 1 or not repository.has_symbol((part,), leaving_out=own)]
        if any(repository.had_word(part, leaving_out=own) for part in missing):
            return Liveness.GONE, ""
        if repository.is_shallow:
            return Liveness.UNCHECKED, say("the history is cut off")
        return Liveness.UNCHECKED, say("the repository never had it")


def _flag(repository: Repository, name: str, *, leaving_out: str) -> tuple[Liveness, str]:
    """Return whether an option of a command is there: as it is typed, or as the parameter that a program makes it of."""
    bare = name.removeprefix("--")
    spellings = (name, bare.replace("-", "_"), bare)
    if any(repository.has_symbol((one,), leaving_out=leaving_out) for one in dict.fromkeys(spellings)):
        return Liveness.LIVE, ""
    if any(repository.had_word(one, leaving_out=leaving_out) for one in spellings[:2]):
        return Liveness.GONE, ""
    return Liveness.UNCHECKED, say("the repository never had it")


def _inside(repository: Repository, name: str) -> str:
    """Return a path relative to the repository, "" for one that lies elsewhere."""
    path = os.path.expanduser(name) if name.startswith("~/") else name
    if os.path.isabs(path):
        base = f"{os.path.realpath(repository.path)}/"
        path = os.path.realpath(path)
        if not path.startswith(base):
            return ""
        path = path[len(base) :]
    path = os.path.normpath(path)
    return "" if path.startswith("..") or "\0" in path else path


def _commit(repository: Repository, name: str) -> tuple[Liveness, str]:
    in_history, exists = repository.holds_commit(name.lower())
    if in_history:
        return Liveness.LIVE, ""
    if not exists and repository.is_shallow:
        return Liveness.UNCHECKED, say("the history is cut off")
    return Liveness.GONE, say("it is not in the history of HEAD") if exists else say("no such commit")


def _branch(repository: Repository, name: str) -> tuple[Liveness, str]:
    return (Liveness.LIVE, "") if name in repository.branches else (Liveness.GONE, say("no such branch"))
