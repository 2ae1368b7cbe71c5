"""What a page may write when the server was started with `--allow-write`: a choice of a person, an acknowledgement."""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING

from oracle.errors import OwnershipError
from oracle.web.views import to
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from oracle.app.context import Context
    from oracle.web.rooms import PageQuery, RoomPage

    Write = Callable[[Context, PageQuery], "RoomPage | str"]

FIELD = "form"
_ENCODED = "application/x-www-form-urlencoded"


async def read(request: Request) -> dict[str, str]:
    """Return the fields of a form, none for a body of another type."""
    from urllib.parse import parse_qsl

    if request.headers.get("content-type", "").partition(";")[0].strip() != _ENCODED:
        return {}
    return dict(parse_qsl((await request.body()).decode("utf-8", "replace"), max_num_fields=20))


def is_own(request: Request, fields: Mapping[str, str]) -> bool:
    """Return whether a page of this server made the form, for this browser."""
    expected = str(request.scope.get("form_token", ""))
    return bool(expected) and compare_digest(fields.get(FIELD, "").encode(), expected.encode())


def refuse() -> RoomPage:
    """Refuse a form that no page of this server made."""
    raise OwnershipError(say("This form is not from here, or too old."), hint=say("Load the page again."))


def decide(context: Context, fields: PageQuery) -> str:
    """Note what a person decided. Returns the address to go on to."""
    from oracle.app.decisions import handover

    project, decision = fields.text("project"), fields.text("decision")
    handover.resolve(context, project, decision, choice=fields.text("choice"), reason=fields.text("reason"))
    return to("/handoff", task=decision, project=project)


def acknowledge(context: Context, fields: PageQuery) -> str:
    """Note that a seat has read what another completed. Returns the address to go on to."""
    from oracle.app.delivery import acknowledge as use_case
    from oracle.app.delivery import resume

    resume.before(context)
    project, task = fields.text("project"), fields.text("task")
    use_case.acknowledge(context, project, task, source=fields.text("from"), target=fields.text("to"))
    return to("/handoff", task=task, project=project)
