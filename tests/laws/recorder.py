"""Record what the process opens for writing, and judge it by the table of who writes what (Law 2).

An audit hook can't be taken out again, so one is installed at the first use and asleep outside `recording`. SQLite's own
files are seen through the name of the database; programs that are started are out of sight.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.guard import CHANGES, OPENING, WRITE_FLAGS, absolute, changed, placed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_KINDS = "decision|finding|task|plan|experience"
MAKE, PUT, OPEN, REMOVE = "make a folder", "put", "open for writing", "remove"
RULES = (
    # a folder on the way to a record, or one that `init` makes
    (
        re.compile(rf"\.?|projects(/[^/]+(/(_index|{_KINDS}))?)?|shared(/({_KINDS}))?|learnings|machine|responses"),
        {MAKE},
    ),
    # records: only ever put under their name, whole; where links are not to be had, by way of a hidden neighbour
    (re.compile(rf"(projects/[^/]+|shared)/({_KINDS})/[^./][^/]*\.md"), {PUT}),
    (re.compile(rf"(projects/[^/]+|shared)/({_KINDS})/\.[^/]+\.tmp"), {OPEN, REMOVE}),
    (re.compile(r"responses/[^/]+\.json"), {PUT}),
    (re.compile(r"machine/[^/]+\.json|projects/[^/]+/[a-z_]+\.json"), {PUT}),
    (re.compile(r"events\.log"), {OPEN}),
    (re.compile(r"index\.json(\.broken)?|projects/[^/]+/_index/[^/]+"), {PUT, REMOVE}),
    (re.compile(r"_(back)?links(/[^/]+\.jsonl)?"), {MAKE, PUT, REMOVE}),
    (re.compile(r"_state(/.*)?"), {MAKE, PUT, OPEN, REMOVE}),
    # the registry of projects, in the home of the Root; here of a Root that is a world of its own
    (re.compile(r"\.clawseat(/projects\.json(\.bak|\.lock)?)?|\.clawseat/\.new-[^/]+"), {MAKE, PUT, OPEN, REMOVE}),
)
"""Root-relative path -> what our processes may do there. Whatever matches no row is forbidden, above all a seat's folder."""

_PRIVATE_COPY = re.compile(rf"{re.escape(tempfile.gettempdir())}/oracle-[^/]+(/index\.db(-wal|-shm|-journal)?)?")
"""The doctor's copy of the index, which is removed as soon as SQLite has it open."""

_ACTIONS = {
    "os.chmod": PUT,
    "os.chown": PUT,
    "os.link": PUT,
    "os.mkdir": MAKE,
    "os.remove": REMOVE,
    "os.rename": PUT,
    "os.rmdir": REMOVE,
    "os.symlink": PUT,
    "os.truncate": OPEN,
    "os.utime": PUT,
    "shutil.rmtree": REMOVE,
    "sqlite3.connect": OPEN,
}


@dataclass(frozen=True)
class Act:
    """One thing done to one absolute path."""

    event: str
    action: str
    path: str


class Recorder:
    """The hook: keeps what happens while `acts` is a list."""

    def __init__(self) -> None:
        self.acts: list[Act] | None = None

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if self.acts is None:
            return
        if event == "open":
            path, mode, flags = args
            path = placed(path, OPENING.folder)
            if flags & WRITE_FLAGS or (mode and any(letter in mode for letter in "wax+")):
                self._keep(event, OPEN, path)
        elif event == "os.rename":
            old, new = changed(event, args)
            self._keep(event, REMOVE, old)
            self._keep(event, PUT, new)
        elif event in CHANGES:
            for path in changed(event, args):
                self._keep(event, _ACTIONS[event], path)

    def _keep(self, event: str, action: str, path: Any) -> None:
        name = absolute(path)
        if name and "__pycache__" not in name and self.acts is not None:
            self.acts.append(Act(event, action, name))


_installed: list[Recorder] = []


@contextlib.contextmanager
def recording() -> Iterator[list[Act]]:
    """Give the list that fills with every change this process makes to the disk while the block runs."""
    if not _installed:
        _installed.append(Recorder())
        sys.addaudithook(_installed[0])
    recorder = _installed[0]
    before, acts = recorder.acts, []
    recorder.acts = acts
    try:
        yield acts
    finally:
        recorder.acts = before
        if before is not None:
            before += acts


def judge(acts: list[Act], root: Path | str) -> list[str]:
    """Return a sentence for each act that no row of the table allows."""
    tops = {absolute(root), os.path.realpath(root)}
    return list(dict.fromkeys(f"{act.event}: {act.action} {act.path}" for act in acts if not _is_allowed(act, tops)))


def _is_allowed(act: Act, tops: set[str]) -> bool:
    if act.path == os.devnull or _PRIVATE_COPY.fullmatch(act.path):  # nothing is kept there
        return True
    for top in tops:
        if act.path == top or act.path.startswith(top + "/"):
            inside = os.path.relpath(act.path, top)
            return any(rule.fullmatch(inside) and act.action in allowed for rule, allowed in RULES)
    # a folder above the Root may be made on the way to it, never anything in it
    return act.action == MAKE and any(top.startswith(act.path + "/") for top in tops)
