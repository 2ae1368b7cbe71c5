"""What the last comparison of all files with the hub found: `_state/hub/checked.json`. It may be deleted at any time."""

from __future__ import annotations

import json

from oracle.domain.values import value
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root
from oracle.store.root.lock import ensure_state


@value
class Checked:
    """When all files were compared, in seconds since 1970, and what differed: (path, how, in English)."""

    at: float = 0.0
    differences: tuple[tuple[str, str], ...] = ()


def load(root: Root) -> Checked:
    """Return the last comparison; one in 1970 without differences if there was none."""
    content = steps.read_object(_path(root)) or {}
    try:
        found = tuple((str(path), str(how)) for path, how in content["differences"])  # type: ignore[attr-defined]
        return Checked(float(str(content["at"])), found)
    except (KeyError, TypeError, ValueError):
        return Checked()


def save(root: Root, checked: Checked) -> None:
    """Write what was found. Raises DiskFailure."""
    ensure_state(root)
    data = json.dumps({"at": checked.at, "differences": checked.differences}).encode("ascii")
    files.replace(_path(root), data, scratch=root.hub_files)


def _path(root: Root) -> str:
    return f"{root.hub_files}/checked.json"
