"""Add, allow, list, check and remove the sources of a Root. Nothing is ever written into a source."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.app.root import reconcile
from oracle.app.sources.places import find_folder
from oracle.domain.names import check_name, fold_name
from oracle.domain.sources.claude_code import find_faults
from oracle.domain.sources.source import CLAUDE_CODE, INDEX, KINDS, NAMED_BY_FILE, OPENCLAW, Source
from oracle.domain.spelling import guess, suggest
from oracle.domain.values import replace, value
from oracle.errors import NotFound, RecordExists, UsageError
from oracle.index.listing import printable
from oracle.index.read import query
from oracle.store.markdown.sources import left_out, read_list
from oracle.store.root import sources
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.wording import Sentence

_SEAT = "source"
"""The seat of the records of a source that was added without one."""


@value
class SourceState:
    """A source as it is now: how many records of it the index knows, what is wrong with files, and why it is not read.

    `left_out` are the paths of files that are not read because of their names.
    """

    source: Source
    records: int
    problems: tuple[tuple[str, int, str], ...]
    why_not: str
    left_out: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            **self.source.as_json(),
            "tree": self.source.tree,
            "records": self.records,
            "problems": [{"path": path, "line": line, "reason": reason} for path, line, reason in self.problems],
            "why_not": self.why_not,
            "left_out": list(self.left_out),
        }


def add(
    context: Context,
    kind: str,
    path: str,
    *,
    project: str,
    seat: str = "",
    name: str = "",
    long_term: bool = False,
) -> SourceState:
    """Register a folder as a source, allow it on this machine, and index it. Raises UsageError, RecordExists, DiskFailure."""
    context.root.require()
    if long_term and not seat:
        raise UsageError(
            say("A private memory needs the seat that may see it."), hint=say("Name the seat with --seat SEAT.")
        )
    source = _described(context, kind, path, project=project, seat=seat, name=name)
    source = replace(source, is_open=long_term and source.kind == OPENCLAW)
    with context.index.lock():
        known = sources.read(context.root)
        for other in known:
            if other.tree == source.tree:
                raise RecordExists(
                    say("The project {project} has a source {name}: {path}.", **_words(other)),
                    hint=say("Choose another name with --name, or remove that one."),
                )
            if os.path.realpath(other.folder) == source.folder:
                raise RecordExists(
                    say("{path} is the source {name} of the project {project}.", **_words(other)),
                    hint=say("A folder is one source; remove that one first."),
                )
        # The registry comes last: a source that is listed but not allowed would be refused when it is added again.
        sources.allow(context.root, [*_others(sources.load_allowed(context.root), source), source])
        sources.save(context.root, [*known, source])
    context.note("source-added", {**source.as_json()})
    return _state(context, source)


def _described(context: Context, kind: str, path: str, *, project: str, seat: str, name: str) -> Source:
    """Return the source that a person described. Raises UsageError, InvalidName."""
    from oracle.app.records.new_project import refuse_mistyped

    if kind not in KINDS:
        raise UsageError(
            say("Unknown kind of source {kind!r}.", kind=kind[:100]),
            hint=suggest(kind, KINDS),
        )
    if not path.strip():
        raise UsageError(say("The path of the source is empty."), hint=say("Name the folder that holds the files."))
    place = os.path.realpath(os.path.expanduser(path))
    folder = os.path.realpath(find_folder(kind, place, os.environ))
    if not os.path.isdir(folder):
        raise UsageError(say("{path} is not a folder.", path=folder), hint=say("Name the folder that holds the files."))
    if why := sources.why_refused(context.root, folder):
        raise UsageError(why, hint=say("Choose a folder beside the Root."))
    project = check_name(project, "project")
    refuse_mistyped(context, project)
    name = check_name(name, "name") if name else _named_after(kind, place)
    return Source(name, project, kind, folder, check_name(fold_name(seat), "seat") if seat else _SEAT)


def _named_after(kind: str, folder: str) -> str:
    """Return a name for a source: its folder's, with other characters replaced; for those with fixed folders, its kind."""
    base = os.path.basename(folder).lower() if kind in NAMED_BY_FILE else kind
    text = "".join(char if char.isalnum() or char in "-_" else "-" for char in base).strip("-_")
    return check_name(text or "notes", "name")


