#!/usr/bin/env python3
"""Move what was merged out of a MEMORY.md: a front for `oracle.compat.archive_merged_dispatches`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("archive_merged_dispatches")
