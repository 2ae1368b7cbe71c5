#!/usr/bin/env python3
"""Append a decision, or list the last ones: a front for `oracle.compat.decision_log`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("decision_log", "yaml", "frontmatter")
