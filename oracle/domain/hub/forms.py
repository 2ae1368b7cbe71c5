"""The form in which the files of a handoff travel: without what each machine notes for itself. Pure.

A receipt is the same on every machine, though each notes there whom it woke. So the acknowledgement of a completion and the
end of a dispatch travel as files of their own.
"""

from __future__ import annotations

import json

from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED, SUPERSEDED_AT, Receipt, ReceiptKind
from oracle.domain.hub.paths import ACKED
from oracle.domain.values import replace

_MARKED = ("consumed_at", "consumed_ack", SUPERSEDED_AT)
"""The keys that come with the end of a receipt."""

_NOTED_HERE = frozenset(
    ("notified_at", "notify_message", "notify_skipped", "todo_path", "source_todo_path", "delivery_path", *_MARKED)
)
"""The keys that each machine has for itself: whom it woke, and where its own task tree is."""

_RESPONSE_PATH = "response_path"
_ROUND = "round"


def shared_form(receipt: Receipt) -> bytes | None:
    """Return the bytes of a receipt as they travel, None for one that is malformed or half written."""
    if receipt.is_malformed or not receipt.fields:
        return None
    return receipts.render_receipt(replace(receipt, fields=_shared_fields(receipt)))


def _shared_fields(receipt: Receipt) -> dict[str, object]:
    kept = {key: item for key, item in receipt.fields.items() if key not in _NOTED_HERE}
    return {**kept, _RESPONSE_PATH: f"responses/{receipt.name.task_id}.json"} if receipt.text(_RESPONSE_PATH) else kept


def mark_of(receipt: Receipt) -> tuple[str, bytes]:
    """Return the suffix and the bytes of the file which says that a receipt is consumed or acknowledged."""
    content = {key: receipt.fields[key] for key in _MARKED if receipt.fields.get(key)}
    content[_ROUND] = round_of(receipt)
    data = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True).encode("utf-8", "backslashreplace")
    return (ACKED if receipt.kind is ReceiptKind.COMPLETION else CONSUMED), data + b"\n"


def read_mark(data: bytes) -> tuple[dict[str, object], str]:
    """Return the keys that a mark adds to its receipt, and the round that it ends."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        content = {}
    if not isinstance(content, dict):
        content = {}
    return {key: content[key] for key in _MARKED if isinstance(content.get(key), str)}, str(content.get(_ROUND, ""))


def round_of(receipt: Receipt) -> str:
    """Return what tells this dispatch or answer from another of the same name."""
    return receipts.digest_of_round(replace(receipt, fields=_shared_fields(receipt)))
