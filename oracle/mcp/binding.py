"""For whom a server speaks: the seat and the project that were given when it was started. No client can change them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from oracle.domain.names.seats import MEMORY
from oracle.domain.names.slugs import check_name
from oracle.domain.values import value
from oracle.errors import InvalidProfile, NoProfile, OwnershipError, UsageError
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.context import Context


@value
class Binding:
    """The seat that writes, dispatches and delivers here, and the project in which it does, "" for any."""

    root: str
    seat: str = MEMORY
    project: str = ""

    def check(self) -> None:
        """Raise InvalidName for a seat or a project that can't be one."""
        check_name(self.seat, "seat")
        if self.project:
            check_name(self.project, "project")

    def doubts(self, context: Context) -> list[str]:
        """Return a sentence on what may be a slip: no Root, a project without folder and profile, a seat that it does not have."""
        if not Path(context.root.path).is_dir():
            return [
                say("There is no Root at {path} yet; every tool says so until there is one.", path=context.root.path)
            ]
        if not self.project:
            return []
        from oracle.app.delivery.team import open_team

        try:
            open_team(context, self.project).profile.require_seat(self.seat)
        except InvalidProfile:
            return []
        except NoProfile:
            if Path(context.root.join(context.root.project(self.project))).is_dir():
                return []
            return [
                say("There is no project {project} under {path} yet.", project=self.project, path=context.root.path)
            ]
        except UsageError as error:
            return [error.sentence]
        return []

    def project_for(self, named: str) -> str:
        """Return the project to write in. Raises OwnershipError outside the bound one, UsageError when there is none."""
        if self.project and named not in ("", self.project):
            raise OwnershipError(
                say(
                    "This server is bound to the project {project} and writes nothing for {named}.",
                    project=self.project,
                    named=named[:128],
                ),
                hint=say("Leave the project out, or start a server for the other one."),
            )
        if not (named or self.project):
            raise UsageError(say("The project is missing."), hint=say("Name one, or start the server for one."))
        return named or self.project
