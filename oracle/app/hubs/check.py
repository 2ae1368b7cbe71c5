"""Compare this machine with the hub, folder by folder, and correct what differs; send everything again; move a seat here."""

from __future__ import annotations

from oracle.app.context import Context
from oracle.app.delivery.homes import is_away
from oracle.app.hubs.ports import Hub
from oracle.app.hubs.pulling import fetch_again
from oracle.app.hubs.pushing import push
from oracle.app.hubs.sync import Synced, result_of, sync, syncing
from oracle.app.hubs.visit import MARKS, Visit, look, open_visit
from oracle.domain.hub.paths import HubFile, parse
from oracle.domain.hub.replication import differences, folder_digests, is_fenced, is_own_row
from oracle.domain.hub.rows import Home, Membership, Row
from oracle.domain.names import check_name
from oracle.domain.values import value
from oracle.errors import Blocked
from oracle.store.hub import checked as checks
from oracle.store.hub import ledger as ledgers
from oracle.store.hub.checked import Checked
from oracle.store.hub.ledger import SyncLedger
from oracle.store.hub.placing import Placer
from oracle.wording import Sentence, say, say_each

UNSENT, MISSING, CHANGED, UNKNOWN = say_each(
    "not sent yet", "missing here", "changed here, owned by another machine", "not at the hub, owned by another machine"
)


DAILY, AGAIN = 86_400.0, 3_600.0
"""Seconds after which a daemon compares all files again, and after a comparison that found something."""

_MOST = 1000
"""How many differences are kept for the doctor."""


@value
class HubDifference:
    """A file that is not the same here and at the hub, and how."""

    path: str
    what: Sentence


@value
class HubChecked:
    """What differed; with `--fix` what was done, and what still differs."""

    differences: tuple[HubDifference, ...]
    fixed: Synced | None = None
    left: tuple[HubDifference, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "differences": [{"path": one.path, "what": one.what} for one in self.differences],
            "fixed": self.fixed.as_json() if self.fixed else None,
            "left": [{"path": one.path, "what": one.what} for one in self.left],
        }


def check(context: Context, hub: Hub, membership: Membership, *, fixes: bool = False) -> HubChecked:
    """List what differs. `fixes` sends or fetches it; a changed copy is kept under another name. Raises what `sync` raises."""
    context.root.require()
    with syncing(context):
        visit = open_visit(context, hub, membership)
        found = tuple(compare(visit))
        if not fixes or not found:
            ledgers.save(context.root, visit.ledger)
            _note(context, found)
            return HubChecked(found)
        try:
            _fix(visit, found)
        finally:
            ledgers.save(context.root, visit.ledger)
        look(visit)
        left = tuple(compare(visit))
        _note(context, left)
        return HubChecked(found, result_of(visit, []), left)


def is_due(context: Context) -> bool:
    """Return whether the last comparison is a day old, or an hour if it found something."""
    last = checks.load(context.root)
    return not 0 <= context.now_seconds() - last.at < (AGAIN if last.differences else DAILY)


def last_differences(context: Context) -> list[HubDifference]:
    """Return what the last comparison found, of whichever process."""
    hows = {str(how): how for how in (UNSENT, MISSING, CHANGED, UNKNOWN)}
    return [HubDifference(path, hows[how]) for path, how in checks.load(context.root).differences if how in hows]


def _note(context: Context, found: tuple[HubDifference, ...]) -> None:
    differences = tuple((one.path, str(one.what)) for one in found[:_MOST])
    checks.save(context.root, Checked(context.now_seconds(), differences))


def compare(visit: Visit) -> list[HubDifference]:
    """Return what differs. What a guard refused is listed apart."""
    ours = folder_digests((path, local.sha256) for path, local in visit.here.items() if _counts(visit, path))
    found = []
    for folder in differences(ours, visit.hub.digests()):
        rows = {row.path: row for row in visit.hub.listing(folder)}
        mine = (path for path in visit.here if path.rpartition("/")[0] == folder)
        for path in sorted({*rows, *mine}):
            what = _what_differs(visit, path, rows.get(path)) if _counts(visit, path) else None
            if what is not None:
                found.append(HubDifference(path, what))
    return found


def _counts(visit: Visit, path: str) -> bool:
    file = parse(path)
    return file is not None and visit.wants(file) and file.kind not in MARKS and path not in visit.ledger.refused


def _what_differs(visit: Visit, path: str, row: Row | None) -> Sentence | None:
    file, here = parse(path), visit.here.get(path)
    theirs = row.sha256 if row is not None and not row.removed else ""
    if file is None or theirs == (here.sha256 if here else ""):
        return None
    if _is_own(visit, file, row):
        return UNSENT if here or path in visit.ledger.agreed else MISSING
    if here is None:
        return MISSING
    return CHANGED if theirs else UNKNOWN


def _is_own(visit: Visit, file: HubFile, row: Row | None) -> bool:
    if row is None or row.removed:
        return visit.is_mine(file.path)
    return is_own_row(file, row, visit.hub.machine, visit.homes)


def _fix(visit: Visit, found: tuple[HubDifference, ...]) -> None:
    placer = Placer(visit.tree)
    for one in found:
        file = parse(one.path)
        if file is not None and (one.what is CHANGED or (one.what is UNKNOWN and is_fenced(file))):
            visit.conflict(file, placer.set_aside(file))
            visit.note_here(file, "")
        elif one.what is UNSENT and one.path in visit.here:
            visit.ledger.agreed.pop(one.path, None)
    fetch_again(visit, {one.path for one in found if one.what in (MISSING, CHANGED)})
    push(visit)


def rebuild(context: Context, hub: Hub, membership: Membership) -> Synced:
    """Forget what was agreed on, compare every file with the hub again, and send all that it lacks of this machine."""
    context.root.require()
    with syncing(context):
        kept = ledgers.load(context.root)
        own = {path: item for path, item in kept.agreed.items() if item.owner != hub.machine}
        ledgers.save(context.root, SyncLedger(machine=kept.machine, agreed=own))
    return sync(context, hub, membership)


def move_home(context: Context, hub: Hub, project: str, seat: str, *, takes: bool = False) -> Home:
    """Make this machine the home of a seat. Raises Blocked while its home lives, unless `takes`. The next sync does the rest."""
    check_name(project, "project")
    check_name(seat, "seat")
    homes, machines = hub.team()
    home = next((one for one in homes if (one.project, one.seat) == (project, seat)), None)
    if home is not None and home.machine == hub.machine:
        return home
    holder = next((one for one in machines if home is not None and one.id == home.machine), None)
    if holder is not None and not is_away(holder) and not takes:
        raise Blocked(
            say(
                "The seat {seat} of {project} runs on {machine}, which was seen {seconds:.0f} s ago.",
                seat=seat,
                project=project,
                machine=holder.name,
                seconds=holder.unseen,
            ),
            hint=say(
                "End the seat there, then add --take. What that machine still writes as this seat is kept aside there."
            ),
        )
    return hub.take_home(project, seat, take=True)
