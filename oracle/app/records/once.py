"""Write a record once: a repeated step finds the record, also when several processes repeat it at a time."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.app.records.listing import list_records
from oracle.app.records.write import write
from oracle.app.root import init
from oracle.domain.records.drafts import Draft
from oracle.errors import NotFound
from oracle.store.disk.steps import FileLock


def make_root(context: Context) -> None:
    """Create the Root if it does not exist. Raises RootUnusable."""
    if not os.path.isdir(context.root.path):
        init(context)


def find_record(context: Context, draft: Draft) -> str:
    """Return the path of the record of this project, kind and title, or ""."""
    filters = {"project": draft.project, "kind": draft.kind}
    try:
        found = list_records(context, {**filters, "task": draft.task_id} if draft.task_id else filters, fresh=True)
    except NotFound:
        return ""
    title = " ".join(draft.title.split())
    return next((context.root.join(item.path) for item in found if item.title == title), "")


def write_once(context: Context, draft: Draft) -> str:
    """Return the path of the record with this project, kind and title; write it if it is missing. Secrets are replaced."""
    with creation_lock(context):
        return find_record(context, draft) or write(context, draft, secrets="redact").path


def creation_lock(context: Context) -> FileLock:
    """Return the lock to look for a record and then write it. Take it before the write lock."""
    make_root(context)
    return FileLock(f"{context.root.state}/once")
