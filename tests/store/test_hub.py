"""The file of a machine's hub: what is written is read again, for its owner alone, and a damaged one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.domain.hub.rows import Membership
from oracle.errors import DiskFailure
from oracle.store.root import hub
from oracle.store.root.layout import Root

JOINED = Membership("arena", "service=arena", "m-1", "laptop", ("arena", "harbor"))


@pytest.mark.parametrize("membership", [Membership(), JOINED], ids=["nothing", "joined"])
@pytest.mark.parametrize("mode", [0o700, 0o770])
def test_what_is_saved_is_loaded(root: Path, membership: Membership, mode: int) -> None:
    root.chmod(mode)
    known = Root(str(root))
    hub.save(known, membership)
    assert hub.load(known) == membership
    assert Path(known.hub).stat().st_mode & 0o777 == 0o600
    hub.forget(known)
    assert hub.load(known) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"team": "x"}', "{", json.dumps({"projects": []})])
def test_a_damaged_file_is_refused(root: Path, text: str) -> None:
    known = Root(str(root))
    hub.save(known, JOINED)
    Path(known.hub).write_text(text)
    with pytest.raises(DiskFailure, match="damaged"):
        hub.load(known)
