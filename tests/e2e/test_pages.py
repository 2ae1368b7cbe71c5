"""The pages in a real browser: every page in both languages at three sizes, with axe-core, and a hostile record.

`ORACLE_CHROMIUM` names the browser and `ORACLE_AXE` the folder into which npm installed axe-core. Pictures of all pages are
kept in the folder that `ORACLE_ARTEFACTS` names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright

from oracle.domain.records.drafts import Draft
from tests.e2e.axe import needs_axe, serious_findings
from tests.web.server import Served
from tests.web.site import DECISION, PAGES, make_team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.app.squad import Squad

CHROMIUM = os.environ.get("ORACLE_CHROMIUM") or shutil.which("chromium") or ""
ARTEFACTS = os.environ.get("ORACLE_ARTEFACTS", "")
SIZES = {"desktop": (1280, 800), "tablet": (820, 1180), "phone": (375, 812)}
LANGUAGES = ("en-US", "zh-CN")
MISSING = ("/record?name=no-such-record", "/handoffs?state=nope")
LOOKED_AT = tuple(page for page in PAGES if page != "/doctor?run=yes")

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no chromium: install it, or name it with ORACLE_CHROMIUM")


@pytest.fixture(scope="module")
def squad(tmp_path_factory: pytest.TempPathFactory) -> Squad:
    return make_team(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def served(squad: Squad) -> Iterator[Served]:
    made = Served(squad.path, "--allow-write")
    yield made
    made.end()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Give a browser that writes into the world of the tests alone."""
    words = ["--no-sandbox"] if os.geteuid() == 0 else []
    home = str(tmp_path_factory.mktemp("browser"))
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=words, env={**os.environ, "HOME": home})
        yield made
        made.close()


class Looker:
    """A window that was let in. It keeps what the browser complains of, and every request that leaves the server."""

    def __init__(
        self, chromium: Browser, served: Served, *, size: str = "desktop", language: str = "en-US", **more: Any
    ) -> None:
        width, height = SIZES[size]
        name, _, value = served.cookie.partition("=")
        self.base = f"http://127.0.0.1:{served.port}"
        self.context: BrowserContext = chromium.new_context(
            viewport={"width": width, "height": height}, locale=language, **more
        )
        cookie: Any = {"name": name, "value": value, "url": self.base, "httpOnly": True, "sameSite": "Strict"}
        self.context.add_cookies([cookie])
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.left: list[str] = []
        self.page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda one: None if one.url.startswith(self.base) else self.left.append(one.url))

    def go(self, address: str) -> Page:
        self.page.goto(self.base + address, wait_until="load")
        return self.page


