"""The command that looks before something leaves: privacy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, begin
from oracle.cli.printing import Table, print_table
from oracle.errors import UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.api import Oracle
    from oracle.domain.safety.privacy import PrivacyFinding


def privacy(
    context: typer.Context,
    action: Annotated[str, typer.Argument(metavar="ACTION", help="check.", autocompletion=completing.words("check"))],
    *,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="This text; - is standard input.")] = None,
    file: Annotated[str, typer.Option("--file", metavar="PATH", help="The text of a file.")] = "",
    staged: Annotated[bool, typer.Option("--staged", help="What the next commit here would add.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Say what must not leave this machine."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action != "check" or [text is not None, bool(file), staged].count(True) != 1:
        raise UsageError(
            say("The words of `oracle privacy` don't fit together."),
            hint=say("Write `oracle privacy check` with one of --text TEXT, --file PATH and --staged."),
        )
    with call.oracle() as oracle:
        found = _look(oracle, text, file)
    if call.as_json:
        call.print_json({"clean": not found, "findings": [item.as_json() for item in found]})
    else:
        print_table(Table(say_each("rule", "sort", "place"), [(item.rule, item.sort, item.where) for item in found]))
        if not found:
            call.note(say("nothing was found"))
    if found:
        raise typer.Exit(1)


def _look(oracle: Oracle, text: str | None, file: str) -> tuple[PrivacyFinding, ...]:
    from oracle.app.guard import privacy

    if text is not None:
        from oracle.store.disk import input_file

        return privacy.check_text(
            oracle, input_file.read("-", "--file").decode("utf-8", "replace") if text == "-" else text
        )
    return privacy.check_file(oracle, file) if file else privacy.check_staged(oracle, str(Path.cwd()))
