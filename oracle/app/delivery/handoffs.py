"""Show the handoffs of every project: how far each is, its age, who acts next; and the story of one from its files."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial

from oracle.app import claims
from oracle.app.claims import ToldClaim
from oracle.app.context import Context
from oracle.app.delivery import dispatches, homes, wakeups
from oracle.app.delivery.team import Team, open_team
from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery.handoffs import Handoff, HandoffStep, Party, is_stale
from oracle.domain.delivery.receipts import ReceiptName
from oracle.domain.names import check_name
from oracle.domain.spelling import suggest
from oracle.domain.values import value
from oracle.errors import DiskFailure, NotFound, OracleError, UsageError
from oracle.store.delivery import handoff_list, responses
from oracle.store.delivery.handoff_list import Around, Chapter, Listing
from oracle.store.disk.file_cache import FileCache
from oracle.store.root import profile
from oracle.wording import LIST, Sentence, joined, say, say_many

STATES = tuple(step.value for step in HandoffStep if step is not HandoffStep.NONE)


@value
class ListedHandoff:
    """One handoff; `age` is in seconds since the newest of its files changed; `command` is what the next seat types, or "".

    `machine` is another machine on which the next seat runs, "" for this one.
    """

    project: str
    handoff: Handoff
    age: float
    command: str = ""
    machine: str = ""
    is_away: bool = False
    """Whether nobody saw that machine lately."""

    @property
    def state_shown(self) -> Sentence | str:
        """The state as people read it, with the machine of the next seat."""
        word = self.handoff.state.step.value
        if not self.machine:
            return word
        told = {"state": word, "machine": self.machine}
        return say("{state} on {machine}, away", **told) if self.is_away else say("{state} on {machine}", **told)

    @property
    def action(self) -> str:
        """What the next seat does, or how another machine takes its place."""
        if self.is_away:
            return say("{machine} was not seen lately: start it, or let the seat run here.", machine=self.machine)
        return self.handoff.state.action

    @property
    def is_stale(self) -> bool:
        """Return whether it has waited for longer than it should."""
        return is_stale(self.handoff.state, self.age)

    @property
    def age_shown(self) -> Sentence:
        """The age as people read it, marked when it has waited too long."""
        age = timestamps.say_age(self.age)
        return say("{age}, stale", age=age) if self.is_stale else age

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        item, state = self.handoff, self.handoff.state
        return {
            "project": self.project,
            "task_id": item.task_id,
            "asker": item.asker,
            "answerer": item.answerer,
            "state": state.step.value,
            "next": item.next_seat(),
            "action": self.action,
            "command": self.command,
            "age_seconds": round(self.age),
            "stale": self.is_stale,
            "unsolicited": state.unsolicited,
            "problems": list(item.problems),
            **({"machine": self.machine, "away": self.is_away} if self.machine else {}),
        }


@value
class Outside:
    """What lies outside of every handoff folder; a pending wake-up is (project, task id, seat)."""

    responses: Collection[str]
    conflicts: Collection[str]
    pending: frozenset[tuple[str, str, str]]


@value
class Handoffs:
    """A listing, the one that changed last at the end, sentences on what could not be read, and the teams that were read."""

    items: tuple[ListedHandoff, ...]
    problems: tuple[str, ...] = ()
    teams: tuple[Team, ...] = ()


@value
class Story:
    """All that the files say about one task in one project. `answer` is the text of its response."""

    listed: tuple[ListedHandoff, ...]
    project: str
    chapters: tuple[Chapter, ...]
    response_path: str = ""
    answer: str = ""
    claims: tuple[ToldClaim, ...] = ()
    kept_aside: tuple[str, ...] = ()
    wake_ups: tuple[str, ...] = ()
    events: tuple[dict[str, object], ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form, each receipt with all its fields."""
        return {
            "project": self.project,
            "handoffs": [item.as_json() for item in self.listed],
            "files": [
                {
                    "path": chapter.path,
                    "changed_at": timestamps.from_mtime(int(chapter.changed_at * 1e9)),
                    "kind": chapter.receipt.kind.value,
                    "fields": dict(chapter.receipt.fields),
                    "problems": list(chapter.receipt.problems),
                }
                for chapter in self.chapters
            ],
            "response": self.response_path or None,
            "answer": self.answer,
            "claims": [item.as_json() for item in self.claims],
            "kept_aside": list(self.kept_aside),
            "wake_ups": list(self.wake_ups),
            "events": list(self.events),
        }


