"""Complete a handoff with a receipt alone, by the rules of the team."""

from __future__ import annotations

from collections.abc import Mapping

from oracle.app import git, guard
from oracle.app.context import Context
from oracle.app.delivery import deliver, dispatches
from oracle.app.delivery.deliver import REWORK, Delivered, Work
from oracle.app.delivery.team import Team, open_team
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import Receipt, ReceiptKind, ReceiptName
from oracle.domain.names import FRONT, MEMORY
from oracle.domain.values import NOTHING, replace, value
from oracle.errors import CompletionRefused
from oracle.store.delivery import handoffs
from oracle.wording import LIST, joined, say

VERDICTS = ("APPROVED", "APPROVED_WITH_NITS", "CHANGES_REQUESTED", "BLOCKED", "DECISION_NEEDED")
MAIN = "main"
"""The branch from which every task may be delivered."""

DISPOSITIONS = ("AUTO_ADVANCE", "USER_DECISION_NEEDED")


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
    takes_stranger: bool = False
    """Whether it may go to somebody who is not of the team, and is not woken."""
    is_unsolicited: bool = False
    """Whether it is known that nobody asked, though a task with nearly the same id waits."""
    fields: Mapping[str, object] = NOTHING
    secrets: str = guard.REFUSE
    """What to do when it holds what looks like a secret."""


def complete(context: Context, given: Completion) -> Delivered:
    """Complete a handoff. Another completion is replaced and kept, and its ACK ends. The same again changes nothing.

    Raises CompletionRefused, MistypedTask, SecretFound, PrivacyBlocked, UsageError, NoProfile, HandoffFailed. A wake-up that fails
    is a warning and stays in the inbox.
    """
    given, redacted = guard.clean_handoff(context, given, given.secrets)
    team = open_team(context, given.project, path=given.profile)
    dispatches.refuse_decision(team, given.task_id)
    source, target = team.seat_meant(given.source), team.seat_meant(given.target)
    if not given.is_unsolicited:
        dispatches.refuse_unknown(team, given.task_id, source)
    target = target or dispatches.asker_of(team, given.task_id, source)
    takes_stranger = given.takes_stranger and not dispatches.is_for_another(team, given.task_id, source, target)
    name = team.receipt(given.task_id, source, target, takes_stranger=takes_stranger)
    asked = dispatches.dispatch_answered(team.folder, name)
    receipt = _receipt(context, team, given, name, asked)
    before = handoffs.find(team.folder, name)
    done = deliver.hand_over(context, team, Work(receipt, None, REWORK, given.notifies, given.secrets))
    if done.is_new and before is not None and before.kind is ReceiptKind.COMPLETION:
        _warn_of_replaced(context, before)
    return replace(done, redacted=redacted)


def _warn_of_replaced(context: Context, before: Receipt) -> None:
    """Warn which completion was replaced: its reader may have acted on it."""
    words = [f"{key} {before.text(key)}" for key in ("status", "verdict", "commit") if before.text(key)]
    told = {"task": before.name.task_id, "moment": before.text("delivered_at") or "?", "what": joined(LIST, words)}
    acknowledged = before.text("consumed_at")
    context.warn(
        say(
            "this takes the place of the completion of {task} from {moment} ({what}), acknowledged {acknowledged}; "
            "the old receipt is kept",
            **told,
            acknowledged=acknowledged,
        )
        if acknowledged
        else say(
            "this takes the place of the completion of {task} from {moment} ({what}); the old receipt is kept", **told
        )
    )


