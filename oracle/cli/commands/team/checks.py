"""`oracle team ownership`, `privacy`, `workspace` and `compact`: checks before a commit or a compaction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completion
from oracle.cli.options import OfProject, Project, Since, option, single
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.errors import OwnershipError, UsageError
from oracle.process import read_input
from oracle.wording import Sentence, say, say_each

if TYPE_CHECKING:
    from oracle.app.codebase.ownership import Judged
    from oracle.app.context import Context
    from oracle.domain.safety.privacy import PrivacyFinding


ownership_app = single()


@ownership_app.add(example="oracle team ownership --staged --seat builder")
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


privacy_app = single()


@privacy_app.add(example="oracle team privacy --staged")
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
        return guard.check_text(context, read_input("-").decode("utf-8", "replace") if text == "-" else text)
    return guard.check_file(context, file) if file else guard.check_staged(context, str(Path.cwd()))


workspace_app = single()


@workspace_app.add(example="oracle team workspace --project shop")
def workspace(
    call: Call,
    *,
    folder: Annotated[str, option("--workspace DIR", "The folder that an agent starts in; else this one.")] = "",
    repo: Annotated[str, option("--repo DIR", "The ClawSeat repository.")] = "",
    project: Project = "",
) -> None:
    """Name workspaces that are older than the repository."""
    from oracle.app.teamwork import workspaces
    from oracle.app.teamwork.workspaces import STALE

    with call.context() as context:
        found = workspaces.check(context, workspace=folder, project=project, repo=repo)
    told = [say("{stale} {page}", stale=STALE, page=item.page) for item in found]
    call.answer({"stale": [item.as_json() for item in found]}, told)
    if found:
        call.note(say("run `{command}`", command=found[0].command))
        raise typer.Exit(1)


compact_app = single()


@compact_app.add(example="oracle team compact --project shop --fact 'Webhooks retry twice'")
def compact(
    call: Call,
    *,
    project: OfProject,
    since: Since = "",
    fact: Annotated[list[str] | None, option("--fact TEXT", "A fact that must be on disk; repeatable.")] = None,
) -> None:
    """Check whether the conversation may be compacted."""
    from oracle.app.teamwork import compaction

    with call.context() as context:
        context.root.require()
        found = compaction.check(context, project, since=since, facts=fact or ())
    call.answer(found.as_json(), (*found.missing, found.line))
    if found.missing:
        raise typer.Exit(1)
