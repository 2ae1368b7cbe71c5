"""Read a handoff folder: every handoff with its state, and the story of one task.

Other tools write here too. A file that cannot be read becomes a problem of the handoff in its name.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import datetime

from oracle.domain.delivery import receipts
from oracle.domain.delivery.handoffs import Handoff, Piece, Unreached, join
from oracle.domain.delivery.receipts import CLAIM, CONSUMED, Receipt, ReceiptKind, ReceiptName
from oracle.domain.values import replace, value
from oracle.errors import DiskFailure
from oracle.store.delivery import leases
from oracle.store.delivery.leases import Lease
from oracle.store.disk import files, steps
from oracle.store.disk.file_cache import FileCache
from oracle.wording import say


@value
class Around:
    """Facts from outside the handoff folder: task ids with a response, task ids with a conflict, pending wake-ups.

    A pending wake-up is (task id, seat). Responses and conflicts belong to handoffs that a memory seat answers.
    `digest_of` returns the digest of a task's response, `is_queued` whether a task waits in the queue of a seat, and
    `unreached` of a pending wake-up how often its seat was not found. `is_foreign` returns whether the response of a task
    belongs to another project that uses the same task id.
    """

    responses: Collection[str] = ()
    conflicts: Collection[str] = ()
    pending: Collection[tuple[str, str]] = ()
    memory_seats: Collection[str] = ("memory",)
    digest_of: Callable[[str], str] = lambda _: ""
    is_queued: Callable[[str, str], bool] = lambda _, __: False
    unreached: Callable[[str, str], Unreached | None] = lambda _, __: None
    is_foreign: Callable[[str], bool] = lambda _: False


@value
class Listing:
    """The handoffs of a folder, the last changed one at the end, and a sentence for each file that is not a receipt."""

    handoffs: tuple[Handoff, ...]
    problems: tuple[str, ...] = ()


@value
class Chapter:
    """One file of a task's story: its path, when it changed (seconds since 1970), and its content."""

    path: str
    changed_at: float
    suffix: str
    receipt: Receipt


class _Files:
    """The files of one receipt name by suffix, and the receipt that counts."""

    __slots__ = ("consumed", "name", "receipt", "times")

    def __init__(self, name: ReceiptName) -> None:
        self.name = name
        self.times: dict[str, float] = {}
        self.receipt: Receipt | None = None
        self.consumed: Receipt | None = None


def list_handoffs(
    folder: str, *, now: datetime, around: Around | None = None, cache: FileCache | None = None
) -> Listing:
    """Return the handoffs of a folder. A missing folder has none. Raises DiskFailure if it cannot be listed."""
    problems: list[str] = []
    found = _read_folder(folder, problems, cache or FileCache())
    for item in found.values():
        _settle_kind(item, found)
    completions: dict[tuple[str, str], list[_Files]] = defaultdict(list)
    dispatches = []
    for item in found.values():
        kind = _kind(item)
        if kind is ReceiptKind.COMPLETION:
            completions[item.name.task_id, item.name.source].append(item)
        elif kind is not ReceiptKind.NOTICE and item.receipt is not None:
            dispatches.append(item)
    around = around or Around()
    answered = frozenset(completions)
    listed = []
    for item in dispatches:
        completion = _take_completion(item, completions, around)
        is_others = completion is None and _is_of_others(item, answered, around)
        mine = replace(around, responses=()) if is_others else around
        listed.append(_join(item, completion, folder=folder, now=now, around=mine))
    rest = [item for group in completions.values() for item in group]
    listed += [_join(None, item, folder=folder, now=now, around=around) for item in rest]
    return Listing(tuple(sorted(listed, key=lambda one: (one.changed_at, one.task_id))), tuple(problems))


def tell_story(folder: str, task_id: str) -> tuple[Chapter, ...]:
    """Return every file of one task id, oldest first, without leases. Raises DiskFailure."""
    chapters = []
    for name, suffix, entry in _scan(folder, []):
        if name.task_id != task_id or suffix == CLAIM:
            continue
        problems: list[str] = []
        receipt = _read(name, entry, problems, FileCache())
        if problems:
            receipt = Receipt(name, ReceiptKind.UNKNOWN, {}, tuple(problems))
        if receipt is not None:
            chapters.append(Chapter(entry.path, _changed_at(entry), suffix, receipt))
    return tuple(sorted(chapters, key=lambda one: (one.changed_at, one.path)))


