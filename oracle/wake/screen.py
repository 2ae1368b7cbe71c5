"""What a pane's screen says: is the agent idle, what stands in its input box, was a text submitted. Pure.

Clients draw their boxes in many ways and change them between versions. What holds for all of them is that typed text ends
right before the cursor, and that the box is as it was before once the text is submitted.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

_GLYPHS = "❯›>"  # what agents put in front of their input
_FRAME = re.compile(r"[\s\u2500-\u259f|]+")  # blanks, lines and blocks that boxes are drawn with
_RULE = re.compile(r"\s*[\u2500-\u257f]{3}")  # a box's upper edge; clients write into it how much has scrolled away
_KEY = r"\besc(?:ape)? to (?:interrupt|cancel|stop)\b"
_FOOTER = re.compile(_KEY, re.IGNORECASE)
_STATUS = re.compile(rf"^[^{_GLYPHS}].*\([^()]*{_KEY}[^()]*\)$", re.IGNORECASE)  # ✽ Thinking… (12s · esc to interrupt)
_SPINNING = re.compile(r"[\u2801-\u28ff◐◑◒◓◴◵◶◷]")  # in a pane's title: the agent's own sign that it works
_COLLAPSED = re.compile(r"\[Pasted [^\]]*\]$")  # how clients show a long paste
_SIGNS = "$#%>❯➜»λ▶"  # what shells end their prompts with
_PROMPT = re.compile(rf"[{_SIGNS}] ?$")
_COMMAND = re.compile(
    rf"[{_SIGNS}] +\S"
)  # something stands behind a prompt: what follows is a command, though it ends in `>`
_QUESTION = re.compile(r"(?:\?|[\[(][^\[\]()]*/[^\[\]()]*[\])][?:]?)\s*$")  # Delete everything? [y/N]
_CONTINUED = re.compile(
    r"(?:[a-z]+ )*(?:[a-z]+)?>"
)  # `>`, `quote>`, `for then>`: a shell waits for the rest of a command
_IN_NAME = re.compile(r"[\w.-]")
_ABOVE = 4  # rows above the cursor in which a client's status is looked for
_TAIL = 60  # characters of a text's end that are looked for
_ENOUGH = 16  # characters that will do where a small box shows no more


@dataclass(frozen=True, slots=True)
class Screen:
    """The visible rows of a pane, the cursor in columns and rows from 0, the width in columns, the pane's title and program."""

    rows: tuple[str, ...]
    column: int
    row: int
    width: int
    title: str = ""
    command: str = ""

    @property
    def before_cursor(self) -> str:
        """The cursor's row up to the cursor."""
        return _cut(self.rows[self.row], self.column) if self.row < len(self.rows) else ""

    @property
    def behind_cursor(self) -> str:
        """The cursor's row from the cursor on."""
        return self.rows[self.row][len(self.before_cursor) :] if self.row < len(self.rows) else ""


class Sight(StrEnum):
    """Where a typed text is."""

    IN_BOX = "in the input box"
    ELSEWHERE = "on the screen"
    NOWHERE = "nowhere"


def is_working(screen: Screen) -> bool:
    """Tell whether the agent says that it works: by a spinner in the title, or by the key that interrupts it.

    Clients name that key in the rows below the box, or in a status above it; a conversation about it is neither.
    """
    if _SPINNING.match(screen.title.strip()):
        return True
    above, below = screen.rows[max(0, screen.row - _ABOVE) : screen.row], screen.rows[screen.row + 1 :]
    return any(_FOOTER.search(row) for row in below) or any(_STATUS.search(row.strip()) for row in above)


def draft(screen: Screen) -> str:
    """Return what stands in the input box before the cursor, as far as the screen shows where the box begins.

    It begins at a prompt sign, or at the edge above when its first rows have scrolled away. A box's further rows are
    indented; at the left margin a row that has no prompt sign belongs to no box.
    """
    if not screen.column:
        return ""
    parts: list[str] = []
    for row in (screen.before_cursor, *reversed(screen.rows[: screen.row])):
        text = _FRAME.sub(" ", row)
        if parts and (_RULE.match(row) or not text.strip()):
            return _join(parts) if _RULE.match(row) else ""
        parts.append(text.strip())
        if parts[-1] and parts[-1][0] in _GLYPHS:
            return _join(parts).lstrip(_GLYPHS).strip()
        if text[:1] != " ":
            return ""
    return ""


def _join(rows: list[str]) -> str:
    return " ".join(reversed(rows)).strip()


def is_in_shell_mode(screen: Screen) -> bool:
    """Tell whether the box would run what is typed as a command of the shell: its prompt sign is `!` then."""
    below_edge = 0 < screen.row <= len(screen.rows) and _RULE.match(screen.rows[screen.row - 1])
    return bool(below_edge) and screen.before_cursor.lstrip()[:1] == "!"


