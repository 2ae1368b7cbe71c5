"""Find random-looking values that are given to a name such as `API_KEY` or `密码`. `assignments.toml` says how."""

from __future__ import annotations

from functools import cache

from oracle.domain.safety.secrets.rules import (
    MASK,
    UUID,
    Secret,
    compiled,
    expand,
    is_opaque,
    is_random,
    is_scattered,
    is_worded,
    read_tables,
    starts,
)
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Generator, Iterator

    from oracle.domain.safety.secrets.rules import Row

    Check = Callable[[str], bool]

_TABLES = "assignments.toml"


@value
class Assignment:
    """A value behind a name, in the parts that the tables of `assignments.toml` ask about."""

    word: str
    before: str
    name: str
    suffix: str
    separator: str = ""
    between: str = ""
    words: str = ""
    opening: str = ""
    value: str = ""
    behind: str = ""
    look: str = ""
    start: int = 0


@cache
def _pattern(part: str) -> str:
    """Return a pattern made of the parts of `assignments.toml`."""
    return expand(part, _parts())


@cache
def _parts() -> dict[str, str]:
    """Return the named parts of patterns, those that are made of lists of words among them."""
    tables = read_tables(_TABLES)
    lists = {
        name: "|".join(word for row in tables[name] for word in row["words"].split())
        for name in ("about", "other", "key_of", "open_key", "public")
    }
    names = "|".join(word for word in (*_words()[1:], *_short_names()))
    return {**tables["parts"][0], **lists, "names": names}


@cache
def _words() -> tuple[str, ...]:
    return tuple(read_tables(_TABLES)["names"][0]["words"])


@cache
def _short_names() -> tuple[str, ...]:
    return tuple(read_tables(_TABLES)["names"][0]["short"])


@cache
def _separators(first: str) -> list[Row]:
    """Return the separators that may begin with this character, in order."""
    return [row for row in read_tables(_TABLES)["separator"] if compiled(row["first"]).match(first)]


def _is_in(table: str, found: Assignment) -> bool:
    """Return whether a row of a table holds: each of its patterns is found in the part that it is about."""
    return any(
        all(_search(pattern)(getattr(found, part)) for part, pattern in row.items())
        for row in read_tables(_TABLES)[table]
    )


@cache
def _search(part: str) -> Callable[[str], object]:
    return compiled(_pattern(part)).search


_NAME = r"(?:(?&password)|(?i:(?&names))|(?&other_names)(?!(?&other_about)))(?&suffix)"
_NAMED = rf"(?P<name>{_NAME})(?&close)(?P<note>(?&note))"
_VALUE = r"(?&opening)(?&beginning)(?:(?&escaped)|(?&quoted)|(?&curly)|(?&plain))"


def find_assignments(text: str, lower: str) -> Iterator[Secret]:
    """Find random-looking values given to names of credentials: in code, settings and prose, and in columns of tables."""
    judged: dict[str, bool] = {}  # for this text only: no value outlives the call

    def is_random_here(value: str) -> bool:
        if value not in judged:
            judged[value] = is_random(value)
        return judged[value]

    for word in (*_words(), *_short_names(), ""):
        if word not in lower:
            continue
        done = 0
        heads = []
        for at in _name_starts(lower, word):
            heads.append(at)
            found = _read_assignment(text, at, word, is_random_here) if at >= done else None
            if found and _is_secret(found):
                done = found.start + len(found.value)
                yield Secret("assignment", found.start, done)
        if heads:
            yield from _find_columns(text, heads, check=_is_long_random if word in _short_names() else is_random_here)


def _name_starts(lower: str, name: str) -> Iterator[int]:
    """Yield the places of a name; "" is for the names in other scripts."""
    if name in _short_names():  # `path`, `task`: no letter or digit may be before or behind one
        return (at for at in starts(lower, name) if _is_word(lower, at, at + len(name)))
    if lower.isascii() and not (name and name.isascii()):
        return iter(())
    if name:
        return starts(lower, name)
    return (found.start() for found in compiled(_pattern("(?&other_names)")).finditer(lower))


