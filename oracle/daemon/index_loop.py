"""Keep the index up to date: watch the Root, follow changes, stat every file now and then, measure the lag.

The only module that imports watchfiles.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle.app.context import Context, Root
from oracle.app.delivery import team
from oracle.app.doctor.machine import file_system_of, is_remote
from oracle.app.root import RECORD_TREES, read_index_state
from oracle.domain import timestamps
from oracle.domain.names import FOREIGN, RECORD_SUFFIXES
from oracle.errors import DiskFailure, LockTimeout
from oracle.store.daemon.state import PROBE
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context
    from oracle.daemon.stats import Stats


STEP_MS, DEBOUNCE_MS = 100, 200
"""Milliseconds without a change before changes are reported, and the longest time until they are."""

_WAKE_MS = 5_000

FLOOD = 1_000
"""From this number of changes in one report, others may be lost: the system drops what its queue (16,384) cannot hold."""


@dataclass(slots=True)
class Changes:
    """What changed: records, folders with an edited file, and the queue; and whether more may have than was reported."""

    records: bool = False
    edited: set[str] = field(default_factory=set)
    queue: bool = False
    probe: bool = False
    is_flood: bool = False
    paths: set[str] = field(default_factory=set, compare=False)
    """What changed, as absolute paths."""
    is_partial: bool = False
    """Whether something changed of which nobody reported the path."""

    @property
    def news(self) -> set[str] | None:
        """The absolute paths that changed, None if they are not known."""
        return None if self.is_flood or self.is_partial else self.paths

    def add(self, root: Root, path: str, *, is_edit: bool) -> None:
        """Add one change. Leases, locks and temporary files do not count."""
        inside = root.in_source(path) or path.removeprefix(root.path + "/")
        name = path.rpartition("/")[2]
        if inside.startswith((FOREIGN, *(f"{tree}/" for tree in RECORD_TREES))) or inside in RECORD_TREES:
            self.records = True
            self.paths.add(path)
            if is_edit and name.endswith(RECORD_SUFFIXES) and name[0] != ".":
                self.edited.add(inside.rpartition("/")[0])
        elif path.startswith(root.probe):
            self.probe = self.probe or name == PROBE
        elif name[0] != "." and name.endswith((".json", ".consumed", ".toml")):
            self.queue = True
            self.paths.add(path)


class Watcher:
    """A thread that listens and calls back on a change. `fault` says why it does not listen."""

    def __init__(self, root: Root, notify: Callable[[], None]) -> None:
        self._root = root
        self._notify = notify
        self._lock = threading.Lock()
        self._changes = Changes()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.paths: tuple[str, ...] = ()
        self.fault = ""

    @property
    def is_listening(self) -> bool:
        """Return whether the thread is listening."""
        return self._thread is not None and self._thread.is_alive() and not self.fault

    def start(self, paths: Iterable[str]) -> None:
        """Listen to these folders and everything below them."""
        self.stop()
        self.paths, self.fault = tuple(paths), ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, args=(self.paths, self._stop), name="watcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_WAKE_MS / 1000)
            self._thread = None

    def take(self) -> Changes:
        """Return what changed since the last call."""
        with self._lock:
            found, self._changes = self._changes, Changes()
        return found

    def _listen(self, paths: tuple[str, ...], stop: threading.Event) -> None:
        try:
            from watchfiles import Change, watch

            for batch in watch(
                *paths,
                watch_filter=None,
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                rust_timeout=_WAKE_MS,
                stop_event=stop,
                raise_interrupt=False,
                force_polling=False,
                ignore_permission_denied=True,
            ):
                with self._lock:
                    self._changes.is_flood |= len(batch) >= FLOOD
                    for change, path in batch:
                        self._changes.add(self._root, path, is_edit=change is Change.modified)
                self._notify()
        except ImportError:
            self.fault = say("watchfiles is not installed")
        except (OSError, RuntimeError) as error:  # RuntimeError comes from its native part
            self.fault = _why(error)
        if not stop.is_set():
            self.fault = self.fault or say("it stopped unexpectedly")
            self._notify()


def _why(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "limit" in text.lower() or getattr(error, "errno", 0) in (24, 28):
        return say(
            "the system has no more file watches (fs.inotify.max_user_watches or max_user_instances): {text}",
            text=text,
        )
    return text or type(error).__name__


def why_deaf(root: Root) -> str:
    """Return why the system does not report changes below the Root or a source, "" if their file systems support that."""
    for path in (root.path, *(one.folder for one in root.load_sources().values() if not one.why_not)):
        kind = file_system_of(path)
        if is_remote(kind):
            return say("{path} is on {kind}, which does not report changes made elsewhere", path=path, kind=kind)
    return ""


def folders_to_watch(context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders to watch: those that exist, and those that do not exist yet.

    They hold records, inbox, task trees, profiles and the probe, or are sources. A folder below another one is covered by it.
    """
    root = context.root
    wanted = [
        *map(root.join, RECORD_TREES),
        *(source.folder for source in root.load_sources().values() if not source.why_not),
        root.inbox,
        root.probe,
        root.tasks,
        root.profiles,
        *handoff_folders(context),
    ]
    there = [path for path in wanted if os.path.isdir(path)]
    outer = [path for path in dict.fromkeys(wanted) if not any(path.startswith(other + "/") for other in there)]
    return tuple(path for path in outer if path in there), tuple(path for path in outer if path not in there)


