"""What the shell offers for arguments and options, asked of the index as it stands.

A shell asks at every press of a key: nothing is brought up to date here, nothing is printed, and whatever goes wrong is an
empty offer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import typer

Offer = Callable[[typer.Context, str], list[str]]


CHECK_NAMES = ("orphans", "unresolved", "stale", "review")
"""What `oracle check` looks for."""


def words(*choices: str) -> Offer:
    """Return the offer of a fixed set of words."""

    def offer(_: typer.Context, incomplete: str) -> list[str]:
        return _beginning(choices, incomplete)

    return offer


def _of_index(what: str) -> Offer:
    """Return the offer of the names of one kind that records bear."""

    def offer(context: typer.Context, incomplete: str) -> list[str]:
        return _ask(context, what, incomplete)

    return offer


projects = _of_index("project")
seats = _of_index("seat")
kinds = _of_index("kind")
authors = _of_index("author")
slugs = _of_index("slug")
targets = _of_index("target")
tasks = _of_index("task")
facts = _of_index("fact")
sessions = _of_index("session")
members = _of_index("member")
handoffs = _of_index("handoff")
decisions = _of_index("decision")
peers = _of_index("peer")
states = _of_index("state")
scanners = _of_index("scanner")
roles = _of_index("role")
step_statuses = _of_index("step status")
statuses = _of_index("status")
types = _of_index("edge type")
namespaces = _of_index("namespace")
own_kinds = _of_index("own kind")


def listed(offer: Offer) -> Offer:
    """Return the offer of a list with commas between its words: what stands before the last comma is kept."""

    def offer_last(context: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = before.split(",")
        return [f"{before}{comma}{word}" for word in offer(context, last) if word not in given]

    return offer_last


def checks(_: typer.Context, incomplete: str) -> list[str]:
    """Offer what `oracle check` looks for."""
    return _beginning(CHECK_NAMES, incomplete)


def shown(context: typer.Context, incomplete: str) -> list[str]:
    """Offer what `oracle show` prints: records, entities and facts."""
    return [*targets(context, incomplete), *facts(context, incomplete)]


def _beginning(choices: Iterable[str], incomplete: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(incomplete)]


def _ask(context: typer.Context, what: str, incomplete: str) -> list[str]:
    try:
        from oracle.app.context import Context
        from oracle.app.overview import completion

        with Context.open(_memory_dir(context)) as root:
            found = completion.offer(root, what, incomplete, project=context.params.get("project") or "")
            return [word for word in found if word.isprintable()]
    except Exception:  # noqa: BLE001 -- in the middle of a line that is being typed there is nobody to tell
        return []


def _memory_dir(context: typer.Context) -> str | None:
    """Return the Root that the words typed so far name, those behind the command word first."""
    level: typer.Context | None = context
    while level is not None:
        if level.params.get("memory_dir"):
            return str(level.params["memory_dir"])
        level = level.parent  # type: ignore[assignment]
    return None
