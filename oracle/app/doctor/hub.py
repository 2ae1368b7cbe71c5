"""Check what this machine shares with others: whether the hub answers, what waits, and what needs a person. Reads only."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.app.context import Context
from oracle.app.delivery.homes import is_away
from oracle.app.doctor.context import Check, CheckContext, capped, error, note, quoted, warning
from oracle.app.hubs import membership
from oracle.app.hubs.check import last_differences
from oracle.app.hubs.membership import HubStatus
from oracle.app.hubs.pushing import GUARDED
from oracle.domain import timestamps
from oracle.errors import HubUnreachable, OracleError
from oracle.store.hub.placing import KEPT
from oracle.wording import say

_NAME = "hub"
CLOCK_DIFFERENCE = 60.0
"""Seconds by which the clocks of a machine and its hub may differ."""

LONGEST_LAG = 600.0
"""Seconds that files may wait to be sent."""

LONG_UNSEEN = 86_400.0
"""Seconds after which a machine that nobody saw is named."""

_WAYS_OUT = {
    "path": say("Rename it"),
    "size": say("Split it: a file may have 16 MiB"),
    "digest": say("Run `oracle hub sync` again"),
    "owner": say("Choose another name: another machine wrote this one first"),
    "home": say("Write it where the seat runs, or move the seat with `oracle hub home`"),
    "epoch": say("Run `oracle hub sync`: the seat moved meanwhile"),
}


def check_hub(checked: CheckContext) -> Iterator[Check]:
    """Report a hub that does not answer, clocks that differ, files that wait or need a person, and seats without a machine."""
    with Context.open(checked.root.path) as context:
        try:
            status = membership.status(context)
        except HubUnreachable as trouble:
            yield warning(_NAME, trouble.sentence, trouble.hint)
            return
        except OracleError as trouble:
            yield error(_NAME, trouble.sentence, trouble.hint)
            return
        yield from capped(_files(status))
        yield from capped(_differences(context, status))
        yield from _times(status, context.now_seconds())
        yield from capped(_homes(status))


def _times(status: HubStatus, now: float) -> Iterator[Check]:
    if abs(status.clock_difference) > CLOCK_DIFFERENCE:
        what = say("The clock of this machine differs from that of the hub by {n:.0f} s.", n=status.clock_difference)
        yield warning(_NAME, what, say("Set it by the network"))
    at = status.standing
    synced = timestamps.parse(at.synced_at)
    age = now - synced.timestamp() if synced is not None else LONGEST_LAG + 1
    if (at.ahead or at.behind) and age > LONGEST_LAG:
        what = say("{ahead} files wait to be sent, {behind} to be fetched.", ahead=len(at.ahead), behind=at.behind)
        yield warning(_NAME, what, say("Run `oracle hub sync`, or start the daemon"))


def _files(status: HubStatus) -> Iterator[Check]:
    for path, reason in status.standing.refused:
        way = (
            say("Remove it there, or change machine/privacy.md")
            if reason.startswith(GUARDED)
            else _WAYS_OUT.get(reason, "")
        )
        yield warning(_NAME, say("{path} stays here: {reason}.", path=path, reason=reason), way)
    for path in status.standing.stranded:
        what = say("{path} was changed here, but another machine owns it.", path=path)
        yield warning(_NAME, what, say("Keep it under another name: oracle hub check --fix"))
    for path in status.standing.kept:
        what = say("{path} lost its place to {other}.", path=path, other=path.partition(KEPT)[0])
        yield warning(_NAME, what, say("Compare the two, then rename or remove this one"))


def _differences(context: Context, status: HubStatus) -> Iterator[Check]:
    at = status.standing
    known = {*at.ahead, *at.stranded, *(path for path, _ in at.refused)}
    for one in last_differences(context):
        if one.path not in known:
            what = say("{path} was not as at the hub when all files were compared: {how}.", path=one.path, how=one.what)
            yield warning(_NAME, what, say("Send or fetch it: oracle hub check --fix"))


def _homes(status: HubStatus) -> Iterator[Check]:
    machines = {machine.id: machine for machine in status.machines}
    for machine in status.machines:
        if machine.unseen > LONG_UNSEEN:
            days = machine.unseen / LONG_UNSEEN
            yield note(_NAME, say("{name} was not seen for {days:.0f} days.", name=machine.name, days=days))
    for home in status.homes:
        found = machines.get(home.machine)
        if found is None or is_away(found):
            name = found.name if found else say("a machine that left")
            what = say(
                "{seat} of {project} runs on {name}, which is away.", seat=home.seat, project=home.project, name=name
            )
            command = f"oracle hub home {quoted(home.seat)} --project {quoted(home.project)}"
            yield warning(_NAME, what, say("Start it, or let the seat run here: {command}", command=command))
