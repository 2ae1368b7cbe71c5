"""A PostgreSQL cluster of the tests' own, run by an ordinary user in a temporary folder, with a fresh database for each test.

It listens on a socket in its folder, and on the loopback address once `port` is asked for.
"""

from __future__ import annotations

import functools
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from oracle.domain.values import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

USERS = ("postgres", "nobody")
"""Who runs the server where the tests run as root, which PostgreSQL refuses."""
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_init_zero": "off",
    "synchronous_commit": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "listen_addresses": "",
    "autovacuum": "off",
    "log_min_messages": "fatal",
}
SUPERUSER = "postgres"
ADMIN_PASSWORD = "admin-password"


@functools.cache
def missing() -> str:
    """Tell why there can be no cluster, "" where there can."""
    if not programs():
        return "PostgreSQL is not installed"
    if os.getuid() == 0 and not (runner() and shutil.which("setpriv")):
        return "the tests run as root, and there is no other user or no setpriv to run PostgreSQL"
    return ""


@functools.cache
def programs() -> str:
    """Return the folder of PostgreSQL's programs, "" for none: Debian keeps them out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    in_path = shutil.which("postgres")
    return str(found[-1].parent) if found else str(Path(in_path).resolve().parent) if in_path else ""


def runner() -> pwd.struct_passwd | None:
    known = {user.pw_name: user for user in pwd.getpwall()}
    return next((known[name] for name in USERS if name in known), None)


class Cluster:
    """A running cluster. `host` is the folder of its socket; SUPERUSER and the owner of each database need no password there.

    `standby_of` makes it the standby of another one, which it follows until `promote`.
    """

    def __init__(self, settings: Mapping[str, str] = NOTHING, *, standby_of: Cluster | None = None) -> None:
        self._settings = {**SETTINGS, **settings}
        self.folder = Path(tempfile.mkdtemp(prefix="oracle-pg-"))
        self.host = str(self.folder)
        self.data = self.folder / "data"
        self._port = 0
        self._addresses = ["127.0.0.1"]
        self._numbers = itertools.count(1)
        user = runner() if os.getuid() == 0 else None
        if user:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self._before = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"] if user else []
        if standby_of is not None:
            source = ("--pgdata", str(self.data), "--host", standby_of.host, "--username", SUPERUSER)
            self._call("pg_basebackup", *source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
            self.start()
            return
        self._call(
            "initdb",
            f"--pgdata={self.data}",
            f"--username={SUPERUSER}",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        )
        self.start()

    def start(self) -> None:
        """Start the server, after `stop` too."""
        settings = {**self._settings, "unix_socket_directories": self.host}
        if self._port:
            settings |= {"listen_addresses": ",".join(self._addresses), "port": str(self._port)}
        words = " ".join(f"-c {name}='{text}'" for name, text in settings.items())
        self._call("pg_ctl", "start", "-w", f"--pgdata={self.data}", f"--log={self.folder}/log", f"--options={words}")

    def stop(self, *, mode: str = "fast") -> None:
        """Stop the server; the mode `immediate` is as good as a crash."""
        self._call("pg_ctl", "stop", "-w", f"--pgdata={self.data}", f"--mode={mode}")

    def kill(self) -> None:
        """End the server with SIGKILL; its processes end with it."""
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def promote(self) -> None:
        """Let a standby take over."""
        self._call("pg_ctl", "promote", "-w", f"--pgdata={self.data}")

    @property
    def port(self) -> int:
        """The port of the loopback address. The first use restarts the server; there each role needs its password."""
        if not self._port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            self.stop()
            self._port = port
            self.start()
        return self._port

    @property
    def socket(self) -> str:
        """The path of the socket."""
        return f"{self.host}/.s.PGSQL.{self._port or 5432}"

    def listen(self, address: str, subnet: str) -> None:
        """Listen on one more address, for the machines of a subnet. The server restarts."""
        _ = self.port
        with (self.data / "pg_hba.conf").open("a", encoding="ascii") as rules:
            rules.write(f"host all all {subnet} scram-sha-256\n")
        self.stop()
        self._addresses.append(address)
        self.start()

    def dsn(self, database: str = "postgres", user: str = SUPERUSER) -> str:
        """Return the connection string of a database through the socket."""
        port = f" port={self._port}" if self._port else ""
        return f"host={self.host}{port} dbname={database} user={user}"

    def run(self, sql: str, database: str = "postgres") -> str:
        """Run SQL as the superuser, and return what it prints."""
        return self._call("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", self.dsn(database), "-c", sql)

    def create_database(self) -> str:
        """Create a database whose owner, no superuser, may create roles; return the owner's connection string."""
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        self.run(f"CREATE ROLE {name} LOGIN CREATEROLE PASSWORD '{ADMIN_PASSWORD}'")
        self.run(f"CREATE DATABASE {name} OWNER {name} TEMPLATE template0")
        return self.dsn(name, name)

    def close(self) -> None:
        """Stop the server and remove all that it wrote."""
        subprocess.run(
            [*self._before, f"{programs()}/pg_ctl", "stop", f"--pgdata={self.data}", "--mode=immediate"],
            capture_output=True,
            timeout=60,
            check=False,
            cwd="/",
        )
        shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, program: str, *words: str) -> str:
        log = self.folder / "calls"
        with log.open("w+b") as out:  # no pipe: the server would hold it open
            done = subprocess.run(
                [*self._before, f"{programs()}/{program}", *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=120,
                check=False,
                cwd="/",
            )
        said = log.read_text(errors="replace")
        assert done.returncode == 0, f"{program}: {said}"
        return said.strip()
