"""`oracle web`: serve the Root as pages for a browser of this machine."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

from oracle.app.settings import LANGUAGES
from oracle.cli import completion
from oracle.cli.options import option, single
from oracle.cli.output import print_line
from oracle.cli.session import AUTO, Call
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.wording import Sentence

PORT = 7655

web_app = single()


@web_app.add(example="oracle web --open")
def web(
    call: Call,
    *,
    port: Annotated[int, option("--port N", "The port; 0 is any free one.", min=0)] = PORT,
    host: Annotated[
        str, option("--host ADDRESS", "The address to listen on.", completion.words("127.0.0.1", "::1"))
    ] = "127.0.0.1",
    allow_write: Annotated[bool, option("--allow-write", "Let pages decide and acknowledge.")] = False,
    open_browser: Annotated[bool, option("--open", "Open a browser.")] = False,
) -> None:
    """Serve pages for a browser."""
    from oracle.app.context import Context
    from oracle.cli.i18n.translate import ENGLISH
    from oracle.serving import StopSignal, listen
    from oracle.web.languages import Languages
    from oracle.web.serving import PageServer, opened

    root = Context.open(call.memory_dir).root
    root.require()
    others = [name for name in LANGUAGES if name not in (AUTO, ENGLISH)]
    speech = Languages({name: _translation(name) for name in others}, call.language)
    stop = StopSignal()
    with listen(port, host) as door:
        server = PageServer(
            root.path,
            door,
            host=host,
            speech=speech,
            allows_writes=allow_write,
            on_open=lambda address: call.note(say("for another browser: {address}", address=address)),
        )
        if call.as_json:
            call.print_json({"url": server.address})
        else:
            print_line(server.address)
        with opened(server.address) if open_browser else nullcontext():
            server.run(stop)


def _translation(language: str) -> Callable[[Sentence], str]:
    """Return what translates sentences. The catalogue is read when the first one is."""
    from oracle.cli.i18n.translate import load

    return lambda sentence: load(language).translate(sentence)
