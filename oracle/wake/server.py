"""Talk to a tmux server with a time limit on every answer and a lock for each pane.

libtmux's objects for the server and the pane list panes, read screens, paste and press keys. Its import costs as much as
all else in a wake-up, so it is imported only where a server listens.

Nothing passes through a shell, a key table or a format: words are arguments, texts are buffers, panes are named by id.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from oracle.domain.values import value
from oracle.wake.outcomes import NO_SERVER
from oracle.wake.screen import Screen
from oracle.wording import say

if TYPE_CHECKING:
    import libtmux
    from libtmux.common import tmux_cmd as LibtmuxReply

ANSWER_TIME = 1.5
"""Seconds that a server may take to answer. A healthy one takes a few milliseconds."""

_NONE_RUNS = re.compile(r"^no server running|^error connecting .*\((No such file or directory|Connection refused)\)$")
_POLL = 0.02
_PANE_FIELDS = (
    *("pane_id", "pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized", "pane_tty"),
    *("@oracle_seat", "pane_current_command", "session_name"),
)
_SCREEN_FIELDS = ("cursor_x", "cursor_y", "pane_width", "pane_current_command", "pane_title")


class Unanswered(Exception):
    """The server runs but does not answer in time."""


class NoServer(Exception):
    """No tmux server can be reached. The text is the reason."""


class PaneGone(Exception):
    """The pane was closed between two commands."""


@value
class Pane:
    """One pane as the server describes it. `seat` is the value of the option `@oracle_seat`."""

    pane_id: str
    is_dead: bool
    in_mode: bool
    ignores_input: bool
    is_synchronized: bool
    tty: str
    seat: str
    command: str
    session: str


class Server:
    """One tmux server, named by its socket: a name, a path, or "" for the default one."""

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._made: libtmux.Server | None = None

    def panes(self) -> list[Pane]:
        """Return the panes of all sessions, oldest first. A pane that sessions share is listed for each of them.

        Raises NoServer, Unanswered.
        """
        server = self._server()
        wanted = "\t".join(f"#{{{field}}}" for field in _PANE_FIELDS)
        reply = _in_time(lambda: server.cmd("list-panes", "-a", "-F", wanted))
        if reply.returncode:
            said = reply.stderr[-1] if reply.stderr else say("the tmux server can't be reached")
            raise NoServer(NO_SERVER if _NONE_RUNS.search(said) else said)
        found = [pane for line in reply.stdout if (pane := _read_pane(line))]
        return sorted(found, key=lambda pane: int(pane.pane_id[1:]))

    def pane(self, pane_id: str) -> Pane:
        """Return the current state of a pane. Raises PaneGone."""
        for pane in self.panes():
            if pane.pane_id == pane_id:
                return pane
        raise _gone(pane_id)

    def foreground(self, tty: str) -> list[str]:
        """Return the command lines of the processes in the foreground of a terminal, [] if nobody can tell."""
        import subprocess

        words = ("ps", "-ww", "-t", tty, "-o", "stat=", "-o", "args=")
        try:
            done = subprocess.run(
                words, capture_output=True, encoding="utf-8", errors="replace", timeout=ANSWER_TIME, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return []
        pairs = [line.split(None, 1) for line in done.stdout.splitlines()]
        return [pair[1] for pair in pairs if len(pair) > 1 and "+" in pair[0]]

    def leave_modes(self, pane_id: str) -> None:
        """End copy mode and any mode below it, so that keys reach the program."""
        self._to(pane_id, "copy-mode", "-q")

    def screen(self, pane_id: str) -> Screen:
        """Return the rows of the pane and its cursor. Raises PaneGone."""
        wanted = "\t".join(f"#{{{field}}}" for field in _SCREEN_FIELDS)
        lines = self._to(pane_id, "display-message", "-p", wanted, ";", "capture-pane", "-p", "-t", pane_id)
        if not lines:
            raise _gone(pane_id)
        column, row, width, command, title = lines[0].split("\t", len(_SCREEN_FIELDS) - 1)
        return Screen(tuple(lines[1:]), int(column), int(row), int(width), title, command)

    def paste(self, pane_id: str, text: str) -> None:
        """Paste a text into a pane through a named buffer, bracketed if the program asked for it.

        The text is an argument, so that a killed process leaves no file behind. tmux ends a command at a `;` that ends
        a word, unless a backslash precedes it.
        """
        name = f"oracle-{os.getpid()}-{time.monotonic_ns()}"
        word = text[:-1] + "\\;" if text.endswith(";") else text
        set_buffer = ("set-buffer", "-b", name, "--", word)
        server = self._server()
        paste = (*set_buffer, ";", "paste-buffer", "-p", "-d", "-b", name, "-t", pane_id)
        if _in_time(lambda: server.cmd(*paste)).returncode:
            _in_time(lambda: server.cmd("delete-buffer", "-b", name))
            raise _gone(pane_id)

    def press_enter(self, pane_id: str) -> None:
        """Press Enter in a pane."""
        self._to(pane_id, "send-keys", "Enter")

    def _to(self, pane_id: str, command: str, *words: str) -> list[str]:
        """Send a pane one command, and return what tmux prints. Raises PaneGone, NoServer, Unanswered."""
        server = self._server()
        import libtmux

        pane = libtmux.Pane(server=server, pane_id=pane_id)
        reply = _in_time(lambda: pane.cmd(command, *words))
        if reply.returncode:
            raise _gone(pane_id)
        return reply.stdout

    def _server(self) -> libtmux.Server:
        """Return libtmux's object for the server. Raises NoServer."""
        if self._made is None:
            path = self._name if "/" in self._name else ""
            program = os.environ.get("TMUX_BIN") or shutil.which("tmux")
            if program is None:
                raise NoServer(say("tmux is not installed"))
            if not os.environ.get("TMUX_BIN") and not _listens(path or _socket_path(self._name)):
                raise NoServer(NO_SERVER)
            import libtmux

            _name_utf8()
            name = None if path else self._name or "default"
            self._made = libtmux.Server(socket_name=name, socket_path=path or None, tmux_bin=program)
        return self._made

    @contextmanager
    def alone_with(self, pane: Pane, *, until: float) -> Iterator[bool]:
        """Lock a pane, waiting until a moment of the monotonic clock. Yield whether the lock was obtained.

        The lock is on the terminal of the pane: it needs no file, is shared by all Roots and ends with its process.
        """
        handle = self._open_lock(pane)
        try:
            yield handle < 0 or _lock(handle, until=until)
        finally:
            if handle >= 0:
                os.close(handle)

    def _open_lock(self, pane: Pane) -> int:
        for path in (pane.tty, os.path.dirname(self._name)):
            try:
                return os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:
                continue
        return -1


