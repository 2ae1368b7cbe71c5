"""Read frontmatter outside the plain subset: as YAML if it is valid, otherwise what can be recovered.

This module touches no disk, never raises and reports what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import as_text, parse_json
from oracle.store.markdown import strict_yaml, yaml_subset
from oracle.store.markdown.strict_yaml import Unreadable
from oracle.store.markdown.yaml_subset import MAX_FRONTMATTER, Block
from oracle.wording import say

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
        found = strict_yaml.read(cleaned, first_line=first_line)
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
        part = strict_yaml.read(text, first_line=line)
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
