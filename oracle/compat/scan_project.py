"""`scan_project`: scan a repository into `projects/<p>/*.json`, with the flags and output that teams rely on."""

from __future__ import annotations

import argparse
from pathlib import Path

from oracle.compat.door import add_new_project, add_root, complain, emit, make_parser, make_root, open_context
from oracle.compat.rendering import print_json
from oracle.errors import NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.scans.project import ProjectScan

FAILED = 1


def main(argv: list[str]) -> int:
    """Scan. Returns 1 if there is no repository, or if files differ and were left unchanged."""
    from oracle.app.scans.project import scan_project

    args = _parser().parse_args(argv)
    with open_context(args) as context:
        is_dry = not (args.commit or args.force_commit)
        if not is_dry and Path(args.repo).is_dir():
            make_root(context)
        try:
            found = scan_project(
                context,
                args.project,
                args.repo,
                depth=args.depth,
                commit=args.commit,
                force=args.force_commit,
                new_project=args.new_project,
            )
        except NotFound as error:
            complain(f"error: {error.sentence}")
            return FAILED
    if is_dry:
        emit(print_json(_rehearsed(found)))
        return 0
    return _tell(found, is_quiet=args.quiet)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("scan_project", "Scan a repository into facts about its project.", allow_abbrev=True)
    parser.add_argument("--project", required=True)
    parser.add_argument("--repo", required=True, metavar="DIR")
    parser.add_argument("--depth", choices=("shallow", "medium", "deep"), default="shallow")
    parser.add_argument("--commit", action="store_true", help="write new files (default: print what would be written)")
    parser.add_argument("--force-commit", action="store_true", help="write new and changed files")
    add_root(parser)
    add_new_project(parser)
    parser.add_argument("--quiet", action="store_true", help="do not list written files")
    return parser


def _rehearsed(found: ProjectScan) -> dict[str, object]:
    return {
        "dry_run": True,
        "project": found.project,
        "repo": found.repository,
        "depth": found.depth,
        "files": {f"{kind}.json": record for kind, record in found.records.items()},
    }


def _tell(found: ProjectScan, *, is_quiet: bool) -> int:
    written, changed = found.those("written"), found.those("changed")
    if not is_quiet:
        for path in written:
            complain(f"wrote: {path}")
        emit(f"scan complete: {found.project} depth={found.depth} ({len(written)} files)")
    for path in changed:
        complain(f"error: {path} says something else; --force-commit replaces it")
    return FAILED if changed else 0
