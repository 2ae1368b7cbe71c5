"""Write an orphan record once: a step that is repeated, also by several processes at a time, finds the record. App room."""

from __future__ import annotations

import os

from oracle.errors import NotFound
from oracle.store.disk.steps import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.api import Oracle
    from oracle.domain.records.drafts import Draft


def make_root(oracle: Oracle) -> None:
    """Make the Root when there is none: the first record does. Raises RootUnusable."""
    if not os.path.isdir(oracle.root.path):
        oracle.init()


def find_record(oracle: Oracle, draft: Draft) -> str:
    """Return the path of the record of this project, kind and title, "" when there is none."""
    filters = {"project": draft.project, "kind": draft.kind}
    try:
        found = oracle.records({**filters, "task": draft.task_id} if draft.task_id else filters, fresh=True)
    except NotFound:
        return ""
    title = " ".join(draft.title.split())
    return next((oracle.root.join(item.path) for item in found if item.title == title), "")


def write_once(oracle: Oracle, draft: Draft) -> str:
    """Return the path of the record, written now unless one of its project, kind and title stands; the Root is made when new.

    What looks like a secret is replaced. Raises what a write raises.
    """
    with alone(oracle):
        return find_record(oracle, draft) or oracle.write(draft, secrets="redact").path


def alone(oracle: Oracle) -> FileLock:
    """Return the lock under which a record is looked for and then written; the Root is there. Taken before the write lock."""
    make_root(oracle)
    return FileLock(f"{oracle.root.state}/once")
