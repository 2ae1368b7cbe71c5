"""What a machine does with a file that the hub holds, and what it sends. One owner a file, so nothing is merged. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from oracle.domain.hub.paths import FileKind, HubFile
from oracle.domain.hub.rows import Row
from oracle.domain.values import NOTHING, value

MOST_REMOVED, FEW = 0.2, 5
"""The share of a machine's files that it may remove at once without being asked, and how many may always go."""


class Step(StrEnum):
    """What a machine does with a row that it pulled."""

    AGREE = "agree"
    """The file here is the hub's."""
    WAIT = "wait"
    """What is here is newer than the hub's; its owner sends it."""
    PLACE = "place"
    REMOVE = "remove"
    SET_ASIDE = "set-aside"
    """The file here is kept under another name, and the hub's takes its place."""
    KEEP_BESIDE = "keep-beside"
    """The file here stays, and the hub's is kept under another name."""
    INHERIT = "inherit"
    """Its owner removed the file, which was changed here: it is this machine's own from now on."""


@value
class Agreed:
    """What this machine and the hub last agreed on about a file: its digest, and the machine that owned it."""

    sha256: str
    owner: str


@value
class Standing:
    """The digests of a file: here, at the hub now, and the last one that both had; "" for no file.

    `is_restored` tells that the hub is another than before, so that it may be older than this machine.
    """

    here: str
    agreed: str
    theirs: str
    is_mine: bool
    is_restored: bool = False


def step_for(file: HubFile, at: Standing) -> Step:
    """Return what to do with a pulled row. Only the earlier copy of a file is overwritten or removed, and an old claim."""
    if at.here == at.theirs:
        return Step.AGREE
    if at.is_mine:
        return _step_of_owner(at)
    if at.here in ("", at.agreed) or file.kind is FileKind.CLAIM:
        if at.here and at.is_restored:
            return Step.WAIT
        return Step.PLACE if at.theirs else Step.REMOVE
    if is_fenced(file):
        return Step.SET_ASIDE
    return Step.KEEP_BESIDE if at.theirs else Step.INHERIT


def is_fenced(file: HubFile) -> bool:
    """Return whether a file is that of a seat, so that only the seat's home may write it."""
    return bool(file.seat) or file.kind is FileKind.RESPONSE


def _step_of_owner(at: Standing) -> Step:
    """Only a machine that was restored from a backup, or died while it sent, finds something new of its own at the hub."""
    if at.theirs in ("", at.agreed) or at.is_restored:
        return Step.WAIT
    return Step.PLACE if at.here in ("", at.agreed) else Step.KEEP_BESIDE


def is_own_row(file: HubFile, row: Row, machine: str, homes: Mapping[tuple[str, str], str]) -> bool:
    """Return whether a machine may change a file that the hub holds: the home of its seat, else its owner."""
    home = homes.get((file.project, file.seat)) if file.seat else None
    return row.owner == machine if home is None else home == machine


def may_send(file: HubFile, agreed: Agreed | None, machine: str, homes: Mapping[tuple[str, str], str]) -> bool:
    """Return whether a machine may change a file as far as it knows: one that nobody sent before is its own."""
    home = homes.get((file.project, file.seat)) if file.seat else None
    if home is not None:
        return home == machine
    return agreed is None or agreed.owner in ("", machine)


def is_much(removed: Collection[str], owned: int) -> bool:
    """Return whether a machine removes so many of the files that it owns that a person must confirm it."""
    return len(removed) > max(FEW, owned * MOST_REMOVED)


def folder_digests(files: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the digest of each folder from (path, sha256) of its own files: SHA-256 over the sorted lines `<path> <sha256>`."""
    lines: dict[str, list[str]] = {}
    for path, sha256 in files:
        lines.setdefault(path.rpartition("/")[0], []).append(f"{path} {sha256}\n")
    return {folder: hashlib.sha256("".join(sorted(found)).encode()).hexdigest() for folder, found in lines.items()}


def differences(here: Mapping[str, str], hub: Mapping[str, str] = NOTHING) -> list[str]:
    """Return the keys whose digests differ or that one side lacks, sorted."""
    return sorted(key for key in {*here, *hub} if here.get(key, "") != hub.get(key, ""))
