"""The registry of sources, and which of them this machine reads.

`config/sources.json` lists them. A Root may come from elsewhere, so an entry counts only after the owner of the machine
allowed it: the allowed entries are kept outside of the Root.
"""

from __future__ import annotations

import json
import os

from oracle.domain.names import is_name
from oracle.domain.sources.source import KINDS, Source
from oracle.domain.values import replace
from oracle.errors import OwnershipError, UsageError
from oracle.store.disk.folders import open_plain
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    from oracle.wording import Sentence

    class SourcePlaces(Protocol):
        """What is needed of a Root."""

        path: str
        source_list: str

        @property
        def allowed_sources(self) -> str:
            """The list of allowed sources, outside of any Root."""
            ...


_MOST_BYTES = 1 << 20
_KEYS = ("name", "project", "kind", "path", "seat")


def stamp(root: SourcePlaces) -> tuple[object, ...]:
    """Return a value that changes when the registry or the list of allowed sources does."""
    found = _stat(root.source_list)
    return () if found is None else (found, _stat(root.allowed_sources))


def _stat(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def load(root: SourcePlaces) -> dict[str, Source]:
    """Return the sources by their folders in the Root. Entries that cannot be used are left out."""
    try:
        listed = read(root)
    except UsageError:
        return {}
    allowed = load_allowed(root)
    found: dict[str, Source] = {}
    for source in listed:
        why = why_refused(root, source.folder) if source in allowed else _not_allowed(source)
        found.setdefault(source.tree, replace(source, why_not=why))
    return found


def load_allowed(root: SourcePlaces) -> list[Source]:
    """Return the sources of the Root that the owner of this machine allowed, as their entries were then."""
    entries = _allowed(root).get(os.path.realpath(root.path), [])
    found = map(_source, entries) if isinstance(entries, list) else []
    return [source for source in found if source is not None]


def read(root: SourcePlaces) -> list[Source]:
    """Return the entries of the registry. Raises UsageError for a file that cannot be read, or has an invalid entry."""
    try:
        with open_plain(root.source_list) as stream:
            content = json.loads(stream.read(_MOST_BYTES))
        entries = content["sources"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise _invalid(root, say("it cannot be read")) from error
    if not isinstance(entries, list):
        raise _invalid(root, say("it cannot be read"))
    found = [_source(entry) for entry in entries]
    if None in found:
        raise _invalid(root, say("entry {number} is not valid", number=found.index(None) + 1))
    return [source for source in found if source is not None]


def _source(entry: object) -> Source | None:
    if not isinstance(entry, dict):
        return None
    texts = [entry.get(key) for key in _KEYS]
    if not all(isinstance(text, str) for text in texts):
        return None
    name, project, kind, folder, seat = map(str, texts)
    is_valid = all(map(is_name, (name, project, seat))) and kind in KINDS
    is_folder = folder == os.path.normpath(folder) and folder.startswith("/") and folder != "/" and "\0" not in folder
    is_open = entry.get("long_term", False) is True
    return Source(name, project, kind, folder, seat, is_open) if is_valid and is_folder else None


def _invalid(root: SourcePlaces, fault: Sentence) -> UsageError:
    return UsageError(
        say("{path} is not used: {fault}.", path=root.source_list, fault=fault),
        hint=say("Correct it, or remove it and add the sources again."),
    )


def _not_allowed(source: Source) -> Sentence:
    return say(
        "The source {path} is not allowed on this machine. To read it: oracle source allow {name} --project {project}",
        path=source.folder,
        name=source.name,
        project=source.project,
    )


def why_refused(root: SourcePlaces, folder: str) -> Sentence | str:
    """Return why a folder cannot be a source of the Root, "" if it can: neither may contain the other."""
    base, real = os.path.realpath(root.path), os.path.realpath(folder)
    if f"{real}/".startswith(f"{base}/"):
        return say("{path} is inside the Root, whose records are read anyway.", path=folder)
    if f"{base}/".startswith(f"{real.rstrip('/')}/"):
        return say("{path} contains the Root {root}.", path=folder, root=root.path)
    return ""


def save(root: SourcePlaces, sources: Iterable[Source]) -> None:
    """Write the registry. Raises DiskFailure."""
    from oracle.store.disk import steps

    content = {"version": 1, "sources": [source.as_json() for source in sources]}
    steps.replace(root.source_list, _printed(content))


def allow(root: SourcePlaces, sources: Iterable[Source]) -> None:
    """Write which entries of this Root may be read on this machine, in place of those before.

    Raises OwnershipError if others may write the list, DiskFailure.
    """
    from oracle.store.disk import files, steps

    path = root.allowed_sources
    files.make_folder(os.path.dirname(path))
    with steps.FileLock(path):
        files.require_own_list(path)
        known = {**_allowed(root), os.path.realpath(root.path): [source.as_json() for source in sources]}
        steps.replace(path, _printed(known))


def _printed(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def _allowed(root: SourcePlaces) -> Mapping[str, object]:
    """Return the allowed entries of each Root; none if others may write the file or its folder."""
    from oracle.store.disk import files

    try:
        with open_plain(files.require_own_list(root.allowed_sources)) as stream:
            content = json.loads(stream.read(_MOST_BYTES))
    except (OwnershipError, OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
