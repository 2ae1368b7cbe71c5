"""The owner's rules of what must not leave: `machine/privacy.md`, each pattern compiled by RE2, which takes linear time. Read only.

A pattern that can't be used is an error, not an absent rule: what its owner meant to block would leave.
"""

from __future__ import annotations

import os

from oracle.domain.privacy import Rule, read_rules
from oracle.errors import RulesUnusable
from oracle.store.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from oracle.domain.privacy import Stated

NAME = "privacy.md"
_MOST_BYTES = 1 << 18
_LONGEST = 2000
_MOST_MEMORY = 8 << 20  # bytes that RE2 may take for one pattern
_SPECIAL = frozenset("\\.+^$|()[]{}")


class _Pattern:
    """A pattern of RE2's."""

    __slots__ = ("_compiled",)

    def __init__(self, compiled: Any) -> None:  # noqa: ANN401 -- the library has no types
        self._compiled = compiled

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where the pattern stands, left to right, never empty."""
        for found in self._compiled.finditer(text.encode("utf-8", "replace").decode("utf-8")):
            if found.end() > found.start():
                yield found.span()


def load(root: Root) -> tuple[Rule, ...]:
    """Return the rules of a Root, () when it has none. Raises RulesUnusable for a file or a pattern that can't be used."""
    path = f"{root.machine}/{NAME}"
    if not _is_there(root, path):
        return ()
    from oracle.store import steps  # most Roots have no such file, and every write comes by

    raw = steps.read(path)
    if raw is None and os.path.islink(path):
        raise _link_to_nothing()
    raw = raw or b""
    if len(raw) > _MOST_BYTES:
        raise RulesUnusable(
            say("machine/{name} is too large to be read.", name=NAME), hint=say("Keep it below 256 KiB.")
        )
    return tuple(Rule(f"{NAME}:{item.line}", _compile(item)) for item in read_rules(_decode(raw)))


def _is_there(root: Root, path: str) -> bool:
    """Tell whether there are rules. Raises RulesUnusable where that can't be seen."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        if os.path.islink(root.machine) and not os.path.isdir(root.machine):
            raise _link_to_nothing() from None
        return False
    except OSError as error:
        raise RulesUnusable(
            say("{path} can't be read: {reason}.", path=path, reason=error.strerror or str(error)),
            hint=say("Check its owner and mode (`oracle doctor`)."),
        ) from error
    return True


def _link_to_nothing() -> RulesUnusable:
    return RulesUnusable(
        say("machine/{name} is a link to nothing, so nothing is let through.", name=NAME), hint=say("Mend the link.")
    )


def _decode(raw: bytes) -> str:
    """Return the text of the rules. Raises RulesUnusable: of a text in another encoding no rule would be seen."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise RulesUnusable(
            say("machine/{name}:{line} is no UTF-8, so nothing is let through.", name=NAME, line=line),
            hint=say("Write the file in UTF-8."),
        ) from error


def _compile(item: Stated) -> _Pattern:
    import re2

    if item.is_unclear:
        raise RulesUnusable(
            say(
                "machine/{name}:{line} looks like a rule and can't be read as one, so nothing is let through.",
                name=NAME,
                line=item.line,
            ),
            hint=say("Write `BLOCK: ` and a regular expression, or an item of a list; close what is fenced."),
        )
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    options.case_sensitive = not item.is_glob
    expression = _expression(item.pattern) if item.is_glob else item.pattern
    try:
        compiled = re2.compile(expression, options) if len(expression) <= _LONGEST else None
    except re2.error:
        compiled = None
    if compiled is None:
        raise RulesUnusable(
            say(
                "machine/{name}:{line} states a pattern that can't be used, so nothing is let through.",
                name=NAME,
                line=item.line,
            ),
            hint=say("Write it in the syntax of RE2 (no look-around, no back-references), at most 2000 characters."),
        )
    if compiled.fullmatch("") is not None:
        raise RulesUnusable(
            say("machine/{name}:{line} states a pattern that stands in every text.", name=NAME, line=item.line),
            hint=say("Say more in it."),
        )
    return _Pattern(compiled)


def _expression(glob: str) -> str:
    """Return the regular expression of a text with `*` (anything but a blank) and `?` (one character) in it."""
    parts = {"*": r"\S*", "?": "."}
    return "".join(parts.get(char) or (f"\\{char}" if char in _SPECIAL else char) for char in glob)
