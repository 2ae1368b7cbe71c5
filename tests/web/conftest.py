from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.wording import speak
from tests.web.site import Browser, make_team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.app.squad import Squad


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """Let the tests ask faster than people do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oracle.web.gate.PER_SECOND", 1e6)
        yield


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Squad:
    """Give the team whose pages the tests of a module read."""
    return make_team(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def browser(team: Squad) -> Iterator[Browser]:
    """Give a browser that may read."""
    with Browser(team.path) as made:
        yield made
    speak(None)


@pytest.fixture
def writer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Give a browser that may write, at a team of its own."""
    with Browser(make_team(tmp_path_factory.mktemp("team")).path, allows_writes=True) as made:
        yield made
    speak(None)
