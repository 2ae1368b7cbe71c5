"""Make the words whole and plain that bash hands over as they are typed, and write offers so that bash reads them as meant.

What bash hands over is `COMP_WORDS`, a word a line with its quotes and backslashes, parted at each `:`, `=` and `@` besides, and
`COMP_CWORD`, the number of the word being typed (bash's manual, "Programmable Completion"; `COMP_WORDBREAKS` holds these
characters unless somebody took them out). An offer takes the place of what stands behind the last `:` or `=`, from the last `@` on,
or behind the quote that is open. Other shells part nothing and quote by themselves.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, redirect_stdout
from io import StringIO

from oracle.domain.values import value

_BREAKS = ":=@"
_READ = re.compile(r"[\s\"'()&;|<>$`\\*?\[\]{}!]|^[#~]")
"""What bash reads as something else than itself."""
_READ_IN_QUOTES = re.compile(r'["$`\\]')


@value
class Typed:
    """A word as it is meant, where in it that begins which an offer takes the place of, and the quote that is open."""

    text: str
    start: int
    quote: str

    def offer(self, word: str) -> str:
        """Return a word as bash is to put it in, with what is typed before taken off."""
        rest = word.removeprefix(self.text[: self.start])
        if self.quote == "'":
            return rest.replace("'", "'\\''")
        if self.quote:
            return _READ_IN_QUOTES.sub(r"\\\g<0>", rest).replace("!", '"\\!"')
        return _READ.sub(r"\\\g<0>", rest)


@contextmanager
def whole_words(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Let what runs inside see whole words; each offer that it prints is told to bash as `Typed.offer` writes it."""
    handed = environ.get("COMP_WORDS", "").split("\n")
    is_bash = environ.get("_ORACLE_COMPLETE") == "complete_bash" and environ.get("COMP_CWORD", "").isdecimal()
    if not is_bash or len(handed) < 2:
        yield
        return
    parts, at = join(handed, int(environ["COMP_CWORD"]))
    words = [read(part) for part in parts]
    environ["COMP_WORDS"], environ["COMP_CWORD"] = "\n".join(shlex.quote(word.text) for word in words), str(at)
    typed = words[at] if at < len(words) else read("")
    try:
        with redirect_stdout(StringIO()) as offered:
            yield
    finally:
        sys.stdout.write("".join(f"{typed.offer(line)}\n" for line in offered.getvalue().splitlines()))


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


def read(raw: str) -> Typed:
    """Read a word as bash does: backslashes, and quotes of both kinds, the last of which may be open."""
    text, start, quote, is_escaped = "", 0, "", False
    for char in raw:
        if is_escaped:
            text += char if not quote or char in '$`"\\' else f"\\{char}"
            is_escaped = False
        elif char == "\\" and quote != "'":
            is_escaped = True
        elif char == quote:
            quote = ""
        elif char in "'\"" and not quote:
            quote, start = char, len(text)
        else:
            text += char
            start = len(text) - (char == "@") if char in _BREAKS and not quote else start
    return Typed(text, start, quote)


def _is_break(part: str) -> bool:
    return bool(part) and not part.strip(_BREAKS)
