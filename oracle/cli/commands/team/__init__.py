"""`oracle team`: what keeps a team in order."""

from __future__ import annotations

from typing import ClassVar

from oracle.cli.application import COMMANDS, Group, group


class TeamCommands(Group):
    """The commands of a team."""

    package = __name__
    sections: ClassVar = {
        COMMANDS: "task decision rehearse integrate peers ownership workspace compact push language privacy"
    }
    homes: ClassVar = {
        "tasks": "task rehearse integrate peers",
        "people": "decision push language",
        "checks": "ownership privacy workspace compact",
    }


team_app = group(
    "Keep a team in order: tasks, decisions, checks.",
    example="oracle team task create T-7 --project shop",
    kind=TeamCommands,
)
