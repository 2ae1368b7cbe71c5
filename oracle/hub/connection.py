"""Connections to a hub. Where it is and how one signs in is libpq's matter: service file, password file, environment, hosts.

The client library is an extra, and this is the one module that imports it. Every failure is an error with a sentence.
"""

from __future__ import annotations

import functools
import ipaddress
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oracle.domain.values import NOTHING
from oracle.errors import HubFailed, HubRefused, HubUnreachable, NewerVersion, UsageError
from oracle.wording import say

if TYPE_CHECKING:
    from types import ModuleType

    from psycopg import Connection

SCHEMA = 1
"""The version of the hub's schema that this program makes."""

CHANNEL = "oracle_hub"
"""The channel of the hints that a team has something new."""

_DEFAULTS = {"connect_timeout": "5", "tcp_user_timeout": "15000", "keepalives_idle": "20", "application_name": "oracle"}
_VERIFIED = "verify-full"
_SQL = Path(__file__).with_name("sql")


@functools.cache
def sql(name: str) -> str:
    """Return the text of a file of statements."""
    return (_SQL / f"{name}.sql").read_text(encoding="utf-8")


def compose(statement: str, *, names: Mapping[str, str] = NOTHING, texts: Mapping[str, str] = NOTHING) -> str:
    """Return a statement with `{names}` filled in as identifiers and `{texts}` as literals."""
    library = _library().sql
    filled = {key: library.Identifier(name) for key, name in names.items()}
    filled |= {key: library.Literal(text) for key, text in texts.items()}
    return str(library.SQL(statement).format(**filled).as_string(None))


