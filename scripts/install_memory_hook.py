#!/usr/bin/env python3
"""Put the Stop hook into a workspace's settings: a front for `oracle.compat.install_memory_hook`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("install_memory_hook")
