"""Machines of one team: a home and a Root each, and the hub between them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from oracle.app.hubs.sync import Synced, sync
from oracle.domain.hub.rows import Membership
from oracle.store.root import hub as hub_file
from tests.app.squad import Squad

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.app.hubs.ports import Hub


class Site:
    """One machine of the team."""

    def __init__(self, folder: Path, name: str, hub: Hub, **more: Any) -> None:
        folder.mkdir()
        self.name = name
        self.squad = Squad(folder)
        self.hub = hub
        joined: Membership | None = getattr(hub, "membership", None)
        self.membership = joined or Membership("t", "service=hub", hub.machine, name, **more)
        hub_file.save(self.squad.oracle.root, self.membership)

    @property
    def statements(self) -> int:
        """Return how many statements were sent."""
        counted: Any = getattr(self.hub, "connection", self.hub)
        return int(counted.statements)

    @property
    def path(self) -> Path:
        return self.squad.path

    def sync(self, **more: Any) -> Synced:
        """Sync as a command does, and wake whom that asks for."""
        from oracle.app.delivery import wakeups

        done = sync(self.squad.oracle, self.hub, self.membership, **more)
        for entry in done.wake_ups:
            wakeups.send_once(self.squad.oracle, entry, patience=0)
        return done

    def write(self, path: str, text: str) -> None:
        place = self.path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str | None:
        place = self.path / path
        return place.read_text(encoding="utf-8") if place.exists() else None

    def shared(self) -> dict[str, str]:
        """Return the digest of every file that a hub takes, receipts in the form in which they travel."""
        from oracle.app.hubs.visit import handoff_folders, read_profiles
        from oracle.store.hub.tree import SharedTree

        tree = SharedTree(self.squad.oracle.root, handoff_folders(read_profiles(self.squad.oracle)))
        return {path: local.sha256 for path, local in tree.scan({}, time.time_ns())[0].items()}
