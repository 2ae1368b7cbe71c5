"""A Markdown text cut into passages: whole lines of one paragraph, list or fence, with the headings above them. Pure.

A passage is at most `MAX_CHARACTERS` long, counted with one line feed a line, and never crosses the line of a fence. What is
found is widened by its neighbours towards the limit, since a reader wants the lines around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from oracle.domain.compiling import compiled
from oracle.domain.values import value

MAX_CHARACTERS = 700
_FENCE = r" {0,3}(?:[-*+>] +|\d+[.)] +)?(`{3,}|~{3,})"
_SPEAKER = r"[^\w\n]{0,4}([^\W\d_][\w-]*(?: [^\W\d_][\w-]*)?)\W{0,3}[:：]"
_HEADING = r" {0,3}(#{1,6})[ \t]+"


@value
class Passage:
    """A run of lines, both numbers from 1 and inclusive; `headings` are those above it, the widest first."""

    text: str
    first_line: int
    last_line: int
    headings: tuple[str, ...] = ()
    fenced: bool = False
    is_heading: bool = False


def cut(text: str) -> list[Passage]:
    """Return the passages of a text in order; blank lines belong to none. A longer line is cut into pieces."""
    lines = text.split("\n")
    found: list[Passage] = []
    headings: list[tuple[int, str]] = []
    for first, last, kind in _blocks(lines):
        above = tuple(title for _, title in headings)
        if kind == "heading":
            level, title = _heading(lines[first])
            headings = [(depth, words) for depth, words in headings if depth < level]
            above = tuple(words for _, words in headings)
            headings.append((level, title))
        whole = lines[first] if first == last else "\n".join(lines[first : last + 1])
        if len(whole) < MAX_CHARACTERS:
            found.append(Passage(whole, first + 1, last + 1, above, kind == "fence", kind == "heading"))
        else:
            found += _pieces(lines, first, last, above, kind)
    return found


def _heading(line: str) -> tuple[int, str]:
    """Return the level of a heading and its words, without the marks that may close it."""
    opened = compiled(_HEADING).match(line)
    words = line[opened.end() if opened else 0 :].rstrip(" \t")
    bare = words.rstrip("#")
    return len(opened[1]) if opened else 1, bare.rstrip(" \t") if bare.endswith((" ", "\t")) else words


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (first, last, kind) of the runs of lines, from 0 and inclusive: heading, fence or text."""
    start, past = -1, 0
    for at, line in enumerate(lines):
        if at < past:  # in a fence
            continue
        end = _end_of_fence(lines, at) if "```" in line or "~~~" in line else -1
        is_heading = end < 0 and "#" in line[:4] and compiled(_HEADING).match(line) is not None
        is_text = end < 0 and not is_heading and bool(line) and not line.isspace()
        if start >= 0 and not is_text:
            yield start, at - 1, "text"
            start = -1
        if end >= 0:
            yield at, end, "fence"
            past = end + 1
        elif is_heading:
            yield at, at, "heading"
        elif start < 0 and is_text:
            start = at
    if start >= 0:
        yield start, len(lines) - 1, "text"


def _end_of_fence(lines: Sequence[str], at: int) -> int:
    """Return the line that closes the fence opened at `at`, or -1: one that is never closed is a line of text."""
    opened = compiled(_FENCE).match(lines[at])
    if opened is None or (opened[1][0] == "`" and "`" in lines[at][opened.end() :]):
        return -1
    mark = opened[1]
    for number in range(at + 1, len(lines)):
        line = lines[number].strip(" \t>")
        if line.startswith(mark) and not line.strip(mark[0]):
            return number
    return -1


def _pieces(lines: Sequence[str], first: int, last: int, headings: tuple[str, ...], kind: str) -> Iterator[Passage]:
    """Cut a run of lines where it would grow over the limit."""
    held: list[str] = []
    size = 0
    for number in range(first, last + 1):
        line = lines[number]
        if held and size + len(line) + 1 > MAX_CHARACTERS:
            yield _passage(held, number - len(held), headings, kind)
            held, size = [], 0
        if len(line) >= MAX_CHARACTERS:
            for at in range(0, len(line), MAX_CHARACTERS):
                yield _passage([line[at : at + MAX_CHARACTERS]], number, headings, kind)
        else:
            held.append(line)
            size += len(line) + 1
    if held:
        yield _passage(held, last + 1 - len(held), headings, kind)


def _passage(lines: list[str], first: int, headings: tuple[str, ...], kind: str) -> Passage:
    return Passage("\n".join(lines), first + 1, first + len(lines), headings, kind == "fence", kind == "heading")


