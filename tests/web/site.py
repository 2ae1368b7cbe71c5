"""A team with records, handoffs and an open decision, and a browser that looks at its pages."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from oracle.app.decisions.handover import send
from oracle.cli.i18n.translate import load
from oracle.domain.records.drafts import Draft
from oracle.web.gate import Gate
from oracle.web.languages import Languages
from oracle.web.site import Site
from tests.app.squad import Squad
from tests.app.test_decisions import ID, payload

PORT = 7655
DECISION = ID
HOSTILE = (
    "<script>document.title='owned'</script> <img src=x onerror=\"document.title='owned'\"> <style>body{display:none}</style>"
    " <svg onload=\"document.title='owned'\"></svg> [a](javascript:document.title='owned')"
    " ![b](https://evil.example/b.png) [c](data:text/html,<script>1</script>) \u202edesrever\u202c \x1b[31m"
    " <form action=https://evil.example><input name=q></form> <meta http-equiv=refresh content='0;url=https://evil.example'>"
)
PAGES = (
    "/",
    "/search",
    "/search?q=webhooks",
    "/search?q=nothingofthekind",
    "/ask?q=how+often+do+webhooks+retry",
    "/ask?q=who+invented+the+umbrella",
    "/record?name=webhooks-retry-five-times",
    "/record?name=webhooks-retry-twice",
    "/record?name=hostile",
    "/entity?name=SHOP-12",
    "/entity?name=entity:url:https://good.example/a",
    "/graph",
    "/graph?name=SHOP-12&depth=2",
    "/timeline",
    "/timeline?project=demo&since=2020-01-01",
    "/handoffs",
    "/handoffs?state=open",
    "/handoff?task=Q-1",
    f"/handoff?task={DECISION}",
    "/decisions",
    "/doctor",
    "/doctor?run=yes",
)


def make_team(folder: Path) -> Squad:
    """Return a team whose pages all show something."""
    squad = Squad(folder)
    squad.oracle.init()

    def write(title: str, body: str, **more: Any) -> str:
        return str(squad.oracle.write(Draft("decision", "demo", title, body=body, **more)).slug)

    first = write(
        "Webhooks retry twice",
        "Webhooks retry twice, for SHOP-12. See src/hooks.py and [the docs](https://good.example/a).",
    )
    write("Webhooks retry five times", "Webhooks retry five times, since SHOP-12 lost events.", supersedes=(first,))
    write("Hostile", HOSTILE, author="planner")
    write("缓存保留五分钟", "缓存保留五分钟，见 SHOP-12 与 [[webhooks-retry-twice]]。")
    squad.ask("Q-1", objective=f"Who decided? {HOSTILE}", notifies=False)
    squad.deliver("Q-1", answer=f"Nobody. {HOSTILE}", notifies=False)
    squad.ask("Q-2", notifies=False)
    send(squad.oracle, payload(), notifies=False)
    return squad


class Browser:
    """A client of a server on `PORT`, let in by its token; `addresses` are those that were printed."""

    def __init__(self, root: Path, *, stated: str = "", allows_writes: bool = False, host: str = "127.0.0.1") -> None:
        speech = Languages({"zh": load("zh").translate}, stated)
        self.site = Site(str(root), speech, allows_writes=allows_writes)
        self.tokens: list[str] = []
        self.gate = Gate(
            self.site.application(),
            host=host,
            port=PORT,
            speech=speech,
            allows_writes=allows_writes,
            on_open=lambda: self.tokens.append(self.gate.token),
        )
        self.client = TestClient(self.gate, base_url=f"http://{host}:{PORT}", follow_redirects=False)

    def __enter__(self) -> Browser:
        self.client.__enter__()
        assert self.client.get(f"/?token={self.gate.token}").status_code == 200
        return self

    def __exit__(self, *_: object) -> None:
        self.client.__exit__(None, None, None)
        self.site.close()

    def get(self, address: str, **headers: str) -> Any:
        return self.client.get(address, headers=headers)

    def post(self, address: str, fields: dict[str, str], **headers: str) -> Any:
        sent = {"origin": f"http://127.0.0.1:{PORT}", **headers}
        return self.client.post(address, data=fields, headers=sent)

    def form_token(self, address: str) -> str:
        found = re.search(r'name="form" value="([0-9a-f]+)"', self.get(address).text)
        return found[1] if found else ""


class Seen(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.text = ""
        self.language = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action")]
        self.language = dict(attrs).get("lang") or self.language if tag == "html" else self.language

    def handle_data(self, data: str) -> None:
        self.text += data
