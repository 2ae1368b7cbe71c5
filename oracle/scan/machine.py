"""The scanners of a machine: what each is called, which run by default, and how one that fails is told apart.

A scan starts no program and asks no network unless it is told to.
"""

from __future__ import annotations

import os
from importlib import import_module

from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Content = dict[str, object]
"""What a scanner found, as JSON."""


@value
class Machine:
    """What is scanned: a home with its environment; `asks_network` and `keeps_values` are what the caller allowed."""

    home: str
    environ: Mapping[str, str]
    scanned_at: str
    asks_network: bool = False
    keeps_values: bool = False

    def path(self, *parts: str) -> str:
        """Return a path below the home."""
        return os.path.join(self.home, *parts)


@value
class Found:
    """The outcome of one scanner: what it found, or why it failed."""

    name: str
    content: Content | None
    error: str = ""


SCANNERS = {
    "system": "surroundings:scan_system",
    "environment": "surroundings:scan_environment",
    "credentials": "credentials:scan_credentials",
    "openclaw": "tools:scan_openclaw",
    "gstack": "tools:scan_gstack",
    "clawseat": "tools:scan_clawseat",
    "repos": "git:scan_repos",
    "network": "surroundings:scan_network",
    "github": "git:scan_github",
    "current_context": "surroundings:scan_current_context",
}
"""The module of this package and the function behind each scanner."""

DEFAULT = ("credentials", "network", "openclaw", "github", "current_context")
"""What is scanned unless scanners are named."""

_FAILURES = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What a scanner may trip over in files of others."""


def run(machine: Machine, names: Sequence[str]) -> Iterator[Found]:
    """Run scanners in turn; one that fails hides no other, and says what it tripped over, never a value."""
    for name in names:
        module, function = SCANNERS[name].split(":")
        scanner = getattr(import_module(f"oracle.scan.{module}"), function)
        try:
            found = {"scanned_at": machine.scanned_at, **scanner(machine)}
        except _FAILURES as error:
            reason = f"{error.strerror} ({error.filename})" if isinstance(error, OSError) else "unexpected content"
            yield Found(name, None, f"{type(error).__name__}: {reason}")
            continue
        yield Found(name, found)


def names_in(folder: str) -> list[str]:
    """Return the visible names of a folder in order; [] where there is none."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []
