"""Acknowledge a handoff, and look at its files: was it acknowledged, was it carried out, and what a closeout lacks."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.app.delivery import dispatches, homes
from oracle.app.delivery.complete import VERDICTS
from oracle.app.delivery.team import Team, is_memory, open_team
from oracle.app.git import ask_git
from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED, Receipt, ReceiptKind, ReceiptName
from oracle.domain.names import check_name
from oracle.domain.spelling import guess_task
from oracle.domain.values import value
from oracle.errors import NotFound, UsageError
from oracle.store.delivery import handoffs, responses, task_tree
from oracle.store.delivery.handoffs import Outcome
from oracle.wording import Sentence, say


@value
class Acknowledged:
    """An ACK on disk: its line in the reader's queue and the receipt; `is_new` unless it was there."""

    line: str
    receipt_path: str
    is_new: bool


def acknowledge(
    context: Context, project: str, task_id: str, *, source: str, target: str, path: str = ""
) -> Acknowledged:
    """Note that `target` has what `source` completed; `.consumed` is put beside the receipt. Raises NotFound, UsageError."""
    team = open_team(context, project, path=path)
    seats = team.seat_meant(source), team.seat_meant(target)
    name = team.receipt(task_id, seats[0], seats[1] or dispatches.asker_of(team, task_id, seats[0]))
    moment = context.now()
    receipt = _require_completion(team, name)
    homes.require_here(context, team.project, name.target)
    earlier = _earlier_ack(team, receipt)
    line = task_tree.acknowledge_task(
        team.tree, name.target, name.task_id, source=name.source, moment=moment, earlier=earlier
    )
    for seat in (name.source, name.target) if name.target == team.front else (name.source,):
        task_tree.drop_task(team.tree, seat, name.task_id)
    changes = {
        "consumed_at": context.stamp(),
        "consumed_ack": line,
        "todo_path": team.tree.todo_file(name.target),
    }
    outcome = handoffs.acknowledge(team.folder, name, changes)
    if outcome is Outcome.CREATED:
        task_tree.log_once(team.tree, receipts.status_line(receipt), task_id=name.task_id, moment=moment)
        context.note("ack", team.ends_of(name))
    if responses.conflicts_of(context.root, name.task_id) and is_memory(team, name.source):
        context.warn(
            say(
                "another answer to {task} was kept aside, so that its state stays `conflict` until somebody decides: "
                "oracle handoffs show {task} --project {project}",
                task=name.task_id,
                project=team.project,
            )
        )
    return Acknowledged(line, handoffs.path_of(team.folder, name), outcome is Outcome.CREATED)


def _earlier_ack(team: Team, receipt: Receipt) -> str:
    """Return the last ACK line if it is of an answer that this one replaced, else ""."""
    name = receipt.name
    ack = task_tree.find_acknowledgement(team.tree, name.target, name.task_id, source=name.source)
    if not ack or receipt.text("consumed_at") or handoffs.read(team.folder, name, CONSUMED) is not None:
        return ""
    acked, since = timestamps.parse(ack.rpartition(" at ")[2]), timestamps.parse(receipt.since)
    is_older = acked is not None and since is not None and acked < since.replace(microsecond=0)
    return ack if is_older or ack in handoffs.replaced_acks(team.folder, name) else ""


def find_ends(
    context: Context, task_id: str, *, project: str = "", source: str = "", target: str = ""
) -> tuple[str, str, str]:
    """Return project, source and target of the one completion of a task that is meant, of several the one not acknowledged.

    What is given narrows it down. Raises NotFound for none, UsageError for several, NoProfile.
    """
    if project and source and target:
        return project, source, target
    from oracle.app.delivery.handoffs import projects_with

    found: dict[tuple[str, str, str], bool] = {}
    teams = [open_team(context, project)] if project else [team for _, team in projects_with(context, task_id)]
    for team in teams:
        wanted = (team.seat_meant(source), team.seat_meant(target))
        for receipt, suffix in handoffs.receipts_of(team.folder, check_name(task_id, "task id")):
            name = receipt.name
            fits = wanted[0] in ("", name.source) and wanted[1] in ("", name.target)
            if fits and receipt.kind is ReceiptKind.COMPLETION:
                ends = (team.project, name.source, name.target)
                found[ends] = found.get(ends, False) or suffix == CONSUMED
    meant = [ends for ends, is_acked in found.items() if not is_acked] or list(found)
    if len(meant) == 1:
        return meant[0]
    if not meant:
        projects_with(context, task_id)  # says which task may be meant
        raise NotFound(
            say("No answer to {task} is there to acknowledge.", task=task_id),
            hint=say("See how far it is: `oracle handoffs show {task}`.", task=task_id),
        )
    raise UsageError(
        say("{count} answers to {task} wait to be acknowledged.", count=len(meant), task=task_id),
        hint=say(
            "Name one: {ways}.",
            ways=[f"--project {one} --from {source} --to {target}" for one, source, target in meant],
        ),
    )


