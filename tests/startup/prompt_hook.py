"""Serve a prompt as the hook's own process does: `--memory-dir ROOT PAYLOAD`."""

from __future__ import annotations

import os
import sys

_, os.environ["ORACLE_ROOT"], payload = sys.argv[1:]
sys.path.insert(0, os.getcwd())  # noqa: PTH109 -- importing pathlib would be counted

from oracle.hook.prompt import serve  # noqa: E402

sys.exit(not serve(payload.encode()))
