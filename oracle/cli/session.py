"""One call of `oracle`: which Root, JSON or not, and how answers, warnings and errors are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle.cli.i18n.translate import translate
from oracle.cli.output import (
    OutputLost,
    ReaderGone,
    Table,
    as_json,
    print_line,
    print_lines,
    print_table,
    tell,
    visible,
    write_out,
)
from oracle.cli.waiting import Waiting
from oracle.errors import NotFound, OracleError
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.delivery.wakeups import WakeUp


@dataclass(slots=True)
class Call:
    """What the shared options say. `beside_error` and `standing` are printed as JSON beside an error and beside a listing."""

    memory_dir: str | None = None
    as_json: bool = False
    waiting: Waiting = field(default_factory=Waiting)
    beside_error: Mapping[str, object] = field(default_factory=dict)
    standing: Mapping[str, object] = field(default_factory=dict)

    @contextmanager
    def context(self, listing: str = "") -> Iterator[Context]:
        """Open the Root for a block. With JSON a `listing` gets its standing, and an empty listing beside its error."""
        from oracle.app.context import Context

        with self.waiting, Context.open(self.memory_dir, warn=self.warn) as context:
            try:
                yield context
                if listing:
                    self.standing = self.standing_of(context)
            except NotFound:
                if listing and self.as_json:
                    self.beside_error = {listing: [], **self.standing_of(context)}
                raise

    def standing_of(self, context: Context) -> dict[str, object]:
        """Return `problems` and `freshness` of what was read last, for JSON alone."""
        if not self.as_json:
            return {}
        from oracle.app.records import succession

        return succession.standing(context)

    def answer(self, document: object, text: Table | Iterable[str] = ()) -> None:
        """Print the answer: one JSON document when JSON was asked for, else a table, a line or several lines."""
        if self.as_json:
            self.print_json(document)
        elif isinstance(text, Table):
            print_table(text)
        elif isinstance(text, str):
            print_line(text)
        else:
            print_lines(text)

    def warn(self, line: str) -> None:
        """Print a warning on standard error."""
        tell([visible(say("warning: {line}", line=line))])

    def note(self, line: str) -> None:
        """Print on standard error what belongs to the answer but not into its text; JSON holds it already."""
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
