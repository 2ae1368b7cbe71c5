"""The usual attacks on a server of this machine: each request that is not the owner's ends at the gate."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from oracle.web import gate
from oracle.web.gate import Bucket
from oracle.web.serving import opened
from tests.web.site import DECISION, PORT, Browser

OWN = f"127.0.0.1:{PORT}"


@pytest.fixture
def stranger(browser: Browser):
    """Give the client of a browser that was not let in."""
    kept = dict(browser.client.cookies)
    browser.client.cookies.clear()
    yield browser.client
    browser.client.cookies.update(kept)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        f"127.0.0.1:{PORT + 1}",
        f"10.0.0.5:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        "",
    ],
)
@pytest.mark.parametrize("address", ["/", "/events", "/static/x/style.css"])
def test_another_name_for_this_address_is_refused(browser: Browser, host: str, address: str):
    """A page whose name was bound to 127.0.0.1 after it was loaded sends its own name."""
    assert browser.get(address, host=host).status_code == 421


@pytest.mark.parametrize("host", [OWN, f"localhost:{PORT}", f"[::1]:{PORT}", f"127.0.0.2:{PORT}"])
def test_names_of_this_machine_are_answered(browser: Browser, host: str):
    cookie = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
    assert browser.get("/doctor", host=host, cookie=cookie).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"https://{OWN}"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
def test_a_page_of_another_origin_gets_nothing(browser: Browser, headers: dict[str, str]):
    assert browser.get("/", **headers).status_code == 403


@pytest.mark.parametrize("token", ["", "x", "%00", "a" * 43, "é"])
def test_a_guessed_token_opens_nothing(browser: Browser, stranger, token: str):
    reply = stranger.get(f"/?token={token}")
    assert reply.status_code == 403
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "address", ["/", "/search?q=webhooks", "/record?name=hostile", "/events", "/static/x/style.css", "/nothing"]
)
def test_nothing_is_shown_without_a_cookie(stranger, address: str):
    reply = stranger.get(address)
    assert reply.status_code == 403
    assert "webhooks" not in reply.text.lower()


def test_a_stranger_gets_an_empty_picture(stranger):
    """A browser asks for it by itself, and a refusal would be one more complaint in its console."""
    reply = stranger.get("/favicon.ico")
    assert (reply.status_code, reply.content) == (204, b"")
    assert stranger.get("/favicon.ico", headers={"host": "evil.example"}).status_code == 421


def test_a_token_opens_one_browser(team):
    with Browser(team.path) as made:
        first = made.gate.token
        for status in (200, 403):
            made.client.cookies.clear()
            assert made.client.get(f"/?token={first}").status_code == status
        assert len({*made.tokens, first}) == 2
        assert made.client.get(f"/?token={made.tokens[-1]}").status_code == 200
        assert made.client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("address", "leads"),
    [
        ("/?token={}", "/"),
        ("/search?q=a%26b&token={}", "/search?q=a%26b"),
        ("//evil.example/?token={}", "/evil.example/"),
        ("/%5cevil.example?token={}", "/evil.example"),
    ],
)
@pytest.mark.parametrize("is_in", [True, False])
def test_the_token_leaves_the_address_and_the_cookie_is_strict(team, address: str, leads: str, is_in: bool):
    with Browser(team.path) as made:
        if not is_in:
            made.client.cookies.clear()
        reply = made.client.get(f"http://{OWN}" + address.format(made.gate.token))
        assert f'content="0;url={leads}"' in reply.text
        cookie = reply.headers.get("set-cookie", "")
        wanted = ("HttpOnly", "SameSite=strict", f"oracle-web-{PORT}=")
        assert [part for part in wanted if part in cookie] == ([] if is_in else list(wanted))
        assert made.gate.token not in reply.text


def test_the_cookie_of_another_server_opens_nothing(team, stranger):
    """A browser sends the cookies of 127.0.0.1 to every port."""
    with Browser(team.path) as other:
        cookie = "; ".join(f"{name}={value}" for name, value in other.client.cookies.items())
    assert cookie
    assert stranger.get("/", headers={"cookie": cookie}).status_code == 403


@pytest.mark.parametrize("value", ["", "x", "x; oracle-web-7655=y", "\xe9"])
def test_a_made_up_cookie_opens_nothing(stranger, value: str):
    cookie = f"oracle-web-{PORT}={value}".encode("latin-1")
    assert stranger.get("/", headers={"cookie": cookie}).status_code == 403


@pytest.mark.parametrize(
    "address",
    [
        "/static/x/..%2f..%2fsite.py",
        "/static/x/../../site.py",
        "/static/x/%2e%2e/site.py",
        "/static//etc/passwd",
        "/static/x/base.html",
        "/record?name=../../../../etc/passwd",
        "/record?name=/etc/passwd",
        "/record?name=projects/../../etc/passwd",
        "/handoff?task=../../etc/passwd",
        "/handoff?task=Q-1&project=../..",
        "/record?name=%00",
    ],
)
def test_no_path_leads_out(browser: Browser, address: str):
    reply = browser.get(f"http://{OWN}{address}")
    assert reply.status_code in (400, 404)
    assert "root:" not in reply.text


@pytest.mark.parametrize(("address", "status"), [("/?q=" + "a" * 5000, 414), ("/" + "a" * 5000, 414)])
def test_a_long_address_is_refused(browser: Browser, address: str, status: int):
    assert browser.get(address).status_code == status


@pytest.mark.parametrize("is_said", [True, False])
def test_an_oversized_body_is_refused(writer: Browser, is_said: bool):
    body = b"a=" + b"b" * (gate.MOST_BODY + 1)
    headers = {"origin": f"http://{OWN}", "content-type": "application/x-www-form-urlencoded"}
    sent = body if is_said else iter([body[:1000], body[1000:]])
    assert writer.client.post("/decisions", content=sent, headers=headers).status_code == 413
    assert writer.get("/decisions").status_code == 200


def test_too_many_requests_wait(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gate, "PER_SECOND", 0)
    monkeypatch.setattr(browser.gate, "_bucket", Bucket())
    codes = [browser.get("/static/x/icon.svg").status_code for _ in range(gate.BURST + 20)]
    assert codes == [200] * gate.BURST + [429] * 20


def test_strangers_use_up_nothing(browser: Browser, stranger, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gate, "PER_SECOND", 0)
    for name in ("_bucket", "_strangers"):
        monkeypatch.setattr(browser.gate, name, Bucket())
    codes = {stranger.get("/").status_code for _ in range(gate.BURST + 5)}
    assert codes == {403, 429}
    assert browser.gate._bucket.take()


def test_requests_come_back_with_time():
    now = 0.0
    bucket = Bucket(lambda: now)
    assert [bucket.take() for _ in range(gate.BURST + 1)][-1] is False
    now = 1.0
    gained = int(gate.PER_SECOND)
    assert all(bucket.take() for _ in range(min(gained, gate.BURST)))


@pytest.mark.parametrize("address", ["/", "/static/x/page.js", "/nothing", "/record?name=hostile"])
def test_every_answer_has_a_strict_policy(browser: Browser, address: str):
    headers = browser.get(address).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_a_client_that_does_not_read_is_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gate, "SEND_TIMEOUT", 0.05)

    async def never(_):
        await asyncio.sleep(60)

    async def send() -> None:
        await gate._guarded(never)({"type": "http.response.body", "body": b"a"})

    with pytest.raises(TimeoutError):
        asyncio.run(send())


# Writing --------------------------------------------------------------------------------------------------------------


def test_nothing_is_written_unless_it_was_allowed(browser: Browser):
    fields = {"project": "demo", "decision": DECISION, "choice": "A"}
    assert browser.post("/decisions", fields).status_code == 405
    assert "<form method" not in browser.get("/decisions").text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
    ],
)
def test_a_form_of_another_page_writes_nothing(writer: Browser, headers: dict[str, str]):
    fields = {"form": writer.form_token("/decisions"), "project": "demo", "decision": DECISION, "choice": "A"}
    assert fields["form"]
    assert writer.post("/decisions", fields, **headers).status_code == 403
    assert DECISION in writer.get("/decisions").text


def test_a_form_that_does_not_say_where_it_is_from_writes_nothing(writer: Browser):
    fields = {"form": writer.form_token("/decisions"), "project": "demo", "decision": DECISION, "choice": "A"}
    assert writer.client.post("/decisions", data=fields).status_code == 403


@pytest.mark.parametrize("token", ["", "x", "0" * 64, "é"])
def test_a_form_without_its_token_writes_nothing(writer: Browser, token: str):
    fields = {"form": token, "project": "demo", "decision": DECISION, "choice": "A"}
    assert writer.post("/decisions", fields).status_code == 403
    assert DECISION in writer.get("/decisions").text


def test_the_token_of_another_browser_writes_nothing(writer: Browser, team):
    with Browser(team.path, allows_writes=True) as other:
        token = other.form_token("/decisions")
    fields = {"form": token, "project": "demo", "decision": DECISION, "choice": "A"}
    assert token
    assert writer.post("/decisions", fields).status_code == 403


def test_a_person_decides_and_acknowledges(writer: Browser):
    token = writer.form_token("/decisions")
    fields = {"form": token, "project": "demo", "decision": DECISION, "choice": "A", "reason": "It is quiet."}
    reply = writer.post("/decisions", fields)
    assert (reply.status_code, reply.headers["location"]) == (303, f"/handoff?task={DECISION}&project=demo")
    assert f'value="{DECISION}"' not in writer.get("/decisions").text
    assert "It is quiet." in writer.get("/search?q=quiet").text
    fields = {"form": token, "project": "demo", "task": "Q-1", "from": "memory", "to": "planner"}
    assert writer.post("/handoff", fields).status_code == 303
    assert "acked" in writer.get("/handoff?task=Q-1").text
    assert writer.post("/decisions", {**fields, "decision": "nope", "choice": "A"}).status_code == 404


def test_the_address_that_opens_a_browser_is_in_no_list_of_processes(monkeypatch: pytest.MonkeyPatch):
    seen = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    with opened("http://127.0.0.1:1/?token=secret"):
        (address,) = seen
        path = Path(address.removeprefix("file://"))
        assert "secret" not in address
        assert "token=secret" in path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()
