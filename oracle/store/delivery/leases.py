"""Leases: a `.claim` file beside a dispatch says who works on it, until a moment after which others may.

Steps that read a claim and change it hold the lock of the folder, as those of `handoffs` do.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from oracle.domain import timestamps
from oracle.domain.delivery.receipts import CLAIM, ReceiptName
from oracle.domain.values import value
from oracle.store.delivery.handoffs import failing, folder_lock, path_of
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


def claim(folder: str, name: ReceiptName, *, holder: str, now: datetime, lease: timedelta = LEASE) -> Lease | None:
    """Claim a dispatch until `now + lease`. The holder may renew; others get Held until it expires.

    None means that the dispatch does not exist (any more). Raises HandoffFailed.
    """
    path = path_of(folder, name)
    mine = Lease(name, holder, now + lease)
    with failing(say("Claiming {name}", name=name.file_name)):
        if steps.read(path) is None:
            return None
        is_new = steps.create_once(path + CLAIM, _render_lease(mine, now), syncs=False)  # one that is lost has expired
        if not is_new and (held := _take_over(folder, mine, now)):
            return held
        if steps.read(path) is None:
            steps.remove(path + CLAIM)
            return None
    return mine


def _take_over(folder: str, mine: Lease, now: datetime) -> Held | None:
    with folder_lock(folder):
        found = read(folder, mine.name)
        if found is not None and found.holder != mine.holder and found.until > now:
            return Held(found.name, found.holder, found.until)
        steps.replace(path_of(folder, mine.name, CLAIM), _render_lease(mine, now))
    return None


def pass_on(folder: str, lease: Lease, *, holder: str, until: datetime, now: datetime) -> bool:
    """Pass a claim to another holder, if it is still this one's. Returns whether it was. Raises HandoffFailed."""
    with failing(say("Passing on {name}", name=lease.name.file_name)), folder_lock(folder):
        found = read(folder, lease.name)
        if found is None or found.holder != lease.holder:
            return False
        steps.replace(path_of(folder, lease.name, CLAIM), _render_lease(Lease(lease.name, holder, until), now))
    return True


def release(folder: str, lease: Lease) -> None:
    """Release a claim, if it is still this holder's. Raises HandoffFailed."""
    with failing(say("Releasing {name}", name=lease.name.file_name)), folder_lock(folder):
        found = read(folder, lease.name)
        if found is not None and found.holder == lease.holder:
            steps.remove(path_of(folder, lease.name, CLAIM))


def read(folder: str, name: ReceiptName) -> Lease | None:
    """Return the lease on a dispatch, or None if there is none or it cannot be read, which counts as expired."""
    content = steps.parse_object(steps.read(path_of(folder, name, CLAIM))) or {}
    until = timestamps.parse(str(content.get("lease_until", "")))
    return None if until is None else Lease(name, str(content.get("holder", "")), until)


def _render_lease(lease: Lease, now: datetime) -> bytes:
    content = {
        "claimed_at": timestamps.print_moment(now),
        "holder": lease.holder,
        "lease_until": timestamps.print_moment(lease.until),
        "task_id": lease.name.task_id,
    }
    return json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"
