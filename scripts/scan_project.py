#!/usr/bin/env python3
"""Scan a repository into `projects/<p>/*.json`: a front for `oracle.compat.scan_project`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("scan_project", "dotenv", "pathspec", "re2", "yaml")