def speaker_of(passage: Passage) -> str:
    """Return who says a passage, in lower case; "" when nobody is named before a colon."""
    if passage.fenced or ":" not in passage.text[:60]:
        return ""
    speaks = compiled(_SPEAKER).match(passage.text)
    return speaks[1].lower() if speaks else ""


def is_conversation(passages: Sequence[Passage], speakers: Sequence[str]) -> bool:
    """Return whether most passages have one of `speakers`, more than one: a list of settings has colons too."""
    spoken = sum(map(bool, speakers))
    return spoken > 1 and 2 * spoken > sum(not passage.is_heading for passage in passages)


def widen(
    passages: Sequence[Passage], at: int, lines: Sequence[str], *, worth: Callable[[int], float], taken: set[int]
) -> tuple[Passage, range]:
    """Return the passage `at` with the neighbours that fit, and the numbers of those that it holds.

    The neighbour worth more is added first, none that is in `taken`, and none across the line of a fence. A
    heading is taken with what lies beyond it, or not at all.
    """
    first = last = at
    while True:
        sides = [_next_text(passages, first, -1), _next_text(passages, last, 1)]
        sides = [side for side in sides if _may_join(passages, side, at, taken)]
        sides.sort(key=lambda side: (-worth(side), side < first))
        for side in sides:
            low, high = min(side, first), max(side, last)
            start, end = passages[low].first_line, passages[high].last_line
            if sum(map(len, lines[start - 1 : end])) + end - start + 1 <= MAX_CHARACTERS:
                first, last = low, high
                break
        else:
            break
    members = range(first, last + 1)
    return join(passages, members, lines, at=at), members


def join(passages: Sequence[Passage], members: range, lines: Sequence[str], *, at: int) -> Passage:
    """Return the passages `members` as one, with the headings of the passage `at`."""
    if len(members) == 1:
        return passages[at]
    start, end = passages[members[0]].first_line, passages[members[-1]].last_line
    return Passage("\n".join(lines[start - 1 : end]), start, end, passages[at].headings, passages[at].fenced)


def spans(passages: Sequence[Passage], lines: Sequence[str]) -> list[range]:
    """Return the longest run from each passage within the limit, without headings at its ends. A fence is one run."""
    found: list[range] = []
    ends = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for first, passage in enumerate(passages):
        if passage.is_heading:
            continue
        last = first
        for at in range(first + 1, len(passages)):
            size = ends[passages[at].last_line] - ends[passage.first_line - 1] - 1
            if passage.fenced or passages[at].fenced or size > MAX_CHARACTERS:
                break
            if not passages[at].is_heading:
                last = at
        found.append(range(first, last + 1))
    return found


def _next_text(passages: Sequence[Passage], at: int, step: int) -> int:
    """Return the nearest passage before or after that is no heading; a heading alone is not worth its lines."""
    at += step
    while 0 <= at < len(passages) and passages[at].is_heading:
        at += step
    return at


def _may_join(passages: Sequence[Passage], side: int, at: int, taken: set[int]) -> bool:
    if not 0 <= side < len(passages) or side in taken:
        return False
    return not any(passages[number].fenced for number in (side, at))


# Chunks that become one vector each ------------------------------------------------------------------------------------

_BETWEEN = " > "


@value
class EmbeddingChunk:
    """The text for passages `first` to `last`, numbered from 0 and inclusive."""

    text: str
    first: int
    last: int
    is_turn: bool = False


def embedding_chunks(title: str, passages: Sequence[Passage]) -> list[EmbeddingChunk]:
    """Return the chunks of a record in order, then its turns. Headings are in the texts of chunks, and belong to none."""
    runs: list[list[int]] = []
    size = 0
    for number, passage in enumerate(passages):
        if passage.is_heading:
            continue
        if not runs or passage.headings != passages[runs[-1][0]].headings or size + len(passage.text) >= MAX_CHARACTERS:
            runs.append([])
            size = 0
        runs[-1].append(number)
        size += len(passage.text) + 1
    found = [_chunk(title, passages, run) for run in runs]
    speakers = [speaker_of(passage) for passage in passages]
    if is_conversation(passages, speakers):
        turns = (at for at, speaker in enumerate(speakers) if speaker)
        found += [EmbeddingChunk(passages[at].text, at, at, is_turn=True) for at in turns]
    return found or [EmbeddingChunk(title, 0, 0)]


def _chunk(title: str, passages: Sequence[Passage], run: Sequence[int]) -> EmbeddingChunk:
    headings = [heading for heading in passages[run[0]].headings if heading.strip() != title.strip()]
    body = "\n".join(passages[number].text for number in run)
    return EmbeddingChunk(f"{_BETWEEN.join([title, *headings])}\n{body}", run[0], run[-1])
