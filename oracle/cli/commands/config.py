"""`oracle config`: the settings of a Root."""

from __future__ import annotations

import os
from typing import Annotated

from oracle.cli import completion
from oracle.cli.options import argument, group
from oracle.cli.session import Call
from oracle.errors import NotFound
from oracle.wording import say

app = group("Read the settings of a Root.", example="oracle config get root")


@app.add("get", example="oracle config get root")
def get(call: Call, key: Annotated[str, argument("KEY", "The setting, as in root.", completion.words("root"))]) -> None:
    """Print a setting, or the Root and what chose it."""
    if key != "root":
        raise NotFound(say("Unknown setting {key!r}.", key=key), hint=say("There are {known}.", known=["root"]))
    with call.context() as context:
        path = context.root.path
    call.answer({"root": path, "exists": os.path.isdir(path)}, path)  # noqa: PTH112 -- pathlib is not worth its import
