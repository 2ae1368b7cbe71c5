#!/usr/bin/env python3
"""Look for what a planner's closeout leaves: a front for `oracle.compat.audit_planner_closeout`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("audit_planner_closeout")
