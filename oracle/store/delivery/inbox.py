"""The inbox: work that was begun, wake-ups that wait and questions that failed, one file each under `_state/inbox/`.

An entry is written before its work begins, so that the next process can finish it. Its name is a hash of its subject, so the
same entry twice is one file. A process takes an entry by renaming it; only one of several succeeds (`entries` notes which).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from oracle.domain.values import replace, value
from oracle.errors import DiskFailure, HandoffFailed, LockTimeout, OracleError
from oracle.store.delivery import entries
from oracle.store.delivery.entries import LONGEST_DELAY, InboxEntry, InboxKind, parse, render
from oracle.store.disk import files, folders, steps
from oracle.store.root.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

MAX_TRIES = 5
FIRST_DELAY = 2.0
LEASE = 60.0
"""Seconds after which a taken entry is free again, though the process that took it may live on another host."""

_LONGEST_ERROR = 500
"""Characters of an error that are kept."""

LONGEST_WORK = 120.0
"""Seconds after which an intent counts as abandoned although its process lives: each of its locks is waited for at most 30 s."""

KEPT = (DiskFailure, HandoffFailed, LockTimeout)
"""Failures after which an intent stays: the same work may succeed later."""

_NAME = re.compile(r"(?P<kind>intent|wake|query)-[0-9a-f]{24}\.json(?P<suffix>\.taken|\.poison)?")


@value
class Inbox:
    """What the inbox holds: entries that wait, by due time; entries in work; entries given up; sentences on unreadable files."""

    waiting: tuple[InboxEntry, ...] = ()
    taken: tuple[InboxEntry, ...] = ()
    poisoned: tuple[InboxEntry, ...] = ()
    problems: tuple[str, ...] = ()

    def due(self, now: float) -> tuple[InboxEntry, ...]:
        """Return the waiting entries that are due, earliest first."""
        return tuple(entry for entry in self.waiting if entry.is_due(now))


def add(root: Root, entry: InboxEntry) -> bool:
    """Add an entry unless one of its subject is there. Returns whether it is new. Raises DiskFailure."""
    path = _path(root, entry)
    if os.path.exists(path + ".taken") or os.path.exists(path + ".poison"):
        return False
    return steps.create_once(path, render(entry))


def take(root: Root, entry: InboxEntry, now: float) -> bool:
    """Take a waiting entry to work on it; only one of several callers gets True. Raises DiskFailure."""
    path = _path(root, entry)
    if not os.path.lexists(path):
        return False
    entries.note(path)
    try:
        files.set_time(path, int(now * 1e9))  # the lease starts before the rename, so that it never looks expired
        files.rename(path, path + ".taken")
    except OSError as error:
        entries.forget(path)
        if isinstance(error, FileNotFoundError):
            return False
        raise files.disk_failure(path, error) from error
    return True


def finish(root: Root, entry: InboxEntry) -> None:
    """Remove an entry whose work is done. It is not synced: done again after a crash, it changes nothing. Raises DiskFailure."""
    files.remove(_path(root, entry) + ".taken")
    files.remove(_path(root, entry))
    entries.forget(_path(root, entry))


def defer(
    root: Root, entry: InboxEntry, *, now: float, error: str, most: int = MAX_TRIES, chance: Random | None = None
) -> InboxEntry:
    """Put a taken entry back for later, or give it up after `most` tries. Returns the changed entry.

    It waits 2 s, 4 s, 8 s … up to ten minutes, shortened at random by up to half. Raises DiskFailure.
    """
    import random

    tries = entry.tries + 1
    jitter = (chance or random.Random()).random()  # noqa: S311
    delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(tries - 1, 32)) * (0.5 + jitter / 2)
    later = replace(entry, tries=tries, due_at=now + delay, last_error=_bounded(error))
    path = _path(root, entry)
    with steps.folders_synced_once():
        steps.replace(f"{path}.poison" if tries >= most else path, render(later))
        steps.remove(f"{path}.taken")
        if tries >= most:
            steps.remove(path)
    entries.forget(path)
    return later


def revive(root: Root, entry: InboxEntry, now: float) -> None:
    """Make an entry that was given up wait again, due now, with no tries."""
    path = _path(root, entry)
    steps.replace(path, render(replace(entry, tries=0, due_at=now, last_error="")))
    steps.remove(f"{path}.poison")


def find(root: Root, entry: InboxEntry) -> InboxEntry | None:
    """Return the entry of this subject as it is now, whether it waits, is taken or was given up; None when there is none."""
    path = _path(root, entry)
    found = (_read(path + suffix, []) for suffix in ("", ".taken", ".poison"))
    return next((one for one in found if one is not None), None)


def read(root: Root, now: float, kind: InboxKind | None = None) -> Inbox:
    """Return the content of the inbox, of one kind if given. Entries taken more than LEASE seconds ago wait again."""
    groups: dict[str, list[InboxEntry]] = {"": [], ".taken": [], ".poison": []}
    problems: list[str] = []
    for name, suffix in _names(root):
        if kind is not None and not name.startswith(f"{kind}-"):
            continue
        path = f"{root.inbox}/{name}"
        if suffix == ".taken" and _is_over(path, now):
            path, suffix = _give_back(root, path, now), ""
        entry = _read(path, problems) if path else None
        if entry is not None:
            groups[suffix].append(entry)
    waiting, taken, poisoned = (tuple(sorted(group, key=lambda one: one.due_at)) for group in groups.values())
    return Inbox(waiting, taken, poisoned, tuple(problems))


def set_aside(root: Root) -> tuple[tuple[str, InboxEntry], ...]:
    """Return (path, entry) of every entry that was given up. Changes nothing."""
    paths = [f"{root.inbox}/{name}" for name, suffix in _names(root) if suffix == ".poison"]
    return tuple((path, entry) for path in paths for entry in [_read(path, [])] if entry is not None)


# Intents: work that must be finished once it was begun -----------------------------------------------------------------


def begin(
    root: Root, what: str, subject: tuple[str, ...], content: Mapping[str, object], now: float
) -> InboxEntry | None:
    """Write an intent before its work begins; return None when another process wrote the same. Raises DiskFailure.

    It names this process and thread, so that others leave it alone as long as they live.
    """
    entry = intent(what, subject, content, now)
    return entry if add(root, entry) else None


def intent(what: str, subject: tuple[str, ...], content: Mapping[str, object], now: float) -> InboxEntry:
    """Return the entry of an intent of this thread."""
    fields = {"do": what, "owner": entries.myself(), "content": dict(content)}
    return InboxEntry(InboxKind.INTENT, (what, *subject), fields, due_at=now)


@contextmanager
def until_done(root: Root, entry: InboxEntry | None) -> Iterator[None]:
    """Do the work of an intent in a block. Afterwards the intent is removed, unless the work failed for a reason in KEPT.

    None is the intent of another process, which removes it. The folders that the block changes are synced once, at its end: up
    to then the intent says what to do again.
    """
    try:
        with steps.folders_synced_once():
            yield
    except KEPT:
        raise
    except OracleError:
        if entry is not None:
            finish(root, entry)
        raise
    if entry is not None:
        finish(root, entry)


def is_worked_on(entry: InboxEntry, now: float) -> bool:
    """Return whether another thread of a living process works on an intent."""
    owner = entry.fields.get("owner")
    if not isinstance(owner, dict) or now - entry.due_at >= LONGEST_WORK:
        return False
    return owner != entries.myself() and entries.is_alive(owner)


def owner_of(root: Root, entry: InboxEntry) -> str:
    """Return the process that works on an entry, for a person, "" if that is not known."""
    owner = entry.fields.get("owner")
    owners = [*entries.of(_path(root, entry)), *([owner] if isinstance(owner, dict) else [])]
    return next((f"{one.get('pid')} on {one.get('host')}" for one in owners if entries.is_alive(one)), "")


# Files ----------------------------------------------------------------------------------------------------------------


def _names(root: Root) -> Iterator[tuple[str, str]]:
    names = folders.names_in(root.inbox)
    for path in dict.fromkeys(filter(None, map(entries.noted_entry, names))):
        if path not in names and f"{path}.taken" not in names:
            entries.forget_dead(f"{root.inbox}/{path}")
    for name in names:
        found = _NAME.fullmatch(name)
        if found:
            yield name, found["suffix"] or ""


def _is_over(path: str, now: float) -> bool:
    """Return whether nobody works on a taken entry any more. The clock was set back if it is from a time to come."""
    try:
        age = now - os.stat(path).st_mtime
    except OSError:
        return False
    owners = entries.of(path.removesuffix(".taken"))
    return not -LEASE <= age <= LEASE or (bool(owners) and not any(map(entries.is_alive, owners)))


def _give_back(root: Root, path: str, now: float) -> str:
    """Rename a taken entry to its waiting name and return that, or "" if its work is over."""
    free = path.removesuffix(".taken")
    with steps.FileLock(f"{root.inbox}/.inbox"):
        if not _is_over(path, now):
            return ""
        try:
            if os.path.exists(free):
                files.unlink(path)  # its taker put it back and died before its last step
                return ""
            files.rename(path, free)
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise files.disk_failure(path, error) from error
        finally:
            entries.forget_dead(free)
    return free


def _path(root: Root, entry: InboxEntry) -> str:
    return f"{root.inbox}/{entry.file_name}"


def _bounded(error: str) -> str:
    """Return an error that may be stored: short, without secrets. It is plain text if either had to be changed."""
    from oracle.domain.safety.secrets import redact

    text = redact(error)[0][:_LONGEST_ERROR]
    return error if text == error else text


def _read(path: str, problems: list[str]) -> InboxEntry | None:
    try:
        raw = steps.read(path)
    except DiskFailure as error:
        problems.append(error.sentence)
        return None
    if raw is None:
        return None
    entry = parse(raw)
    if entry is None or not os.path.basename(path).startswith(entry.file_name):
        problems.append(say("{path} is not an inbox entry; remove it if nothing waits for it.", path=path))
        return None
    return entry


# Intents kept outside of a Root that can't be written, until it can ----------------------------------------------------

_OWNERS_ALONE = 0o700


def keep_outside(root: Root, entry: InboxEntry) -> str:
    """Keep an entry outside of the Root. Return its path, "" if no folder takes it."""
    data = json.dumps({"root": os.path.realpath(root.path), "entry": render(entry).decode("ascii")}).encode()
    for folder in _folders():
        path = f"{folder}/{_root_prefix(root)}{entry.file_name}"
        with suppress(OSError, DiskFailure):
            os.makedirs(folder, _OWNERS_ALONE, exist_ok=True)
            if _is_mine(folder):
                steps.create_once(path, data)
                return path
    return ""


def is_anything_outside(root: Root) -> bool:
    """Return whether an entry of a Root is kept outside of it."""
    return any(_kept_outside(root))


def bring_back(root: Root) -> list[str]:
    """Move what was kept for a Root into its inbox. Return the paths that had to stay, since it still can't be written."""
    left = []
    for path in list(_kept_outside(root)):
        try:
            content = json.loads(steps.read(path) or b"")
            entry = parse(content["entry"].encode()) if content["root"] == os.path.realpath(root.path) else None
        except (DiskFailure, ValueError, TypeError, KeyError, AttributeError):
            continue
        if entry is None:
            continue
        try:
            add(root, entry)
            steps.remove(path)
        except DiskFailure:
            left.append(path)
    return left


def _kept_outside(root: Root) -> Iterator[str]:
    for folder in _folders():
        for name in folders.names_in(folder):
            if name.startswith(_root_prefix(root)) and _is_mine(folder):
                yield f"{folder}/{name}"


def _folders() -> list[str]:
    """Return the folders outside of a Root, for their owner alone: in `$XDG_RUNTIME_DIR`, and in the temporary folder."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    temporary = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - the folder in it is checked
    return [*([f"{runtime}/memory-oracle"] if runtime else []), f"{temporary}/memory-oracle-{os.getuid()}"]


def _is_mine(folder: str) -> bool:
    """Return whether a folder belongs to this user and nobody else may enter it."""
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _root_prefix(root: Root) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(root.path))).hexdigest()[:12] + "-"
