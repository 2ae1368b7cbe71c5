"""Measure the tool `search` of `oracle mcp`: one client alone, and four at the same time, each with a server of its own.

    benchmarks/mcp_search.py DOCUMENTS [--records 5000] [--calls 200]

The Markdown files below DOCUMENTS become records, each as often as needed; the clients search for words of their sentences.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
sys.path[:0] = [str(HERE), str(CHECKOUT)]

import corpus  # noqa: E402
import first_reply  # noqa: E402

from oracle.api import Oracle  # noqa: E402

MEDIAN, RATE = 0.015, 100.0
"""The bars: seconds of a call, and calls a second of four clients."""

CLIENTS = 4
_READY: dict[str, object] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Client:
    """A client of a server of its own."""

    def __init__(self, root: Path) -> None:
        words = [sys.executable, "-c", first_reply.START, str(CHECKOUT), "mcp", "--memory-dir", str(root)]
        environ = {**os.environ, "HOME": str(root.parent), "ORACLE_DAEMON_SOCKET": "0"}
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
        self.number = 1
        self._send(first_reply.HELLO)
        self._receive()
        self._send(_READY)

    def search(self, query: str) -> float:
        """Search; return the seconds until the answer was there."""
        self.number += 1
        params = {"name": "search", "arguments": {"query": query}}
        began = time.perf_counter()
        self._send({"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params})
        answer = self._receive()
        taken = time.perf_counter() - began
        assert not answer["result"]["isError"], answer
        return taken

    def end(self) -> None:
        """Close the connection; the server ends."""
        self.process.communicate(timeout=60)

    def _send(self, message: dict[str, object]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _receive(self) -> dict[str, dict[str, object]]:
        assert self.process.stdout
        found: dict[str, dict[str, object]] = json.loads(self.process.stdout.readline())
        return found


def choose_queries(paths: list[Path], count: int) -> list[str]:
    """Return four neighbouring words of a sentence of a record, so many times."""
    generator = random.Random(20260101)
    found: list[str] = []
    while len(found) < count:
        words = re.findall(r"\w{3,}", generator.choice(paths).read_text(encoding="utf-8").partition("\n---\n")[2])
        if len(words) > CLIENTS:
            at = generator.randrange(len(words) - 4)
            found.append(" ".join(words[at : at + 4]))
    return found


def main() -> int:
    """Print the figures; return 1 when one misses its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path, metavar="DOCUMENTS")
    parser.add_argument("--records", type=int, default=5_000, help="records of the Root (default 5000)")
    parser.add_argument("--calls", type=int, default=200, help="calls of each client (default 200)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-mcp-") as folder:
        root = Path(folder) / "root"
        queries = choose_queries(corpus.lay_out(given.documents, root, given.records), given.calls)
        with Oracle.open(str(root)) as oracle:
            oracle.reconcile()
        time.sleep(2.1)
        clients = [Client(root) for _ in range(CLIENTS)]
        try:
            for client in clients:
                client.search(queries[0])
            alone = statistics.median(map(clients[0].search, queries))
            began = time.perf_counter()
            with ThreadPoolExecutor(CLIENTS) as pool:
                list(pool.map(lambda client: [client.search(query) for query in queries], clients))
            rate = CLIENTS * len(queries) / (time.perf_counter() - began)
        finally:
            for client in clients:
                client.end()
    print(f"search of one client, median\t{alone * 1000:.1f} ms (bar {MEDIAN * 1000:g} ms)")
    print(f"{CLIENTS} clients at the same time\t{rate:.0f} calls a second (bar {RATE:g})")
    return int(alone > MEDIAN or rate < RATE)


if __name__ == "__main__":
    sys.exit(main())
