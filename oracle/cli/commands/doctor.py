"""`oracle doctor`: check a Root, and repair what is derived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import option, single
from oracle.cli.output import Table, print_line, print_table
from oracle.cli.session import Call
from oracle.wording import joined, say, say_each, say_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.doctor import Check

app = single()


@app.add(example="oracle doctor --brief")
def doctor(
    call: Call,
    *,
    repair: Annotated[bool, option("--repair", "Repair what is derived; never change a record.")] = False,
    brief: Annotated[bool, option("--brief", "Print only what is wrong, and the last line.")] = False,
) -> None:
    """Check the Root; exit 1 when something is wrong."""
    from oracle.app import doctor

    with call.context() as context:
        repaired = doctor.repair(context) if repair else []
        checks = doctor.examine(context)
    wrong = [check for check in checks if not check.ok]
    if call.as_json:
        call.print_json({"ok": not wrong, "checks": [check.as_json() for check in checks], "repaired": repaired})
    else:
        for line in repaired:
            call.note(line if line.startswith("not repaired") else say("repaired: {line}", line=line))
        rows = [(_verdict(check), check.name, check.detail, check.fix) for check in (wrong if brief else checks)]
        print_table(Table(say_each("verdict", "check", "detail", "fix"), rows, stacked=(2, 3)))
        print_line(_sum_up(wrong))
    if wrong:
        raise typer.Exit(1)


def _sum_up(wrong: Sequence[Check]) -> str:
    """Return the last line of the doctor: `15 warnings, 0 errors`."""
    warnings, errors = (sum(check.severity == severity for check in wrong) for severity in ("warning", "error"))
    return joined(
        ", ",
        [say_many("{n} warning", "{n} warnings", n=warnings), say_many("{n} error", "{n} errors", n=errors)],
    )


def _verdict(check: Check) -> str:
    if check.ok:
        return say("note") if check.fix else say("ok")
    return say("error") if check.severity == "error" else say("warning")
