"""What a sync noted that had nothing left to do: `_state/hub/quiet.json`. It may be deleted at any time."""

from __future__ import annotations

import json
from contextlib import suppress

from oracle.domain.hub.rows import Cursor
from oracle.domain.values import contents_of, value
from oracle.store.disk import files, steps
from oracle.store.hub.ledger import stamp_of
from oracle.store.root.layout import Root
from oracle.store.root.lock import ensure_state


@value
class Quiet:
    """The state of this machine in which nothing was left to do, the cursor then, and what the sync named."""

    state: str
    cursor: Cursor
    refused: tuple[tuple[str, str], ...] = ()
    stranded: tuple[str, ...] = ()


def load(root: Root) -> Quiet | None:
    """Return what the last sync noted; None if something was left to do, or the ledger is not the one of then."""
    content = steps.read_object(_path(root))
    try:
        if content is None or content["ledger"] != stamp_of(root):
            return None
        refused = tuple((str(path), str(reason)) for path, reason in content["refused"])  # type: ignore[attr-defined]
        return Quiet(str(content["state"]), Cursor(*content["cursor"]), refused, tuple(content["stranded"]))  # type: ignore[misc,arg-type]
    except (KeyError, TypeError, ValueError):
        return None


def save(root: Root, quiet: Quiet) -> None:
    """Note that nothing is left to do. The ledger is saved before."""
    ensure_state(root)
    content = {
        "state": quiet.state,
        "ledger": stamp_of(root),
        "cursor": list(contents_of(quiet.cursor).values()),
        "refused": quiet.refused,
        "stranded": quiet.stranded,
    }
    files.replace(_path(root), json.dumps(content).encode("ascii"), scratch=root.hub_files)


def forget(root: Root) -> None:
    """Note that something may be left to do."""
    with suppress(FileNotFoundError):
        files.unlink(_path(root))


def _path(root: Root) -> str:
    return f"{root.hub_files}/quiet.json"
