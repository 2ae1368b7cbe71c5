"""Record what peers delivered: memory writes a finding that cites the delivery.

The finding holds the folder of the delivery, the verdict of its receipt, its tasks and commits, and memory's own sentence.
The peer's text is never copied: a sentence that repeats many of its words in a row is refused.
"""

from __future__ import annotations

import re

from oracle.app.context import Context
from oracle.app.records.listing import list_records
from oracle.app.records.once import creation_lock
from oracle.app.records.views import Summary
from oracle.app.records.write import write
from oracle.app.teamwork.workflow import tree_of
from oracle.domain.names import MEMORY
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.values import value
from oracle.errors import NotFound, UsageError
from oracle.store.delivery import peers
from oracle.store.delivery.peers import PeerDelivery
from oracle.wording import say

LONGEST_STRETCH = 10
"""Words in a row that both texts may have. A Han character counts as a word."""

_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_]+(?:[-'][^\W_]+)*")
_MOST_NAMED = 20


@value
class ListedDelivery:
    """A peer's delivery and the record that was made of it as it is now, "" for none."""

    delivery: PeerDelivery
    record: str

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; nothing of the peer's text is in it."""
        one = self.delivery
        return {
            "peer": one.peer,
            "task_id": one.task_id,
            "verdict": one.said("verdict"),
            "folder": one.folder,
            "record": self.record or None,
            "problems": list(one.problems),
        }


def list_peers(context: Context, project: str) -> list[ListedDelivery]:
    """Return every delivery of peers to a project, with the record that was made of it. Writes nothing."""
    known = _known(context, project)
    return [ListedDelivery(one, _record_of(known, one)) for one in _read(context, project)]


def synthesise(context: Context, project: str, peer: str, *, task_id: str = "", summary: str = "") -> str:
    """Write the record of one delivery once; return its path. Raises NotFound, UsageError, and what a write raises."""
    found = [one for one in _read(context, project) if one.peer == peer and task_id in ("", one.task_id)]
    if not found:
        raise NotFound(
            say("The peer {peer} delivered nothing to {project}.", peer=peer[:80], project=project),
            hint=say("See `oracle team peers list --project P`."),
        )
    if len(found) > 1:
        tasks = ", ".join(one.task_id or "(none)" for one in found)
        raise UsageError(
            say("The peer {peer} delivered several tasks: {tasks}.", peer=peer, tasks=tasks),
            hint=say("Name the task behind the peer."),
        )
    one = found[0]
    _refuse_copy(one, summary)
    with creation_lock(context):
        known = _known(context, project)
        standing = _record_of(known, one)
        if standing:
            return context.root.join(standing)
        older = tuple(item.slug for item in known if item.title.startswith(_head(one)) and not item.is_retired)
        return write(context, _draft(project, one, summary, older), secrets="redact").path


def _read(context: Context, project: str) -> list[PeerDelivery]:
    tree, _ = tree_of(context, project)
    found, problems = peers.read_all(tree.tasks_root)
    for problem in (*problems, *(text for one in found for text in one.problems)):
        context.warn(problem)
    return found


def _known(context: Context, project: str) -> list[Summary]:
    import os

    if not os.path.isdir(context.root.path):
        return []
    try:
        return list_records(context, {"project": project, "kind": "finding", "seat": "memory"}, fresh=True)
    except NotFound:
        return []


def _head(one: PeerDelivery) -> str:
    return f"Peer {one.peer} delivered {one.task_id or 'its work'} ("


def _title(one: PeerDelivery) -> str:
    return f"{_head(one)}{one.digest[:12]})"


def _record_of(known: list[Summary], one: PeerDelivery) -> str:
    return next((item.path for item in known if item.title == _title(one)), "")


def _draft(project: str, one: PeerDelivery, summary: str, older: tuple[str, ...]) -> Draft:
    said = {
        key: one.said(key) for key in ("verdict", "status", "acknowledged_by", "acknowledged_at", "commit", "branch")
    }
    named = _named(one.text)
    lines = [
        f"{one.peer} delivered {one.task_id or 'its work'} in {one.folder}.",
        *([summary.strip()] if summary.strip() else []),
        "; ".join(f"{key}: {text}" for key, text in said.items() if text),
        f"It names {', '.join(named)}." if named else "",
        f"As it was read, its files have the SHA-256 {one.digest}.",
    ]
    evidence = tuple(Evidence("medium", path) for path in one.files)
    return Draft(
        "finding",
        project,
        _title(one),
        body="\n\n".join(filter(None, lines)) + "\n",
        seat=MEMORY,
        task_id=_task(one.task_id),
        evidence=evidence,
        supersedes=older,
        extra={"peer": one.peer, "digest": one.digest},
    )


def _task(task_id: str) -> str:
    from oracle.domain.records.drafts import check_task
    from oracle.errors import InvalidName

    try:
        check_task(task_id)
    except InvalidName:
        return ""
    return task_id


def _named(text: str) -> list[str]:
    """Return the tasks and commits that a delivery names."""
    from oracle.domain.links.references import extract

    targets = dict.fromkeys(item.target for item in extract(text).mentions)
    kept = [target.split(":", 2)[2] for target in targets if target.startswith(("entity:taskid:", "entity:commit:"))]
    return kept[:_MOST_NAMED]


def _refuse_copy(one: PeerDelivery, summary: str) -> None:
    mine, theirs = (
        [word.casefold() for word in _WORD.findall(text)] for text in (summary, one.text + " " + str(dict(one.receipt)))
    )
    size = LONGEST_STRETCH + 1
    stretches = {tuple(theirs[at : at + size]) for at in range(len(theirs) - size + 1)}
    if any(tuple(mine[at : at + size]) in stretches for at in range(len(mine) - size + 1)):
        raise UsageError(
            say(
                "The summary repeats more than {longest_stretch} words of the delivery of {peer}.",
                longest_stretch=LONGEST_STRETCH,
                peer=one.peer,
            ),
            hint=say("Say it in your own words; the record cites where the delivery lies."),
        )