def list_all(context: Context, *, project: str = "", state: str = "", cache: FileCache | None = None) -> Handoffs:
    """Return the handoffs of one project, or of all with problems named. Raises UsageError for an unknown state, NoProfile.

    With a `cache`, only receipts that changed are read again.
    """
    if state and state not in STATES:
        raise UsageError(say("There is no state {state!r}.", state=state), hint=suggest(state, STATES))
    items: list[ListedHandoff] = []
    problems: list[str] = []
    teams: list[Team] = []
    around, now = _outside(context), context.now_seconds()
    for name in [project] if project else profile.projects(context.root):
        try:
            team = open_team(context, name)
            found = of_team(context, team, around, cache)
        except OracleError as error:
            if project:
                raise
            problems.append(error.sentence)
            continue
        teams.append(team)
        items += _listed(context, team, found.handoffs, now)
        problems += found.problems
    kept = [item for item in items if not state or item.handoff.state.step.value == state]
    problems += [sentence for item in items for sentence in item.handoff.problems]
    return Handoffs(tuple(sorted(kept, key=lambda item: item.handoff.changed_at)), tuple(problems), tuple(teams))


def _listed(context: Context, team: Team, found: Sequence[Handoff], now: float) -> list[ListedHandoff]:
    machines = homes.elsewhere(context)
    listed = []
    for item in found:
        age, seat = max(0.0, now - item.changed_at), item.next_seat()
        machine = machines.get((team.project, seat))
        if machine is None:
            listed.append(ListedHandoff(team.project, item, age, _command(context, team, item)))
            continue
        is_away = homes.is_away(machine)
        command = f"oracle hub home {seat} --project {team.project}" if is_away else ""
        listed.append(ListedHandoff(team.project, item, age, command, machine.name, is_away))
    return listed


def _command(context: Context, team: Team, handoff: Handoff) -> str:
    """Return the command that does the next step of a handoff; what only its writer knows is `FILE` or `…`."""
    state = handoff.state
    complete = ("oracle", "compat", "complete_handoff", "--profile", team.profile.path, "--source", handoff.answerer)
    deliver = ("oracle", "deliver", "--project", team.project, "--task-id", handoff.task_id, "--to", handoff.asker)
    if state.party is Party.ORACLE:
        return "oracle resume"
    if state.party is Party.OPERATOR:
        aside = responses.conflicts_of(context.root, handoff.task_id)
        return _join((*deliver, "--response-file", aside[-1] if aside else "FILE", "--supersede"))
    if state.party is Party.ASKER:
        ends = ("--from", handoff.answerer, "--to", handoff.asker)
        return _join(("oracle", "ack", handoff.task_id, "--project", team.project, *ends))
    if state.party is Party.NOBODY:
        return ""
    if handoff.dispatch is not None and handoff.dispatch.asks_people:
        return dispatches.command_to_settle(team, handoff.dispatch)
    if team.profile.role(handoff.answerer) == "memory":
        return _join((*deliver, "--response-file", "FILE"))
    return _join((*complete, "--target", handoff.asker, "--task-id", handoff.task_id, "--summary", "…"))


def _join(words: Sequence[str]) -> str:
    return " ".join(map(_quote, words))


@lru_cache(maxsize=4096)  # a listing repeats the same few words for each handoff
def _quote(word: str) -> str:
    from shlex import quote

    return quote(word)


def of_team(context: Context, team: Team, around: Outside | None = None, cache: FileCache | None = None) -> Listing:
    """Return the handoffs of one team with all that lies around its folder."""
    outside = around or _outside(context)
    mine = Around(
        outside.responses,
        outside.conflicts,
        {(task, seat) for name, task, seat in outside.pending if name == team.project},
        team.profile.seats_of("memory"),
        partial(responses.digest_on_disk, context.root),
        partial(_is_queued, team, {}),
    )
    return handoff_list.list_handoffs(team.folder, now=context.now(), around=mine, cache=cache)


def _is_queued(team: Team, queued: dict[str, set[str]], task_id: str, seat: str) -> bool:
    """Return whether a task waits in the queue of a seat. `queued` keeps what was read."""
    from oracle.store.delivery import task_tree

    if seat not in queued:
        try:
            tasks = task_tree.read_queue(team.tree, seat)
        except DiskFailure:
            tasks = ()
        queued[seat] = {task.task_id for task in tasks if task.state in ("pending", "queued")}
    return task_id in queued[seat]


