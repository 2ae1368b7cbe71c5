"""`oracle team privacy`: what must not leave this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import option, single
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.errors import UsageError
from oracle.process import read_input
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.domain.safety.privacy import PrivacyFinding

app = single()


@app.add(example="oracle team privacy --staged")
def privacy(
    call: Call,
    *,
    text: Annotated[str | None, option("--text TEXT", "This text; - is standard input.")] = None,
    file: Annotated[str, option("--file PATH", "The text of a file.")] = "",
    staged: Annotated[bool, option("--staged", "What the next commit here would add.")] = False,
) -> None:
    """Find what must not leave this machine; exit 1 if anything."""
    if [text is not None, bool(file), staged].count(True) != 1:
        raise UsageError(say("Nothing to check, or too much."), hint=say("Give one of --text, --file and --staged."))
    with call.context() as context:
        found = _look(context, text, file)
    table = Table(say_each("rule", "sort", "place"), [(item.rule, item.sort, item.where) for item in found])
    call.answer({"clean": not found, "findings": [item.as_json() for item in found]}, table)
    if found:
        raise typer.Exit(1)
    call.note(say("nothing was found"))


def _look(context: Context, text: str | None, file: str) -> tuple[PrivacyFinding, ...]:
    from oracle.app import guard

    if text is not None:
        return guard.check_text(context, read_input("-", "--file").decode("utf-8", "replace") if text == "-" else text)
    return guard.check_file(context, file) if file else guard.check_staged(context, str(Path.cwd()))
