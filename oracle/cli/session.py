"""One call of the command: which Root, JSON or not, and how answers, warnings and errors leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle.cli.i18n.translate import translate
from oracle.cli.printing import OutputLost, ReaderGone, as_json, tell, visible, write_out
from oracle.cli.waiting import Waiting
from oracle.errors import NotFound, OracleError
from oracle.wording import joined, say

if TYPE_CHECKING:
    from oracle.api import Oracle
    from oracle.app.delivery.wakeups import WakeUp
    from oracle.app.records.views import Summary

_NEAREST = 3
"""Successors that are named before the last one."""


@dataclass(slots=True)
class Call:
    """What the words before and after the command word asked for, and what an error must carry beside itself."""

    memory_dir: str | None = None
    as_json: bool = False
    waiting: Waiting = field(default_factory=Waiting)
    beside_error: Mapping[str, object] = field(default_factory=dict)

    @contextmanager
    def oracle(self, listing: str = "") -> Iterator[Oracle]:
        """Open the Root for a block; when nothing is found there, JSON still gets its `listing`, empty."""
        from oracle.api import Oracle

        with self.waiting, Oracle.open(self.memory_dir, warn=self.warn) as oracle:
            try:
                yield oracle
            except NotFound:
                if listing and self.as_json:
                    self.beside_error = {listing: [], **oracle.standing()}
                raise

    def warn(self, line: str) -> None:
        """Say on standard error what a person should know beside the answer."""
        tell([visible(say("warning: {line}", line=line))])

    def note(self, line: str) -> None:
        """Say on standard error what belongs to the answer but not into its text; JSON carries it itself."""
        if not self.as_json:
            tell([say("note: {line}", line=line)])

    def print_json(self, document: object) -> None:
        """Print the one JSON document of this call."""
        write_out(as_json(document))

    def fail(self, error: OracleError) -> int:
        """Print an error and return the exit code of the process.

        It goes to standard output as JSON when JSON was asked for; where that takes nothing, to standard error as a sentence.
        """
        if self.as_json and not isinstance(error, OutputLost):
            beside = self.beside_error if isinstance(error, NotFound) else {}
            with suppress(OutputLost):
                with suppress(ReaderGone):
                    self.print_json({**beside, **_without_secrets(error).as_json()})
                return error.exit_code
        error.sentence, error.hint = translate(error.sentence), translate(error.hint)
        error = _without_secrets(error)
        tell(map(visible, [error.sentence, *([say("hint: {hint}", hint=error.hint)] if error.hint else [])]))
        return error.exit_code


def _without_secrets(error: OracleError) -> OracleError:
    """Return the error as it may be printed: its sentence may repeat a value of the caller's, which may be a secret."""
    from oracle.domain.safety.secrets import redact

    error.sentence, error.hint = redact(error.sentence)[0], redact(error.hint)[0]
    return error


def note_wake_up(call: Call, wake_up: WakeUp) -> None:
    """Say whom a delivery woke, or why nobody was woken."""
    if wake_up.result == "sent":
        call.note(say("woke {seat} in {detail}", seat=wake_up.seat, detail=wake_up.detail))
    elif wake_up.result == "attended":
        call.note(say("{seat} is not woken: {detail}", seat=wake_up.seat, detail=wake_up.detail))


def replaced_by(chain: Sequence[str]) -> str:
    """Return the words that mark a record which no longer holds, nearest successor first; "" while it holds.

    Of a long chain the nearest and the last are named: a listing that names all of each record is the square of it.
    """
    if not chain:
        return ""
    between = len(chain) - _NEAREST - 1
    if between < 1:
        return say("by {chain}", chain=joined(", then ", chain))
    nearest = joined(", then ", chain[:_NEAREST])
    return say("by {nearest}, … {between} more, then {last}", nearest=nearest, between=between, last=chain[-1])


def with_chains(oracle: Oracle, records: Sequence[Summary]) -> list[tuple[Summary, tuple[str, ...]]]:
    """Return each record with the chain of those that stand in its place."""
    chains = oracle.chains(record.slug for record in records if record.retired_by)
    return [(record, chains.get(record.slug, ())) for record in records]


def chain_json(chain: Sequence[str]) -> dict[str, object]:
    """Return the chain of a record for its JSON; what makes it is loaded when a command has one to print."""
    from oracle.app.records import views

    return views.chain_json(chain)


def record_json(record: Summary, chain: Sequence[str]) -> dict[str, object]:
    """Return the JSON of a record in a listing; `chain` only where it is retired."""
    return {**record.as_json(), **chain_json(chain)}
