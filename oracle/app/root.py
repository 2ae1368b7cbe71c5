"""Create a Root, report what a reconcile would change, keep the log of crashes."""

from __future__ import annotations

import contextlib
import os

from oracle.app.context import Context
from oracle.domain import timestamps
from oracle.domain.values import value
from oracle.errors import OracleError, UsageError
from oracle.store.disk import files, folders
from oracle.store.root.layout import RECORD_TREES
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Unpack

    from oracle.index.reports import ReconcileReport, Wanted
    from oracle.store.root.layout import Root
    from oracle.wording import Sentence

__all__ = [
    "RECORD_TREES",
    "IndexState",
    "check",
    "init",
    "links_out",
    "note_crash",
    "note_hook",
    "read_index_state",
    "reconcile",
    "reprint",
]

_FOLDERS = (*RECORD_TREES, "machine", "responses")


def init(context: Context, *, shared: bool = False) -> bool:
    """Create the Root, 0700; return whether it is new. `shared` gives it to its group: folders 2770, files 0660, old ones too."""
    path = context.root.path
    if shared and context.root.agents != path:
        raise UsageError(
            say("{path} lies in a home folder, which others can't enter.", path=path),
            hint=say("Share a Root elsewhere: oracle init --shared --memory-dir /srv/team"),
        )
    context.root.require_place()
    is_new = not any(os.path.lexists(context.root.join(folder)) for folder in _FOLDERS)
    files.make_folder(path)
    if shared:
        _share(path)
    for folder in _FOLDERS:
        files.make_folder(context.root.join(folder))
    if is_new and os.stat(path).st_mode & folders.strangers(path):
        import shlex

        context.warn(
            say(
                "{path} was there and is open to others; for its owner alone: chmod 700 {quoted}",
                path=path,
                quoted=shlex.quote(path),
            )
        )
    reconcile(context)
    return is_new


def _share(path: str) -> None:
    """Give a Root to its group: every folder and file that is ours, except for the token of a server."""
    for folder, _, names in os.walk(path):
        handle = folders.enter(folder)
        folders.share(handle)
        os.close(handle)
        for name in names:
            file = f"{folder}/{name}"
            with contextlib.suppress(OSError, OracleError):  # a link, or a file of somebody else
                if name != "mcp.token":
                    files.set_mode(file, files.SHARED_FILE_MODE)


def reconcile(context: Context, **wanted: Unpack[Wanted]) -> ReconcileReport:
    """Make index and projections agree with the files. Raises TreeEmptied, LockTimeout, DiskFailure.

    `full` stats every file and compares every projection; `rebuild` builds the index from the files.
    """
    report = context.index.reconcile(patience=None, reads_values=not wanted.get("rebuild"), **wanted)
    for sentence in links_out(context.root):
        context.warn(sentence)
    return reprint(context, report) if wanted.get("full") and not wanted.get("rebuild") else report


def reprint(context: Context, report: ReconcileReport) -> ReconcileReport:
    """Compare every projection with the index and print those that differ; return the report with their number."""
    from oracle.index.reports import ReconcileReport
    from oracle.index.write import projections

    database = context.index.database
    if database.in_memory:
        return report
    with context.index.lock():
        printed = projections.print_all(database.connect(), context.root)
    return ReconcileReport(report.taken, report.dropped, printed, report.rebuilt)


def links_out(root: Root) -> list[Sentence]:
    """Return what to say of folders of projections that are symbolic links, in which nothing is printed."""
    import shlex

    from oracle.index.write import projections

    return [
        say(
            "{folder} is a symbolic link: nothing is printed there. Remove it and run the command again: rm {path}",
            folder=name,
            path=shlex.quote(root.join(name)),
        )
        for name in projections.linked(root)
    ]


@value
class IndexState:
    """The index at a moment: `version` moves with every commit, `changed` holds when files changed (ctime, ns since 1970)."""

    version: tuple[int, int]
    changed: tuple[int, ...]
    records: int


def read_index_state(context: Context, since_ns: int, *, known: tuple[int, int]) -> IndexState | None:
    """Return the state of the index, with the records changed after `since_ns`; None if it is damaged. Reads no record.

    If its version is still `known`, nothing is counted: that takes time in a large Root.
    """
    from oracle.index.db import Corrupt
    from oracle.index.read import query

    try:
        connection = context.index.database.connect()
        version = (connection.total_changes, connection.execute("PRAGMA data_version").fetchone()[0])
        if version == known:
            return IndexState(version, (), 0)
        records = connection.execute("SELECT count(*) FROM record").fetchone()[0]
        return IndexState(version, tuple(query.changed_since(connection, since_ns)), records)
    except Corrupt:
        return None


def check(context: Context) -> list[tuple[str, str]]:
    """Return (what, root-relative path) of everything that a full reconcile would change; nothing is changed."""
    from oracle.index.write import pending

    context.root.require()
    return pending.differences(context.index.database)


class Unexpected(OracleError):
    """An unexpected error. Its traceback is in the log of the Root."""


def unexpected(memory_dir: str | None, error: Exception, *, with_message: bool = True) -> Unexpected:
    """Keep the traceback of an error in the log of a Root. Return the error to show, which says where it is."""
    import traceback

    path = ""
    with contextlib.suppress(Exception):
        path = note_crash(Context.open(memory_dir), "".join(traceback.format_exception(error)))
    message = f": {error}" if with_message and str(error) else ""
    what = f"{type(error).__name__}{message}".splitlines()[0][:200]
    hint = say("Details are in {path}.", path=path)
    if not path:
        hint = say("The Root can't be written, so no details were kept.")
    return Unexpected(say("Unexpected error: {what}.", what=what), hint=hint)


def note_crash(context: Context, trace: str) -> str:
    """Append a traceback to `_state/oracle.log`, 0600, without credentials; a Root that can't be written gives ""."""
    from oracle.domain.safety.secrets import redact

    if not os.path.isdir(context.root.path):
        return ""
    moment = timestamps.from_mtime(context.clock.now_ns())
    try:
        files.make_folder(context.root.state)
        files.append_line(context.root.log, f"{moment}\n{redact(trace)[0]}".encode("utf-8", "backslashreplace"))
    except OracleError:
        return ""
    return context.root.log


def note_hook(context: Context, what: str, detail: str, session_id: str = "") -> None:
    """Append a line to `_state/hook.log` if the Root exists, without credentials. A failure is ignored."""
    import json

    from oracle.domain.safety.secrets import redact

    if not os.path.isdir(context.root.path):
        return
    moment = timestamps.from_mtime(context.clock.now_ns())
    said = {"what": what, "session": session_id, "detail": detail[:2000]}
    line = json.dumps({"ts": moment, **{key: redact(text)[0] for key, text in said.items()}}, ensure_ascii=False)
    with contextlib.suppress(OracleError, OSError):
        files.make_folder(context.root.state)
        files.append_line(context.root.hook_log, line.encode("utf-8", "backslashreplace"))
