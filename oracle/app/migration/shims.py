"""Programs in the layout of ClawSeat that run ours, so that no skill has to be edited.

A program that was there before is kept beside its shim. The shim runs it for what we don't do, and for who imports it.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator

from oracle.store.disk import steps

_SKILLS = {
    "memory-oracle": """memory_write query_memory extract_links scan_index scan_environment scan_project memory_deliver
        decision_payload audit_planner_closeout install_memory_hook archive_merged_dispatches check_compact_marker
        wave_count_since_compact""",
    "gstack-harness": "dispatch_task complete_handoff verify_handoff notify_seat",
    "clawseat-intake": "decision-log",
    "socratic-requirements": "decision-log",
    "memory-attention-router": "memory_router",
}
"""The programs of each skill of the older tool."""

HOOKS = ("scripts/hooks/memory-stop-hook.sh", "core/skills/memory-oracle/scripts/hooks/memory-stop-hook.sh")
SENDER = "core/shell-scripts/send-and-verify.sh"
ADMIN = "core/scripts/agent_admin.py"
PROGRAMS = {
    **{
        f"core/skills/{skill}/scripts/{name}.py": name.replace("-", "_")
        for skill, names in _SKILLS.items()
        for name in names.split()
    },
    ADMIN: "agent_admin",
    SENDER: "send_and_verify",
}
"""The path of each program below the older tool's checkout, and the name of the program that it runs."""

MODE = 0o755
KEPT = ".clawseat"
"""The ending of an older program that is kept beside its shim."""

_OLD_CALL = re.compile(
    r"([^\s\"'`()<>=]*)(?<![\w-])(core/(?:skills/[\w-]+/scripts|scripts|shell-scripts)/(?:hooks/)?[\w-]+\.(?:py|sh)"
    r"|scripts/hooks/memory-stop-hook\.sh)\b"
)

_PYTHON = '''\
#!/usr/bin/env python3
"""Run `{name}` of memory-oracle. Written by `oracle migrate clawseat`; `--undo` puts the older program back."""
import os
import sys

KEPT = __file__ + "{kept}"
if not os.path.exists(KEPT) or (__name__ == "__main__" and {ours}):
{root}    os.execv({python!r}, [{python!r}, "-P", "-c", {code!r}, *sys.argv[1:]])
with open(KEPT, encoding="utf-8") as stream:
    exec(compile(stream.read(), __file__, "exec"))
'''
_SHELL = """\
#!/usr/bin/env bash
# Run `{name}` of memory-oracle. Written by `oracle migrate clawseat`; `--undo` puts the older program back.
{command}
"""


def files_of(clawseat_root: str, *, root: str, hook: str) -> dict[str, tuple[bytes, int]]:
    """Return each file of the shims with its content and mode, also the older programs that are kept beside them.

    `root` is the Root that programs would not find by themselves, "" for none. `hook` is the command of the Stop hook.
    """
    found: dict[str, tuple[bytes, int]] = {}
    for place, name in PROGRAMS.items():
        path = f"{clawseat_root}/{place}"
        if place.endswith(".py"):
            found[path] = (_python(name, root), MODE)
            found |= dict(_kept(path))
        else:
            found[path] = (_shell(name, f'{_variable(root)}exec {_command(name)} "$@"'), MODE)
    for place in HOOKS:
        found[f"{clawseat_root}/{place}"] = (_shell("the Stop hook", hook), MODE)
    return found


def old_calls(text: str) -> Iterator[tuple[str, str]]:
    """Yield the folder and the path below it of each older program that a text names."""
    for call in _OLD_CALL.finditer(text):
        yield call[1], call[2]


def is_shim(data: bytes) -> bool:
    """Return whether a program was written by a migration."""
    return b"Written by `oracle migrate clawseat`" in data[:400]


def _kept(path: str) -> Iterator[tuple[str, tuple[bytes, int]]]:
    """Yield the older program at a path under the name by which its shim finds it."""
    data = steps.read(path)
    if data is not None and not is_shim(data):
        yield f"{path}{KEPT}", (data, os.stat(path).st_mode & 0o777)


def _python(name: str, root: str) -> bytes:
    set_root = f'    os.environ.setdefault("ORACLE_ROOT", {root!r})\n' if root else ""
    ours = 'sys.argv[1:2] == ["task"]' if name == "agent_admin" else "True"
    code = _code(name)
    text = _PYTHON.format(name=name, kept=KEPT, ours=ours, root=set_root, python=sys.executable, code=code)
    return text.encode()


def _shell(name: str, command: str) -> bytes:
    return _SHELL.format(name=name, command=command).encode()


def _variable(root: str) -> str:
    return f'[ -n "$ORACLE_ROOT" ] || export ORACLE_ROOT={shlex.quote(root)}\n' if root else ""


def _command(name: str) -> str:
    return shlex.join([sys.executable, "-P", "-c", _code(name)])


def _code(name: str) -> str:
    return f"import sys; from oracle.compat.door import run; sys.exit(run({name!r}))"