def _outside(context: Context) -> Outside:
    answers = responses.list_answers(context.root)
    waiting = [entry.fields for entry in wakeups.list_pending(context)]
    pending = {(str(one.get("project")), str(one.get("task_id")), str(one.get("seat"))) for one in waiting}
    return Outside(answers.answered, answers.conflicts, frozenset(pending))


def projects_with(context: Context, task_id: str) -> list[tuple[str, Team]]:
    """Return the projects in which files of just this task id lie. Raises NotFound when there is none."""
    name = check_name(task_id, "task id")
    found = []
    for project in profile.projects(context.root):
        try:
            team = open_team(context, project)
            names = os.listdir(team.folder)
        except (OracleError, OSError):
            continue
        parsed = (receipts.parse_file_name(one) for one in names if one.startswith(f"{name}__"))
        if any(one is not None and one[0].task_id == name for one in parsed):
            found.append((project, team))
    if not found:
        raise NotFound(
            say("No handoff has the task id {name}.", name=name), hint=say("See what there is with `oracle handoffs`.")
        )
    return found


def tell(context: Context, task_id: str, *, project: str = "") -> Story:
    """Return the whole story of a task. Raises NotFound, UsageError when several projects have one of this id."""
    found = projects_with(context, task_id)
    fitting = [(name, team) for name, team in found if project in ("", name)]
    if not fitting:
        raise NotFound(
            say("The project {project} has no handoff {task_id}.", project=project, task_id=task_id),
            hint=say("See `oracle handoffs`."),
        )
    if len(fitting) > 1:
        raise UsageError(
            say("{count} projects have the task id {task_id}.", task_id=task_id, count=len(fitting)),
            hint=say("Name one with --project: {projects}.", projects=[name for name, _ in fitting]),
        )
    return _story(context, fitting[0][1], check_name(task_id, "task id"))


def _story(context: Context, team: Team, task_id: str) -> Story:
    from oracle.app import journal

    listed = [item for item in of_team(context, team).handoffs if item.task_id == task_id]
    aside = [
        name
        for name in _names(context.root.responses)
        if name.startswith((f"{task_id}.conflict-", f"{task_id}.superseded-"))
    ]
    path, response = responses.path_of(context.root, task_id), _response(context, task_id)
    waiting = [entry for entry in wakeups.list_pending(context) if entry.fields.get("task_id") == task_id]
    return Story(
        tuple(_listed(context, team, listed, context.now_seconds())),
        team.project,
        handoff_list.tell_story(team.folder, task_id),
        path if os.path.exists(path) else "",
        answer if isinstance(answer := response.get("answer"), str) else "",
        claims.read(response),
        tuple(f"{context.root.responses}/{name}" for name in aside),
        tuple(
            say_many(
                "{seat}: tried {n} time; {error}",
                "{seat}: tried {n} times; {error}",
                n=one.tries,
                seat=one.fields.get("seat"),
                error=one.last_error or say("not tried yet"),
            )
            for one in waiting
        ),
        tuple(journal.events(context, project=team.project, task=task_id, limit=50)),
    )


def _response(context: Context, task_id: str) -> Mapping[str, object]:
    """Return a response as it is, with a warning about its fault."""
    try:
        response = responses.read(context.root, task_id) or {}
    except OracleError as error:
        context.warn(error.sentence)
        return {}
    if fault := responses.find_fault(responses.path_of(context.root, task_id), response) if response else "":
        context.warn(fault)
    return response


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


_MOST_NAMED = 5


def warn_of_unsolicited(context: Context, team: Team, name: ReceiptName) -> None:
    """Warn that nobody asked for this, and name what is open: a task id or a target may be mistyped."""
    waiting = [
        say("{task} from {seat}", task=item.task_id, seat=item.asker)
        for item in of_team(context, team).handoffs
        if item.answerer == name.source and item.dispatch is not None and item.completion is None
    ]
    named = joined(LIST, waiting[-_MOST_NAMED:]) or say("none")
    if len(waiting) > _MOST_NAMED:
        named = say("{names} and {rest} more", names=named, rest=len(waiting) - _MOST_NAMED)
    context.warn(
        say(
            "no dispatch of {task} from {asker} to {seat} is open, so that this was delivered unsolicited; "
            "open ones: {named}",
            task=name.task_id,
            asker=name.target,
            seat=name.source,
            named=named,
        )
    )
