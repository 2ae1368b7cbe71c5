#!/usr/bin/env python3
"""The hook of the other events of a session, run with `-I -S`.

Python compiles the script that it runs each time, so the work is in `session_event`, which it compiles once.
"""

import sys

sys.path.insert(0, __file__.rpartition("/")[0])  # -I leaves it off
try:
    from session_event import run
except ImportError:  # a link to the script
    import os

    sys.path[0] = os.path.dirname(os.path.realpath(__file__))
    from session_event import run

if __name__ == "__main__":
    run()
