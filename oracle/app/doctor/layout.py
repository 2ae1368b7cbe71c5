"""Checks of names and places: links, strays, older layouts, odd names, folders in the way. Reads names and stats only."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress

from oracle.app.doctor.context import (
    FIX,
    Check,
    CheckContext,
    TreeEntry,
    capped,
    error,
    first_few,
    note,
    quoted,
    warning,
)
from oracle.domain.names import ORPHAN_KINDS, PATROL_FOLDERS, RECORD_SUFFIXES, check_name, role_of, slug_of
from oracle.errors import InvalidName, OracleError
from oracle.store.disk import folders
from oracle.store.root import profile
from oracle.store.root.layout import LEGACY_PLURALS, RECORD_TREES
from oracle.wording import say, say_many

_KNOWN_FOLDERS = frozenset({*ORPHAN_KINDS, *LEGACY_PLURALS, *LEGACY_PLURALS.values(), "spec"})
_NEAR_SUFFIXES = (".markdown", ".mdown", ".mkd", ".mkdn", ".mdwn", ".mdx", ".md.txt")


def check_links(context: CheckContext) -> Iterator[Check]:
    """Report symbolic links that leave the Root. Links inside the Root are followed."""
    leaving = [entry for entry in (*context.tree.entries, *context.tree.derived) if leaves(context, entry)]
    yield from capped(
        warning(
            "links",
            say(
                "{path} is a symbolic link that leaves the Root ({target}); it is not followed",
                path=entry.path,
                target=_read_link(context, entry),
            ),
            say("rm {path}, and copy what it points at if it belongs here", path=quoted(context.root.join(entry.path))),
        )
        for entry in leaving
    )


def leaves(context: CheckContext, entry: TreeEntry) -> bool:
    """Return whether an entry is a symbolic link that leaves the Root."""
    return entry.is_link and not context.root.contains(context.root.join(entry.path))


def _read_link(context: CheckContext, entry: TreeEntry) -> str:
    try:
        return os.readlink(context.root.join(entry.path))
    except OSError:
        return say("gone")


def check_strays(context: CheckContext) -> Iterator[Check]:
    """Report folders of a project that belong to no seat or kind (a likely seat's is a note), and files outside of projects."""
    yield from capped(filter(None, map(_stray, context.tree.entries)))
    yield from capped(_unknown_seats(context))


def _unknown_seats(context: CheckContext) -> Iterator[Check]:
    rosters: dict[str, tuple[str, ...]] = {}
    for entry in context.tree.entries:
        parts = entry.parts
        if len(parts) != 3 or parts[0] != "projects" or not entry.is_folder or entry.is_link:
            continue
        if parts[2] in _KNOWN_FOLDERS or role_of(parts[2]):
            continue
        if parts[1] not in rosters:
            rosters[parts[1]] = _roster(context, parts[1])
        if parts[2] not in rosters[parts[1]]:
            yield note(
                "strays",
                say(
                    "{path}/ is named after no role and no kind; it is read as a seat's folder without rules",
                    path=entry.path,
                ),
                say("Leave it if there is such a seat, else move its files into the folder of the seat that owns them"),
            )


def _roster(context: CheckContext, project: str) -> tuple[str, ...]:
    with suppress(OracleError, OSError):
        return profile.load(context.root, project, os.environ).seats
    return ()


def _stray(entry: TreeEntry) -> Check | None:
    parts = entry.parts
    if parts[0] != "projects" or entry.is_link:
        return None
    if len(parts) == 2 and not entry.is_folder:
        return warning(
            "strays",
            say("{path} lies between the projects", path=entry.path),
            say("Move it into the folder of its project and seat"),
        )
    if len(parts) == 4 and role_of(parts[2]) == "patrol" and entry.is_folder and parts[3] not in PATROL_FOLDERS:
        return warning(
            "strays",
            say("{path}/ is not one of the patrol's folders", path=entry.path),
            say("Move its files into one of {known}", known=PATROL_FOLDERS),
        )
    return None


def check_old_layouts(context: CheckContext) -> Iterator[Check]:
    """Count files of the older layouts: they are read and never written."""
    plural = [
        entry.path
        for entry in context.tree.entries
        if entry.is_file and len(entry.parts) > 3 and entry.parts[0] == "projects" and entry.parts[2] in LEGACY_PLURALS
    ]
    flat = [
        entry.path
        for entry in context.tree.entries
        if entry.is_file and len(entry.parts) == 1 and entry.name.endswith(".json") and entry.name != "index.json"
    ]
    if plural:
        yield note(
            "old layouts",
            say_many(
                "{n} record in a plural folder, read, never written: {names}",
                "{n} records in plural folders, read, never written: {names}",
                n=len(plural),
                names=first_few(plural, 3),
            ),
        )
    if flat:
        yield note(
            "old layouts",
            say_many(
                "{n} flat fact file, read, never written (machine/ wins): {names}",
                "{n} flat fact files, read, never written (machine/ wins): {names}",
                n=len(flat),
                names=first_few(flat, 3),
            ),
        )


def check_names(context: CheckContext) -> Iterator[Check]:
    """Report files and folders whose names give no usable slug, or one that two people would type differently."""
    yield from capped(filter(None, (_odd_name(context, entry) for entry in _in_trees(context))))


def _odd_name(context: CheckContext, entry: TreeEntry) -> Check | None:
    fix = say("Its owner renames it: {path}", path=quoted(context.root.join(entry.path)))
    reason = _why_odd(entry)
    return warning("names", say("{path}: {reason}", path=entry.path, reason=reason), fix) if reason else None


def _why_odd(entry: TreeEntry) -> str:
    name = entry.name
    if any("\ud800" <= char <= "\udfff" for char in name):
        return say("the name is not UTF-8, so it is not read")
    if not name.isprintable():
        return say("the name holds control characters")
    if name != name.strip() or slug_of(name) != slug_of(name).strip():
        return say("the name begins or ends with a blank")
    if name != unicodedata.normalize("NFC", name):
        return say("the name is not in Unicode's composed form (NFC), so a typed slug may not match it")
    if entry.is_folder and entry.path.startswith("projects/") and len(entry.parts) == 2:
        return _why_no_project(name)
    return ""


def _why_no_project(name: str) -> str:
    try:
        check_name(name.removeprefix("_"), "project")
    except InvalidName:
        return say("the folder's name is not a valid project name, so no command can refer to it")
    return ""


def check_suffixes(context: CheckContext) -> Iterator[Check]:
    """Report files that look like records and are not read for their suffix."""
    near = [entry for entry in _in_trees(context) if entry.is_file and _is_near_miss(entry.name)]
    yield from capped(
        warning(
            "suffixes",
            say("{path} is not read: only .md and .json are", path=entry.path),
            say("Its owner renames it to {name}", name=quoted(_stem(entry.path) + ".md")),
        )
        for entry in near
    )


def _is_near_miss(name: str) -> bool:
    folded = name.casefold()
    if folded.endswith(_NEAR_SUFFIXES):
        return True
    return folded.endswith(RECORD_SUFFIXES) and not name.endswith(RECORD_SUFFIXES)


def _stem(path: str) -> str:
    lengths = [len(suffix) for suffix in (*_NEAR_SUFFIXES, *RECORD_SUFFIXES) if path.casefold().endswith(suffix)]
    return path[: -max(lengths)]


def check_twins(context: CheckContext) -> Iterator[Check]:
    """Report files that want the same slug: `x.json` beside `x.md` is known by its full name only."""
    twins = [
        entry.path
        for entry in _in_trees(context)
        if not entry.is_folder
        and entry.name.endswith(".json")
        and _is_name_of_a_file(context, f"{slug_of(entry.path)}.md")
    ]
    yield from capped(
        warning(
            "twins",
            say("{path} lies next to {slug}.md; its slug keeps the suffix", path=path, slug=slug_of(path)),
            say("Its owner keeps one of the two"),
        )
        for path in twins
    )


def _is_name_of_a_file(context: CheckContext, path: str) -> bool:
    try:
        return not stat.S_ISDIR(os.lstat(context.root.join(path)).st_mode)
    except OSError:
        return False


def _in_trees(context: CheckContext) -> Iterable[TreeEntry]:
    return (entry for entry in context.tree.entries if entry.parts[0] in RECORD_TREES)


_PRINTED = ("_links", "_backlinks")
_DATABASE = ("_state/oracle.db", "_state/oracle.db-wal", "_state/oracle.db-shm")


def check_folders_in_the_way(context: CheckContext) -> Iterator[Check]:
    """Report folders where projections and published files belong. Empty ones can be removed."""
    yield from capped(
        error("shapes", say("{path} must be a file, but is an empty folder", path=entry.path), FIX)
        if is_hollow(path)
        else error(
            "shapes",
            say("{path} must be a file, but is a folder that holds files", path=entry.path),
            say("Move it away: {path}, then {fix}", path=quoted(path), fix=FIX),
        )
        for entry, path in folders_in_the_way(context)
    )


def folders_in_the_way(context: CheckContext) -> list[tuple[TreeEntry, str]]:
    """Return the folders where a projection or a published file belongs, each with its absolute path."""
    return [
        (entry, context.root.join(entry.path))
        for entry in context.tree.derived
        if entry.is_folder and _is_place_of_a_file(entry)
    ]


def _is_place_of_a_file(entry: TreeEntry) -> bool:
    folder, _, name = entry.path.rpartition("/")
    if folder in _PRINTED or entry.path in _DATABASE:
        return True
    return folder.endswith("/_index") and name.endswith((".json", ".jsonl"))


def is_hollow(path: str) -> bool:
    """Return whether a folder holds nothing but folders. One that can't be read may hold anything."""
    try:
        with os.scandir(path) as entries:
            return all(entry.is_dir(follow_symlinks=False) and is_hollow(entry.path) for entry in entries)
    except (OSError, RecursionError):
        return False


def remove_hollow(path: str) -> None:
    """Remove a folder that holds nothing but folders. Raises OSError, and removes no file, if it holds one by now."""
    for folder, _, _ in os.walk(path, topdown=False):
        folders.remove(folder)
