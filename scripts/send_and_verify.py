#!/usr/bin/env python3
"""Wake a seat and see that it took the text: a front for `oracle.compat.send_and_verify`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("send_and_verify", "libtmux")
