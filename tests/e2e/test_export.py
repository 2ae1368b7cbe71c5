"""`oracle export html` in a real browser: opened from disk, it loads nothing, and its search finds what the index would."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.app.pages import export
from oracle.cli.main import run
from oracle.index import fold
from tests.e2e.axe import needs_axe, serious_findings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SIZES = {"phone": (390, 844), "tablet": (820, 1180), "desktop": (1440, 900)}
EVIL = "https://evil.example"
HOSTILE = f"</title><img src={EVIL}/a.png onerror=alert(1)>"


class Visit:
    """A page that was opened from disk, with every request, dialog and error that it made."""

    def __init__(self, browser: Browser, path: Path, **settings: Any) -> None:
        self.requests: list[str] = []
        self.trouble: list[str] = []
        self.page = browser.new_page(**settings)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: (self.trouble.append(dialog.message), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.address = path.as_uri()
        self.page.goto(self.address)

    def shown(self) -> list[str]:
        titles: list[str] = self.page.locator("article:visible > h2:first-child").all_inner_texts()
        return titles

    def search(self, words: str) -> list[str]:
        self.page.fill("#words", words)
        return self.shown()


def write(root: Path, name: str, text: str, *, day: int = 1, more: str = "") -> None:
    path = root / "projects/shop/builder/notes" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nts: 2026-11-{day:02}T10:00:00Z\n{more}---\n\n{text}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export four records, one of them replaced, one hostile."""
    root = tmp_path_factory.mktemp("memory")
    write(root, "retry", "# Retry webhooks\n\nThe café answers ＡＲＥＮＡ-7. See [[limits]] and [[gone]].", day=4)
    write(
        root,
        "limits",
        "# 限流规则\n\n每个命令都有上限。",
        day=3,
        more="supersedes: [projects/shop/builder/notes/old]\n",
    )
    write(root, "old", "# Old limits\n\nNo longer so.", day=2)
    hostile = (
        f"<script>alert(2)</script>\n\n![x]({EVIL}/b.png)\n\n"
        f"[click](javascript:alert(3)) <style>@import '{EVIL}/c.css'</style> <svg onload=alert(4)>\n\n"
        f"<meta http-equiv=refresh content='0;url={EVIL}'> <base href={EVIL}> <iframe src={EVIL}></iframe>\n"
    )
    write(root, "hostile", hostile, more=f"title: '{HOSTILE}'\n")
    out = tmp_path_factory.mktemp("page") / "shop.html"
    assert run(["--memory-dir", str(root), "export", "html", str(out)]) == 0
    return out


def test_it_opens_from_disk_and_loads_nothing(browser: Browser, exported: Path) -> None:
    visit = Visit(browser, exported)
    assert len(visit.shown()) == 4
    for link in visit.page.locator("a[href^='#']").all():
        link.evaluate("link => link.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))")
    visit.page.wait_for_timeout(300)
    assert visit.requests == [visit.address]
    assert visit.trouble == []
    assert visit.page.locator("script").count() == 1
    assert visit.page.locator("article :is(img, script, style, iframe, svg, base, meta)").count() == 0
    assert visit.page.locator("a[href^='javascript']").count() == 0


FOUND = {
    "webhooks": ["Retry webhooks"],
    "RETRY webh": ["Retry webhooks"],
    "cafe": ["Retry webhooks"],
    "arena-7": ["Retry webhooks"],
    "上限": ["限流规则"],
    "的上限": [],
    "the limits": ["Retry webhooks", "限流规则", "Old limits"],
    "nowhere": [],
    "": ["Retry webhooks", "限流规则", "Old limits", HOSTILE],
}


def test_the_search_finds_words_as_the_index_folds_them(browser: Browser, exported: Path) -> None:
    visit = Visit(browser, exported)
    assert {words: visit.search(words) for words in FOUND} == FOUND


FOLDED = (
    "Crème brûlée, İstanbul straße ẞ ＡＢＣ ﬁne",
    "全文检索先折叠再分词 a1 ２号",
    "ёлка й ї Ελληνικά ὕδωρ",
    "ภาษาไทย မြန်မာ ខ្មែរ 한국어 カタカナ ﾊﾝｶｸ",
    "soft\u00adhyphen zero\u200bwidth 🎉party 🚀",
    "שָׁלוֹם مَرْحَبًا",
    "under_score x.y-z don't ½ ² Ⅷ",
)


