"""The application: rooms behind a gate, forms, live changes, and the files of the pages."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from oracle.app.root import unexpected
from oracle.errors import Conflict, NotFound, OracleError, OwnershipError, UsageError
from oracle.serving import Workers
from oracle.web import forms, languages, views
from oracle.web.advice import advise
from oracle.web.gate import TooLarge, refuse
from oracle.web.live import Live
from oracle.web.rooms import ROOMS, PageQuery, RoomPage
from oracle.wording import say, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from oracle.app.context import Context
    from oracle.web.languages import Languages
    from oracle.web.rooms import Room

MOST_WAITING = 32
"""Pages that wait for a thread. More are refused."""

_STATUSES = ((NotFound, 404), (UsageError, 400), (OwnershipError, 403), (Conflict, 409))
_SEND_TIMEOUT = 5.0
_PING = 15


class Site:
    """The pages of one Root."""

    def __init__(self, root: str, speech: Languages, *, allows_writes: bool) -> None:
        self._root = root
        self._speech = speech
        self._allows_writes = allows_writes
        self._workers = Workers(root)
        self._waiting = 0
        self._slow = asyncio.Lock()
        self.live = Live(root)

    def application(self) -> Starlette:
        """Return the application without its gate."""
        routes = [Route(path, self._page(room)) for path, room in ROOMS.items()]
        routes += [
            Route("/events", self._events),
            Route("/static/{version}/{name}", _static),
            Route("/favicon.ico", _icon),
            Route("/decisions", self._form(forms.decide), methods=["POST"]),
            Route("/handoff", self._form(forms.acknowledge), methods=["POST"]),
        ]
        return Starlette(routes=routes, exception_handlers={404: self._missing, TooLarge: _too_large})

    def warm(self) -> None:
        """Load what pages need, so that the first one does not wait for it."""
        words = PageQuery({"q": "memory"})
        shared = {"form_token": "", "state": "", "root": self._root}
        for path in ("/", "/search", "/timeline", "/graph"):
            make = _bound(ROOMS[path], words)
            self._workers.begin(partial(self._make, make, languages.ENGLISH, {**shared, "path": path}))
        self._workers.begin(views.warm)

    def close(self) -> None:
        """Wait for the pages that are being made."""
        self._workers.close()
        self.live.close()

    def _page(self, room: Room) -> Callable[[Request], object]:
        async def show(request: Request) -> Response:
            address = PageQuery(dict(request.query_params))
            if room is ROOMS["/doctor"] and address.text("run"):
                if self._slow.locked():  # it reads every file, so one at a time
                    return PlainTextResponse(spoken(say("The checks are running. Wait until they are done.")), 503)
                async with self._slow:
                    return await self._answer(request, _bound(room, address))
            return await self._answer(request, _bound(room, address))

        return show

    def _form(self, write: forms.Write) -> Callable[[Request], object]:
        async def submit(request: Request) -> Response:
            fields = await forms.read(request)
            if not forms.is_own(request, fields):
                return await self._answer(request, lambda _: forms.refuse())
            return await self._answer(request, lambda context: write(context, PageQuery(fields)))

        return submit

    async def _answer(self, request: Request, make: Callable[[Context], RoomPage | str]) -> Response:
        """Return the page that a job makes in a thread, or the address to go on to."""
        if self._waiting >= MOST_WAITING:
            return PlainTextResponse(spoken(say("Too many pages are being made. Wait a second.")), 503)
        language = languages.current()
        address = request.url.path, dict(request.query_params)
        shared = {
            "path": request.url.path,
            "form_token": request.scope.get("form_token", "") if self._allows_writes else "",
            "state": self.live.state,
            "root": self._root,
        }
        self._waiting += 1
        try:
            return await self._workers.run(lambda: self._make(make, language, shared, address))
        finally:
            self._waiting -= 1

    def _make(
        self,
        make: Callable[[Context], RoomPage | str],
        language: str,
        shared: dict[str, object],
        address: tuple[str, Mapping[str, str]] = ("", {}),
    ) -> Response:
        languages.use(language)
        warnings: list[str] = []
        status = 200
        try:
            page, warnings = self._workers.with_context(make)
        except OracleError as error:
            page = _error_page(error, *address)
            status = next((code for kind, code in _STATUSES if isinstance(error, kind)), 500)
        except Exception as error:  # noqa: BLE001 -- one page that fails must not end the server, nor show a traceback
            page, status = _error_page(unexpected(self._root, error, with_message=False), *address), 500
        if isinstance(page, str):
            return RedirectResponse(page, 303)
        return HTMLResponse(views.render(page, warnings=warnings, **shared), status)

    async def _events(self, request: Request) -> Response:
        if self.live.is_full:
            return PlainTextResponse(spoken(say("Too many pages are open.")), 503)
        seen = request.headers.get("last-event-id") or request.query_params.get("since", "")
        shown = request.query_params.get("path", "")
        return EventSourceResponse(self.live.listen(seen, shown), ping=_PING, send_timeout=_SEND_TIMEOUT)

    async def _missing(self, request: Request, _: Exception) -> Response:
        def none(_: Context) -> RoomPage:
            raise NotFound(say("There is no such page."), hint=say("Follow a link, or search."))

        return await self._answer(request, none)


def _bound(room: Room, address: PageQuery) -> Callable[[Context], RoomPage | str]:
    return lambda context: room(context, address)


def _error_page(error: OracleError, path: str, parameters: Mapping[str, str]) -> RoomPage:
    return RoomPage("error.html", say("Nothing to show"), {"error": error, "advice": advise(error, path, parameters)})


async def _static(request: Request) -> Response:
    """Return a file of the pages. The names are those that there are: none leads to another file."""
    found = views.statics().get(request.path_params["name"])
    if found is None:
        return PlainTextResponse("", 404)
    content, kind = found
    return Response(content, media_type=kind, headers={"Cache-Control": "private, max-age=31536000, immutable"})


async def _icon(_: Request) -> Response:
    """Return the picture that a browser asks for where a page names none, such as a refusal."""
    content, kind = views.statics()["icon.svg"]
    return Response(content, media_type=kind, headers={"Cache-Control": "private, max-age=86400"})


async def _too_large(_: Request, __: Exception) -> Response:
    return refuse(413)
