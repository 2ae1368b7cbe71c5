"""One sync: pull, do what arrived asks for, push. The daemon does the same, only earlier."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from oracle.app.context import Context
from oracle.app.delivery import arrivals, team, wakeups
from oracle.app.hubs import quiet
from oracle.app.hubs.ports import Hub
from oracle.app.hubs.pulling import pull
from oracle.app.hubs.pushing import push
from oracle.app.hubs.visit import Begun, Visit, open_visit, read_profiles
from oracle.domain.hub.paths import HubFile, handoff_path, parse
from oracle.domain.hub.rows import Membership
from oracle.domain.values import replace, value
from oracle.errors import OracleError
from oracle.store.delivery.entries import InboxEntry
from oracle.store.disk import steps
from oracle.store.hub import ledger as ledgers
from oracle.store.hub import quiet as quiets
from oracle.wording import say


@value
class Synced:
    """What a sync did, by path in the hub. `refused` holds paths with the reason, `conflicts` paths with what was kept."""

    pushed: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    stranded: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    wake_ups: tuple[InboxEntry, ...] = ()
    waits: bool = False
    """Whether the hub has rows that can't come yet, because a transaction before them is still open."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing was sent and nothing came."""
        return not (self.pushed or self.placed or self.removed)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "pushed": list(self.pushed),
            "placed": list(self.placed),
            "removed": list(self.removed),
            "refused": [{"path": path, "reason": reason} for path, reason in self.refused],
            "conflicts": [{"path": path, "kept": kept} for path, kept in self.conflicts],
            "stranded": list(self.stranded),
            "problems": list(self.problems),
        }


def sync(
    context: Context,
    hub: Hub,
    membership: Membership,
    *,
    confirms: bool = False,
    news: Collection[str] | None = None,
) -> Synced:
    """Pull once and push once. Raises TreeEmptied, HubFailed, DiskFailure, LockTimeout.

    `news` are the absolute paths that changed here since the last sync of this process, for a caller who watches; None if
    that is not known. The wake-ups of what arrived are in the inbox; the caller sends them.
    """
    context.root.require()
    with syncing(context):
        profiles = read_profiles(context)
        state = quiet.state_of(context, membership, profiles) if news is None else ""
        noted, begun = quiets.load(context.root), None
        is_as_noted = noted is not None and (noted.state == state if news is None else not news)
        if noted is not None and is_as_noted:
            begun = Begun(*hub.begin(noted.cursor))
            if quiet.is_quiet(context, begun):
                ledgers.save_team(context.root, begun.view_of(hub.machine, context.now_seconds()))
                return Synced(refused=noted.refused, stranded=noted.stranded, waits=begun.page.waits)
        quiets.forget(context.root)
        visit = open_visit(context, hub, membership, begun, profiles, news)
        entries = _exchange(visit, confirms=confirms)
        quiet.note(visit, state)
        return result_of(visit, entries)


def _exchange(visit: Visit, *, confirms: bool) -> list[InboxEntry]:
    root = visit.context.root
    before = ledgers.load_team(root)
    pull(visit)
    entries = list(_arrive(visit))
    _claim_homes(visit, before)
    entries += _adopt(visit, before)
    try:
        push(visit, confirms=confirms)
    finally:
        ledgers.save(root, visit.ledger)
        ledgers.save_team(root, visit.view)
    return entries


def wake(context: Context, done: Synced) -> None:
    """Wake the seats for which something arrived. A wake-up that fails is a warning, and stays in the inbox."""
    for entry in done.wake_ups:
        if not wakeups.is_left_to_daemon(context, entry):
            wakeups.warn_of(context, wakeups.send(context, entry))


def syncing(context: Context) -> steps.FileLock:
    """Return the lock of the ledger: one process at a time visits the hub."""
    return steps.FileLock(f"{context.root.hub_files}/sync")


def result_of(visit: Visit, entries: list[InboxEntry]) -> Synced:
    """Return what a visit did."""
    refused = sorted((path, reason) for path, (_, reason) in visit.ledger.refused.items())
    return Synced(
        tuple(visit.pushed),
        tuple(visit.placed),
        tuple(visit.removed),
        tuple(refused),
        tuple(visit.conflicts),
        tuple(visit.stranded()),
        tuple(visit.problems),
        tuple(entries),
        visit.waits,
    )


def _arrive(visit: Visit) -> Iterator[InboxEntry]:
    """Do what receipts of other machines ask for here. What can't be done now is tried again with the next sync."""
    for path in sorted(visit.ledger.arrived):
        file, agreed = parse(path), visit.ledger.agreed.get(path)
        is_others = agreed is not None and agreed.owner != visit.hub.machine
        try:
            if file is not None and file.receipt is not None and is_others and _is_for_here(visit, file):
                yield from arrivals.arrive(visit.context, team.open_team(visit.context, file.project), file.receipt)
            visit.ledger.arrived.discard(path)
        except OracleError as error:
            visit.problems.append(say("{path} arrived and waits: {fault}", path=path, fault=error))


def _is_for_here(visit: Visit, file: HubFile) -> bool:
    """Return whether the reader of a receipt is here: its seat, or for a reader without a home who asked from here."""
    if file.receipt is None:
        return False
    home = visit.homes.get((file.project, file.receipt.target))
    if home is None:
        asked = visit.ledger.agreed.get(handoff_path(file.project, file.receipt.answered_by()))
        return asked is not None and asked.owner == visit.hub.machine
    return home == visit.hub.machine


def _claim_homes(visit: Visit, before: ledgers.TeamView | None) -> None:
    """Become the home of each seat of the own profiles, and of own files, that has none yet.

    A hub that was made again has no homes. A seat that ran on another machine before is left to that machine.
    """
    joined = visit.membership.projects or visit.profiles
    wanted = {(project, seat) for project, one in visit.profiles.items() if project in joined for seat in one.seats}
    wanted |= {(file.project, file.seat) for file in visit.changed() if file.seat}
    others = (
        {(home.project, home.seat) for home in before.homes if home.machine not in ("", before.machine)}
        if before
        else set()
    )
    new = [visit.hub.take_home(*seat) for seat in sorted(wanted - visit.homes.keys() - others)]
    if new:
        visit.view = replace(visit.view, homes=(*visit.view.homes, *new))
        visit.homes = {**visit.homes, **{(home.project, home.seat): home.machine for home in new}}


def _adopt(visit: Visit, before: ledgers.TeamView | None) -> Iterator[InboxEntry]:
    """Take up what waits for the seats that moved here since the last sync."""
    for home in visit.view.homes:
        old = before.home_of(home.project, home.seat) if before is not None else None
        if home.machine != visit.hub.machine or old is None or old.machine == home.machine:
            continue
        try:
            yield from arrivals.adopt(visit.context, team.open_team(visit.context, home.project), home.seat)
        except OracleError as error:
            visit.problems.append(
                say("{seat} of {project}: {fault}", seat=home.seat, project=home.project, fault=error)
            )
