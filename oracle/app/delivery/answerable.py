"""Find the dispatches that a marker may answer, and the rosters of the projects."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping

from oracle.app.context import Context
from oracle.domain.delivery import receipts
from oracle.domain.delivery.addressing import AddressedDispatch
from oracle.domain.delivery.receipts import CONSUMED, ReceiptKind, ReceiptName
from oracle.domain.values import value
from oracle.errors import OracleError
from oracle.store.delivery import handoffs
from oracle.store.root import profile


@value
class FoundDispatches:
    """Dispatches to a seat, the seats of each project, and sentences on what could not be read."""

    dispatches: list[AddressedDispatch]
    rosters: dict[str, Collection[str]]
    problems: list[str]


def find_dispatches(
    context: Context, seat: str, *, project: str, tasks: Collection[str], environ: Mapping[str, str]
) -> FoundDispatches:
    """Return the dispatches to `seat` in one project, or in all for an empty one.

    Consumed ones only of the given tasks. A project that can't be read is left out and named.
    """
    found = FoundDispatches([], {}, [])
    for name in [project] if project else profile.projects(context.root):
        try:
            loaded = profile.load(context.root, name, environ)
            found.rosters[name] = loaded.seats
            found.dispatches.extend(_read_folder(loaded.handoff_dir, name, seat, tasks, found.problems))
        except OracleError as error:
            found.problems.append(error.sentence)
    return found


def _read_folder(
    folder: str, project: str, seat: str, tasks: Collection[str], problems: list[str]
) -> Iterator[AddressedDispatch]:
    for name, suffix in _names(folder):
        wanted = suffix == "" or (suffix == CONSUMED and name.task_id in tasks)
        if name.target != seat or not wanted:
            continue
        try:
            receipt = handoffs.read(folder, name, suffix)
        except OracleError as error:
            problems.append(error.sentence)
            continue
        if receipt is not None and receipt.kind is ReceiptKind.DISPATCH:
            yield AddressedDispatch(project, name.task_id, name.source, receipt.reply_to, is_open=suffix == "")


def _names(folder: str) -> Iterator[tuple[ReceiptName, str]]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        parsed = receipts.parse_file_name(name)
        if parsed is not None:
            yield parsed
