"""Deliveries of peers: `tasks/<p>/peer-deliveries/`, in both layouts. Read only.

`<peer>/{DELIVERY.md,receipt.json}` is one delivery of a peer. `<peer>/tasks/<task>/` holds one per task, beside `meta.json`
and `heartbeat.json`. Nothing outside the folder is read, whatever a link points to.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

from oracle.domain import schemas
from oracle.domain.delivery.task_files import delivery_fields
from oracle.domain.names import check_name
from oracle.domain.values import NOTHING, value
from oracle.errors import InvalidName, OracleError
from oracle.store.disk import steps
from oracle.wording import say

FOLDER = "peer-deliveries"
_MOST_BYTES = 1 << 20


@value
class PeerDelivery:
    """One delivery. Its text is here for reading only and is never written anywhere."""

    peer: str
    task_id: str
    folder: str
    text: str = ""
    fields: Mapping[str, str] = NOTHING
    receipt: Mapping[str, object] = NOTHING
    files: tuple[str, ...] = ()
    digest: str = ""
    problems: tuple[str, ...] = ()

    def said(self, key: str) -> str:
        """Return a field of the receipt, else of the head of DELIVERY.md, on one line of at most 80 characters."""
        found = self.receipt.get(key)
        text = str(found) if isinstance(found, str | int) and not isinstance(found, bool) else self.fields.get(key, "")
        return " ".join(text.split())[:80]


def read_all(tasks_root: str) -> tuple[list[PeerDelivery], list[str]]:
    """Return (all deliveries, sorted by peer and task; a sentence for each folder that is not one)."""
    top = f"{tasks_root}/{FOLDER}"
    found: list[PeerDelivery] = []
    problems: list[str] = []
    for peer in _names(top, problems):
        folder = f"{top}/{peer}"
        if os.path.lexists(f"{folder}/DELIVERY.md") or os.path.lexists(f"{folder}/receipt.json"):
            found.append(_read(top, peer, "", folder))
        tasks = f"{folder}/tasks"
        found += [_read(top, peer, task_id, f"{tasks}/{task_id}") for task_id in _names(tasks, problems)]
    return found, problems


def _names(folder: str, problems: list[str]) -> list[str]:
    """Return the folders whose names are valid for a peer or a task. Links are skipped."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    names = []
    for entry in entries:
        if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            check_name(entry.name, "peer or task")
            names.append(entry.name)
        except InvalidName as error:
            problems.append(say("{folder}: {fault}", folder=folder, fault=error.sentence))
    return names


def _read(top: str, peer: str, task_id: str, folder: str) -> PeerDelivery:
    problems: list[str] = []
    whole = hashlib.sha256()
    raw = {}
    for name in ("DELIVERY.md", "receipt.json"):
        content = _bytes(top, f"{folder}/{name}", problems)
        if content is not None:
            raw[name] = content
            whole.update(content)
    text = raw.get("DELIVERY.md", b"").decode("utf-8", "replace")
    receipt = _json(folder, raw.get("receipt.json"), problems)
    fields = delivery_fields(text)
    named = task_id or str(receipt.get("task_id") or fields.get("task_id") or "")
    if "DELIVERY.md" not in raw:
        problems.append(say("{folder} holds no DELIVERY.md", folder=folder))
    files = tuple(f"{folder}/{name}" for name in raw)
    return PeerDelivery(peer, named, folder, text, fields, receipt, files, whole.hexdigest(), tuple(problems))


def _bytes(top: str, path: str, problems: list[str]) -> bytes | None:
    if os.path.lexists(path) and not os.path.realpath(path).startswith(os.path.realpath(top) + "/"):
        problems.append(say("{path} leads out of {folder} and is not read", path=path, folder=FOLDER))
        return None
    try:
        raw = steps.read(path)
    except OracleError as error:
        problems.append(error.sentence)
        return None
    if raw is not None and len(raw) > _MOST_BYTES:
        problems.append(
            say("{path} is longer than {size} MiB; the rest is not read", path=path, size=_MOST_BYTES >> 20)
        )
    return raw if raw is None else raw[:_MOST_BYTES]


def _json(folder: str, raw: bytes | None, problems: list[str]) -> Mapping[str, object]:
    if raw is None:
        return {}
    content = steps.parse_object(raw)
    if content is None:
        problems.append(say("{path} is not a JSON object", path=f"{folder}/receipt.json"))
        return {}
    if found := schemas.find_fault("receipt-peer", content):
        path = f"{folder}/receipt.json"
        problems.append(
            say("{path}: {place} {what}; the receipt is not used", path=path, place=found[0], what=found[1])
        )
        return {}
    return content
