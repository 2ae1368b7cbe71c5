#!/usr/bin/env python3
"""Count the waves since the planner was condensed: a front for `oracle.compat.wave_count_since_compact`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("wave_count_since_compact")
