"""Watch the Root for changes through the operating system. The only module that imports watchfiles."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from oracle.app.context import Context, Root
from oracle.app.delivery import resume, team
from oracle.app.doctor.machine import file_system_of, is_remote
from oracle.app.root import RECORD_TREES
from oracle.domain.names.slugs import RECORD_SUFFIXES
from oracle.errors import OracleError
from oracle.store.daemon.state import PROBE
from oracle.wording import say

STEP_MS, DEBOUNCE_MS = 100, 200
"""Milliseconds without a change before changes are reported, and the longest time until they are."""

_WAKE_MS = 5_000


@dataclass(slots=True)
class Changes:
    """What changed: records, folders with an edited file, and the queue."""

    records: bool = False
    edited: set[str] = field(default_factory=set)
    queue: bool = False
    probe: bool = False

    def add(self, root: Root, path: str, *, is_edit: bool) -> None:
        """Add one change. Leases, locks and temporary files do not count."""
        inside = path.removeprefix(root.path + "/")
        name = path.rpartition("/")[2]
        if inside.startswith(tuple(f"{tree}/" for tree in RECORD_TREES)) or inside in RECORD_TREES:
            self.records = True
            if is_edit and name.endswith(RECORD_SUFFIXES) and name[0] != ".":
                self.edited.add(inside.rpartition("/")[0])
        elif path.startswith(root.probe):
            self.probe = self.probe or name == PROBE
        elif name[0] != "." and name.endswith((".json", ".consumed", ".toml")):
            self.queue = True


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
    """Return why the system does not report changes below the Root, "" if its file system supports that."""
    kind = file_system_of(root.path)
    if is_remote(kind):
        return say("{path} is on {kind}, which does not report changes made elsewhere", path=root.path, kind=kind)
    return ""


def folders_to_watch(context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders to watch: those that exist, and those that do not exist yet.

    They hold records, inbox, task trees, profiles and the probe. A folder below another one is covered by it.
    """
    root = context.root
    wanted = [
        *map(root.join, RECORD_TREES),
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
    found = []
    for project in resume.projects(context):
        try:
            found.append(team.open_team(context, project).folder)
        except OracleError:  # the queue reports it
            continue
    return found


def signature(paths: Collection[str]) -> tuple[tuple[str, int], ...]:
    """Return a value that changes when a name in one of these folders does."""
    found = []
    for path in paths:
        try:
            found.append((path, os.stat(path).st_mtime_ns))
        except OSError:
            found.append((path, 0))
    return tuple(found)