def _is_word(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _read_assignment(text: str, at: int, word: str, check: Check) -> Assignment | None:
    """Return the value behind the name at this place, if it is accepted: the first one that a separator leads to."""
    name = compiled(_pattern(_NAMED)).match(text, at)
    if name is None:
        return None
    for start in dict.fromkeys((name.end(), name.start("note"), name.start("suffix"))):
        blank = compiled(r"[ \t]*").match(text, start)
        for row in _separators(text[blank.end() : blank.end() + 1] if blank else ""):
            between = compiled(_pattern(row["pattern"])).match(text, start)
            found = between and compiled(_pattern(_VALUE)).match(text, between.end())
            if between and found:
                value = _value_of(found)
                return _assignment(word, name, row["name"], between, found, value) if check(value) else None
    return None


def _value_of(found: re.Match[str]) -> str:
    """Return the value, "" for the call of a function."""
    if not found["plain"]:
        return found["quoted"] or found["escaped"] or found["curly"]
    value = found["plain"].rstrip(".,;:?*")
    return "" if found["call"] and (len(value) < 24 or is_worded(value)) else value


def _assignment(
    word: str, name: re.Match[str], separator: str, between: re.Match[str], found: re.Match[str], value: str
) -> Assignment:
    text = found.string
    start = next(found.start(group) for group in ("quoted", "escaped", "curly", "plain") if found[group])
    return Assignment(
        word=word,
        before=text[max(0, name.start() - 40) : name.start()],
        name=name["name"],
        suffix=name["suffix"],
        separator=separator,
        between=text[name.end("name") : between.end()],
        words=between.groupdict().get("words") or "",
        opening="" if found["plain"] else text[found.start() : start],
        value=value,
        behind=text[start + len(value) : start + len(value) + 100],
        look="scattered" if is_scattered(value) else "opaque" if is_opaque(value) else "",
        start=start,
    )


def _is_secret(found: Assignment) -> bool:
    """Return whether the name is that of a credential, and the value is meant by it."""
    if _is_in("unnamed", found) or _is_in("unless", found):
        return False
    return found.separator != "blank" or _is_in("blank", found)


def _is_long_random(value: str) -> bool:
    """Return whether a value is random enough for a name that is a word of something else too."""
    return compiled(r"(?=\D*\d)[\w+/=-]{16,}").fullmatch(value) is not None and is_random(value)


# Names


def names_secret(name: str) -> bool:
    """Return whether a field of this name holds a credential, however harmless its value looks: `db_password`, `apiKey`, 口令.

    A name about one does not: `token_count`, `password_policy`, `private_key_path`.
    """
    plain = compiled(r"(?<=[a-z0-9])(?=[A-Z])").sub("_", name)
    if not plain.isascii() and compiled(_pattern("(?&other_names)(?!(?&other_about))")).search(plain):
        return True
    lower = plain.lower()
    for word in (*_words(), *_short_names()):
        for at in starts(lower, word):
            found = compiled(_pattern(_NAME)).fullmatch(plain, at)
            if found and _is_a_name(plain[:at], lower[at : found.start("suffix")], found["suffix"], word):
                return True
    return False


def _is_a_name(before: str, said: str, suffix: str, word: str) -> bool:
    """Return whether the word and its surroundings name a secret. `pass_rate`, `bypass` and `pwd` (a folder) do not."""
    if said in ("pass", "pwd") and (suffix or before[-1:].isalnum()):
        return False
    if said == "pwd" and before.lower() in ("", "old_"):
        return False
    return not _is_in("unnamed", Assignment(word, before[-40:], said, suffix))


# Columns of tables

_HEAD = r"[^\s,;|]{2,40}+[ *_`\"':]{0,9}+(?:[|,;\t\r]|\Z)"  # a name that fills the rest of its cell
_FIELD = r"[ \t]{0,3}[\"']?\w[\w .-]{0,40}[\"']?\s{0,3}"  # a head of CSV: no line of code, nothing left open
_AROUND = " \t\r*_`\"'"  # what may be around the text of a cell
_LINE = 400  # characters of a table's head that are read, before a name and behind it


def _find_columns(text: str, names: list[int], *, check: Check) -> Iterator[Secret]:
    """Find random-looking cells below a head that names a secret, in tables of Markdown, CSV and TSV."""
    done = 0
    for at in names:
        end = text.find("\n", at, at + _LINE) if at >= done else -1
        if end >= 0 and compiled(_HEAD).match(text, at, end):
            start = text.rfind("\n", max(0, at - _LINE), at) + 1
            if start or at <= _LINE:
                done = yield from _find_cells(text, start, end, check=check)


def _find_cells(text: str, start: int, end: int, *, check: Check) -> Generator[Secret, None, int]:
    """Find the values in the named columns of the table whose head is `text[start:end]`; return where the table ends."""
    head = text[start:end]
    mark = next((mark for mark in "|\t,;" if mark in head), "\n")
    cells = head.split(mark)
    if _is_a_row(text, start, mark, len(cells)):
        return end
    if mark in ",;" and not all(map(compiled(_FIELD).fullmatch, cells)):
        return end
    columns = [at for at, cell in enumerate(cells) if len(cell) <= 40 and names_secret(cell.strip(_AROUND + ":"))]
    while columns and mark in text[end + 1 : (below := _line_end(text, end + 1))]:
        row = text[end + 1 : below].replace("\\|", MASK * 2).split(mark)
        for column in columns if len(row) == len(cells) else ():
            cell = row[column].strip(_AROUND)
            if (
                cell.isascii()
                and not compiled(rf"[\s\0]|(?:{UUID}|^0x[0-9a-fA-F]{{40}})$").search(cell)
                and check(cell)
            ):
                at = end + 1 + sum(len(before) + 1 for before in row[:column]) + row[column].index(cell)
                yield Secret("assignment", at, at + len(cell))
        end = below
    return end


def _is_a_row(text: str, start: int, mark: str, size: int) -> bool:
    """Return whether the line in front has as many cells, so that no head begins here."""
    above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : start].rstrip("\n")
    return size > 1 and above.count(mark) == size - 1


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
