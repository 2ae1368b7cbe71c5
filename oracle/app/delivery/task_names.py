"""A name that no record has may be that of a task: say where its story is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from oracle.app.context import Context
from oracle.domain.names import is_entity, split_entity
from oracle.errors import NotInMemory, OracleError
from oracle.wording import say


@contextmanager
def pointing_to_task(context: Context, text: str) -> Iterator[None]:
    """Let the error that no record is called so name the command that tells the story of a task with this id."""
    try:
        yield
    except NotInMemory as error:
        from oracle.app.delivery.handoffs import projects_with

        name = text.strip()
        name = split_entity(name)[1] if is_entity(name) else name
        with suppress(OracleError):  # it can't name a task, or no task has this id
            if projects_with(context, name):
                error.hint = say("It is the id of a task: `oracle handoffs show {name}`.", name=name)
        raise
