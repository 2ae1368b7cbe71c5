"""What the owner of a hub does: make and upgrade it, add a team, invite a machine."""

from __future__ import annotations

import hashlib

from oracle.domain.values import value
from oracle.hub.connection import SCHEMA, HubConnection, check_schema, compose, sql

_LOCK = 7_110_120_101
"""The key of the advisory lock under which one program at a time changes the schema."""
_LONGEST_ROLE = 50
"""Bytes of a role's name before its digest; PostgreSQL cuts names to 63."""


def schema_text(team: str) -> str:
    """Return the SQL that makes the hub and a team, for an administrator."""
    steps = [sql(f"schema-{number}") for number in range(1, SCHEMA + 1)]
    return "\n".join([*steps, compose(sql("add-team"), texts={"team": team})])


def init(connection: HubConnection, team: str, *, is_restored: bool = False) -> int:
    """Make or upgrade the hub and add a team; return the version that was there, 0 for none. Another caller waits.

    `is_restored` lets every machine compare all rows again, for a hub that was restored from a backup.
    Raises NewerVersion when the hub needs a newer program.
    """
    with connection.transaction():
        connection.rows("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        before = _version(connection)
        for number in range(before + 1, SCHEMA + 1):
            connection.rows(sql(f"schema-{number}"))
        check_schema(connection)
        if before < SCHEMA:
            connection.rows("SELECT oracle_hub.grant_rights(role) FROM oracle_hub.machine")
        connection.rows(compose(sql("add-team"), texts={"team": team}))
        if is_restored:
            connection.rows("SELECT oracle_hub.renew()")
    return before


def _version(connection: HubConnection) -> int:
    if not connection.rows("SELECT to_regclass('oracle_hub.meta')::text")[0][0]:
        return 0
    return int(connection.rows("SELECT version FROM oracle_hub.meta")[0][0])


@value
class Invitation:
    """A role of the database for one machine, and its password, "" where none was set."""

    role: str
    password: str = ""


def role_of(database: str, team: str, name: str) -> str:
    """Return the name of a machine's role. Roles belong to a whole server, so it tells databases apart."""
    digest = hashlib.sha256(f"{database}/{team}/{name}".encode()).hexdigest()[:8]
    head = f"oracle_{team}_{name}".encode()[:_LONGEST_ROLE].decode("utf-8", "ignore")
    return f"{head}_{digest}"


def invitation_text(database: str, team: str, name: str) -> str:
    """Return the SQL that lets a machine in, for an administrator, who sets a password apart."""
    role = role_of(database, team, name)
    return _role_text("create-role", role) + _admission(database, team, name)


def invite(connection: HubConnection, team: str, name: str) -> Invitation:
    """Make the role of a machine with a new password, or give the role that is there a new one.

    Raises HubRefused for a role that may not create roles.
    """
    import secrets

    role, password = role_of(connection.database, team, name), secrets.token_urlsafe(24)
    with connection.transaction():
        check_schema(connection)
        if not connection.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)):
            connection.rows(_role_text("create-role", role))
        sealed = connection.seal_password(role, password)
        connection.rows(_role_text("set-password", role, sealed))
        connection.rows(_admission(connection.database, team, name))
    return Invitation(role, password)


def _role_text(file: str, role: str, password: str = "") -> str:
    return compose(sql(file), names={"role": role}, texts={"password": password})


def _admission(database: str, team: str, name: str) -> str:
    role = role_of(database, team, name)
    return compose(
        sql("admit"), names={"role_name": role, "database": database}, texts={"team": team, "name": name, "role": role}
    )
