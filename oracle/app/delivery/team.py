"""A project's team as the use cases of delivery see it: its profile, the places of its task tree, and the time.

Reads the profile; writes to the journal, where trouble is a warning and never a failure.
"""

from __future__ import annotations

import os

from oracle.domain.delivery.receipts import ReceiptName, receipt_name
from oracle.domain.names import FRONT, MEMORY, OPERATOR, check_name
from oracle.domain.spelling import find_near
from oracle.domain.values import value
from oracle.errors import NoProfile, OracleError, OwnershipError, UsageError
from oracle.store.root import profile
from oracle.store.root.profile import Profile
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oracle.app.context import Context
    from oracle.domain.delivery.receipts import Receipt
    from oracle.store.delivery.task_tree import TaskTree


@value
class Team:
    """A profile, with the task tree that it names."""

    profile: Profile

    @property
    def tree(self) -> TaskTree:
        """The places of the task tree."""
        from oracle.store.delivery.task_tree import TaskTree

        mine = self.profile
        return TaskTree(mine.tasks_root, mine.tasks_doc, mine.status_doc, mine.handoff_dir)

    @property
    def project(self) -> str:
        """The project's checked name."""
        return self.profile.project

    @property
    def folder(self) -> str:
        """The folder of the receipts."""
        return self.profile.handoff_dir

    def receipt(self, task_id: str, source: str, target: str, *, takes_stranger: bool = False) -> ReceiptName:
        """Return the name of a receipt between two seats of the team. Raises InvalidName, UsageError.

        `takes_stranger` lets its target be nobody of the team, unless the name is nearly that of a seat.
        """
        name = receipt_name(task_id, source, target)
        if name.source == name.target:
            raise UsageError(
                say("The seat {source} hands nothing over to itself.", source=name.source),
                hint=say("Name another seat."),
            )
        is_stranger = takes_stranger and not self.knows(name.target) and not find_near(name.target, self.profile.seats)
        for seat in (name.source,) if is_stranger else (name.source, name.target):
            if seat not in (OPERATOR, self.profile.heartbeat_owner):  # these may be missing from the seats
                self.profile.require_seat(seat)
        return name

    def knows(self, seat: str) -> bool:
        """Return whether a seat is of the team, or the operator, or the front."""
        return seat in (*self.profile.seats, OPERATOR, self.front)

    @property
    def front(self) -> str:
        """The seat that speaks with the user."""
        return self.profile.heartbeat_owner or FRONT

    def how_to_read(self, task_id: str) -> str:
        """Return the end of a wake-up that names the command which tells a task's story, and what to do next."""
        return f" To read on: oracle handoffs show {task_id} --project {self.project}"

    def ends_of(self, name: ReceiptName) -> dict[str, object]:
        """Return what an event of the journal says of a handoff: its project, task, source and target."""
        return {"project": self.project, "task_id": name.task_id, "source": name.source, "target": name.target}

    def seat_meant(self, seat: str) -> str:
        """Return the seat that a word names; `planner` may be the one planner of another name. Raises UsageError for several."""
        if seat != "planner" or seat in self.profile.seats:
            return seat
        planners = self.profile.planners
        if len(planners) > 1:
            raise UsageError(
                say("`planner` may mean each of {planners}.", planners=planners), hint=say("Name the seat.")
            )
        return planners[0] if planners else seat


def open_team(context: Context, project: str, *, path: str = "") -> Team:
    """Return the team of a project or of the profile at `path`, which must agree. Raises NoProfile, InvalidProfile, InvalidName."""
    if path:
        found = profile.load_file(context.root, os.path.abspath(os.path.expanduser(path)), os.environ)
        if project and check_name(project, "project") != found.project:
            raise UsageError(
                say(
                    "The profile {path} is that of {project}, not of {project2}.",
                    path=path,
                    project=found.project,
                    project2=project,
                ),
                hint=say("Name one of the two."),
            )
    else:
        found = _load(context, project)
    for note in found.notes:
        context.warn(note)
    return Team(found)


def open_teams(context: Context) -> Iterator[Team]:
    """Yield the team of each project whose profile can be read. Who lists handoffs names the others."""
    for project in profile.projects(context.root):
        try:
            yield open_team(context, project)
        except OracleError:
            continue


def open_all(context: Context) -> tuple[dict[str, Team], dict[str, OracleError]]:
    """Return the teams of all projects, and the fault of each whose handoffs stay unread: its profile is broken or missing."""
    teams: dict[str, Team] = {}
    faults: dict[str, OracleError] = {}

    def read(projects: Iterable[str]) -> None:
        for project in projects:
            try:
                teams[project] = open_team(context, project)
            except OracleError as error:
                faults[project] = error

    read(profile.projects(context.root))
    read(profile.without_profile(context.root, [team.folder for team in teams.values()]))
    return teams, faults


def _load(context: Context, project: str) -> Profile:
    try:
        return profile.load(context.root, project, os.environ)
    except NoProfile as error:
        from oracle.app.records.new_project import refuse_mistyped

        refuse_mistyped(context, project, hint=say("Correct the name. {hint}", hint=error.hint))
        raise


