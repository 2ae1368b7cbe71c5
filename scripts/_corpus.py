"""Lay a folder of plain Markdown out as one project with one seat, for the demonstration.

The sub-folders stay as they are below the seat, so links lead where they led. The bytes of a document stay as they are, its
title and kind are read from them and from its path. Nothing outside of the new Root is written, no link is followed out.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.exit("error: this is a part of scripts/demo.py; run `make demo CORPUS=DIR`")

from oracle.domain.names import MAX_NAME_BYTES, check_name
from oracle.errors import InvalidName

SEAT = "builder"
"""Whose records the documents become: a seat that every project may have."""

SUFFIXES = (".md", ".mdx", ".markdown")
_MAX_STEM_BYTES = 180
_MAX_PATH_BYTES = 1_500  # far below what a path may be, with room for the Root
_MAX_BYTES = 16 * 1024 * 1024


def lay_out(corpus: Path, root: Path) -> tuple[int, list[str]]:
    """Make records of the documents under `corpus` and return their number and what was left out, a line each."""
    count = 0
    left_out: list[str] = []
    home = root / "projects" / project_name(corpus.resolve().name) / SEAT
    for path in _documents(corpus):
        relative = path.relative_to(corpus)
        try:
            _lay_out_one(path, relative, home)
        except OSError as error:
            left_out.append(f"{printable(str(relative))}: {error.strerror}")
            continue
        count += 1
    return count, left_out


def printable(text: str) -> str:
    """Return a text with control characters and bytes that are not UTF-8 spelled out."""
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in clean)


def _documents(corpus: Path) -> Iterator[Path]:
    """Yield the plain Markdown files in a stable order; hidden names, links that lead out and pipes are skipped."""
    inside = os.path.realpath(corpus) + os.sep
    for folder, folders, names in os.walk(corpus):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith(".") or not name.lower().endswith(SUFFIXES) or not path.is_file():
                continue
            if os.path.realpath(path).startswith(inside):
                yield path


def project_name(name: str) -> str:
    """Return a folder's name as a project may be called: other characters become dashes, a long one is cut."""
    text = "".join(char if char.isalnum() or char in "._-" else "-" for char in printable(name))
    while ".." in text:
        text = text.replace("..", ".")
    text = text.strip("._-") or "corpus"
    text = text.encode()[: MAX_NAME_BYTES - 8].decode("utf-8", "ignore")
    try:
        return check_name(text, "project")
    except InvalidName:
        return f"project-{zlib.crc32(name.encode('utf-8', 'surrogateescape')):08x}"


def _lay_out_one(path: Path, relative: Path, home: Path) -> None:
    with path.open("rb") as stream:
        raw = stream.read(_MAX_BYTES)
    number = zlib.crc32(os.fsencode(relative.as_posix()))
    target = home / _place(relative, number)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if target.exists():
        target = target.with_name(f"{target.stem}-{number:08x}.md")
    target.write_bytes(raw)
    status = path.stat()
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _place(relative: Path, number: int) -> Path:
    """Return the path of a record below its seat: folders and name as they are, spelled out and cut where they can't be."""
    folders = [_part(name) for name in relative.parts[:-1]]
    place = Path(*folders, f"{_part(relative.stem)}.md")
    if len(os.fsencode(place)) > _MAX_PATH_BYTES:
        place = Path(f"{_part(relative.stem)}-{number:08x}.md")
    return place


def _part(name: str) -> str:
    """Return one folder or name without its suffix, as a path may hold it; what has to be cut ends in a hash of the whole."""
    text = printable(name).lstrip(".") or "untitled"
    raw = text.encode()
    if len(raw) <= _MAX_STEM_BYTES:
        return text
    return f"{raw[:_MAX_STEM_BYTES].decode('utf-8', 'ignore')}-{zlib.crc32(raw):08x}"
