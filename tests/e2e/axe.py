"""axe-core in a page: what a keyboard or a screen reader can't use. `ORACLE_AXE` names the folder into which npm installed it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SCRIPT = Path(os.environ.get("ORACLE_AXE", "")) / "node_modules" / "axe-core" / "axe.min.js"

needs_axe = pytest.mark.skipif(
    not _SCRIPT.is_file(), reason="no axe-core: npm install axe-core into the folder that ORACLE_AXE names"
)


def serious_findings(page: Page) -> list[tuple[str, list[str]]]:
    """Return each rule that the page breaks seriously, with the first elements that break it."""
    page.evaluate(_SCRIPT.read_text(encoding="utf-8"))
    return [
        (one["id"], [node["html"][:160] for node in one["nodes"][:3]])
        for one in page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        if one["impact"] in ("serious", "critical")
    ]
