"""Find values whose name is not in front of them: in declarations, SQL columns, manifests and in front of a name."""

from __future__ import annotations

from oracle.domain.safety.secrets.assignments import names_secret
from oracle.domain.safety.secrets.rules import UUID, Secret, compiled, is_opaque, is_random, is_scattered, starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_REACH = 400
"""Characters before a value in which the name of its declaration is looked for."""

_GIVEN = (
    r"(?i:default|value)[\"']?[ \t]{0,20}[:=][ \t]{0,20}(?:[\"'](?P<quoted>[!#-&(-~]{8,4096})[\"']"
    r"|(?P<plain>[!#-&(-+\-.-~]{8,4096})(?=[ \t]*(?:\r?\n|\Z)))"
)
_NAME_BEHIND = (
    r"[\"'][ \t]*,\s{0,20}[\"']?(?:name|key|variable)[\"']?[ \t]{0,9}[:=][ \t]{0,9}[\"'](?P<name>[\w. -]{1,60})[\"']"
)
_BRACE = r"[\"']?(?<![\w.-])(?P<name>[\w.-]{2,60})[\"']?[ \t]{0,9}[:=]?[ \t]{0,9}\Z"
_YAML_NAME = r"[ \t]*(?:-[ \t]+)?[\"']?(?P<name>[\w.-]{2,60})[\"']?:[ \t]*\r?\Z"
_INSERT = (
    r"(?i:insert[ \t]+into)[ \t]+[\w.\"`]{1,100}\s{0,9}\((?P<columns>[^()\0]{1,2000})\)\s{0,9}(?i:values)\s{0,9}(?=\()"
)
_ROW = r"\((?P<row>(?:'[^'\n\0]{0,2000}'|[^()'\n\0]){1,4000}+)\)\s{0,9},?\s{0,9}"
_CELL = r"(?:'[^'\n\0]{0,2000}'|[^,'\0]){1,2000}+"

_SAID = (
    " as the ",
    " is the ",
    "作为",
    " as pass",
    " as token",
    " as secret",
    " as api",
)  # `use … as the root password`
DECLARING = ("default", "value", *_SAID, "kind: secret")
"""Words in small letters, of which a text that declares a secret has one; `insert` needs `values`."""

_NAMED = r"(?: [ai]s the | as |作为)(?P<name>\w{1,15}(?: \w{1,15}){0,2}|[\u4e00-\u9fff]{2,8})"


def find_declared(text: str, lower: str) -> Iterator[Secret]:
    """Find random-looking values in the declaration of a secret's name, in rows of SQL, in manifests and in front of a name."""
    for word in ("default", "value"):
        for at in starts(lower, word):
            found = compiled(_GIVEN).match(text, at)
            if found is None:
                continue
            start, end = found.span("quoted" if found["quoted"] else "plain")
            value = text[start:end]
            if is_random(value) and not compiled(UUID).fullmatch(value) and _is_of_secret(text, at, end=end):
                yield Secret("assignment", start, end)
    for at in starts(lower, "insert") if "values" in lower else ():
        yield from _find_inserted(text, at)
    for said in _SAID:
        for at in starts(text, said):
            yield from _find_before(text, at)
    if "kind: secret" in lower:
        yield from _find_manifested(text)


def _find_before(text: str, at: int) -> Iterator[Secret]:
    """Find a scattered value that the words behind it call a secret, or an opaque one if all of them are its name."""
    named = compiled(_NAMED).match(text, at)
    if named is None:
        return
    words = named["name"].split()
    found = compiled(r"(?<![!#-&(-~])(?P<v>[!#-&(-~]{10,100})[`\"'”」]?[ \t]?$").search(text, max(0, at - 104), at)
    ends = (1, 2, 3) if found and is_scattered(found["v"]) else (3,)
    if found and is_opaque(found["v"].removeprefix("0x")) and any(names_secret(" ".join(words[:end])) for end in ends):
        yield Secret("assignment", *found.span("v"))


def _find_inserted(text: str, at: int) -> Iterator[Secret]:
    """Find random-looking values in the columns of secrets, in rows that SQL inserts."""
    found = compiled(_INSERT).match(text, at)
    if found is None:
        return
    columns = [number for number, name in enumerate(found["columns"].split(",")) if names_secret(name.strip(' \t\n"`'))]
    row = compiled(_ROW).match(text, found.end()) if columns else None
    while row:
        cells = list(compiled(_CELL).finditer(text, *row.span("row")))
        for cell in (cells[number] for number in columns if number < len(cells)):
            value = cell[0].strip().strip("'")
            if is_random(value):
                start = text.index(value, cell.start())
                yield Secret("assignment", start, start + len(value))
        row = compiled(_ROW).match(text, row.end())


def _is_of_secret(text: str, at: int, *, end: int) -> bool:
    """Return whether the pair, the block in braces or the block of YAML around a value has the name of a secret."""
    behind = compiled(_NAME_BEHIND).match(text, end)
    if behind:
        return names_secret(behind["name"])
    head = text[max(0, at - _REACH) : at]
    opening = head.rfind("{")
    if opening > head.rfind("}"):
        named = compiled(_BRACE).search(head, max(0, opening - 80), opening)
        return named is not None and names_secret(named["name"])
    return _is_below_secret(head)


def _is_below_secret(head: str) -> bool:
    """Return whether the line of YAML under which a value is indented is the name of a secret."""
    lines = head.split("\n")
    indent = _indent(lines.pop())
    for line in reversed(lines[-8:]):
        if line.strip() and _indent(line) < indent:
            named = compiled(_YAML_NAME).match(line)
            return named is not None and names_secret(named["name"])
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t-"))


# Secrets of Kubernetes

_KIND = r"(?:\A|\n)[># \t]*kind: Secret[ \t]*(?:\r?\n|\Z)"
_DATA = r"([># \t]*)(?:data|stringData):[ \t]*\r?"
_PAIR = r"([># \t]*)(?P<name>[\w.-]{1,100}):[ \t]+[\"']?(?P<v>[!-&(-~]{8,8192})"


def _find_manifested(text: str) -> Iterator[Secret]:
    """Find the values of each Secret of Kubernetes, whatever their names are."""
    start = 0
    for end in (*(mark.start() for mark in compiled(r"\n(?:---|[> \t]{0,20}```)").finditer(text)), len(text)):
        if compiled(_KIND).search(text, start, end):
            yield from _find_in_manifest(text, start, end)
        start = end


def _find_in_manifest(text: str, start: int, end: int) -> Iterator[Secret]:
    """Find the random-looking values below `data`. A certificate is public."""
    indent = end
    for line in compiled(r"[^\n]+").finditer(text, start, end):
        head = compiled(_DATA).fullmatch(line[0])
        pair = compiled(_PAIR).match(line[0])
        if head:
            indent = len(head[1])
        elif pair and len(pair[1]) > indent and is_random(pair["v"]) and not pair["name"].endswith((".crt", ".pem")):
            yield Secret("assignment", line.start() + pair.start("v"), line.start() + pair.end("v"))
        elif _indent(line[0]) <= indent:
            indent = end
