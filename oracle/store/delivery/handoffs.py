"""Receipts on disk: publish, complete, consume, acknowledge. `leases` says who works on a dispatch.

Every transition is one creation or one rename. It can be repeated: it checks what exists and does the rest. A step that
reads one name and changes another holds the lock of the folder. The write lock of the Root is never needed. Answering
needs no lock: of any number of processes one creates the completion.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum

from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CLAIM, CONSUMED, SUPERSEDED, Receipt, ReceiptKind, ReceiptName
from oracle.errors import Conflict, DiskFailure, HandoffFailed, NewerVersion, NotFound, TaskAlreadyQueued
from oracle.store.disk import folders, steps
from oracle.wording import Sentence, say

_HASH_DIGITS = 12


class Outcome(StrEnum):
    """The result of a step: done now, or done before."""

    CREATED = "created"
    ALREADY = "already"


def path_of(folder: str, name: ReceiptName, suffix: str = "") -> str:
    """Return the absolute path of a receipt, or of the file beside it with that suffix."""
    return f"{folder}/{name.file_name}{suffix}"


@contextmanager
def failing(what: Sentence) -> Iterator[None]:
    """Convert disk errors into HandoffFailed (exit code 3)."""
    try:
        yield
    except DiskFailure as error:
        raise HandoffFailed(
            say("{what} failed. {sentence}", what=what, sentence=error.sentence), hint=error.hint
        ) from error


def read(folder: str, name: ReceiptName, suffix: str = "") -> Receipt | None:
    """Return a receipt, readable or not, or None if it does not exist. Raises DiskFailure."""
    raw = steps.read(path_of(folder, name, suffix))
    return None if raw is None else receipts.read_receipt(name, raw)


def find(folder: str, name: ReceiptName) -> Receipt | None:
    """Return a receipt, or its `.consumed` file if only that is left, or None. Raises DiskFailure."""
    return read(folder, name) or read(folder, name, CONSUMED)


def names_of(folder: str, task_id: str) -> list[tuple[ReceiptName, str]]:
    """Return (name, suffix) of a task's receipts, consumed ones too, by name. A folder that cannot be listed has none."""
    names = folders.names_in(folder)
    parsed = (receipts.parse_file_name(name) for name in names if name.startswith(f"{task_id}__"))
    return [one for one in parsed if one is not None and one[1] in ("", CONSUMED) and one[0].task_id == task_id]


def open_names(folder: str) -> list[ReceiptName]:
    """Return the names of the receipts in a folder that were not consumed, sorted."""
    parsed = (receipts.parse_file_name(name) for name in folders.names_in(folder) if name.endswith(".json"))
    return [one[0] for one in parsed if one is not None]


def receipts_of(folder: str, task_id: str) -> Iterator[tuple[Receipt, str]]:
    """Yield (receipt, suffix) for `names_of`, consumed meanwhile or not. Only regular files are read. Raises DiskFailure."""
    names = names_of(folder, task_id)
    for name, listed in names:
        suffix = listed
        try:
            receipt = read(folder, name, suffix)
            if receipt is None and not suffix and (name, CONSUMED) not in names:
                suffix = CONSUMED
                receipt = read(folder, name, suffix)
        except steps.NotPlain:  # asks nothing; listings report it
            continue
        if receipt is not None:
            yield receipt, suffix


def has_completion(folder: str, task_id: str, seats: Collection[str]) -> bool:
    """Return whether a completion receipt of this task id, acknowledged or not, names a response or is of these seats."""
    for name, suffix in names_of(folder, task_id):
        try:
            found = read(folder, name, suffix)
        except DiskFailure:
            continue
        if found is None or found.kind is not ReceiptKind.COMPLETION:
            continue
        if found.text("response_path") or name.source in seats:
            return True
    return False


# Publish and complete -------------------------------------------------------------------------------------------------


