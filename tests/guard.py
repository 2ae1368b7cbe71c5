"""Tell a test that stays in its temporary world from one that leaves it, by the interpreter's audit events.

Touching the real home, reaching for the network or talking to the user's tmux server raises inside the test *and* is
kept in `violations`, since the code under test may swallow the error. Programs that a test starts are out of sight;
what keeps them in is the environment they inherit.
"""

from __future__ import annotations

import ipaddress
import os
import pwd
import socket
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class OutsideTouched(RuntimeError):
    """A test reached out of its temporary world."""


# Events that change something on disk: which of their arguments name it, and which is the folder that a name is relative to.
CHANGES = {
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "shutil.rmtree": ((0, 1),),
    "sqlite3.connect": ((0, None),),
}
READS = frozenset({"os.listdir", "os.scandir"})
SENDS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
JUDGED = frozenset({"open", "subprocess.Popen", *CHANGES, *READS, *SENDS, *LOOKUPS})
WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Folders of the real home that belong to running teams: even a look into them makes a test depend on the machine.
PRIVATE = (".agents", ".agent-runtime", ".claude", ".clawseat", ".codex", ".openclaw")


def spellings(*paths: str | os.PathLike[str] | None) -> frozenset[str]:
    """Return the folders as they are named and as they are once links are followed; the file system's top is none."""
    names = [os.path.abspath(path) for path in paths if path]
    return frozenset({*names, *map(os.path.realpath, names)} - {os.sep})


class Guard:
    """Decide, for each audit event, whether it leaves the test's world; `violations` keeps what did."""

    def __init__(self) -> None:
        self.active = False
        self.violations: list[str] = []
        self.disk: int | None = None
        self.homes = tuple(spellings(pwd.getpwuid(os.getuid()).pw_dir, os.path.expanduser("~")))
        self.allowed = spellings(
            CHECKOUT, tempfile.gettempdir(), sys.prefix, sys.base_prefix, os.environ.get("PYTHONPYCACHEPREFIX")
        )

    def enter(self, world: str) -> None:
        """Begin to judge. The disk of the temporary world is known to hold no home, if it holds none."""
        device = os.stat(world).st_dev
        homes = {os.stat(home).st_dev for home in self.homes if os.path.isdir(home)}
        self.disk = None if device in homes else device
        self.active = True

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.active or event not in JUDGED:
            return
        sentence = self.judge(event, args)
        if sentence:
            self.violations.append(sentence)
            raise OutsideTouched(sentence)

    def judge(self, event: str, args: tuple[Any, ...]) -> str:
        if event == "open":
            return self.judge_open(*args)
        if event in CHANGES:
            return self.judge_changes(event, args)
        if event in READS:
            return self.judge_read(event, args[0])
        return judge_tmux(args) if event == "subprocess.Popen" else judge_socket(event, args)

    def judge_open(self, path: Any, mode: str | None, flags: int) -> str:
        folder = OPENING.folder
        if self.is_below(folder, path) if folder is not None else self.is_elsewhere(path):
            return ""
        path = placed(path, folder)
        writes = flags & WRITE_FLAGS or (mode and any(letter in mode for letter in "wax+"))
        return self.judge_change("open for writing", path) if writes else self.judge_read("open", path)

    def is_elsewhere(self, path: Any) -> bool:
        """Tell in no time that a path lies in no home, as most do; a False says nothing."""
        return (
            type(path) is str
            and path[:1] == os.sep
            and not path.startswith(self.homes)
            and ".." not in path
            and "//" not in path
            and "/./" not in path
        )

    def is_below(self, folder: int, path: Any) -> bool:
        """Tell in no time that a path leads down from an open folder on a disk without homes; a False says nothing."""
        return (
            self.disk is not None
            and type(path) is str
            and path[:1] != os.sep
            and ".." not in path
            and os.fstat(folder).st_dev == self.disk
        )

    def judge_changes(self, event: str, args: tuple[Any, ...]) -> str:
        """Judge each path that an event changes, but for those that are known to be in no home."""
        for path, folder in named(event, args):
            sentence = (
                "" if folder >= 0 and self.is_below(folder, path) else self.judge_change(event, placed(path, folder))
            )
            if sentence:
                return sentence
        return ""

    def judge_change(self, event: str, path: Any) -> str:
        if self.is_elsewhere(path):
            return ""
        name = absolute(path)
        return f"{event} in the real home: {name}" if name and self.owner(name) in self.homes else ""

    def judge_read(self, event: str, path: Any) -> str:
        if self.is_elsewhere(path):
            return ""
        name = absolute(path)
        home = self.owner(name) if name else ""
        if home not in self.homes or os.path.relpath(name, home).split(os.sep)[0] not in PRIVATE:
            return ""
        return f"{event} in the real home: {name}"

    def owner(self, name: str) -> str:
        """Return the innermost of the known folders that holds `name`: a checkout inside the home is no part of it."""
        holders = [top for top in (*self.homes, *self.allowed) if name == top or name.startswith(top + os.sep)]
        return max(holders, key=lambda top: (len(top), top in self.allowed), default="")