def test_the_script_folds_as_the_index_does(browser: Browser, exported: Path) -> None:
    page = Visit(browser, exported).page
    folded = {text: page.evaluate(f"words({json.dumps(text)})") for text in FOLDED}
    assert folded == {text: fold.tokens(text) for text in FOLDED}


def test_enter_leads_to_what_the_search_found(browser: Browser, exported: Path) -> None:
    visit = Visit(browser, exported, viewport={"width": 820, "height": 400})
    visit.search("webhooks")
    visit.page.press("#words", "Enter")
    box = visit.page.locator("article:visible").bounding_box()
    assert box is not None
    assert 0 < box["y"] < 400
    assert visit.page.url == visit.address


def test_the_search_fades_what_it_did_not_find_in_the_drawings(browser: Browser, exported: Path) -> None:
    visit = Visit(browser, exported)

    def clear() -> set[str]:
        """Return the titles of the nodes that are not faded, in both drawings."""
        title = "one => one.querySelector('title').textContent"
        script = f"nodes => nodes.filter(one => getComputedStyle(one).opacity > .2).map({title})"
        titles = visit.page.locator(".drawing .node").evaluate_all(script)
        return {title.partition("\n")[0].partition(" · ")[0] for title in titles}

    everything = clear()
    assert {"Retry webhooks", "限流规则"} < everything
    visit.search("webhooks")
    assert clear() == {"Retry webhooks"}
    visit.search("")
    assert clear() == everything


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("words", ["", "webhooks"])
def test_axe_finds_nothing_serious(browser: Browser, exported: Path, scheme: str, words: str) -> None:
    visit = Visit(browser, exported, color_scheme=scheme, bypass_csp=True)
    visit.search(words)
    assert serious_findings(visit.page) == []


def test_a_link_to_a_record_that_the_search_hides_shows_it(browser: Browser, exported: Path) -> None:
    visit = Visit(browser, exported)
    visit.search("webhooks")
    visit.page.click("article:visible a")
    assert len(visit.shown()) == 4
    assert visit.page.locator("article:target > h2:first-child").inner_text() == "限流规则"


def test_it_reads_and_prints_without_scripts(browser: Browser, exported: Path) -> None:
    visit = Visit(browser, exported, java_script_enabled=False)
    assert len(visit.shown()) == 4
    assert not visit.page.locator("form").is_visible()
    assert visit.page.locator("article.retired").inner_text().startswith("Old limits")
    visit.page.click("article:has-text('Retry') a")
    assert visit.page.url.partition("#")[2] in visit.page.locator("article:has-text('每个命令')").get_attribute("id")
    visit.page.emulate_media(media="print")
    assert not visit.page.locator("nav").is_visible()
    assert len(visit.page.pdf()) > 1000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_fits_every_screen(browser: Browser, exported: Path, size: str, scheme: str) -> None:
    """Keep a picture in PAGE_PICTURES, if that names a folder, to be looked at."""
    width, height = SIZES[size]
    page = Visit(browser, exported, viewport={"width": width, "height": height}, color_scheme=scheme).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if folder := os.environ.get("PAGE_PICTURES"):
        page.screenshot(path=f"{folder}/export-{size}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("size", SIZES)
def test_a_large_graph_begins_at_its_target(browser: Browser, root: Path, tmp_path: Path, size: str) -> None:
    for number in range(60):
        write(root, f"n{number}", f"# Note {number}\n\nSee [[n{number // 4}]] and [[n{number // 9}]].")
    out = tmp_path / "notes.html"
    assert run(["--memory-dir", str(root), "export", "html", "--target", "n7", "--depth", "3", str(out)]) == 0
    width, height = SIZES[size]
    page = Visit(browser, out, viewport={"width": width, "height": height}).page
    frame, node = (page.locator(name).bounding_box() for name in ("#graph .wide", "#graph .root .mark"))
    assert frame["x"] <= node["x"] <= frame["x"] + frame["width"]
    assert frame["y"] <= node["y"] <= frame["y"] + frame["height"]


def test_the_policy_names_the_style_and_the_script_that_are_there(browser: Browser, exported: Path) -> None:
    page = Visit(browser, exported).page
    assert page.evaluate("getComputedStyle(document.querySelector('article')).borderTopStyle") == "solid"
    assert page.locator("form").is_visible()
    assert "unsafe" not in export._policy("", "")
