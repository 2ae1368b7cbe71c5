r"""Find the literals that a regular expression requires: one of them occurs wherever the expression matches.

To search for these first is cheap. Without a hit the expression need not be compiled. `re2.Filter` knows such literals
too, but it compiles an expression to add it: 35 ms for one with `\pL{1,20}`, where this takes 20 µs.

This reads the common part of RE2's syntax. Of an expression with anything else in it, it claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from oracle.domain.compiling import compiled

_DEEPEST = 40
_MOST = 32
_NOTHING: AbstractSet[str] = frozenset()
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
        self.best = _NOTHING
        self.run = ""

    def add(self, literals: AbstractSet[str]) -> None:
        """Keep the best of the literals so far, the letters in a row, and those of another part."""
        self.best = max(self.best, frozenset({self.run} if self.run else ()), literals, key=_worth)
        self.run = ""

    def end(self) -> None:
        """End one of several alternatives."""
        self.add(_NOTHING)
        self.alternatives.append(self.best)
        self.best = _NOTHING

    def literals(self) -> AbstractSet[str]:
        """Return the literals of all alternatives together, none if an alternative has none."""
        self.end()
        together = frozenset().union(*self.alternatives)
        return together if all(self.alternatives) and len(together) <= _MOST else _NOTHING


def required_literals(expression: str) -> AbstractSet[str]:
    """Return case-folded texts of which one is in each case-folded text that the expression matches, none if unknown."""
    open_ = [_Sequence()]
    at = 0
    while at < len(expression):
        token = compiled(_SYNTAX).match(expression, at)
        if token is None or len(open_) > _DEEPEST:
            return _NOTHING
        at = token.end()
        if token["open"]:
            open_.append(_Sequence())
        elif token["bar"]:
            open_[-1].end()
        elif token["close"] and len(open_) == 1:
            return _NOTHING
        else:
            literals = open_.pop().literals() if token["close"] else _NOTHING
            _add_part(open_[-1], token, literals)
    return open_[0].literals() if len(open_) == 1 else _NOTHING


def _add_part(sequence: _Sequence, token: re.Match[str], literals: AbstractSet[str]) -> None:
    """Add a letter, a group with its literals, or a part that requires none, as often as it is repeated."""
    repeated = token["repeated"] or ""
    is_required = not repeated.startswith(("*", "?")) and compiled(r"\{0+[,}]").match(repeated) is None
    letter = token["mark"] or (token["letter"] or "").casefold()
    if letter and is_required:
        sequence.run += letter
    if repeated or not letter:
        sequence.add(literals if is_required else _NOTHING)


def _worth(literals: AbstractSet[str]) -> tuple[int, int]:
    """Prefer longer literals, then fewer of them. None is worth least."""
    return (min(map(len, literals)), -len(literals)) if literals else (0, 0)
