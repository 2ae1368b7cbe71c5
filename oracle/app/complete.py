"""Complete a handoff with a receipt and no response of ours, acknowledge one, verify one, audit a planner's closeout. App room."""

from __future__ import annotations

from oracle.app import cleaning, completing, intents, lineage, resume, teams
from oracle.app.completing import REWORK, Delivered, Work
from oracle.app.teams import Team, open_team
from oracle.domain import receipts, timestamps
from oracle.domain.receipts import CONSUMED, Kind, Receipt, ReceiptName
from oracle.domain.values import NOTHING, replace, value
from oracle.errors import CompletionRefused, OracleError, UsageError
from oracle.store import handoffs, task_tree
from oracle.store.handoffs import Outcome
from oracle.wording import joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.oracle import Oracle

VERDICTS = ("APPROVED", "APPROVED_WITH_NITS", "CHANGES_REQUESTED", "BLOCKED", "DECISION_NEEDED")
DISPOSITIONS = ("AUTO_ADVANCE", "USER_DECISION_NEEDED")
FRONT = "koder"
_SAID = ("task_id", "title", "summary", "user_summary", "next_action", "core_ux_gate", "branch", "fields")
"""What a completion says in words of its own."""


@value
class Completion:
    """A finished task on its way back: who did what for whom. `fields` are further ones of the receipt."""

    project: str
    task_id: str
    source: str
    target: str = ""
    profile: str = ""
    status: str = "completed"
    title: str = ""
    summary: str = ""
    verdict: str = ""
    commit: str = ""
    branch: str = ""
    test_policy: str = ""
    user_summary: str = ""
    next_action: str = ""
    disposition: str = ""
    core_ux_gate: str = ""
    sweep: int | None = None
    notifies: bool = True
    needs_lineage: bool = False
    is_any_branch: bool = False
    fields: Mapping[str, object] = NOTHING
    secrets: str = cleaning.REFUSE
    """What becomes of what looks like a secret in it."""


def complete(oracle: Oracle, given: Completion) -> Delivered:
    """Complete a handoff; another completion that stands is kept aside, and its ACK ends. The same again changes nothing.

    Raises CompletionRefused, SecretFound, PrivacyBlocked, UsageError, NoProfile, HandoffFailed; a wake-up that fails is a warning
    and waits.
    """
    from oracle.app.deliver import KEPT

    resume.before(oracle, notifies=given.notifies)
    cleaned, redacted = cleaning.guard_handoff(oracle, {name: getattr(given, name) for name in _SAID}, given.secrets)
    given = replace(given, **cleaned) if redacted else given
    team = open_team(oracle, given.project, path=given.profile)
    source, target = _seats(team, given)
    name = team.receipt(given.task_id, source, target or _asker(team, given.task_id, source))
    asked = completing.dispatch_answered(team.folder, name)
    receipt = _receipt(oracle, team, given, name, asked)
    work = Work(receipt, None, REWORK, given.notifies)
    subject = (team.project, name.task_id, name.source, name.target, receipts.fingerprint(receipt.fields)[:12])
    entry = intents.keep(oracle, "delivery", subject, work.as_fields(team))
    try:
        done, owed = completing.carry_out(oracle, team, work)
    except OracleError as error:
        if not isinstance(error, KEPT):
            intents.finish(oracle, entry)
        raise
    intents.finish(oracle, entry)
    return replace(completing.send_all(oracle, done, owed), redacted=redacted)


def _seats(team: Team, given: Completion) -> tuple[str, str]:
    """Return source and target; a plain `planner` stands for the one planner seat of another name."""
    return _planner_meant(team, given.source), _planner_meant(team, given.target)


def _planner_meant(team: Team, seat: str) -> str:
    if seat != "planner" or seat in team.profile.seats:
        return seat
    planners = team.profile.planners
    if len(planners) > 1:
        raise UsageError(say("`planner` may mean each of {planners}.", planners=planners), hint=say("Name the seat."))
    return planners[0] if planners else seat