class HubConnection:
    """An open connection. Each statement is a transaction of its own, outside of `transaction`. Not for two threads at a time."""

    def __init__(self, raw: Connection[tuple[Any, ...]], options: Mapping[str, str]) -> None:
        self._raw = raw
        self._options = options
        self.statements = 0
        """How many statements were sent."""

    def rows(self, statement: str, values: Mapping[str, object] | Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows. Raises HubUnreachable, HubRefused, HubFailed."""
        self.statements += 1
        with failing():
            found = self._raw.execute(statement.encode(), values or None)
            return found.fetchall() if found.description else []

    def rows_of(self, *calls: tuple[str, Mapping[str, object]]) -> list[list[tuple[Any, ...]]]:
        """Run several statements in one round trip and return the rows of each. They are one transaction."""
        self.statements += len(calls)
        with failing():
            with self._raw.pipeline() if _library().Pipeline.is_supported() else nullcontext():
                found = [self._raw.execute(statement.encode(), values) for statement, values in calls]
            return [cursor.fetchall() for cursor in found]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make the statements of a block one transaction."""
        with failing(), self._raw.transaction():
            yield

    def listen(self) -> None:
        """Ask for the hints of pushes; behind a pooler of transactions none come."""
        self.rows(f"LISTEN {CHANNEL}")

    def wait_for_hint(self, team: str, seconds: float) -> bool:
        """Wait until another connection changed something of the team; return whether one did in time."""
        with failing():
            hints = [*self._raw.notifies(timeout=seconds, stop_after=1)]
            return any(hint.payload == team and hint.pid != self._raw.info.backend_pid for hint in hints)

    def fileno(self) -> int:
        """Return the socket, for a loop that waits for several things."""
        return self._raw.fileno()

    @property
    def role(self) -> str:
        """The role that signed in."""
        return self._raw.info.user

    @property
    def database(self) -> str:
        """The name of the database."""
        return self._raw.info.dbname

    @property
    def host(self) -> str:
        """The host, or the folder of its socket."""
        return self._raw.info.host

    @property
    def port(self) -> int:
        """The port."""
        return self._raw.info.port

    def dsn_of(self, role: str) -> str:
        """Return the connection string of another role: the one of this connection, with its user replaced."""
        options = {**self._options, "user": role}
        return str(_library().conninfo.make_conninfo(**options))

    def seal_password(self, role: str, password: str) -> str:
        """Return a password as the server keeps it, so that it neither travels nor is logged."""
        sealed = self._raw.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        return sealed.decode()

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()

    def __enter__(self) -> HubConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(dsn: str, *, is_insecure: bool = False) -> HubConnection:
    """Open a connection as an ordinary role.

    Raises UsageError without the extra, for a password in `dsn` and for a connection that nobody verifies, HubRefused for a
    superuser or a role that may not sign in, HubUnreachable for no answer.
    """
    psycopg = _library()
    options = check_dsn(dsn)
    with failing():
        resolved = _resolve(psycopg.conninfo.make_conninfo(**options))
        if not is_insecure:
            _require_verified(resolved)
        if "," in resolved.get("host", "") and resolved.get("target_session_attrs") in ("", "any"):
            options["target_session_attrs"] = "read-write"
        raw = psycopg.connect(**{**_DEFAULTS, **options}, autocommit=True, prepare_threshold=None)
    connection = HubConnection(raw, options)
    try:
        _require_ordinary(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def check_dsn(dsn: str) -> dict[str, Any]:
    """Return the options of a connection string. Raises UsageError for a malformed one and for one with a password."""
    psycopg = _library()
    try:
        options: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as error:
        raise UsageError(
            say("The connection string can't be read: {fault}.", fault=_first_line(error)),
            hint=say("Write it as libpq does, as in 'service=hub' or 'host=db.example dbname=hub user=laptop'."),
        ) from None
    if options.keys() & {"password", "sslpassword"}:
        raise UsageError(
            say("The connection string holds a password."),
            hint=say("Leave it out, and keep it in ~/.pgpass, or in the file that PGPASSFILE names."),
        )
    return options


def check_schema(connection: HubConnection) -> None:
    """Raise NewerVersion for a hub whose schema needs a newer program, HubFailed for an older schema or none."""
    if not connection.rows("SELECT to_regclass('oracle_hub.meta')::text")[0][0]:
        raise HubFailed(
            say("There is no hub in the database {name}.", name=connection.database),
            hint=say("Make it with `oracle hub init`."),
        )
    require_version(*connection.rows("SELECT version, oldest FROM oracle_hub.meta")[0])


def require_version(version: int, oldest: int) -> None:
    """Raise NewerVersion for a schema whose oldest programs are newer than this one, HubFailed for an older schema."""
    if oldest > SCHEMA:
        raise NewerVersion(
            say("The hub has version {version}; this program knows {known}.", version=version, known=SCHEMA),
            hint=say("Upgrade the program. Nothing was written."),
        )
    if version < SCHEMA:
        raise HubFailed(
            say("The hub has version {version}; this program needs {known}.", version=version, known=SCHEMA),
            hint=say("Ask who made it to run `oracle hub init` with this program."),
        )


@contextmanager
def failing() -> Iterator[None]:
    """Raise the errors of the client library in a block as errors with a sentence."""
    psycopg = _library()
    errors = psycopg.errors
    try:
        yield
    except (errors.InsufficientPrivilege, errors.InvalidPassword, errors.InvalidAuthorizationSpecification) as error:
        raise HubRefused(
            say("The hub refused: {fault}.", fault=_first_line(error)),
            hint=say("Check the role and its invitation (`oracle hub invite`)."),
        ) from error
    except errors.ReadOnlySqlTransaction as error:
        raise HubUnreachable(
            say("The hub can't be written: this server is a standby."),
            hint=say("Name all hosts, with target_session_attrs=read-write."),
        ) from error
    except psycopg.OperationalError as error:
        raise _unreachable(error) from error
    except psycopg.Error as error:
        raise HubFailed(
            say("The hub failed: {fault}.", fault=_first_line(error)), hint=say("See `oracle hub status`.")
        ) from error


def _unreachable(error: Exception) -> HubUnreachable | HubRefused:
    fault = _first_line(error)
    if "authentication failed" in fault or "no password supplied" in fault or "no pg_hba.conf entry" in fault:
        return HubRefused(
            say("The hub refused: {fault}.", fault=fault),
            hint=say("Keep the password of the role in ~/.pgpass, or in the file that PGPASSFILE names."),
        )
    return HubUnreachable(
        say("The hub can't be reached: {fault}.", fault=fault),
        hint=say("Work goes on without it. What is new here is sent once it answers."),
    )


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1 if lines[0].endswith("Multiple connection attempts failed. All failures were:") else 0].rstrip(".")


def _library() -> ModuleType:
    try:
        import psycopg
        import psycopg.conninfo
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        raise UsageError(
            say("The hub needs the package psycopg, which is not installed."),
            hint=say("Install it: {executable} -m pip install 'memory-oracle[hub]'.", executable=sys.executable),
        ) from error
    return psycopg


def _resolve(dsn: str) -> dict[str, str]:
    """Return the options of a connection as libpq sees them, with those of the service file and of the environment."""
    begun = _library().pq.PGconn.connect_start(dsn.encode())
    try:
        return {one.keyword.decode(): (one.val or b"").decode() for one in begun.info}
    finally:
        begun.finish()


def _require_verified(options: Mapping[str, str]) -> None:
    hosts = (options.get("hostaddr") or options.get("host") or "").split(",")
    strangers = [host for host in hosts if not _is_local(host)]
    if strangers and options.get("sslmode") != _VERIFIED:
        raise UsageError(
            say("The connection to {hosts} would not be verified.", hosts=strangers),
            hint=say("Add sslmode=verify-full to it, or allow it with --insecure."),
        )


def _is_local(host: str) -> bool:
    if not host or host[0] in "/@" or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _require_ordinary(connection: HubConnection) -> None:
    found = connection.rows("SELECT 1 FROM pg_roles WHERE rolname = session_user AND (rolsuper OR rolbypassrls)")
    if found:
        raise HubRefused(
            say("The role {role} is a superuser, whom no rule of the hub binds.", role=connection.role),
            hint=say("Sign in as an ordinary role: the database's owner, or that of an invitation."),
        )
