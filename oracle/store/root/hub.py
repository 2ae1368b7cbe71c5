"""What this machine knows of its hub: `_state/hub.json`, which only its owner may read. No password is kept in it."""

from __future__ import annotations

import json

from oracle.domain.hub.rows import Cursor, Membership
from oracle.domain.values import contents_of
from oracle.errors import DiskFailure
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root
from oracle.store.root.lock import ensure_state
from oracle.wording import say


def load(root: Root) -> Membership | None:
    """Return the membership, None where no hub is known. Raises DiskFailure for a file that can't be read."""
    raw = steps.read(root.hub)
    if raw is None:
        return None
    content = steps.parse_object(raw)
    try:
        return _parse(content or {})
    except (TypeError, ValueError) as error:
        raise DiskFailure(
            say("{path} can't be read: it is damaged.", path=root.hub),
            hint=say("Remove it and run `oracle hub join` again; no record is lost."),
        ) from error


def _parse(content: dict[str, object]) -> Membership:
    if set(content) != {*contents_of(Membership())}:
        raise ValueError(content)
    cursor = content.pop("cursor")
    projects = content.pop("projects")
    if not isinstance(cursor, dict) or not isinstance(projects, list):
        raise TypeError(content)
    return Membership(**content, projects=tuple(projects), cursor=Cursor(**cursor))  # type: ignore[arg-type]


def save(root: Root, membership: Membership) -> None:
    """Write the membership, mode 0600 in a shared Root too. Raises DiskFailure, RootUnusable."""
    ensure_state(root)
    content = {**contents_of(membership), "cursor": contents_of(membership.cursor)}
    data = json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"
    files.replace(root.hub, data, scratch=root.state)
    files.set_mode(root.hub, files.FILE_MODE)


def forget(root: Root) -> None:
    """Remove what is known of the hub. Raises DiskFailure."""
    steps.remove(root.hub)
