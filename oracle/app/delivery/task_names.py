"""A name that no record has may be that of a task: say where its story is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from oracle.app.context import Context
from oracle.domain.names import fold_name, is_entity, split_entity
from oracle.errors import NotInMemory
from oracle.wording import say


@contextmanager
def pointing_to_task(context: Context, text: str) -> Iterator[None]:
    """Let the error that no record is called so name the command that tells the story of a task with this id."""
    try:
        yield
    except NotInMemory as error:
        from oracle.app.delivery.handoffs import known_tasks
        from oracle.app.delivery.team import open_all

        name = text.strip()
        name = split_entity(name)[1] if is_entity(name) else name
        known = known_tasks(open_all(context)[0].values())
        alike = {one for one in known if fold_name(one) == fold_name(name)}
        if alike:
            meant = name if name in alike else min(alike)
            error.hint = say("It is the id of a task: `oracle handoffs show {name}`.", name=meant)
        raise
