"""Kill the machines of a team at random while two of them ask and the third answers, and see that each is answered exactly once.

    benchmarks/hub_soak.py [--seconds 300] [--questions 60]

Each machine has a home, a daemon and somebody at work; SIGKILL ends them all at once, and a moment later they start again. At the
end every question is answered on the machine that asked it, all machines hold the same answers, and nobody was told twice. Exits 1
when something does not hold.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.hub.cluster import Cluster, missing
from tests.hub.fleet import Fleet

MOST_WAIT = 120.0
"""Seconds after the last death until everything is answered."""


def main() -> int:
    """Run it; return 0 when everything held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0, help="how long machines are killed (default 300)")
    parser.add_argument("--questions", type=int, default=60, help="how many are asked in all (default 60)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the moments (default: any)")
    given = parser.parse_args()
    if why := missing():
        print(why)
        return 2
    each = given.questions // 2
    cluster = Cluster()
    try:
        with tempfile.TemporaryDirectory(prefix="oracle-fleet-") as folder:
            fleet = Fleet(Path(folder), cluster, number=each, pause=0.7 * given.seconds / each)
            try:
                fleet.run(given.seconds, seed=given.seed)
                waited = fleet.settle(MOST_WAIT)
                faults = list(fleet.faults())
            finally:
                fleet.close()
            deaths = ", ".join(f"{machine.name} {machine.deaths - 1}" for machine in fleet.machines)
    finally:
        cluster.close()
    unanswered = sum(fault.startswith("not answered") for fault in faults)
    print(f"{given.seconds:g} s, seed {given.seed}; killed: {deaths}")
    print(f"answered\t{2 * each - unanswered} of {2 * each}, the last {waited:.1f} s after the last death")
    for sentence in faults:
        print(f"FAILED\t{sentence}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
