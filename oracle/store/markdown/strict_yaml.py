"""Parse a piece of frontmatter with the YAML library: only valid YAML, text scalars, limited depth and aliases.

The only module that imports the YAML libraries, loaded for frontmatter outside the plain subset. It touches no disk.
"""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import MAX_DEPTH, replace_surrogates
from oracle.store.markdown.yaml_subset import NULLS, Block
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from oracle.domain.markdown.documents import Value

    class _Mark(Protocol):
        line: int

    class _Event(Protocol):
        """The attributes of PyYAML's events that are read here. Each class of event has some of them."""

        anchor: str
        value: str
        implicit: tuple[bool, bool]
        start_mark: _Mark


MAX_EXPANDED = 100_000  # values after aliases are expanded: a few lines of aliases can stand for billions
LETTERS = 16  # each 16 characters of text count as one more value

_ODD_BREAK = "[\x85\u2028\u2029]"


class Unreadable(Exception):
    """The line of the file at which the text stops being one valid mapping."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def read(block: str, *, first_line: int) -> Block:
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
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise Unreadable(first_line + (mark.line if mark else 0), say("The frontmatter is not valid YAML.")) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise Unreadable(first_line, say("The frontmatter is not valid YAML.")) from error
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
        end = next_event()
        if not isinstance(end, self._yaml.StreamEndEvent):
            raise Unreadable(self._line(end), say("The frontmatter holds more than one YAML document."))
        if isinstance(root, dict):
            found.fields = root
        elif root:
            raise Unreadable(self._first_line, say("The frontmatter is not a list of `key: value` fields."))
        return found

    def _value(self, event: _Event, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise Unreadable(self._line(event), say("Values are nested deeper than {depth}.", depth=MAX_DEPTH))
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
                raise Unreadable(line, say("A key is itself a list or a map, as in a template that was not filled in."))
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
            raise Unreadable(self._line(event), say("An alias refers to an unknown anchor."))
        self._count += size
        if self._count > MAX_EXPANDED:
            raise Unreadable(self._line(event), say("Aliases stand for more than {most} values.", most=MAX_EXPANDED))
        return value

    def _text(self, event: _Event) -> str:
        text = replace_surrogates(event.value)
        if text != event.value and "\ufffd" in text:
            self._found.report(self._line(event), say("An escape stands for half a character; it was replaced."))
        return text.translate(self._shown) if self._shown else text

    def _line(self, event: _Event) -> int:
        return self._first_line + int(event.start_mark.line)
