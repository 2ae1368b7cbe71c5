"""Turn the bytes of a Markdown file into a Document, and fields with a body into the text of a file.

This room is the one door of the YAML libraries, loaded only for frontmatter outside the plain subset. It touches no disk.
The reader takes whatever it is given and says what was wrong; the writer refuses what it can't read back.
"""

from __future__ import annotations

import re

from oracle.domain.compiling import compiled
from oracle.domain.documents import MAX_DEPTH, Document, Problem, as_text, parse_json, replace_surrogates
from oracle.errors import InvalidRecord
from oracle.store import yaml_subset
from oracle.wording import say, say_many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Protocol

    from oracle.domain.documents import Value

    class _Mark(Protocol):
        line: int

    class _Event(Protocol):
        """Name the attributes of PyYAML's events that are read here; which of them an event has depends on its class."""

        anchor: str
        value: str
        implicit: tuple[bool, bool]
        start_mark: _Mark


MAX_FRONTMATTER = 1 << 18  # characters; what is longer is no frontmatter that a person or a program meant to write
MAX_EXPANDED = 100_000  # values after aliases are followed: a few lines of aliases can stand for billions
LETTERS = 16  # as many count like one value more
MAX_PROBLEMS = 50
MAX_TRIES = 200  # pieces of broken frontmatter that are given to YAML one by one; the rest is taken as text

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_KEY_LINE = r"""("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#:\-&*!|>%@`"'\[\]{},?][^:\n]{0,199}):(?:[ \t]+([^\n]*))?\Z"""
_CONFLICT = r"(?:<{7}|={7}|>{7}|\|{7})(?: |\Z)"
_UNPRINTABLE = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]"
_ODD_BREAK = "[\x85\u2028\u2029]"
_LATE_OPENING = re.compile(r"((?:[ \t]*+\n)*+)---[ \t]*+\n")
_CONTINUES = r"[ \t#\]}]|-(?:[ \t]|\Z)"


class Block:
    """Collect what a stretch of frontmatter gives.

    `is_text`: it is no frontmatter after all; `body_at`: the offset in it where the body begins before any closing line.
    """

    __slots__ = ("body_at", "fields", "is_text", "key_lines", "problems")

    def __init__(self, fields: dict[str, Value] | None = None, key_lines: dict[str, int] | None = None) -> None:
        self.fields = {} if fields is None else fields
        self.key_lines = {} if key_lines is None else key_lines
        self.problems: list[Problem] = []
        self.is_text = False
        self.body_at: int | None = None

    def take(self, fields: dict[str, Value], key_lines: dict[str, int]) -> None:
        """Add fields of a later stretch; a key that is there already is a problem, and the later one counts."""
        self.problems += [_repeated(key, line) for key, line in key_lines.items() if key in self.key_lines]
        self.fields |= fields
        self.key_lines |= key_lines

    def report(self, line: int, reason: str) -> None:
        """Add a problem at a line of the file."""
        self.problems.append(Problem(line, reason))


class Unreadable(Exception):
    """Say at which line of the file a stretch of frontmatter stops being one valid mapping."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def parse(raw: bytes) -> Document:
    """Read one file, whatever its bytes: never raise, report what is wrong in `problems`, keep all text findable.

    Without readable frontmatter the whole text is the body. Of a key that stands twice the last one counts, as in other
    YAML readers. Frontmatter that is never closed gives no fields.
    """
    text, problems = _decode(raw)
    start = _find_start(text, problems)
    closing = _CLOSING.search(text, start) if start else None
    if closing is None:
        if start and _starts_with_field(text[start : start + MAX_FRONTMATTER]):
            line = text.count("\n", 0, start)
            problems.append(Problem(line, say("The frontmatter that opens here is never closed; it was read as text.")))
        return Document({}, text, 1, {}, tuple(problems))
    block = text[start : closing.start()]
    found = _read_block(block, first_line=text.count("\n", 0, start) + 1)
    end = 0 if found.is_text else closing.end() if found.body_at is None else start + found.body_at
    body_line = text.count("\n", 0, end) + 1 + (end == len(text) and not text.endswith("\n"))
    problems = _bounded(problems + found.problems) if found.problems else problems
    return Document(found.fields, text[end:], body_line, found.key_lines, tuple(problems))


def _decode(raw: bytes) -> tuple[str, list[Problem]]:
    problems = []
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1
        problems.append(
            Problem(line, say("The file is not UTF-8 from here on; bytes that can't be read were replaced."))
        )
        text = raw.decode("utf-8", "replace")
    if text.startswith("\ufeff"):
        text = text.lstrip("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.append(Problem(line, say("The file holds NUL characters; they were replaced.")))
        text = text.replace("\0", "\ufffd")
    return text, problems


def _find_start(text: str, problems: list[Problem]) -> int:
    """Return where the text after the opening line begins, 0 when no frontmatter opens.

    Blank lines before it are forgiven when fields and a closing line follow; so is a conflict marker, with a problem.
    """
    if text.startswith("---\n"):
        return 4
    if text.startswith("<<<<<<<"):
        problems.append(Problem(1, say("A merge conflict marker stands here; resolve the conflict.")))
        opening = _OPENING.match(text, text.find("\n") + 1)
        return opening.end() if opening else 0
    opening = _LATE_OPENING.match(text)
    if opening is None:
        return 0
    if opening.group(1) and not (_starts_with_field(text[opening.end() :]) and _CLOSING.search(text, opening.end())):
        return 0
    return opening.end()


def _starts_with_field(block: str) -> bool:
    """Tell frontmatter from a horizontal rule: its first line that says anything is a field or a conflict marker.

    A `#` line directly under the opening is a YAML comment; after a blank line it is a heading under a rule.
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


