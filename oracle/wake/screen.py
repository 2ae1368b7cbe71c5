"""Read the screen of a pane: is the agent idle, what is in its input box, was a text submitted.

Clients draw their boxes in many ways and change them between versions. In all of them typed text ends right before the
cursor, and the box looks as before once the text is submitted.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum

from oracle.domain.values import value

_GLYPHS = "❯›>"  # what agents put in front of their input
_FRAME = re.compile(r"[\s\u2500-\u259f|]+")  # blanks, lines and blocks that clients draw boxes with
_RULE = re.compile(
    r"\s*[\u2500-\u257f]{3}"
)  # the upper edge of a box; clients write into it how much has scrolled away
_KEY = r"\besc(?:ape)? to (?:interrupt|cancel|stop)\b"
_FOOTER = re.compile(_KEY, re.IGNORECASE)
_STATUS = re.compile(rf"^[^{_GLYPHS}].*\([^()]*{_KEY}[^()]*\)$", re.IGNORECASE)  # ✽ Thinking… (12s · esc to interrupt)
_SPINNING = re.compile(r"[\u2801-\u28ff◐◑◒◓◴◵◶◷]")  # in the title of a pane: the agent shows that it is working
_COLLAPSED = re.compile(r"\[Pasted [^\]]*\]$")  # how clients show a long paste
_SIGNS = "$#%>❯➜»λ▶"  # what shells end their prompts with
_PROMPT = re.compile(rf"[{_SIGNS}] ?$")
_COMMAND = re.compile(rf"[{_SIGNS}] +\S")  # text behind a prompt is a command, even if it ends in `>`
_QUESTION = re.compile(r"(?:\?|[\[(][^\[\]()]*/[^\[\]()]*[\])][?:]?)\s*$")  # Delete everything? [y/N]
_CONTINUED = re.compile(r"(?:[a-z]+ )*(?:[a-z]+)?>")  # `>`, `quote>`: a shell waits for the rest of a command
_IN_NAME = re.compile(r"[\w.-]")
_ABOVE = 4  # rows above the cursor that may hold the status of a client
_TAIL = 60  # last characters of a text that are compared
_ENOUGH = 16  # characters that are enough when a small box shows no more


@value
class Screen:
    """The visible rows of a pane, the column and row of its cursor from 0, its width, title and program."""

    rows: tuple[str, ...]
    column: int
    row: int
    width: int
    title: str = ""
    command: str = ""

    @property
    def before_cursor(self) -> str:
        """The row of the cursor up to the cursor."""
        return _cut(self.rows[self.row], self.column) if self.row < len(self.rows) else ""

    @property
    def behind_cursor(self) -> str:
        """The row of the cursor from the cursor on."""
        return self.rows[self.row][len(self.before_cursor) :] if self.row < len(self.rows) else ""


class Sight(StrEnum):
    """Where a typed text is."""

    IN_BOX = "in the input box"
    ELSEWHERE = "on the screen"
    NOWHERE = "nowhere"


def is_working(screen: Screen) -> bool:
    """Return whether the agent shows that it is working: by a spinner in the title, or by the key that interrupts it.

    Clients name that key below the box or in a status line above it. The same words in a conversation do not count.
    """
    if _SPINNING.match(screen.title.strip()):
        return True
    above, below = screen.rows[max(0, screen.row - _ABOVE) : screen.row], screen.rows[screen.row + 1 :]
    return any(_FOOTER.search(row) for row in below) or any(_STATUS.search(row.strip()) for row in above)


def draft(screen: Screen) -> str:
    """Return the text in the input box before the cursor, "" if the screen does not show where the box begins.

    A box begins at a prompt sign, or at its upper edge when its first rows have scrolled away. Its other rows are
    indented; a row at the left margin without a prompt sign is outside.
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
    """Return whether the box would run typed text as a shell command: its prompt sign is `!`."""
    below_edge = 0 < screen.row <= len(screen.rows) and _RULE.match(screen.rows[screen.row - 1])
    return bool(below_edge) and screen.before_cursor.lstrip()[:1] == "!"


