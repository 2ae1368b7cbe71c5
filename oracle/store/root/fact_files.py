"""Write the fact files of scanners: `machine/<name>.json` and `projects/<p>/<kind>.json`. Atomic, synced, mode 0600."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from oracle.domain.names.slugs import check_name
from oracle.errors import RootUnusable
from oracle.store.disk import files
from oracle.store.root.layout import Root
from oracle.wording import say


def machine_path(root: Root, name: str) -> str:
    """Return the absolute path of a fact file of the machine."""
    return f"{root.machine}/{check_name(name, 'fact file')}.json"


def project_path(root: Root, project: str, kind: str) -> str:
    """Return the absolute path of a fact file of a project."""
    return root.join(f"{root.project(project)}/{check_name(kind, 'kind')}.json")


def save(root: Root, path: str, content: Mapping[str, object]) -> None:
    """Replace a fact file atomically with mode 0600 and sync it. Raises RootUnusable, DiskFailure.

    A folder that is a link out of the Root is refused.
    """
    folder = os.path.dirname(path)
    files.make_folder(folder)
    if not root.contains(folder):
        raise RootUnusable(
            say("{folder} leads out of the Root.", folder=folder), hint=say("Replace the link by a folder.")
        )
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    try:
        new = files.write_scratch(root.scratch, text.encode("utf-8", "replace"))
        files.sync_file(new)
        os.rename(new, path)
        files.sync_folder(folder)
    except OSError as error:
        raise files.disk_failure(path, error) from error