def _require_completion(team: Team, name: ReceiptName) -> Receipt:
    found = handoffs.find(team.folder, name)
    if found is None or found.kind not in (ReceiptKind.COMPLETION, ReceiptKind.UNKNOWN):
        raise handoffs.no_completion(name)
    handoffs.refuse_malformed(found)
    return found


FETCH_PATIENCE = 60.0
"""Seconds that a remote may take."""


@value
class Sign:
    """One thing that was looked for: `held` is None when it is not to be expected."""

    name: str
    held: bool | None
    detail: str

    @property
    def word(self) -> Sentence:
        """The word for it: ok, missing or not expected."""
        return {True: say("ok"), False: say("missing"), None: say("not expected")}[self.held]

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"check": self.name, "held": self.held, "detail": self.detail}


def check(
    context: Context,
    project: str,
    task_id: str,
    *,
    target: str = "",
    remote: str = "origin",
    branch: str = "",
    fetch: bool = False,
) -> list[Sign]:
    """Return the four signs of a dispatch in order; `fetch` asks the remote first. Raises UsageError, NoProfile, InvalidName."""
    team = open_team(context, project)
    name = check_name(task_id, "task id")
    asked = _dispatches(team, name, target)
    seat = target or (asked[-1].name.target if asked else "")
    if not seat:
        from oracle.app.delivery.handoffs import known_tasks

        detail = say("no dispatch of {task} in {folder}", task=name, folder=team.folder)
        if near := guess_task(name, known_tasks([team])):
            detail = say("{what}: {hint}", what=detail, hint=near)
        return [Sign("receipt", held=False, detail=detail), *(_unknown(one) for one in ("pane", "delivery", "commit"))]
    team.profile.require_seat(seat)
    receipt = asked[-1] if asked else None
    absent = say("no dispatch to {seat} in {folder}", seat=seat, folder=team.folder)
    where = handoffs.path_of(team.folder, receipt.name) if receipt else absent
    expected = branch or (receipt.text("expected_branch") if receipt else "")
    return [
        Sign("receipt", receipt is not None, where),
        _pane(context, team, name, seat),
        _delivery(team, name, seat),
        _commit(team, expected, remote, fetch=fetch),
    ]


def _unknown(name: str) -> Sign:
    return Sign(name, held=False, detail=say("it is unknown who was asked"))


def _dispatches(team: Team, task_id: str, target: str) -> list[Receipt]:
    found = (
        receipt for receipt, _ in handoffs.receipts_of(team.folder, task_id) if receipt.kind is ReceiptKind.DISPATCH
    )
    kept = [receipt for receipt in found if target in ("", receipt.name.target)]
    return sorted(kept, key=lambda receipt: receipt.text("assigned_at"))


def _pane(context: Context, team: Team, task_id: str, seat: str) -> Sign:
    from oracle.store.root.projects import find_session_names
    from oracle.wake.looking import look_for
    from oracle.wake.server import tmux_socket

    names = find_session_names(context.root, team.project, seat, environ=os.environ)
    held, detail = look_for(tmux_socket(os.environ), names, task_id, seat=seat)
    return Sign("pane", held, detail)


def _delivery(team: Team, task_id: str, seat: str) -> Sign:
    path = team.tree.delivery_file(seat)
    if task_tree.read_delivery(team.tree, seat).get("task_id") == task_id:
        return Sign("delivery", held=True, detail=path)
    for receipt, suffix in handoffs.receipts_of(team.folder, task_id):
        if receipt.kind is ReceiptKind.COMPLETION and receipt.name.source == seat:
            return Sign("delivery", held=True, detail=handoffs.path_of(team.folder, receipt.name, suffix))
    return Sign("delivery", held=False, detail=say("{path} does not mention it", path=path))


def _commit(team: Team, branch: str, remote: str, *, fetch: bool) -> Sign:
    if not branch:
        return Sign("commit", held=None, detail=say("the dispatch expects no branch"))
    if remote.startswith("-") or branch.startswith("-") or not remote or " " in branch:
        raise UsageError(
            say("{remote} {branch} names no branch of a remote.", remote=remote, branch=branch),
            hint=say("Write --remote origin --branch feat/x."),
        )
    repo = team.profile.repo_root
    if fetch:
        words = ("-c", "protocol.allow=user", "fetch", "--quiet", "--no-tags", remote, branch)
        ask_git(repo, *words, patience=FETCH_PATIENCE)
    ref = f"refs/remotes/{remote}/{branch}"
    code, said = ask_git(repo, "log", "-1", "--format=%h %s", "--end-of-options", ref)
    if code == 0 and said:
        return Sign("commit", held=True, detail=f"{remote}/{branch}: {said[:120]}")
    unknown = say("{branch} is not known in {repo}", branch=f"{remote}/{branch}", repo=repo)
    detail = unknown if fetch else say("{unknown}; it was not fetched now", unknown=unknown)
    return Sign("commit", held=False, detail=detail)


