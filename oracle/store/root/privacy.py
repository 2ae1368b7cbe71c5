"""Read the owner's rules of what must not leave: `machine/privacy.md`. RE2 matches each pattern in linear time.

A pattern that can't be used is an error: without it, what its owner meant to block would leave. All patterns are parsed. One that
requires certain literals is compiled only when a text holds one of them, since compiling may take 20 ms.
"""

from __future__ import annotations

import os
import re
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache

from oracle.domain.compiling import compiled
from oracle.domain.safety.privacy import OwnerRule, read_rules
from oracle.errors import RulesUnusable
from oracle.store.root.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from oracle.domain.safety.privacy import RuleLine


NAME = "privacy.md"
_MOST_BYTES = 1 << 18
_LONGEST = 2000
_MOST_MEMORY = 8 << 20  # bytes that RE2 may take for one pattern
_BLANK = r"(?:[\s\x{a0}\x{3000}*_+-]|%20|&nbsp;)*"
"""What a blank of a text may be: any blank, a mark of file names, of emphasis or of a URL, or nothing."""
_SPECIAL = frozenset("\\.+^$|()[]{}")


@lru_cache(maxsize=1)  # a thousand rules look at the same text
def _readings(text: str) -> tuple[str, str]:
    """Return a text as RE2 reads it, and the same case-folded."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return plain, plain.casefold()


class OwnerPattern:
    """A pattern of a line. It is compiled when a text first holds a literal that it requires."""

    def __init__(self, line: RuleLine) -> None:
        """Parse the pattern, and compile it if it requires no literal. Raises RulesUnusable."""
        self._line = line
        self._literals = required_literals(_expression_of(line))
        if self._literals:
            _parse(line)
        else:
            self.require()

    @cached_property
    def _compiled(self) -> Any:  # noqa: ANN401 -- the library has no types
        return _compile(self._line)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the places of the pattern, left to right, none empty. Raises RulesUnusable."""
        plain, folded = _readings(text)
        if self._literals and not any(literal in folded for literal in self._literals):
            return
        for found in self._compiled.finditer(plain):
            if found.end() > found.start():
                yield found.span()

    def require(self) -> None:
        """Compile the pattern. Raises RulesUnusable for one that takes too much memory."""
        _ = self._compiled


def load(root: Root) -> tuple[OwnerRule, ...]:
    """Return the rules of a Root, () if it has none. Raises RulesUnusable for a file or a pattern that can't be used."""
    path = f"{root.machine}/{NAME}"
    if not _is_there(root, path):
        return ()
    from oracle.store.disk import steps  # most Roots have no such file, and every write comes by

    raw = steps.read(path)
    if raw is None and os.path.islink(path):
        raise _broken_link()
    raw = raw or b""
    if len(raw) > _MOST_BYTES:
        raise RulesUnusable(
            say("machine/{name} is too large to be read.", name=NAME), hint=say("Keep it below 256 KiB.")
        )
    return tuple(OwnerRule(f"{NAME}:{line.line}", OwnerPattern(line)) for line in read_rules(_decode(raw)))


def require_usable(root: Root) -> None:
    """Compile every rule of a Root, also those that no text needs. Raises RulesUnusable for the first that can't be used."""
    for rule in load(root):
        rule.matcher.require()


def _is_there(root: Root, path: str) -> bool:
    """Return whether there are rules. Raises RulesUnusable if that can't be determined."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        if os.path.islink(root.machine) and not os.path.isdir(root.machine):
            raise _broken_link() from None
        return False
    except OSError as error:
        raise RulesUnusable(
            say("{path} can't be read: {reason}.", path=path, reason=error.strerror or str(error)),
            hint=say("Check its owner and mode (`oracle doctor`)."),
        ) from error
    return True


def _broken_link() -> RulesUnusable:
    return RulesUnusable(
        say("machine/{name} is a link to nothing, so no text can be checked.", name=NAME), hint=say("Repair the link.")
    )


def _decode(raw: bytes) -> str:
    """Return the text of the rules. Raises RulesUnusable for another encoding, in which no rule would be found."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise RulesUnusable(
            say("machine/{name}:{line} is not UTF-8, so no text can be checked.", name=NAME, line=line),
            hint=say("Write the file in UTF-8."),
        ) from error


def _options(line: RuleLine) -> Any:  # noqa: ANN401
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    options.case_sensitive = not line.is_text
    return options


def _parse(line: RuleLine) -> None:
    """Parse a pattern, which costs little: a set compiles nothing before it is used."""
    import re2

    try:
        re2.Set.SearchSet(_options(line)).Add(_expression_of(line))
    except re2.error as error:
        raise _unusable(line) from error


def _compile(line: RuleLine) -> Any:  # noqa: ANN401
    import re2

    try:
        compiled = re2.compile(_expression_of(line), _options(line))
    except re2.error as error:
        raise _unusable(line) from error
    if compiled.fullmatch("") is not None:
        raise RulesUnusable(
            say("The pattern in machine/{name}:{line} matches every text.", name=NAME, line=line.line),
            hint=say("Make the pattern more specific."),
        )
    return compiled


