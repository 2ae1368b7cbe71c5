"""`scan_environment`: scan the machine into `machine/*.json`, with the flags, output and exit codes that teams rely on."""

from __future__ import annotations

import argparse

from oracle.app.context import Context
from oracle.app.scans.machine import Scanned, choose
from oracle.compat.door import complain, emit, make_parser, make_root, warn


def main(argv: list[str]) -> int:
    """Scan. Returns 1 if a scanner failed, 2 for an unknown scanner."""
    from oracle.app.scans.machine import scan

    args = _parser().parse_args(argv)
    only = [name.strip() for name in args.only.split(",") if name.strip()]
    with Context.open(args.output, warn=warn) as context:
        choose(only)
        make_root(context)
        done = scan(
            context,
            only,
            network=args.network,
            with_values=args.with_secret_values,
            progress=None if args.quiet else _say,
        )
    failed = [item for item in done if not item.ok]
    if not args.quiet:
        emit(f"\nscan complete: {len(done) - len(failed)}/{len(done)} scanners succeeded")
        emit(f"index: {context.root.catalogue}")
    for item in failed:
        complain(f"error: {item.name}: {item.error}")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("scan_environment", "Scan this machine into machine/*.json.", allow_abbrev=True)
    parser.add_argument("--only", default="", metavar="A,B", help="these scanners instead of the default ones")
    parser.add_argument("--output", "--memory-dir", metavar="DIR", help="the Root")
    parser.add_argument("--quiet", action="store_true", help="print nothing on standard output")
    parser.add_argument("--with-secret-values", action="store_true", help="keep the values of credentials in the Root")
    parser.add_argument("--network", action="store_true", help="let gh ask its hosts which account is signed in")
    return parser


def _say(item: Scanned) -> None:
    emit(f"scanning {item.name}… {'✓' if item.ok else '✗'}")
