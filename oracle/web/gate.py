"""Decide which requests reach the pages. Everything that another page, another server or another user may send ends here."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections import deque
from html import escape
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from oracle.serving import comparer
from oracle.web import languages
from oracle.wording import say, spoken

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from oracle.web.languages import Languages

MOST_ADDRESS = 4096
"""Bytes of a path with its query."""

MOST_BODY = 64 * 1024
"""Bytes of a form."""

MOST_SESSIONS = 16
"""Browsers that are let in at a time. One more ends the oldest."""

BURST, PER_SECOND = 120, 40
"""Requests that are answered at once, and then in each second."""

SEND_TIMEOUT = 20.0
"""Seconds in which a client must take a part of an answer."""

TOKEN = "token"  # noqa: S105 -- the name of the parameter
_REFUSALS = {
    403: say("Not allowed. Open the address that `oracle web` printed last."),
    405: say("Only reading is allowed here. Start `oracle web --allow-write` to write."),
    413: say("The form is too large."),
    414: say("The address is too long."),
    421: say("This server answers for its own address only."),
    429: say("Too many requests. Wait a second."),
}
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # without any, a browser says of no form where it comes from
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_NO_STORE = "no-store"


_PAGE = '<!doctype html><meta charset="utf-8"><title>oracle</title>{}'


class TooLarge(Exception):
    """A form has more bytes than are read."""


class Gate:
    """Let a browser in that brings the token once, and then its cookie. `host` and `port` are where the server listens.

    A token opens one browser. `on_open` is called when there is a new one.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        port: int,
        speech: Languages,
        allows_writes: bool,
        on_open: Callable[[], None],
    ) -> None:
        self._app = app
        self._host = host
        self._port = port
        self._speech = speech
        self._methods = ("GET", "HEAD", "POST") if allows_writes else ("GET", "HEAD")
        self._on_open = on_open
        self._cookie = f"oracle-web-{port}"
        self._key = secrets.token_bytes(32)
        self._sessions: deque[str] = deque(maxlen=MOST_SESSIONS)
        self._bucket, self._strangers = Bucket(), Bucket()  # who was not let in takes nothing from who was
        self.token = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is refused, and pass on any other."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        languages.use(self._speech.choose(headers.get("accept-language", "")))
        session = self._session(headers)
        code = self._fault(scope, headers)
        if not code and not (self._bucket if session else self._strangers).take():
            code = 429
        response = None if code else self._open(scope, is_in=bool(session))
        if not code and not session and response is None:
            code = 403
            response = Response(status_code=204) if scope["path"] == "/favicon.ico" else None
        if code or response:
            await (response or refuse(code))(scope, receive, _guarded(send))
            return
        scope["form_token"] = hmac.digest(self._key, session.encode(), "sha256").hex()
        await self._app(scope, _bounded(receive), _guarded(send))

    def _fault(self, scope: Scope, headers: Headers) -> int:
        """Return the status of a refusal, 0 for a request that may be answered."""
        if not self._is_own(headers.getlist("host")):
            return 421
        if self._is_foreign(scope, headers):
            return 403
        if scope["method"] not in self._methods:
            return 405
        if len(scope["raw_path"]) + len(scope["query_string"]) > MOST_ADDRESS:
            return 414
        if not _is_small(headers.get("content-length", "0")):
            return 413
        return 0

    def _is_own(self, hosts: list[str]) -> bool:
        """Return whether a Host names this server. A name that somebody else's DNS gives it does not."""
        name, _, port = hosts[0].rpartition(":") if len(hosts) == 1 else ("", "", "")
        if port != str(self._port):
            return False
        if name in (self._host, "localhost"):
            return True
        try:
            address = ip_address(name.strip("[]"))
        except ValueError:
            return False
        return address.is_loopback or self._host not in ("127.0.0.1", "::1", "localhost")

    def _is_foreign(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a page of another origin sent the request. A form must say that it comes from here."""
        origin = headers.get("origin")
        if origin is None and scope["method"] not in ("GET", "HEAD"):
            return True
        if origin is not None and origin != f"http://{headers['host']}":
            return True
        is_elsewhere = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        return is_elsewhere and headers.get("sec-fetch-mode") != "navigate"

    def _session(self, headers: Headers) -> str:
        """Return the session of the request's cookie, "" for none that this server knows."""
        given = {
            value.strip()
            for part in headers.get("cookie", "").split(";")
            for name, _, value in [part.partition("=")]
            if name.strip() == self._cookie
        }
        return next((one for one in self._sessions if any(map(comparer(one), given))), "")

    def _open(self, scope: Scope, *, is_in: bool) -> Response | None:
        """Return the page that leads on to the address without the token, None for an address without a valid token.

        A browser without a session gets one.
        """
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        given = query.pop(TOKEN, "")
        if scope["method"] != "GET" or not given or not (is_in or comparer(self.token)(given)):
            return None
        path = "/" + quote(scope["path"].lstrip("/\\")) + (f"?{urlencode(query)}" if query else "")
        # A browser keeps a strict cookie back from a redirect if the first link was on another site. This page leads on itself.
        response = HTMLResponse(_PAGE.format(f'<meta http-equiv="refresh" content="0;url={escape(path)}">'))
        if not is_in:
            session = secrets.token_urlsafe(32)
            self.token = secrets.token_urlsafe(32)
            self._sessions.append(session)
            self._on_open()
            response.set_cookie(self._cookie, session, httponly=True, samesite="strict", path="/")
        return response


def refuse(code: int) -> Response:
    """Return the answer to a request that is refused. A person who was let in before may follow the link of a 403."""
    sentence = spoken(_REFUSALS[code])
    if code != 403:
        return PlainTextResponse(sentence, code)
    again = escape(spoken(say("Open this page again")))
    return HTMLResponse(_PAGE.format(f'<p>{escape(sentence)}</p><p><a href="">{again}</a></p>'), code)


class Bucket:
    """Requests that may be answered now. They come back with time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left, self._at = float(BURST), clock()

    def take(self) -> bool:
        """Take one. Returns whether there was one."""
        now = self._clock()
        self._left = min(BURST, self._left + (now - self._at) * PER_SECOND)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def _is_small(length: str) -> bool:
    return length.isascii() and length.isdecimal() and int(length[:12]) <= MOST_BODY


def _bounded(receive: Receive) -> Receive:
    """Return `receive` with an end to how much a client may send."""
    taken = 0

    async def take() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MOST_BODY:
            raise TooLarge
        return message

    return take


def _guarded(send: Send) -> Send:
    """Return `send` with the headers that every answer has, and an end to waiting for a client that reads slowly."""

    async def pass_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            headers.setdefault("Cache-Control", _NO_STORE)
        await asyncio.wait_for(send(message), SEND_TIMEOUT)

    return pass_on
