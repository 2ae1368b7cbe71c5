"""A commit that passed outside of the main line: the record of it, and the wake-up for memory.

What is done about it is up to `teamwork.integration`.
"""

from __future__ import annotations

from oracle.app.context import Context
from oracle.app.delivery import wakeups
from oracle.app.delivery.team import Team
from oracle.app.git import DIVERGENT, is_commit
from oracle.app.records.once import write_once
from oracle.domain.delivery.receipts import Receipt
from oracle.domain.names import MEMORY
from oracle.domain.records.drafts import Draft, Evidence
from oracle.store.delivery import handoffs
from oracle.store.delivery.entries import InboxEntry

PASS_NEEDS_INTEGRATION = "PASS_NEEDS_INTEGRATION"  # noqa: S105 - a word that teams look for, no password


def note(context: Context, team: Team, receipt: Receipt) -> str:
    """Record once that a receipt names an unmerged commit; return the path, "" for no commit or when memory reads it."""
    name, commit = receipt.name, _commit(receipt)
    if not commit or team.profile.role(name.target) == "memory":
        return ""
    where = handoffs.path_of(team.folder, name)
    body = (
        f"{name.source} delivered {name.task_id} to {name.target} with the commit {commit}, which the head of"
        f" {team.profile.repo_root} does not contain.\n\nlineage_status={DIVERGENT}\nreported_commit={commit}\n"
        f"receipt={where}\n"
    )
    title = f"{PASS_NEEDS_INTEGRATION} {name.task_id} {commit[:12]}"
    evidence = (Evidence("high", where),)
    draft = Draft("finding", team.project, title, body=body, seat=MEMORY, task_id=name.task_id, evidence=evidence)
    return write_once(context, draft)


def enqueue(context: Context, team: Team, receipt: Receipt, seat: str) -> InboxEntry:
    """Enqueue a wake-up that tells a memory seat of the commit."""
    name, commit = receipt.name, _commit(receipt)
    words = {
        "task_id": name.task_id,
        "lineage_status": DIVERGENT,
        "reported_commit": commit if is_commit(commit) else "?",  # a receipt may say anything
        "source": name.source,
        "target": name.target,
        "delivery_path": team.tree.delivery_file(name.source),
    }
    text = f"{PASS_NEEDS_INTEGRATION}: " + " ".join(f"{key}={word}" for key, word in words.items())
    return wakeups.enqueue(context, team, name, seat=seat, text=text, topic=f"{PASS_NEEDS_INTEGRATION} {commit}")


def _commit(receipt: Receipt) -> str:
    return receipt.text("builder_commit") or receipt.text("commit")
