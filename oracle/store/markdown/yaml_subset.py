"""Read and write the plain subset of YAML that nearly all frontmatter uses, without a YAML library.

The subset: `key: plain`, `key: "JSON string"`, `key: 'single quoted'`, `key: [flow, "list"]`, and block lists of such
scalars or of flat maps of them. `read` gives exactly what `any_yaml.read_strictly` gives for the same text, or None; a
differential property test checks that. Anything doubtful (tabs, folded lines, anchors, tags, duplicate keys, control
characters) is left to YAML. This module touches no disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import MAX_DEPTH, Problem, Value, holds_surrogate
from oracle.errors import InvalidRecord
from oracle.wording import say

MAX_FRONTMATTER = 1 << 18  # characters; a longer text is not frontmatter
MAX_KEY = 200  # characters; YAML itself allows 1,024

NULLS = frozenset({"", "~", "null", "Null", "NULL"})

# `read` first looks for characters that YAML calls unprintable, or takes for a line break or a byte-order mark.
# So no pattern has to exclude them: classes with wide ranges take milliseconds to compile.
# The possessive quantifiers (`*+`, `++`) make every pattern linear on hostile text.
_ODD = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_WIDE_ODD = r"[\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
_KEY = r"([A-Za-z_][A-Za-z0-9_-]{0,99}+)"
_PLAIN = r"([^\n !\"#%&')*,:<>?@\[\]`{|}~\xa0-](?:[^ :\n]++|:(?=[^ \n])|[ ]++(?=[^ #\n]))*+)"
_DOUBLE_TEXT = r'(?:[^"\\\n]++|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*+'
_SINGLE_TEXT = r"(?:[^'\n]++|'')*+"
_WORD = r"[A-Za-z0-9_./](?:[A-Za-z0-9_./-]++|[ ]++(?=[A-Za-z0-9_./-]))*+"
_QUOTED = rf"""\"({_DOUBLE_TEXT})\"|'({_SINGLE_TEXT})'"""
_ITEM = rf"(?:({_WORD})|{_QUOTED})"
_BARE_ITEM = rf"""(?:{_WORD}|\"{_DOUBLE_TEXT}\"|'{_SINGLE_TEXT}')"""
_FLOW = rf"\[[ ]*+((?:{_BARE_ITEM}[ ]*+(?:,[ ]*+{_BARE_ITEM}[ ]*+)*+)?)\]"
_SCALAR = rf"(?:{_PLAIN}|{_QUOTED})"

_ENTRY = re.compile(rf"{_KEY}:(?:[ ]++(?:{_PLAIN}|{_QUOTED}|{_FLOW}))?[ ]*+(?:(?<=[ ])#[^\n]*+)?\n")
_SKIPPED = re.compile(r"(?:\n|#[^\n]*+\n)")
_DASH = r"([ ]*+)-([ ]++)"
_INDENT = r"[ ]++"
_BLOCK_SCALAR = rf"{_SCALAR}[ ]*+\n"

_BARE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,99}\Z")
_BARE_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*\Z")
_TYPED_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_TO_ESCAPE = r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"


class Block:
    """The content of a piece of frontmatter.

    `is_text`: it is not frontmatter; `body_at`: the offset at which the body starts before a closing line.
    """

    __slots__ = ("body_at", "fields", "is_text", "key_lines", "problems")

    def __init__(self, fields: dict[str, Value] | None = None, key_lines: dict[str, int] | None = None) -> None:
        self.fields = {} if fields is None else fields
        self.key_lines = {} if key_lines is None else key_lines
        self.problems: list[Problem] = []
        self.is_text = False
        self.body_at: int | None = None

    def take(self, later: Block) -> None:
        """Add the content of a later piece. A repeated key is a problem, and the later one counts."""
        for key, line in later.key_lines.items():
            if key in self.key_lines:
                self.report_repeated(key, line)
        self.fields |= later.fields
        self.key_lines |= later.key_lines
        self.problems += later.problems

    def report(self, line: int, reason: str) -> None:
        """Add a problem at a line of the file."""
        self.problems.append(Problem(line, reason))

    def report_repeated(self, key: str, line: int) -> None:
        """Add the problem of a repeated key."""
        self.report(line, say("The key `{key}` is repeated here; the last one counts.", key=key[:60]))


