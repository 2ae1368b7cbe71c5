"""`oracle export`: records as a file to send."""

from __future__ import annotations

from typing import Annotated

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import Project, argument, option
from oracle.cli.session import Call, needs_extra
from oracle.wording import LIST, joined, say, say_many

export_app = group("Write records as a file to send.", example="oracle export html --project shop shop.html")


@export_app.add("html", example="oracle export html --target HARBOR-5 --depth 2 harbor.html")
def html(
    call: Call,
    out: Annotated[str, argument("OUT", "The file to write.")],
    *,
    project: Project = "",
    target: Annotated[str, option("--target T", "Only records around this record or entity.", completion.targets)] = "",
    depth: Annotated[int, option("--depth N", "--target: how many steps around it.", min=0, max=32)] = 1,
    with_memories: Annotated[
        bool, option("--with-memories", "Include memories about people and how to work with them.")
    ] = False,
    force: Annotated[bool, option("--force", "Replace the file if it exists.")] = False,
) -> None:
    """Write records as one HTML file that loads nothing."""
    from oracle.cli.i18n.translate import current_language

    with call.context() as context, needs_extra("web"):
        from oracle.app.pages.export import export

        made = export(
            context,
            out,
            project=project,
            target=target,
            depth=depth,
            language=current_language(),
            force=force,
            with_memories=with_memories,
        )
    call.answer(made.as_json(), made.path)
    call.note(say_many("{n} record, {size} bytes", "{n} records, {size} bytes", n=made.records, size=made.size))
    if made.replaced:
        rules = [say("{rule} {count} times", rule=rule, count=count) for rule, count in sorted(made.replaced.items())]
        call.note(say("replaced: {rules}", rules=joined(LIST, rules)))
    if made.personal:
        call.note(
            say_many(
                "{n} memory about people is left out; --with-memories includes it",
                "{n} memories about people are left out; --with-memories includes them",
                n=made.personal,
            )
        )
    if made.retired:
        call.note(
            say_many(
                "{n} memory that no longer holds is left out",
                "{n} memories that no longer hold are left out",
                n=made.retired,
            )
        )
