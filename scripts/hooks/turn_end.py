"""The end of a turn: leave at once unless the agent asked for something or a wake-up waits for its seat.

Up to that test only built-in modules are imported: `os` alone takes a millisecond, and `site` another. The exit code is 0,
since another would stop the host or trouble its user.
"""

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

MOST = 4 << 20
WIDE_COLON = (b"DELIVER\xef\xbc\x9a", b"DELIVER\\uff1a")
MARKERS = (b"[DELIVER", b"DELIVER:", *WIDE_COLON, b"[deliver:", b"[Deliver:", b"[CLEAR-REQUESTED")
MESSAGES = (b'"last_assistant_message"', b'"prompt_response"')
SESSION = b'"session_id"'
NAME = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
ESCAPE, PRINTABLE = b"\\u00", (b"2", b"3", b"4", b"5", b"6", b"7")


def read_stdin() -> bytes:
    """Return stdin's bytes, one more than allowed when there are too many."""
    chunks, left = [], MOST + 1
    while left > 0:
        chunk = posix.read(0, min(left, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def may_ask(data: bytes) -> bool:
    """Return whether the payload may hold a marker, from its bytes alone.

    Also true when plain characters are written as escapes, and when an older host left the message out, so that it has to
    be looked up.
    """
    if len(data) > MOST or any(marker in data for marker in MARKERS):
        return True
    at = data.find(ESCAPE)
    while at >= 0:
        at += len(ESCAPE)
        if data[at : at + 1] in PRINTABLE:
            return True
        at = data.find(ESCAPE, at)
    for name in MESSAGES:
        _, key, value = data.partition(name)
        if key:
            return value[:64].lstrip(b": \t\r\n")[:1] != b'"'
    return bool(data.strip())


def is_awaited() -> bool:
    """Return whether the inbox holds a wake-up for this seat, which runs in a tmux pane."""
    if not variable("TMUX_PANE"):
        return False
    seat = variable("ORACLE_SEAT") or "memory"
    mark = b'"seat": "' + (seat.encode() + b'"' if seat.isascii() else b"")
    inbox = root() + "/_state/inbox/"
    try:
        names = posix.listdir(inbox)
    except OSError:
        return False
    return any(name.startswith("wake-") and mark in read(inbox + name) for name in names)


def keep_session(data: bytes) -> None:
    """Write the id of the session to `~/.agent-runtime/active/SEAT.session`, where older launchers look for it.

    Nothing is written unless that folder exists.
    """
    folder = home() + "/.agent-runtime/active/"
    seat = variable("ORACLE_SEAT") or variable("CLAWSEAT_SEAT") or "memory"
    before, _, rest = data.partition(SESSION)[2][:200].partition(b'"')
    session, end, _ = rest.partition(b'"')
    is_name = session and end and not before.strip(b": \t\r\n") and not (session + encode(seat)).strip(NAME)
    if not is_name or not is_there(folder):
        return
    try:
        handle = posix.open(
            folder + seat + ".session", posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NOFOLLOW, 0o600
        )
        posix.write(handle, session + b"\n")
        posix.close(handle)
    except OSError:
        return


def root() -> str:
    """Return the Root that the program chooses, without importing anything."""
    stated = variable("ORACLE_ROOT")
    if stated.startswith("~"):
        import os

        stated = os.path.expanduser(stated)
    return stated or home() + "/.agents/memory"


def home() -> str:
    """Return the home folder of the team, outside of any sandbox."""
    homes = (variable(name) for name in ("CLAWSEAT_REAL_HOME", "AGENT_HOME", "HOME"))
    chosen = next(filter(None, homes), "")
    return chosen.partition("/.agents/runtime/")[0].partition("/.agent-runtime/")[0]


def read(path: str) -> bytes:
    """Return the bytes of a small file, none if it is gone."""
    try:
        handle = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return posix.read(handle, 1 << 16)
    except OSError:
        return b""
    finally:
        posix.close(handle)


def is_anything_kept() -> bool:
    """Return whether an answer is kept outside of its Root, because that could not be written."""
    folder = variable("XDG_RUNTIME_DIR")
    temporary = variable("TMPDIR") or "/tmp"  # noqa: S108 - the program checks who owns the folder
    for path in (folder and folder + "/memory-oracle", f"{temporary}/memory-oracle-{posix.getuid()}"):
        try:
            if path and any(name.endswith(".json") for name in posix.listdir(path)):
                return True
        except OSError:
            continue
    return False


def variable(name: str) -> str:
    """Return a variable of the environment, "" without it."""
    return posix.environ.get(name.encode(), b"").decode(sys.getfilesystemencoding(), "surrogateescape")


def encode(text: str) -> bytes:
    """Return a text of the environment as its bytes."""
    return text.encode(sys.getfilesystemencoding(), "surrogateescape")


def is_there(path: str) -> bool:
    """Return whether a path exists, of one that ends with a slash as a folder."""
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


class InstalledPackages:
    """Be asked last for a module: `site`, which finds the installed packages, is run for the first that is one of them."""

    def find_spec(self, name: str, path: "Sequence[str] | None", target: object = None) -> "ModuleSpec | None":
        """Return what the other finders find then."""
        if path is not None:
            return None
        sys.meta_path.remove(self)
        import site

        site.main()
        return next(filter(None, (finder.find_spec(name, path) for finder in sys.meta_path)), None)


def find_oracle() -> None:
    """Let `oracle` be imported: that of the checkout, else the installed one."""
    import os

    checkout = os.path.realpath(__file__).rpartition("/scripts/hooks/")[0]
    if checkout:
        sys.path.insert(0, checkout)
    sys.meta_path.append(InstalledPackages())


def serve(data: bytes) -> None:
    """Bring the packages back and hand over; whatever goes wrong is one line."""
    try:
        stdout = posix.dup(1)
        posix.dup2(posix.open("/dev/null", posix.O_WRONLY), 1)
        find_oracle()
        from oracle.hook.stop import serve as serve_stop

        said = serve_stop(data, is_strict="--strict" in sys.argv[1:])
        if said:
            posix.write(stdout, said.encode())
    except BaseException as error:  # noqa: BLE001 - fail open: a hook never stops its host
        code = "python_too_old" if sys.version_info < (3, 11) else type(error).__name__
        sys.stderr.write("deliver_skipped: " + code + "\n")


def main() -> None:
    """Look, and hand over when there is something to do."""
    if variable("ORACLE_INTERNAL") == "1" or variable("ORACLE_HOOKS") == "0":
        return
    try:
        data = read_stdin()
    except OSError:
        return
    keep_session(data)
    if may_ask(data) or is_awaited() or is_anything_kept():
        serve(data)


def run() -> None:
    """Do it and end the process: to take an interpreter down takes longer than all the rest."""
    main()
    sys.stderr.flush()
    posix._exit(0)
