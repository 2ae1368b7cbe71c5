"""Receipts, the files of which a handoff is made: their names, their kinds, what they say and when two say the same. Pure.

A handoff has two receipts. The dispatch `<task>__<asker>__<answerer>.json` asks; while somebody works on it there is a
`.claim` beside it, and once it is answered it is renamed to `.consumed`. The completion `<task>__<answerer>__<asker>.json`
answers; `.consumed` beside it means that its reader acknowledged it. Seats hold no `__`, so every name is read in one way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import lru_cache

from oracle.domain import schemas
from oracle.domain.names import MEMORY, check_name, role_of
from oracle.domain.values import NOTHING, replace, value
from oracle.errors import InvalidName
from oracle.wording import say

SCHEMA_VERSION = 1
CLAIM, CONSUMED, SUPERSEDED = ".claim", ".consumed", ".superseded-"
SUPERSEDED_AT = "superseded_at"
"""The field of a dispatch receipt that was ended without an answer."""
PAYLOAD = "decision_payload"
"""The field of a dispatch receipt that holds what people are asked."""

_DIGEST_DIGITS = 12

MAX_FILE_NAME = 240
"""Bytes of a receipt's file name, so that every suffix fits into the 255 of common file systems."""


class ReceiptKind(StrEnum):
    """What a receipt says. A file may say something else; then its kind is unknown and it is shown, not used."""

    DISPATCH = "dispatch"
    COMPLETION = "completion"
    NOTICE = "notice"
    UNKNOWN = ""


# Names ----------------------------------------------------------------------------------------------------------------


@value
class ReceiptName:
    """The three parts of a receipt's file name, checked."""

    task_id: str
    source: str
    target: str

    @property
    def file_name(self) -> str:
        """`<task>__<source>__<target>.json`."""
        return f"{self.task_id}__{self.source}__{self.target}.json"

    def answered_by(self, asker: str = "") -> ReceiptName:
        """Return the name of the completion that answers this dispatch, to its source or to another seat."""
        return receipt_name(self.task_id, self.target, asker or self.source)


def receipt_name(task_id: str, source: str, target: str) -> ReceiptName:
    """Return the name of a receipt. Raises InvalidName for a part that does not fit, also for a seat with `__`."""
    name = ReceiptName(check_name(task_id, "task id"), _check_seat(source), _check_seat(target))
    size = len(name.file_name.encode("utf-8", "surrogatepass"))
    if size > MAX_FILE_NAME:
        raise InvalidName(
            say(
                "task id {task_id!r}… makes a receipt's name of {size} bytes, more than the {max_file_name} that fit.",
                task_id=task_id[:32],
                size=size,
                max_file_name=MAX_FILE_NAME,
            ),
            hint=say("Choose a shorter task id or shorter seat names."),
        )
    return name


@lru_cache(maxsize=256)  # thousands of names share the same few seats
def _check_seat(seat: str) -> str:
    if "__" in seat:
        raise InvalidName(
            say("seat {seat!r} can't be used in a receipt: '__' divides the parts of its name.", seat=seat[:64]),
            hint=say("Name the seat with single underscores or hyphens."),
        )
    return check_name(seat, "seat")


@lru_cache(maxsize=16_384)  # a view reads the names of a folder again and again
def parse_file_name(file_name: str) -> tuple[ReceiptName, str] | None:
    """Return (name, suffix behind `.json`) of a file in a handoff folder, or None for a file that is no receipt's.

    The suffix is "", `.claim`, `.consumed` or `.superseded-<hash>`. A task id may hold `__` itself.
    """
    stem, suffix = file_name, ""
    if not file_name.endswith(".json"):
        stem, dot, rest = file_name.rpartition(".json.")
        suffix = f".{rest}"
        if not dot or not (suffix in (CLAIM, CONSUMED) or (suffix.startswith(SUPERSEDED) and "." not in rest)):
            return None
        stem += ".json"
    parts = stem.removesuffix(".json").rsplit("__", 2)
    if len(parts) != len(("task", "source", "target")):
        return None
    try:
        name = receipt_name(*parts)
    except InvalidName:
        return None
    return (name, suffix) if name.file_name == stem else None


# Receipts -------------------------------------------------------------------------------------------------------------

