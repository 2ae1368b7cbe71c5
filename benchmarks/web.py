"""Measure the pages of `oracle web`: the time of the server, the bytes, the first paint in Chromium, memory under load.

    benchmarks/web.py [--records 100000] [--handoffs 1000] [--seconds 20] [--rate 20] [--root DIR]
    benchmarks/web.py --load-only --seconds 3600     # a page that is open for an hour

It makes a Root with a team, or copies DIR and adds the team. The time of a page is the least time to its answer, or the mean
processor time of the server if that is less: a busy machine stretches both. Other times are the least of several. Exits with
1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import BrowserContext, Playwright

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))
BROWSER = os.environ.get("ORACLE_CHROMIUM") or shutil.which("chromium") or ""
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.cli.main import run; sys.exit(run())"

MS_NOW, MS_MORE_THAN_SEARCH, MS_GRAPH, MS_PAINT = 60, 20, 250, 600
MOST_BYTES, MOST_GROWTH = 150_000, 10 * 1024 * 1024
PAGES = ("/", "/search?q=retry+policy", "/timeline", "/handoffs", "/decisions", "/graph?name={target}&depth=2&most=200")
TASKS = 40
PROJECTS = "alder birch cedar dogwood elm fir ginkgo hazel juniper larch maple oak poplar rowan spruce willow".split()


def make_records(root: Path, count: int) -> None:
    """Write records of one project, in folders of two seats."""
    for number in range(count):
        folder = root / "projects" / "bench" / ("planner", "builder")[number % 2] / "finding"
        if number < 2:
            folder.mkdir(parents=True)
        text = f"The retry policy of part {number % 977} waits {number % 60} seconds, for BENCH-{number % TASKS}."
        head = f"---\ntitle: Finding {number}\nkind: finding\nts: 2026-01-{number % 28 + 1:02}T00:00:00Z\n---\n"
        (folder / f"2026-01-{number % 28 + 1:02}T00-00-00Z-finding-{number}.md").write_text(head + text + "\n")


def make_handoffs(root: Path, count: int) -> None:
    """Dispatch one task, and write the receipts of others like it."""
    from oracle.api import Oracle
    from oracle.app.delivery.order import Order
    from oracle.app.delivery.team import init_profile

    with Oracle.open(str(root)) as oracle:
        init_profile(oracle, "bench", ("memory", "planner", "builder"), repo_root=str(root))
        made = oracle.dispatch(Order("bench", "B-0", "planner", "memory", "What is the policy?", notifies=False))
    first = Path(made.receipt_path)
    text = first.read_text(encoding="utf-8")
    for number in range(1, count):
        name = first.name.replace("B-0", f"B-{number}")
        first.with_name(name).write_text(text.replace("B-0", f"B-{number}"), encoding="utf-8")


class Served:
    """A server in a process of its own, and who it let in."""

    def __init__(self, root: Path, home: Path) -> None:
        words = [sys.executable, "-c", START, str(CHECKOUT), "web", "--memory-dir", str(root), "--port", "0", "--json"]
        environ = {**os.environ, "HOME": str(home), "ORACLE_DAEMON_SOCKET": "0"}
        self.process = subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout
        said = b""
        while not said.rstrip().endswith(b"}"):
            said += self.process.stdout.readline()
        self.url: str = json.loads(said)["url"]
        self.base = self.url.partition("/?")[0]
        with urllib.request.urlopen(self.url) as reply:  # noqa: S310
            self.cookie = reply.headers["set-cookie"].partition(";")[0]

    def get(self, address: str) -> tuple[float, int]:
        """Return the milliseconds and the bytes of a page."""
        request = urllib.request.Request(self.base + address, headers={"Cookie": self.cookie})  # noqa: S310
        began = time.perf_counter()
        with urllib.request.urlopen(request) as reply:  # noqa: S310
            size = len(reply.read())
        return (time.perf_counter() - began) * 1000, size

    def processor_ms(self) -> float:
        """Return the milliseconds of processor time that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        """Return the bytes that the server holds."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * resource.getpagesize()

    def window(self, driver: Playwright) -> BrowserContext:
        """Return a window of Chromium that was let in."""
        words = ["--no-sandbox"] if os.geteuid() == 0 else []
        made = driver.chromium.launch(executable_path=BROWSER, args=words).new_context()
        name, _, value = self.cookie.partition("=")
        made.add_cookies([{"name": name, "value": value, "url": self.base}])
        return made

    def paint(self, address: str, times: int) -> float:
        """Return the least milliseconds until Chromium paints a page."""
        from playwright.sync_api import sync_playwright

        script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
        with sync_playwright() as driver:
            page = self.window(driver).new_page()
            paints = []
            for _ in range(times):
                page.goto(self.base + address, wait_until="load")
                page.wait_for_timeout(200)
                paints.append(page.evaluate(script))
        return min(filter(None, paints), default=0.0)


def search_ms(root: Path, words: str, times: int) -> float:
    """Return the milliseconds of processor time of the command line's search, in this process."""
    from oracle.app.context import Context
    from oracle.app.queries import lookup

    asked = {"text": words, "filters": {}, "limit": 20, "fresh": False, "strict": False, "lexical": False}
    taken = []
    with Context.open(str(root)) as context:
        for _ in range(times + 1):
            began = time.process_time()
            lookup.find(context, "search", asked, loads_models=False)
            taken.append((time.process_time() - began) * 1000)
    return sum(taken[1:]) / times