def publish(folder: str, receipt: Receipt) -> Outcome:
    """Create a dispatch receipt. Returns ALREADY if the same dispatch is open.

    Raises TaskAlreadyQueued if another dispatch has its name or it was consumed before, HandoffFailed.
    """
    with failing(say("The dispatch of {task}", task=receipt.name.task_id)), folder_lock(folder):
        if read(folder, receipt.name, CONSUMED) is not None:
            raise _already_queued(receipt.name, say("was answered and consumed"))
        if steps.create_once(path_of(folder, receipt.name), receipts.render_receipt(receipt)):
            return Outcome.CREATED
        found = read(folder, receipt.name)
        if found is not None and receipts.say_the_same(found, receipt):
            return Outcome.ALREADY
        since = found.since if found else ""
        raise _already_queued(receipt.name, say("already exists @ {since}", since=since or say("an unknown time")))


def withdraw(folder: str, name: ReceiptName) -> None:
    """Remove a dispatch that this process published and could not complete. Raises HandoffFailed."""
    with failing(say("Withdrawing {name}", name=name.file_name)), folder_lock(folder):
        refuse_malformed(read(folder, name))
        steps.remove(path_of(folder, name))


def _already_queued(name: ReceiptName, what: Sentence) -> TaskAlreadyQueued:
    return TaskAlreadyQueued(
        say(
            "{target} has {task_id} already: {file_name} {what}.",
            target=name.target,
            task_id=name.task_id,
            file_name=name.file_name,
            what=what,
        ),
        hint=say("Choose another task id, or see `oracle handoffs show {task_id}`.", task_id=name.task_id),
        task_id=name.task_id,
    )


def complete(folder: str, receipt: Receipt) -> Outcome:
    """Create a completion receipt. Returns ALREADY if the same answer exists, acknowledged or not.

    An incomplete file with this name is kept aside. Raises Conflict for another answer, HandoffFailed.
    """
    with failing(say("The completion of {task}", task=receipt.name.task_id)):
        found = find(folder, receipt.name)
        if found is None and steps.create_once(path_of(folder, receipt.name), receipts.render_receipt(receipt)):
            return Outcome.CREATED
        found = found or read(folder, receipt.name)
        refuse_malformed(found, Conflict)
        if found is None or (found.kind is ReceiptKind.UNKNOWN and not found.fields):
            supersede(folder, receipt)
            return Outcome.CREATED
        if receipts.say_the_same(found, receipt):
            return Outcome.ALREADY
        raise Conflict(
            say(
                "{file_name} already holds another {kind}; it was not changed.",
                file_name=receipt.name.file_name,
                kind=found.kind or say("receipt"),
            ),
            hint=say("Deliver with --supersede to replace it and keep the old one."),
        )


def supersede(folder: str, receipt: Receipt) -> Outcome:
    """Replace a completion receipt. The old one is kept as `.superseded-<hash>` and its ACK ends.

    Raises Conflict for a malformed one, HandoffFailed.
    """
    path = path_of(folder, receipt.name)
    with failing(say("The completion of {task}", task=receipt.name.task_id)), folder_lock(folder):
        found = read(folder, receipt.name)
        if found is not None and receipts.say_the_same(found, receipt):
            return Outcome.ALREADY
        for suffix in ("", CONSUMED):
            refuse_malformed(read(folder, receipt.name, suffix), Conflict)
        for suffix in ("", CONSUMED):
            _keep_aside(folder, receipt.name, suffix)
        steps.remove(path + CONSUMED)
        steps.replace(path, receipts.render_receipt(receipt))
    return Outcome.CREATED


def _keep_aside(folder: str, name: ReceiptName, suffix: str) -> None:
    found = read(folder, name, suffix)
    if found is not None:
        raw = steps.read(path_of(folder, name, suffix)) or b""
        digest = receipts.fingerprint(found.fields or {"raw": raw.hex()})[:_HASH_DIGITS]
        steps.link_once(path_of(folder, name, suffix), path_of(folder, name, SUPERSEDED + digest))


# Consume and acknowledge ----------------------------------------------------------------------------------------------


