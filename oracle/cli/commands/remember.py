"""`oracle remember` and `oracle forget`: keep what people say for later sessions, one topic in one record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.commands.write import Slugs, print_retired, print_written
from oracle.cli.options import DryRun, NewProject, Secrets, argument, option, read_body, single
from oracle.cli.session import Call
from oracle.domain.names import MEMORY, SHARED
from oracle.errors import UsageError
from oracle.process import STANDARD_INPUT
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.memories.remember import Note

remember_app = single()


@remember_app.add(
    example="oracle remember 'Test on a real database.' --type feedback --why 'Mocks hid a broken migration.'"
    " --how-to-apply 'In integration tests.'"
)
def remember(
    call: Call,
    text: Annotated[str, argument("TEXT", "What to remember, one topic; - reads it from standard input.")],
    *,
    kind: Annotated[
        str,
        option("--type user|feedback|project|reference", "About the user, how to work, the project, or where to look."),
    ],
    title: Annotated[str, option("--title T", "Its topic (default: its first sentence).")] = "",
    why: Annotated[str, option("--why TEXT", "The reason. Feedback and project need it.")] = "",
    how_to_apply: Annotated[
        str, option("--how-to-apply TEXT", "When and where it counts. Feedback and project need it.")
    ] = "",
    project: Annotated[
        str, option("--project P", "Its project (default: that of this folder, for user none).", completion.projects)
    ] = "",
    source: Annotated[str, option("--source S", "Who said it or where it is (default: the user).")] = "",
    supersedes: Annotated[Slugs, option("--supersedes SLUG", "The memory that it updates.", completion.slugs)] = None,
    another: Annotated[bool, option("--new", "It is another topic than what sounds like it.")] = False,
    task_id: Annotated[str, option("--task-id ID", "The task it belongs to.", completion.tasks)] = "",
    author: Annotated[
        str, option("--author SEAT", "The seat that was asked.", completion.members, envvar="ORACLE_SEAT")
    ] = MEMORY,
    new_project: NewProject = False,
    secrets: Secrets = "refuse",
    dry_run: DryRun = False,
) -> None:
    """Remember something for later sessions."""
    from oracle.app.memories import remember as memories
    from oracle.domain.values import replace

    said = read_body(None, None, text) if text == STANDARD_INPUT else text
    folder = os.getcwd()  # noqa: PTH109
    with call.context() as context:
        note = memories.Note(
            kind,
            said,
            title,
            why,
            how_to_apply,
            author=author,
            source=source,
            task_id=task_id,
            supersedes=tuple(supersedes or ()),
            is_another=another,
        )
        missing = memories.missing_parts(note)
        note = replace(note, project=project or _project(context, kind, folder, missing))
        note = _ask_for_parts(call, note, missing)
        kept = memories.remember(
            context, note, folder=folder, secrets=secrets, dry_run=dry_run, new_project=new_project
        )
    if call.as_json:
        call.print_json(kept.as_json())
        return
    for slug in kept.superseded:
        call.note(say("it replaces {slug}", slug=slug))
    for was, now in kept.dates:
        call.note(say("{was!r} is written as {now}", was=was, now=now))
    print_written(call, kept.written)


def _project(context: Context, kind: str, folder: str, missing: tuple[str, ...]) -> str:
    """Return the project of a memory for which none was named. Raises UsageError for a project memory without one.

    It names `missing` parts too, so that one refusal names all.
    """
    from oracle.app.prompting.seats import project_of
    from oracle.domain.records.remembered import PROJECT, USER

    found = "" if kind == USER else project_of(context, folder, os.environ)
    if kind == PROJECT and not found:
        from oracle.app.memories.remember import say_missing

        hint = say("Name the project with --project.")
        raise UsageError(
            say("No registered project has its repository here."),
            hint=say("{what} {hint}", what=hint, hint=say_missing(missing)) if missing else hint,
        )
    return found or SHARED


def _ask_for_parts(call: Call, note: Note, missing: tuple[str, ...]) -> Note:
    """Return the note with the parts that its type needs, asked for in a terminal."""
    from oracle.domain.values import replace

    if not missing or not call.can_ask:
        return note
    questions = {"why": say("Why? (the reason that was given)"), "how_to_apply": say("How to apply? (when it counts)")}
    return replace(note, **{name: call.ask(questions[name]) for name in missing})


forget_app = single()


@forget_app.add(example="oracle forget 'merge freeze' --reason 'The release is out.'")
def forget(
    call: Call,
    target: Annotated[
        str, argument("TARGET", "A memory: its slug, its title, or words that only it holds.", completion.slugs)
    ],
    *,
    reason: Annotated[str, option("--reason R", "Why (default: somebody asked to forget it).")] = "",
    dry_run: DryRun = False,
) -> None:
    """Retire a memory; its file is not changed."""
    from oracle.app.memories.remember import forget

    with call.context() as context:
        written = forget(context, target, reason, dry_run=dry_run)
    print_retired(call, written)
