"""How often a machine waits for its hub, counted on the wire: a machine far away waits as long as that takes."""

from __future__ import annotations

import selectors
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.domain.hub.rows import MAX_ROWS
from oracle.domain.values import replace
from oracle.hub import exchange
from tests.hub.sites import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hub.cluster import Cluster
    from tests.hub.machines import Team


class Relay:
    """A socket before that of the hub. `turns` counts how often a client spoke after it had listened."""

    def __init__(self, folder: Path, hub: Path) -> None:
        self.host = str(folder)
        self.turns = 0
        self._hub = str(hub)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{folder}/{hub.name}")
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._hub)
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        speaks = server
        with client, server, selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in ready.select():
                    source, target = (client, server) if key.fd == client.fileno() else (server, client)
                    data = source.recv(1 << 16)
                    if not data:
                        return
                    self.turns += source is client and speaks is server
                    speaks = source
                    target.sendall(data)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def relay(cluster: Cluster, tmp_path: Path) -> Iterator[Relay]:
    """Give a relay before the cluster."""
    folder = Path(tmp_path) / "r"
    folder.mkdir()
    if len(str(folder)) > 80:
        pytest.skip("the path of the temporary folder is too long for a socket")
    made = Relay(folder, Path(cluster.socket))
    yield made
    made.close()


def test_a_batch_takes_at_most_three_round_trips(cluster: Cluster, team: Team, relay: Relay, tmp_path: Path) -> None:
    sites = []
    for name in "ab":
        joined = team.join(name)
        joined.close()
        far = replace(joined.membership, dsn=joined.membership.dsn.replace(cluster.host, relay.host))
        sites.append(Site(tmp_path / name, name, exchange.open_team(far)))
    a, b = sites
    for site in sites:
        site.sync()
    number = MAX_ROWS + 1
    for at in range(number):
        a.write(f"shared/{at:05}.md", str(at))
    for site, did in ((a, "pushed"), (b, "placed")):
        relay.turns = 0
        assert len(getattr(site.sync(), did)) == number
        assert 2 <= relay.turns <= 3 * 2
    for site in sites:
        site.sync()
        relay.turns = 0
        site.sync()
        assert relay.turns == 1
        site.hub.close()  # type: ignore[attr-defined]
