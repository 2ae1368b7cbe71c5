#!/usr/bin/env python3
"""Write one record of Memory's own kinds: a front for `oracle.compat.memory_write`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("memory_write", "yaml", "frontmatter")
