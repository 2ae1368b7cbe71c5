#!/usr/bin/env bash
here=$(readlink -f "${BASH_SOURCE[0]}"); here=${here%/*}; python=$here/../../.venv/bin/python; [ -x "$python" ] || python=python3; exec "$python" -I -S "$here/stop_hook.py" "$@"
