#!/usr/bin/env python3
"""Route memories to an agent and keep what it learns: a front for `oracle.compat.memory_router`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("memory_router", "yaml", "frontmatter")
