from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wake.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Give a private tmux server, ended afterwards."""
    made = Stage(tmp_path)
    yield made
    made.close()
