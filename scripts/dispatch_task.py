#!/usr/bin/env python3
"""Give a seat a task: a front for `oracle.compat.dispatch_task`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("dispatch_task", "libtmux", "yaml", "frontmatter")
