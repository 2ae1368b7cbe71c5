#!/usr/bin/env python3
"""Look after the workflows of tasks: a front for `oracle.compat.agent_admin`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("agent_admin", "libtmux")
