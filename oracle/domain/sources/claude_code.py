"""Claude Code's memories: a folder of files, each one memory, and `MEMORY.md`, which lists them. Pure."""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.sources.source import INDEX
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from oracle.wording import Sentence

MOST_LINES, MOST_BYTES = 200, 25 * 1024
"""How much of `MEMORY.md` Claude Code loads. It does not see the rest."""

_LINE = r"^[ \t]*[-*][ \t]+\[[^\]\n]*\]\((?:\./)?([^)\n]+?\.md)\)[^\n]*$"


def without_lines(text: str) -> str:
    """Return the text of `MEMORY.md` without its lines that name a file, which is a record itself; others keep their numbers."""
    return compiled(f"(?m){_LINE}").sub("", text)


def find_faults(text: str | None, files: Collection[str]) -> Iterator[tuple[str, int, Sentence]]:
    """Yield (file, line, fault) of `MEMORY.md` beside the files of its folder; None if there is no such file."""
    own = sorted(name for name in files if name != INDEX and "/" not in name)
    if text is None:
        if own:
            yield INDEX, 1, say("It does not exist, so Claude Code loads none of the {count} memories.", count=len(own))
        return
    lines = text.splitlines()
    if len(lines) > MOST_LINES or len(text.encode("utf-8", "replace")) > MOST_BYTES:
        yield INDEX, MOST_LINES, say("Claude Code loads only the first 200 lines or 25 KB of it.")
    named = set()
    for number, line in enumerate(lines, 1):
        if found := compiled(_LINE).match(line):
            named.add(found[1])
            if found[1] not in files:
                yield INDEX, number, say("It names {name}, which does not exist.", name=found[1])
    for name in own:
        if name not in named:
            yield name, 1, say("MEMORY.md does not name it.")
