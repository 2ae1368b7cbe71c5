"""`install_memory_hook`: add the Stop hook to the settings of a workspace, with the options of the old program."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oracle.compat.door import complain, emit, make_parser

if TYPE_CHECKING:
    from oracle.hook.changes import FileChange


def main(argv: Sequence[str]) -> int:
    """Install, or show what an installation would change. Returns 0, or 2 on an error."""
    from oracle.app.context import name_root
    from oracle.hook import settings, workspaces

    args = _parser().parse_args(argv)
    script = args.hook_script or _script_of(args.clawseat_root) or settings.default_script()
    if not Path(script).expanduser().is_file():
        emit(f"error: hook script not found: {script}")
        return 2
    paths = workspaces.settings_files(args.workspace, args.settings_path)
    for change in workspaces.plan_installs(paths, settings.hook_command(script, root=name_root())):
        _show(change) if args.dry_run else _apply(change)
    return 0


def _show(change: FileChange) -> None:
    emit(f"target: {change.path}")
    emit((change.after or "").rstrip("\n"))


def _apply(change: FileChange) -> None:
    from oracle.hook import settings

    if not change.is_needed:
        emit(f"unchanged: {change.path}")
        return
    backup = change.apply()
    emit(f"updated: {change.path}")
    for note in (f"the old file: {backup}" if backup else "", *settings.read_status(change.path).notes):
        if note:
            complain(f"note: {note}")


def _script_of(root: str) -> str:
    """Return the path of the hook in another checkout, whether it exists or not; "" without one."""
    if not root:
        return ""
    folder = Path(root).expanduser().absolute()
    ours = folder / "scripts/hooks/stop_hook.py"
    places = ("scripts/hooks", "core/skills/memory-oracle/scripts/hooks")
    older = (folder / place / "memory-stop-hook.sh" for place in places)
    return str(next((path for path in (ours, *older) if path.is_file()), ours))


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("install_memory_hook", "Run the Stop hook at the end of an agent's turns.")
    parser.add_argument("--workspace", required=True, metavar="DIR", help="the folder in which the agent runs")
    parser.add_argument("--settings-path", default="", metavar="FILE", help="instead of both settings files of DIR")
    parser.add_argument("--clawseat-root", default="", metavar="DIR", help="a checkout whose scripts/hooks/ is used")
    parser.add_argument("--hook-script", default="", metavar="FILE", help="the hook script; default: the installed one")
    parser.add_argument("--dry-run", action="store_true", help="print the settings as they would be, and write nothing")
    return parser
