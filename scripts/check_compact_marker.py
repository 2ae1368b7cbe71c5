#!/usr/bin/env python3
"""Return whether a planner asks to be condensed: a front for `oracle.compat.check_compact_marker`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("check_compact_marker")
