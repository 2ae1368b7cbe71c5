"""The lease on a dispatch: a `.claim` file beside it, which expires.

It keeps two workers from doing the same work. It decides nothing: the one that creates the completion has answered.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from oracle.domain import timestamps
from oracle.domain.delivery.receipts import CLAIM, ReceiptName
from oracle.domain.values import value
from oracle.store.delivery.handoffs import Failing, folder_lock, path_of
from oracle.store.disk import steps
from oracle.wording import say

LEASE = timedelta(minutes=10)
"""How long a claim holds without renewal."""


@value
class Lease:
    """A dispatch that is being worked on, until a moment in UTC."""

    name: ReceiptName
    holder: str
    until: datetime


@value
class Held(Lease):
    """The lease belongs to another holder."""


def claim(
    folder: str, name: ReceiptName, *, holder: str, now: datetime, lease: timedelta = LEASE
) -> Lease | Held | None:
    """Claim a dispatch until `now + lease`. The holder may renew; others get Held until it expires.

    None means that the dispatch does not exist (any more). Raises HandoffFailed.
    """
    path = path_of(folder, name)
    mine = Lease(name, holder, now + lease)
    with Failing(say("Claiming {name}", name=name.file_name)):
        if steps.read(path) is None:
            return None
        if not steps.create_once(path + CLAIM, _render_lease(mine, now)):
            held = _take_over(folder, mine, now)
            if held is not None:
                return held
        if steps.read(path) is None:
            steps.remove(path + CLAIM)
            return None
    return mine


def _take_over(folder: str, mine: Lease, now: datetime) -> Held | None:
    with folder_lock(folder):
        found = read_claim(folder, mine.name)
        if found is not None and found.holder != mine.holder and found.until > now:
            return Held(found.name, found.holder, found.until)
        steps.replace(path_of(folder, mine.name, CLAIM), _render_lease(mine, now))
    return None


def pass_on(folder: str, lease: Lease, *, holder: str, until: datetime, now: datetime) -> bool:
    """Pass a claim to another holder, if it is still this one's. Returns whether it was. Raises HandoffFailed."""
    with Failing(say("Passing on {name}", name=lease.name.file_name)), folder_lock(folder):
        found = read_claim(folder, lease.name)
        if found is None or found.holder != lease.holder:
            return False
        steps.replace(path_of(folder, lease.name, CLAIM), _render_lease(Lease(lease.name, holder, until), now))
    return True


def release(folder: str, lease: Lease) -> None:
    """Release a claim, if it is still this holder's. Raises HandoffFailed."""
    with Failing(say("Releasing {name}", name=lease.name.file_name)), folder_lock(folder):
        found = read_claim(folder, lease.name)
        if found is not None and found.holder == lease.holder:
            steps.remove(path_of(folder, lease.name, CLAIM))


def read_claim(folder: str, name: ReceiptName) -> Lease | None:
    """Return the lease on a dispatch, or None if there is none or it cannot be read, which counts as expired."""
    raw = steps.read(path_of(folder, name, CLAIM))
    return None if raw is None else parse_claim(name, raw)


def parse_claim(name: ReceiptName, raw: bytes) -> Lease | None:
    """Parse the bytes of a claim."""
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    until = timestamps.parse(str(content.get("lease_until", ""))) if isinstance(content, dict) else None
    return None if until is None else Lease(name, str(content.get("holder", "")), until)


def _render_lease(lease: Lease, now: datetime) -> bytes:
    content = {
        "claimed_at": timestamps.print_moment(now),
        "holder": lease.holder,
        "lease_until": timestamps.print_moment(lease.until),
        "task_id": lease.name.task_id,
    }
    return json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"
