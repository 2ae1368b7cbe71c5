#!/usr/bin/env python3
"""Look at one handoff: a front for `oracle.compat.verify_handoff`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("verify_handoff")
