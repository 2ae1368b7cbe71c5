"""Every page by HTTP: what it shows, in which language, and that hostile text stays text on all of them."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from oracle.app.delivery.handoffs import list_all
from oracle.domain.records.drafts import Draft
from tests.app.squad import Squad
from tests.web.site import DECISION, PAGES, Browser, Seen

if TYPE_CHECKING:
    from pathlib import Path

ACTIVE = {"iframe", "object", "embed", "base", "img", "style", "math"}
SHOWS = {
    "/": ["Q-2", "open", "planner", "The branch touches", "without an answer: wait for the audit"],
    "/search?q=webhooks": ["Webhooks retry five times", "superseded", "Why this hit", "What each signal gave"],
    "/search?q=nothingofthekind": ["Nothing was found."],
    "/ask?q=how+often+do+webhooks+retry": ["Webhooks retry five times, since SHOP-12 lost events."],
    "/ask?q=who+invented+the+umbrella": ["No answer", "Why no answer"],
    "/record?name=webhooks-retry-five-times": ["It replaces", "since SHOP-12 lost events", "Links", "references-task"],
    "/record?name=webhooks-retry-twice": ["This record is superseded.", "(https://good.example/a)", "Backlinks"],
    "/record?name=hostile": ["memory (by planner)"],
    "/entity?name=SHOP-12": [
        "superseded → webhooks-retry-five-times",
        "references-task",
        "memory",
        "Webhooks retry twice",
        "缓存保留五分钟",
    ],
    "/graph": ["taskid:SHOP-12"],
    "/graph?name=SHOP-12&depth=2": ["supersedes", "references-file"],
    "/timeline": ["Webhooks retry twice", "decision"],
    "/handoffs": ["Q-1", "Q-2"],
    "/handoff?task=Q-1": ["The story", "dispatch", "completion", "Nobody.", "acknowledge it: oracle ack."],
    f"/handoff?task={DECISION}": ["dispatch", "memory"],
    "/decisions": ["merge today", "Webhooks retry five times"],
    "/doctor": ["Run every check"],
    "/doctor?run=yes": ["readable", "every folder and file can be read"],
}
TITLES = {"/": "现状", "/search": "搜索", "/timeline": "时间线", "/decisions": "决定", "/doctor": "体检"}


@pytest.mark.parametrize("address", PAGES)
def test_page_is_there_and_light(browser: Browser, address: str):
    reply = browser.get(address)
    assert reply.status_code == 200
    assert len(reply.content) < 150_000


@pytest.mark.parametrize(("address", "texts"), SHOWS.items())
def test_page_shows(browser: Browser, address: str, texts: list[str]):
    seen = " ".join(Seen(browser.get(address).text).text.split())
    assert [text for text in texts if text not in seen] == []


@pytest.mark.parametrize("address", PAGES)
def test_hostile_text_stays_text(browser: Browser, address: str):
    html = browser.get(address).text
    seen = Seen(html)
    assert not ACTIVE & set(seen.tags)
    assert seen.tags.count("script") == 1
    assert not [name for name in seen.attributes if name.startswith("on") or name in ("style", "srcdoc")]
    assert [one for one in seen.addresses if not one.startswith(("/", "#", "https://good.example/"))] == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html)


@pytest.mark.parametrize("address", PAGES)
def test_every_link_of_a_page_leads_somewhere(browser: Browser, address: str):
    own = {one for one in Seen(browser.get(address).text).addresses if one.startswith("/")}
    assert {one: code for one in own if (code := browser.get(one).status_code) != 200} == {}


@pytest.mark.parametrize("address", PAGES)
def test_page_reads_without_a_script_and_with_a_screen_reader(browser: Browser, address: str):
    html = browser.get(address).text
    assert html.count("<h1>") == html.count("<main ") == html.count('class="skip"') == 1
    assert "<title>" in html
    fields = re.findall(r"<(?:input|select)(?![^>]*type=\"hidden\")[^>]*>", html)
    assert len(fields) <= html.count("<label")


@pytest.mark.parametrize(
    ("stated", "accepted", "language"),
    [
        ("", "", "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "fr,en;q=0.5,zh;q=0.1", "en"),
        ("", "zh;q=0,en", "en"),
        ("", "en;q=nonsense, zh", "zh"),
        ("zh", "en", "zh"),
        ("en", "zh", "en"),
    ],
)
def test_language_is_the_stated_one_or_the_browsers(team, stated: str, accepted: str, language: str):
    with Browser(team.path, stated=stated) as made:
        assert Seen(made.get("/", **{"accept-language": accepted}).text).language == language


@pytest.mark.parametrize(("address", "title"), TITLES.items())
def test_page_in_chinese(browser: Browser, address: str, title: str):
    html = browser.get(address, **{"accept-language": "zh"}).text
    assert f"<h1>{title}</h1>" in html
    assert "Skip to the content" not in html


@pytest.mark.parametrize("address", ["/", "/handoffs"])
def test_states_are_in_chinese_and_their_addresses_are_not(browser: Browser, address: str):
    html = browser.get(address, **{"accept-language": "zh"}).text
    assert re.search(r'(?:state=|value=")open"[^>]*>未结', html)


@pytest.mark.parametrize(
    ("address", "text"),
    [("/handoff?task=Q-1", "提问"), (f"/handoff?task={DECISION}", "请人决定"), ("/graph?name=SHOP-12", "实体")],
)
def test_drawing_in_chinese(browser: Browser, address: str, text: str):
    html = browser.get(address, **{"accept-language": "zh"}).text
    assert re.search(f"<text[^>]*>{text}</text>", html)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/nothing", 404),
        ("/record?name=no-such-record", 404),
        ("/record", 400),
        ("/entity?name=NOPE-1", 404),
        ("/timeline?since=yesterday", 400),
        ("/timeline?project=nope", 404),
        ("/handoff?task=Q-9", 404),
        ("/handoffs?state=nope", 400),
        ("/search?q=webhooks&project=../..", 400),
    ],
)
def test_what_cannot_be_shown_is_said(browser: Browser, address: str, status: int):
    reply = browser.get(address)
    assert reply.status_code == status
    assert 'class="warning"' in reply.text


WAYS_OUT = {
    "/record?name=no-such-record": ["/search?q=no-such-record", "/timeline"],
    "/record?name=webhook-retry-twise": ["/record?name=projects/demo/decision/"],
    "/record?name=demo": ["/timeline"],
    "/entity?name=NOPE-1": ["/search?q=NOPE-1"],
    "/entity?name=entity:taskid:NOPE-1": ["/graph"],
    "/graph?name=SHOP-13&depth=2": ["/search?q=SHOP-13"],
    "/handoff?task=Q-9": ["/search?q=Q-9", "/handoffs"],
    "/handoff?task=Q-1&project=nope": ["/handoffs"],
    "/handoffs?state=nope": ["/handoffs?state=open"],
    "/timeline?project=nope": ["/timeline"],
    "/timeline?seat=bilder": [],
    "/timeline?since=yesterday": [],
    "/search?q=webhooks&project=../..": [],
    "/record": [],
    "/nothing": [],
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("address", WAYS_OUT)
def test_an_error_speaks_of_pages_and_not_of_options(browser: Browser, address: str, language: str):
    """A command that only shows something is a page here; what repairs something stays a command."""
    html = browser.get(address, **{"accept-language": language}).text
    (main,) = re.findall(r"<main.*?</main>", html, re.DOTALL)
    text = Seen(main).text
    assert not re.search(r"(?<!\w)--[a-z]|oracle (?:list|show|search|handoffs|backlinks|index)|not_in_\w+", text), text
    ways = Seen(main).addresses
    assert [one for one in WAYS_OUT[address] if not any(way.startswith(one) for way in ways)] == []
    assert {way: code for way in ways if (code := browser.get(way).status_code) != 200} == {}


def test_a_task_of_two_projects_is_a_choice(tmp_path: Path):
    squads = [Squad(tmp_path, project=name) for name in ("shop", "bank")]
    for squad in squads:
        squad.ask("Q-1", notifies=False)
    with Browser(squads[0].path) as made:
        reply = made.get("/handoff?task=Q-1")
        ways = [way for way in Seen(reply.text).addresses if way.startswith("/handoff?")]
        assert (reply.status_code, ways) == (400, [f"/handoff?task=Q-1&project={name}" for name in ("bank", "shop")])
        assert [made.get(way).status_code for way in ways] == [200, 200]


@pytest.mark.parametrize("address", ["/", "/handoffs", "/handoff?task=Q-1"])
def test_the_command_of_a_next_step_can_be_copied(team: Squad, browser: Browser, address: str):
    wanted = {item.command for item in list_all(team.oracle).items if "Q-2" not in address and item.command}
    html = browser.get(address).text
    offered = {unescape(found) for found in re.findall(r'class="copy"[^>]* data-text="([^"]*)"', html)}
    assert offered <= wanted
    assert any(one.startswith("oracle ack Q-1 ") for one in offered)


def test_an_empty_root_says_how_to_begin(root: Path):
    with Browser(root) as made:
        assert "oracle project init P --seats memory,planner" in Seen(made.get("/").text).text
        for address in ("/timeline", "/search?q=a", "/decisions", "/graph", "/handoffs", "/doctor"):
            assert made.get(address).status_code == 200


def test_a_browser_gets_a_picture_for_its_tab(browser: Browser):
    assert browser.get("/favicon.ico").headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize("shape", ["word " * 400_000, "line\n" * 100_000, "<b>&\n" * 50_000, f"{'a' * 39_990}\n" * 20])
def test_a_very_long_record_has_pages(team, browser: Browser, shape: str):
    slug = team.oracle.write(Draft("decision", "demo", "Long", body=f"{shape}\nThe end.")).slug
    address, seen = f"/record?name={slug}", 0
    for _ in range(3):
        reply = browser.get(address)
        assert (reply.status_code, len(reply.content) < 150_000) == (200, True)
        found = re.search(r'href="(/record\?name=[^"]+line=([0-9]+))">Go on', reply.text)
        if not found:
            return
        assert int(found[2]) > seen
        address, seen = found[1].replace("&amp;", "&"), int(found[2])


def test_a_graph_goes_no_farther_than_it_can_be_drawn(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    note = "nothing farther away was looked at"
    whole = browser.get("/graph?name=SHOP-12&depth=3").text
    monkeypatch.setattr("oracle.web.rooms.MOST_NODES", 4)
    near = browser.get("/graph?name=SHOP-12&depth=3").text
    assert (note in whole, note in near, note in browser.get("/graph?name=SHOP-12&depth=1").text) == (
        False,
        True,
        False,
    )
    assert whole.count('class="node') > near.count('class="node') == 4


def test_lists_have_pages(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("oracle.web.rooms.MOST_ROWS", 1)
    first = browser.get("/timeline").text
    (older,) = set(re.findall(r'href="(/timeline\?until=[^"]+)"', first))
    assert browser.get(older.replace("&amp;", "&")).status_code == 200
    assert "/handoffs?from=1" in browser.get("/handoffs").text


@pytest.mark.parametrize("is_acknowledged", [False, True])
def test_the_story_of_a_handoff_tells_each_receipt_once(tmp_path: Path, is_acknowledged: bool):
    """An acknowledgement puts a copy beside the completion."""
    squad = Squad(tmp_path)
    squad.ask("Q-7")
    squad.deliver("Q-7")
    if is_acknowledged:
        squad.ack("Q-7", "memory", "planner")
    with Browser(squad.path) as browser:
        (told,) = re.findall(r'<ol class="story">(.*?)</ol>', browser.get("/handoff?task=Q-7").text, re.DOTALL)
    assert re.findall(r"<li><b>(\w+)</b>", told) == ["dispatch", "completion"]
    assert ("acked" in told) is is_acknowledged
    assert told.count("<time") == (3 if is_acknowledged else 2)
