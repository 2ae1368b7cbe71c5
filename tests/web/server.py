"""A server of pages in a process of its own."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
START = "import sys; from oracle.cli.main import run; sys.exit(run())"


class Served:
    """A server that was started, and a cookie for it."""

    def __init__(self, root: Path, *words: str, enters: bool = True) -> None:
        command = [sys.executable, "-c", START, "web", "--memory-dir", str(root), "--port", "0", "--json", *words]
        self.process = subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout
        said = b""
        while not said.rstrip().endswith(b"}"):
            said += self.process.stdout.readline()
        self.url = json.loads(said)["url"]
        self.port = int(self.url.split(":")[2].partition("/")[0])
        self.cookie = ""
        if enters:
            reply = self.request(self.url.partition(str(self.port))[2])
            self.cookie = reply.getheader("set-cookie", "").partition(";")[0]

    def request(self, address: str, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        cookie = {"Cookie": self.cookie} if self.cookie else {}
        connection.request("GET", address, headers={**cookie, **headers})
        return connection.getresponse()

    def listen(self, seen: str, **headers: str) -> http.client.HTTPResponse:
        return self.request(f"/events?since={seen}", **headers)

    def state(self) -> str:
        found = re.search(r'data-state="([^"]+)"', self.request("/").read().decode())
        assert found
        return found[1]

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        return self.process.returncode