def consume(folder: str, name: ReceiptName) -> bool:
    """Rename a receipt to `.consumed` and end its claim. Returns whether there was one. Raises HandoffFailed."""
    path = path_of(folder, name)
    with failing(say("Consuming {name}", name=name.file_name)), folder_lock(folder):
        found = read(folder, name)
        if found is not None:
            refuse_malformed(found)
            before = read(folder, name, CONSUMED)
            if before is not None and not receipts.say_the_same(found, before):
                _keep_aside(folder, name, CONSUMED)  # an earlier round: some tools dispatch a task id again
            steps.remove(path + CLAIM)  # first: nobody looks for the claim of a consumed dispatch
            steps.rename(path, path + CONSUMED)
    return found is not None


def acknowledge(folder: str, name: ReceiptName, changes: Mapping[str, object]) -> Outcome:
    """Record in a completion receipt that its reader has it (`consumed_at`, `consumed_ack`, …) and add the `.consumed` file.

    The first ACK is kept. Raises NotFound without a completion receipt, HandoffFailed.
    """
    with failing(say("The ACK of {task}", task=name.task_id)), folder_lock(folder):
        if read(folder, name, CONSUMED) is not None:
            return Outcome.ALREADY
        found = read(folder, name)
        if found is None:
            raise no_completion(name)
        if not found.text("consumed_at"):
            found = found.with_fields(changes)
            _rewrite(folder, found)
        steps.create_once(path_of(folder, name, CONSUMED), receipts.render_receipt(found))
    return Outcome.CREATED


def replaced_acks(folder: str, name: ReceiptName) -> set[str]:
    """Return the ACK lines of the completions that were replaced and kept as `.superseded-<hash>`. Raises DiskFailure."""
    start = f"{name.file_name}{SUPERSEDED}"
    kept = (one[len(name.file_name) :] for one in folders.names_in(folder) if one.startswith(start))
    found = (read(folder, name, suffix) for suffix in kept)
    return {one.text("consumed_ack") for one in found if one is not None}


def no_completion(name: ReceiptName) -> NotFound:
    """Return the error that there is nothing to acknowledge."""
    return NotFound(
        say("There is no completion receipt {file_name} to acknowledge.", file_name=name.file_name),
        hint=say("See `oracle handoffs show {task_id}`.", task_id=name.task_id),
    )


def amend(folder: str, name: ReceiptName, changes: Mapping[str, object]) -> bool:
    """Add facts (`notified_at`, …) to a receipt, consumed or not. Returns whether it exists. Raises HandoffFailed."""
    with failing(say("Amending {name}", name=name.file_name)), folder_lock(folder):
        found, suffix = read(folder, name), ""
        if found is None:
            found, suffix = read(folder, name, CONSUMED), CONSUMED
        if found is None or not found.fields:
            return False
        _rewrite(folder, found.with_fields(changes), suffix)
    return True


def refuse_malformed(receipt: Receipt | None, error: type[HandoffFailed | Conflict] = HandoffFailed) -> None:
    """Raise an error for a malformed receipt."""
    if receipt is not None and receipt.is_malformed:
        raise error(receipt.problems[0], hint=say("Correct or remove the file; it was not changed."))


def _rewrite(folder: str, receipt: Receipt, suffix: str = "") -> None:
    refuse_malformed(receipt)
    version = receipt.fields.get("schema_version", receipts.SCHEMA_VERSION)
    if isinstance(version, int) and version > receipts.SCHEMA_VERSION:
        raise NewerVersion(
            say(
                "{file_name} was written by a newer program (version {version}) and was not changed.",
                file_name=receipt.name.file_name,
                version=version,
            ),
            hint=say("Upgrade this program."),
        )
    steps.replace(path_of(folder, receipt.name, suffix), receipts.render_receipt(receipt))


def folder_lock(folder: str) -> steps.FileLock:
    """Return the lock of a folder, for steps that read one name and change another."""
    return steps.FileLock(f"{folder}/.receipts")
