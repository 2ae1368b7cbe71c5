#!/usr/bin/env python3
"""Extract the links of one page: a front for `oracle.compat.extract_links`, run from a checkout."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from _bootstrap import run

    run("extract_links", "yaml", "frontmatter")