def _read_folder(folder: str, problems: list[str], cache: FileCache) -> dict[ReceiptName, _Files]:
    found: dict[ReceiptName, _Files] = {}
    for name, suffix, entry in _scan(folder, problems):
        item = found.setdefault(name, _Files(name))
        item.times[suffix] = _changed_at(entry)
        if suffix == "":
            item.receipt = _read(name, entry, problems, cache)
        elif suffix == CONSUMED:
            item.consumed = _read(name, entry, problems, cache)
    return found


def _scan(folder: str, problems: list[str]) -> Iterator[tuple[ReceiptName, str, os.DirEntry[str]]]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        raise files.disk_failure(folder, error) from error
    for entry in entries:
        parsed = receipts.parse_file_name(entry.name)
        if parsed is not None and not entry.is_dir():
            yield parsed[0], parsed[1], entry
        elif ".json" in entry.name and not entry.name.startswith("."):
            problems.append(
                say("{path} is not a receipt: its name is not <task>__<source>__<target>.json.", path=entry.path)
            )


def _changed_at(entry: os.DirEntry[str]) -> float:
    status = _status(entry)
    return status.st_mtime if status else 0.0


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except OSError:
        return None


def _read(name: ReceiptName, entry: os.DirEntry[str], problems: list[str], cache: FileCache) -> Receipt | None:
    def read(path: str) -> Receipt | None:
        raw = steps.read(path)
        return None if raw is None else receipts.read_receipt(name, raw)

    try:
        return cache.get(entry.path, read, _status(entry))
    except DiskFailure as error:
        problems.append(error.sentence)
        return None


def _kind(item: _Files) -> ReceiptKind:
    receipt = item.receipt or item.consumed
    return ReceiptKind.UNKNOWN if receipt is None else receipt.kind


def _settle_kind(item: _Files, found: dict[ReceiptName, _Files]) -> None:
    """Set the kind of an unreadable receipt from its neighbours, and file a consumed one under its kind."""
    if _kind(item) is ReceiptKind.UNKNOWN and (receipt := item.receipt or item.consumed) is not None:
        asked = found.get(ReceiptName(item.name.task_id, item.name.target, item.name.source))
        kind = (
            ReceiptKind.COMPLETION
            if asked is not None and _kind(asked) is ReceiptKind.DISPATCH
            else ReceiptKind.DISPATCH
        )
        settled = replace(receipt, kind=kind)
        if item.receipt is not None:
            item.receipt = settled
        else:
            item.consumed = settled
    if item.receipt is None and item.consumed is not None:
        item.receipt = item.consumed


def _take_completion(
    dispatch: _Files, completions: dict[tuple[str, str], list[_Files]], around: Around
) -> _Files | None:
    """Remove and return the completion that answers a dispatch: to the seat that wants the answer, or that asked."""
    left = completions.get((dispatch.name.task_id, dispatch.name.target), [])
    wanted = dispatch.receipt.reply_to if dispatch.receipt else dispatch.name.source
    for seat in (wanted, dispatch.name.source):
        for item in left:
            if item.name.target == seat and not _is_earlier_round(item, dispatch, around):
                left.remove(item)
                return item
    return None


def _is_of_others(dispatch: _Files, answered: Collection[tuple[str, str]], around: Around) -> bool:
    """Return whether the response to a dispatch without completion belongs to another reader or another question.

    That is so if the answerer has completed the task for another seat, or if the dispatch notes that it found this response.
    """
    task_id = dispatch.name.task_id
    if dispatch.receipt is None or task_id not in around.responses:
        return False
    if (task_id, dispatch.name.target) in answered:
        return True
    prior = dispatch.receipt.text("prior_response")
    return bool(prior) and prior == around.digest_of(task_id)


