#!/usr/bin/env python3
"""Deliver an answer of the memory seat: a front for `oracle.compat.memory_deliver`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("memory_deliver", "libtmux")
