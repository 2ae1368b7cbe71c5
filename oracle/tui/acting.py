"""What the keys carry out: the same use cases as the commands. Each returns a sentence on what was done."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from oracle.domain.delivery.handoffs import Party
from oracle.errors import NotFound, UsageError
from oracle.wording import Sentence, joined, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.context import Context
    from oracle.app.decisions.overdue import OpenDecision
    from oracle.app.delivery.listed import ListedHandoff


def decide(context: Context, decision: OpenDecision, choice: str) -> Sentence:
    """Record a decision, as `oracle team decision resolve` does."""
    from oracle.app.decisions import handover

    done = handover.resolve(context, decision.project, decision.decision_id, choice=choice)
    told = {"decision": done.decision_id, "choice": done.choice, "label": done.label, "who": done.by}
    return say("{decision}: {choice} ({label}), by {who}", **told)


def acknowledge(context: Context, item: ListedHandoff) -> str:
    """Acknowledge an answer, as `oracle ack` does."""
    from oracle.app.delivery import acknowledge, resume

    resume.before(context)
    ends = {"source": item.handoff.answerer, "target": item.handoff.asker}
    return acknowledge.acknowledge(context, item.project, item.handoff.task_id, **ends).line


def resume(context: Context) -> Sentence:
    """Finish what was interrupted, as `oracle resume` does."""
    from oracle.app.delivery import resume

    found = resume.resume(context)
    return joined("; ", [*found.done, *found.left]) or say("nothing was left to finish")


def require_acknowledgeable(item: ListedHandoff | None) -> ListedHandoff:
    """Return a handoff whose answer its asker has not acknowledged. Raises UsageError for any other line."""
    if item is None or item.handoff.state.party is not Party.ASKER:
        raise UsageError(say("Choose a handoff whose next step is to read the answer."))
    return item


def require_decision(decision: OpenDecision | None) -> OpenDecision:
    """Return a decision. Raises UsageError for any other line."""
    if decision is None:
        raise UsageError(say("Choose a decision that waits."))
    return decision


def path_of(context: Context, target: str) -> str:
    """Return the file of a record. Raises NotInMemory, UsageError."""
    from oracle.app.records import naming

    return context.root.join(naming.show(context, target, last_line=1).record.path)


def editor(environ: Mapping[str, str]) -> list[str]:
    """Return the words that start the operator's editor. Raises NotFound without one that can be read."""
    import shlex

    words: list[str] = []
    with suppress(ValueError):  # a quotation mark without its other one
        words = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")
    if not words:
        raise NotFound(say("No editor is set. Set EDITOR, as in `export EDITOR=vim`."))
    return words
