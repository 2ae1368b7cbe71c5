"""What a Root or a project may configure of link extraction."""

from __future__ import annotations

from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


@value
class Patterns:
    """What a Root or project configures: task prefixes (None: any but well-known standards) and component suffixes.

    Raises UsageError for a suffix that is not a letter followed by letters, digits and `_`.
    """

    task_prefixes: frozenset[str] | None = None
    component_suffixes: tuple[str, ...] = ("Phasic", "Physics", "View", "Engine", "Layer", "Component")

    def __new__(cls, task_prefixes: frozenset[str] | None = None, component_suffixes: tuple[str, ...] = ()) -> Self:
        """Refuse a bad suffix; the fields are set afterwards."""
        for suffix in component_suffixes:
            if not (suffix.isascii() and suffix[:1].isalpha() and suffix.replace("_", "0").isalnum()):
                raise UsageError(
                    say("{suffix!r} can't be a component suffix.", suffix=suffix),
                    hint=say("Use a letter followed by letters, digits and '_'."),
                )
        return object.__new__(cls)


DEFAULT_PATTERNS = Patterns()
