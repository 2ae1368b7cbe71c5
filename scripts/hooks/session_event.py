"""A session begins, gets a prompt, is summarised or ends: print the context that the host adds, mostly none.

Where a daemon runs it is asked, and only built-in modules are imported. Else a child process does the work,
so that it can be ended in time. The exit code is 0; an error or a late answer is no output.
"""

import os
import sys
import time

from turn_end import read_stdin, root

STARTED = time.monotonic()
DEADLINE, DAEMON = 1.35, 0.25
"""Seconds from the start until the hook gives up, and until it stops waiting for a daemon."""

REST = 600
"""Seconds in which the hook stays silent after MISSES deadlines in a row."""
MISSES = 3

MOST_REQUEST, LONGEST_ADDRESS = 60_000, 100
PASSED_ON = (
    *("ORACLE_SEAT", "ORACLE_PROJECT", "CLAWSEAT_PROJECT", "AGENTS_PROJECT", "ORACLE_CRON"),
    *("CLAWSEAT_REGISTRY_HOME", "CLAWSEAT_REAL_HOME", "AGENT_HOME", "HOME"),
)
"""Variables of this process that choose project and seat, for the daemon."""


def ask_daemon(folder: str, data: bytes) -> bytes | None:
    """Return what the daemon of the Root says, None if none answers in time."""
    path = folder + "/_state/run/answers"
    try:
        door = os.stat(folder + "/_state/run")
        here = os.stat(folder)
        os.stat(path)
    except OSError:
        return None
    is_off = os.environ.get("ORACLE_DAEMON_SOCKET") == "0" or len(os.fsencode(path)) > LONGEST_ADDRESS
    if is_off or door.st_uid != os.getuid() or door.st_mode & 0o077 or len(data) > MOST_REQUEST:
        return None
    given = ",".join(f"{quote(name)}:{quote(os.environ[name])}" for name in PASSED_ON if name in os.environ)
    head = (
        f'{{"hook":1,"root":[{here.st_dev},{here.st_ino}],"environ":{{{given}}},"until":{STARTED + DAEMON!r},"payload":'
    )
    line = head.encode("ascii") + data.replace(b"\r", b" ").replace(b"\n", b" ") + b"}\n"
    import _socket

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(0.05)
        connection.connect(path)
        connection.settimeout(left(DAEMON))
        connection.sendall(line)
        reply = b""
        while not reply.endswith(b"\n"):
            connection.settimeout(left(DAEMON))
            chunk = connection.recv(1 << 16)
            if not chunk:
                return None
            reply += chunk
    except OSError:
        return None
    finally:
        connection.close()
    return reply[1:-1] if reply[:1] == b"+" else None


def quote(text: str) -> str:
    """Return a text as a JSON string in ASCII."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return (
        '"'
        + "".join(chr(code) if 32 <= code < 127 and code not in (34, 92) else f"\\u{code:04x}" for code in codes)
        + '"'
    )


def left(most: float) -> float:
    """Return the seconds that are left of a term, a little at least."""
    return max(0.001, STARTED + most - time.monotonic())


def work(data: bytes) -> bytes | None:
    """Do the work in a child process; return what it says, None if it was ended because it took too long."""
    import select

    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        serve(data, writer)
    os.close(writer)
    waiting = select.poll()
    waiting.register(reader, select.POLLIN | select.POLLHUP)
    said: list[bytes] = []
    while waiting.poll(left(DEADLINE) * 1000):
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            os.waitpid(child, 0)
            return b"".join(said)
        said.append(chunk)
    for stop in (os.killpg, os.kill):
        try:
            stop(child, 9)
        except OSError:
            continue
    os.waitpid(child, 0)
    return None


def serve(data: bytes, writer: int) -> None:
    """Bring the packages back, hand over, write what is to be said into the pipe, and end this process."""
    try:
        os.setsid()  # so that what it starts ends with it
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nothing, handle)
        import gc
        import site

        gc.disable()  # the process ends sooner than it could run out of memory
        site.main()
        checkout = os.path.realpath(__file__).rpartition("/scripts/hooks/")[0]
        if checkout:
            sys.path.insert(0, checkout)
        from oracle.hook.prompt import serve as serve_event

        said = serve_event(data).encode("utf-8", "replace")
        while said:
            said = said[os.write(writer, said) :]
    finally:
        os._exit(0)


def is_resting(path: str) -> bool:
    """Return whether the last deadlines in a row were missed, and that not long ago."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_size >= MISSES and time.time() - found.st_mtime < REST


def count_miss(path: str) -> None:
    """Note a missed deadline, as one more byte of a file."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.write(handle, b"x")
    os.close(handle)


def run() -> None:
    """Answer one event."""
    folder = root()
    misses = folder + "/_state/deadlines-missed"
    data = read_stdin()
    if not data.strip() or not os.path.isdir(folder) or is_resting(misses):
        return
    said = ask_daemon(folder, data)
    if said is None:
        said = work(data)
    if said is None:
        count_miss(misses)
        return
    if os.path.exists(misses):
        os.unlink(misses)
    while said:
        said = said[os.write(1, said) :]


def main() -> None:
    """Answer one event unless hooks are off. Whatever goes wrong is no output."""
    if os.environ.get("ORACLE_INTERNAL") == "1" or os.environ.get("ORACLE_HOOKS") == "0":
        return
    try:
        run()
    except BaseException:  # noqa: BLE001 -- fail open: a hook never stops its host
        return
