"""A private copy of the index in memory: the bytes of the database with its write-ahead log applied, nothing written.

SQLite itself can't look at a database in WAL mode without making files beside it, and a copy on disk fails on the night
when the disk is full. Source of the log's format: https://www.sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

from oracle.index.db import Database
from oracle.store.root.layout import Root

_HEADER = 32
_FRAME = 24
_LITTLE_ENDIAN_MAGIC = 0x377F0682
_MAGICS = (_LITTLE_ENDIAN_MAGIC, 0x377F0683)
_JOURNAL_MODES = slice(18, 20)
_TRIES = 5
_MASK = 0xFFFFFFFF

Stamp = tuple[tuple[int, int, int], ...]


class BeingWritten(Exception):
    """The files of the index did not hold still for as long as it takes to read them."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The index at one moment, and the stats by which a later change is noticed."""

    database: Database
    stamp: Stamp


def stamp_of(root: Root) -> Stamp:
    """Return the stats of the database and its log; () when there is no database."""
    stats = []
    for suffix in ("", "-wal"):
        try:
            status = os.stat(root.database + suffix)
        except OSError:
            continue
        stats.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(stats) if os.path.exists(root.database) else ()


def take(root: Root) -> Snapshot:
    """Read the index into memory. Raises BeingWritten, OSError; that the bytes are sound is not checked."""
    for _ in range(_TRIES):
        before = stamp_of(root)
        try:
            data, log = _read(root.database), _read(root.database + "-wal", absent=b"")
        except FileNotFoundError:
            if stamp_of(root):
                continue
            raise
        if stamp_of(root) == before:
            return Snapshot(open_bytes(root, apply_log(data, log)), before)
    raise BeingWritten(root.database)


def open_bytes(root: Root, data: bytes) -> Database:
    """Return a database in memory that holds the bytes of a database file."""
    database = Database(root)
    database.use_memory()
    if data:
        image = bytearray(data)
        image[_JOURNAL_MODES] = b"\x01\x01"  # a log has no place in memory
        database.connect().deserialize(bytes(image))
    return database


def _read(path: str, *, absent: bytes | None = None) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        if absent is None:
            raise
        return absent


def apply_log(data: bytes, log: bytes) -> bytes:
    """Return the database with every committed frame of its write-ahead log put in its place."""
    if len(log) < _HEADER:
        return data
    magic, _, size, _, *salts = struct.unpack(">6I", log[:24])
    order = "<" if magic == _LITTLE_ENDIAN_MAGIC else ">"
    sums = _checksum((0, 0), log[:24], order)
    if magic not in _MAGICS or size < 512 or sums != struct.unpack(">2I", log[24:32]):
        return data
    pages: dict[int, int] = {}
    pending: dict[int, int] = {}
    length = 0
    for start in range(_HEADER, len(log) - _FRAME - size + 1, _FRAME + size):
        number, committed, *rest = struct.unpack(">6I", log[start : start + _FRAME])
        body = start + _FRAME
        if rest[:2] != salts:
            break
        sums = _checksum(_checksum(sums, log[start : start + 8], order), log[body : body + size], order)
        if list(sums) != rest[2:]:
            break
        pending[number] = body
        if committed:
            pages |= pending
            pending, length = {}, committed
    return _merge(data, log, pages, size, length) if length else data


def _merge(data: bytes, log: bytes, pages: dict[int, int], size: int, length: int) -> bytes:
    image = bytearray(data[: length * size].ljust(length * size, b"\0"))
    for number, body in pages.items():
        if 0 < number <= length:
            image[(number - 1) * size : number * size] = log[body : body + size]
    return bytes(image)


def _checksum(sums: tuple[int, int], data: bytes, order: str) -> tuple[int, int]:
    first, second = sums
    for one, two in struct.iter_unpack(f"{order}2I", data):
        first = (first + one + second) & _MASK
        second = (second + two + first) & _MASK
    return first, second
