"""Parse the bytes of a Markdown file into a Document, and print fields and a body as a file.

Nearly all frontmatter is in the plain subset; the module for the rest is loaded on demand. The reader accepts anything
and reports what is wrong; the writer refuses what would not read back. This module touches no disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import Document, Problem, Value, encoding_of, find_merges, text_of
from oracle.errors import InvalidRecord
from oracle.store.markdown import yaml_subset
from oracle.store.markdown.yaml_subset import MAX_FRONTMATTER, Block
from oracle.wording import say, say_many

MAX_PROBLEMS = 50

_CONFLICT = say("There is a merge conflict marker here; resolve the conflict.")

_OPENING = r"---[ \t]*\n"
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_LATE_OPENING = r"((?:[ \t]*+\n)*+)---[ \t]*+\n"


def parse(raw: bytes) -> Document:
    """Parse a file, whatever its bytes. Never raises; reports problems in `problems`; keeps all text searchable.

    Without readable frontmatter the whole text is the body. If a key is repeated, the last one counts, as in other YAML
    readers. Frontmatter without an end has no fields. A second block below it is text.
    """
    return _check_body(_parse(raw))


def _parse(raw: bytes) -> Document:
    text, problems = _decode(raw)
    start = _find_start(text, problems)
    closing = _CLOSING.search(text, start) if start else None
    if closing is None:
        if start and _starts_with_field(text[start : start + MAX_FRONTMATTER]):
            line = text.count("\n", 0, start)
            problems.append(
                Problem(line, say("The frontmatter that starts here is never closed; it was read as text."))
            )
        return Document({}, text, 1, {}, tuple(problems))
    block = text[start : closing.start()]
    found = _read_block(block, first_line=text.count("\n", 0, start) + 1)
    end = 0 if found.is_text else closing.end() if found.body_at is None else start + found.body_at
    body_line = text.count("\n", 0, end) + 1 + (end == len(text) and not text.endswith("\n"))
    problems = _bounded(problems + found.problems) if found.problems else problems
    return Document(found.fields, text[end:], body_line, found.key_lines, tuple(problems))


def _check_body(document: Document) -> Document:
    """Return the document with the problems of its body: a second block of frontmatter, unresolved merges."""
    body, known = document.body, {problem.line for problem in document.problems}
    found: list[Problem] = []
    if second := find_second_block(document):
        found.append(
            Problem(second[0], say("A second frontmatter starts here; it was read as text. Join it with the first."))
        )
    if "<<<<<<<" in body:
        lines = [document.body_line + first - 1 for first, _ in find_merges(body)]
        found += [Problem(line, _CONFLICT) for line in lines if line not in known]
    if not found:
        return document
    problems = tuple(_bounded([*document.problems, *found]))
    return Document(document.fields, body, document.body_line, document.key_lines, problems)


def find_second_block(document: Document) -> range:
    """Return the lines of the file that a second block of frontmatter takes, directly behind the first."""
    body = document.body
    opening = compiled(_LATE_OPENING).match(body) if document.fields else None
    closing = _CLOSING.search(body, opening.end()) if opening and _starts_with_field(body[opening.end() :]) else None
    if opening is None or closing is None:
        return range(0)
    first, last = (document.body_line + body.count("\n", 0, at) for at in (opening.end(), closing.start()))
    return range(first - 1, last + 1)


def _decode(raw: bytes) -> tuple[str, list[Problem]]:
    problems = []
    encoding = encoding_of(raw)
    if encoding != "utf-8":
        name = encoding.upper()
        problems.append(Problem(1, say("The file is written in {encoding}; save it as UTF-8.", encoding=name)))
        raw = text_of(raw).encode("utf-8", "replace")
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
    """Return where the text after the opening line starts, 0 if there is no frontmatter.

    Blank lines before it are accepted if fields and a closing line follow. So is a conflict marker, as a problem.
    """
    if text.startswith("---\n"):
        return 4
    if text.startswith("<<<<<<<"):
        problems.append(Problem(1, _CONFLICT))
        opening = compiled(_OPENING).match(text, text.find("\n") + 1)
        return opening.end() if opening else 0
    opening = compiled(_LATE_OPENING).match(text)
    if opening is None:
        return 0
    if opening.group(1) and not (_starts_with_field(text[opening.end() :]) and _CLOSING.search(text, opening.end())):
        return 0
    return opening.end()


def _starts_with_field(block: str) -> bool:
    from oracle.store.markdown.any_yaml import starts_with_field

    return starts_with_field(block)


def _read_block(block: str, *, first_line: int) -> Block:
    """Read the text between the delimiter lines: as plain subset if possible."""
    if not block.strip():
        return Block()
    if block[0] in " \t\n" and not block.split("\n", 1)[0].strip() and not _starts_with_field(block):
        found = Block()
        found.is_text = True
        return found
    found = yaml_subset.read(block, first_line=first_line) or _read_any(block, first_line=first_line)
    found.is_text = not found.fields
    return found


def _read_any(block: str, *, first_line: int) -> Block:
    from oracle.store.markdown import any_yaml

    return any_yaml.read(block, first_line=first_line)


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


# Writing --------------------------------------------------------------------------------------------------------------


def render(fields: Mapping[str, Value], body: str) -> tuple[bytes, Document]:
    """Return the bytes of a file that reads back as these fields, in this order, and this body; and the parsed document.

    Raises InvalidRecord if it would not read back: half a surrogate pair, a NUL in the body, a value that is not text,
    a long name; and for a body that begins with a frontmatter block. Words that every YAML reader takes for text are
    written bare. Other scalars are JSON strings, which are valid YAML and readable by programs that only undo JSON quotes.
    """
    head = yaml_subset.write(fields)
    settled = settle_body(body)
    text = f"---\n{head}---\n\n{settled}" if settled else f"---\n{head}---\n"
    return _require_same(text, fields, settled)


def settle_body(body: str) -> str:
    r"""Return a body in the form of files: `\n` as line end, no blank lines around it, one line end after it, or empty."""
    text = body.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return text + "\n" if text else ""


def _require_same(text: str, fields: Mapping[str, Value], body: str) -> tuple[bytes, Document]:
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidRecord(
            say("The body holds half a surrogate pair, which no file can hold. Nothing was written."),
            hint=say("Replace the character and try again."),
        ) from error
    document = _parse(raw)
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
    if find_second_block(document):
        raise InvalidRecord(
            say("The body begins with a frontmatter block, and the record has its own. Nothing was written."),
            hint=say("Put the block into a code fence (```), or write a line of text before it."),
        )
    return raw, _check_body(document)