def is_at_prompt(screen: Screen) -> bool:
    """Return whether the cursor of a shell is at an empty prompt. In doubt it is not.

    Left of the cursor are a prompt sign and at most one blank, right of it is nothing, and no command has begun.
    The empty box of a client that a shell script runs counts as well: it has two edges, or a prompt sign that no shell
    has. What the client suggests behind the cursor does not matter.
    """
    left = screen.before_cursor
    if _is_empty_box(screen) or left.strip() == "›":
        return True
    if not _PROMPT.search(left) or screen.behind_cursor.strip() or _CONTINUED.fullmatch(left.strip()):
        return False
    return not _COMMAND.search(left.rstrip())


def is_asked(screen: Screen) -> bool:
    """Return whether a question is right before the cursor: a program would take a typed text as the answer."""
    return _QUESTION.search(screen.before_cursor) is not None and not draft(screen)


def _is_empty_box(screen: Screen) -> bool:
    edges = screen.rows[max(0, screen.row - 1) : screen.row + 2 : 2] if screen.row else ()
    text = _FRAME.sub("", screen.before_cursor)
    return len(edges) == len(("upper", "lower")) and all(map(_RULE.match, edges)) and text in tuple(_GLYPHS)


def sight(screen: Screen, text: str, *, before: Screen) -> Sight:
    """Return where `text` appeared, compared with the screen before it was typed."""
    if _ends_at_cursor(screen, text):
        return Sight.IN_BOX
    if _collapse_ends_at_cursor(screen) and not _collapse_ends_at_cursor(before):
        return Sight.IN_BOX
    tail = _tail(text)
    return Sight.ELSEWHERE if _count(screen, tail) > _count(before, tail) else Sight.NOWHERE


def holds(screen: Screen, text: str) -> bool:
    """Return whether the input box holds `text`, or shows its end: the text was not submitted."""
    seen, whole = _squeeze(draft(screen)), _squeeze(text)
    return seen == whole or (len(seen) >= _ENOUGH and whole.endswith(seen))


def shows(screen: Screen, text: str) -> bool:
    """Return whether all of `text` is on the screen, not as the end of a longer word: many wake-ups end alike."""
    whole = _squeeze(text)
    for start, row in enumerate(screen.rows):
        found = _squeeze("".join(screen.rows[start:])).find(whole, 0, len(_squeeze(row)) + len(whole))
        if found == 0 or (found > 0 and not _IN_NAME.match(_squeeze(row)[found - 1 : found])):
            return True
    return False


def is_submitted(screen: Screen, text: str, *, before: Screen, typed: Screen) -> bool:
    """Return whether `text`, which `typed` shows, has left the input box that was empty in `before`."""
    if sight(typed, text, before=before) is Sight.ELSEWHERE:
        return not _is_still_there(screen, _tail(text), typed)
    if screen.before_cursor == before.before_cursor and screen.before_cursor != typed.before_cursor:
        return True
    return not (_ends_at_cursor(screen, text) or _collapse_ends_at_cursor(screen) or draft(screen))


def _is_still_there(screen: Screen, tail: str, typed: Screen) -> bool:
    """Return whether the lower rows, where a box without a cursor is, still show the text as when it was typed."""
    for start in range(len(typed.rows) - 1, -1, -1):
        if tail in _squeeze("".join(typed.rows[start:])):
            return screen.rows[start:] == typed.rows[start:]
    return False


def _ends_at_cursor(screen: Screen, text: str) -> bool:
    """Return whether the text ends right before the cursor, however the client wraps and frames it.

    Blank rows between are skipped: a line end in the box looks like that.
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
    """Return the text without the characters that wrapping and frames add."""
    return _FRAME.sub("", text)


def _count(screen: Screen, tail: str) -> int:
    return _squeeze("".join(screen.rows)).count(tail)


def _cut(row: str, columns: int) -> str:
    """Return the first columns of a row, filled with blanks. A wide character takes two, a combining one none."""
    used = 0
    for index, char in enumerate(row):
        wide = 0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        if used + wide > columns:
            return row[:index]
        used += wide
    return row + " " * (columns - used)
