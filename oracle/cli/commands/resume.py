"""`oracle resume`: finish interrupted deliveries."""

from __future__ import annotations

from oracle.cli.options import single
from oracle.cli.session import Call
from oracle.wording import say

app = single()


@app.add(example="oracle resume")
def resume(call: Call) -> None:
    """Finish interrupted deliveries and send pending wake-ups."""
    from oracle.app.delivery import resume

    with call.context() as context:
        found = resume.resume(context)
    call.answer(found.as_json(), found.done)
    for line in () if call.as_json else found.left:
        call.warn(line)
    if not found.done and not found.left:
        call.note(say("nothing was left to finish"))
