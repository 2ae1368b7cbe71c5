"""Make a Root."""

from __future__ import annotations

import os

from oracle.app.oracle import Oracle
from oracle.errors import RootUnusable
from oracle.store import files
from oracle.store.layout import RECORD_TREES

_FOLDERS = (*RECORD_TREES, "machine", "responses")


def init(oracle: Oracle) -> bool:
    """Make the Root and its first folders, 0700, and tell whether it was made now."""
    path = oracle.root.path
    if os.path.lexists(path) and not os.path.isdir(path):
        raise RootUnusable(f"{path} is not a folder.", hint="Move it away, or choose another Root with --memory-dir.")
    is_new = not os.path.isdir(path)
    files.make_folder(path)
    for folder in _FOLDERS:
        files.make_folder(oracle.root.join(folder))
    oracle.reconcile()
    return is_new
