"""Complete arguments and options in the shell, from the index as it is.

A shell asks at every press of a key. So nothing is brought up to date or printed here, and every failure is an empty offer.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, redirect_stdout
from io import StringIO

import typer

from oracle.domain.values import value

Offer = Callable[[typer.Context, str], list[str]]


CHECK_NAMES = ("orphans", "unresolved", "stale", "review")
"""What `oracle check` looks for."""


def words(*choices: str) -> Offer:
    """Return the offer of a fixed set of words."""

    def offer(_: typer.Context, incomplete: str) -> list[str]:
        return _beginning(choices, incomplete)

    return offer


def _of_index(what: str) -> Offer:
    """Return the offer of the names of one kind that records have."""

    def offer(context: typer.Context, incomplete: str) -> list[str]:
        return _ask(context, what, incomplete)

    return offer


projects = _of_index("project")
seats = _of_index("seat")
kinds = _of_index("kind")
authors = _of_index("author")
slugs = _of_index("slug")
targets = _of_index("target")
tasks = _of_index("task")
facts = _of_index("fact")
sessions = _of_index("session")
members = _of_index("member")
handoffs = _of_index("handoff")
decisions = _of_index("decision")
peers = _of_index("peer")
states = _of_index("state")
scanners = _of_index("scanner")
roles = _of_index("role")
step_statuses = _of_index("step status")
statuses = _of_index("status")
types = _of_index("edge type")
namespaces = _of_index("namespace")
own_kinds = _of_index("own kind")


def listed(offer: Offer) -> Offer:
    """Return the offer of a list with commas between its words: what precedes the last comma is kept."""

    def offer_last(context: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = before.split(",")
        return [f"{before}{comma}{word}" for word in offer(context, last) if word not in given]

    return offer_last


def checks(_: typer.Context, incomplete: str) -> list[str]:
    """Offer what `oracle check` looks for."""
    return _beginning(CHECK_NAMES, incomplete)


def shown(context: typer.Context, incomplete: str) -> list[str]:
    """Offer what `oracle show` prints: records, entities and facts."""
    return [*targets(context, incomplete), *facts(context, incomplete)]


def _beginning(choices: Iterable[str], incomplete: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(incomplete)]


def _ask(context: typer.Context, what: str, incomplete: str) -> list[str]:
    try:
        from oracle.app.context import Context
        from oracle.app.overview import completion

        with Context.open(_memory_dir(context)) as root:
            found = completion.offer(root, what, incomplete, project=context.params.get("project") or "")
            return [word for word in found if word.isprintable()]
    except Exception:  # noqa: BLE001 -- in the middle of a line that is being typed there is nobody to tell
        return []


def _memory_dir(context: typer.Context) -> str | None:
    """Return the Root that the words typed so far name, those behind the command word first."""
    level: typer.Context | None = context
    while level is not None:
        if level.params.get("memory_dir"):
            return str(level.params["memory_dir"])
        level = level.parent  # type: ignore[assignment]
    return None


# What bash hands over and takes
#
# It hands over `COMP_WORDS`, a word a line with its quotes and backslashes, parted at each `:`, `=` and `@` besides, and
# `COMP_CWORD`, the number of the word being typed (bash's manual, "Programmable Completion"; `COMP_WORDBREAKS` holds these
# characters unless somebody took them out). An offer replaces what follows the last `:` or `=`, from the last
# `@` on, or behind the quote that is open. Other shells part nothing and quote by themselves.

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
    """Let what runs inside see whole words, and write each offer that it prints as `Typed.offer` does for bash."""
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
    """Return the words that these parts make, and the number of the one with part `at`."""
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
