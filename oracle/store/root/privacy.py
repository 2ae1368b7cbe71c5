"""The owner's rules of what must not leave: `machine/privacy.md`, each pattern RE2's, which takes linear time. Read only.

A pattern that can't be used is an error, not an absent rule: what its owner meant to block would leave. All are parsed; one that
can stand only where a certain text stands is compiled when that is seen, since a heavy one takes 20 ms.
"""

from __future__ import annotations

import os

from oracle.domain.safety.privacy import Rule, read_rules
from oracle.domain.safety.required_literals import required_literals
from oracle.errors import RulesUnusable
from oracle.store.root.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Any

    from oracle.domain.safety.privacy import Stated

NAME = "privacy.md"
_MOST_BYTES = 1 << 18
_LONGEST = 2000
_MOST_MEMORY = 8 << 20  # bytes that RE2 may take for one pattern
_SPECIAL = frozenset("\\.+^$|()[]{}")


class _Reading:
    """The text that was looked at last, as RE2 reads it, and case-folded: a thousand rules look at one after another."""

    __slots__ = ("_text", "folded", "plain")

    def __init__(self) -> None:
        self._text = self.plain = self.folded = ""

    def see(self, text: str) -> None:
        """Take another text, unless it is the one that was looked at last."""
        if self._text is not text:
            self._text = text
            self.plain = text.encode("utf-8", "replace").decode("utf-8")
            self.folded = self.plain.casefold()


class _Pattern:
    """A pattern of RE2's; one of which it is known what it needs is compiled when that first stands in a text."""

    __slots__ = ("_compiled", "_item", "_literals", "_reading")

    def __init__(self, item: Stated, literals: AbstractSet[str], reading: _Reading) -> None:
        self._item = item
        self._literals = literals
        self._reading = reading
        self._compiled: Any = None if literals else _compile(item)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where the pattern stands, left to right, never empty. Raises RulesUnusable."""
        reading = self._reading
        reading.see(text)
        if self._literals and not any(literal in reading.folded for literal in self._literals):
            return
        self.require()
        for found in self._compiled.finditer(reading.plain):
            if found.end() > found.start():
                yield found.span()

    def require(self) -> None:
        """Compile the pattern. Raises RulesUnusable for one that takes too much memory."""
        if self._compiled is None:
            self._compiled = _compile(self._item)


def load(root: Root) -> tuple[Rule, ...]:
    """Return the rules of a Root, () when it has none. Raises RulesUnusable for a file or a pattern that can't be used."""
    path = f"{root.machine}/{NAME}"
    if not _is_there(root, path):
        return ()
    from oracle.store.disk import steps  # most Roots have no such file, and every write comes by

    raw = steps.read(path)
    if raw is None and os.path.islink(path):
        raise _link_to_nothing()
    raw = raw or b""
    if len(raw) > _MOST_BYTES:
        raise RulesUnusable(
            say("machine/{name} is too large to be read.", name=NAME), hint=say("Keep it below 256 KiB.")
        )
    return _understand(read_rules(_decode(raw)))


def _understand(stated: Sequence[Stated]) -> tuple[Rule, ...]:
    """Return the rules that lines state, each parsed, and compiled where it is not known what a text needs for it."""
    import re2

    found: list[Rule] = []
    grammars = [
        re2.Set.SearchSet(_options(is_glob=is_glob)) for is_glob in (False, True)
    ]  # these parse, and never match
    reading = _Reading()
    for item in stated:
        expression = _expression_of(item)
        try:
            grammars[item.is_glob].Add(expression)
        except re2.error as error:
            raise _unusable(item) from error
        found.append(Rule(f"{NAME}:{item.line}", _Pattern(item, required_literals(expression), reading)))
    return tuple(found)


def require_usable(root: Root) -> None:
    """Compile every rule of a Root. Raises RulesUnusable for the first that can't be used, though no text may ever need it."""
    for rule in load(root):
        rule.matcher.require()


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


def _options(*, is_glob: bool) -> Any:  # noqa: ANN401 -- the library has no types
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    options.case_sensitive = not is_glob
    return options


def _compile(item: Stated) -> Any:  # noqa: ANN401
    import re2

    try:
        compiled = re2.compile(_expression_of(item), _options(is_glob=item.is_glob))
    except re2.error as error:
        raise _unusable(item) from error
    if compiled.fullmatch("") is not None:
        raise RulesUnusable(
            say("machine/{name}:{line} states a pattern that stands in every text.", name=NAME, line=item.line),
            hint=say("Say more in it."),
        )
    return compiled


def _unusable(item: Stated) -> RulesUnusable:
    return RulesUnusable(
        say(
            "machine/{name}:{line} states a pattern that can't be used, so nothing is let through.",
            name=NAME,
            line=item.line,
        ),
        hint=say("Write it in the syntax of RE2 (no look-around, no back-references), at most 2000 characters."),
    )


def _expression_of(item: Stated) -> str:
    """Return the regular expression of a rule. Raises RulesUnusable for one that is unclear or too long."""
    if item.is_unclear:
        raise RulesUnusable(
            say(
                "machine/{name}:{line} looks like a rule and can't be read as one, so nothing is let through.",
                name=NAME,
                line=item.line,
            ),
            hint=say("Write `BLOCK: ` and a regular expression, or an item of a list; close what is fenced."),
        )
    expression = _expression(item.pattern) if item.is_glob else item.pattern
    if len(expression) > _LONGEST:
        raise _unusable(item)
    return expression


def _expression(glob: str) -> str:
    """Return the regular expression of a text with `*` (anything but a blank) and `?` (one character) in it."""
    parts = {"*": r"\S*", "?": "."}
    return "".join(parts.get(char) or (f"\\{char}" if char in _SPECIAL else char) for char in glob)