def _asker(team: Team, task_id: str, source: str) -> str:
    """Return who wants the answer, from the dispatch that was made last. Raises CompletionRefused when nothing was dispatched."""
    found = [item for item, _ in completing.dispatches_to(team.folder, task_id, source) if item.kind is Kind.DISPATCH]
    if not found:
        if source != teams.OPERATOR:
            team.profile.require_seat(source)
        raise CompletionRefused(
            say(
                "Nothing tells to whom {source} answers {task_id}: no dispatch to it is on disk.",
                source=source,
                task_id=task_id,
            ),
            hint=say("Name it with --target."),
        )
    return max(found, key=lambda item: item.text("assigned_at")).reply_to


def _receipt(oracle: Oracle, team: Team, given: Completion, name: ReceiptName, asked: Receipt | None) -> Receipt:
    """Return the receipt after every rule was kept; git is asked, nothing is written."""
    _keep_rules(team, given, name, asked)
    repo = team.profile.repo_root
    commit = given.commit
    branch = _branch_facts(repo, given)
    built = commit if team.profile.role(name.source) == "builder" else _built(team, name.task_id)
    judged = built or commit or str(branch.get("branch_tip") or "")
    status = lineage.lineage_of(repo, judged) if judged else lineage.UNKNOWN
    drift = _drift(asked, branch)
    if drift:
        oracle.warn(drift)
        status = lineage.DIVERGENT
    _keep_lineage(oracle, given, built or commit, asked=asked)
    fields = {
        **given.fields,
        **branch,
        "builder_commit": built,
        "commit": commit,
        "head_contains_commit": {lineage.IN_LINEAGE: True, lineage.DIVERGENT: False}.get(status),
        "lineage_status": status,
        "core_ux_gate": given.core_ux_gate,
        "correlation_id": receipts.correlation_id(team.project, name.task_id),
        "delivered_at": teams.stamp(oracle),
        "delivery_path": team.profile.delivery_file(name.source),
        "frontstage_disposition": given.disposition,
        "next_action": given.next_action,
        "source_todo_path": team.profile.todo_file(name.source),
        "status": given.status,
        "summary": given.summary,
        "sweep_count": given.sweep,
        "test_policy": given.test_policy,
        "title": given.title,
        "user_summary": given.user_summary,
        "verdict": given.verdict,
    }
    return completing.completion(name, fields, asked=asked)


def _built(team: Team, task_id: str) -> str:
    """Return the commit that a builder reported last for this task, ""."""
    found = []
    for seat in team.profile.seats_of("builder"):
        for target in team.profile.seats:
            receipt = (
                handoffs.read(team.folder, receipts.receipt_name(task_id, seat, target)) if target != seat else None
            )
            if receipt is not None and receipt.kind is Kind.COMPLETION and receipt.text("builder_commit"):
                found.append(receipt)
    return max(found, key=lambda item: item.text("delivered_at")).text("builder_commit") if found else ""


def _branch_facts(repo: str, given: Completion) -> dict[str, object]:
    if not given.branch:
        return {}
    tip, base = lineage.tip_of(repo, given.branch), lineage.base_of(repo, given.branch)
    return {"branch": given.branch, "branch_tip": tip or None, "branch_base": base or None}


def _drift(asked: Receipt | None, branch: Mapping[str, object]) -> str:
    """Return what to say when the branch did not leave the main line where the dispatch expected it to."""
    expected, base = asked.text("expected_base_sha") if asked else "", str(branch.get("branch_base") or "")
    if not expected or not base or base.startswith(expected) or expected.startswith(base):
        return ""
    return say(
        "the branch left the main line at {base}, not at {expected} as the dispatch says",
        base=base[:12],
        expected=expected[:12],
    )


# Rules ----------------------------------------------------------------------------------------------------------------


