"""One Chromium for the tests of a module. `ORACLE_CHROMIUM` names its program, else it is the one of the system."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

PROGRAM = os.environ.get("ORACLE_CHROMIUM") or shutil.which("chromium") or ""


@pytest.fixture(scope="module")  # while the driver runs, no other test of the process can run an event loop
def chromium(world: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Give a browser that writes into the world of the tests alone."""
    if not PROGRAM:
        pytest.skip("no chromium: install it, or name it with ORACLE_CHROMIUM")
    from playwright.sync_api import sync_playwright

    words = ["--no-sandbox"] if os.geteuid() == 0 else []
    home = str(tmp_path_factory.mktemp("browser"))
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=PROGRAM, args=words, env={**os.environ, "HOME": home})
        yield made
        made.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Give the browser, and close afterwards what the test opened."""
    yield chromium
    for context in chromium.contexts:
        context.close()
