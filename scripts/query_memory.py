#!/usr/bin/env python3
"""Ask the memory: a front for `oracle.compat.query_memory`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("query_memory")