@pytest.fixture
def look(chromium: Browser, served: Served) -> Iterator[Any]:
    """Give windows, closed at the end."""
    opened: list[Looker] = []

    def make(**how: Any) -> Looker:
        opened.append(Looker(chromium, served, **how))
        return opened[-1]

    yield make
    for one in opened:
        one.context.close()


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the folder of the pictures, copied at the end to where the caller keeps them."""
    folder = tmp_path_factory.mktemp("pictures")
    yield folder
    if ARTEFACTS:
        subprocess.run(["cp", "-R", f"{folder}/.", ARTEFACTS], check=True)


def name_of(address: str) -> str:
    return "".join(char if char.isalnum() else "-" for char in address).strip("-")[:40] or "now"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", SIZES)
def test_every_page_fits_and_complains_of_nothing(look: Any, pictures: Path, size: str, language: str):
    window = look(size=size, language=language, color_scheme="dark" if size == "tablet" else "light")
    too_wide = {}
    for address in LOOKED_AT:
        page = window.go(address)
        page.screenshot(path=pictures / f"{name_of(address)}-{size}-{language[:2]}.png", full_page=True)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wide > 0:
            too_wide[address] = wide
    assert (too_wide, window.complaints, window.left) == ({}, [], [])


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(look: Any, scheme: str):
    window = look(color_scheme=scheme, bypass_csp=True)
    found = {address: serious_findings(window.go(address)) for address in (*LOOKED_AT, *MISSING)}
    assert {address: findings for address, findings in found.items() if findings} == {}


@pytest.mark.parametrize(
    "address", ["/record?name=hostile", "/search?q=hostile", "/handoff?task=Q-1", "/timeline", "/graph?name=hostile"]
)
def test_a_hostile_record_does_nothing(look: Any, address: str):
    window = look()
    page = window.go(address)
    assert "owned" not in page.title()
    assert page.evaluate("getComputedStyle(document.body).display") != "none"
    assert page.url == window.base + address
    page.wait_for_timeout(200)
    assert (window.complaints, window.left) == ([], [])


def test_the_address_lets_in_once_and_vanishes(chromium: Browser, squad: Squad):
    served = Served(squad.path, enters=False)
    context = chromium.new_context()
    page = context.new_page()
    page.goto(served.url, wait_until="load")
    page.wait_for_selector("h1")
    assert "token" not in page.url
    assert page.locator("h1").inner_text() == "Now"
    stranger = chromium.new_context().new_page()
    assert stranger.goto(served.url).status == 403  # type: ignore[union-attr]
    context.close()
    served.end()


def test_a_page_renews_itself_and_leaves_alone_what_a_person_types(look: Any, squad: Squad):
    window = look()
    page = window.go("/timeline")
    squad.oracle.write(Draft("decision", "demo", "Seen at once", body="Seen at once."))
    page.wait_for_selector(".links >> text=Seen at once", timeout=10_000)
    page.fill("main input[name=project]", "dem")
    squad.oracle.write(Draft("decision", "demo", "Seen later", body="Seen later."))
    page.wait_for_timeout(2500)
    assert page.input_value("main input[name=project]") == "dem"
    assert not page.locator(".links >> text=Seen later").count()
    page.locator("h1").click()
    page.evaluate("document.activeElement.blur()")
    page.wait_for_selector(".links >> text=Seen later", timeout=10_000)
    assert window.complaints == []


def test_a_record_that_is_edited_in_place_is_shown_as_it_is(look: Any, squad: Squad):
    file = squad.path / "projects/demo/builder/decision/edited.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# Edited\n\nBefore.\n", encoding="utf-8")
    page = look().go("/record?name=edited")
    page.wait_for_selector("article >> text=Before.")
    file.write_text("# Edited\n\nBehind.\n", encoding="utf-8")
    page.wait_for_selector("article >> text=Behind.", timeout=10_000)
    file.unlink()
    page.wait_for_selector("h1 >> text=Nothing to show", timeout=10_000)


def test_a_command_is_copied(look: Any):
    window = look(permissions=["clipboard-read", "clipboard-write"])
    page = window.go("/handoff?task=Q-1")
    page.locator("button.copy").first.click()
    page.wait_for_selector("button.copy >> text=copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("oracle ack Q-1 ")
    assert window.complaints == []


def test_keys_reach_everything(look: Any):
    page = look().go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "quick"
    page.keyboard.type("webhooks")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=webhooks")
    page.keyboard.press("Escape")
    assert page.locator("ol.hits li").count()


def test_pages_read_without_javascript(look: Any):
    window = look(java_script_enabled=False)
    for address in ("/", "/search?q=webhooks", "/graph?name=SHOP-12", "/timeline"):
        assert window.go(address).locator("h1").count() == 1
    assert not window.page.locator(".keys").is_visible()


def test_a_drawing_moves_and_opens(look: Any):
    page = look().go("/graph?name=SHOP-12&depth=2")
    frame = page.locator(".frame")
    before = page.locator(".frame svg").get_attribute("viewBox")
    frame.focus()
    page.keyboard.press("+")
    after = page.locator(".frame svg").get_attribute("viewBox")
    assert after != before
    page.keyboard.press("0")
    assert page.locator(".frame svg").get_attribute("viewBox") == before
    page.locator(".frame svg a").first.click()
    page.wait_for_url("**name=**")


def test_a_person_decides_in_the_browser(look: Any, squad: Squad):
    page = look().go("/decisions")
    page.get_by_label("merge today").check()
    page.get_by_label("Reason").fill("It is quiet.")
    page.get_by_role("button", name="Decide").click()
    page.wait_for_url("**/handoff?**")
    assert DECISION in page.locator("h1").inner_text()


def test_a_page_paints_soon(look: Any):
    window = look()
    window.go("/")
    paints = []
    for _ in range(5):
        page = window.go("/")
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    assert min(paints) < 600


def test_a_page_prints_without_its_tools(look: Any, pictures: Path):
    page = look().go("/record?name=webhooks-retry-twice")
    page.emulate_media(media="print")
    page.screenshot(path=pictures / "record-print.png", full_page=True)
    assert not page.locator("nav").is_visible()
    assert page.locator("article.text").is_visible()
