"""Edges: their types, what a project configures about them, and a text that is being read for them. Pure.

Hits are kept as offsets; lines and snippets are made once, for the hits that are kept. `references.extract` reads a text.
The key of a reference is made here too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import namedtuple
from unicodedata import category, normalize

from oracle.domain.compiling import compiled
from oracle.domain.names import entity
from oracle.domain.values import value

TYPE_CHECKING = False


RECORD = "references-record"
TASK, COMMIT, FILE, URL = "references-task", "references-commit", "references-file", "references-url"
KEY, PROJECT, COMPONENT = "references-key", "references-project", "references-component"
RELATIONS = ("supersedes", "contradicts", "supports", "extends", "derived-from", "related-task", "retires")
CLAIMS = {"supersedes": "claims-supersedes", "retires": "claims-retires"}
"""What a relation is called that would end a record of another seat, and so has no effect."""
EDGE_TYPES = (TASK, COMMIT, FILE, URL, KEY, PROJECT, COMPONENT, RECORD, *RELATIONS, *CLAIMS.values())
ROOT_FOLDERS = ("projects/", "shared/", "learnings/")
MAX_VALUE = 2000  # characters of an entity's value or a reference; longer ones are no edges, for a cut one would lie
SNIPPET_MARGIN = 60
SNIPPET_LENGTH = 200

HIDDEN = "\x01"  # written over what has been read: no pattern takes it for a word, a blank or punctuation
BLANKS = frozenset(["", " ", "\n"])  # what most words have before them, and what no word goes on from
_PREFIXES = (  # in the order in which edges are listed
    (TASK, entity("taskid", "")),
    (COMMIT, entity("commit", "")),
    (FILE, entity("file", "")),
    (URL, entity("url", "")),
    (KEY, entity("key", "")),
    (PROJECT, entity("project", "")),
    (COMPONENT, entity("component", "")),
)
# Where what is written without blanks begins and ends, by turns: Thai and Lao, Burmese, Hangul, Khmer, the CJK blocks, their
# compatibility forms, full width.
_WIDE = (
    "\u0e00\u0f00\u1000\u10a0\u1100\u1200\u1780\u1800\u2e80\ua000\ua960\ua980\uac00\ud800\uf900\ufb00\ufe30\ufe50"
    "\uff00\ufff0\U00020000\U00040000"
)
_ESCAPE = r"\\([!-/:-@\[-`{-~])"
_ENCODED = r"(?:%[0-9A-Fa-f]{2})+"
_ROOTED = frozenset("/~$")
_UNCLEAN = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NamedTuple

    class Mention(NamedTuple):
        """An edge to an entity. `line` counts from 1 within the text that was read."""

        type: str
        target: str
        snippet: str
        line: int

    class Reference(NamedTuple):
        """A link to a record: `ref` as written, without encoding, anchor, alias, suffix; `resolve` finds the record."""

        type: str
        ref: str
        snippet: str
        line: int

    class Extraction(NamedTuple):
        """Mentions by pattern, then by place; references by place. Of several equal ones, the first is kept."""

        mentions: tuple[Mention, ...]
        references: tuple[Reference, ...]
else:
    Mention = namedtuple("Mention", "type target snippet line")
    Reference = namedtuple("Reference", "type ref snippet line")
    Extraction = namedtuple("Extraction", "mentions references")


@value
class Patterns:
    """What a Root or project configures: task prefixes (None: any but well-known standards) and component suffixes.

    `repository` returns how texts spell the folder of the project's repository, its absolute path first. It is called
    when a path needs it. With `keeps_parents` a path that leads out of the repository keeps the `../` at its head.
    """

    task_prefixes: frozenset[str] | None = None
    component_suffixes: tuple[str, ...] = ("Phasic", "Physics", "View", "Engine", "Layer", "Component")
    keeps_parents: bool = False
    repository: Callable[[], tuple[str, ...]] = tuple


DEFAULT_PATTERNS = Patterns()


class Page:
    """Collects hits as (offset, end, value); lines and snippets are made once, for the hits that are kept."""

    __slots__ = ("_hits", "_refs", "beside", "patterns", "sites", "text")

    def __init__(self, text: str, patterns: Patterns = DEFAULT_PATTERNS) -> None:
        self.text = text
        self.patterns = patterns
        self.beside = text  # what neighbours are looked up in: the text, once it is read with its emphasis taken off
        self.sites: set[str] = set()  # hosts and repositories of its URLs, which may end as a file's name does
        self._hits: dict[str, list[tuple[int, int, str]]] = {}
        self._refs: list[tuple[int, int, str]] = []

    def before(self, at: int) -> str:
        """Return the character before an offset, or ""."""
        return self.beside[at - 1] if at > 0 else ""

    def after(self, at: int) -> str:
        """Return the character at an offset, or ""."""
        return self.beside[at : at + 1]

    def part(self, start: int, end: int) -> str:
        """Return a part of the text as it was written."""
        return self.beside[max(start, 0) : end]

    def is_joined(self, start: int, end: int) -> bool:
        """Return whether a hit is only part of a word."""
        return joins(self.before(start)) or joins(self.after(end))

    def mention(self, kind: str, value: str, *, start: int, end: int) -> None:
        """Keep an edge to an entity."""
        if kind in self._hits:
            self._hits[kind].append((start, end, value))
        else:
            self._hits[kind] = [(start, end, value)]

    def refer(self, ref: str, *, start: int, end: int) -> None:
        """Keep a link to a record."""
        self._refs.append((start, end, ref))

    def finish(self) -> Extraction:
        """Return the hits that are kept, as edges."""
        if not self._hits and not self._refs:
            return Extraction((), ())
        text = self.text
        plain = text if "\r" not in text else text.replace("\r\n", " \n").replace("\r", "\n")
        mentions: list[Mention] = []
        for kind, prefix in _PREFIXES:
            if kind in self._hits:
                done, line = 0, 1
                for start, end, value in _first(self._hits[kind]):
                    line += plain.count("\n", done, start)
                    done = start
                    mentions.append(Mention(kind, prefix + value, _snippet(text, start, end), line))
        references: list[Reference] = []
        done, line = 0, 1
        for start, end, ref in _first(self._refs) if self._refs else ():
            line += plain.count("\n", done, start)
            done = start
            references.append(Reference(RECORD, ref, _snippet(text, start, end), line))
        return Extraction(tuple(mentions), tuple(references))


def _snippet(text: str, start: int, end: int) -> str:
    """Return a hit with the text around it, every run of blanks collapsed to one."""
    begin = start - SNIPPET_MARGIN if start > SNIPPET_MARGIN else 0
    stop = end + SNIPPET_MARGIN
    part = text[begin : stop if stop - begin < SNIPPET_LENGTH else begin + SNIPPET_LENGTH]
    if "\n" in part:
        part = part.replace("\n\n", " ").replace("\n", " ")
    part = part.strip()
    if "  " in part or not part.isprintable():  # every blank but the plain space counts as unprintable
        return " ".join(part.split())
    return part


def _first(hits: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the first hit of each value, by place, in NFC and without those that are too long."""
    if len(hits) == 1 and hits[0][2].isascii() and len(hits[0][2]) <= MAX_VALUE:
        return hits
    first: dict[str, tuple[int, int, str]] = {}
    for start, end, found in sorted(hits):
        clean = compose(found)
        if clean not in first and len(clean) <= MAX_VALUE:
            first[clean] = (start, end, clean)
    return list(first.values())


