"""`decision_payload`: validate a decision payload, and send it to the session of the front seat.

Exit codes: 0 `ok`; 2 an invalid payload or a wrong call, and nothing is sent. A failed wake-up is a warning and is
tried again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from oracle.compat.door import add_root, complain, emit, make_parser, open_context, report
from oracle.errors import InvalidRecord

INVALID = 2


def main(argv: Sequence[str]) -> int:
    """Validate or send one payload. Returns the exit codes of the module."""
    from oracle.app.decisions.handover import send

    args = _parser().parse_args(argv)
    from oracle.app.decisions import payload

    try:
        from oracle.process import read_input

        raw = read_input(args.payload_file, "--payload-file")
        if args.command == "validate":
            payload.validate(raw)
        else:
            with open_context(args) as context:
                sent = send(context, raw, session=args.session, project=args.project, profile=args.profile)
            complain(f"receipt: {sent.receipt_path}")
    except InvalidRecord as error:
        report(error)
        return INVALID
    emit("ok")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("decision_payload", "Validate a decision payload, or send it to people.")
    add_root(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("validate", "check it"), ("send", "validate it and send it")):
        command = commands.add_parser(name, help=what)
        command.add_argument("--payload-file", required=True, metavar="FILE")
        if name == "send":
            command.add_argument("--session", required=True, metavar="NAME", help="PROJECT-SEAT, as in demo-koder")
            command.add_argument("--project", default="", metavar="P", help="default: the project of the session")
            command.add_argument("--profile", default="", metavar="FILE", help="the profile of the project")
    return parser
