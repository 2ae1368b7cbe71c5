"""The Unix domain socket on which a daemon answers commands of the same user: one line each way. Cheap to import."""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
import time

from oracle.errors import DiskFailure
from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

SWITCH = "ORACLE_DAEMON_SOCKET"
"""With the value 0 a daemon opens no socket, and a command asks none."""

CONNECTS_WITHIN, ANSWERS_WITHIN = 0.05, 5.0
"""Seconds until a command works alone: to connect, and from then to the whole answer."""

MOST_REQUEST, MOST_REPLY = 1 << 16, 1 << 24
"""Bytes of a line."""

_LONGEST_ADDRESS = 100
"""Bytes of a socket's path: the system takes 103 to 107."""

_CHUNK = 1 << 16


class NoAnswer(Exception):
    """No daemon answered. `why` says what to do about it."""

    def __init__(self, why: Sentence) -> None:
        super().__init__(why)
        self.why = why


class TooLong(ValueError):
    """A line has no end within its bytes, or the sender closed before its end."""


def is_off() -> bool:
    """Return whether the environment switches the socket off."""
    return os.environ.get(SWITCH) == "0"


def address(root: Root) -> str:
    """Return the path of the socket. A Root with a long path has its socket in the user's runtime folder, else in /tmp."""
    path = f"{root.sockets}/answers"
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        return path
    import hashlib

    user = os.getuid()
    base = f"/run/user/{user}" if os.path.isdir(f"/run/user/{user}") else "/tmp"  # noqa: S108 -- `listen` checks the folder
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root.path))).hexdigest()[:24]
    return f"{base}/memory-oracle-sockets-{user}/{digest}"  # `memory-oracle-UID` holds answers that the hook looks for


def listen(root: Root) -> socket.socket:
    """Open the socket in a private folder, and remove others from it on which nobody listens.

    The caller holds the daemon's lock. Raises DiskFailure, OSError.
    """
    path = address(root)
    folder = os.path.dirname(path)
    if not os.path.lexists(folder):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise DiskFailure(
            say("{folder} is not a private folder of this user.", folder=folder),
            hint=say("Remove it; the daemon creates it again with mode 0700."),
        )
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # a socket is bound for a moment before somebody listens on it
        for one in (f"{folder}/{name}" for name in os.listdir(folder)):
            if one == path or _is_dead(one):
                try:
                    os.unlink(one)
                except FileNotFoundError:  # its daemon has just stopped
                    continue
        return _bind(path)
    finally:
        os.close(handle)


def _is_dead(path: str) -> bool:
    """Return whether a path is the socket of a daemon that was killed: nobody listens on it. A busy one is alive."""
    try:
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.setblocking(False)
                connection.connect(path)
    except OSError as error:
        return isinstance(error, ConnectionRefusedError)
    return False


def _bind(path: str) -> socket.socket:
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        door.bind(path)
        os.chmod(path, 0o600)
        door.listen(64)
    except OSError:
        door.close()
        raise
    return door


def peer(connection: socket.socket) -> int:
    """Return the user id of the process at the other end."""
    if sys.platform == "darwin":  # struct xucred by LOCAL_PEERCRED, which getpeereid reads
        return int(struct.unpack_from("=II", connection.getsockopt(0, 1, 76))[1])
    return int(struct.unpack("=3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])


def receive(connection: socket.socket, most: int, until: float) -> bytes:
    """Return the next line without its end. Raises TooLong, TimeoutError at the time `until` of the monotonic clock, OSError."""
    found = bytearray()
    while not found.endswith(b"\n"):
        _limit(connection, until)
        chunk = connection.recv(_CHUNK)
        found += chunk
        if not chunk or len(found) > most:
            raise TooLong
    return bytes(found[:-1])


def send(connection: socket.socket, line: bytes, until: float) -> None:
    """Send a line. Raises TimeoutError at the time `until` of the monotonic clock, OSError."""
    _limit(connection, until)
    connection.sendall(line + b"\n")


def _limit(connection: socket.socket, until: float) -> None:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)


def ask(root: Root, request: bytes) -> bytes:
    """Send a line to the daemon of a Root and return its line. Raises NoAnswer."""
    if is_off():
        raise NoAnswer(say("{switch} is 0", switch=SWITCH))
    none = NoAnswer(say("no daemon answers: start one with `oracle daemon start`"))
    late = NoAnswer(say("the daemon gave no answer: see `oracle daemon status`"))
    if len(request) >= MOST_REQUEST:
        raise NoAnswer(say("the daemon takes no request of this length"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.settimeout(CONNECTS_WITHIN)
            connection.connect(address(root))
            if peer(connection) != os.getuid():
                raise none
        except OSError as error:
            raise none from error
        try:
            until = time.monotonic() + ANSWERS_WITHIN
            send(connection, request, until)
            return receive(connection, MOST_REPLY, until)
        except (OSError, TooLong) as error:
            raise late from error
