"""Bash parts a word at each `:` and `=` before it asks what may follow: make the words whole, and offer what is left to type.

What bash hands over is `COMP_WORDS`, a word a line, and `COMP_CWORD`, the number of the word being typed (bash's manual,
"Programmable Completion"; `COMP_WORDBREAKS` holds both characters unless somebody took them out). Other shells part nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, redirect_stdout
from io import StringIO

_BREAKS = ":="


@contextmanager
def whole_words(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Let what runs inside see whole words; of each offer that it prints bash is told what stands behind the last break."""
    if environ.get("_ORACLE_COMPLETE") != "complete_bash" or not environ.get("COMP_CWORD", "").isdecimal():
        yield
        return
    words, at = join(environ.get("COMP_WORDS", "").split("\n"), int(environ["COMP_CWORD"]))
    environ["COMP_WORDS"], environ["COMP_CWORD"] = "\n".join(words), str(at)
    typed = words[at] if at < len(words) else ""
    try:
        with redirect_stdout(StringIO()) as offered:
            yield
    finally:
        sys.stdout.write("".join(rest(line, typed) for line in offered.getvalue().splitlines(keepends=True)))


def join(parts: list[str], at: int) -> tuple[list[str], int]:
    """Return the words that these parts make, and the number of the one in which part `at` stands."""
    words: list[str] = []
    number = at
    for place, part in enumerate(parts):
        if place > 1 and (_is_break(part) or _is_break(parts[place - 1])):
            words[-1] += part
            number -= place <= at
        else:
            words.append(part)
    return words, number


def rest(offer: str, typed: str) -> str:
    """Return an offer without what bash holds to be typed in words before."""
    last = max(map(typed.rfind, _BREAKS))
    return offer.removeprefix(typed[: last + 1])


def _is_break(part: str) -> bool:
    return bool(part) and not part.strip(_BREAKS)