def joins(char: str) -> bool:
    """Return whether a neighbour makes one word with a Latin word: a letter of a script with capitals, a digit or `_`.

    A letter of Arabic, of Devanagari or one that is written wide never does: it is another word, blank or not.
    """
    if char.isascii():
        return char.isalnum() or char == "_"
    return (char.islower() or char.isupper() or char.isdecimal()) and not is_wide(char)


def is_wide(char: str) -> bool:
    """Return whether a character is a letter or digit of a script that is written without blanks between words."""
    return not char.isascii() and char.isalnum() and bisect_right(_WIDE, char) % 2 == 1


def unescape(text: str) -> str:
    """Return a text without the backslashes that Markdown takes off before punctuation."""
    return compiled(_ESCAPE).sub(r"\1", text)


def decode(path: str) -> str:
    """Return a path without the percent signs of a URL; bytes other than UTF-8 keep them."""
    return compiled(_ENCODED).sub(_decode_run, path) if "%" in path else path


def _decode_run(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found.group().replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return found.group()


def is_unclean(text: str) -> bool:
    """Return whether a text holds controls, line ends or half characters, which no value of an edge may."""
    return not text.isprintable() and compiled(_UNCLEAN).search(text) is not None


def settle_path(path: str, patterns: Patterns = DEFAULT_PATTERNS) -> str:
    """Return a path as its file is named everywhere: `src/./c.ts` and `src//c.ts` are `src/c.ts`.

    With a repository at `/w/shop`, `../shop/src/c.ts` and `/w/shop/src/c.ts` are `src/c.ts` too, and `../x.py` is
    `/w/x.py`. Without one a path loses its leading `../`. Returns "" for a path above `~` or above a variable.
    """
    if "./" in path or "//" in path:
        path = _tidy(path)
    climbs = 0
    while path.startswith("../", 3 * climbs):
        climbs += 1
    if not climbs:
        return _in_repository(path, patterns) if path[:1] in _ROOTED else path
    bare = path[3 * climbs :]
    folders = patterns.repository()
    if not folders:
        return path if patterns.keeps_parents else bare
    above = folders[0].split("/")[:-climbs] or [""]
    found = _in_repository("/".join([*above, bare]), patterns)
    return path if patterns.keeps_parents and found[:1] == "/" else found


def settle_target(target: str, patterns: Patterns = DEFAULT_PATTERNS) -> str:
    """Return the target of an edge, with the path of a file as `settle_path` returns it."""
    head = entity("file", "")
    path = settle_path(target.removeprefix(head), patterns) if target.startswith(head) else ""
    return head + path if path else target


def _tidy(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            if parts[0][0] in "~$" and len(parts) == 1:
                return ""
            parts.pop()
        elif part not in {"", "."} and (part != ".." or path[0] != "/"):
            parts.append(part)
    return ("/" if path[0] == "/" else "") + "/".join(parts)


def _in_repository(path: str, patterns: Patterns) -> str:
    for folder in patterns.repository():
        if path.startswith(f"{folder}/"):
            return path[len(folder) + 1 :]
    return path


def compose(text: str) -> str:
    """Return the text in NFC."""
    return text if text.isascii() else normalize("NFC", text)


# The words of a reference, under which the index finds its record --------------------------------------------------

_NAME_BYTES = 80
"""Bytes of a title that its file name has at most."""

_TO_BLANK = {code: " " for code in range(128) if not chr(code).isalnum()}
_STAMP = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t-][0-9]{2}-[0-9]{2}-[0-9]{2}(?:(?:-(?:[0-9]{9}|[0-9]{6}|[0-9]{3}))?z)?"
    r"|t[0-9]{2}-[0-9]{2}z?|t[0-9]{6}z)?-|[0-9]{8}(?:t[0-9]{6}z?|t[0-9]{4})?-"
)
"""How a timestamp looks at the head of a name, once it is words."""


