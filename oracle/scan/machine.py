"""Scan a machine: the scanners by name, which of them run by default, and what each returns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from oracle.domain.values import value

Content = dict[str, object]
"""What a scanner found, as JSON."""


@value
class Machine:
    """The home and environment to scan, and whether the caller allows the network and the values of credentials."""

    home: str
    environ: Mapping[str, str]
    scanned_at: str
    asks_network: bool = False
    keeps_values: bool = False

    def path(self, *parts: str) -> str:
        """Return a path in the home."""
        return os.path.join(self.home, *parts)


@value
class ScannerResult:
    """What one scanner found, or why it failed."""

    name: str
    content: Content | None
    error: str = ""


SCANNERS = {
    "system": "environment:scan_system",
    "environment": "environment:scan_environment",
    "credentials": "credentials:scan_credentials",
    "openclaw": "environment:scan_openclaw",
    "gstack": "environment:scan_gstack",
    "clawseat": "environment:scan_clawseat",
    "repos": "git:scan_repos",
    "network": "environment:scan_network",
    "github": "git:scan_github",
    "current_context": "environment:scan_current_context",
}
"""Module and function of each scanner."""

DEFAULT = ("credentials", "network", "openclaw", "github", "current_context")
"""The scanners that run unless others are named."""

_FAILURES = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""Errors that the files of others may cause in a scanner."""


def run(machine: Machine, names: Sequence[str]) -> Iterator[ScannerResult]:
    """Run scanners in turn. A failure stops no other scanner, and its reason never contains a value from a file."""
    for name in names:
        module, function = SCANNERS[name].split(":")
        scanner = getattr(import_module(f"oracle.scan.{module}"), function)
        try:
            found = {"scanned_at": machine.scanned_at, **scanner(machine)}
        except _FAILURES as error:
            reason = f"{error.strerror} ({error.filename})" if isinstance(error, OSError) else "unexpected content"
            yield ScannerResult(name, None, f"{type(error).__name__}: {reason}")
            continue
        yield ScannerResult(name, found)


def names_in(folder: str) -> list[str]:
    """Return the names in a folder that do not begin with a dot, in order; [] for a missing folder."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []
