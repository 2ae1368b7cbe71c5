"""Read frontmatter outside the plain subset: as YAML if it is valid, otherwise what can be recovered.

This module touches no disk, never raises and reports what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import MAX_DEPTH, as_text, parse_json, replace_surrogates
from oracle.store.markdown import yaml_subset
from oracle.store.markdown.yaml_subset import MAX_FRONTMATTER, NULLS, Block
from oracle.wording import say

TYPE_CHECKING = False


MAX_TRIES = 200  # pieces of broken frontmatter that are parsed as YAML; the rest becomes text

_KEY_LINE = r"""("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#:\-&*!|>%@`"'\[\]{},?][^:\n]{0,199}):(?:[ \t]+([^\n]*))?\Z"""
_CONFLICT = r"(?:<{7}|={7}|>{7}|\|{7})(?: |\Z)"
_UNPRINTABLE = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]"
_CONTINUES = r"[ \t#\]}]|-(?:[ \t]|\Z)"


def starts_with_field(block: str) -> bool:
    """Return whether a block is frontmatter and not text after a horizontal rule: its first line is a field or a conflict marker.

    A `#` line directly below the opening is a YAML comment; after a blank line it is a heading.
    """
    blank = False
    for line in _lines(block):
        if not line.strip():
            blank = True
        elif not line.startswith("#"):
            return bool(compiled(_KEY_LINE).match(line.strip()) or compiled(_CONFLICT).match(line))
        elif blank:
            return False
    return False


def _lines(block: str) -> Iterator[str]:
    position = 0
    while position < len(block):
        end = block.find("\n", position)
        end = len(block) if end < 0 else end
        yield block[position:end]
        position = end + 1


def read(block: str, *, first_line: int) -> Block:
    """Read the text between the delimiter lines: as YAML, otherwise line by line. Never raises."""
    if len(block) > MAX_FRONTMATTER:
        found = _recover(block[:MAX_FRONTMATTER], first_line=first_line)
        found.body_at = None
        found.report(
            first_line,
            say("The frontmatter is longer than {most} characters; the rest was left out.", most=MAX_FRONTMATTER),
        )
        return found
    control = compiled(_UNPRINTABLE).search(block)
    cleaned = compiled(_UNPRINTABLE).sub("\ufffd", block) if control else block
    try:
        found = read_strictly(cleaned, first_line=first_line)
    except Unreadable:
        found = _recover(cleaned, first_line=first_line)
    if control:
        line = first_line + block.count("\n", 0, control.start())
        found.report(line, say("The frontmatter holds control characters; they were replaced."))
    return found


# Recovery -------------------------------------------------------------------------------------------------------------


def _recover(block: str, *, first_line: int) -> Block:
    """Read broken frontmatter piece by piece. A piece is a line at the margin with the indented lines below it.

    A valid piece is read as YAML; of the others, `key: value` becomes plain text. A paragraph after a blank line is the
    body of a file whose frontmatter was never closed.
    """
    found = Block()
    lines = block.split("\n")
    prose = _find_prose(lines)
    if prose is not None:
        found.body_at = sum(len(line) + 1 for line in lines[:prose])
        found.report(first_line + prose, say("Text follows the fields without a closing `---`; it was read as body."))
        lines = lines[:prose]
    tries = MAX_TRIES
    for index, piece in _split_pieces(lines):
        tries -= _read_piece(found, piece, line=first_line + index, tries=tries)
    if not found.fields and not found.problems:
        found.report(first_line, say("The frontmatter is not a list of `key: value` fields; it was read as text."))
    return found


def _find_prose(lines: list[str]) -> int | None:
    """Return the index of the blank line before the first paragraph, None if there is none or nothing before it."""
    for index in range(1, len(lines)):
        line = lines[index]
        if lines[index - 1].strip() or not line.strip() or compiled(_CONTINUES).match(line):
            continue
        if compiled(_KEY_LINE).match(line) or compiled(_CONFLICT).match(line):
            continue
        while index and (not lines[index - 1].strip() or lines[index - 1].startswith("#")):
            index -= 1
        return index or None
    return None


def _split_pieces(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    start = 0
    for index, line in enumerate(lines):
        if index > start and line.strip() and not compiled(_CONTINUES).match(line):
            yield start, lines[start:index]
            start = index
    yield start, lines[start:]


def _read_piece(found: Block, piece: list[str], *, line: int, tries: int) -> int:
    """Add the content of one piece. Returns 1 if it needed the YAML parser, which is allowed while tries are left."""
    if compiled(_CONFLICT).match(piece[0]):
        found.report(line, say("There is a merge conflict marker here; the last of the two sides counts."))
        return 0
    text = "\n".join(piece) + "\n"
    plain = yaml_subset.read(text, first_line=line)
    if plain is not None:
        found.take(plain)
        return 0
    if tries > 0 and (_take_yaml(found, text, line) or ("\t" in text and _take_yaml(found, _untab(text), line))):
        if "\t" in text:
            found.report(line, say("Tabs indent the lines below; they were read as spaces."))
        return 1
    _take_text(found, piece, line=line)
    return 1


def _take_yaml(found: Block, text: str, line: int) -> bool:
    try:
        part = read_strictly(text, first_line=line)
    except Unreadable:
        return False
    found.take(part)
    return True


def _untab(text: str) -> str:
    return re.sub(r"^[ \t]+", lambda blanks: blanks.group().expandtabs(2), text, flags=re.MULTILINE)


def _take_text(found: Block, piece: list[str], *, line: int) -> None:
    matched = compiled(_KEY_LINE).match(piece[0].strip())
    if matched is None:
        if "".join(piece).strip():
            found.report(line, say("This line is not part of a field; it was left out."))
        return
    key, rest = matched.group(1), matched.group(2) or ""
    key = key[1:-1] if key[0] in "\"'" else key.rstrip()
    text = "\n".join(part.strip() for part in [rest, *piece[1:]]).strip()
    value = parse_json(text) if text.startswith(('"', "[", "{")) else None
    found.take(Block({key: text if value is None else value}, {key: line}))
    if value is None:
        found.report(line, say("The value of `{key}` is not valid YAML; it was read as plain text.", key=key[:60]))
    elif "\ufffd" in as_text(value) and "\ufffd" not in text:
        found.report(line, say("An escape in `{key}` stands for half a character; it was replaced.", key=key[:60]))


# Valid YAML ------------------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    from typing import Any, Protocol

    from oracle.domain.markdown.documents import Value

    class _Mark(Protocol):
        line: int

    class _Event(Protocol):
        """The attributes of PyYAML's events that are read_strictly here. Each class of event has some of them."""

        anchor: str
        value: str
        implicit: tuple[bool, bool]
        start_mark: _Mark


MAX_EXPANDED = 100_000  # values after aliases are expanded: a few lines of aliases can stand for billions
LETTERS = 16  # each 16 characters of text count as one more value

_ODD_BREAK = "[\x85\u2028\u2029]"


class Unreadable(Exception):
    """A text is not one valid mapping."""


def read_strictly(block: str, *, first_line: int) -> Block:
    """Parse a piece of frontmatter. Raises `Unreadable` if it is not one valid mapping.

    Line breaks that only YAML 1.1 knows (U+0085, U+2028, U+2029) are hidden from the library: in Markdown they are
    characters inside a line and must not start a field.
    """
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    hidden = _hide_breaks(block)
    text = block.translate({ord(char): mask for char, mask in hidden.items()}) if hidden else block
    shown = {ord(mask): char for char, mask in hidden.items()}

    def loader(stream: str) -> _StrictLoader:
        return _StrictLoader(stream, first_line=first_line, shown=shown)

    try:
        found: Block = YAMLHandler().load(text, Loader=loader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise Unreadable("invalid YAML") from error
    return found


def _hide_breaks(block: str) -> dict[str, str]:
    """Choose an unused private-use character for each unusual line break in the text."""
    breaks = set(compiled(_ODD_BREAK).findall(block))
    if not breaks:
        return {}
    lowered = block.lower()
    free = (chr(code) for code in range(0xF0000, 0x10FFFE) if chr(code) not in block and f"{code:x}" not in lowered)
    return {char: next(free, "\ufffd") for char in sorted(breaks)}


class _StrictLoader:
    """Build values from YAML events: text scalars only, no constructors, limited depth and aliases.

    It is made for `yaml.load`, which calls `get_single_data` and `dispose`. The C parser is used if there is one.
    """

    def __init__(self, stream: str, *, first_line: int, shown: dict[int, str]) -> None:
        import yaml

        self._yaml: Any = yaml  # Any: isinstance distinguishes the event classes
        self._parser: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)(stream)
        self._first_line = first_line
        self._shown = shown
        self._anchors: dict[str, tuple[Value, int]] = {}
        self._count = 0
        self._found = Block()

    def dispose(self) -> None:
        self._parser.dispose()

    def get_single_data(self) -> Block:
        next_event, found = self._parser.get_event, self._found
        next_event()
        if isinstance(next_event(), self._yaml.StreamEndEvent):
            return found
        root = self._value(next_event(), 0)
        next_event()
        if not isinstance(next_event(), self._yaml.StreamEndEvent):
            raise Unreadable("more than one document")
        if isinstance(root, dict):
            found.fields = root
        elif root:
            raise Unreadable("not a mapping")
        return found

    def _value(self, event: _Event, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        if isinstance(event, self._yaml.AliasEvent):
            return self._alias(event)
        before = self._count
        self._count += 1
        value: Value
        if isinstance(event, self._yaml.ScalarEvent):
            self._count += len(event.value) // LETTERS
            value = "" if event.implicit[0] and event.value in NULLS else self._text(event)
        elif isinstance(event, self._yaml.SequenceStartEvent):
            value = self._sequence(depth)
        else:
            value = self._mapping(depth)
        if event.anchor:
            self._anchors[event.anchor] = (value, self._count - before)
        return value

    def _sequence(self, depth: int) -> list[Value]:
        items: list[Value] = []
        while not isinstance(event := self._parser.get_event(), self._yaml.SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Value]:
        """Read a map. Maps under the merge key `<<` fill in missing keys, the first of them first."""
        fields: dict[str, Value] = {}
        merged: list[dict[str, Value]] = []
        while not isinstance(event := self._parser.get_event(), self._yaml.MappingEndEvent):
            is_scalar = isinstance(event, self._yaml.ScalarEvent) and not event.anchor
            key = self._text(event) if is_scalar else self._value(event, depth + 1)
            self._count += len(key) // LETTERS
            line = self._line(event)
            if not isinstance(key, str):
                raise Unreadable("a key that is a list or a map, as in a template that was not filled in")
            if key in fields:
                self._found.report_repeated(key, line)
            if depth == 0:
                self._found.key_lines[key] = line
            value = self._value(self._parser.get_event(), depth + 1)
            parts = value if isinstance(value, list) else [value]
            maps = [part for part in parts if isinstance(part, dict)]
            if key == "<<" and is_scalar and event.implicit[0] and len(maps) == len(parts):
                merged += maps
            else:
                fields[key] = value
        for part in merged:
            for name, value in part.items():
                fields.setdefault(name, value)
        return fields

    def _alias(self, event: _Event) -> Value:
        value, size = self._anchors.get(event.anchor, ("", -1))
        if size < 0:
            raise Unreadable("an alias without an anchor")
        self._count += size
        if self._count > MAX_EXPANDED:
            raise Unreadable("aliases that stand for too many values")
        return value

    def _text(self, event: _Event) -> str:
        text = replace_surrogates(event.value)
        if text != event.value and "\ufffd" in text:
            self._found.report(self._line(event), say("An escape stands for half a character; it was replaced."))
        return text.translate(self._shown) if self._shown else text

    def _line(self, event: _Event) -> int:
        return self._first_line + int(event.start_mark.line)