def init_profile(context: Context, project: str, seats: Sequence[str], *, repo_root: str = "") -> str:
    """Write a minimal profile of a project; return its path. Raises RecordExists, InvalidName, UsageError, SecretFound."""
    from oracle.app import guard
    from oracle.app.records.edges import follow_repository
    from oracle.store.root import projects

    fields = {"project": project, "seats": tuple(seats), "repository": repo_root}
    guard.clean(context, fields, guard.FIXED, what=say("The project"))
    repository = projects.repository(context.root, project, os.environ)
    path = projects.init_profile(context.root, project, seats, repo_root=repo_root)
    follow_repository(context, project, repository)
    return path


def is_memory(team: Team, seat: str) -> bool:
    """Return whether a seat is one of memory's, by the profile or by its name."""
    return team.profile.role(seat) == MEMORY


def require_memory(team: Team, task_id: str, seat: str) -> None:
    """Raise OwnershipError unless a seat is one of memory's: responses are theirs alone to write."""
    if not is_memory(team, check_name(seat, "seat")):
        raise OwnershipError(
            say("The seat {seat} writes no responses: they are memory's.", seat=seat),
            hint=how_to_complete(team, task_id, seat),
        )


def how_to_complete(team: Team, task_id: str, seat: str) -> str:
    """Return how a seat that is not memory's answers what it was asked, with the command."""
    from shlex import quote

    return say(
        "{seat} answers what it was asked: "
        "`oracle compat complete_handoff --profile {profile} --source {seat} --task-id {task} --summary TEXT`.",
        profile=quote(team.profile.path),
        seat=seat,
        task=quote(task_id),
    )


def require_own_response(context: Context, team: Team, name: ReceiptName) -> None:
    """Raise Conflict if the response of a task's id belongs to another project, with the command that answers all the same."""
    from oracle.store.delivery import responses

    if owner := other_owner(context, team, name.task_id):
        raise responses.belongs_to(name.task_id, owner, hint=how_to_complete(team, name.task_id, name.source))


def other_owner(context: Context, team: Team, task_id: str) -> str:
    """Return the other project to which the response of a task's id belongs, "" if there is none or it is this team's.

    Older tools name no project in it. It then belongs to a project where memory completed the task.
    """
    from oracle.store.delivery import handoffs, responses

    owner = responses.project_of(context.root, task_id)
    if owner is None or owner == team.project:
        return ""
    if owner:
        return owner
    if handoffs.has_completion(team.folder, task_id, team.profile.seats_of(MEMORY)):
        return ""
    for project in profile.projects(context.root):
        try:
            other = profile.load(context.root, project, os.environ)
        except OracleError:  # a profile that can't be read owns nothing here; listings name it
            continue
        if project != team.project and handoffs.has_completion(other.handoff_dir, task_id, other.seats_of(MEMORY)):
            return project
    return ""


def note_completion(context: Context, team: Team, receipt: Receipt) -> None:
    """Write DELIVERY.md, complete the queue's entry and the table's row, and append to the dispatch log."""
    from oracle.domain.delivery import receipts
    from oracle.store.delivery import task_tree

    name, moment, text = receipt.name, context.now(), receipt.text
    fields = {
        "task_id": name.task_id,
        "owner": name.source,
        "target": name.target,
        "status": text("status"),
        "date": text("delivered_at"),
        **{key: text(key) for key in ("correlation_id", "branch", "commit", "sweep_count")},
    }
    paragraphs = {
        "Verdict": text("verdict"),
        "FrontstageDisposition": text("frontstage_disposition"),
        "UserSummary": text("user_summary"),
        "NextAction": text("next_action"),
        "core_ux_gate": text("core_ux_gate"),
    }
    title, summary = text("title") or name.task_id, text("summary")
    task_tree.write_delivery(team.tree, name.source, fields, title=title, summary=summary, paragraphs=paragraphs)
    note = text("status") or "done"
    task_tree.complete_task(team.tree, name.source, name.task_id, day=moment.date().isoformat(), note=note)
    if any(row.get("ID") == name.task_id for row in task_tree.read_rows(team.tree)):
        task_tree.upsert_row(team.tree, name.task_id, {"Status": text("status") or "completed"})
    task_tree.log_once(team.tree, receipts.status_line(receipt), task_id=name.task_id, moment=moment)
    if name.target == team.front:
        _queue_for_front(team, receipt, moment=task_tree.stamp_of(moment))


def _queue_for_front(team: Team, receipt: Receipt, *, moment: str) -> None:
    """Put a completion into the queue of the front, which tells the user, unless the task is open there."""
    from oracle.domain.delivery.task_queue import OPEN_STATES, PENDING, Task
    from oracle.store.delivery import task_tree

    name, text = receipt.name, receipt.text
    if any(
        task.task_id == name.task_id and task.state in OPEN_STATES
        for task in task_tree.read_queue(team.tree, name.target)
    ):
        return
    told = {
        "FrontstageDisposition": text("frontstage_disposition"),
        "UserSummary": text("user_summary"),
        "NextAction": text("next_action"),
    }
    fields = {
        "title": text("title") or name.task_id,
        "source": name.source,
        "reply_to": name.source,
        "dispatched_at": moment,
        "correlation_id": text("correlation_id"),
    }
    lines = [f"{name.source} hands {name.task_id} back; read {text('delivery_path')}"]
    lines += [f"{key}: {word}" for key, word in told.items() if word]
    task_tree.queue_task(team.tree, name.target, Task(name.task_id, PENDING, fields, "\n".join(lines)))
