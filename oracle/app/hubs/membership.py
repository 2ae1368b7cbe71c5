"""Make a hub, invite machines to it, join and leave it, and see who is there."""

from __future__ import annotations

from oracle.app.context import Context
from oracle.domain.hub.rows import Home, Membership, TeamMachine
from oracle.domain.names import check_name
from oracle.domain.values import contents_of, value
from oracle.errors import Conflict, NoHub, UsageError
from oracle.store.root import hub as memberships
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.hubs.standing import HubStanding
    from oracle.hub.connection import HubConnection
    from oracle.hub.exchange import TeamConnection
    from oracle.hub.members import Invitation


@value
class HubMade:
    """A hub that was made, upgraded or there already; `before` is the version that was there, 0 for none."""

    team: str
    version: int
    before: int


@value
class MachineInvited:
    """What a new machine needs to join. `password` is kept nowhere else."""

    role: str
    password: str
    dsn: str
    pgpass: str


@value
class HubStatus:
    """The hub as this machine sees it. `clock_difference` is the machine's clock less that of the hub, in seconds."""

    membership: Membership
    version: int
    clock_difference: float
    homes: Sequence[Home]
    machines: Sequence[TeamMachine]
    standing: HubStanding

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "team": self.membership.team,
            "machine": self.membership.machine,
            "name": self.membership.name,
            "projects": list(self.membership.projects),
            "version": self.version,
            "clock_difference": round(self.clock_difference, 3),
            "machines": [contents_of(machine) for machine in self.machines],
            "homes": [contents_of(home) for home in self.homes],
            **self.standing.as_json(),
        }


def init(context: Context, dsn: str, team: str, *, is_insecure: bool = False, is_restored: bool = False) -> HubMade:
    """Make or upgrade the hub in a database that the role of `dsn` owns, and add a team to it."""
    from oracle.hub import members
    from oracle.hub.connection import SCHEMA, connect

    context.root.require()
    owner = Membership(check_name(team, "name"), dsn, is_insecure=is_insecure)
    with connect(dsn, is_insecure=is_insecure) as connection:
        before = members.init(connection, owner.team, is_restored=is_restored)
    memberships.save_owner(context.root, owner)
    return HubMade(owner.team, SCHEMA, before)


def init_text(team: str) -> str:
    """Return the SQL that makes the hub, for an administrator."""
    from oracle.hub import members

    return members.schema_text(check_name(team, "name"))


def invite(context: Context, name: str, owner: Membership) -> MachineInvited:
    """Make a role of the database for a machine. A machine that was invited before gets a new password."""
    from oracle.hub import members
    from oracle.hub.connection import connect

    with connect(owner.dsn, is_insecure=owner.is_insecure) as connection:
        invitation = members.invite(connection, owner.team, check_name(name, "name"))
        found = MachineInvited(
            invitation.role, invitation.password, connection.dsn_of(invitation.role), _pgpass(connection, invitation)
        )
    context.note("hub-invited", {"team": owner.team, "machine": name, "role": invitation.role})
    return found


def invite_text(name: str, owner: Membership) -> str:
    """Return the SQL that lets a machine in, for an administrator, who sets a password apart."""
    from oracle.hub import members
    from oracle.hub.connection import check_dsn

    database = str(check_dsn(owner.dsn).get("dbname", ""))
    if not database:
        raise UsageError(
            say("The connection string names no database."), hint=say("Add dbname=NAME: the role is named after it.")
        )
    return members.invitation_text(database, owner.team, check_name(name, "name"))


def _pgpass(connection: HubConnection, invitation: Invitation) -> str:
    """Return the line of a password file. A host is a folder where a socket is used; there the file says `localhost`."""
    host = connection.host if connection.host and not connection.host.startswith("/") else "localhost"
    fields = (host, connection.port, connection.database, invitation.role, invitation.password)
    return ":".join(str(one).replace("\\", "\\\\").replace(":", "\\:") for one in fields)


def owner_of(context: Context, dsn: str, team: str, *, is_insecure: bool = False) -> Membership:
    """Return the hub that was made here, or the one that is named. Raises NoHub."""
    known = memberships.load_owner(context.root)
    if dsn and team:
        return Membership(check_name(team, "name"), dsn, is_insecure=is_insecure)
    if known is None:
        raise NoHub(
            say("No hub was made from this Root."), hint=say("Name it, as in `oracle hub invite NAME DSN --team T`.")
        )
    return Membership(team or known.team, dsn or known.dsn, is_insecure=is_insecure or known.is_insecure)


def join(context: Context, wanted: Membership) -> Membership:
    """Join a team with the role that was made for this machine. It may be repeated.

    Raises Conflict for a Root that joined another team or under another name.
    """
    from oracle.hub import exchange

    context.root.require()
    check_name(wanted.team, "name")
    check_name(wanted.name, "name")
    for project in wanted.projects:
        check_name(project, "project")
    known = memberships.load(context.root)
    if known is not None and (known.team, known.name) != (wanted.team, wanted.name):
        raise Conflict(
            say("This Root is {name} of the team {team} already.", name=known.name, team=known.team),
            hint=say("Leave it first: `oracle hub leave`."),
        )
    with exchange.join(wanted) as joined:
        member = joined.membership
    memberships.save(context.root, member)
    context.note("hub-joined", {"team": member.team, "machine": member.machine})
    return member


def leave(context: Context) -> Membership:
    """Leave the team and give up every home. No file is removed, here or at the hub."""
    from oracle.hub import exchange

    member = require(context)
    with exchange.open_team(member) as hub:
        hub.leave()
    memberships.forget(context.root)
    context.note("hub-left", {"team": member.team, "machine": member.machine})
    return member


def forget(context: Context) -> Membership:
    """Forget the hub without telling it, for one that is gone."""
    member = require(context)
    memberships.forget(context.root)
    return member


def status(context: Context) -> HubStatus:
    """Return the state of the hub and its machines."""
    from oracle.app.hubs.standing import standing
    from oracle.hub import exchange

    with exchange.open_team(require(context)) as hub:
        homes, machines = hub.team()
        version, seconds = hub.state()
        clock = context.now_seconds() - seconds
        return HubStatus(hub.membership, version, clock, homes, machines, standing(context, hub, hub.membership))


def open_hub(context: Context) -> TeamConnection:
    """Connect to the hub that this Root joined. Raises NoHub, HubUnreachable, HubRefused, HubFailed."""
    from oracle.hub import exchange

    return exchange.open_team(require(context))


def require(context: Context) -> Membership:
    """Return the membership of this Root. Raises NoHub."""
    member = memberships.load(context.root)
    if member is None:
        raise NoHub(
            say("This Root has joined no hub."), hint=say("Join one: `oracle hub join DSN --team T --machine NAME`.")
        )
    return member
