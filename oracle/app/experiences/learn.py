"""Propose an experience from a finished task, keep the proposal to be read and changed, and write it when it is accepted.

Proposals are `_state/proposals/<project>/<task>.md`: a title as a heading, then the three parts. They may be deleted.
"""

from __future__ import annotations

import os

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.experiences.add import add
from oracle.app.records.listing import list_records
from oracle.app.records.views import Summary, Written
from oracle.domain.delivery.receipts import Receipt, ReceiptKind
from oracle.domain.experiences import experience as rules
from oracle.domain.experiences.experience import Experience
from oracle.domain.experiences.learned import propose
from oracle.domain.names import MEMORY, check_name, is_name, role_of
from oracle.domain.values import value
from oracle.errors import NoProfile, NotFound, OracleError, UsageError
from oracle.store.delivery import handoff_list, responses
from oracle.store.disk import files, folders, steps
from oracle.store.root import profile
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLE = "# "


@value
class Proposal:
    """An experience that waits to be accepted; `known` are the experiences of the task that are written already."""

    project: str
    task_id: str
    experience: Experience
    path: str
    is_new: bool = True
    known: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "project": self.project,
            "task_id": self.task_id,
            "title": self.experience.title,
            "situation": self.experience.situation,
            "approach": self.experience.approach,
            "reflect": self.experience.reflect,
            "path": self.path,
            "is_new": self.is_new,
            "known": list(self.known),
        }


def learn(context: Context, task_id: str, *, project: str = "") -> Proposal:
    """Return the proposal for a finished task: the kept one as it is, else one from its receipts, which is kept.

    Raises NotFound for a task without receipts, UsageError for one that is not finished or is in several projects.
    """
    context.root.require()
    check_name(task_id, "task id")
    name, folder, seats = _find_project(context, task_id, project)
    path = _path(context, name, task_id)
    known = tuple(one.slug for one in _written(context, name, task_id))
    kept = _read(path)
    if kept is not None:
        return Proposal(name, task_id, kept, path, is_new=False, known=known)
    dispatches, completions = _receipts(folder, task_id)
    answer = (responses.read(context.root, task_id) or {}).get("answer")
    if isinstance(answer, str):  # a receipt of memory's only says that the answer was written
        completions = [
            one.with_fields({"summary": answer}) if role_of(one.name.source) == MEMORY else one for one in completions
        ]
    found = propose(task_id, dispatches, completions, seats)
    parts = {"title": found.title, "situation": found.situation, "approach": found.approach, "reflect": found.reflect}
    clean, _ = guard.clean(context, parts, guard.REDACT, what=say("The proposal"))
    experience = Experience(**clean)
    files.make_folder(os.path.dirname(path))
    files.replace(path, f"{_TITLE}{experience.title}\n\n{experience.body}\n".encode(), scratch=os.path.dirname(path))
    return Proposal(name, task_id, experience, path, known=known)


def accept(context: Context, task_id: str, *, project: str = "", seat: str = "") -> Written:
    """Write the proposal for a task as an experience, and remove it. Raises what `learn` and a write raise."""
    found = learn(context, task_id, project=project)
    written = add(context, found.experience, found.project, task_id=task_id, seat=seat)
    files.remove(found.path)
    return written


def proposals(context: Context) -> list[Proposal]:
    """Return the proposals that wait to be accepted, in the order of their files. Warns of those that are no files."""
    top = context.root.proposals
    found = []
    for project in sorted(folders.names_in(top)):
        for name in sorted(folders.names_in(f"{top}/{project}")):
            path, task_id = f"{top}/{project}/{name}", name.removesuffix(".md")
            try:
                experience = _read(path) if name.endswith(".md") and is_name(task_id) else None
            except UsageError as error:
                context.warn(error.sentence)
                continue
            if experience is not None:
                found.append(Proposal(project, task_id, experience, path, is_new=False))
    return found


def _path(context: Context, project: str, task_id: str) -> str:
    return f"{context.root.proposals}/{project}/{task_id}.md"


def _read(path: str) -> Experience | None:
    try:
        raw = steps.read(path)
    except steps.NotPlain as error:
        raise UsageError(error.sentence, hint=error.hint) from error
    if raw is None:
        return None
    first, _, body = raw.decode("utf-8", "replace").lstrip().partition("\n")
    return rules.read(first.removeprefix(_TITLE).strip(), body)


def _written(context: Context, project: str, task_id: str) -> list[Summary]:
    found = list_records(context, {"kind": rules.KIND, "task": task_id})
    return [record for record in found if record.project == project]


# -- the receipts ------------------------------------------------------------------------------------------------------


def _find_project(context: Context, task_id: str, project: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the project that has receipts of a task, their folder, and the names of its seats."""
    found = [one for one in _folders(context, project) if handoff_list.tell_story(one[1], task_id)]
    if not found:
        raise NotFound(
            say("No receipt names the task {task_id}.", task_id=task_id),
            hint=say("See `oracle handoffs` for the tasks, and name the project with --project."),
        )
    if len(found) > 1:
        raise UsageError(
            say(
                "Several projects have a task {task_id}: {projects}.",
                task_id=task_id,
                projects=[one[0] for one in found],
            ),
            hint=say("Name one with --project."),
        )
    return found[0]


def _folders(context: Context, project: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each project with its folder of receipts and its seats; a project without a profile has the usual folder."""
    for name in [check_name(project, "project")] if project else profile.projects(context.root):
        try:
            loaded = profile.load(context.root, name, os.environ)
            yield name, loaded.handoff_dir, tuple(loaded.seats)
        except NoProfile:
            yield name, context.root.handoffs(name), ()
        except OracleError:
            if project:
                raise


def _receipts(folder: str, task_id: str) -> tuple[list[Receipt], list[Receipt]]:
    """Return the dispatches and completions of a task, the oldest first. Raises UsageError while one is not answered."""
    told: dict[tuple[object, ...], Receipt] = {}
    waiting: dict[tuple[str, str], Receipt] = {}
    for chapter in handoff_list.tell_story(folder, task_id):
        receipt = chapter.receipt
        ends = (receipt.name.source, receipt.name.target)
        told[(receipt.kind, *ends, receipt.since)] = receipt
        if receipt.kind is ReceiptKind.DISPATCH and not (chapter.suffix or receipt.is_superseded):
            waiting[ends] = receipt
    dispatches = [one for one in told.values() if one.kind is ReceiptKind.DISPATCH and not one.is_malformed]
    completions = [one for one in told.values() if one.kind is ReceiptKind.COMPLETION and not one.is_malformed]
    answered = {(one.name.target, one.name.source) for one in completions}
    if not completions or any(ends not in answered for ends in waiting):
        raise UsageError(
            say("The task {task_id} is not finished, so it teaches nothing yet.", task_id=task_id),
            hint=say("See `oracle handoffs show {task_id}`.", task_id=task_id),
        )
    return dispatches, completions
