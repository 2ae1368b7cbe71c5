"""Find private dialect, long sentences and long lines in code, help and documents.

`python -m tests.plain_words [PATH PREFIX…]` lists every finding, `--counts` the number of findings of each package.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polib

CHECKOUT = Path(__file__).resolve().parent.parent
MOST_WORDS = 40
"""Words of a sentence."""

LONGEST_LINE = 200
"""Characters of a line of Markdown."""

DIALECT = (
    r"\b(?:[A-Z]\w+|lowest) room\b",
    r"(?<!there )\b(?:is|are|was|were) none\b",
    r"\b(?:is|are) no (?:command|date|entry|event|fact|file|folder|kind|letter|list|name|number|object|project|record|text|word)\b",
    r"\bwhat is no\b",
    r"\bbears?\b",
    r"(?<!-)\bstands?\b(?! for\b|-)",
    r"\bstood\b",
    r"\b(?:is|are|was|were|be|been) told\b",
    r"\bTell whether\b",
    r"\bword of (?:a|an|the)\b",
    r"\bof ours\b",
    r"\bof (?:its|their) own kind\b",
    r"\bnobody thought of\b",
    r"\b[Uu]nforeseen\b",
    r"\bkindred\b",
    r"\bclerks?\b",
    r"\bcrew\b",
    r"\bsoil(?:s|ed)?\b",
    r"\bow(?:e|es|ed)\b",
    r"\bhasten\w*",
    r"\bhush\w*",
    r"\bheed\w*",
    r"\banew\b",
    r"\bwhoever\b",
    r"\bfor (?:want|the sake) of\b",
    r"\bmend(?:s|ed|ing)?\b",
    r"\bpass(?:es|ed)? over\b",
    r"\bput(?:s)? right\b",
    r"\blook(?:s|ed)? through\b",
    r"\btells? of\b",
    r"\b(?:is )?said of\b",
    r"\bas good as\b",
    r"\bno matter of\b",
    r"\bnothing of the sort\b",
    r"\bis lost on\b",
)
"""Patterns of the dialect in English text; references/contributing pages say what to write instead."""

CHINESE_DIALECT = (
    "走图",
    "文件是真相",
    "字节保持原样",
    "不是命令",
    "没有的",
    "就此",
    "抄一份",
    "说的是",
    "所说的",
    "被告知",
)
"""The same in the Chinese catalogue."""

NAMES = frozenset(
    """Clerk Crew Desk Keeper Patient kindred needles crew clerk desk keeper handing_over offering told_claims divergent
    _soil _soil_all _hasten _hush _heed_signals""".split()
)
"""Names of code that the field has better words for."""

_DIALECT = re.compile("|".join(DIALECT))
_NAME, _HASH = re.compile(r"\w+"), re.compile("#")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_BREAK = re.compile(r"(?<=[.!?])[*_)\"]*\s|\n\s*\n|\n\s*(?:[-*+]|\d+\.)\s|\s*\|\s*|\n#+ |。|！|？")

Finding = tuple[str, int, str]
"""(path below the checkout, line, what was found)."""


def dialect(path: str, line: int, text: str) -> Iterator[Finding]:
    """Yield the dialect in a text that begins at a line."""
    for found in _DIALECT.finditer(text):
        yield path, line + text.count("\n", 0, found.start()), found[0]


def long_sentences(path: str, line: int, text: str) -> Iterator[Finding]:
    """Yield the sentences that are too long in a text that begins at a line."""
    plain = _CODE.sub("code", text)
    start = 0
    for end in [*(found.end() for found in _BREAK.finditer(plain)), len(plain)]:
        words = len(plain[start:end].split())
        if words > MOST_WORDS:
            yield path, line + plain.count("\n", 0, start), f"a sentence of {words} words"
        start = end


def in_module(path: str, source: str) -> Iterator[Finding]:
    """Yield the findings in the names, comments, docstrings and other strings of a module; lists of words are data."""
    if _may_have_findings(source):
        yield from _in_tokens(path, source)
    nodes = list(ast.walk(ast.parse(source)))
    lists, docstrings = set(), set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            lists.add(id(node.func.value))
        elif isinstance(node, ast.Expr):
            docstrings.add(id(node.value))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in lists:
            yield from dialect(path, node.lineno, node.value)
            if id(node) in docstrings:
                yield from long_sentences(path, node.lineno, node.value)


def _in_tokens(path: str, source: str) -> Iterator[Finding]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield from dialect(path, token.start[0], token.string)
        elif token.type == tokenize.NAME and token.string in NAMES:
            yield path, token.start[0], token.string


def _may_have_findings(source: str) -> bool:
    """Tell whether the names or comments of a module may have a finding: to read its tokens takes much longer."""
    if not NAMES.isdisjoint(_NAME.findall(source)):
        return True
    ends = (line[at.start() :] for line in source.splitlines() if "#" in line for at in _HASH.finditer(line))
    return any(map(_DIALECT.search, ends))


def in_markdown(path: str, text: str) -> Iterator[Finding]:
    """Yield the findings in a document; its code blocks count for the length of lines alone."""
    prose = _FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
    yield from dialect(path, 1, prose)
    yield from long_sentences(path, 1, prose)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST_LINE:
            yield path, number, f"a line of {len(line)} characters"


def in_catalogue(path: str) -> Iterator[Finding]:
    """Yield the Chinese dialect of the translations."""
    for entry in polib.pofile(str(CHECKOUT / path)):
        for word in CHINESE_DIALECT:
            if word in entry.msgstr or any(word in text for text in entry.msgstr_plural.values()):
                yield path, entry.linenum, word


def findings() -> Iterator[Finding]:
    """Yield every finding of the checkout."""
    for folder in ("oracle", "scripts"):
        for file in sorted((CHECKOUT / folder).rglob("*.py")):
            yield from in_module(file.relative_to(CHECKOUT).as_posix(), file.read_text(encoding="utf-8"))
    documents = [*sorted(CHECKOUT.glob("*.md")), *sorted((CHECKOUT / "references").rglob("*.md"))]
    for file in documents:
        path = file.relative_to(CHECKOUT).as_posix()
        text = file.read_text(encoding="utf-8")
        if path.startswith("references/kb/"):
            yield from long_sentences(path, 1, text.partition("\n---\n")[2])  # a record has one line a paragraph
        else:
            yield from in_markdown(path, text)
    yield from in_catalogue("oracle/cli/i18n/zh.po")


def package_of(path: str) -> str:
    """Return the package or document that a path counts for."""
    parts = path.split("/")
    if parts[0] in ("oracle", "scripts") and path.endswith(".py"):
        depth = 3 if parts[:2] == ["oracle", "app"] else 2
        return "/".join(parts[:-1][:depth]) if len(parts) > 2 else "oracle" if parts[0] == "oracle" else "scripts"
    return path


def count() -> dict[str, int]:
    """Return the number of findings of each package and document."""
    return dict(sorted(Counter(package_of(path) for path, _, _ in findings()).items()))


if __name__ == "__main__":
    prefixes = tuple(word for word in sys.argv[1:] if word != "--counts")
    if "--counts" in sys.argv:
        sys.stdout.writelines(f"    {name!r}: {number},\n" for name, number in count().items())
    else:
        for path, line, what in findings():
            if path.startswith(prefixes or ""):
                sys.stdout.write(f"{path}:{line}: {what}\n")