def _keep_rules(team: Team, given: Completion, name: ReceiptName, asked: Receipt | None) -> None:
    expected = asked.text("expected_branch") if asked else ""
    if given.branch and expected and given.branch != expected and not given.is_any_branch:
        raise CompletionRefused(
            say(
                "BOUNCE: branch mismatch: {task_id} was dispatched for {expected}, not for {branch}.",
                task_id=name.task_id,
                expected=expected,
                branch=given.branch,
            ),
            hint=say("Deliver from that branch, or add --allow-branch-mismatch."),
        )
    if asked is not None and asked.text("expected_base_sha"):
        _require_branch(given)
    if asked is not None and asked.fields.get("core_ux") is True and not given.core_ux_gate:
        raise CompletionRefused(
            say("{task_id} touches the core of the product.", task_id=name.task_id),
            hint=say("Say how it was looked at: --core-ux-gate."),
        )
    if team.profile.role(name.source) == "reviewer" and given.verdict not in VERDICTS:
        raise CompletionRefused(
            say("A reviewer's completion needs a verdict; {verdict} is none.", verdict=given.verdict or say("none")),
            hint=say("Give --verdict {verdicts}.", verdicts=joined("|", VERDICTS)),
        )
    if name.target in (FRONT, team.profile.heartbeat_owner):
        _keep_front(team, given, name)


def _require_branch(given: Completion) -> None:
    absent = [
        flag
        for flag, word in (
            ("--branch", given.branch),
            ("--pr-number", given.fields.get("pr_number")),
            ("--ci-conclusion", given.fields.get("ci_conclusion")),
        )
        if not word
    ]
    if absent:
        raise CompletionRefused(
            say(
                "{task_id} was dispatched with an expected base, and {absent} is not given.",
                task_id=given.task_id,
                absent=absent,
            ),
            hint=say("Give them all."),
        )


def _keep_front(team: Team, given: Completion, name: ReceiptName) -> None:
    if name.source != team.profile.active_loop_owner:
        raise CompletionRefused(
            say(
                "{target} is closed to {source}: only {owner} delivers there.",
                target=name.target,
                source=name.source,
                owner=team.profile.active_loop_owner,
            ),
            hint=say("Deliver to {owner}.", owner=team.profile.active_loop_owner),
        )
    if given.disposition not in DISPOSITIONS:
        raise CompletionRefused(
            say("A delivery to {target} needs --frontstage-disposition.", target=name.target),
            hint=joined(" or ", DISPOSITIONS),
        )
    if given.disposition == DISPOSITIONS[1] and not given.next_action:
        raise CompletionRefused(
            say("A decision of the user is needed, and no --next-action says which."), hint=say("Name it.")
        )


def _keep_lineage(oracle: Oracle, given: Completion, commit: str, *, asked: Receipt | None) -> None:
    """Ask for a summary and a commit: a warning by default, whatever the day; an error where the caller wants it strict."""
    summary = given.user_summary or (asked.text("user_summary") if asked else "")
    absent = [key for key, word in (("user_summary", summary), ("builder_commit", commit)) if not word]
    if not absent:
        return
    if given.needs_lineage:
        raise CompletionRefused(
            say("The completion of {task_id} lacks {absent}.", task_id=given.task_id, absent=absent),
            hint=say("Give them."),
        )
    if "user_summary" in absent:
        oracle.warn(say("the completion of {task_id} has no --user-summary", task_id=given.task_id))


# Acknowledge ----------------------------------------------------------------------------------------------------------


@value
class Acknowledged:
    """An ACK as it stands: its line in the reader's queue and the receipt; `is_new` unless it was there."""

    line: str
    receipt_path: str
    is_new: bool


def acknowledge(
    oracle: Oracle, project: str, task_id: str, *, source: str, target: str, path: str = ""
) -> Acknowledged:
    """Note that `target` has what `source` completed; `.consumed` is put beside the receipt. Raises NotFound, UsageError."""
    resume.resume_quietly(oracle)
    team = open_team(oracle, project, path=path)
    seats = _planner_meant(team, source), _planner_meant(team, target)
    name = team.receipt(task_id, seats[0], seats[1] or _asker(team, task_id, seats[0]))
    moment = teams.now(oracle)
    receipt = _require_completion(team, name)
    line = task_tree.acknowledge_task(team.tree, name.target, name.task_id, source=name.source, moment=moment)
    task_tree.drop_task(team.tree, name.source, name.task_id)
    changes = {
        "consumed_at": teams.stamp(oracle),
        "consumed_ack": line,
        "todo_path": team.profile.todo_file(name.target),
    }
    outcome = handoffs.acknowledge(team.folder, name, changes)
    if outcome is Outcome.CREATED:
        policy = receipt.text("test_policy")
        completing.log_once(
            oracle, team, f"{name.source} ack {name.task_id} test_policy={policy}", task_id=name.task_id
        )
        details = {"project": team.project, "task_id": name.task_id, "source": name.source, "target": name.target}
        teams.note(oracle, "ack", details)
    return Acknowledged(line, handoffs.path_of(team.folder, name), outcome is Outcome.CREATED)