def is_at_prompt(screen: Screen) -> bool:
    """Tell whether a shell's cursor stands at an empty prompt; in doubt it does not.

    Left of it are a prompt's sign and one blank at most, right of it nothing; no command and no second line of one is begun.
    The empty box of a client that a shell's script runs is as good, whatever it suggests behind the cursor: it has two edges or a
    prompt sign that no shell has.
    """
    left = screen.before_cursor
    if _is_empty_box(screen) or left.strip() == "›":
        return True
    if not _PROMPT.search(left) or screen.behind_cursor.strip() or _CONTINUED.fullmatch(left.strip()):
        return False
    return not _COMMAND.search(left.rstrip())


def is_asked(screen: Screen) -> bool:
    """Tell whether a question stands right before the cursor, which a program would take a text for the answer to."""
    return _QUESTION.search(screen.before_cursor) is not None and not draft(screen)


def _is_empty_box(screen: Screen) -> bool:
    edges = screen.rows[max(0, screen.row - 1) : screen.row + 2 : 2] if screen.row else ()
    text = _FRAME.sub("", screen.before_cursor)
    return len(edges) == len(("upper", "lower")) and all(map(_RULE.match, edges)) and text in tuple(_GLYPHS)


def sight(screen: Screen, text: str, *, before: Screen) -> Sight:
    """Tell where `text` is seen, compared with the screen before it was typed."""
    if _ends_at_cursor(screen, text):
        return Sight.IN_BOX
    if _collapse_ends_at_cursor(screen) and not _collapse_ends_at_cursor(before):
        return Sight.IN_BOX
    tail = _tail(text)
    return Sight.ELSEWHERE if _count(screen, tail) > _count(before, tail) else Sight.NOWHERE


def holds(screen: Screen, text: str) -> bool:
    """Tell whether `text` is what stands in the input box, or the end of it what is visible: it was never submitted."""
    seen, whole = _squeeze(draft(screen)), _squeeze(text)
    return seen == whole or (len(seen) >= _ENOUGH and whole.endswith(seen))


def shows(screen: Screen, text: str) -> bool:
    """Tell whether the whole of `text` is on the screen, not as the end of a longer word: many wake-ups end alike."""
    whole = _squeeze(text)
    for start, row in enumerate(screen.rows):
        found = _squeeze("".join(screen.rows[start:])).find(whole, 0, len(_squeeze(row)) + len(whole))
        if found == 0 or (found > 0 and not _IN_NAME.match(_squeeze(row)[found - 1 : found])):
            return True
    return False


def is_submitted(screen: Screen, text: str, *, before: Screen, typed: Screen) -> bool:
    """Tell whether `text`, seen in `typed`, has left the input box that was empty in `before`."""
    if sight(typed, text, before=before) is Sight.ELSEWHERE:
        return not _is_still_there(screen, _tail(text), typed)
    if screen.before_cursor == before.before_cursor and screen.before_cursor != typed.before_cursor:
        return True
    return not (_ends_at_cursor(screen, text) or _collapse_ends_at_cursor(screen) or draft(screen))


def _is_still_there(screen: Screen, tail: str, typed: Screen) -> bool:
    """Tell whether the lower rows, where a box without a cursor is, show the text just as when it was typed."""
    for start in range(len(typed.rows) - 1, -1, -1):
        if tail in _squeeze("".join(typed.rows[start:])):
            return screen.rows[start:] == typed.rows[start:]
    return False


def _ends_at_cursor(screen: Screen, text: str) -> bool:
    """Tell whether the text's end stands right before the cursor, wrapped and framed as the client likes.

    Blank rows between are passed over: that is what a line end in the box looks like.
    """
    tail = _tail(text)
    seen = ""
    for row in (screen.before_cursor, *reversed(screen.rows[: screen.row])):
        if len(seen) >= _ENOUGH and _RULE.match(row):
            return tail.endswith(seen)
        seen = _squeeze(row) + seen
        if len(seen) >= len(tail):
            return seen.endswith(tail)
        if not tail.endswith(seen):
            return False
    return False


def _collapse_ends_at_cursor(screen: Screen) -> bool:
    return _COLLAPSED.search(screen.before_cursor.rstrip()) is not None


def _tail(text: str) -> str:
    return _squeeze(text)[-_TAIL:]


def _squeeze(text: str) -> str:
    """Return the text without what wrapping and frames add."""
    return _FRAME.sub("", text)


def _count(screen: Screen, tail: str) -> int:
    return _squeeze("".join(screen.rows)).count(tail)


def _cut(row: str, columns: int) -> str:
    """Return the first columns of a row; a wide character takes two, a combining one none. Missing ones are blanks."""
    used = 0
    for index, char in enumerate(row):
        wide = 0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        if used + wide > columns:
            return row[:index]
        used += wide
    return row + " " * (columns - used)
