"""List the handoffs of every project: how far each is, how long it has waited, who acts next."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

from oracle.app.context import Context
from oracle.app.delivery import dispatches, homes, listed, wakeups
from oracle.app.delivery.listed import STATES, AnswerChoice, ListedHandoff
from oracle.app.delivery.team import Team, is_memory, open_all, open_team, other_owner
from oracle.domain.delivery import receipts
from oracle.domain.delivery.handoffs import Handoff, Party, Unreached
from oracle.domain.names import MEMORY, check_name
from oracle.domain.spelling import guess_task, suggest
from oracle.domain.values import value
from oracle.errors import DiskFailure, NotFound, OracleError, UsageError
from oracle.store.delivery import handoff_list, responses
from oracle.store.delivery.entries import InboxEntry
from oracle.store.delivery.handoff_list import Around, Listing
from oracle.store.disk import folders
from oracle.store.disk.file_cache import FileCache
from oracle.wording import Sentence, say


@value
class Outside:
    """What lies outside of every handoff folder; a pending wake-up is (project, task id, seat), None if the seat may be there."""

    responses: Collection[str]
    conflicts: Collection[str]
    pending: Mapping[tuple[str, str, str], Unreached | None]


@value
class Handoffs:
    """A listing in the order of `listed`, sentences on what could not be read, and the teams that were read."""

    items: tuple[ListedHandoff, ...]
    problems: tuple[str, ...] = ()
    teams: tuple[Team, ...] = ()


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
    known, faults = ({project: open_team(context, project)}, {}) if project else open_all(context)
    for name, team in known.items():
        try:
            found = of_team(context, team, around, cache)
        except OracleError as error:
            if project:
                raise
            faults[name] = error
            continue
        teams.append(team)
        items += as_listed(context, team, found.handoffs, now)
        problems += found.problems
    problems[:0] = [_say_unread(name, faults[name]) for name in sorted(faults)]
    kept = [item for item in items if not state or item.handoff.state.step.value == state]
    problems += [sentence for item in items for sentence in item.handoff.problems]
    return Handoffs(listed.in_order(kept), tuple(problems), tuple(teams))


def _say_unread(project: str, error: OracleError) -> Sentence:
    told = {"project": project, "fault": error.sentence, "hint": error.hint}
    return say("The handoffs of {project} on disk can't be read. {fault} {hint}", **told)


def as_listed(context: Context, team: Team, found: Sequence[Handoff], now: float) -> list[ListedHandoff]:
    """Return handoffs of a team with their ages, commands and machines; `now` in seconds since 1970."""
    machines = homes.elsewhere(context)
    shown = []
    for item in found:
        age, seat = listed.age_of(item, now), item.next_seat()
        machine = machines.get((team.project, seat))
        if machine is None:
            choices = tuple(_choices(context, team, item))
            shown.append(ListedHandoff(team.project, item, age, _command(context, team, item), choices=choices))
            continue
        is_away = homes.is_away(machine)
        command = f"oracle hub home {seat} --project {team.project}" if is_away else ""
        shown.append(ListedHandoff(team.project, item, age, command, machine.name, is_away))
    return shown


def _choices(context: Context, team: Team, handoff: Handoff) -> Iterator[AnswerChoice]:
    """Yield the ways to settle a conflict, the current answer first."""
    if handoff.state.party is not Party.OPERATOR:
        return
    current = responses.path_of(context.root, handoff.task_id)
    for path in (current, *responses.conflicts_of(context.root, handoff.task_id)):
        if os.path.exists(path):
            words = (*_deliver(team, handoff), "--response-file", path, "--supersede")
            yield AnswerChoice(path, path == current, _join(words))


def _deliver(team: Team, handoff: Handoff) -> tuple[str, ...]:
    """Return the words that deliver the answer of a memory seat."""
    source = () if handoff.answerer == MEMORY else ("--from", handoff.answerer)
    ends = ("--task-id", handoff.task_id, *source, "--to", handoff.asker)
    return ("oracle", "deliver", "--project", team.project, *ends)


def _command(context: Context, team: Team, handoff: Handoff) -> str:
    """Return the command that does the next step of a handoff; what only its writer knows is `FILE` or `…`."""
    state = handoff.state
    if state.party is Party.ORACLE:
        return "oracle resume"
    if state.party is Party.OPERATOR:
        return _join(("oracle", "handoffs", "show", handoff.task_id, "--project", team.project))
    if state.party is Party.ASKER:
        ends = ("--from", handoff.answerer, "--to", handoff.asker)
        return _join(("oracle", "ack", handoff.task_id, "--project", team.project, *ends))
    if state.party is Party.NOBODY:
        return ""
    if handoff.dispatch is not None and handoff.dispatch.asks_people:
        return dispatches.command_to_settle(team, handoff.dispatch)
    if is_memory(team, handoff.answerer) and not other_owner(context, team, handoff.task_id):
        return _join((*_deliver(team, handoff), "--response-file", "FILE"))
    return _join(_complete(team, handoff))


def _complete(team: Team, handoff: Handoff) -> tuple[str, ...]:
    """Return the words that complete a handoff of any other seat, with the flags without which it is refused or warned of."""
    needed = ["--verdict"] if team.profile.role(handoff.answerer) == "reviewer" else []
    if handoff.dispatch is not None and handoff.dispatch.text("expected_base_sha"):
        needed += ["--branch", "--pr-number", "--ci-conclusion"]
    needed += ["--summary"]
    if handoff.dispatch is None or not handoff.dispatch.text("user_summary"):
        needed += ["--user-summary"]
    ends = ("--source", handoff.answerer, "--target", handoff.asker, "--task-id", handoff.task_id)
    said = (word for flag in needed for word in (flag, "…"))
    return ("oracle", "compat", "complete_handoff", "--profile", team.profile.path, *ends, *said)


def _join(words: Sequence[str]) -> str:
    return " ".join(map(_quote, words))


@lru_cache(maxsize=4096)  # a listing repeats the same few words for each handoff
def _quote(word: str) -> str:
    from shlex import quote

    return quote(word)


def of_team(context: Context, team: Team, around: Outside | None = None, cache: FileCache | None = None) -> Listing:
    """Return the handoffs of one team with all that lies around its folder."""
    outside = around or _outside(context)
    pending = {(task, seat): fault for (name, task, seat), fault in outside.pending.items() if name == team.project}
    mine = Around(
        outside.responses,
        outside.conflicts,
        pending,
        team.profile.seats_of("memory"),
        partial(responses.digest_on_disk, context.root),
        partial(_is_queued, team, {}),
        lambda task_id, seat: pending.get((task_id, seat)),
        lambda task_id: bool(other_owner(context, team, task_id)),
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


def pending_wakeups(context: Context) -> dict[tuple[str, str, str], InboxEntry]:
    """Return the wake-up that waits for each project, task id and seat, of several the one that was tried most."""
    found = sorted(wakeups.list_pending(context), key=lambda one: one.tries)
    return {(one.text("project"), one.text("task_id"), one.text("seat")): one for one in found}


def last_reason(entry: InboxEntry) -> str:
    """Return why the last try to send a wake-up failed, "" before the first."""
    return wakeups.reason_of(wakeups.WakeUp(detail=entry.last_error))


def _unreached(entry: InboxEntry) -> Unreached | None:
    if not entry.last_error.startswith(wakeups.ABSENT):
        return None
    return Unreached(last_reason(entry), entry.tries, f"{entry.text('project')}-{entry.text('seat')}")


def _outside(context: Context) -> Outside:
    answers = responses.list_answers(context.root)
    pending = {ends: _unreached(one) for ends, one in pending_wakeups(context).items()}
    return Outside(answers.answered, answers.conflicts, pending)


def projects_with(context: Context, task_id: str) -> list[tuple[str, Team]]:
    """Return the projects in which files of just this task id lie. Raises NotFound when there is none."""
    name = check_name(task_id, "task id")
    found = []
    teams, faults = open_all(context)
    for project, team in teams.items():
        names = folders.names_in(team.folder)
        parsed = (receipts.parse_file_name(one) for one in names if one.startswith(f"{name}__"))
        if any(one is not None and one[0].task_id == name for one in parsed):
            found.append((project, team))
    if faults and not found:
        unread = next(iter(faults.values()))
        raise NotFound(
            say("No handoff that can be read has the task id {name}. {fault}", name=name, fault=unread.sentence),
            hint=unread.hint,
        )
    if not found:
        raise NotFound(
            say("No handoff has the task id {name}.", name=name),
            hint=guess_task(name, known_tasks(teams.values())) or say("See what there is with `oracle handoffs`."),
        )
    return found


def known_tasks(teams: Iterable[Team]) -> list[str]:
    """Return the id of each task of which these teams have a receipt."""
    files = (receipts.parse_file_name(one) for team in teams for one in folders.names_in(team.folder))
    return list(dict.fromkeys(one[0].task_id for one in files if one is not None))
