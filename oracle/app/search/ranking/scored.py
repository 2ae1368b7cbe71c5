"""A passage with the points that each signal gave it. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.search.ranking.pages import RecordPage

MEANING = "meaning"
"""The signal of the vectors."""


class Scored:
    """Passage `at` of a page; `source` is the number of its record, `terms` those of the terms in its text or title.

    `run` are the passages that make up its hit, where they are chosen already.
    """

    __slots__ = ("at", "page", "parts", "run", "score", "source", "terms")

    def __init__(self, source: int, page: RecordPage, at: int, terms: frozenset[int] = frozenset()) -> None:
        self.source = source
        self.page = page
        self.at = at
        self.terms = terms
        self.parts: dict[str, float] = {}
        self.score = 0.0
        self.run: range | None = None

    def add(self, signal: str, points: float) -> None:
        """Add what a signal gives or takes."""
        if points:
            self.parts[signal] = self.parts.get(signal, 0.0) + points
            self.score += points


def best_first(found: Sequence[Scored]) -> list[Scored]:
    """Return passages by their scores, equal ones by record and place, so that the order is always the same."""
    return sorted(found, key=lambda one: (-one.score, one.source, one.at))
