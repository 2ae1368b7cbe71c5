"""`wave_count_since_compact`: count the waves that were closed since the planner's last compaction.

Prints whether it is time for the next one.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from oracle.compat.door import emit, make_parser


def main(argv: Sequence[str]) -> int:
    """Count. A missing file has no waves."""
    args = _parser().parse_args(argv)
    from oracle.app.teamwork import compaction
    from oracle.domain.delivery.compaction import waves_since

    is_there = Path(args.status_file).expanduser().exists()
    count = waves_since(compaction.read_text(args.status_file, "--status-file")) if is_there else 0
    emit(f"triggered={str(count >= args.threshold).lower()} waves_since={count}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("wave_count_since_compact", "Count the waves since the planner's last compaction.")
    parser.add_argument("--status-file", required=True, metavar="FILE")
    parser.add_argument("--threshold", required=True, type=int, metavar="N")
    return parser