def handoff_folders(context: Context) -> list[str]:
    """Return the receipt folder of each project with a readable profile."""
    return [one.folder for one in team.open_teams(context)]


def signature(paths: Collection[str]) -> tuple[tuple[str, int], ...]:
    """Return a value that changes when a name in one of these folders does."""
    found = []
    for path in paths:
        try:
            found.append((path, os.stat(path).st_mtime_ns))
        except OSError:
            found.append((path, 0))
    return tuple(found)


LOOK_EVERY = 10.0
"""Seconds between two scans of the folders. Every file is scanned as often while that is cheap or nothing is watched."""

SHARE = 1 / 400
"""Share of a core that scanning every file may cost while the watcher works."""

LONGEST = 600.0
"""Seconds after which every file is scanned, whatever it costs."""

PATIENCE, LONGEST_WAIT = 0.25, 30.0
"""Seconds to wait for the lock before reading what others indexed, and before logging that others hold it."""

NEVER = float("-inf")
"""A time in the past: scan now."""


class IndexLoop:
    """Keep the index of a Root up to date. Used by one thread."""

    def __init__(self, open_context: Callable[[], Context], stats: Stats, log: logging.Logger) -> None:
        self._open = open_context
        self._stats = stats
        self._log = log
        self._context: Context | None = None
        self._cost = 0.0
        self._looked = self._stated = NEVER
        self._edited: set[str] = set()
        self._seen_ns = time.time_ns()
        self._was_there = False
        self._waited = 0.0
        self._version = (-1, -1)

    def close(self) -> None:
        """Close the index. It is opened again when needed."""
        if self._context is not None:
            self._context.close()
            self._context = None

    def reset(self) -> None:
        """Scan everything on the next turn: the clock jumped, or the Root or `_state` was replaced."""
        self._looked = self._stated = NEVER
        self._was_there = False

    @property
    def version(self) -> tuple[int, int]:
        """What differs once somebody changed the index."""
        return self._version

    @property
    def is_current(self) -> bool:
        """Return whether everything that was reported is in the index."""
        return not self._edited and self._looked > NEVER

    def every(self, *, is_watched: bool) -> float:
        """Return the seconds between two scans of every file. They grow with the cost as long as the watcher works."""
        return min(LONGEST, max(LOOK_EVERY, self._cost / SHARE)) if is_watched else max(LOOK_EVERY, self._cost * 10)

    def rest(self, *, is_watched: bool) -> float:
        """Return the seconds until the next scan is due."""
        now = time.monotonic()
        return max(0.0, min(self._looked + LOOK_EVERY, self._stated + self.every(is_watched=is_watched)) - now)

    def turn(self, edited: set[str], *, is_changed: bool, is_watched: bool) -> None:
        """Scan what changed, and everything when it is due. Raises what a reconcile raises."""
        self._edited |= edited
        now = time.monotonic()
        is_full = now >= self._stated + self.every(is_watched=is_watched)
        if not (is_changed or self._edited or is_full or now >= self._looked + LOOK_EVERY or not is_watched):
            return
        self._looked = NEVER  # a failed turn stays due until everything has succeeded
        context = self._opened()
        self._name_missing(context)
        began = time.thread_time()  # CPU time: on a busy machine, waiting costs nothing
        is_done = context.index.follow(full=is_full, doubted=self._edited, patience=PATIENCE)
        if context.index.database.in_memory:
            self.close()
            raise DiskFailure(
                say("{path} could not be written: it is read-only.", path=context.root.path),
                hint=say("Make it writable."),
            )
        if not is_done:
            self._measure(context)  # the holder of the lock indexes too
            self._wait_for_lock(context)
            return
        self._edited.clear()
        self._waited = 0.0
        self._looked = time.monotonic()
        if is_full:
            self._stated = self._looked
            self._cost = time.thread_time() - began
            self._stats.count("full_stats")
        self._stats.count("looks")
        self._measure(context)

    def _wait_for_lock(self, context: Context) -> None:
        """Make the next turn due at once. Log it if others have held the lock for long."""
        self._waited += PATIENCE
        if self._waited >= LONGEST_WAIT:
            self._waited = 0.0
            raise LockTimeout(context.index.stale, hint=say("If the holder hangs, end that process."))

    def _opened(self) -> Context:
        if self._context is None:
            self._context = self._open()
        return self._context

    def _name_missing(self, context: Context) -> None:
        is_there = os.path.exists(context.root.database)
        if self._was_there and not is_there:
            self._log.warning("the index was deleted; rebuilding it", extra={"event": "index-deleted"})
            self.reset()
        self._was_there = True

    def _measure(self, context: Context) -> None:
        """Record the lag of every record that changed since the last turn. It is an upper bound where another process indexed.

        If the index is damaged, the next turn repairs it at once.
        """
        now_ns = time.time_ns()
        state = read_index_state(context, self._seen_ns, known=self._version)
        if state is None:
            self._looked = NEVER
            return
        if state.version == self._version:
            return
        self._version = state.version
        changed = [one for one in state.changed if one <= now_ns]
        for moment in changed:
            self._stats.note_lag((now_ns - moment) / 1e9)
        self._stats.count("records_indexed", len(changed))
        self._seen_ns = max([*changed, min(self._seen_ns, now_ns)])
        content = {
            "records": state.records,
            "changed_at": timestamps.from_mtime(now_ns),
            "full_stat_cost_seconds": round(self._cost, 4),
        }
        self._stats.set("index", content)
