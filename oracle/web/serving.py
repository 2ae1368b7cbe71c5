"""Serve the pages: print an address, serve until the signal comes."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from oracle.errors import UsageError
from oracle.serving import StopSignal, serve
from oracle.wording import say

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from oracle.web.gate import Gate
    from oracle.web.languages import Languages
    from oracle.web.site import Site


class PageServer:
    """A server that is ready to run. `on_open` gets the next address each time that one let a browser in."""

    def __init__(
        self,
        root: str,
        door: socket.socket,
        *,
        host: str,
        speech: Languages,
        allows_writes: bool,
        on_open: Callable[[str], None],
    ) -> None:
        gate_type, site_type = _load()
        self._door = door
        self._host, self._port = host, door.getsockname()[1]
        self.site = site_type(root, speech, allows_writes=allows_writes)
        self.gate = gate_type(
            self.site.application(),
            host=host,
            port=self._port,
            speech=speech,
            allows_writes=allows_writes,
            on_open=lambda: on_open(self.address),
        )

    @property
    def address(self) -> str:
        """The address that lets one browser in."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}/?token={self.gate.token}"

    def run(self, stop: StopSignal) -> None:
        """Serve until the signal comes."""
        self.site.warm()
        try:
            serve(self.gate, self._door, stop)
        finally:
            self.site.close()


@contextmanager
def opened(address: str) -> Iterator[None]:
    """Open a browser for as long as the block runs. The address stays out of the list of processes, which everybody can read."""
    import webbrowser

    handle, name = tempfile.mkstemp(suffix=".html", prefix="oracle-")  # mode 0600
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}">')
        webbrowser.open(path.as_uri())
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def _load() -> tuple[type[Gate], type[Site]]:
    """Import what the pages need. Raises UsageError without the extra."""
    try:
        import uvicorn  # noqa: F401 -- `serve` needs it, when the address is printed already

        from oracle.app.pages import markdown  # noqa: F401 -- the first page would wait for it
        from oracle.web.gate import Gate
        from oracle.web.site import Site
    except ModuleNotFoundError as error:
        if (error.name or "oracle").partition(".")[0] == "oracle":
            raise
        raise UsageError(
            say("The pages need the package {name}, which is not installed.", name=error.name),
            hint=say("Install them: {executable} -m pip install 'memory-oracle[web]'.", executable=sys.executable),
        ) from error
    return Gate, Site
