"""Dates in questions and in records, and how well they go together. Pure.

A record often describes the days before it, so one of the days after a day that is asked for is nearly as good.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from oracle.domain.compiling import compiled
from oracle.domain.values import value

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAY = (
    r"(?i)(?:\b(?P<before>\d{1,2})(?:st|nd|rd|th)? (?:of )?)?\b(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may"
    r"|june?|july?|aug(?:ust)?|sept?|september|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
    r"(?: (?P<after>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? ?(?P<year>\d{4}))?"
    r"|(?P<iso>\d{4})[-/.年](?P<number>\d{1,2})(?:[-/.月](?P<day>\d{1,2}))?|\b(?P<alone>(?:19|20)\d\d)\b"
)
_DAYS_AFTER = 8


@value
class Day:
    """A day, month or year. A part that was not given is 0."""

    year: int
    month: int
    day: int


def days_in(text: str) -> list[Day]:
    """Return the dates in a text; `may` without a day or year beside it is a word, not a month."""
    found: list[Day] = []
    for match in compiled(_DAY).finditer(text):
        day = int(match["before"] or match["after"] or match["day"] or 0)
        year = int(match["year"] or match["iso"] or match["alone"] or 0)
        month = _MONTHS.index(match["month"][:3].casefold()) + 1 if match["month"] else int(match["number"] or 0)
        is_word = match["month"] in ("may", "march", "mar") and not (day or year)
        if not is_word and day <= 31 and month <= 12:
            found.append(Day(year, month, day))
    return found


def nearness(asked: Iterable[Day], stated: Sequence[Day]) -> float:
    """Return how well the dates of a record go with those of a question, 0 to 1."""
    return max((_near(one, other) for one in asked for other in stated), default=0.0)


def _near(asked: Day, stated: Day) -> float:
    if asked.year and stated.year and asked.year != stated.year and abs(asked.year - stated.year) > 1:
        return 0.0
    same_year = not (asked.year and stated.year) or asked.year == stated.year
    if not asked.month:
        return 0.2 if same_year else 0.0
    if not stated.month:
        return 0.0
    if asked.day and stated.day:
        return _near_days(asked, stated)
    if not same_year:
        return 0.0
    if asked.month == stated.month:
        return 0.7
    return 0.3 if stated.month == asked.month % 12 + 1 and 0 < stated.day <= _DAYS_AFTER else 0.0


def _near_days(asked: Day, stated: Day) -> float:
    year = asked.year or stated.year or 2000
    try:
        after = (date(stated.year or year, stated.month, stated.day) - date(year, asked.month, asked.day)).days
    except ValueError:
        return 0.0
    if after == 0:
        return 1.0
    if 0 < after <= _DAYS_AFTER:
        return 0.5
    return 0.1 if asked.month == stated.month and abs(after) < 31 else 0.0
