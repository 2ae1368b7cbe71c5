"""`decision_payload`: check a payload for people, and send it to the session of the front seat.

0 `ok` · 2 a payload that fails, or a wrong call; it is never sent. A wake-up that fails is a warning, waits and is tried again.
"""

from __future__ import annotations

from oracle.compat.door import complain, emit, report, serve
from oracle.compat.teamwork import make_parser, open_context
from oracle.errors import InvalidRecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

INVALID = 2


def run() -> int:
    """Run on the process's own arguments."""
    return serve(main)


def main(argv: Sequence[str]) -> int:
    """Check or send one payload; the codes are in the module's docstring."""
    from oracle.app.decisions.handover import send

    args = _parser().parse_args(argv)
    from oracle.app.decisions import payload

    try:
        from oracle.store.disk import input_file

        raw = input_file.read(args.payload_file, "--payload-file")
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
    parser = make_parser("decision_payload", "Check a decision payload, or send it to people.")
    parser.add_argument("--memory-dir", metavar="DIR", help="the Root; else the one that the environment names")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("validate", "check it"), ("send", "check it and hand it over")):
        command = commands.add_parser(name, help=what)
        command.add_argument("--payload-file", required=True, metavar="FILE")
        if name == "send":
            command.add_argument("--session", required=True, metavar="NAME", help="PROJECT-SEAT, as in demo-koder")
            command.add_argument("--project", default="", metavar="P", help="else the one that the session names")
            command.add_argument("--profile", default="", metavar="FILE", help="the profile of the project")
    return parser
