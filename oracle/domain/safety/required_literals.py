"""What must stand in a text for a regular expression to stand there: one of a few short texts. Domain room: pure.

To look for these first is cheap, and whoever finds none of them need not compile the expression. Read is the common part of the
syntax of RE2; of an expression with anything else in it nothing is known, and nothing is claimed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_DEEPEST = 40
_MOST = 32
_NO_TEXT = frozenset("dDwWsSbBAznrtfva")
_FLAGS = frozenset("imsU-")


class _UnknownSyntaxError(Exception):
    """The expression has something in it that is not read here."""


def needles_of(expression: str) -> AbstractSet[str]:
    """Return texts, case-folded, of which one stands in every case-folded text that the expression matches; none if unknown."""
    scan = _Scan(expression)
    try:
        found = scan.read_alternatives(0)
        return found if found and scan.at == len(expression) else frozenset()
    except _UnknownSyntaxError:
        return frozenset()


class _Scan:
    """One reading of an expression, from left to right; `at` is the offset of what comes next."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self) -> str:
        char = self._next()
        self.at += 1
        if not char:
            raise _UnknownSyntaxError
        return char

    def read_alternatives(self, depth: int) -> AbstractSet[str]:
        """Return what one of several alternatives needs, nothing when one of them needs nothing."""
        if depth > _DEEPEST:
            raise _UnknownSyntaxError
        found = [self._read_sequence(depth)]
        while self._next() == "|":
            self.at += 1
            found.append(self._read_sequence(depth))
        together = frozenset().union(*found)
        return together if all(found) and len(together) <= _MOST else frozenset()

    def _read_sequence(self, depth: int) -> AbstractSet[str]:
        """Return the best of what the parts of a sequence need: letters in a row, or what a group needs."""
        best: AbstractSet[str] = frozenset()
        run = ""
        while self._next() not in ("", "|", ")"):
            letter, group = self._read_part(depth)
            least, is_exact = self._read_repetition()
            if letter and least:
                run += letter
                if is_exact:
                    continue
            best, run = _better(best, run), ""
            if group and least:
                best = max(best, group, key=_worth)
        return _better(best, run)

    def _read_part(self, depth: int) -> tuple[str, AbstractSet[str]]:
        """Return the letter that the next part is, or what it needs."""
        char = self._take()
        if char == "(":
            return "", self._read_group(depth)
        if char == "[":
            self._skip_class()
            return "", frozenset()
        if char == "\\":
            return self._read_escape(), frozenset()
        if char in "*+?{":
            raise _UnknownSyntaxError
        return ("" if char in ".^$" else char.casefold()), frozenset()

    def _read_escape(self) -> str:
        char = self._take()
        if char in "pP":
            if self._take() == "{":
                while self._take() != "}":
                    pass
            return ""
        if char in _NO_TEXT:
            return ""
        if not char.isascii() or char.isalnum() or char == "_":
            raise _UnknownSyntaxError
        return char

    def _read_group(self, depth: int) -> AbstractSet[str]:
        if self._next() == "?":
            self.at += 1
            flags = ""
            while self._next() in _FLAGS and self._next():
                flags += self._take()
            end = self._take()
            if end == ")" and flags:
                return frozenset()
            if end != ":":
                raise _UnknownSyntaxError
        found = self.read_alternatives(depth + 1)
        if self._take() != ")":
            raise _UnknownSyntaxError
        return found

    def _skip_class(self) -> None:
        if self._next() == "^":
            self.at += 1
        if self._next() == "]":
            self.at += 1
        while (char := self._take()) != "]":
            if char == "\\":
                self._take()
            elif char == "[" and self._next() == ":":
                end = self.text.find(":]", self.at)
                if end < 0:
                    raise _UnknownSyntaxError
                self.at = end + 2

    def _read_repetition(self) -> tuple[int, bool]:
        """Return how often the part before stands at least, 1 for any more, and whether just once."""
        char = self._next()
        if char not in ("*", "+", "?", "{"):
            return 1, True
        self.at += 1
        least = 1 if char == "+" else 0
        if char == "{":
            end = self.text.find("}", self.at)
            first, _, last = self.text[self.at : end].partition(",")
            if end < 0 or not _is_number(first) or not (_is_number(last) or not last):
                raise _UnknownSyntaxError
            self.at = end + 1
            least = min(int(first), 1)
        if self._next() == "?":
            self.at += 1
        if self._next() in ("*", "+", "{", "?"):
            raise _UnknownSyntaxError
        return least, False


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4


def _better(best: AbstractSet[str], run: str) -> AbstractSet[str]:
    return max(best, frozenset({run}) if run else frozenset(), key=_worth)


def _worth(needles: AbstractSet[str]) -> tuple[int, int]:
    """Prefer what is longer, then what is fewer; nothing is worth least."""
    return (min(map(len, needles)), -len(needles)) if needles else (0, 0)
