"""Find random-looking values that are given to a name such as `API_KEY` or `密码`. `assignments.toml` says how."""

from __future__ import annotations

from functools import cache

from oracle.domain.safety.secrets.opaque import is_random, is_scattered, is_worded
from oracle.domain.safety.secrets.rules import MASK, UUID, Secret, compiled, expand, read_tables, starts
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    Check = Callable[[str], bool]

_TABLES = "assignments.toml"
_ADDRESS = r"0x[0-9a-fA-F]{40}"
_LAST = r"[\"'`\]]{0,3}[ \t]*(?:\r?\n|\Z)"


@value
class Separator:
    """What may stand between a name and its value, and the condition under which it counts."""

    pattern: str
    condition: str


@value
class Assignment:
    """A value behind a name: what stands in front of the name, the name with its suffix, and what is said in between."""

    before: str
    name: str
    suffix: str
    between: str
    words: str
    condition: str
    value: str
    start: int
    end: int
    is_last: bool
    is_quoted: bool


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
        for name in ("about", "else", "key_of", "open_key", "public")
    }
    names = "|".join(word for word in (*_words()[1:], *_short_names()))
    return {**tables["parts"][0], **lists, "names": names}


def _words() -> list[str]:
    words: list[str] = read_tables(_TABLES)["names"][0]["words"]
    return words


def _short_names() -> list[str]:
    words: list[str] = read_tables(_TABLES)["names"][0]["short"]
    return words


@cache
def _separators(first: str) -> tuple[Separator, ...]:
    """Return the separators that may begin with this character, in order."""
    rows = [row for row in read_tables(_TABLES)["separator"] if compiled(row["first"]).match(first)]
    return tuple(Separator(_pattern(row["pattern"]), row.get("condition", "")) for row in rows)


_NAME = r"(?:(?&password)|(?i:(?&names))|(?&other_names)(?!(?&other_about)))(?&suffix)"
_VALUE = r"(?&opening)(?&beginning)(?:(?&escaped)|(?&quoted)|(?&curly)|(?&plain))"


def find_assignments(text: str, lower: str) -> Iterator[Secret]:
    """Find random-looking values given to names of credentials: in code, settings and prose, and in columns of tables."""
    is_random_here = cache(is_random)  # for this text only: no value outlives the call
    for name in (*_words(), *_short_names(), ""):
        done = 0
        heads = []
        for at in _name_starts(lower, name):
            heads.append(at)
            found = _read_assignment(text, at) if at >= done else None
            if found and _is_secret(found, name, is_random=is_random_here):
                done = found.end
                yield Secret("assignment", found.start, found.end)
        if heads:
            yield from _find_columns(text, heads, check=_is_long_random if name in _short_names() else is_random_here)


def _name_starts(lower: str, name: str) -> Iterator[int]:
    """Yield where a name stands; "" is for the names in other scripts."""
    if name in _short_names():  # `path`, `task`: no letter or digit may stand before or behind one
        return (at for at in starts(lower, name) if _is_word(lower, at, at + len(name)))
    if lower.isascii() and not (name and name.isascii()):
        return iter(())
    if name:
        return starts(lower, name)
    return (found.start() for found in compiled(_pattern("(?&other_names)")).finditer(lower))


