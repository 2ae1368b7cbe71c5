"""What a record names that lives in a repository: paths, symbols, flags, settings, commits and branches. Pure.

Reads more than links do, since people write names as inline code; fenced and indented code is an example and names nothing.
A name is taken only when its shape says what it is, so that prose is not looked up as if it were one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from oracle.domain.links.links import COMMIT, COMPONENT, FILE, Patterns, settle_path
from oracle.domain.links.references import extract
from oracle.domain.links.vocabulary import is_product
from oracle.domain.markdown.documents import Document, Value, as_list, as_text
from oracle.domain.markdown.masks import mask_code
from oracle.domain.names import split_entity
from oracle.domain.values import replace, value


class NameKind(StrEnum):
    """What a name is the name of."""

    PATH = "path"
    SYMBOL = "symbol"
    COMMIT = "commit"
    BRANCH = "branch"


@value
class Named:
    """A name with the line of the file, from 1, where it first occurs, and whether it is written as a call: `load()`."""

    sort: NameKind
    name: str
    line: int
    is_call: bool = False


_MENTIONED = {FILE: NameKind.PATH, COMMIT: NameKind.COMMIT, COMPONENT: NameKind.SYMBOL}
_PATH_FIELDS = ("path", "file", "files", "paths")
_COMMIT_FIELDS = ("commit", "commits", "builder_commit", "memory_commit")
_BRANCH_FIELDS = ("branch", "expected_branch")
_EVIDENCE_KEYS = ("source_url", "source", "path", "quote")
_TELLER = re.compile(r"[\w-]+|(?:session|task) \S+")
"""A source that says who told it, or in which session or task it was learned (`memories`): no path, and no symbol."""
_LONGEST = 200
_SHORTEST_TOKEN = 16
"""Characters below which nothing is looked at for a credential."""

_FENCE = re.compile(r" {0,3}(?:[-*+] +|> ?)*(`{3,}|~{3,})")
_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,200})(?<!`)\1(?!`)")
_WORD = re.compile(
    r"(?<![\w./:@~\\-])([A-Za-z_][A-Za-z0-9_]*+(?:(?:\.|::)[A-Za-z_][A-Za-z0-9_]*+)*+)(\(\))?+(?![\w/@\\-])", re.ASCII
)
_HEX = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}")
_FOLDER = re.compile(r"(?:\./)?[\w.@-]+(?:/[\w.@-]+)*/")
_SNAKE = re.compile(r"_*[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+_*")
_CAMEL = re.compile(r"[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w-])")
_SETTING = re.compile(r"([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)\s*=\s*[^\s=].*", re.ASCII)
_DOTTED = re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)+")
_REF = r"(?P<name>[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*)"
_BRANCH = re.compile(rf"(?:\bbranch(?:es)?\b|分支)(?P<mark>\s?[:：=]?\s?[`'\"“]|\s?[:：=]\s?)?\s?{_REF}", re.IGNORECASE)
_OF_BRANCH = re.compile(rf"[`'\"“]{_REF}[`'\"”]\s?(?:branch\b|分支)", re.IGNORECASE)
_TOPIC = re.compile(
    r"(?<![\w./-])(?P<name>(?:feat|feature|fix|bugfix|hotfix|release|chore)/[\w-]+(?:[./][\w-]+)*)(?![\w/])"
)


def names_in(document: Document, patterns: Patterns) -> tuple[Named, ...]:
    """Return what a record names, fields and evidence included, each once, by line. A path keeps the `../` at its head."""
    patterns = replace(patterns, keeps_parents=True)
    found: dict[tuple[NameKind, str], int] = {}
    calls: set[str] = set()
    for sort, written, line in [*_fields(document, patterns), *_text(document.body, document.body_line, patterns)]:
        name = written.removesuffix("()")
        calls.update([name] if name != written else ())
        key = (sort, name)
        found[key] = min(line, found.get(key, line))
    branches = {name for sort, name in found if sort is NameKind.BRANCH}
    kept = [
        Named(sort, name, line, sort is NameKind.SYMBOL and name in calls)
        for (sort, name), line in found.items()
        if sort is NameKind.BRANCH or name not in branches
    ]
    return tuple(sorted(kept, key=lambda item: (item.line, item.sort, item.name)))


_Found = tuple[NameKind, str, int]


def _fields(document: Document, patterns: Patterns) -> Iterator[_Found]:
    for keys, sort in (
        (_PATH_FIELDS, NameKind.PATH),
        (_COMMIT_FIELDS, NameKind.COMMIT),
        (_BRANCH_FIELDS, NameKind.BRANCH),
    ):
        for key in keys:
            line = document.key_lines.get(key, 1)
            for text in as_list(document.fields.get(key, "")):
                name = text.strip().strip("`")
                if _may_be(sort, name):
                    yield sort, settle_path(name, patterns) if sort is NameKind.PATH else name, line
    evidence = document.fields.get("evidence")
    line = document.key_lines.get("evidence", 1)
    for text in _evidence_texts(evidence) if evidence else ():
        yield from ((sort, name, line) for sort, name, _ in _text(f"evidence: {text}", 1, patterns))


def _may_be(sort: NameKind, name: str) -> bool:
    if not name or len(name) > _LONGEST or any(char.isspace() for char in name) or "://" in name:
        return False
    return sort is not NameKind.COMMIT or bool(re.fullmatch(r"[0-9a-fA-F]{7,40}", name))


def _evidence_texts(evidence: Value) -> Iterator[str]:
    for item in evidence if isinstance(evidence, list) else [evidence]:
        for key, text in (
            [(key, item.get(key, "")) for key in _EVIDENCE_KEYS] if isinstance(item, dict) else [("", item)]
        ):
            words = " ".join(as_text(text).split())
            if words and (key == "quote" or not _TELLER.fullmatch(words)):
                yield words


def _text(text: str, first_line: int, patterns: Patterns) -> Iterator[_Found]:
    for mention in extract(text, patterns).mentions:
        if mention.type in _MENTIONED:
            yield _MENTIONED[mention.type], split_entity(mention.target)[1], first_line + mention.line - 1
    prose = mask_code(text).split("\n")
    for at, line in enumerate(_outside_fences(text)):
        number = first_line + at
        yield from ((sort, name, number) for sort, name in _branches(line))
        for span in _SPAN.finditer(line):
            yield from ((sort, name, number) for sort, name in _code(span[2].strip(), patterns))
        if at < len(prose):
            yield from ((NameKind.SYMBOL, name, number) for name in _symbols(prose[at], is_code=False))


def _outside_fences(text: str) -> Iterator[str]:
    """Yield every line of a text, empty where it is fenced or indented code; an unclosed fence hides its own line alone."""
    lines = text.split("\n")
    closes = _closings(lines)
    at = 0
    while at < len(lines):
        end = closes.get(at)
        if end is not None:
            yield from [""] * (end - at + 1)
            at = end + 1
        else:
            yield "" if lines[at].startswith(("    ", "\t")) and "`" not in lines[at] else lines[at]
            at += 1


def _closings(lines: list[str]) -> dict[int, int]:
    """Return for each line that opens a fence the line that closes it."""
    closes: dict[int, int] = {}
    opened, mark = -1, ""
    for at, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        if opened < 0:
            opened, mark = at, fence[1]
        elif fence[1].startswith(mark) and not line[fence.end() :].strip():
            closes[opened] = at
            opened = -1
    return closes


def _branches(line: str) -> Iterator[tuple[NameKind, str]]:
    for found in _BRANCH.finditer(line):
        name = found["name"].rstrip(".")
        if found["mark"] or any(char in "/-_" or char.isdigit() for char in name):
            yield NameKind.BRANCH, name
    for found in (*_OF_BRANCH.finditer(line), *_TOPIC.finditer(line)):
        if not _names_file(found["name"]):
            yield NameKind.BRANCH, found["name"]


def _code(word: str, patterns: Patterns) -> Iterator[tuple[NameKind, str]]:
    """Yield what one piece of inline code names. A command line, with blanks in it, names its flags alone."""
    yield from ((NameKind.SYMBOL, flag) for flag in _FLAG.findall(word))
    if setting := _SETTING.fullmatch(word):
        yield NameKind.SYMBOL, setting[1]
    if setting or any(char.isspace() for char in word):
        return
    if _HEX.fullmatch(word):
        yield NameKind.COMMIT, word
        return
    files = [item for item in extract(word, patterns).mentions if item.type == FILE]
    yield from ((NameKind.PATH, split_entity(item.target)[1]) for item in files)
    if not files and _FOLDER.fullmatch(word):
        yield NameKind.PATH, settle_path(word.rstrip("/"), patterns) + "/"
    elif not files and _DOTTED.fullmatch(word) and not is_product(word):
        yield NameKind.SYMBOL, word
    elif not files:
        yield from ((NameKind.SYMBOL, name) for name in _symbols(word, is_code=True))


def _symbols(text: str, *, is_code: bool) -> Iterator[str]:
    for found in _WORD.finditer(text):
        name, called = found[1], bool(found[2])
        parts = re.split(r"\.|::", name)
        shaped = "::" in name or any(_SNAKE.fullmatch(part) or (is_code and _CAMEL.fullmatch(part)) for part in parts)
        if len(name) < 3 or not (called or shaped) or _names_file(name) or is_product(name):
            continue
        is_cut = is_code and text.startswith(("…", "..."), found.end())
        if not is_cut and not _is_credential(name):
            yield f"{name}()" if called else name


def _is_credential(name: str) -> bool:
    """Return whether a name has the shape of a token (`ghp_…`), or replaces one by a row of `x`."""
    if "xxxx" in name.lower():
        return True
    if len(name) < _SHORTEST_TOKEN or not any(map(str.isdigit, name)):
        return False
    from oracle.domain.safety.secrets import find_secrets

    return bool(find_secrets(name))


def _names_file(name: str) -> bool:
    return any(item.type == FILE for item in extract(name).mentions)
