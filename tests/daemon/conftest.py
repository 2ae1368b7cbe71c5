from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.app.squad import Squad
from tests.daemon.running import Served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Give a team whose daemon can be started; what was started is ended afterwards."""
    made = Served(tmp_path)
    yield made
    made.close()


@pytest.fixture
def squad(tmp_path: Path) -> Squad:
    """Give a team of four seats."""
    return Squad(tmp_path)
