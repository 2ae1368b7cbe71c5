#!/usr/bin/env python3
"""The hook at the end of a turn, run with `-I -S`.

Python compiles the script that it runs each time, so the work is in `turn_end`, which it compiles once.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it off
from turn_end import main

if __name__ == "__main__":
    main()
