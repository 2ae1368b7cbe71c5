"""The check of what waits to be done: things that failed too often and were set aside. Reads only."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.app.doctor.checks import Check, capped, warning
from oracle.app.doctor.patient import Patient
from oracle.store import inbox


def check_set_aside(patient: Patient) -> Iterator[Check]:
    """Name what was given up after its tries, with the last error."""
    yield from capped(
        warning(
            "set aside",
            f"{entry.kind} {' '.join(filter(None, entry.subject))}: given up after {entry.tries} tries; {entry.last_error}",
            f"oracle resume tries it again; rm {path} forgets it",
        )
        for path, entry in inbox.set_aside(patient.root)
    )
