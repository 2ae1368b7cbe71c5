"""`oracle init`: create a Root."""

from __future__ import annotations

from typing import Annotated

from oracle.cli.options import option, single
from oracle.cli.session import Call
from oracle.wording import say

app = single()


@app.add(example="oracle init --memory-dir ~/.agents/memory")
def init(
    call: Call,
    *,
    shared: Annotated[bool, option("--shared", "Let the group of the folder read and write all of it.")] = False,
) -> None:
    """Create the Root if it does not exist."""
    from oracle.app import root

    with call.context() as context:
        is_new = root.init(context, shared=shared)
        path = context.root.path
    told = say("Created the Root {path}", path=path) if is_new else say("The Root exists already: {path}", path=path)
    call.answer({"root": path, "made": is_new}, told)
