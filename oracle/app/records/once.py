"""Write an orphan record once: a step that is repeated, also by several processes at a time, finds the record. App room."""

from __future__ import annotations

import os

from oracle.app.records.listing import list_records
from oracle.app.records.write import write
from oracle.app.root import init
from oracle.errors import NotFound
from oracle.store.disk.steps import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.domain.records.drafts import Draft


def make_root(context: Context) -> None:
    """Make the Root when there is none: the first record does. Raises RootUnusable."""
    if not os.path.isdir(context.root.path):
        init(context)


def find_record(context: Context, draft: Draft) -> str:
    """Return the path of the record of this project, kind and title, "" when there is none."""
    filters = {"project": draft.project, "kind": draft.kind}
    try:
        found = list_records(context, {**filters, "task": draft.task_id} if draft.task_id else filters, fresh=True)
    except NotFound:
        return ""
    title = " ".join(draft.title.split())
    return next((context.root.join(item.path) for item in found if item.title == title), "")


def write_once(context: Context, draft: Draft) -> str:
    """Return the path of the record, written now unless one of its project, kind and title stands; the Root is made when new.

    What looks like a secret is replaced. Raises what a write raises.
    """
    with alone(context):
        return find_record(context, draft) or write(context, draft, secrets="redact").path


def alone(context: Context) -> FileLock:
    """Return the lock under which a record is looked for and then written; the Root is there. Taken before the write lock."""
    make_root(context)
    return FileLock(f"{context.root.state}/once")
