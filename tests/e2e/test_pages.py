"""The pages in a real browser: every page in both languages at three sizes, with axe-core, and a hostile record.

Pictures of all pages are kept in the folder that `ORACLE_ARTEFACTS` names.
"""

from __future__ import annotations

import functools
import math
import os
from typing import TYPE_CHECKING, Any

import pytest

from oracle.domain.records.drafts import Draft
from tests.e2e.axe import needs_axe, serious_findings
from tests.web.server import Served
from tests.web.site import DECISION, PAGES, make_team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page, ViewportSize

    from tests.app.squad import Squad

ARTEFACTS = os.environ.get("ORACLE_ARTEFACTS", "")
SIZES: dict[str, ViewportSize] = {
    "desktop": {"width": 1280, "height": 800},
    "tablet": {"width": 820, "height": 1180},
    "phone": {"width": 375, "height": 812},
}
LANGUAGES = ("en-US", "zh-CN")
MISSING = ("/record?name=no-such-record", "/handoffs?state=nope")
LOOKED_AT = tuple(page for page in PAGES if page != "/doctor?run=yes")


@pytest.fixture(scope="module")
def squad(tmp_path_factory: pytest.TempPathFactory) -> Squad:
    return make_team(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def served(squad: Squad) -> Iterator[Served]:
    made = Served(squad.path, "--allow-write")
    yield made
    made.end()


class Looker:
    """A window that was let in. It keeps what the browser complains of, and every request that leaves the server."""

    def __init__(self, browser: Browser, served: Served, *, language: str = "en-US", **more: Any) -> None:
        name, _, value = served.cookie.partition("=")
        self.base = f"http://127.0.0.1:{served.port}"
        context = browser.new_context(viewport=SIZES["desktop"], locale=language, **more)
        cookie: Any = {"name": name, "value": value, "url": self.base, "httpOnly": True, "sameSite": "Strict"}
        context.add_cookies([cookie])
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.left: list[str] = []
        self.page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda one: None if one.url.startswith(self.base) else self.left.append(one.url))

    def go(self, address: str) -> Page:
        self.page.goto(self.base + address, wait_until="load")
        return self.page


@pytest.fixture
def look(browser: Browser, served: Served) -> Any:
    """Give windows."""
    return functools.partial(Looker, browser, served)


def keep_picture(page: Page, name: str) -> None:
    if ARTEFACTS:
        page.screenshot(path=f"{ARTEFACTS}/{name}.png", full_page=True)


def name_of(address: str) -> str:
    return "".join(char if char.isalnum() else "-" for char in address).strip("-")[:40] or "now"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_fits_and_complains_of_nothing(look: Any, language: str):
    window = look(language=language)
    too_wide = {}
    for address in LOOKED_AT:
        page = window.go(address)
        for size, viewport in SIZES.items():
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme="dark" if size == "tablet" else "light")
            keep_picture(page, f"{name_of(address)}-{size}-{language[:2]}")
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if wide > 0:
                too_wide[address, size] = wide
    assert (too_wide, window.complaints, window.left) == ({}, [], [])


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(look: Any, scheme: str):
    window = look(color_scheme=scheme, bypass_csp=True)
    found = {address: serious_findings(window.go(address)) for address in (*LOOKED_AT, *MISSING)}
    assert {address: findings for address, findings in found.items() if findings} == {}


def test_a_hostile_record_does_nothing(look: Any):
    addresses = ("/record?name=hostile", "/search?q=hostile", "/handoff?task=Q-1", "/timeline", "/graph?name=hostile")
    windows = {address: look() for address in addresses}
    for address, window in windows.items():
        window.go(address)
    next(iter(windows.values())).page.wait_for_timeout(200)
    for address, window in windows.items():
        assert "owned" not in window.page.title()
        assert window.page.evaluate("getComputedStyle(document.body).display") != "none"
        assert window.page.url == window.base + address
        assert (window.complaints, window.left) == ([], [])


def test_the_address_lets_in_once_and_vanishes(browser: Browser, squad: Squad):
    served = Served(squad.path, enters=False)
    page = browser.new_page()
    page.goto(served.url, wait_until="load")
    page.wait_for_selector("h1")
    assert "token" not in page.url
    assert page.locator("h1").inner_text() == "Now"
    stranger = browser.new_page()
    assert stranger.goto(served.url).status == 403  # type: ignore[union-attr]
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
    assert "Before." not in page.locator("article").inner_text()
    file.unlink()
    page.wait_for_selector("h1 >> text=Nothing to show", timeout=10_000)
    assert not page.locator("article >> text=Behind.").count()


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


FIRST_PAINT = """new Promise(told => new PerformanceObserver(found => {
  const paint = found.getEntriesByName("first-contentful-paint")[0];
  if (paint) told(paint.startTime);
}).observe({type: "paint", buffered: true}))"""


def test_a_page_paints_soon(look: Any):
    """Beside a page of one word from the same server: a busy machine stretches both."""
    window = look()
    window.go("/")
    less = more = math.inf
    for _ in range(6):
        less = min(less, window.go("/nothing-here").evaluate(FIRST_PAINT))
        more = min(more, window.go("/").evaluate(FIRST_PAINT))
    assert more < 6 * less + 100


def test_a_page_prints_without_its_tools(look: Any):
    page = look().go("/record?name=webhooks-retry-twice")
    page.emulate_media(media="print")
    keep_picture(page, "record-print")
    assert not page.locator("nav").is_visible()
    assert page.locator("article.text").is_visible()