def _lock(handle: int, *, until: float) -> bool:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_POLL)
        except OSError:
            return True  # a terminal that can't be locked is no reason to refuse
        else:
            return True


def _gone(pane_id: str) -> PaneGone:
    return PaneGone(say("the pane {pane} is gone", pane=pane_id))


def _read_pane(line: str) -> Pane | None:
    parts = line.split("\t", len(_PANE_FIELDS) - 1)
    if len(parts) != len(_PANE_FIELDS):
        return None
    pane_id, dead, mode, off, synchronized, tty, seat, command, session = parts
    is_dead, in_mode, is_off, is_synchronized = (value not in ("", "0") for value in (dead, mode, off, synchronized))
    return Pane(pane_id, is_dead, in_mode, is_off, is_synchronized, tty, seat, command, session)


def _name_utf8() -> None:
    """Name UTF-8 in the environment if nothing does: tmux prints `_` for other characters then, and libtmux has no `-u`."""
    named = [os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    locale = next(filter(None, named), "")
    if not os.environ.get("TMUX") and "UTF8" not in locale.upper().replace("-", ""):
        os.environ["LC_ALL"] = "C.UTF-8"


def _in_time(ask: Callable[[], LibtmuxReply]) -> LibtmuxReply:
    """Return what libtmux answers. It waits without a limit, so it does that in a thread. Raises Unanswered, NoServer."""
    from libtmux.exc import LibTmuxException, TmuxCommandNotFound

    replies: list[LibtmuxReply] = []
    faults: list[OSError | LibTmuxException] = []

    def wait() -> None:
        try:
            replies.append(ask())
        except (OSError, LibTmuxException) as fault:
            faults.append(fault)

    thread = threading.Thread(target=wait, name="tmux", daemon=True)
    thread.start()
    thread.join(ANSWER_TIME)
    if thread.is_alive():
        _kill_children(thread)
        raise Unanswered(say("the tmux server does not answer within {seconds:g} s", seconds=ANSWER_TIME))
    if faults:
        missing = isinstance(faults[0], (FileNotFoundError, TmuxCommandNotFound))
        raise NoServer(
            say("tmux is not installed") if missing else say("the tmux server can't be reached")
        ) from faults[0]
    return replies[0]


def _kill_children(thread: threading.Thread) -> None:
    """Kill the tmux client that a thread waits for. Where the system does not name it, it ends when its server does."""
    try:
        with open(f"/proc/self/task/{thread.native_id}/children", "rb") as stream:
            for number in stream.read().split():
                os.kill(int(number), signal.SIGKILL)
    except OSError:
        return


def _socket_path(name: str) -> str:
    """Return the path of a server's socket, as tmux makes it of its name."""
    folder = os.environ.get("TMUX_TMPDIR", "")
    folder = folder if os.path.isdir(folder) else "/tmp"  # noqa: S108 - tmux's own place
    return os.path.join(folder, f"tmux-{os.getuid()}", name or "default")


def _listens(path: str) -> bool:
    """Return whether a server may listen on a socket: none does if there is no socket, or it refuses."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True  # whatever else it is, tmux says it better
    return True


def tmux_socket(environ: Mapping[str, str]) -> str:
    """Return the socket of the tmux server: `ORACLE_TMUX_SOCKET` (a name or a path), else that of this process, else ""."""
    return environ.get("ORACLE_TMUX_SOCKET") or own_socket(environ)


def own_socket(environ: Mapping[str, str]) -> str:
    """Return the socket of the tmux server that this process runs in, from `TMUX`, or ""."""
    path = environ.get("TMUX", "").rpartition(",")[0].rpartition(",")[0]
    return path if os.path.isabs(path) else ""
