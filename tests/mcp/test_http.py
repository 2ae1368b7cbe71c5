"""A server for several clients of this machine: behind a token, on the loopback address alone."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import mcp
import pytest
import uvicorn
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from oracle.serving import StopSignal
from tests.mcp.clients import Result, command, put
from tests.mcp.test_stdio import HELLO

if TYPE_CHECKING:
    from collections.abc import Iterator


class Served:
    """A server that was started, its address and its token."""

    def __init__(self, root: Path, *, before: str = "") -> None:
        words = command(root, "--http", "--port", "0", "--json", before=before)
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout
        said = self.process.stdout.read1()
        while not said.rstrip().endswith(b"}"):
            said += self.process.stdout.read1()
        told = json.loads(said)
        self.url: str = told["url"]
        self.token_file = Path(told["token_file"])
        self.token = self.token_file.read_text(encoding="ascii").strip()

    def post(self, **headers: str) -> int:
        """Send the first message with these headers; return the status."""
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = Request(self.url, json.dumps(HELLO).encode(), {**usual, **headers}, method="POST")  # noqa: S310
        try:
            with urlopen(request, timeout=120) as reply:  # noqa: S310
                return int(reply.status)
        except HTTPError as error:
            return error.code

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=120)
        return self.process.returncode


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a server that the tests of this module share: none of them ends it."""
    root = tmp_path_factory.mktemp("served") / "memory"
    put(root, "projects/arena/planner/retry.md", "The upload retries five times. For ARENA-228.\n")
    made = Served(root)
    yield made
    made.end()


def test_a_signal_that_comes_before_there_is_a_server_ends_it_in_peace(root: Path):
    assert Served(root).end() == 0  # its address is told before anything of the SDK is loaded


def test_a_signal_is_kept_until_there_is_a_server_to_end():
    before = signal.getsignal(signal.SIGTERM)
    try:
        ending, server = StopSignal(), uvicorn.Server(uvicorn.Config("none"))
        signal.raise_signal(signal.SIGTERM)
        assert ending.controls(server)
        late = StopSignal()
        assert not late.controls(server)
        signal.raise_signal(signal.SIGTERM)
        assert server.should_exit
    finally:
        signal.signal(signal.SIGTERM, before)


def test_clients_with_the_token_are_served_at_once(served: Served):
    async def use(number: int) -> tuple[Result, Result]:
        headers = {"Authorization": f"Bearer {served.token}"}
        async with (
            create_mcp_http_client(headers=headers) as http,
            mcp.Client(streamable_http_client(served.url, http_client=http)) as client,
        ):
            given = {"kind": "decision", "project": "arena", "title": f"R {number}", "body": "For ARENA-228."}
            return Result(await client.call_tool("search", {"query": "upload"})), Result(
                await client.call_tool("write_record", given)
            )

    async def all_at_once() -> Any:
        return await asyncio.gather(*(use(number) for number in range(6)))

    for found, wrote in asyncio.run(all_at_once()):
        assert "five times" in found.text
        assert not wrote.is_error, wrote.text


@pytest.mark.parametrize("scheme", ["", "Bearer ", "Bearer x", "Basic {}", "{}", "Bearer {}x", "Bearer \u00e9"])
def test_nobody_else_is_served(served: Served, scheme: str):
    headers = {"Authorization": scheme.format(served.token)} if scheme else {}
    assert served.post(**headers) == 401


def test_the_token_opens_and_a_page_from_elsewhere_does_not(served: Served):
    headers = {"Authorization": f"Bearer {served.token}"}
    assert served.post(**headers) == 200
    assert served.post(**headers, Host="evil.example") == 421
    assert served.post(**headers, Origin="https://evil.example") == 403


def test_it_listens_on_the_loopback_address_alone(served: Served):
    port = int(served.url.split(":")[2].split("/")[0])
    assert served.url == f"http://127.0.0.1:{port}/mcp"
    listening = Path("/proc/net/tcp")
    if not listening.exists():
        pytest.skip("only Linux tells where a process listens in /proc")
    rows = [line.split() for line in listening.read_text().splitlines()[1:]]
    addresses = {row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port}
    assert addresses == {"0100007F"}


def test_a_signal_ends_it_in_peace_and_a_taken_port_is_said(root: Path):
    served = Served(root)
    port = served.url.split(":")[2].split("/")[0]
    done = subprocess.run(
        command(root, "--http", "--port", port), capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Cannot listen on port {port}" in done.stderr
    assert served.end() == 0


def test_a_free_port_is_free():
    from oracle import serving

    with serving.listen(0) as door:
        assert door.getsockname()[0] == "127.0.0.1"
        assert isinstance(door, socket.socket)


HALVES = {
    "nothing": b"",
    "half a line": b"POST /m",
    "half the headers": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ",
    "half a body": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{",
}


def test_half_requests_end_and_do_not_keep_others_out(root: Path):
    put(root, "projects/arena/planner/retry.md", "The upload retries five times.\n")
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
    served = Served(root, before=f"{few}from oracle import serving; serving.REQUEST_TIMEOUT = 2.0\n")
    port = int(served.url.rpartition(":")[2].partition("/")[0])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    try:
        for number, connection in enumerate(silent):
            connection.sendall([*HALVES.values()][number % len(HALVES)])
        assert served.post(Authorization=f"Bearer {served.token}") == 200
        for connection in silent:
            connection.settimeout(60)
            while connection.recv(4096):
                pass
    finally:
        for connection in silent:
            connection.close()
    assert served.end() == 0
