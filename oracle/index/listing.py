"""List a folder of records by names and stats, without reading a file: what a look compares with the index.

Cheap to import and to run. The digest of a folder is a sum over its files' stats. It needs no order and no names,
because a rename changes the folder's mtime and the file's ctime.
"""

from __future__ import annotations

import os
import stat
from collections import namedtuple

from oracle.store.disk.folders import LARGEST, Stat, bound, stat_of
from oracle.store.root.layout import RecordTree, Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Folder(NamedTuple):
        """The content of a folder: record files by name, sub-folders, and names that cannot be records with the reason."""

        mtime_ns: int
        files: dict[str, Stat]
        folders: list[str]
        odd: dict[str, str]

else:
    Folder = namedtuple("Folder", "mtime_ns files folders odd")

UNREADABLE_REASONS = ("The folder can't be read", "The file can't be read")

_MASK = (1 << 62) - 1
NAMED_LIKE_A_RECORD = say("A folder with the name of a record; its content is read.")
LINKED_FOLDER = say("A symbolic link to a folder is not followed; its target is read in its own place.")
DANGLING = say("A symbolic link that leads to no record.")

ABSENT, NOT_A_FOLDER, UNREADABLE = -LARGEST - 1, -LARGEST, -LARGEST + 1
"""Stand-ins for the mtime of a folder: nothing has the name, something else has it, or it cannot be listed."""

_LOOKS = 4
"""How often a folder is listed at most while its files change."""


def folder_mtime(root: Root, path: str) -> int:
    """Return the mtime of a root-relative folder in ns, ABSENT if it does not exist, NOT_A_FOLDER for a link or anything else."""
    source = root.source_of(path)
    is_top = source is not None and path == source.tree
    try:
        status = os.lstat(root.join(path))
    except OSError:
        return ABSENT
    if source is not None and (source.why_not or (is_top and not stat.S_ISDIR(status.st_mode))):
        return ABSENT
    return bound(status.st_mtime_ns) if stat.S_ISDIR(status.st_mode) else NOT_A_FOLDER


def read_folder(root: Root, path: str) -> Folder:
    """List a folder. Links that leave the Root, dangling links, unreadable names and names that are not UTF-8 are `odd`.

    A link to a file inside the Root counts as a file; a link to a folder is never followed. An unreadable folder is
    itself odd, under the name "". A missing one is ABSENT. If something vanishes meanwhile, the folder is listed again,
    since a renamed file may have moved to a part that was listed already.
    """
    folder, is_steady = _list(root, path)
    for _ in range(_LOOKS - 1):
        if is_steady:
            break
        folder, is_steady = _list(root, path)
    return folder


def _list(root: Root, path: str) -> tuple[Folder, bool]:
    """List a folder once. The second value tells whether nothing in it changed meanwhile."""
    files: dict[str, Stat] = {}
    folders: list[str] = []
    odd: dict[str, str] = {}
    place = root.join(path)
    is_steady, tree = True, RecordTree(root, path)
    if tree.beads:
        return _list_issues(tree.beads), True
    try:
        mtime_ns = os.stat(place).st_mtime_ns
        with os.scandir(place) as entries:
            for entry in entries:
                try:
                    _sort_in(tree, entry, files, folders, odd)
                except FileNotFoundError:
                    is_steady = False
        is_steady = is_steady and os.stat(place).st_mtime_ns == mtime_ns
    except FileNotFoundError:
        return Folder(ABSENT, {}, [], {}), True
    except OSError as error:
        return Folder(UNREADABLE, {}, [], {"": say("The folder can't be read: {reason}.", reason=error.strerror)}), True
    return Folder(bound(mtime_ns), files, folders, odd), is_steady


def _list_issues(folder: str) -> Folder:
    """List the issues of beads as if each had a file of its own."""
    from oracle.domain.sources.source import ISSUES
    from oracle.store.markdown import sources

    odd: dict[str, str] = {}
    try:
        mtime_ns = bound(os.stat(folder).st_mtime_ns)
        found, bad, status = sources.issues(folder)
    except OSError as error:
        return Folder(UNREADABLE, {}, [], {"": say("The file can't be read: {reason}.", reason=error.strerror)})
    if bad:
        odd[ISSUES] = say("Lines that hold no issue: {lines}.", lines=", ".join(map(str, bad[:10])))
    return Folder(mtime_ns, dict.fromkeys(found, stat_of(status)), [], odd)


def _sort_in(
    tree: RecordTree, entry: os.DirEntry[str], files: dict[str, Stat], folders: list[str], odd: dict[str, str]
) -> None:
    name = entry.name
    if name[0] == "." or (tree.is_foreign and _leave_out(tree, entry, odd)):
        return
    if name.endswith(tree.suffixes) and _is_record(tree, entry):
        if tree.wants(name, is_folder=False):
            files[name] = stat_of(entry.stat())
    elif entry.is_dir(follow_symlinks=False):
        if not tree.wants(name, is_folder=True):
            return
        if not is_text(name):
            odd[printable(name)] = say("The folder's name is not UTF-8.")
            return
        folders.append(name)
        if name.endswith(tree.suffixes):
            odd[printable(name)] = NAMED_LIKE_A_RECORD
    elif (entry.is_symlink() and not tree.is_foreign) or name.endswith(tree.suffixes):
        odd[printable(name)] = _why_odd(tree, entry)