def read(block: str, *, first_line: int) -> Block | None:
    r"""Return the fields and the line of each key, or None if the text is outside the subset or too long.

    `block` is the text between the delimiter lines, each line ended by `\n`. `first_line` is its 1-based line in the
    file.
    """
    if len(block) > MAX_FRONTMATTER:
        return None
    if _ODD.search(block) or not (block.isascii() or not compiled(_WIDE_ODD).search(block)):
        return None
    fields: dict[str, Value] = {}
    lines: dict[str, int] = {}
    position, line, end = 0, first_line, len(block)
    while position < end:
        found = _ENTRY.match(block, position) or _SKIPPED.match(block, position)
        if found is None:
            return None
        position = found.end()
        if found.re is _ENTRY:
            key = found.group(1)
            if key in fields:
                return None
            lines[key] = line
            fields[key] = _entry_value(found)
            if found.lastindex == 1:
                fields[key], position, count = _read_items(block, position)
                if count < 0:
                    return None
                line += count
        line += 1
    return Block(fields, lines)


def _entry_value(found: re.Match[str]) -> Value:
    plain, double, single, flow = found.group(2, 3, 4, 5)
    if flow is not None:
        return [_scalar(*item.groups()) for item in compiled(_ITEM).finditer(flow)]
    return _scalar(plain, double, single)


def _read_items(block: str, position: int) -> tuple[Value, int, int]:
    """Return the block list at a position (empty text if there is none), its end and its lines; -1 lines: outside the subset."""
    items: list[Value] = []
    pad, count = None, 0
    while dash := compiled(_DASH).match(block, position):
        indent, gap = dash.groups()
        pad = indent if pad is None else pad
        if indent != pad:
            return items, position, -1
        first = _ENTRY.match(block, dash.end())
        found = first or compiled(_BLOCK_SCALAR).match(block, dash.end())
        if found is None:
            break
        position = found.end()
        count += 1
        if first is None:
            items.append(_scalar(*found.groups()))
            continue
        item: dict[str, Value] = {first.group(1): _entry_value(first)}
        column = len(indent) + 1 + len(gap)
        while (more := compiled(_INDENT).match(block, position)) and (entry := _ENTRY.match(block, more.end())):
            if len(more.group()) != column or entry.group(1) in item:
                return items, position, -1
            item[entry.group(1)] = _entry_value(entry)
            position = entry.end()
            count += 1
        items.append(item)
    return items or "", position, count


def _scalar(plain: str | None, double: str | None, single: str | None) -> str:
    if plain is not None:
        return "" if plain in NULLS else plain
    if double is not None:
        return str(json.loads(f'"{double}"')) if "\\" in double else double
    return single.replace("''", "'") if single is not None else ""


def write(fields: Mapping[str, Value]) -> str:
    """Return the lines of fields, in order.

    Raises InvalidRecord for values that are not text or that no file can store.
    """
    return "".join([_emit_key(key) + ":" + _emit(value, key=key, indent=2) + "\n" for key, value in fields.items()])


def _emit_key(key: object) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY:
        raise InvalidRecord(
            say("A field name must be a text of 1 to {max_key} characters. Nothing was written.", max_key=MAX_KEY)
        )
    return key if _BARE_KEY.match(key) and key.lower() not in _TYPED_WORDS else _quote(key, key=say("a field name"))


def _emit(value: Value, *, key: str, indent: int, depth: int = 0) -> str:
    """Return the text after the colon of a key, or after the dash of an item, with its leading space or line end."""
    if isinstance(value, str):
        bare = _BARE_WORD.match(value) and value.lower() not in _TYPED_WORDS
        return " " + (value if bare else _quote(value, key=key))
    if depth >= MAX_DEPTH or not isinstance(value, list | dict):
        raise InvalidRecord(
            say("The field `{key}` must hold text, lists or maps of text. Nothing was written.", key=key[:60])
        )
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return " [" + ", ".join([_quote(item, key=key) for item in value if isinstance(item, str)]) + "]"
        pad = "\n" + " " * indent + "-"
        return "".join(pad + _emit_item(item, key=key, indent=indent + 2, depth=depth + 1) for item in value)
    if not value:
        return " {}"
    pad = "\n" + " " * indent
    return "".join(
        pad + _emit_key(name) + ":" + _emit(item, key=name, indent=indent + 2, depth=depth + 1)
        for name, item in value.items()
    )


def _emit_item(value: Value, *, key: str, indent: int, depth: int) -> str:
    """Return an item of a block list. A map starts on the line of its dash."""
    text = _emit(value, key=key, indent=indent, depth=depth)
    return " " + text.lstrip("\n ") if isinstance(value, dict) and value else text


def _quote(text: object, *, key: str) -> str:
    """Return a text as a JSON string that is also a YAML double-quoted scalar, on one line, with readable letters."""
    if not isinstance(text, str) or holds_surrogate(text):
        raise InvalidRecord(
            say(
                "The field `{key}` holds half a surrogate pair, which no file can hold. Nothing was written.",
                key=key[:60],
            ),
            hint=say("Replace the character and try again."),
        )
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():  # characters that need an escape count as unprintable
        return quoted
    return compiled(_TO_ESCAPE).sub(lambda odd: f"\\u{ord(odd.group()):04x}", quoted)
