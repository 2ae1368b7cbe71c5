"""What a Root knows of its hub: `_state/hub.json` where it joined one, `_state/hub-owner.json` where it made one.

Only their owner may read them, and no password is kept in them.
"""

from __future__ import annotations

import json

from oracle.domain.hub.rows import Membership
from oracle.domain.values import contents_of
from oracle.errors import DiskFailure
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root
from oracle.store.root.lock import ensure_state
from oracle.wording import say


def load(root: Root) -> Membership | None:
    """Return the membership, None before it joined. Raises DiskFailure for a file that can't be read."""
    return _load(root.hub)


def load_owner(root: Root) -> Membership | None:
    """Return team and connection of the hub that was made here, None for none. Raises DiskFailure."""
    return _load(root.hub_owner)


def save(root: Root, membership: Membership) -> None:
    """Write the membership, mode 0600 in a shared Root too. Raises DiskFailure, RootUnusable."""
    _save(root, root.hub, membership)


def save_owner(root: Root, membership: Membership) -> None:
    """Write team and connection of the hub that was made here. Raises DiskFailure, RootUnusable."""
    _save(root, root.hub_owner, membership)


def forget(root: Root) -> None:
    """Remove what is known of the hub that this Root joined. Raises DiskFailure."""
    steps.remove(root.hub)


def _load(path: str) -> Membership | None:
    raw = steps.read(path)
    if raw is None:
        return None
    content = steps.parse_object(raw)
    try:
        return _parse(content or {})
    except (TypeError, ValueError) as error:
        raise DiskFailure(
            say("{path} can't be read: it is damaged.", path=path),
            hint=say("Remove it and run `oracle hub join` again; no record is lost."),
        ) from error


def _parse(content: dict[str, object]) -> Membership:
    if set(content) != {*contents_of(Membership())}:
        raise ValueError(content)
    projects = content.pop("projects")
    if not isinstance(projects, list):
        raise TypeError(content)
    return Membership(**content, projects=tuple(projects))  # type: ignore[arg-type]


def _save(root: Root, path: str, membership: Membership) -> None:
    ensure_state(root)
    data = json.dumps(contents_of(membership), ensure_ascii=False, indent=2).encode() + b"\n"
    steps.replace(path, data)
    files.set_mode(path, files.FILE_MODE)
