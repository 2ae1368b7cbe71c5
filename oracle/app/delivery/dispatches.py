"""Which dispatches a completion or a marker answers, and who asked, by their receipts. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from oracle.app.context import Context
from oracle.app.delivery.team import Team, how_to_complete, is_memory
from oracle.domain.delivery import receipts
from oracle.domain.delivery.addressing import Address, AddressedDispatch
from oracle.domain.delivery.receipts import CONSUMED, PAYLOAD, Receipt, ReceiptKind, ReceiptName
from oracle.domain.names import OPERATOR, check_name
from oracle.domain.records.decisions import DecisionPayload, resolve_command
from oracle.domain.spelling import differs_in_case, is_mistyped
from oracle.domain.values import value
from oracle.errors import CompletionRefused, MistypedTask, NotAsked, OracleError, OtherAsker
from oracle.store.delivery import handoffs, responses
from oracle.store.root import profile
from oracle.wording import LIST, joined, say


def dispatches_to(folder: str, task_id: str, seat: str) -> Iterator[tuple[Receipt, bool]]:
    """Yield (receipt, whether it is open) of everything that was sent to a seat under just this task id, no notices."""
    for receipt, suffix in handoffs.receipts_of(folder, task_id):
        if receipt.name.target == seat and receipt.kind is not ReceiptKind.NOTICE:
            yield receipt, not suffix


def dispatch_answered(folder: str, name: ReceiptName) -> Receipt | None:
    """Return the dispatch that a completion of this name answers, the open one first. Raises HandoffFailed if it is malformed."""
    found = [pair for pair in dispatches_to(folder, name.task_id, name.source) if is_answer(name, pair[0])]
    first = min(found, key=lambda pair: not pair[1])[0] if found else None
    handoffs.refuse_malformed(first)
    return first


def is_answer(name: ReceiptName, dispatch: Receipt) -> bool:
    """Return whether a completion of this name goes to who sent a receipt, or to whom its answer is to go."""
    return dispatch.kind is not ReceiptKind.COMPLETION and name.target in (dispatch.name.source, dispatch.reply_to)


def mark_stranger(context: Context, team: Team, receipt: Receipt) -> Receipt:
    """Return a completion; one for somebody who is not of the team says, with a warning, that nobody is woken."""
    target = receipt.name.target
    if team.knows(target):
        return receipt
    context.warn(say("notify_skipped: {target} is not a registered seat, so nobody was woken", target=target))
    return receipt.with_fields({"notify_skipped": "target_not_registered_seat"})


def is_for_another(team: Team, task_id: str, seat: str, target: str) -> bool:
    """Return whether a seat was asked under a task id, and its answer goes to somebody else than `target`."""
    return any(
        asked.kind is ReceiptKind.DISPATCH and target not in (asked.name.source, asked.reply_to)
        for asked, _ in dispatches_to(team.folder, check_name(task_id, "task id"), seat)
    )


def is_answered(folder: str, dispatch: Receipt) -> bool:
    """Return whether a completion answers a dispatch that was consumed: some tools consume one without. Raises InvalidName."""
    names = {dispatch.name.answered_by(seat) for seat in (dispatch.reply_to, dispatch.name.source)}
    return any(handoffs.find(folder, name) is not None for name in names)


def is_news(context: Context, where: Address, text: str, seat: str, environ: Mapping[str, str]) -> bool:
    """Return whether a text is not the answer that stands for an answered task, or that answer is gone from the disk.

    The claims of the answer play no part. A task that was completed without a response stays so.
    """
    path = responses.path_of(context.root, where.task_id)
    if os.path.lexists(path):
        return not _says(path, text)
    folder = profile.load(context.root, where.project, environ).handoff_dir
    done = handoffs.find(folder, receipts.receipt_name(where.task_id, seat, where.seat))
    return done is not None and bool(done.text("response_path"))


def last_told(context: Context, found: FoundDispatches, seat: str, target: str, text: str, said_at: str = "") -> str:
    """Return the task that a seat answered last for another seat, if this text is its answer, else "".

    A client may hand over the same message again. Without a task, it must not answer a question that came meanwhile.
    Said at another moment than that answer it is another message. `said_at` is its moment, "" for an unknown one.
    """
    told = []
    for folder, name, suffix in ((one, *pair) for one in found.folders for pair in _names(one)):
        if (name.source, name.target, suffix) == (seat, target, ""):
            path = responses.path_of(context.root, name.task_id)
            with suppress(OSError):  # it was completed without a response
                told.append((os.stat(path).st_mtime_ns, name.task_id, path, folder))
    if not told:
        return ""
    _, task, path, folder = max(told)
    done = handoffs.find(folder, receipts.receipt_name(task, seat, target)) if said_at else None
    before = done.text("said_at") if done is not None else ""
    is_another = before and before != said_at
    return task if not is_another and _says(path, text) else ""


def _says(path: str, text: str) -> bool:
    """Return whether the answer in a file is just this text."""
    answer = responses.parse(path).get("answer")
    return isinstance(answer, str) and answer.strip() == text


def refuse_decision(team: Team, task_id: str) -> None:
    """Raise CompletionRefused when a task is a question to people: an answer of another kind would leave it undecided."""
    for receipt, _ in handoffs.receipts_of(team.folder, task_id):
        if receipt.asks_people:
            raise CompletionRefused(
                say("{task_id} asks people to decide; nothing was handed over.", task_id=task_id),
                hint=say("Settle it with `{command}`.", command=command_to_settle(team, receipt)),
            )


_CONFIRM = say("Correct the id. If nobody asked for this answer, confirm it with --unsolicited (MCP: unsolicited).")


def refuse_stray(team: Team, name: ReceiptName, *, is_unsolicited: bool = False, needs_question: bool = False) -> None:
    """Refuse an answer that nobody asked for while a question waits that it may be meant for.

    Raises OtherAsker if another seat asked under this id: the one response of the id would be taken for the answer to it.
    Raises MistypedTask if the id is nearly that of the question, and with `needs_question` NotAsked for any other id, unless
    `is_unsolicited` confirms it. A delivery that was made before may come again.
    """
    if dispatch_answered(team.folder, name) is not None or handoffs.find(team.folder, name) is not None:
        return
    for asked, is_open in dispatches_to(team.folder, name.task_id, name.source):
        if asked.kind is ReceiptKind.DISPATCH and (is_open or not is_answered(team.folder, asked)):
            raise OtherAsker(
                say(
                    "{seat} asked {source} under the task id {task_id}, not {target}; nothing was delivered.",
                    seat=asked.name.source,
                    source=name.source,
                    task_id=name.task_id,
                    target=name.target,
                ),
                hint=say("Deliver it to {seat}.", seat=asked.reply_to),
            )
    if is_unsolicited:
        return
    _refuse_mistyped(team, name.task_id, name.source)
    if needs_question:
        raise NotAsked(
            say(
                "{target} did not ask {source} under the task id {task_id}; nothing was delivered.",
                target=name.target,
                source=name.source,
                task_id=name.task_id,
            ),
            hint=_say_asked(team, name.task_id)
            or say("{what} {hint}", what=_say_waiting(team, name.source), hint=_CONFIRM),
        )


def _say_asked(team: Team, task_id: str) -> str:
    """Return which other seat was asked under this id, and how it answers; empty if none waits to be answered."""
    for asked, suffix in handoffs.receipts_of(team.folder, task_id):
        if asked.kind is ReceiptKind.DISPATCH and not suffix and not is_memory(team, asked.name.target):
            hint = how_to_complete(team, task_id, asked.name.target)
            what = say("{asker} asked {seat} this.", asker=asked.name.source, seat=asked.name.target)
            return say("{what} {hint}", what=what, hint=hint)
    return ""


def say_unsolicited(team: Team, name: ReceiptName) -> str:
    """Return the warning that nobody asked for this, with what is open: a task id or a target may be mistyped."""
    done = say(
        "{asker} did not ask {seat} under the task id {task}, so this was delivered unsolicited.",
        seat=name.source,
        task=name.task_id,
        asker=name.target,
    )
    told = say("{what} {hint}", what=done, hint=_say_waiting(team, name.source))
    hint = say("If the id or the target is wrong, deliver it again with the right one.")
    return say("{what} {hint}", what=told, hint=hint)


_MOST_NAMED = 5


def _say_waiting(team: Team, seat: str) -> str:
    """Return which tasks wait for a seat, each with the seat that gets its answer; at most five, those asked last."""
    waiting = []
    for name, suffix in _names(team.folder):
        with suppress(OracleError):  # listings name what can't be read
            asked = handoffs.read(team.folder, name) if not suffix and name.target == seat else None
            waiting += [asked] if asked is not None and asked.kind is ReceiptKind.DISPATCH else []
    waiting.sort(key=lambda one: one.since)
    told = [say("{task} of {seat}", task=one.name.task_id, seat=one.reply_to) for one in waiting]
    if not told:
        return say("Nothing waits for {seat}.", seat=seat)
    named = joined(LIST, told[-_MOST_NAMED:])
    if len(told) > _MOST_NAMED:
        named = say("{names} and {rest} more", names=named, rest=len(told) - _MOST_NAMED)
    return say("These wait for {seat}: {named}.", seat=seat, named=named)


def refuse_unknown(team: Team, task_id: str, source: str) -> None:
    """Raise MistypedTask if nothing is known of a task, and its id is nearly that of one that waits for this seat.

    Seats complete tasks that nobody dispatched, so a task of another number is another task.
    """
    if next(iter(handoffs.receipts_of(team.folder, task_id)), None) is None:
        _refuse_mistyped(team, task_id, source, keeps_digits=True)


def _refuse_mistyped(team: Team, task_id: str, source: str, *, keeps_digits: bool = False) -> None:
    names = sorted(_names(team.folder), key=lambda one: not differs_in_case(task_id, one[0].task_id))
    for other, suffix in names:
        if suffix or other.target != source or not is_mistyped(task_id, other.task_id):
            continue
        if keeps_digits and sorted(filter(str.isdigit, task_id)) != sorted(filter(str.isdigit, other.task_id)):
            continue
        waiting = handoffs.read(team.folder, other)
        if waiting is not None and waiting.kind is ReceiptKind.DISPATCH:
            raise MistypedTask(
                say(
                    "Nobody asked {source} under the task id {task_id}; did you mean {near}, which {seat} waits for?",
                    source=source,
                    task_id=task_id,
                    near=other.task_id,
                    seat=waiting.reply_to,
                ),
                hint=_CONFIRM,
            )


def command_to_settle(team: Team, asked: Receipt) -> str:
    """Return the command that settles a question to people, with its choices."""
    content = asked.fields.get(PAYLOAD)
    return resolve_command(
        asked.name.task_id, team.project, DecisionPayload(content if isinstance(content, dict) else {})
    )


def asker_of(team: Team, task_id: str, source: str) -> str:
    """Return who wants the answer: an open dispatch goes first. Raises CompletionRefused when nothing was dispatched."""
    found = [pair for pair in dispatches_to(team.folder, task_id, source) if pair[0].kind is ReceiptKind.DISPATCH]
    if not found:
        if source != OPERATOR:
            team.profile.require_seat(source)
        raise CompletionRefused(
            say(
                "It is unknown to whom {source} answers {task_id}: no dispatch to it is on disk.",
                source=source,
                task_id=task_id,
            ),
            hint=say("Name it with --target."),
        )
    return max(found, key=lambda pair: (pair[1], pair[0].text("assigned_at")))[0].reply_to


@value
class FoundDispatches:
    """Dispatches to a seat, the seats of each project, their folders, and sentences on what could not be read."""

    dispatches: list[AddressedDispatch]
    rosters: dict[str, Collection[str]]
    folders: list[str]
    problems: list[str]


def find_dispatches(
    context: Context, seat: str, *, project: str, tasks: Collection[str], environ: Mapping[str, str]
) -> FoundDispatches:
    """Return the dispatches to `seat` in one project or all (""); consumed ones only of `tasks`. Problems are named."""
    found = FoundDispatches([], {}, [], [])
    for name in [project] if project else profile.projects(context.root):
        try:
            loaded = profile.load(context.root, name, environ)
            found.rosters[name] = loaded.seats
            found.folders.append(loaded.handoff_dir)
            for asked, is_open in _read_folder(context, loaded.handoff_dir, seat, tasks, found.problems):
                ends = (name, asked.name.task_id, asked.name.source, asked.reply_to)
                found.dispatches.append(AddressedDispatch(*ends, is_open=is_open))
        except OracleError as error:
            found.problems.append(error.sentence)
    return found


def _read_folder(
    context: Context, folder: str, seat: str, tasks: Collection[str], problems: list[str]
) -> Iterator[tuple[Receipt, bool]]:
    """Yield each dispatch to a seat with whether an answer to it is missing."""
    for name, suffix in _names(folder):
        wanted = suffix == "" or (suffix == CONSUMED and name.task_id in tasks)
        if name.target != seat or not wanted:
            continue
        try:
            receipt = handoffs.read(folder, name, suffix)
            if receipt is None or receipt.kind is not ReceiptKind.DISPATCH:
                continue
            has_response = os.path.lexists(responses.path_of(context.root, name.task_id))
            is_open = suffix == "" or not (has_response or is_answered(folder, receipt))
        except OracleError as error:
            problems.append(error.sentence)
            continue
        yield receipt, is_open


def _names(folder: str) -> Iterator[tuple[ReceiptName, str]]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        parsed = receipts.parse_file_name(name)
        if parsed is not None:
            yield parsed