_SHARED_KEYS: dict[str, object] = {
    "builder_commit": None,
    "correlation_id": None,
    "feishu_group_broadcast": None,
    "head_contains_commit": None,
    "lineage_status": "unknown",
    "notified_at": None,
    "notify_message": None,
    "test_policy": "N/A",
    "title": "",
    "user_summary": "",
}
_OWN_KEYS: dict[ReceiptKind, dict[str, object]] = {
    ReceiptKind.DISPATCH: {
        "assigned_at": "",
        "docs_consulted": None,
        "docs_skip_reason": None,
        "memory_commit": None,
        "reply_to": "",
        "todo_path": "",
    },
    ReceiptKind.COMPLETION: {
        "commit": None,
        "delivered_at": "",
        "delivery_path": "",
        "frontstage_disposition": None,
        "next_action": None,
        "source_todo_path": None,
        "status": "completed",
        "summary": "",
        "used_fallback_delivery": False,
        "verdict": None,
    },
}
_LATER_KEYS = frozenset(
    (
        *("assigned_at", "delivered_at", "notified_at", "notify_message", "notify_skipped", "schema_version"),
        *("consumed_at", "consumed_ack", "todo_path", "source_todo_path", "delivery_path", "used_fallback_delivery"),
        *("head_contains_commit", "lineage_status", "branch_tip", "feishu_group_broadcast", "feishu_delegation_report"),
        *("dispatch_digest", "prior_response", "said_at", SUPERSEDED_AT),
    )
)
"""Keys that say when and where, or that change while the handoff goes on: two receipts that differ in these agree."""


@value
class Receipt:
    """One receipt on disk. Every key of every writer is kept; `problems` are sentences for a person."""

    name: ReceiptName
    kind: ReceiptKind
    fields: Mapping[str, object] = NOTHING
    problems: tuple[str, ...] = ()
    is_malformed: bool = False
    """Whether the schema of its kind refuses it. Then it is shown and never used."""

    def text(self, key: str) -> str:
        """Return a field as text: "" when it is missing, null or no scalar, and always of a malformed receipt."""
        value = None if self.is_malformed else self.fields.get(key)
        return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""

    @property
    def reply_to(self) -> str:
        """The seat that wants the answer: `reply_to`, else the source."""
        return self.text("reply_to") or self.name.source

    @property
    def question(self) -> str:
        """What is asked: the objective, or the message of a notice that asks, else the title."""
        texts = (self.text(key).strip() for key in ("objective", "message", "title"))
        return next(filter(None, texts), "")

    @property
    def asks_people(self) -> bool:
        """Return whether it asks people for a decision, which is settled and not answered."""
        return self.kind is ReceiptKind.DISPATCH and isinstance(self.fields.get(PAYLOAD), dict)

    @property
    def is_superseded(self) -> bool:
        """Return whether the dispatch was ended without an answer."""
        return bool(self.text(SUPERSEDED_AT))

    @property
    def since(self) -> str:
        """When it was written, as far as it says so."""
        return self.text("assigned_at") or self.text("delivered_at") or self.text("notified_at")

    def with_fields(self, changes: Mapping[str, object]) -> Receipt:
        """Return the receipt with some fields changed."""
        return replace(self, fields={**self.fields, **changes})


def new_receipt(kind: ReceiptKind, name: ReceiptName, fields: Mapping[str, object]) -> Receipt:
    """Return a receipt with every key of its kind; `fields` may add others. The three parts of the name always win."""
    whole = {**_SHARED_KEYS, **_OWN_KEYS.get(kind, {}), **fields}
    if kind is ReceiptKind.DISPATCH:
        whole["reply_to"] = whole["reply_to"] or name.source
    whole |= {"task_id": name.task_id, "source": name.source, "target": name.target}
    return Receipt(name, kind, {**whole, "kind": kind.value, "schema_version": SCHEMA_VERSION})


_KINDS = {kind.value: kind for kind in ReceiptKind}


