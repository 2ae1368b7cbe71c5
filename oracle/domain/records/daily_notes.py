"""Which sentences of daily notes belong in long-term memory. Pure, and a proposal: a person or an agent decides."""

from __future__ import annotations

import re
from functools import cache

from oracle.domain import tables
from oracle.domain.records.remembered import find_objection
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHORTEST, _LONGEST = 12, 400
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])?[ \t]*(?:\[[ xX]\][ \t]*)?(.*?)[ \t]*$")
_FENCE = ("```", "~~~")


@value
class DurableSentence:
    """A sentence with the type of memory that it would be, and its line in the note."""

    type: str
    text: str
    line: int


def propose(lines: Sequence[str]) -> Iterator[DurableSentence]:
    """Yield the lines of a note that say something durable. Code, quotations, headings and questions are left out."""
    is_code = False
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
        found = _ITEM.match(line)
        text = found[1] if found else ""
        if is_code or not _is_statement(text) or text.casefold() in seen:
            continue
        memory_type = next(
            (name for name in ("feedback", "project", "reference", "user") if _pattern(name).search(text)), ""
        )
        if memory_type and find_objection(text) is None:
            seen.add(text.casefold())
            yield DurableSentence(memory_type, text, number)


def _is_statement(text: str) -> bool:
    wide = sum(char > "\u2e80" for char in text)
    is_long = len(text) + wide >= _SHORTEST
    return (
        is_long
        and len(text) <= _LONGEST
        and not text.startswith(("#", ">", "|", "<"))
        and not text.endswith(("?", "？"))
    )


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(tables.expand(tables.load("consolidation")["patterns"][name]), re.IGNORECASE)
