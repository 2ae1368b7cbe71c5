"""Which files a hub takes, and the seat whose home owns each. Every path of a push and of a pull passes `parse`. Pure.

Receipts have the path `tasks/<project>/patrol/handoffs/<name>`, wherever a machine keeps them. Beside a receipt there may be its
claim, `.consumed` for a dispatch whose asker ended it, and `.acked` for a completion whose reader acknowledged it.
"""

from __future__ import annotations

from enum import IntEnum

from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import ReceiptName
from oracle.domain.names import MEMORY, OPERATOR, RECORD_SUFFIXES, is_name, is_scanned, role_of
from oracle.domain.values import value

ACKED = ".acked"
"""The suffix, in a hub, of the acknowledgement of a completion."""

_DERIVED = frozenset(("_index", "_links", "_backlinks", "_state"))
_PATTERNS = ("link-patterns.toml", "component-patterns.toml")
_HANDOFFS = ("patrol", "handoffs")
_MOST_PATH, _MOST_NAME = 1024, 255
"""Bytes of a path and of a name in it."""

_ASIDE = (".conflict-", ".superseded-")


class FileKind(IntEnum):
    """The kinds of files, in the order in which they are put in place: records come before the receipts that cite them."""

    RECORD = 0
    RESPONSE = 1
    RECEIPT = 2
    CLAIM = 3
    CONSUMED = 4
    ACKED = 5


@value
class HubFile:
    """A file that a hub takes. Only the home of `seat` may change it.

    Without a seat, and for the operator, only the machine that wrote it may.
    """

    path: str
    kind: FileKind
    project: str = ""
    seat: str = ""
    receipt: ReceiptName | None = None


def parse(path: str) -> HubFile | None:
    """Return what a path of a hub is, None for one that a hub never takes: `machine/`, derived and hidden files, scans."""
    parts = path.split("/")
    if not _is_plain(path) or not all(map(_is_plain_name, parts)) or len(parts) < 2:
        return None
    if parts[0] == "responses":
        return _response(path, parts)
    if parts[0] == "tasks":
        return _receipt(path, parts)
    if not (_is_pattern_file(parts) or path.endswith(RECORD_SUFFIXES)) or is_scanned(path):
        return None
    if parts[0] in ("shared", "learnings"):
        return HubFile(path, FileKind.RECORD)
    return _record(path, parts) if parts[0] == "projects" else None


def handoff_path(project: str, name: ReceiptName, suffix: str = "") -> str:
    """Return the path of a receipt in a hub."""
    return "/".join(("tasks", project, *_HANDOFFS, name.file_name + suffix))


def _is_pattern_file(parts: list[str]) -> bool:
    """Return whether a file says which links the records of a project hold: machines with its records need it too."""
    return len(parts) == 3 and parts[0] == "projects" and parts[2] in _PATTERNS


def _is_plain(path: str) -> bool:
    try:
        return len(path.encode()) <= _MOST_PATH and path.isprintable()
    except UnicodeEncodeError:  # a name that is not UTF-8
        return False


def _is_plain_name(name: str) -> bool:
    return bool(name) and name[0] != "." and name not in _DERIVED and len(name.encode()) <= _MOST_NAME


def _record(path: str, parts: list[str]) -> HubFile | None:
    if len(parts) < 3 or not is_name(parts[1]):
        return None
    seat = parts[2] if len(parts) > 3 and role_of(parts[2]) not in ("", MEMORY) else ""
    if seat and not is_name(seat):
        return None
    return HubFile(path, FileKind.RECORD, parts[1], seat)


def _response(path: str, parts: list[str]) -> HubFile | None:
    stem, dot, suffix = parts[-1].rpartition(".")
    is_whole = len(parts) == 2 and dot + suffix == ".json" and is_name(stem)
    return HubFile(path, FileKind.RESPONSE) if is_whole and not any(word in stem for word in _ASIDE) else None


def _receipt(path: str, parts: list[str]) -> HubFile | None:
    if len(parts) != 5 or tuple(parts[2:4]) != _HANDOFFS or not is_name(parts[1]):
        return None
    stem = parts[4].removesuffix(ACKED)
    found = receipts.parse_file_name(stem)
    if found is None:
        return None
    name, suffix = found
    kind = {"": FileKind.RECEIPT, receipts.CLAIM: FileKind.CLAIM, receipts.CONSUMED: FileKind.CONSUMED}.get(suffix)
    if stem != parts[4]:
        kind = FileKind.ACKED if kind is FileKind.RECEIPT else None
    if kind is None:
        return None
    seat = name.target if kind in (FileKind.CLAIM, FileKind.ACKED) else name.source
    return HubFile(path, kind, parts[1], "" if seat == OPERATOR else seat, name)
