"""On which machine each seat runs. Without a hub every seat runs here."""

from __future__ import annotations

from oracle.errors import Blocked
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.domain.hub.rows import TeamMachine

LONGEST_SILENCE = 120.0
"""Seconds after which a machine that the hub has not heard of counts as not there."""


def elsewhere(context: Context) -> dict[tuple[str, str], TeamMachine]:
    """Return the machines of the seats (project, seat) that run on another machine, as the last sync saw them."""
    if not context.has_hub:
        return {}
    from oracle.store.hub.ledger import load_team

    team = load_team(context.root)
    homes = team.homes if team is not None else ()
    return {
        (home.project, home.seat): team.machine_of(home.machine)
        for home in homes
        if team is not None and home.machine not in ("", team.machine)
    }


def machine_of(context: Context, project: str, seat: str) -> TeamMachine | None:
    """Return the other machine on which a seat runs, None if it runs here or has no home yet."""
    return elsewhere(context).get((project, seat))


def runs_here(context: Context, project: str, seat: str) -> bool:
    """Return whether a seat runs here for certain: between joining a hub and the first sync nobody knows."""
    if not context.has_hub:
        return True
    from oracle.store.hub.ledger import load_team

    return load_team(context.root) is not None and machine_of(context, project, seat) is None


def require_here(context: Context, project: str, seat: str) -> None:
    """Raise Blocked if a seat runs on another machine: what it writes here would not be taken."""
    machine = machine_of(context, project, seat)
    if machine is not None:
        raise Blocked(
            say("The seat {seat} of {project} runs on {machine}.", seat=seat, project=project, machine=machine.name),
            hint=say(
                "Do it there, or move the seat: oracle hub home {seat} --project {project}", seat=seat, project=project
            ),
        )


def is_away(machine: TeamMachine) -> bool:
    """Return whether a machine was not seen for so long that nobody can count on it."""
    return machine.unseen > LONGEST_SILENCE
