"""What the Stop hook needs from the use case of delivering: one value and one protocol. Hook room; touches nothing."""

from __future__ import annotations

from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Deliver(Protocol):
        """Deliver answers; every step looks first whether it is done."""

        def check(self, answer: Answer) -> None:
            """Raise SecretFound or PrivacyBlocked for an answer that must not be handed over; nothing is written."""
            ...

        def deliver(self, answer: Answer) -> bool:
            """Write response, completion receipt and `.consumed`, and put the wake-up into the inbox.

            False when the same answer had been delivered before. Raises OracleError (Conflict for another answer).
            """
            ...

        def wake(self, answer: Answer, *, patience: float) -> None:
            """Try the wake-up that waits for this answer's reader, for at most `patience` seconds; it stays when it fails."""
            ...


@value
class Answer:
    """What a seat wants delivered: the address, its words without the markers, and what the marker said beside.

    `source` is the seat that answers; `unsolicited` when no dispatch asked. It survives a trip through a file.
    """

    project: str
    task_id: str
    source: str
    seat: str
    text: str
    unsolicited: bool = False
    verdict: str = ""
    summary: str = ""
    commit: str = ""
    title: str = ""
    sweep: int | None = None
    session_id: str = ""

    def as_fields(self) -> dict[str, object]:
        """Return the object that an intent keeps."""
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = (
    *("project", "task_id", "source", "seat", "text", "unsolicited"),
    *("verdict", "summary", "commit", "title", "sweep", "session_id"),
)