def _unusable(line: RuleLine) -> RulesUnusable:
    return RulesUnusable(
        say(
            "The pattern in machine/{name}:{line} can't be used, so no text can be checked.", name=NAME, line=line.line
        ),
        hint=say("Write it in the syntax of RE2 (no look-around, no back-references), at most 2000 characters."),
    )


def _expression_of(line: RuleLine) -> str:
    """Return the regular expression of a rule. Raises RulesUnusable for one that is unclear or too long."""
    if line.is_unclear:
        raise RulesUnusable(
            say(
                "machine/{name}:{line} looks like a rule but is not valid, so no text can be checked.",
                name=NAME,
                line=line.line,
            ),
            hint=say("Write `BLOCK: ` and a regular expression, or an item of a list. Close each fence."),
        )
    expression = _expression(line.pattern) if line.is_glob else line.pattern
    if line.is_text:
        expression = re.sub(r"\s+", lambda _: _BLANK, expression.strip())
    if len(expression) > _LONGEST:
        raise _unusable(line)
    return expression


def _expression(glob: str) -> str:
    """Return the regular expression of a text with `*` (anything but a blank) and `?` (one character) in it."""
    parts = {"*": r"\S*", "?": "."}
    return "".join(parts.get(char) or (f"\\{char}" if char in _SPECIAL else char) for char in glob)


# Literals that an expression requires ----------------------------------------------------------------------------------

_DEEPEST = 40
_MOST = 32
_NO_LITERALS: AbstractSet[str] = frozenset()
_SYNTAX = r"""(?sx)
    (?P<open> \( (?: \? [imsU-]* : | (?!\?) ) )
  | (?P<bar> \| )
  | (?: (?P<close> \) )
      | \( \? [imsU-]+ \)                                                             # flags
      | \[ \^?+ \]?+ (?: \[: [^\]]*? :\] | \\. | [^\]\\\[] | \[ (?!:) )* \]             # a class
      | \\ (?: [pP] (?: \{ [^}]* \} | [^{] ) | [dDwWsSbBAznrtfva] ) | [.^$]           # a class or a place
      | \\ (?P<mark> [\x00-/:-@\[-^`{-\x7f] )
      | (?P<letter> [^*+?{\\()|\[] )
    )
    (?P<repeated> (?: [*+?] | \{ [0-9]{1,4} (?: , [0-9]{0,4} )? \} ) \?? (?! [*+?{] ) )?
"""


class _Sequence:
    """What was read of a sequence and of its alternatives: the best literals so far, and the letters in a row at its end."""

    __slots__ = ("alternatives", "best", "run")

    def __init__(self) -> None:
        self.alternatives: list[AbstractSet[str]] = []
        self.best = _NO_LITERALS
        self.run = ""

    def add(self, literals: AbstractSet[str]) -> None:
        """Keep the best of the literals so far, the letters in a row, and those of another part."""
        self.best = max(self.best, frozenset({self.run} if self.run else ()), literals, key=_worth)
        self.run = ""

    def end(self) -> None:
        """End one of several alternatives."""
        self.add(_NO_LITERALS)
        self.alternatives.append(self.best)
        self.best = _NO_LITERALS

    def literals(self) -> AbstractSet[str]:
        """Return the literals of all alternatives together, none if an alternative has none."""
        self.end()
        together = frozenset().union(*self.alternatives)
        return together if all(self.alternatives) and len(together) <= _MOST else _NO_LITERALS


def required_literals(expression: str) -> AbstractSet[str]:
    r"""Return case-folded texts of which one is in each case-folded text that the expression matches, none if unknown.

    It reads the common part of RE2's syntax. `re2.Filter` knows such literals too, but it compiles an expression to add it:
    35 ms for one with `\pL{1,20}`, where this takes 20 µs.
    """
    open_ = [_Sequence()]
    at = 0
    while at < len(expression):
        token = compiled(_SYNTAX).match(expression, at)
        if token is None or len(open_) > _DEEPEST:
            return _NO_LITERALS
        at = token.end()
        if token["open"]:
            open_.append(_Sequence())
        elif token["bar"]:
            open_[-1].end()
        elif token["close"] and len(open_) == 1:
            return _NO_LITERALS
        else:
            literals = open_.pop().literals() if token["close"] else _NO_LITERALS
            _add_part(open_[-1], token, literals)
    return open_[0].literals() if len(open_) == 1 else _NO_LITERALS


def _add_part(sequence: _Sequence, token: re.Match[str], literals: AbstractSet[str]) -> None:
    """Add a letter, a group with its literals, or a part that requires none, as often as it is repeated."""
    repeated = token["repeated"] or ""
    is_required = not repeated.startswith(("*", "?")) and compiled(r"\{0+[,}]").match(repeated) is None
    letter = token["mark"] or (token["letter"] or "").casefold()
    if letter and is_required:
        sequence.run += letter
    if repeated or not letter:
        sequence.add(literals if is_required else _NO_LITERALS)


def _worth(literals: AbstractSet[str]) -> tuple[int, int]:
    """Prefer longer literals, then fewer of them. None is worth least."""
    return (min(map(len, literals)), -len(literals)) if literals else (0, 0)