def verify(
    context: Context, project: str, task_id: str, *, source: str, target: str, path: str = ""
) -> dict[str, object]:
    """Return what the files say of one handoff, and whether all is well. A receipt that cannot be read is among `problems`."""
    team = open_team(context, project, path=path)
    name = team.receipt(task_id, team.seat_meant(source), team.seat_meant(target))
    receipt = handoffs.find(team.folder, name)
    verdict = receipt.text("verdict") if receipt else ""
    needs_verdict = team.profile.role(name.source) == "reviewer" and (
        receipt is None or receipt.kind is ReceiptKind.COMPLETION
    )
    ack = task_tree.find_acknowledgement(team.tree, name.target, name.task_id, source=name.source)
    facts: dict[str, object] = {
        "assigned": receipt is not None and _is_assigned(team, receipt),
        "notified": bool(receipt and receipt.text("notified_at")),
        "consumed": receipt is not None and _is_consumed(team, receipt, ack),
        "verdict": verdict or None,
        "verdict_valid": verdict in VERDICTS if needs_verdict else True,
    }
    return {
        "task_id": name.task_id,
        "source": name.source,
        "target": name.target,
        **facts,
        "receipt_path": _path_of(team, name),
        "todo_path": team.tree.todo_file(name.target),
        "delivery_path": team.tree.delivery_file(name.source),
        "consumed_ack": (ack if facts["consumed"] else "") or None,
        "healthy": all(facts[key] for key in ("assigned", "notified", "consumed", "verdict_valid")),
        "problems": list(receipt.problems) if receipt else [],
    }


def _path_of(team: Team, name: ReceiptName) -> str:
    """Return where the receipt lies, else where it would."""
    path = handoffs.path_of(team.folder, name)
    return path + CONSUMED if not os.path.exists(path) and os.path.exists(path + CONSUMED) else path


def _is_assigned(team: Team, receipt: Receipt) -> bool:
    """Return whether the task is in the queue of its reader. A completion needs no queue."""
    if receipt.kind is ReceiptKind.COMPLETION:
        return True
    queue = task_tree.read_queue(team.tree, receipt.name.target)
    return any(task.task_id == receipt.name.task_id for task in queue)


def _is_consumed(team: Team, receipt: Receipt, ack: str) -> bool:
    """Return whether this very round was consumed: an ACK that is older than its delivery belongs to an earlier one."""
    if receipt.text("consumed_at") or handoffs.read(team.folder, receipt.name, CONSUMED) is not None:
        return True
    acked = timestamps.parse(ack.rpartition(" at ")[2]) if ack else None
    since = timestamps.parse(receipt.since)
    return acked is not None and (since is None or acked > since)  # both tell seconds: in doubt it is an older one


def audit_closeout(context: Context, project: str, task_id: str, *, path: str = "") -> tuple[str, ...]:
    """Return a sentence for each of the three artifacts of a planner's closeout that is not there: () when all are.

    The planner consumed what was sent to it; its completion for memory is on disk; its DELIVERY.md names this task.
    """
    team = open_team(context, project, path=path)
    planners = team.profile.planners or ("planner",)
    memories = team.profile.seats_of("memory") or ("memory",)
    consumed = any(
        not is_open for seat in planners for _, is_open in dispatches.dispatches_to(team.folder, task_id, seat)
    )
    names = [receipts.receipt_name(task_id, seat, memory) for seat in planners for memory in memories]
    found = [receipt for name in names for receipt in [handoffs.find(team.folder, name)] if receipt is not None]
    absent = []
    if not consumed:
        absent.append(f".consumed missing: {team.folder}/{task_id}__*__{planners[0]}.json.consumed")
    if not found:
        absent.append(f"planner→memory receipt missing: {handoffs.path_of(team.folder, names[0])}")
    absent += [f"planner→memory receipt unreadable: {text}" for receipt in found for text in receipt.problems]
    told = [task_tree.read_delivery(team.tree, seat).get("task_id", "") for seat in planners]
    if task_id not in told:
        other = next(filter(None, told), "")
        absent.append(
            f"planner DELIVERY.md task_id mismatch: expected {task_id}, got {other}"
            if other
            else f"planner DELIVERY.md missing: {team.tree.delivery_file(planners[0])}"
        )
    return tuple(absent)
