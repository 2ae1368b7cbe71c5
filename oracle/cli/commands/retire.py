"""`oracle retire`: retire a record."""

from __future__ import annotations

from typing import Annotated

from oracle.cli.commands.write import print_written
from oracle.cli.options import DryRun, Secrets, Slug, WriterSeat, option, single
from oracle.cli.session import Call

app = single()


@app.add(example="oracle retire retry-webhooks --reason 'The queue does it.'")
def retire(
    call: Call,
    slug: Slug,
    *,
    reason: Annotated[str, option("--reason R", "Why it no longer holds.")],
    seat: WriterSeat = "memory",
    secrets: Secrets = "refuse",
    dry_run: DryRun = False,
) -> None:
    """Retire a record; its file is not changed."""
    from oracle.app.records import write

    with call.context() as context:
        written = write.retire(context, slug, reason, seat=seat, secrets=secrets, dry_run=dry_run)
    print_written(call, written)
