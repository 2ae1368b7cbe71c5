#!/usr/bin/env python3
"""Scan this machine into `machine/*.json`: a front for `oracle.compat.scan_environment`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("scan_environment", "dotenv", "yaml")
