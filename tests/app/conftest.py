from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.app.squad import Squad

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def squad(tmp_path: Path) -> Squad:
    """Give a team of four seats."""
    return Squad(tmp_path)