def _read_block(block: str, *, first_line: int) -> Block:
    """Read the text between the delimiter lines: by the plain subset, else by YAML, else line by line."""
    if not block.strip():
        return Block()
    if block[0] in " \t\n" and not block.split("\n", 1)[0].strip() and not _starts_with_field(block):
        return _text_block()
    fast = yaml_subset.read(block, first_line=first_line) if len(block) <= MAX_FRONTMATTER else None
    found = _read_strictly_or_recover(block, first_line=first_line) if fast is None else Block(*fast)
    found.is_text = not found.fields
    return found


def _text_block() -> Block:
    found = Block()
    found.is_text = True
    return found


def _read_strictly_or_recover(block: str, *, first_line: int) -> Block:
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
        found = read_yaml(cleaned, first_line=first_line)
    except Unreadable:
        found = _recover(cleaned, first_line=first_line)
    if control:
        line = first_line + block.count("\n", 0, control.start())
        found.report(line, say("The frontmatter holds control characters; they were replaced."))
    return found


# --- YAML ------------------------------------------------------------------------------------------------------------


def read_yaml(block: str, *, first_line: int) -> Block:
    """Read one stretch of frontmatter with the YAML library; raise `Unreadable` when it isn't one valid mapping.

    Line breaks that only YAML 1.1 knows (U+0085, U+2028, U+2029) are hidden from it: in a Markdown file they are
    characters inside a line, and must not start a field.
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
    """Choose a private-use character, absent from the text also as an escape, for each odd line break in it."""
    breaks = set(compiled(_ODD_BREAK).findall(block))
    if not breaks:
        return {}
    lowered = block.lower()
    free = (chr(code) for code in range(0xF0000, 0x10FFFE) if chr(code) not in block and f"{code:x}" not in lowered)
    return {char: next(free, "\ufffd") for char in sorted(breaks)}


class _StrictLoader:
    """Build values from YAML events: text scalars only, nothing constructed, depth and aliases bounded.

    Made for `yaml.load`, which asks a loader for `get_single_data` and `dispose`. The C parser is used if present.
    """

    def __init__(self, stream: str, *, first_line: int, shown: dict[int, str]) -> None:
        import yaml

        self._yaml: Any = yaml  # Any: the event classes are told apart by isinstance, their attributes by _Event
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
            value = "" if event.implicit[0] and event.value in yaml_subset.NULLS else self._text(event)
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
        fields: dict[str, Value] = {}
        while not isinstance(event := self._parser.get_event(), self._yaml.MappingEndEvent):
            is_scalar = isinstance(event, self._yaml.ScalarEvent) and not event.anchor
            key = self._text(event) if is_scalar else self._value(event, depth + 1)
            self._count += len(key) // LETTERS
            line = self._line(event)
            if not isinstance(key, str):
                raise Unreadable(line, say("A key is itself a list or a map, as an unfilled template leaves it."))
            if key in fields:
                self._found.problems.append(_repeated(key, line))
            if depth == 0:
                self._found.key_lines[key] = line
            fields[key] = self._value(self._parser.get_event(), depth + 1)
        return fields

    def _alias(self, event: _Event) -> Value:
        value, size = self._anchors.get(event.anchor, ("", -1))
        if size < 0:
            raise Unreadable(self._line(event), say("An alias points at nothing."))
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


# --- recovery --------------------------------------------------------------------------------------------------------


def _recover(block: str, *, first_line: int) -> Block:
    """Read broken frontmatter piece by piece, a piece being a line at the margin and what is indented under it.

    A piece that is valid on its own is read as such; of the others `key: value` is taken as plain text. A paragraph
    after a blank line is the body of a file whose frontmatter was never closed.
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
    """Return the index of the blank line before the first paragraph, None when there is none or nothing before it."""
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
    """Add what one piece says; return 1 when YAML had to be asked, which is allowed while tries are left."""
    if compiled(_CONFLICT).match(piece[0]):
        found.report(line, say("A merge conflict marker stands here; of both sides the last one counts."))
        return 0
    text = "\n".join(piece) + "\n"
    fast = yaml_subset.read(text, first_line=line)
    if fast is not None:
        found.take(*fast)
        return 0
    if tries > 0 and (_take_yaml(found, text, line) or ("\t" in text and _take_yaml(found, _untab(text), line))):
        if "\t" in text:
            found.report(line, say("Tabs indent the lines under this one; they were read as blanks."))
        return 1
    _take_text(found, piece, line=line)
    return 1