def _receipt(context: Context, team: Team, given: Completion, name: ReceiptName, asked: Receipt | None) -> Receipt:
    """Return the receipt after every rule was kept; git is asked, nothing is written."""
    _keep_rules(team, given, name, asked)
    repo = team.profile.repo_root
    commit = given.commit
    branch = _branch_facts(repo, given)
    tip = str(branch.get("branch_tip") or "")
    _keep_branch(context, given, branch, asked)
    role = team.profile.role(name.source)
    built = (commit or tip) if role == "builder" else _built(team, name.task_id)
    judged = built or commit or tip
    status = git.lineage_of(repo, judged) if judged else git.UNKNOWN
    if commit and git.is_missing(repo, commit):
        context.warn(
            say("the commit {commit} was not found in {repo}; its lineage is unknown", commit=commit, repo=repo)
        )
    drift = _drift(asked, branch)
    if drift:
        context.warn(drift)
        status = git.DIVERGENT
    _keep_lineage(context, given, built or commit, asked=asked)
    fields = {
        **given.fields,
        **branch,
        "builder_commit": built,
        "commit": commit,
        "memory_commit": commit if role == MEMORY else None,
        "head_contains_commit": {git.IN_LINEAGE: True, git.DIVERGENT: False}.get(status),
        "lineage_status": status,
        "core_ux_gate": given.core_ux_gate,
        "correlation_id": receipts.correlation_id(team.project, name.task_id),
        "delivered_at": context.stamp(),
        "delivery_path": team.tree.delivery_file(name.source),
        "frontstage_disposition": given.disposition,
        "next_action": given.next_action,
        "source_todo_path": team.tree.todo_file(name.source),
        "status": given.status,
        "summary": given.summary,
        "sweep_count": given.sweep,
        "test_policy": given.test_policy,
        "title": given.title,
        "user_summary": given.user_summary,
        "verdict": given.verdict,
    }
    return deliver.completion(name, fields, asked=asked)


def _built(team: Team, task_id: str) -> str:
    """Return the commit that a builder reported last for this task, ""."""
    found = []
    for seat in team.profile.seats_of("builder"):
        for target in team.profile.seats:
            receipt = (
                handoffs.read(team.folder, receipts.receipt_name(task_id, seat, target)) if target != seat else None
            )
            if receipt is not None and receipt.kind is ReceiptKind.COMPLETION and receipt.text("builder_commit"):
                found.append(receipt)
    return max(found, key=lambda item: item.text("delivered_at")).text("builder_commit") if found else ""


def _branch_facts(repo: str, given: Completion) -> dict[str, object]:
    if not given.branch:
        return {}
    tip, base = git.tip_of(repo, given.branch), git.base_of(repo, given.branch)
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
    is_free = given.is_any_branch or given.branch == MAIN or git.is_commit(given.branch)
    if given.branch and expected and given.branch != expected and not is_free:
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
            say("A reviewer's completion needs a verdict; {verdict} is unknown.", verdict=given.verdict)
            if given.verdict
            else say("A reviewer's completion needs a verdict."),
            hint=say("Give --verdict {verdicts}.", verdicts=joined("|", VERDICTS)),
        )
    if given.disposition and given.disposition not in DISPOSITIONS:
        raise CompletionRefused(
            say("{disposition!r} is no --frontstage-disposition.", disposition=given.disposition[:40]),
            hint=joined(" or ", DISPOSITIONS),
        )
    if name.target in (FRONT, team.profile.heartbeat_owner):
        _keep_front(team, given, name)


def _keep_branch(context: Context, given: Completion, branch: Mapping[str, object], asked: Receipt | None) -> None:
    """Refuse a branch that git does not know when the dispatch expects a base; else warn of it."""
    if not given.branch or (branch.get("branch_tip") and branch.get("branch_base")):
        return
    if asked is not None and asked.text("expected_base_sha"):
        raise CompletionRefused(
            say(
                "{task_id} was dispatched with an expected base, and git finds no branch {branch} to compare with it.",
                task_id=given.task_id,
                branch=given.branch,
            ),
            hint=say("Fetch the branch in the repository of the profile, or correct --branch."),
        )
    context.warn(say("git does not know the branch {branch}; it was not checked", branch=given.branch))


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


def _keep_lineage(context: Context, given: Completion, commit: str, *, asked: Receipt | None) -> None:
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
        context.warn(say("the completion of {task_id} has no --user-summary", task_id=given.task_id))