class Writer:
    """Writes records at a steady rate, spread over projects as a team's are, until it is left."""

    def __init__(self, root: Path, rate: float) -> None:
        self._root, self._rate = root, rate
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self.count = 0

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _write(self) -> None:
        from oracle.api import Oracle
        from oracle.domain.records.drafts import Draft

        due = time.monotonic()
        with Oracle.open(str(self._root)) as oracle:
            while not self._is_over.is_set():
                project = PROJECTS[self.count % len(PROJECTS)]
                oracle.write(Draft("decision", project, f"Load {self.count}", body="Under load."))
                self.count += 1
                due = max(due + 1 / self._rate, time.monotonic() - 1)  # what was missed for long is not made up for
                self._is_over.wait(max(0.0, due - time.monotonic()))


class Sample(NamedTuple):
    """What an open page and its server held at a moment: seconds since the start, records written, renewals, bytes, nodes."""

    seconds: float
    written: int
    renewals: int
    server: int
    heap: int
    nodes: int

    def line(self) -> str:
        """Return it as a row of a table."""
        memory = f"{self.server / 1e6:.1f} MB\t{self.heap / 1e6:.2f} MB\t{self.nodes} nodes"
        return f"  {self.seconds:.0f} s\t{self.written} written\t{self.renewals} renewals\t{memory}"


def watch_load(served: Served, root: Path, seconds: float, rate: float) -> list[Sample]:
    """Keep a page open while records are written. Returns samples, the first once the page has renewed itself for a while."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        page = served.window(driver).new_page()
        renewed: list[str] = []
        page.on("response", lambda reply: renewed.append(reply.url) if reply.request.resource_type == "fetch" else None)
        page.goto(f"{served.base}/timeline", wait_until="load")
        session = page.context.new_cdp_session(page)
        began, every, found = time.monotonic(), max(5.0, seconds / 60), list[Sample]()
        with Writer(root, rate) as writer:
            while not found or found[-1].seconds < seconds:
                page.wait_for_timeout(every * 1000)
                session.send("HeapProfiler.collectGarbage")
                heap = int(session.send("Runtime.getHeapUsage")["usedSize"])
                nodes = int(session.send("Memory.getDOMCounters")["nodes"])
                passed = time.monotonic() - began
                found.append(Sample(passed, writer.count, len(renewed), served.memory(), heap, nodes))
                print(found[-1].line(), flush=True)
    return found[1:] or found


def main() -> int:
    """Print the figures; return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--handoffs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20, help="how long the load lasts (default 20)")
    parser.add_argument("--rate", type=float, default=20, help="records that are written in a second (default 20)")
    parser.add_argument("--load-only", action="store_true", help="measure no page, only what one that is open holds")
    parser.add_argument("--times", type=int, default=15, help="requests of each page (default 15)")
    parser.add_argument("--root", help="copy this Root instead of making records")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-web-") as folder:
        home = Path(folder) / "home"
        root = home / ".agents" / "memory"
        os.environ.update(HOME=str(home), ORACLE_DAEMON_SOCKET="0")
        if given.root:
            shutil.copytree(given.root, root)
        else:
            root.mkdir(parents=True)
            make_records(root, given.records)
        root.chmod(0o700)
        make_handoffs(root, given.handoffs)
        return report(root, home, given)


def report(root: Path, home: Path, given: argparse.Namespace) -> int:
    """Measure a Root that is ready, print the figures, and return 1 when a bar is missed."""
    missed = []

    def tell(what: str, figure: float, bar: float, unit: str) -> None:
        print(f"{what}\t{figure:.0f} {unit}\tbar {bar:.0f}", flush=True)
        if figure > bar:
            missed.append(what)

    plain = 0.0 if given.load_only else search_ms(root, "retry policy", given.times)
    served = Served(root, home)
    try:
        if not given.load_only:
            measure_pages(served, plain, given.times, tell)
        if BROWSER:
            if not given.load_only:
                tell("first paint of /", served.paint("/", 5), MS_PAINT, "ms")
            samples = watch_load(served, root, given.seconds, given.rate)
            print(f"{samples[-1].written / samples[-1].seconds:.1f} records were written in a second")
            for what in ("server", "heap"):
                held = [getattr(one, what) for one in samples]
                tell(f"{what}: last and first sample differ by", held[-1] - held[0], MOST_GROWTH, "bytes")
                print(f"{what}: least {min(held) / 1e6:.1f} MB, most {max(held) / 1e6:.1f} MB")
        else:
            print("no Chromium: neither paint nor load was measured")
    finally:
        served.process.terminate()
        served.process.wait()
    print("missed: " + ", ".join(missed) if missed else "every bar is met")
    return int(bool(missed))


def measure_pages(served: Served, plain: float, times: int, tell: Callable[[str, float, float, str], None]) -> None:
    """Measure the time and the bytes of each page; `plain` is the time of a search without a page, in milliseconds."""
    for pattern in PAGES:
        address = pattern.format(target="entity:taskid:BENCH-1")
        for _ in range(4):  # each thread reads once
            served.get(address)
        used = served.processor_ms()
        taken = [served.get(address) for _ in range(times)]
        used = (served.processor_ms() - used) / times
        bar = {"/": MS_NOW, PAGES[1]: plain + MS_MORE_THAN_SEARCH, PAGES[-1]: MS_GRAPH}.get(pattern, MS_GRAPH)
        tell(address, min(used, *(ms for ms, _ in taken)), bar, "ms")
        tell(f"{address} size", taken[-1][1], MOST_BYTES, "bytes")


if __name__ == "__main__":
    sys.exit(main())
