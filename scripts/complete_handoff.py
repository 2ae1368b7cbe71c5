#!/usr/bin/env python3
"""Complete a handoff, or acknowledge one: a front for `oracle.compat.complete_handoff`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("complete_handoff", "libtmux", "yaml", "frontmatter")
