"""Send what this machine changed. What the guards refuse stays here, and is named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

from oracle.app import guard
from oracle.app.hubs.visit import Visit, rules_stamp
from oracle.domain.hub.paths import HubFile, parse
from oracle.domain.hub.replication import FEW, Agreed, is_much
from oracle.domain.hub.rows import Row
from oracle.domain.safety.privacy import Guard
from oracle.errors import TreeEmptied
from oracle.store.hub import ledger as ledgers
from oracle.wording import say

GUARDED = "guard: "
"""How the reason of a file begins that a guard refused; its rule and line follow."""

_FINAL = ("path", "size", "digest")
_LOST = ("owner", "home", "epoch")
"""Reasons that say that another machine owns the file: the hub's is fetched."""


def push(visit: Visit, *, confirms: bool = False) -> None:
    """Send changed files and tombstones in batches. Raises TreeEmptied for many removals that nobody confirmed."""
    gone = _gone(visit)
    owned = sum(1 for path in visit.ledger.agreed if visit.is_mine(path)) if len(gone) > FEW else 0
    if is_much(gone, owned) and not confirms:
        raise TreeEmptied(
            say("{count} of {owned} files of this machine are gone; nothing was sent.", count=len(gone), owned=owned),
            hint=say("Restore them. If they are to be removed everywhere: oracle hub sync --confirm-removal"),
        )
    from oracle.hub.exchange import split

    for batch in split(_rows(visit, gone)):
        if visit.pushed:
            ledgers.save(visit.context.root, visit.ledger)  # the batch before is agreed on
        visit.ledger.sent = {row.path: row.sha256 for row in batch}
        ledgers.save_sent(visit.context.root, visit.ledger.sent)
        _send(visit, batch)
    visit.ledger.sent = {}


def unsent(visit: Visit) -> list[str]:
    """Return the files that the next push sends or removes, without those that are refused."""
    paths = [*(file.path for file in _changed(visit)), *_gone(visit)]
    return [path for path in paths if path not in visit.ledger.refused]


def _gone(visit: Visit) -> list[str]:
    """Return own files that are no longer here. Each is looked for once more: a receipt may have been renamed meanwhile."""
    absent = visit.absent() - visit.tree.unread - visit.tree.oversized
    mine = ((path, parse(path)) for path in sorted(absent) if visit.is_mine(path))
    return [path for path, file in mine if file and visit.wants(file) and visit.tree.digest(file) == ""]


def _rows(visit: Visit, gone: Sequence[str]) -> Iterator[Row]:
    for path in sorted(visit.tree.oversized):
        visit.refuse(path, "size")
    rules = guard.open_guard(visit.context)
    stamp = rules_stamp(visit.context.root)
    is_same = stamp == visit.ledger.rules
    visit.ledger.rules = stamp
    for file in _changed(visit):
        path, sha256 = file.path, visit.here[file.path].sha256
        before = visit.ledger.refused.get(path)
        if before and before[0] == sha256 and (before[1] in _FINAL or (is_same and before[1].startswith(GUARDED))):
            continue
        visit.ledger.refused.pop(path, None)
        data = visit.tree.read(file)
        if data is None:
            continue
        if finding := find_refusal(rules, path, data):
            visit.refuse(path, GUARDED + finding)
            continue
        yield Row(path, visit.hub.machine, _epoch(visit, file), hashlib.sha256(data).hexdigest(), len(data), data)
    for path in gone:
        if removed := parse(path):
            yield Row(path, visit.hub.machine, _epoch(visit, removed), "", 0, None, removed=True)


def _changed(visit: Visit) -> list[HubFile]:
    """Return the own files that are not as agreed on, records before the receipts that cite them."""
    mine = (file for file in visit.changed() if visit.is_mine(file.path))
    return sorted(mine, key=lambda file: (file.kind, file.path))


def find_refusal(rules: Guard, path: str, data: bytes) -> str:
    """Return the rule by which a file may not leave, and its line; "" if it may."""
    text = data.decode("utf-8", "replace")
    parts = [path, text]
    if path.endswith(".json"):
        with suppress(ValueError, RecursionError):
            parts += guard.texts(json.loads(data))  # escapes may hide what is said
    if not rules.finds_in(parts):
        return ""
    found = [item for part in parts for item in rules.look(part, path)]
    return f"{found[0].rule}, line {found[0].line}" if found else "a blocked text"


def _epoch(visit: Visit, file: HubFile) -> int:
    home = visit.view.home_of(file.project, file.seat) if file.seat else None
    return home.epoch if home is not None else 0


def _send(visit: Visit, batch: list[Row]) -> None:
    refused = {item.path: item.reason for item in visit.hub.push(batch)}
    for row in batch:
        reason = refused.get(row.path, "")
        if reason:
            visit.refuse(row.path, reason)
            if reason in _LOST:
                visit.ledger.due.add(row.path)
            continue
        visit.pushed.append(row.path)
        if row.removed:
            visit.ledger.agreed.pop(row.path, None)
        else:
            visit.ledger.agreed[row.path] = Agreed(row.sha256, visit.hub.machine)
