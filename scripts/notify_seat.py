#!/usr/bin/env python3
"""Send a seat a notice: a front for `oracle.compat.notify_seat`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("notify_seat", "libtmux")