def _leave_out(tree: RecordTree, entry: os.DirEntry[str], odd: dict[str, str]) -> bool:
    """Return whether the name of an entry holds a credential. One that would be read is `odd`, with a marker in its name."""
    from oracle.domain.sources.source import without_secret

    name = printable(entry.name)
    clean = without_secret(name)
    if clean == name:
        return False
    is_folder = entry.is_dir(follow_symlinks=False)
    if (is_folder or name.endswith(tree.suffixes)) and tree.wants(entry.name, is_folder=is_folder):
        odd[clean] = say("Its name holds a credential, so it is not read.")
    return True


def _is_record(tree: RecordTree, entry: os.DirEntry[str]) -> bool:
    """Return whether an entry with a record's suffix is a record: a regular file, or a link to one inside the Root."""
    if not is_text(entry.name):
        return False
    try:
        if entry.is_symlink():
            return entry.is_file() and tree.holds_record(entry.path)
        return entry.is_file(follow_symlinks=False)
    except OSError:  # a link to itself
        return False


def _why_odd(tree: RecordTree, entry: os.DirEntry[str]) -> str:
    if not is_text(entry.name):
        return say("The file's name is not UTF-8.")
    if not entry.is_symlink():
        return say("Not a regular file.")
    if not tree.contains(entry.path):
        if tree.is_foreign:
            return say("A symbolic link that leaves the source is not followed.")
        return say("A symbolic link that leaves the Root is not followed.")
    if os.path.isfile(entry.path) and not tree.holds_record(entry.path):
        return say("A symbolic link to a file that is not a record is not followed.")
    if os.path.isdir(entry.path):
        return LINKED_FOLDER
    return DANGLING


def is_text(name: str) -> bool:
    """Return whether a file name is UTF-8."""
    return name.isascii() or not any("\ud800" <= char <= "\udfff" for char in name)


def printable(name: str) -> str:
    """Return a file name for a report, with control characters and bytes that are not UTF-8 escaped."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def digest_of(folder: Folder) -> int:
    """Return a number that depends on all stats and odd names, but not on their order."""
    return (sum(map(hash, folder.files.values())) + _digest_odd(folder.odd)) & _MASK


def _digest_odd(odd: dict[str, str]) -> int:
    """Return a number for odd names and their reasons, the same in every process."""
    if not odd:
        return 0
    from zlib import crc32

    return sum(crc32(f"{name}/{reason}".encode()) for name, reason in odd.items() if name)


def digest_folder(root: Root, path: str, subfolders: set[str]) -> tuple[int, int, bool]:
    """Return (file count, digest, whether the sub-folders are `subfolders`).

    This is the inner loop of a full scan and builds no lists.

    Anything but a regular file with an ordinary name is treated as in `read_folder`, so that both agree on the digest.
    """
    total = count = 0
    files: dict[str, Stat] = {}
    folders: list[str] = []
    odd: dict[str, str] = {}
    tree = RecordTree(root, path)
    if tree.beads:
        issues = _list_issues(tree.beads)
        return len(issues.files), digest_of(issues), not subfolders
    suffixes, takes_all = tree.suffixes, not tree.is_foreign
    with os.scandir(root.join(path)) as entries:
        for entry in entries:
            name = entry.name
            is_plain = takes_all and name.endswith(suffixes) and name.isascii() and name[0] != "."
            if is_plain and entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                key = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns)
                total += hash(key if max(key) < LARGEST and key[0] >= 0 else stat_of(status))
                count += 1
            else:
                _sort_in(tree, entry, files, folders, odd)
    total += sum(map(hash, files.values())) + _digest_odd(odd)
    return count + len(files), total & _MASK, len(folders) == len(subfolders) and subfolders.issuperset(folders)


def list_folder(root: Root, path: str) -> Folder:
    """List a root-relative folder. One that is missing or a link comes back empty."""
    mtime_ns = folder_mtime(root, path)
    source = root.source_of(path)
    if source is not None and path == source.tree and mtime_ns == ABSENT:
        return Folder(
            mtime_ns, {}, [], {"": source.why_not or say("The source {path} is not there.", path=source.folder)}
        )
    if mtime_ns == NOT_A_FOLDER:
        return Folder(mtime_ns, {}, [], {"": say("Not a folder; a symbolic link is not followed here.")})
    return Folder(mtime_ns, {}, [], {}) if mtime_ns == ABSENT else read_folder(root, path)
