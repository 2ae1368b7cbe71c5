from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hook.seat import Seat

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    """Give a memory seat on disk."""
    return Seat(tmp_path)
