"""One visit to the hub: what is here, what was agreed on, whose each file is, and what the visit did."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from oracle.app.context import Context
from oracle.app.hubs.ports import Hub
from oracle.domain.delivery import receipts
from oracle.domain.hub.paths import FileKind, HubFile, parse
from oracle.domain.hub.replication import may_send
from oracle.domain.hub.rows import Home, Membership, Pulled, TeamMachine
from oracle.domain.names import MEMORY
from oracle.domain.values import NOTHING, value
from oracle.errors import OracleError
from oracle.store.hub import ledger as ledgers
from oracle.store.hub.ledger import SyncLedger, TeamView
from oracle.store.hub.tree import Local, SharedTree
from oracle.store.root import privacy, profile
from oracle.store.root.layout import Root
from oracle.store.root.profile import Profile

MARKS = (FileKind.CLAIM, FileKind.CONSUMED, FileKind.ACKED)


@dataclass(slots=True)
class Visit:
    """The state of one visit. Paths are those of the hub; `here` holds the files that are on disk."""

    context: Context
    hub: Hub
    membership: Membership
    profiles: Mapping[str, Profile]
    tree: SharedTree
    ledger: SyncLedger
    view: TeamView
    page: Pulled | None = None
    """The first page of changes, if it is known."""
    looked: set[str] | None = None
    """The paths that were looked at; None for all. The others are taken to be as they were."""
    here: dict[str, Local] = field(default_factory=dict)
    homes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    placed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    pushed: list[str] = field(default_factory=list)
    conflicts: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    waits: bool = False

    def absent(self) -> set[str]:
        """Return the files that were agreed on and are not here, of those that were looked at."""
        known = self.ledger.agreed.keys() if self.looked is None else self.ledger.agreed.keys() & self.looked
        return known - self.here.keys()

    def wants(self, file: HubFile) -> bool:
        """Return whether this machine replicates a file: one of its projects, or of none."""
        return not self.membership.projects or not file.project or file.project in self.membership.projects

    def is_mine(self, path: str) -> bool:
        """Return whether this machine may change a file, as far as it knows."""
        file, agreed = parse(path), self.ledger.agreed.get(path)
        if file is None or not may_send(file, agreed, self.hub.machine, self.homes):
            return False
        return agreed is not None or file.kind is not FileKind.RESPONSE or self._is_of_memory_here(file)

    def _is_of_memory_here(self, file: HubFile) -> bool:
        """Return whether a new response is that of a memory seat which runs here."""
        try:
            project = json.loads(self.tree.read(file) or b"").get("project")
        except (AttributeError, ValueError, RecursionError):
            return False  # it is half written
        return self.homes.get((str(project), MEMORY), self.hub.machine) == self.hub.machine

    def digest_here(self, file: HubFile) -> str:
        """Return the digest of a file as it is on disk, "" for none."""
        return self.here[file.path].sha256 if file.path in self.here else ""

    def note_here(self, file: HubFile, sha256: str) -> None:
        """Note that a file was written or removed (digest "")."""
        if sha256:
            self.here[file.path] = Local(sha256, self.tree.place_of(file))
        else:
            self.here.pop(file.path, None)

    def refuse(self, path: str, reason: str) -> None:
        """Note that a file may not travel, and why."""
        self.ledger.refused[path] = (self.here[path].sha256 if path in self.here else "", reason)

    def conflict(self, file: HubFile, kept: str) -> None:
        """Note that two files wanted one place, and where the one that lost is."""
        self.conflicts.append((file.path, kept))
        self.context.note("hub-conflict", {"path": file.path, "kept": kept})

    def changed(self) -> list[HubFile]:
        """Return the wanted files that are not as agreed on."""
        agreed = self.ledger.agreed
        changed = (
            path for path, local in self.here.items() if path not in agreed or agreed[path].sha256 != local.sha256
        )
        return [file for path in changed if (file := parse(path)) is not None and self.wants(file)]

    def stranded(self) -> list[str]:
        """Return files that were changed here and that another machine owns: they are not sent."""
        changed = (file for file in self.changed() if file.kind not in MARKS)
        return sorted(file.path for file in changed if not self.is_mine(file.path))


@value
class Begun:
    """What the hub said at the beginning of a visit."""

    homes: Sequence[Home]
    machines: Sequence[TeamMachine]
    page: Pulled

    def view_of(self, machine: str, now: float) -> TeamView:
        """Return the team as a machine saw it at `now`, in seconds since 1970."""
        return TeamView(machine, tuple(self.homes), tuple(self.machines), now)


def open_visit(
    context: Context,
    hub: Hub,
    membership: Membership,
    begun: Begun | None = None,
    profiles: Mapping[str, Profile] = NOTHING,
    news: Collection[str] | None = None,
) -> Visit:
    """Look at the disk and ask the hub for the homes and the first page. Raises DiskFailure, HubFailed.

    `news` are the absolute paths that changed here, None if that is not known: then every file is looked at.
    """
    ledger = ledgers.load(context.root)
    ledger.rename(hub.machine)
    begun = begun or Begun(*hub.begin(ledger.cursor))
    view = begun.view_of(hub.machine, context.now_seconds())
    profiles = profiles or read_profiles(context)
    tree = SharedTree(context.root, handoff_folders(profiles))
    visit = Visit(context, hub, membership, profiles, tree, ledger, view, begun.page)
    visit.homes = {(home.project, home.seat): home.machine for home in view.homes if home.machine}
    visit.here = tree.known(ledger.seen)
    if news is None or begun.page.restarted or not ledger.seen or not look_at(visit, _with_receipts(context, news)):
        look(visit)
    return visit


def look_at(visit: Visit, places: Collection[str]) -> bool:
    """Look at some absolute paths alone. Returns whether that is enough; if not, nothing is known of the disk."""
    seen = visit.ledger.seen
    looked = visit.tree.look_again(seen, places, visit.context.clock.now_ns())
    if looked is None:
        return False
    visit.looked = looked | (visit.looked or set())
    for path in looked:
        visit.here.pop(path, None)
    visit.here |= visit.tree.known({place: seen[place] for place in places if place in seen})
    return True


def _with_receipts(context: Context, news: Collection[str]) -> set[str]:
    """Return paths with those of the claim, the end and the answer of each receipt among them: nobody reports these."""
    found = set(news)
    for place in news:
        folder, _, name = place.rpartition("/")
        parsed = receipts.parse_file_name(name)
        if parsed is not None:
            base = f"{folder}/{parsed[0].file_name}"
            answer = f"{context.root.responses}/{parsed[0].task_id}.json"
            found |= {base, base + receipts.CONSUMED, base + receipts.CLAIM, answer}
    return found


def look(visit: Visit) -> None:
    """Look at every file."""
    visit.looked = None
    visit.here, visit.ledger.seen = visit.tree.scan(visit.ledger.seen, visit.context.clock.now_ns())


def handoff_folders(profiles: Mapping[str, Profile]) -> dict[str, str]:
    """Return the folder of receipts of each project."""
    return {project: one.handoff_dir for project, one in profiles.items()}


def read_profiles(context: Context) -> dict[str, Profile]:
    """Return the profile of each project; one that can't be read is a warning."""
    found = {}
    for project in profile.projects(context.root):
        try:
            found[project] = profile.load(context.root, project, os.environ)
        except OracleError as error:
            context.warn(error.sentence)
    return found


def rules_stamp(root: Root) -> str:
    """Return a text that differs once the rules changed by which files may not leave."""
    try:
        status = os.stat(f"{root.machine}/{privacy.NAME}")
    except OSError:
        return "none"
    return f"{status.st_mtime_ns} {status.st_size} {status.st_ino}"
