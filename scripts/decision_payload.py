#!/usr/bin/env python3
"""Check a decision payload, or send it to people: a front for `oracle.compat.decision_payload`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("decision_payload", "jsonschema", "libtmux")
