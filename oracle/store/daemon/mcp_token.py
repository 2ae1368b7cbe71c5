"""The token of the MCP server: `_state/mcp.token`, mode 0600, created once. Anyone who can read it may call the tools."""

from __future__ import annotations

import os
import stat

from oracle.errors import DiskFailure, RecordExists
from oracle.store.disk import files
from oracle.store.root import lock
from oracle.store.root.layout import Root
from oracle.wording import say

_BYTES = 32
_SHORTEST, _LONGEST = 32, 4096


def path_of(root: Root) -> str:
    """Return the path of the token."""
    return f"{root.state}/mcp.token"


def find_or_make(root: Root) -> str:
    """Return the token, a new one for none, a short one or one that others can read. Raises RootUnusable, DiskFailure."""
    lock.ensure_state(root)
    for _ in range(3):
        token = _read(path_of(root))
        if token:
            return token
        import secrets

        made = secrets.token_urlsafe(_BYTES)
        try:
            files.create(path_of(root), made.encode("ascii") + b"\n", scratch=root.state)
            files.set_mode(path_of(root), files.FILE_MODE)  # in a shared Root too
        except RecordExists:
            continue
        return made
    raise DiskFailure(
        say("{path_of} could not be created.", path_of=path_of(root)), hint=say("Remove it and start again.")
    )


def _read(path: str) -> str:
    """Return the token in the file, "" if there is none. A token that cannot be trusted is removed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    except OSError:  # a link, or a file of another user
        files.remove(path)
        return ""
    try:
        seen = os.fstat(handle)
        is_private = stat.S_ISREG(seen.st_mode) and not seen.st_mode & 0o077 and seen.st_uid == os.getuid()
        token = os.read(handle, _LONGEST).strip() if is_private else b""
    finally:
        os.close(handle)
    if len(token) >= _SHORTEST and token.isascii():
        return token.decode("ascii")
    files.remove(path)
    return ""
