from __future__ import annotations

import os
from pathlib import Path

import pytest

from oracle.errors import DiskFailure
from oracle.store.daemon import mcp_token
from oracle.store.root.layout import Root


def test_a_token_is_private_and_stays(root: Path):
    made = mcp_token.find_or_make(Root(str(root)))
    place = root / "_state" / "mcp.token"
    assert place.stat().st_mode & 0o777 == 0o600
    assert mcp_token.find_or_make(Root(str(root))) == made
    assert len(made) >= 43
    assert [path.name for path in (root / "_state").iterdir() if path.name.startswith("new")] == []


@pytest.mark.parametrize("spoil", ["readable", "short", "link", "binary"])
def test_a_token_that_others_may_know_is_replaced(root: Path, tmp_path: Path, spoil: str):
    made = mcp_token.find_or_make(Root(str(root)))
    place = root / "_state" / "mcp.token"
    if spoil == "readable":
        place.chmod(0o644)
    elif spoil == "link":
        other = tmp_path / "other"
        place.rename(other)
        place.symlink_to(other)
    else:
        place.write_bytes(b"abc" if spoil == "short" else os.urandom(64) + b"\xff")
    again = mcp_token.find_or_make(Root(str(root)))
    assert again != made
    assert not place.is_symlink()
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_token_that_cannot_be_made_is_an_error(root: Path):
    mcp_token.find_or_make(Root(str(root)))
    place = root / "_state" / "mcp.token"
    place.unlink()
    place.mkdir()
    (place / "x").touch()
    with pytest.raises(DiskFailure):
        mcp_token.find_or_make(Root(str(root)))