def _require_completion(team: Team, name: ReceiptName) -> Receipt:
    found = handoffs.find(team.folder, name)
    if found is None or found.kind not in (Kind.COMPLETION, Kind.UNKNOWN):
        from oracle.errors import NotFound

        raise NotFound(
            say("There is no completion receipt {file_name} to acknowledge.", file_name=name.file_name),
            hint=say("See what there is with `oracle handoffs show {task_id}`.", task_id=name.task_id),
        )
    return found


# Verify and audit -----------------------------------------------------------------------------------------------------


def verify(
    oracle: Oracle, project: str, task_id: str, *, source: str, target: str, path: str = ""
) -> dict[str, object]:
    """Return what the files say of one handoff: assigned, notified, consumed, verdict and whether all is well.

    Nothing is written. A receipt that can't be read is named under `problems`.
    """
    team = open_team(oracle, project, path=path)
    name = team.receipt(task_id, _planner_meant(team, source), _planner_meant(team, target))
    receipt = handoffs.find(team.folder, name)
    verdict = receipt.text("verdict") if receipt else ""
    needs_verdict = team.profile.role(name.source) == "reviewer" and (
        receipt is None or receipt.kind is Kind.COMPLETION
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
        "receipt_path": handoffs.path_of(team.folder, name),
        "todo_path": team.profile.todo_file(name.target),
        "delivery_path": team.profile.delivery_file(name.source),
        "consumed_ack": ack or None,
        "healthy": all(facts[key] for key in ("assigned", "notified", "consumed", "verdict_valid")),
        "problems": list(receipt.problems) if receipt else [],
    }


def _is_assigned(team: Team, receipt: Receipt) -> bool:
    """Tell whether the task stands where its reader looks: its own queue; a completion stands in its receipt by itself."""
    if receipt.kind is Kind.COMPLETION:
        return True
    queue = task_tree.read_queue(team.tree, receipt.name.target)
    return any(task.task_id == receipt.name.task_id for task in queue)


def _is_consumed(team: Team, receipt: Receipt, ack: str) -> bool:
    """Tell whether this very round was consumed: an ACK that is older than its delivery belongs to an earlier one."""
    if receipt.text("consumed_at") or handoffs.read(team.folder, receipt.name, CONSUMED) is not None:
        return True
    acked = timestamps.parse(ack.rpartition(" at ")[2]) if ack else None
    since = timestamps.parse(receipt.since)
    return acked is not None and (since is None or acked > since)  # both tell seconds: in doubt it is an older one


def audit_closeout(oracle: Oracle, project: str, task_id: str, *, path: str = "") -> tuple[str, ...]:
    """Return a sentence for each of the three artifacts of a planner's closeout that is not there: () when all are.

    The planner consumed what was sent to it; its completion for memory is on disk; its DELIVERY.md tells of this task.
    """
    team = open_team(oracle, project, path=path)
    planners = team.profile.planners or ("planner",)
    memories = team.profile.seats_of("memory") or ("memory",)
    consumed = any(
        not is_open for seat in planners for _, is_open in completing.dispatches_to(team.folder, task_id, seat)
    )
    names = [receipts.receipt_name(task_id, seat, memory) for seat in planners for memory in memories]
    found = [receipt for name in names for receipt in [handoffs.find(team.folder, name)] if receipt is not None]
    absent = []
    if not consumed:
        absent.append(f"missing consumed receipt: {task_id}__*__{planners[0]}.json.consumed")
    if not found:
        absent.append(f"missing closeout receipt: {names[0].file_name}")
    absent += [f"unreadable closeout receipt: {text}" for receipt in found for text in receipt.problems]
    if not any(task_tree.read_delivery(team.tree, seat).get("task_id") == task_id for seat in planners):
        absent.append(f"missing delivery: {team.profile.delivery_file(planners[0])} does not tell of {task_id}")
    return tuple(absent)
