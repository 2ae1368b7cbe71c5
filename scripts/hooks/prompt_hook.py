#!/usr/bin/env python3
"""The hook of the other events of a session, run with `-I -S`.

Python compiles the script that it runs each time, so the work is in `session_event`, which it compiles once.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it off
from session_event import main

if __name__ == "__main__":
    main()
