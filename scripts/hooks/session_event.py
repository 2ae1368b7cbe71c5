"""A session begins, gets a prompt, is summarised or ends: print the context that the host adds, mostly none.

Where a daemon runs it is asked, and only built-in modules are imported. Else a child process does the work,
so that it can be ended in time. The exit code is 0; an error or a late answer is no output.
"""

import posix
import time

from turn_end import encode, find_oracle, is_there, read_stdin, root, variable

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
        door = posix.stat(folder + "/_state/run")
        here = posix.stat(folder)
        posix.stat(path)
    except OSError:
        return None
    is_off = variable("ORACLE_DAEMON_SOCKET") == "0" or len(encode(path)) > LONGEST_ADDRESS
    if is_off or door.st_uid != posix.getuid() or door.st_mode & 0o077 or len(data) > MOST_REQUEST:
        return None
    given = ",".join(f"{quote(name)}:{quote(variable(name))}" for name in PASSED_ON if name.encode() in posix.environ)
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

    reader, writer = posix.pipe()
    child = posix.fork()
    if not child:
        posix.close(reader)
        serve(data, writer)
    posix.close(writer)
    waiting = select.poll()
    waiting.register(reader, select.POLLIN | select.POLLHUP)
    said: list[bytes] = []
    while waiting.poll(left(DEADLINE) * 1000):
        chunk = posix.read(reader, 1 << 16)
        if not chunk:
            posix.waitpid(child, 0)
            return b"".join(said)
        said.append(chunk)
    for stop in (posix.killpg, posix.kill):
        try:
            stop(child, 9)
        except OSError:
            continue
    posix.waitpid(child, 0)
    return None


def serve(data: bytes, writer: int) -> None:
    """Bring the packages back, hand over, write what is to be said into the pipe, and end this process."""
    try:
        posix.setsid()  # so that what it starts ends with it
        nothing = posix.open("/dev/null", posix.O_RDWR)
        for handle in (0, 1, 2):
            posix.dup2(nothing, handle)
        import gc

        gc.disable()  # the process ends sooner than it could run out of memory
        find_oracle()
        from oracle.hook.prompt import serve as serve_event

        said = serve_event(data).encode("utf-8", "replace")
        while said:
            said = said[posix.write(writer, said) :]
    finally:
        posix._exit(0)


def is_resting(path: str) -> bool:
    """Return whether the last deadlines in a row were missed, and that not long ago."""
    try:
        found = posix.stat(path)
    except OSError:
        return False
    return found.st_size >= MISSES and time.time() - found.st_mtime < REST


def count_miss(path: str) -> None:
    """Note a missed deadline, as one more byte of a file."""
    handle = posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW, 0o600)
    posix.write(handle, b"x")
    posix.close(handle)


def answer() -> None:
    """Answer one event."""
    folder = root()
    misses = folder + "/_state/deadlines-missed"
    data = read_stdin()
    if not data.strip() or not is_there(folder + "/") or is_resting(misses):
        return
    said = ask_daemon(folder, data)
    if said is None:
        said = work(data)
    if said is None:
        count_miss(misses)
        return
    if is_there(misses):
        posix.unlink(misses)
    while said:
        said = said[posix.write(1, said) :]


def main() -> None:
    """Answer one event unless hooks are off. Whatever goes wrong is no output."""
    if variable("ORACLE_INTERNAL") == "1" or variable("ORACLE_HOOKS") == "0":
        return
    try:
        answer()
    except BaseException:  # noqa: BLE001 -- fail open: a hook never stops its host
        return


def run() -> None:
    """Do it and end the process: to take an interpreter down takes longer than all the rest."""
    main()
    posix._exit(0)