def find_fault(name: ReceiptName, content: Mapping[str, object]) -> str:
    """Return a sentence on the first fault by the schema of its kind, "" for none. Other kinds are checked as dispatches."""
    kind = content.get("kind")
    if kind not in (ReceiptKind.DISPATCH, ReceiptKind.COMPLETION):
        kind, content = ReceiptKind.DISPATCH, {**content, "kind": ReceiptKind.DISPATCH.value}
    fault = schemas.find_fault(f"receipt-{kind}", content)
    if fault is None:
        return ""
    return say("{name}: {place} {what}; the receipt is not used.", name=name.file_name, place=fault[0], what=fault[1])


def read_receipt(name: ReceiptName, raw: bytes) -> Receipt:
    """Return what a receipt's bytes say; never raises. A half-written file has no fields and one problem."""
    try:
        content = json.loads(raw.removeprefix(b"\xef\xbb\xbf").decode())
    except (ValueError, RecursionError):
        empty = say("{name} is empty.", name=name.file_name)
        torn = say("{name} is not valid JSON, perhaps half written.", name=name.file_name)
        return Receipt(name, ReceiptKind.UNKNOWN, {}, (torn if raw.strip() else empty,))
    if not isinstance(content, dict):
        return Receipt(name, ReceiptKind.UNKNOWN, {}, (say("{name} holds no JSON object.", name=name.file_name),))
    said = content.get("kind")
    kind = _KINDS.get(said, ReceiptKind.UNKNOWN) if isinstance(said, str) else ReceiptKind.UNKNOWN
    if (
        kind not in (ReceiptKind.DISPATCH, ReceiptKind.COMPLETION)
        and role_of(name.target) == MEMORY
        and "message" in content
    ):
        kind = ReceiptKind.DISPATCH  # older tools ask memory with a notice of any kind, under the name of a dispatch
    fault = find_fault(name, content)
    problems = [fault] if fault else []
    if not kind and not fault:
        problems.append(say("{name} has no kind that is known ({kind!r}).", name=name.file_name, kind=str(said)[:40]))
    for key, expected in (("task_id", name.task_id), ("source", name.source), ("target", name.target)):
        if isinstance(content.get(key), str) and content[key] != expected:
            told = str(content[key])[:80]
            problems.append(
                say("{name} says that its {key} is {told!r}; its name counts.", name=name.file_name, key=key, told=told)
            )
    version = content.get("schema_version", SCHEMA_VERSION)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        problems.append(
            say("{name} was written by a newer program (version {version}).", name=name.file_name, version=version)
        )
    return Receipt(name, ReceiptKind.UNKNOWN if fault else kind, content, tuple(problems), is_malformed=bool(fault))


def render_receipt(receipt: Receipt) -> bytes:
    """Return the bytes of a receipt: sorted keys, two blanks of indentation, a line feed at the end."""
    text = json.dumps(dict(receipt.fields), ensure_ascii=False, indent=2, sort_keys=True)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def fingerprint(content: Mapping[str, object], *, leaving_out: Collection[str] = _LATER_KEYS) -> str:
    """Return 64 hex digits that are equal for two JSON objects that say the same; null and missing keys are the same."""
    kept = {key: value for key, value in content.items() if key not in leaving_out and value is not None}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def digest_of_round(dispatch: Receipt) -> str:
    """Return the digest of a dispatch and its moment, as a text, that a completion keeps: another round has another."""
    return fingerprint(dispatch.fields, leaving_out=_LATER_KEYS - {"assigned_at"})[:_DIGEST_DIGITS]


def say_the_same(one: Receipt, other: Receipt) -> bool:
    """Return whether two receipts agree in all that matters: the same dispatch, or the same answer."""
    return one.kind is other.kind and fingerprint(one.fields) == fingerprint(other.fields)


def status_line(completion: Receipt) -> str:
    """Return the line of the dispatch log for a completion, which older tools write for its acknowledgement too."""
    name = completion.name
    line = f"{name.source} ack {name.task_id} test_policy={completion.text('test_policy')}"
    return line + "".join(f" {key}={completion.text(key)}" for key in ("verdict", "commit") if completion.text(key))


def correlation_id(project: str, task_id: str) -> str:
    """Return the eight hex digits by which a task is followed through the tree (the form other tools compute)."""
    seed = f"{project}:planning:{task_id}".encode("utf-8", "surrogatepass")
    return hashlib.sha1(seed, usedforsecurity=False).hexdigest()[:8]
