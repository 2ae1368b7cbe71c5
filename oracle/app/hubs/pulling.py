"""Pull what other machines wrote, and put it in place."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from oracle.app.hubs.visit import Visit, look, look_at
from oracle.domain.hub.paths import FileKind, HubFile, parse
from oracle.domain.hub.replication import Agreed, Standing, Step, is_own_row, step_for
from oracle.domain.hub.rows import MAX_FILE, Row
from oracle.domain.values import replace
from oracle.errors import OracleError
from oracle.store.hub import ledger as ledgers
from oracle.store.hub.placing import Placer
from oracle.wording import say

_HEALED = (FileKind.RECORD, FileKind.RESPONSE, FileKind.RECEIPT)
"""The kinds of which a missing copy is fetched again."""

_AT_ONCE = 100
"""How many contents are fetched at once; each may have 16 MiB."""


def pull(visit: Visit) -> None:
    """Take every page of changes, then what is missing here. The cursor moves with each page that is in place."""
    ledger = visit.ledger
    is_restored, known = False, set[str]()
    more = True
    while more:
        page, visit.page = visit.page or visit.hub.pull(ledger.cursor), None
        is_restored = is_restored or (page.restarted and bool(ledger.agreed))
        known.update(row.path for row in page.rows)
        _take(visit, page.rows, is_restored=is_restored)
        more, visit.waits = page.more, page.waits
        ledger.cursor = page.cursor
        if more:  # the last one is saved with the rest
            ledgers.save(visit.context.root, ledger)
    if is_restored:
        _offer_again(visit, known)
    fetch_again(visit, _missing(visit))


def fetch_again(visit: Visit, paths: Collection[str]) -> None:
    """Take single files of the hub once more."""
    for folder in sorted({path.rpartition("/")[0] for path in paths}):
        _take(visit, [row for row in visit.hub.listing(folder) if row.path in paths], is_restored=False)


def _offer_again(visit: Visit, known: set[str]) -> None:
    """Forget what was agreed on about own files that a restored hub does not hold, so that they are sent again."""
    agreed = visit.ledger.agreed
    for path in [path for path in agreed if path not in known and visit.is_mine(path)]:
        del agreed[path]


def _missing(visit: Visit) -> set[str]:
    """Return copies that are not here, and what could not be put in place before."""
    gone = [path for path in visit.absent() if not visit.is_mine(path)]
    healed = {path for path in gone if (file := parse(path)) and file.kind in _HEALED and visit.wants(file)}
    return (healed | visit.ledger.due) - visit.tree.unread


def _take(visit: Visit, rows: Sequence[Row], *, is_restored: bool) -> None:
    """Put rows in place, records before the receipts that cite them."""
    _look_at(visit, rows)
    steps: list[tuple[HubFile, Row, Step]] = []
    for row in rows:
        file = parse(row.path)
        if file is None or row.size > MAX_FILE:
            visit.refuse(row.path, "path" if file is None else "size")
        elif visit.wants(file):
            steps.append((file, row, _step(visit, file, row, is_restored=is_restored)))
    steps.sort(key=lambda item: (item[0].kind, item[0].path))
    needed = [row.path for _, row, step in steps if step in _WITH_CONTENT and row.content is None and not row.removed]
    contents: dict[str, bytes] = {}
    for at in range(0, len(needed), _AT_ONCE):
        contents.update(visit.hub.fetch(needed[at : at + _AT_ONCE]))
    placer = Placer(visit.tree)
    for file, row, step in steps:
        visit.ledger.due.discard(row.path)
        try:
            _do(visit, placer, file, replace(row, content=contents.get(row.path, row.content)), step)
        except OracleError as error:  # one file that can't be written never holds up the others
            visit.ledger.due.add(row.path)
            visit.problems.append(say("{path} was not put in place: {fault}", path=row.path, fault=error))
    placer.close()


def _look_at(visit: Visit, rows: Sequence[Row]) -> None:
    """Look at the files of rows, unless all were looked at."""
    if visit.looked is not None and rows:
        found = (parse(row.path) for row in rows)
        places = [place for file in found if file is not None for place in visit.tree.places_of(file)]
        if not look_at(visit, places):
            look(visit)


_WITH_CONTENT = (Step.PLACE, Step.SET_ASIDE, Step.KEEP_BESIDE)


def _step(visit: Visit, file: HubFile, row: Row, *, is_restored: bool) -> Step:
    ledger = visit.ledger
    theirs = "" if row.removed else row.sha256
    agreed = ledger.agreed[row.path].sha256 if row.path in ledger.agreed else ""
    if theirs and ledger.sent.get(row.path) == theirs:  # the answer to this push did not arrive
        agreed = theirs
    is_mine = is_own_row(file, row, visit.hub.machine, visit.homes)
    return step_for(file, Standing(visit.digest_here(file), agreed, theirs, is_mine, is_restored))


def _do(visit: Visit, placer: Placer, file: HubFile, row: Row, step: Step) -> None:
    if step in _WITH_CONTENT and not row.removed and not _is_whole(visit, row):
        return
    data, here = row.content or b"", visit.digest_here(file)
    if step is Step.SET_ASIDE:
        visit.conflict(file, placer.set_aside(file))
        step, here = (Step.REMOVE if row.removed else Step.PLACE), ""
    is_done = True
    if step is Step.KEEP_BESIDE:
        visit.conflict(file, placer.keep_beside(file, data))
    elif step is Step.PLACE:
        is_done = placer.place(file, data, before=here)
    elif step is Step.REMOVE:
        is_done = placer.remove(file, before=here)
    if is_done:
        _agree(visit, file, row, step)
    else:
        visit.ledger.due.add(row.path)  # it changed just now: the next sync looks again


def _is_whole(visit: Visit, row: Row) -> bool:
    """Return whether a row has the content that its digest is of."""
    if row.content is None:  # it was removed or replaced meanwhile
        visit.ledger.due.add(row.path)
        return False
    if hashlib.sha256(row.content).hexdigest() != row.sha256:
        visit.refuse(row.path, "digest")
        return False
    return True


def _agree(visit: Visit, file: HubFile, row: Row, step: Step) -> None:
    if step is Step.WAIT and not visit.is_mine(row.path) and not is_own_row(file, row, visit.hub.machine, visit.homes):
        return
    if row.removed:
        visit.ledger.agreed.pop(row.path, None)
    else:
        visit.ledger.agreed[row.path] = Agreed(row.sha256, row.owner)
    if step is Step.PLACE:
        visit.placed.append(row.path)
        visit.note_here(file, row.sha256)
    elif step is Step.REMOVE:
        visit.removed.append(row.path)
        visit.note_here(file, "")
    if file.kind is FileKind.RECEIPT and not row.removed and step in (Step.PLACE, Step.AGREE):
        visit.ledger.arrived.add(row.path)