def _take_yaml(found: Block, text: str, line: int) -> bool:
    try:
        part = read_yaml(text, first_line=line)
    except Unreadable:
        return False
    found.take(part.fields, part.key_lines)
    found.problems += part.problems
    return True


def _untab(text: str) -> str:
    return re.sub(r"^[ \t]+", lambda blanks: blanks.group().expandtabs(2), text, flags=re.MULTILINE)


def _take_text(found: Block, piece: list[str], *, line: int) -> None:
    matched = compiled(_KEY_LINE).match(piece[0].strip())
    if matched is None:
        if "".join(piece).strip():
            found.report(line, say("This line is neither a field nor part of one; it was left out."))
        return
    key, rest = matched.group(1), matched.group(2) or ""
    key = key[1:-1] if key[0] in "\"'" else key.rstrip()
    text = "\n".join(part.strip() for part in [rest, *piece[1:]]).strip()
    value = parse_json(text) if text.startswith(('"', "[", "{")) else None
    found.take({key: text if value is None else value}, {key: line})
    if value is None:
        found.report(line, say("The value of `{key}` is not valid YAML; it was taken as plain text.", key=key[:60]))
    elif "\ufffd" in as_text(value) and "\ufffd" not in text:
        found.report(line, say("An escape in `{key}` stands for half a character; it was replaced.", key=key[:60]))


def _repeated(key: str, line: int) -> Problem:
    return Problem(line, say("The key `{key}` stands here again; the last one counts.", key=key[:60]))


def _bounded(problems: list[Problem]) -> list[Problem]:
    problems.sort(key=lambda problem: problem.line)
    if len(problems) <= MAX_PROBLEMS:
        return problems
    kept, left = problems[: MAX_PROBLEMS - 1], problems[MAX_PROBLEMS - 1 :]
    return [
        *kept,
        Problem(
            left[0].line,
            say_many("{n} more problem follows from here.", "{n} more problems follow from here.", n=len(left)),
        ),
    ]


# --- writing ---------------------------------------------------------------------------------------------------------


def render(fields: Mapping[str, Value], body: str) -> str:
    """Return the text of a file that reads back as exactly these fields, in this order, and the settled body.

    Raise InvalidRecord when it would not: half a surrogate pair, a NUL in the body, a value that is no text, a name too
    long. Words that every YAML reader takes for text stand bare, every other scalar as a JSON string, which is valid
    YAML and readable by programs that undo JSON quotes only.
    """
    head = yaml_subset.write(fields)
    settled = settle_body(body)
    text = f"---\n{head}---\n\n{settled}" if settled else f"---\n{head}---\n"
    _require_same(text, fields, settled)
    return text


def settle_body(body: str) -> str:
    r"""Return a body as files hold it: line ends as `\n`, no blank lines around it, one line end after it, or empty."""
    text = body.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return text + "\n" if text else ""


def _require_same(text: str, fields: Mapping[str, Value], body: str) -> None:
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidRecord(
            say("The body holds half a surrogate pair, which no file can hold. Nothing was written."),
            hint=say("Replace the character and try again."),
        ) from error
    document = parse(raw)
    if document.problems:
        reason = document.problems[0].reason
        raise InvalidRecord(
            say("The record would not read back as written: {reason} Nothing was written.", reason=reason)
        )
    if list(document.fields.items()) != list(fields.items()):
        odd = next((key for key in fields if document.fields.get(key) != fields[key]), "")
        raise InvalidRecord(say("The field `{odd}` would not read back as written. Nothing was written.", odd=odd[:60]))
    if document.body != ("\n" + body if body else ""):
        raise InvalidRecord(say("The body would not read back as written. Nothing was written."))
