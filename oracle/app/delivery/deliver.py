"""Deliver an answer of the memory seat: check its claims, keep the intent, carry out the steps, wake the reader. App room."""

from __future__ import annotations

from oracle.app.claims import verify
from oracle.app.delivery import dispatches, intents, resume, steps
from oracle.app.delivery import team as teams
from oracle.app.delivery.steps import REFUSE, SUPERSEDE, Delivered, Work
from oracle.app.delivery.team import Team, open_team
from oracle.app.guard import redaction
from oracle.domain.delivery import receipts
from oracle.domain.records.responses import require_answer
from oracle.domain.values import replace, value
from oracle.wording import LIST, joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.context import Context
    from oracle.store.delivery.inbox import Entry


@value
class Delivery:
    """An answer on its way: who answers which task to whom, and the response as its writer made it."""

    project: str
    task_id: str
    target: str
    response: Mapping[str, object]
    source: str = "memory"
    profile: str = ""
    summary: str = ""
    verdict: str = ""
    commit: str = ""
    title: str = ""
    sweep: int | None = None
    notifies: bool = True
    supersedes: bool = False
    is_strict: bool = False
    secrets: str = redaction.REFUSE
    """What becomes of what looks like a secret in it."""


def deliver(context: Context, delivery: Delivery) -> Delivered:
    """Deliver once: the same again changes nothing and wakes nobody.

    Raises SecretFound with nothing written, OwnershipError unless a memory seat answers, ClaimsFailed when strict, Conflict for
    another answer (which is kept aside), OtherAsker for a target that did not ask while another seat waits, HandoffFailed,
    UsageError for malformed claims, NoProfile. A wake-up that fails is a warning and waits in the inbox.
    """
    resume.before(context, notifies=delivery.notifies)
    done, owed = _deliver(context, delivery)
    return steps.send_all(context, done, owed)


def deliver_and_owe(context: Context, delivery: Delivery) -> Delivered:
    """Deliver, and leave the wake-ups in the inbox: for who sends what lies there anyway. Raises what `deliver` does."""
    return _deliver(context, delivery)[0]


def _deliver(context: Context, delivery: Delivery) -> tuple[Delivered, tuple[Entry, ...]]:
    delivery, redacted = without_secrets(context, delivery)
    team, work, verified = prepare(context, delivery)
    name = work.receipt.name
    dispatches.refuse_other_reader(team, name)
    subject = (team.project, name.task_id, name.source, name.target, _digest(work))
    entry = intents.keep(context, "delivery", subject, work.as_fields(team))
    with intents.until_done(context, entry):
        done, owed = steps.carry_out(context, team, work)
    if done.is_new and "unsolicited" in work.receipt.fields:
        _warn_of_unsolicited(context, team, work)
    return replace(done, all_verified=verified.all_verified, confidence=verified.confidence, redacted=redacted), owed


def without_secrets(context: Context, delivery: Delivery) -> tuple[Delivery, tuple[str, ...]]:
    """Return a delivery as it may be handed over, and what was replaced in it. Raises SecretFound, PrivacyBlocked, UsageError."""
    fields = {
        name: getattr(delivery, name) for name in ("task_id", "response", "summary", "title", "verdict", "commit")
    }
    cleaned, redacted = redaction.guard_handoff(context, fields, delivery.secrets)
    return (replace(delivery, **cleaned) if redacted else delivery), redacted


_MOST_NAMED = 5


def _warn_of_unsolicited(context: Context, team: Team, work: Work) -> None:
    """Say that nobody asked for this, and what is open: a task id or a target may be mistyped."""
    from oracle.app.delivery.handoffs import of_team

    name = work.receipt.name
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


def _digest(work: Work) -> str:
    from oracle.store.delivery.responses import digest_of

    return digest_of(work.response or {})


def prepare(context: Context, delivery: Delivery) -> tuple[Team, Work, verify.Verified]:
    """Return the team, the work and what its claims are worth. Writes nothing.

    Raises OwnershipError for a source that is no memory seat, CompletionRefused for a question to people, ClaimsFailed,
    UsageError, also for a response that says nothing.
    """
    team = open_team(context, delivery.project, path=delivery.profile)
    dispatches.refuse_decision(team, delivery.task_id)
    teams.require_memory(team, delivery.source)
    name = team.receipt(delivery.task_id, delivery.source, delivery.target)
    require_answer(delivery.response)
    verified = verify.verify(context.root, team.profile.repo_root, delivery.response)
    if delivery.is_strict:
        verified.require()
    moment = context.stamp()
    whole = {**verified.response, "project": team.project, "delivered_at": moment}
    fields = {
        "summary": delivery.summary or _summary(name.task_id, verified),
        "title": delivery.title,
        "verdict": delivery.verdict,
        "commit": delivery.commit,
        "sweep_count": delivery.sweep,
        "correlation_id": receipts.correlation_id(team.project, name.task_id),
        "delivered_at": moment,
        "delivery_path": team.tree.delivery_file(name.source),
        "source_todo_path": team.tree.todo_file(name.source),
        "all_verified": verified.all_verified,
    }
    receipt = steps.completion(name, fields, asked=dispatches.dispatch_answered(team.folder, name))
    policy = SUPERSEDE if delivery.supersedes else REFUSE
    return team, Work(receipt, whole, policy, delivery.notifies), verified


def _summary(task_id: str, verified: verify.Verified) -> str:
    count = "1 claim" if verified.count == 1 else f"{verified.count} claims"
    return f"Wrote responses/{task_id}.json with {count} (confidence={verified.confidence})."


# The Stop hook --------------------------------------------------------------------------------------------------------


def delivery_of(answer: Mapping[str, object]) -> Delivery:
    """Return the delivery that an answer of the Stop hook asks for, as its intent keeps it: plain text, no claims."""
    sweep = answer.get("sweep")

    def word(key: str, default: str = "") -> str:
        return str(answer.get(key) or default)

    return Delivery(
        word("project"),
        word("task_id"),
        word("seat"),
        {"answer": word("text")},
        source=word("source", "memory"),
        summary=word("summary", "Auto-delivered by the Stop hook of the seat."),
        verdict=word("verdict"),
        commit=word("commit"),
        title=word("title"),
        sweep=sweep if isinstance(sweep, int) else None,
    )


def deliver_held(context: Context, delivery: Delivery) -> tuple[bool, tuple[Entry, ...]]:
    """Carry out a delivery whose intent the caller keeps; return whether it is new and the wake-ups that are owed.

    The caller has asked `without_secrets` before, so that the intent holds none.
    """
    team, work, _ = prepare(context, delivery)
    done, owed = steps.carry_out(context, team, work)
    return done.is_new, owed