def _is_word(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _read_assignment(text: str, at: int) -> Assignment | None:
    """Return the value behind the name at this place, behind the first separator that has one."""
    name = compiled(_pattern(rf"(?P<name>{_NAME})(?&close)(?P<note>(?&note))")).match(text, at)
    if name is None:
        return None
    for start in dict.fromkeys((name.end(), name.start("note"))):
        blank = compiled(r"[ \t]*").match(text, start)
        for separator in _separators(text[blank.end() : blank.end() + 1] if blank else ""):
            between = compiled(separator.pattern).match(text, start)
            found = between and compiled(_pattern(_VALUE)).match(text, between.end())
            if not (between and found):
                continue
            group = next(group for group in ("quoted", "escaped", "curly", "plain") if found[group])
            value = found[group].rstrip(".,;:?*") if group == "plain" else found[group]
            if found["call"] and (len(value) < 24 or is_worded(value)):
                return None
            end = found.start(group) + len(value)
            return Assignment(
                before=text[max(0, at - 24) : at],
                name=name["name"],
                suffix=name["suffix"],
                between=text[name.end("name") : between.end()],
                words=between.groupdict().get("words") or "",
                condition=separator.condition,
                value=value,
                start=found.start(group),
                end=end,
                is_last=compiled(_LAST).match(text, end) is not None,
                is_quoted=group != "plain",
            )
    return None


def _is_secret(found: Assignment, name: str, *, is_random: Check) -> bool:
    """Tell whether both the value and the name look like those of a credential."""
    if not is_random(found.value) or not _names_secret(found.before, name, found.suffix):
        return False
    if _is_passed_on(found) or _is_negation(found) or _is_contract(found, name) or not _is_meant(found, name):
        return False
    if name in _short_names() and not _is_long_random(found.value):
        return False
    if compiled(UUID).fullmatch(found.value) and not _may_be_uuid(found, name):
        return False
    return name != "key" or len(found.value) >= 20 or _is_key_of(found.before)


def _is_key_of(before: str) -> bool:
    return compiled(_pattern(r"(?i)(?:(?&key_of))[_\-. ]?$|[?&]$")).search(before) is not None


def _is_long_random(value: str) -> bool:
    """Tell whether a value is random enough for a name that is a word of something else too."""
    return compiled(r"(?=\D*\d)[\w+/=-]{16,}").fullmatch(value) is not None and is_random(value)


def _is_passed_on(found: Assignment) -> bool:
    """Tell whether the name is the verb `pass` and what is passed, in one word: `PassRole`, `passThrough`."""
    is_verb = len(found.name) - len(found.suffix) == len("pass") and not found.before[-1:].isalnum()
    return is_verb and compiled(r"[A-Z][a-z]").match(found.suffix) is not None


def _is_negation(found: Assignment) -> bool:
    """Tell whether the value is the negation of a variable, given to a variable: `passwordVisible = !passwordVisible`."""
    if found.is_quoted or not compiled(r"!+[A-Za-z_$][\w$.]*").fullmatch(found.value):
        return False
    has_humps = compiled(r"[a-z][A-Z]").search(
        found.before[-1:] + found.name[:1] + found.name[-len(found.suffix) - 1 :]
    )
    return has_humps is not None or found.name.lower() in found.value.lower()


def _is_contract(found: Assignment, name: str) -> bool:
    """Tell whether the value is the public address of a token on a chain. Keys there have 64 digits."""
    stands_alone = not compiled(r"[\w.-]$").search(found.before) and not found.suffix
    return (
        name == "token"
        and stands_alone
        and found.condition != "option"
        and compiled(_ADDRESS).fullmatch(found.value) is not None
    )


def _is_meant(found: Assignment, name: str) -> bool:
    """Tell whether the value is that of the name, and not of what stands in between."""
    if found.condition == "last":
        return found.is_last
    if found.condition == "last and scattered":
        return found.is_last and is_scattered(found.value)
    if found.condition == "last if on a line below" and "\n" in found.between and not found.is_last:
        return False
    if found.condition == "option" and name and not _may_follow_blank(found):
        return False
    about = compiled(_pattern(r"(?i)(?:(?&about))\d*$"))
    other = compiled(_pattern(r"(?i:(?&else))"))
    return not any(about.match(word) or other.fullmatch(word) for word in found.words.split())


def _may_be_uuid(found: Assignment, name: str) -> bool:
    """Tell whether a UUID may be the secret of this name: most tokens of requests, sessions and pages open nothing.

    `VENDOR_TOKEN=…` in capitals does, as a setting of the environment.
    """
    if name != "token":
        return name in ("key", "secret", "pass", "_auth", "pat")
    is_setting = found.name == "TOKEN" and compiled(r"[\"']?[ \t]*[=:]").match(found.between)
    if not is_setting or not compiled(r"[A-Z0-9]_$").search(found.before):
        return False
    return not compiled(r"(?:REQUEST|SESSION|CONTINUATION|TRACE|SYNC|CLIENT|DEVICE)_$").search(found.before)


def _may_follow_blank(found: Assignment) -> bool:
    """Tell whether a name takes its value behind a mere blank: an option, a line of .netrc, or `NAME_API_KEY`."""
    before, value = found.before, found.value
    is_option = (
        r"(?:^|\s)-{1,2}[\w-]*$|(?:^|\s)require$|(?i:login|user)[ \t]+\S+\s+$|(?i:set|config)[ \t]+[\"']?[\w./:-]*$"
    )
    is_hash = compiled(r"(?:0x)?(?:[0-9a-f]{32}){1,2}").fullmatch(value)
    if is_hash and compiled(r"(?i:private|priv|api)[ _-]$").search(before):
        return True
    if compiled(is_option).search(before):
        return True
    if len(value) >= 24 and compiled(r"(?=\D*\d)(?=[^G-Zg-z]*[G-Zg-z])").match(value):  # a hash has no such letter
        return True
    head = (found.name + found.between).split(maxsplit=1)[0]
    if compiled(r"(?i:pass(?:word|wd|code|phrase)|pwd?|psk)").fullmatch(head) and is_scattered(value):
        return True
    named = compiled(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?").fullmatch(head)
    return bool(named and before[-1:] == "_" and len(value) >= 20 and any(map(str.isdigit, value)))


# Names


def _names_secret(before: str, name: str, suffix: str) -> bool:
    """Tell whether the name around the word (24 characters before it, and what follows) is that of a credential."""
    about, public = _pattern(r"(?i)(?:(?&about))\d*$"), _pattern(r"(?i)(?:(?&public))[_\-. ]?$|:\d{12}:$")
    if compiled(about).search(suffix) or compiled(public).search(before):
        return False
    if name == "key":
        is_setting = compiled(r"[A-Z0-9]_$").search(before)
        return bool(is_setting and not compiled(_pattern(r"(?:(?&open_key))_$")).search(before)) or _is_key_of(before)
    if name in (*_short_names(), "pw", "psk", "clave"):
        return suffix == "" and not before[-1:].isalnum()
    if name == "pass":
        return not compiled(r"[a-z]$").search(before) or suffix == ""
    return True


def names_secret(name: str) -> bool:
    """Tell whether a field of this name holds a credential, however harmless its value looks: `db_password`, `apiKey`, 口令.

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
    """Tell whether the word and its surroundings name a secret. `pass_rate`, `bypass` and `pwd` (a folder) do not."""
    if said in ("pass", "pwd") and (suffix or before[-1:].isalnum()):
        return False
    if said == "pwd" and before.lower() in ("", "old_"):
        return False
    return _names_secret(before, word, suffix)


# Columns of tables

_HEAD = r"[^\s,;|]{2,40}+[ *_`\"':]{0,9}+(?:[|,;\t\r]|\Z)"  # a name that fills the rest of its cell
_FIELD = r"[ \t]{0,3}[\"']?\w[\w .-]{0,40}[\"']?\s{0,3}"  # a head of CSV: no line of code, nothing left open
_AROUND = " \t\r*_`\"'"  # what may stand around the text of a cell
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
    if mark in ",;" and not all(map(compiled(_FIELD).fullmatch, cells)):
        return end
    columns = [at for at, cell in enumerate(cells) if len(cell) <= 40 and names_secret(cell.strip(_AROUND + ":"))]
    while columns and mark in text[end + 1 : (below := _line_end(text, end + 1))]:
        row = text[end + 1 : below].replace("\\|", MASK * 2).split(mark)
        for column in columns if len(row) == len(cells) else ():
            cell = row[column].strip(_AROUND)
            if cell.isascii() and not compiled(rf"[\s\0]|(?:{UUID}|^{_ADDRESS})$").search(cell) and check(cell):
                at = end + 1 + sum(len(before) + 1 for before in row[:column]) + row[column].index(cell)
                yield Secret("assignment", at, at + len(cell))
        end = below
    return end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
