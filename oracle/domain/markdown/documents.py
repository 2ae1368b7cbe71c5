"""Say what a Markdown file with frontmatter is, once read: fields, body and what was wrong with it, such as an unresolved merge.

Pure: values and their plain-text views, no disk, no YAML.
"""

from __future__ import annotations

import json

try:  # `hashlib` gives the same but loads OpenSSL, which costs every writing command 3 ms
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from oracle.domain.values import NOTHING, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    # Every scalar stays the text of the file: `yes`, `007` and `2026-05-26` are words here, not types.
    Value: TypeAlias = "str | list[Value] | dict[str, Value]"
else:
    Value = object  # for those who import the name

MAX_DEPTH = 64  # of lists and maps in each other; walking deeper ones by recursion could end a process

_ENCODINGS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Encodings by the mark at the head of a file, the longer marks first."""

_HIGH_HALF, _END_OF_HALVES = "\ud800", "\ue000"


_NOTHINGS = frozenset(("", "null", "~", "none", "nil", "n/a", "false", "无", "無", "なし", "없음"))


@value
class Problem:
    """Name what is wrong on one line (1-based, of the file); `reason` quotes nothing of the file but key names."""

    line: int
    reason: str


@value
class Document:
    r"""Hold one file as read.

    `body` is the text after the closing line, unstripped, line ends as `\n`; `body_line` and `key_lines` are 1-based
    lines of the file. `fields` keep the order of the file; its values may share parts, so treat them as read only.
    """

    fields: Mapping[str, Value]
    body: str
    body_line: int
    key_lines: Mapping[str, int]
    problems: tuple[Problem, ...]


def encoding_of(raw: bytes) -> str:
    """Return the encoding of a file: UTF-8 unless a mark at its head, or zeros between its first letters, say UTF-16 or UTF-32."""
    zeros = [at for at, byte in enumerate(raw[:4]) if not byte]
    if zeros in ([0, 2], [1, 3]) and len(raw) % 2 == 0:
        return "utf-16-le" if zeros[0] else "utf-16-be"
    return next((name for mark, name in _ENCODINGS.items() if raw.startswith(mark)), "utf-8")


def text_of(raw: bytes) -> str:
    """Return the text of a file, with U+FFFD for what can't be read; the mark of UTF-16 is left out, that of UTF-8 is not."""
    return raw.decode(encoding_of(raw), "replace")


def lines_of(raw: bytes) -> list[str]:
    """Return the lines of a file as they are counted everywhere, without their ends."""
    lines = text_of(raw).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def digest_of(raw: bytes, *, key: bytes = b"", size: int = 16) -> bytes:
    """Return the hash that distinguishes a changed file from a touched one. With a key, only its holder can make it."""
    return blake2b(raw, key=key, digest_size=size).digest()


def clip(text: str, most: int) -> str:
    """Return a text of at most `most` characters. One that is cut ends with …."""
    return text if len(text) <= most else f"{text[: max(most - 1, 0)].rstrip()}…"


def says_nothing(text: str) -> bool:
    """Return whether a text is what people write where there is nothing to name."""
    return text.strip("-–—").casefold() in _NOTHINGS


def well_formed(text: str) -> str:
    """Return a text with U+FFFD for half a surrogate pair, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def one_line(text: str) -> str:
    """Return a text with blanks in the place of control characters."""
    if text.isprintable():  # most are, and asking is cheap
        return text.strip()
    return "".join(" " if ord(char) < 32 else char for char in text).strip()


def as_map(value: Value) -> Mapping[str, Value]:
    """Return a value if it is a map, else an empty one."""
    return value if isinstance(value, dict) else NOTHING


def as_text(value: Value) -> str:
    """Return a value as one text: a list is joined by `, `, a map is written as `key: value` pairs."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(as_text, value))
    return ", ".join(f"{key}: {as_text(item)}" for key, item in value.items())


def as_list(value: Value) -> list[str]:
    """Return a value as texts: one word is a list of one, a JSON array in a string is read, empty items are dropped."""
    if isinstance(value, str):
        value = _json_array(value) if value.lstrip().startswith("[") else [value]
    elif isinstance(value, dict):
        value = [value] if value else []
    return [text for text in map(as_text, value) if text.strip()]


def holds_surrogate(text: str) -> bool:
    """Return whether a text holds half a surrogate pair."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def replace_surrogates(text: str) -> str:
    """Join the surrogate pairs in a text and replace every lone half by U+FFFD: UTF-8 can't hold one."""
    if not holds_surrogate(text):
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return "".join("\ufffd" if _HIGH_HALF <= char < _END_OF_HALVES else char for char in paired)


def parse_json(text: str) -> Value | None:
    """Read JSON with scalars as they are written, null as empty; None for what isn't JSON or nested deeper than MAX_DEPTH."""
    try:
        found = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
        return _from_json(found, 0)
    except (ValueError, RecursionError):
        return None


def _json_array(text: str) -> list[Value]:
    found = parse_json(text)
    return found if isinstance(found, list) else [text]


def _from_json(found: object, depth: int) -> Value:
    if depth > MAX_DEPTH:
        raise ValueError(depth)
    if isinstance(found, str):
        return replace_surrogates(found)
    if isinstance(found, list):
        return [_from_json(item, depth + 1) for item in found]
    if isinstance(found, dict):
        return {replace_surrogates(str(key)): _from_json(item, depth + 1) for key, item in found.items()}
    return "" if found is None else str(found).lower()


# Merges that somebody left unresolved ----------------------------------------------------------------------------------


def find_conflicts(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and last line (from 1) of every unresolved merge; one without an end reaches to the last line."""
    found: list[tuple[int, int]] = []
    opened, is_divided = 0, False
    for number, line in enumerate(lines, 1):
        if line.startswith("<<<<<<< ") or line.rstrip() == "<<<<<<<":
            opened, is_divided = opened or number, False
        elif opened and line.rstrip() == "=======":
            is_divided = True
        elif opened and is_divided and (line.startswith(">>>>>>> ") or line.rstrip() == ">>>>>>>"):
            found.append((opened, number))
            opened, is_divided = 0, False
    return [*found, (opened, len(lines))] if opened and is_divided else found


def find_merges(body: str) -> list[tuple[int, int]]:
    """Return the lines of every unresolved merge in a body, as `find_conflicts` does; markers in code are text."""
    if "<<<<<<<" not in body:
        return []
    from oracle.domain.markdown.masks import mask_code  # few bodies need it

    return find_conflicts(mask_code(body).split("\n"))