class _Opening(threading.local):
    folder: int | None = None


OPENING = _Opening()
"""The folder that the running call of `os.open` starts from: its audit event does not tell."""


def watch_opening() -> None:
    """Keep the `dir_fd` of each `os.open` for the event that it raises."""
    really = os.open

    def opening(*args: Any, dir_fd: int | None = None, **named: Any) -> int:
        if dir_fd is None:
            return really(*args, **named)
        OPENING.folder = dir_fd
        try:
            return really(*args, dir_fd=dir_fd, **named)
        finally:
            OPENING.folder = None

    os.open = opening


def named(event: str, args: tuple[Any, ...]) -> Iterator[tuple[Any, int]]:
    """Yield each path that an event changes, with the open folder that it is relative to, -1 for none."""
    for name, folder in CHANGES[event]:
        start = args[folder] if folder is not None and len(args) > folder else None
        yield args[name], -1 if start is None else start


def changed(event: str, args: tuple[Any, ...]) -> list[Any]:
    """Return the paths that an event changes."""
    return [placed(path, folder) for path, folder in named(event, args)]


def placed(path: Any, folder: int | None) -> Any:
    """Return a path that is relative to an open folder as one that is not."""
    if folder is None or folder < 0 or not isinstance(path, (str, bytes, os.PathLike)):
        return path
    return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(path))


def absolute(path: Any) -> str:
    """Return a path as text, or nothing for a file descriptor and for a database in memory."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return ""
    name = os.fsdecode(path)
    if name.startswith("file:"):
        name = name[5:].split("?")[0]
    if not name or name == ":memory:":
        return ""
    try:
        return os.path.abspath(name)
    except FileNotFoundError:  # the current folder is gone, and with it what a relative path could reach
        return ""


def judge_socket(event: str, args: tuple[Any, ...]) -> str:
    if event in SENDS:
        family, address = args[0].family, args[-1]
        if family in {socket.AF_INET, socket.AF_INET6} and address and not is_loopback(address[0]):
            return f"{event} to the network: {address[0]}"
    if event in LOOKUPS and not is_loopback(args[0]):
        return f"{event} asks the network: {args[0]}"
    return ""


def is_loopback(host: Any) -> bool:
    name = os.fsdecode(host) if host else "localhost"
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name in {"localhost", socket.gethostname()}


def judge_tmux(args: tuple[Any, ...]) -> str:
    """Find a tmux that would talk to the user's server: no socket named, and an environment that leads there."""
    program, words, _cwd, given = args
    words = [words] if isinstance(words, (str, bytes, os.PathLike)) else list(words or [program])
    if "tmux" not in {os.path.basename(os.fsdecode(word)) for word in (program, words[0])}:
        return ""
    environment = os.environ if given is None else given
    names_socket = any(os.fsdecode(word)[:2] in {"-L", "-S"} for word in words[1:])
    if names_socket or ("TMUX_TMPDIR" in environment and "TMUX" not in environment):
        return ""
    return f"the user's tmux server: {words}"


def install() -> Guard:
    """Start listening, for the life of the process: an audit hook can't be taken out, only put to sleep."""
    guard = Guard()
    watch_opening()
    sys.addaudithook(guard)
    return guard
