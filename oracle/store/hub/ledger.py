"""What this machine and its hub agreed on: `_state/hub/`. All of it may be deleted; the next sync finds it out again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from sys import intern
from typing import Any

from oracle.domain.hub.replication import Agreed
from oracle.domain.hub.rows import Cursor, Home, TeamMachine
from oracle.domain.values import contents_of, value
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root
from oracle.store.root.lock import ensure_state

_LEDGER, _SENT = "ledger.json", "sent.json"
_PIECE = 500
"""Rows of the ledger that are encoded at a time."""


@dataclass(slots=True)
class SyncLedger:
    """What was agreed on by path; where the next pull begins; the digests of the files on disk; and what was refused.

    `seen` is by absolute path: the stamp of a file, and the digest of each path of the hub that it holds.
    `sent` holds the digests of a push whose answer did not come. `refused` is by path: the digest and the reason.
    """

    agreed: dict[str, Agreed] = field(default_factory=dict)
    cursor: Cursor = field(default_factory=Cursor)
    seen: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)
    refused: dict[str, tuple[str, str]] = field(default_factory=dict)
    due: set[str] = field(default_factory=set)
    """Paths that could not be put in place; the next sync tries again."""
    arrived: set[str] = field(default_factory=set)
    """Paths of receipts that are in place, and whose reader does not know of them yet."""
    rules: str = ""
    """The stamp of the rules by which files were refused."""
    machine: str = ""
    """The id of this machine, when the ledger was written."""

    def rename(self, machine: str) -> None:
        """Give this machine the id that a hub has for it now: one that was made again has another."""
        if self.machine and self.machine != machine:
            for path, item in self.agreed.items():
                if item.owner == self.machine:
                    self.agreed[path] = Agreed(item.sha256, machine)
        self.machine = machine


_kept: dict[str, tuple[str, SyncLedger]] = {}
"""The ledger that this process wrote last by its path, with the stamp of the file: a daemon need not read it again."""


def load(root: Root) -> SyncLedger:
    """Return the ledger, an empty one if there is none or it is damaged. The caller may change it."""
    path = f"{root.hub_files}/{_LEDGER}"
    stamp, ledger = _kept.pop(path, ("", SyncLedger()))
    if not stamp or stamp != stamp_of(root):
        try:
            ledger = _parse(steps.read_object(path) or {})
        except (AttributeError, KeyError, TypeError, ValueError):
            ledger = SyncLedger()
    sent = steps.read_object(f"{root.hub_files}/{_SENT}") or {}
    ledger.sent = {path: str(sha256) for path, sha256 in sent.items()}
    return ledger


def stamp_of(root: Root) -> str:
    """Return what tells this ledger from another one, such as that of a backup; "" without one."""
    try:
        status = os.stat(f"{root.hub_files}/{_LEDGER}")
    except OSError:
        return ""
    return f"{status.st_mtime_ns} {status.st_size} {status.st_ino} {status.st_ctime_ns}"


def _parse(content: dict[str, object]) -> SyncLedger:
    if not content:
        return SyncLedger()
    agreed, seen, refused = (_table(content[key]) for key in ("agreed", "seen", "refused"))
    for path, (sha256, owner) in agreed.items():  # in place, and each text once: a daemon keeps the ledger in memory
        agreed[path] = Agreed(intern(sha256), intern(owner))
    for place, (stamp, held) in seen.items():
        seen[place] = int(stamp), {path: intern(sha256) for path, sha256 in held.items()}
    return SyncLedger(
        agreed,
        Cursor(*content["cursor"]),  # type: ignore[misc]
        seen,
        {},
        {path: (sha256, reason) for path, (sha256, reason) in refused.items()},
        set(content["due"]),  # type: ignore[call-overload]
        set(content["arrived"]),  # type: ignore[call-overload]
        str(content["rules"]),
        str(content["machine"]),
    )


def _table(item: object) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise TypeError(item)
    return item


def save(root: Root, ledger: SyncLedger) -> None:
    """Write the ledger. It is not synced: it can be found out again."""
    ensure_state(root)
    steps.swap(f"{root.hub_files}/{_LEDGER}", *_drawn(ledger), scratch=root.hub_files)
    save_sent(root, ledger.sent)
    _kept[f"{root.hub_files}/{_LEDGER}"] = (stamp_of(root), ledger)


def _drawn(ledger: SyncLedger) -> Iterator[bytes]:
    """Yield the JSON of a ledger in pieces: what the encoder makes of it at once takes three times its size."""
    agreed = ((path, [item.sha256, item.owner]) for path, item in ledger.agreed.items())
    tables = {"agreed": agreed, "seen": ledger.seen.items(), "refused": ledger.refused.items()}
    yield b"{"
    for name, rows in tables.items():
        left, mark = iter(rows), b""
        yield f'"{name}":{{'.encode("ascii")
        while piece := dict(islice(left, _PIECE)):
            yield mark + _json(piece)[1:-1]
            mark = b","
        yield b"},"
    rest = {
        "cursor": list(contents_of(ledger.cursor).values()),
        "due": sorted(ledger.due),
        "arrived": sorted(ledger.arrived),
        "rules": ledger.rules,
        "machine": ledger.machine,
    }
    yield _json(rest)[1:]


def save_sent(root: Root, sent: Mapping[str, str]) -> None:
    """Write the digests of the batch that is being sent."""
    if sent:
        _write(root, _SENT, sent)
        return
    with suppress(FileNotFoundError):
        files.unlink(f"{root.hub_files}/{_SENT}")


@value
class TeamView:
    """The homes and machines of the team as the last sync saw them, and when that was, in seconds since 1970."""

    machine: str
    homes: tuple[Home, ...] = ()
    machines: tuple[TeamMachine, ...] = ()
    seen_at: float = 0.0

    def home_of(self, project: str, seat: str) -> Home | None:
        """Return the home of a seat, None if it has none."""
        return next(
            (home for home in self.homes if home.machine and (home.project, home.seat) == (project, seat)), None
        )

    def machine_of(self, key: str) -> TeamMachine:
        """Return a machine by its id; an unknown one has its id for a name."""
        return next((one for one in self.machines if one.id == key), TeamMachine(key, key))


def load_team(root: Root) -> TeamView | None:
    """Return the team as the last sync saw it, None before the first sync."""
    content = steps.read_object(f"{root.hub_files}/team.json")
    if content is None:
        return None
    try:
        homes = tuple(Home(*one) for one in _lists(content["homes"]))
        machines = tuple(TeamMachine(*one) for one in _lists(content["machines"]))
        return TeamView(str(content["machine"]), homes, machines, float(str(content["seen_at"])))
    except (KeyError, TypeError, ValueError):
        return None


def _lists(items: object) -> Iterable[list[Any]]:
    return items if isinstance(items, list) else ()


def save_team(root: Root, view: TeamView) -> None:
    """Write the team as this sync saw it."""
    whole = contents_of(view)
    for key in ("homes", "machines"):
        whole[key] = [list(contents_of(one).values()) for one in whole[key]]
    _write(root, "team.json", whole)


def _write(root: Root, name: str, content: object) -> None:
    ensure_state(root)
    files.replace(f"{root.hub_files}/{name}", _json(content), scratch=root.hub_files)


def _json(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode("ascii")
