"""`oracle team ownership`: who may change what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completion
from oracle.cli.options import option, single
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.errors import OwnershipError
from oracle.wording import Sentence, say, say_each

if TYPE_CHECKING:
    from oracle.app.codebase.ownership import Judged

app = single()


@app.add(example="oracle team ownership --staged --seat builder")
def ownership(
    call: Call,
    *,
    staged: Annotated[bool, option("--staged", "What is staged for the next commit.")] = False,
    repo: Annotated[str, option("--repo DIR", "The repository; else this folder's.")] = ".",
    seat: Annotated[
        str, option("--seat SEAT", "The seat that changed it.", completion.members, envvar="ORACLE_SEAT")
    ] = "memory",
) -> None:
    """Check whether a seat may commit its changes; exit 5 if not."""
    from oracle.app.codebase import ownership

    with call.context() as context:
        found = ownership.check(context, repo, seat=seat, staged=staged)
    wrong = [item for item in found if not item.is_allowed]
    headings = say_each("verdict", "path", "line", "what", "text")
    document = {"seat": seat, "ok": not wrong, "files": [item.as_json() for item in found]}
    call.answer(document, Table(headings, [row for item in found for row in _rows(item)]))
    if wrong:
        raise typer.Exit(OwnershipError.exit_code)


def _rows(item: Judged) -> list[tuple[str, ...]]:
    if not item.changes:
        return [(_verdict(item.is_allowed), item.path, "", "", item.why)]
    return [(_verdict(one.is_allowed), item.path, str(one.line), one.sort.value, one.text) for one in item.changes]


def _verdict(is_allowed: bool) -> Sentence:
    return say("ok") if is_allowed else say("no")
