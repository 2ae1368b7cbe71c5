"""`oracle hub`: several machines share what they know through one PostgreSQL database."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import OfProject, argument, option
from oracle.cli.output import Table, write_out
from oracle.cli.session import Call
from oracle.domain.values import contents_of
from oracle.wording import say, say_each, say_many, visible_lines

if TYPE_CHECKING:
    from oracle.app.hubs.sync import Synced

Dsn = Annotated[str, argument("DSN", "A libpq connection string without a password, as in service=hub.")]
OptionalDsn = Annotated[str, argument("[DSN]", "The hub (default: the one that was made here).")]
Team = Annotated[str, option("--team T", "The team.")]
Insecure = Annotated[bool, option("--insecure", "Allow a connection to another host that is not verified.")]
PrintSql = Annotated[bool, option("--print-sql", "Print the SQL for an administrator, and run nothing.")]

hub_app = group("Share one Root between machines.", example="oracle hub status")


@hub_app.add("init", example="oracle hub init service=hub --team harbor")
def init(
    call: Call,
    dsn: Dsn,
    *,
    team: Team,
    restored: Annotated[bool, option("--restored", "The hub was restored from a backup.")] = False,
    print_sql: PrintSql = False,
    insecure: Insecure = False,
) -> None:
    """Make or upgrade the hub in a database that its role owns."""
    from oracle.app.hubs import membership

    if print_sql:
        _print_sql(call, membership.init_text(team))
        return
    with call.context() as context:
        found = membership.init(context, dsn, team, is_insecure=insecure, is_restored=restored)
    if found.before == 0:
        said = say("made the hub, version {version}, with the team {team}", version=found.version, team=found.team)
    else:
        said = say("the hub has version {version} and the team {team}", version=found.version, team=found.team)
    call.answer(contents_of(found), said)
    call.note(say("`oracle hub invite NAME` makes a role for a machine"))


@hub_app.add("invite", example="oracle hub invite laptop")
def invite(
    call: Call,
    name: Annotated[str, argument("NAME", "What to call the machine.")],
    dsn: OptionalDsn = "",
    *,
    team: Annotated[str, option("--team T", "The team (default: the one that was made here).")] = "",
    print_sql: PrintSql = False,
    insecure: Insecure = False,
) -> None:
    """Make a role for a machine, and print how it joins."""
    from oracle.app.hubs import membership

    with call.context() as context:
        owner = membership.owner_of(context, dsn, team, is_insecure=insecure)
        if print_sql:
            _print_sql(call, membership.invite_text(name, owner))
            return
        found = membership.invite(context, name, owner)
    command = f"oracle hub join {shlex.quote(found.dsn)} --team {owner.team} --machine {name}"
    lines = [
        say("On {name}, add this line to ~/.pgpass (mode 0600); the password is shown only now:", name=name),
        found.pgpass,
        say("Then run:"),
        command,
    ]
    call.answer({**contents_of(found), "team": owner.team, "name": name, "command": command}, lines)


@hub_app.add("join", example="oracle hub join service=hub --team harbor --machine laptop")
def join(
    call: Call,
    dsn: Dsn,
    *,
    team: Team,
    machine: Annotated[str, option("--machine NAME", "The name by which this machine was invited.")],
    projects: Annotated[
        str, option("--projects A,B", "Only these projects (default: all).", completion.listed(completion.projects))
    ] = "",
    insecure: Insecure = False,
) -> None:
    """Join a team as a machine that was invited."""
    from oracle.app.hubs import membership
    from oracle.domain.hub.rows import Membership

    chosen = tuple(dict.fromkeys(filter(None, (one.strip() for one in projects.split(",")))))
    with call.context() as context:
        found = membership.join(context, Membership(team, dsn, name=machine, projects=chosen, is_insecure=insecure))
    call.answer(contents_of(found), say("{name} joined the team {team}", name=found.name, team=found.team))


@hub_app.add("leave", example="oracle hub leave")
def leave(
    call: Call,
    *,
    forget: Annotated[bool, option("--forget", "Tell the hub nothing, because it is gone.")] = False,
) -> None:
    """Leave the team; no file is removed anywhere."""
    from oracle.app.hubs import membership

    with call.context() as context:
        found = membership.forget(context) if forget else membership.leave(context)
    call.answer(contents_of(found), say("{name} left the team {team}", name=found.name, team=found.team))


@hub_app.add("status", example="oracle hub status")
def status(call: Call) -> None:
    """Show the machines of the team, when each was seen, and their seats."""
    from oracle.app.hubs import membership

    with call.context() as context:
        found = membership.status(context)
    seats = {
        machine.id: ", ".join(f"{home.project}/{home.seat}" for home in found.homes if home.machine == machine.id)
        for machine in found.machines
    }
    rows = [(one.name, one.seen_at, one.program_version, seats[one.id]) for one in found.machines]
    call.answer(found.as_json(), Table(say_each("machine", "seen", "version", "seats"), rows, stacked=(3,)))
    at = found.standing
    counts = {"ahead": len(at.ahead), "behind": f"{at.behind}{'+' * at.is_more}", "refused": len(at.refused)}
    call.note(
        say(
            "{ahead} to send, {behind} to fetch, {refused} refused; last sync {moment}",
            moment=at.synced_at or "-",
            **counts,
        )
    )
    for path in (*at.stranded, *at.kept):
        call.warn(say("{path} needs a person: see `oracle doctor`", path=path))


@hub_app.add("sync", example="oracle hub sync")
def sync(
    call: Call,
    *,
    confirm_removal: Annotated[bool, option("--confirm-removal", "Remove many files everywhere at once.")] = False,
) -> None:
    """Fetch what is new, put it in place, and send what changed here."""
    from oracle.app.hubs import membership
    from oracle.app.hubs import sync as syncs

    with call.context() as context, membership.open_hub(context) as hub:
        done = syncs.sync(context, hub, hub.membership, confirms=confirm_removal)
        syncs.wake(context, done)
    _tell(call, done)


@hub_app.add("home", example="oracle hub home builder --project shop")
def home(
    call: Call,
    seat: Annotated[str, argument("SEAT", "The seat that runs here from now on.", completion.seats)],
    *,
    project: OfProject,
    take: Annotated[bool, option("--take", "Take it from a machine that is there.")] = False,
) -> None:
    """Let a seat run on this machine, and take up its work."""
    from oracle.app.hubs import check, membership
    from oracle.app.hubs import sync as syncs

    with call.context() as context, membership.open_hub(context) as hub:
        found = check.move_home(context, hub, project, seat, takes=take)
        done = syncs.sync(context, hub, hub.membership)
        syncs.wake(context, done)
        name = hub.membership.name
    moved = say("{seat} of {project} runs on {name}", seat=seat, project=project, name=name)
    call.answer({**contents_of(found), "sync": done.as_json()}, moved)


@hub_app.add("check", example="oracle hub check --fix")
def check(call: Call, *, fix: Annotated[bool, option("--fix", "Send or fetch what differs.")] = False) -> None:
    """Compare every file with the hub."""
    from oracle.app.hubs import check as checks
    from oracle.app.hubs import membership
    from oracle.errors import Conflict

    with call.context() as context, membership.open_hub(context) as hub:
        found = checks.check(context, hub, hub.membership, fixes=fix)
    rows = [(one.path, one.what) for one in found.differences]
    call.answer(found.as_json(), Table(say_each("file", "difference"), rows))
    if found.fixed is not None:
        _name(call, found.fixed)
    left = found.left if fix else found.differences
    if left:
        raise Conflict(
            say_many("{n} file differs from the hub.", "{n} files differ from the hub.", n=len(left)),
            hint=say("See `oracle hub status`.") if fix else say("Send or fetch them: oracle hub check --fix"),
        )


@hub_app.add("rebuild", example="oracle hub rebuild")
def rebuild(call: Call) -> None:
    """Compare everything again, and send all that the hub lacks of this machine."""
    from oracle.app.hubs import check as checks
    from oracle.app.hubs import membership
    from oracle.app.hubs import sync as syncs

    with call.context() as context, membership.open_hub(context) as hub:
        done = checks.rebuild(context, hub, hub.membership)
        syncs.wake(context, done)
    _tell(call, done)


def _tell(call: Call, done: Synced) -> None:
    counts = {"sent": len(done.pushed), "placed": len(done.placed), "removed": len(done.removed)}
    call.answer(done.as_json(), say("sent {sent}, placed {placed}, removed {removed}", **counts))
    _name(call, done)


def _name(call: Call, done: Synced) -> None:
    """Name what a sync left for a person."""
    for path, reason in done.refused:
        call.note(say("{path} stays here: {reason}", path=path, reason=reason))
    for path, kept in done.conflicts:
        call.warn(say("{path} had another owner; the other file is kept as {kept}", path=path, kept=kept))
    for path in done.stranded:
        call.warn(say("{path} was changed here, but another machine owns it; it is not sent", path=path))
    for sentence in done.problems:
        call.warn(sentence)


def _print_sql(call: Call, text: str) -> None:
    if call.as_json:
        call.print_json({"sql": text})
    else:
        write_out(visible_lines(text).rstrip("\n") + "\n")