def reference_key(ref: str) -> str:
    """Return the key under which the index finds candidates: the words of the last path component, without its stamp.

    Case, blanks, punctuation and normal forms make no difference, and neither does what lies beyond the bytes that a
    title gives to a file name.
    """
    return cut_words(ref.rpartition("/")[2])


def fold_case(text: str) -> str:
    """Return a text without regard to case, in NFC."""
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def words_of(path: str) -> str:
    """Return a path as the words of its parts, joined by hyphens; a part without letters and digits stays as it is."""
    return "/".join([_words_of_part(part) for part in path.split("/")])


def _words_of_part(part: str) -> str:
    folded = fold_case(decode(part))
    if folded.isascii():
        return "-".join(folded.translate(_TO_BLANK).split()) or folded
    plain = normalize("NFKC", normalize("NFKC", folded).casefold())
    return (
        "-".join("".join([char if char.isalnum() or category(char) in ("Mn", "Mc") else " " for char in plain]).split())
        or folded
    )


def plain_words(path: str) -> str:
    """Return a path as words, the last part without its stamp."""
    folder, slash, name = words_of(path).rpartition("/")
    return folder + slash + unstamped(name)


def unstamped(words: str) -> str:
    """Return a name without the timestamps at its head: a title may begin with one of its own."""
    while words[:4].isdigit() and (stamp := compiled(_STAMP).match(words)):
        words = words[stamp.end() :]
    return words


def cut_words(path: str) -> str:
    """Return the words of a path, the last part as short as a file name made of them."""
    folder, slash, name = plain_words(path).rpartition("/")
    if len(name) * 4 > _NAME_BYTES:
        name = name.encode("utf-8", "surrogatepass")[:_NAME_BYTES].decode("utf-8", "ignore").strip("-")
    return folder + slash + name
