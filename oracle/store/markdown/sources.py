"""Read a file of a source: never out of its folder, at most 1 MiB, without credentials."""

from __future__ import annotations

import errno
import os

from oracle.domain.markdown.documents import digest_of, text_of
from oracle.domain.sources.source import (
    BEADS,
    CLAUDE_CODE,
    INDEX,
    ISSUES,
    OPENCLAW,
    TRANSCRIPTS,
    is_wanted,
    without_secret,
)
from oracle.store.disk.folders import open_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from oracle.domain.sources.source import Source

_MOST_ISSUES = 64 << 20
_parsed: dict[str, Any] = {}
"""The issues that were read last: many records lie in one file."""

_sessions: dict[str, tuple[int, int, list[Any]]] = {}
"""The transcripts that were read last: inode, bytes read, and what was said in them."""

MAX_BYTES = 1 << 20
"""Bytes of a file that are read. The rest of a larger one is left out."""

WHOLE = (BEADS, TRANSCRIPTS)
"""The kinds whose files may be larger: only a part of them is text of a record."""

_MOST_SESSIONS, _LONGEST_SESSION, _MOST_TRANSCRIPT = 8, 1 << 18, 64 << 20


def read(source: Source, path: str, *, known: bytes = b"") -> bytes:
    """Return the bytes of the record at a root-relative path in a source, with each credential replaced by a marker.

    `known` is the digest of its record in the index, which was made of a text without credentials: if the bytes have it,
    they are not searched again. Lines keep their numbers. Raises OSError.
    """
    if source.why_not:
        raise PermissionError(errno.EACCES, source.why_not, source.place(path))
    if source.kind == BEADS:
        raw = _issue(source.folder, path[len(source.tree) + 1 :])
    elif source.kind == TRANSCRIPTS:
        raw = _session(source, source.place(path))
    else:
        raw = _file(source, path)
        if source.kind == CLAUDE_CODE and path.endswith(f"/{INDEX}"):
            from oracle.domain.sources.claude_code import without_lines

            raw = without_lines(text_of(raw)).encode("utf-8", "replace")
    return raw if known and digest_of(raw) == known else without_secrets(raw)


def read_list(source: Source, folder: str) -> str:
    """Return the whole `MEMORY.md` of a root-relative folder in a source, without credentials. Raises OSError."""
    return text_of(without_secrets(_file(source, f"{folder}/{INDEX}")))


def _file(source: Source, path: str) -> bytes:
    with open_plain(source.place(path), within=source.folder) as stream:
        size = min(os.fstat(stream.fileno()).st_size, MAX_BYTES)
        raw = stream.read(size + 1)  # room for the largest file would cost more than reading a small one
        if len(raw) > size:
            raw += stream.read(MAX_BYTES - size)
    # not in the middle of a line, which may be a credential
    return raw[: raw.rfind(b"\n", 0, MAX_BYTES) + 1] if len(raw) > MAX_BYTES else raw


def left_out(source: Source) -> Iterator[str]:
    """Yield the root-relative paths of the files in a source, in order, that are not read because of their names.

    Folders and files whose names begin with a dot are left out of this too, and so is what lies beside the records of a kind
    that has a fixed place for them.
    """
    if source.kind == BEADS:
        return
    for place, folders, names in os.walk(source.folder):
        folder = place[len(source.folder) + 1 :]
        folders[:] = sorted(
            name for name in folders if name[0] != "." and is_wanted(source, folder, name, is_folder=True)
        )
        if source.kind == OPENCLAW and not folder:
            continue
        for name in sorted(names):
            if name[0] != "." and not is_wanted(source, folder, name, is_folder=False):
                yield without_secret("/".join(filter(None, (source.tree, folder, name))))


def issues(folder: str) -> tuple[dict[str, bytes], list[int], os.stat_result]:
    """Return the issues of beads in a folder by file name, the lines that hold none, and the stat of the file. Raises OSError."""
    from oracle.domain.sources.beads import read_issues

    path = f"{folder}/{ISSUES}"
    with open_plain(path, within=folder) as stream:
        status = os.fstat(stream.fileno())
        key = (path, status.st_mtime_ns, status.st_size, status.st_ino)
        if _parsed.get("key") != key:
            _parsed.update(key=key, found=read_issues(_lines(stream)))
    found, bad = _parsed["found"]
    return found, bad, status


def _session(source: Source, path: str) -> bytes:
    """Return what was said in a session as a record. Of a transcript that grew, only what is new is read."""
    from oracle.domain.sources.transcripts import add_turns, print_session

    with open_plain(path, within=source.folder) as stream:
        status = os.fstat(stream.fileno())
        inode, offset, turns = _sessions.pop(path, (0, 0, []))
        if inode != status.st_ino or offset > status.st_size:
            offset, turns = max(0, status.st_size - _MOST_TRANSCRIPT), []
        stream.seek(offset)
        data = stream.read(_MOST_TRANSCRIPT)
    end = data.rfind(b"\n") + 1
    add_turns(turns, data[:end].split(b"\n"))
    _sessions[path] = (status.st_ino, offset + end, turns)
    while len(_sessions) > _MOST_SESSIONS:
        del _sessions[next(iter(_sessions))]
    return print_session(turns, _LONGEST_SESSION).encode("utf-8", "replace")


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, of a long one its first bytes, up to 64 MiB in all."""
    left = _MOST_ISSUES
    while left > 0 and (line := stream.readline(MAX_BYTES)):
        left -= len(line)
        yield line


def _issue(folder: str, name: str) -> bytes:
    found, *_ = issues(folder)
    if name not in found:
        raise FileNotFoundError(errno.ENOENT, "There is no such issue", name)
    return found[name]


def without_secrets(raw: bytes) -> bytes:
    """Return a text with each credential replaced by a marker; lines keep their numbers."""
    from oracle.domain.safety.secrets import find_secrets

    text = text_of(raw)
    secrets = find_secrets(text)
    if not secrets:
        return raw
    pieces, at = [], 0
    for secret in secrets:
        lines = text.count("\n", secret.start, secret.end)
        pieces += [text[at : secret.start], f"[REDACTED:{secret.kind}]", "\n" * lines]
        at = secret.end
    return "".join([*pieces, text[at:]]).encode("utf-8", "replace")