def _words(source: Source) -> dict[str, str]:
    return {"project": source.project, "name": source.name, "path": source.folder}


def allow(context: Context, name: str, *, project: str = "") -> SourceState:
    """Allow a source of the registry on this machine, as its entry is now. Raises NotFound, UsageError."""
    source = find(context, name, project=project)
    with context.index.lock():
        sources.allow(context.root, [*_others(sources.load_allowed(context.root), source), source])
    return _state(context, source)


def remove(context: Context, name: str, *, project: str = "") -> Source:
    """Take a source out of the registry; its records leave the index, its files stay. Raises NotFound, UsageError."""
    source = find(context, name, project=project)
    with context.index.lock():
        sources.allow(context.root, _others(sources.load_allowed(context.root), source))
        sources.save(context.root, _others(sources.read(context.root), source))
    reconcile(context)
    context.note("source-removed", {**source.as_json()})
    return source


def _others(known: Sequence[Source], source: Source) -> list[Source]:
    return [one for one in known if one.tree != source.tree]


def find(context: Context, name: str, *, project: str = "") -> Source:
    """Return the source of a name. Raises NotFound, and UsageError if two projects have one."""
    context.root.require()
    known = sources.read(context.root)
    found = [one for one in known if one.name == name and project in ("", one.project)]
    if not found:
        names = [f"{one.name} ({one.project})" for one in known]
        hint = say("The sources are {names}.", names=names) if names else say("Add one with `oracle source add`.")
        near = guess(name, [one.name for one in known if one.name != name])
        raise NotFound(say("There is no source {name}.", name=name), hint=near or hint)
    if len(found) > 1:
        projects = [one.project for one in found]
        raise UsageError(
            say("The projects {projects} have a source {name}.", projects=projects, name=name),
            hint=say("Choose one with --project."),
        )
    return found[0]


def list_sources(context: Context, project: str = "") -> list[SourceState]:
    """Return the sources of a project, or all. Raises UsageError for a registry that cannot be read."""
    context.root.require()
    return [_state(context, source) for source in sources.read(context.root) if project in ("", source.project)]


def _state(context: Context, source: Source) -> SourceState:
    rows, listed = context.index.read(
        lambda connection: (query.below(connection, source.tree), query.problems(connection, source.tree))
    )
    paths = [str(path) for path, *_ in rows]
    why_not = _why_not(context, source)
    own = "" if why_not else source.tree  # why it is not read is said beside its problems
    problems = [one for one in listed if one[0] == own or one[0].startswith(f"{source.tree}/")]
    faults = _faults(source, paths) if source.kind == CLAUDE_CODE and not why_not else []
    others = () if why_not else tuple(map(printable, left_out(source)))
    return SourceState(source, len(paths), (*problems, *faults), why_not, others)


def _faults(source: Source, paths: Sequence[str]) -> list[tuple[str, int, str]]:
    """Return what is wrong between Claude Code's list of memories and its files."""
    folders = {source.tree, *(os.path.dirname(path) for path in paths if path.endswith(f"/{INDEX}"))}
    found: list[tuple[str, int, str]] = []
    for folder in sorted(folders):
        names = [path[len(folder) + 1 :] for path in paths if path.startswith(f"{folder}/")]
        text: str | None = None
        try:
            text = read_list(source, folder)
        except FileNotFoundError:
            pass
        except OSError:  # the index names it among the problems
            continue
        found += [(f"{folder}/{name}", line, fault) for name, line, fault in find_faults(text, names)]
    return found


def _why_not(context: Context, source: Source) -> Sentence | str:
    """Return why the files of a source are not read now, "" if they are."""
    known = context.root.source_of(source.tree)
    if known is not None and known.why_not:
        return known.why_not
    if not os.path.isdir(source.folder):
        return say("The source {path} is not there.", path=source.folder)
    return ""
