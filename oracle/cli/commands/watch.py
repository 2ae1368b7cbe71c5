"""`oracle watch`: what goes on in a Root, on a terminal that stays open or as one frame."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

from oracle.cli.options import option, single
from oracle.cli.output import columns, is_terminal, write_out
from oracle.cli.session import Call, needs_extra
from oracle.errors import UsageError
from oracle.wording import say

_WHOLE = 1000
"""Columns of a frame that a script reads: there nothing is cut."""

watch_app = single()


@watch_app.add(example="oracle watch")
def watch(
    call: Call, *, once: Annotated[bool, option("--once", "Print the first pane once, as text.")] = False
) -> None:
    """Show what goes on now, and follow it."""
    if once or call.as_json:
        _print(call)
        return
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise UsageError(say("`oracle watch` needs a terminal."), hint=say("Print one frame: oracle watch --once."))
    gc.disable()  # it would take a tenth of the time that the imports take
    with needs_extra("tui"):
        from oracle.tui.app import WatchApp
    gc.freeze()
    gc.enable()
    app = WatchApp(call.memory_dir)
    app.run()
    if app.failure is not None:
        raise app.failure


def _print(call: Call) -> None:
    from oracle.app.overview.now import now
    from oracle.tui.panes import NowPane

    with call.context() as context:
        found = now(context)
    if call.as_json:
        call.print_json(found.as_json())
    else:
        width = columns() if is_terminal(sys.stdout) else _WHOLE
        write_out("".join(f"{line.text}\n" for line in NowPane(found).lines(width)))
