"""Let a daemon live through each fault of references/daemon.md, and print what was seen of it as a table.

    benchmarks/faults.py [--seconds 30]

A fault lasts for some seconds at the daemon's real intervals. Printed are the lines that it logged, its share of a core meanwhile,
and how long after the cause was gone a new file was in the index. Needs Linux, and for a full disk the right to mount.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle.domain import timestamps
from tests.daemon.running import Served
from tests.daemon.test_serve import FAULTS, LASTING, NEW
from tests.disks import Disk

if TYPE_CHECKING:
    from collections.abc import Callable

    Begin = Callable[[Served], Callable[[], None]]

REAL = "full disk, for real"
LATER = "projects/demo/builder/later.md"


def on_real_disk(folder: Path) -> tuple[Disk, Begin]:
    """Mount a small disk where the home will be, and return how it is filled."""
    disk = Disk(folder / "home")

    def begin(_: Served) -> Callable[[], None]:
        disk.spoil("full")
        return lambda: disk.mend("full")

    return disk, begin


def live(served: Served, begin: Begin, seconds: float) -> tuple[list[str], float, float]:
    """Return what was logged, the share of a core while the fault lasted, and the seconds from its end to a new file's entry."""
    served.start()
    served.put(NEW, "# One\n")
    served.until(lambda: served.knows(NEW), "it follows")
    moment, used, began = timestamps.from_mtime(time.time_ns()), served.cpu_seconds(), time.monotonic()
    end = begin(served)
    time.sleep(seconds)
    share = (served.cpu_seconds() - used) / (time.monotonic() - began)
    end()
    began = time.monotonic()
    served.put(LATER, "# Later\n")
    served.until(lambda: served.knows(LATER), "it follows again")
    back = time.monotonic() - began
    served.stop()
    logged = [line for line in served.lines() if line["level"] in ("warning", "error") and line["ts"] >= moment]
    return [f"{line['level']}: {line['message']}" for line in logged], share, back


def main() -> None:
    """Print a row for each fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each fault lasts (default 30)")
    parser.add_argument("--only", nargs="*", metavar="FAULT", help="these faults alone")
    given = parser.parse_args()
    Served.pace = "real"
    print("| fault | lines logged | of a core | back after |\n| --- | --- | --- | --- |")
    for fault in given.only or (*FAULTS, REAL):
        with tempfile.TemporaryDirectory(prefix="oracle-faults-") as name:
            disk, begin = on_real_disk(Path(name)) if fault == REAL else (None, FAULTS[fault][0])
            served = Served(Path(name))
            lasting = given.seconds if fault in (*LASTING, REAL) else min(given.seconds, 15.0)
            try:
                logged, share, back = live(served, begin, lasting)
            finally:
                served.close()
                if disk is not None:
                    disk.close()
            words = "; ".join(line.replace(name, "") for line in logged)
            print(f"| {fault} | {len(logged)}: {words} | {share:.1%} | {back:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
