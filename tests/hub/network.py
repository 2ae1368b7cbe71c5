"""A network of the tests' own: a namespace for each machine, and a wire to the hub that delays packets and can be cut.

The wire is a process between two devices: many kernels lack what `tc` delays with. It needs root.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import itertools
import os
import select
import shutil
import struct
import subprocess
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from oracle.domain.hub.rows import Membership
from oracle.hub import exchange, members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.hub.cluster import Cluster
    from tests.hub.machines import Team

_CLONE_NEWNET = 0x40000000
_TUNSETIFF, _PLAIN_PACKETS = 0x400454CA, 0x1001
_TUN = "/dev/net/tun"
_NUMBERS = itertools.count()


@functools.cache
def missing() -> str:
    """Tell why there can be no network, "" where there can."""
    if os.getuid() != 0:
        return "only root makes network namespaces"
    if not (shutil.which("ip") and Path(_TUN).exists()):
        return f"there is no iproute2 or no {_TUN}"
    try:
        Network("a").close()
    except OSError as error:
        return f"no network can be made here: {error}"
    return ""


class Network:
    """Machines, and the hub in the namespace of this process, where it has `address`. `delay_ms` is there and back."""

    def __init__(self, *machines: str, delay_ms: float = 0.0) -> None:
        number = (os.getpid() * 4 + next(_NUMBERS)) % 16384
        self._net = f"10.{192 + number // 256}.{number % 256}"
        self.address, self.subnet = f"{self._net}.1", f"{self._net}.0/24"
        self._key = f"{number:x}"
        self._machines = machines
        self._wire = 0
        self._spaces: list[str] = []
        try:
            for name in machines:
                _run("ip", "netns", "add", self.space(name))
                self._spaces.append(self.space(name))
            self._start(delay_ms / 2000)
            for at, name in enumerate(machines):
                self._connect(name, f"{self._net}.{at + 2}")
        except BaseException:
            self.close()
            raise

    def _start(self, delay: float) -> None:
        """Fork the wire, and wait until its devices are there."""
        heard, self._orders = os.pipe()
        ready, said = os.pipe()
        self._wire = os.fork()
        if self._wire == 0:
            os.close(self._orders)
            _be_the_wire([(self._device(name), self.space(name)) for name in self._machines], delay, heard, said)
        os.close(heard)
        os.close(said)
        with os.fdopen(ready, "rb") as answer:
            if answer.read() != b"ready":
                raise OSError("the wire did not start")

    def _connect(self, name: str, address: str) -> None:
        for place, here, there in (((), self.address, address), (("-n", self.space(name)), address, self.address)):
            _run("ip", *place, "address", "add", here, "peer", there, "dev", self._device(name))
            _run("ip", *place, "link", "set", self._device(name), "up")
        _run("ip", "-n", self.space(name), "link", "set", "lo", "up")

    def _device(self, name: str) -> str:
        return f"or{self._key}{name}"

    def space(self, name: str) -> str:
        """Return the name of a machine's namespace."""
        return f"oracle-{self._key}-{name}"

    def enter(self, name: str) -> None:
        """Move this process, which has one thread, into the namespace of a machine."""
        _enter(f"/run/netns/{self.space(name)}")

    def cut(self, name: str) -> None:
        """Lose every packet to and from a machine."""
        os.write(self._orders, bytes([self._machines.index(name) * 2 + 1]))

    def mend(self, name: str) -> None:
        """End a cut."""
        os.write(self._orders, bytes([self._machines.index(name) * 2]))

    def close(self) -> None:
        """Remove all that was made."""
        if self._wire:
            os.close(self._orders)  # the wire ends then
            os.waitpid(self._wire, 0)
            self._wire = 0
        while self._spaces:
            subprocess.run(["ip", "netns", "delete", self._spaces.pop()], capture_output=True, timeout=60, check=False)


def join_afar(team: Team, cluster: Cluster, network: Network, name: str, passwords: Path) -> Membership:
    """Let a machine of the network join a team, with its password in a file that `PGPASSFILE` names."""
    invited = members.invite(team.owner, team.name, name)
    with passwords.open("a", encoding="utf-8") as lines:
        lines.write(f"{network.address}:{cluster.port}:*:{invited.role}:{invited.password}\n")
    passwords.chmod(0o600)
    where = f"host={network.address} port={cluster.port} dbname={team.owner.database} user={invited.role}"
    with exchange.join(Membership(team.name, where, name=name, is_insecure=True)) as joined:
        return joined.membership


def _be_the_wire(ends: Sequence[tuple[str, str]], delay: float, orders: int, said: int) -> NoReturn:
    try:
        outer = [_open(device) for device, _ in ends]
        inner = []
        for device, space in ends:
            _enter(f"/run/netns/{space}")
            inner.append(_open(device))
        os.write(said, b"ready")
        os.close(said)
        _carry(outer, inner, delay, orders)
    finally:
        os._exit(0)


def _carry(outer: list[int], inner: list[int], delay: float, orders: int) -> None:
    """Pass packets on after the delay, until nobody gives orders any more."""
    other = {**dict(zip(outer, inner, strict=True)), **dict(zip(inner, outer, strict=True))}
    machine = {end: at for ends in (outer, inner) for at, end in enumerate(ends)}
    cut: set[int] = set()
    on_the_way: deque[tuple[float, int, bytes]] = deque()
    while True:
        rest = max(0.0, on_the_way[0][0] - time.monotonic()) if on_the_way else None
        for end in select.select([orders, *other], [], [], rest)[0]:
            if end == orders:
                order = os.read(orders, 1)
                if not order:
                    return
                (cut.add if order[0] % 2 else cut.discard)(order[0] // 2)
                continue
            packet = os.read(end, 65536)
            if machine[end] not in cut:
                on_the_way.append((time.monotonic() + delay, other[end], packet))
        while on_the_way and on_the_way[0][0] <= time.monotonic():
            _, end, packet = on_the_way.popleft()
            if machine[end] not in cut:
                with suppress(OSError):  # that end is not up yet
                    os.write(end, packet)


def _open(device: str) -> int:
    handle = os.open(_TUN, os.O_RDWR)
    fcntl.ioctl(handle, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _PLAIN_PACKETS))
    return handle


def _enter(space: str) -> None:
    handle = os.open(space, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(handle, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(handle)


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