def _is_earlier_round(completion: _Files, dispatch: _Files, around: Around) -> bool:
    """Return whether a completion answers an earlier dispatch with the name of this one.

    A consumed dispatch is answered. For an open one, the completion keeps the digest of the dispatch that it answers. Other
    tools keep none: then an earlier dispatch beside it, or a task that still waits in the queue, shows another round.
    """
    if completion.receipt is None or dispatch.receipt is None or "" not in dispatch.times:
        return False
    digest = completion.receipt.text("dispatch_digest")
    if digest:
        return digest != receipts.digest_of_round(dispatch.receipt)
    if CONSUMED in dispatch.times and not _is_same_round(dispatch):
        return True
    return around.is_queued(dispatch.name.task_id, dispatch.name.target)


def _join(dispatch: _Files | None, completion: _Files | None, *, folder: str, now: datetime, around: Around) -> Handoff:
    asked = dispatch.receipt if dispatch else None
    answered = completion.receipt if completion else None
    name = completion.name.answered_by() if completion else dispatch.name if dispatch else _NOBODY
    task_id, answerer = name.task_id, name.target
    asker = asked.reply_to if asked and not answered else name.source
    pieces = _dispatch_pieces(dispatch, folder, now, around.memory_seats) if dispatch else set()
    pieces |= _completion_pieces(completion) if completion else set()
    if answerer in around.memory_seats:
        pieces |= _outer_pieces(task_id, around, is_completed=Piece.COMPLETION in pieces)
    last, woken = (answered, asker) if answered else (asked, answerer)
    if (task_id, woken) in around.pending:
        pieces.add(Piece.PENDING)
    if last is not None and last.text("notified_at"):
        pieces.add(Piece.NOTIFIED)
    times = [time for item in (dispatch, completion) if item for time in item.times.values()]
    problems = [text for receipt in (asked, answered) if receipt for text in receipt.problems]
    return join(
        task_id,
        asker,
        answerer,
        pieces,
        dispatch=asked,
        completion=answered,
        changed_at=max(times, default=0.0),
        problems=tuple(problems),
        unreached=around.unreached(task_id, woken),
    )


_NOBODY = ReceiptName("", "", "")


def _completion_pieces(completion: _Files) -> set[Piece]:
    if completion.receipt is None or not completion.receipt.fields or completion.receipt.is_malformed:
        return set()
    return {Piece.COMPLETION, Piece.ACKED} if CONSUMED in completion.times else {Piece.COMPLETION}


def _outer_pieces(task_id: str, around: Around, *, is_completed: bool) -> set[Piece]:
    """Return what lies beside a task that memory answers. Whose it is plays a part only while something is left to do."""
    pieces = {Piece.RESPONSE} if task_id in around.responses else set()
    pieces |= {Piece.CONFLICT} if task_id in around.conflicts else set()
    is_settled = is_completed and Piece.CONFLICT not in pieces
    return set() if pieces and not is_settled and around.is_foreign(task_id) else pieces


def _dispatch_pieces(dispatch: _Files, folder: str, now: datetime, memory_seats: Collection[str]) -> set[Piece]:
    pieces = set()
    if "" in dispatch.times:
        pieces.add(Piece.DISPATCH)
    if CONSUMED in dispatch.times and _is_same_round(dispatch):
        pieces.add(Piece.CONSUMED)
    if CLAIM in dispatch.times:
        lease = _read_lease(folder, dispatch.name)
        pieces.add(_claim_piece(dispatch.name, lease, now, memory_seats))
    return pieces


def _claim_piece(name: ReceiptName, lease: Lease | None, now: datetime, memory_seats: Collection[str]) -> Piece:
    """Return the meaning of a claim. A memory seat that holds its own question was given it with a packet."""
    if lease is None or lease.until <= now:
        return Piece.CLAIM_EXPIRED
    return Piece.WITH_SEAT if lease.holder == name.target and name.target in memory_seats else Piece.CLAIM


def _read_lease(folder: str, name: ReceiptName) -> Lease | None:
    """Return a lease. One that cannot be read counts as expired."""
    try:
        return leases.read(folder, name)
    except DiskFailure:
        return None


def _is_same_round(dispatch: _Files) -> bool:
    if "" not in dispatch.times or dispatch.receipt is None or dispatch.consumed is None:
        return True
    return receipts.say_the_same(dispatch.receipt, dispatch.consumed)
