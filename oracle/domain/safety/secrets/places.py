"""Find tokens by the formats that vendors publish (`shapes.toml`), and values that their place gives away (`places.toml`).

Key blocks and cookies are found here too.
"""

from __future__ import annotations

import binascii
from functools import cache

from oracle.domain.safety.secrets.rules import (
    MASK,
    Rule,
    Secret,
    compiled,
    is_credential,
    is_dense_token,
    is_opaque,
    is_placeholder,
    is_random,
    is_scattered,
    is_token,
    is_worded,
    read_tables,
    rule_of,
    starts,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.domain.safety.secrets.rules import Check, Row

_OTHER_KINDS = ("private-key", "url-password", "authorization", "seed-phrase", "assignment")
_HEAD = r"[A-Za-z0-9]+[^A-Za-z0-9]?"  # the start of a word or of a part of one, with its first three characters
_OPAQUE_PART = r"(?:^|[/.])(?=[^/.]{15})(?:[^/.]{30}|[^/.]*[0-9A-Z])"


def find_shapes(text: str, words: str) -> Iterator[Secret]:
    """Find tokens of published formats, also written backwards. `words` are the long words of the text."""
    for number in _shapes_in(words) if words else ():
        rule = _shape_rule(number)
        for literal in _literals_of(_rows()[number]):
            marks = compiled(rule.pattern).finditer(text) if len(literal) == 1 else ()  # a full stop is frequent
            yield from rule.find(text, (mark.start() for mark in marks) if marks else starts(text, literal))
    back = ""
    for number, literal in _backwards_in(words):
        back = back or text[::-1]
        for secret in _shape_rule(number).find(back, starts(back, literal)):
            yield Secret(secret.kind, len(text) - secret.end, len(text) - secret.start)


def _backwards_in(words: str) -> Iterator[tuple[int, str]]:
    """Yield the shapes and literals with which these words seem to end, read backwards."""
    ends = {word.rstrip("\"'`.,;:!?)]}>*_~=|\\")[-3:] for word in words.split()}
    by_end = _literals_by_end()
    for end in ends & by_end.keys():
        yield from (pair for pair in by_end[end] if pair[1][::-1] in words)


@cache
def _literals_by_end() -> dict[str, list[tuple[int, str]]]:
    """Return the prefixes that are safe to look for backwards, long ones with a mark, by their first three letters reversed."""
    ends: dict[str, list[tuple[int, str]]] = {}
    for number, row in enumerate(_rows()):
        for literal in row.get("prefixes", ()):
            if len(literal) > 3 and not literal.isalnum():
                ends.setdefault(literal[2::-1], []).append((number, literal))
    return ends


def long_words(text: str) -> str:
    """Keep the words of which a part could be a token: 15 characters with a digit or a capital, or 30. Prose has few."""
    ascii_only = text if text.isascii() else text.encode("ascii", "replace").decode().replace("?", " ")
    search = compiled(_OPAQUE_PART).search
    return " ".join([word for word in {word for word in ascii_only.split() if len(word) >= 15} if search(word)])


def _shapes_in(words: str) -> list[int]:
    """Return the numbers of the shapes whose literal is in these words, in order."""
    heads = {head[:3] for head in compiled(_HEAD).findall(words)}
    heads.update(compiled(r"[a-z](?=([A-Z][A-Za-z0-9].))").findall(words))
    if "\\" in words or "%" in words:  # escaped line ends, characters of a URL
        heads.update(compiled(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})(?=([A-Za-z0-9].{2}))").findall(words))
    by_head = _literals_by_head()
    near = [*by_head[""], *(pair for head in heads & by_head.keys() for pair in by_head[head])]
    return sorted({number for literal, number in near if literal in words})


@cache
def _literals_by_head() -> dict[str, list[tuple[str, int]]]:
    """Return each literal with the number of its shape by its first three characters, under "" if it may be inside a word."""
    heads: dict[str, list[tuple[str, int]]] = {}
    for number, row in enumerate(_rows()):
        starts_words = "glued" not in row and ("prefixes" in row or row["pattern"].startswith("(?&edge)"))
        for literal in _literals_of(row):
            is_head = starts_words and len(literal) > 2 and compiled(_HEAD).fullmatch(literal[:3])
            heads.setdefault(literal[:3] if is_head else "", []).append((literal, number))
    return heads


def _is_opaque_token(value: str) -> bool:
    """Accept the body of a token whose prefix is an ordinary word, such as `_live_`."""
    return is_token(value) and is_opaque(compiled("[-_]").sub("", value))


_SHAPE_CHECKS: dict[str, Check] = {"token": is_token, "dense": is_dense_token, "opaque": _is_opaque_token}


@cache
def _shape_rule(number: int) -> Rule:
    row = _rows()[number]
    return rule_of(row, read_tables("shapes.toml")["parts"][0], _SHAPE_CHECKS[row.get("check", "token")])


def _rows() -> list[Row]:
    return read_tables("shapes.toml")["shape"]


def _literals_of(row: Row) -> list[str]:
    literals: list[str] = row.get("prefixes") or row["literals"]
    return literals


@cache
def markers() -> tuple[str, ...]:
    """Return what may stand for a redacted credential."""
    return tuple(f"[REDACTED:{kind}]" for kind in dict.fromkeys((*(row["kind"] for row in _rows()), *_OTHER_KINDS)))


_WORDS_IN_URL = r"^(?:[A-Z_]+|[a-z]{1,4}|[a-z]*(?:pass|secret|pwd|user|token|test|demo|guest|admin|root|host)[a-z]*)$"


def is_password(value: str) -> bool:
    """Return whether a value in a URL may be a password. It has at least four characters, and is no placeholder and no port."""
    if len(value) < 4 or any(value in marker for marker in markers()) or compiled(_WORDS_IN_URL).match(value):
        return False
    return not (is_placeholder(value) or compiled(r"(?i)\d{1,5}(?:[,;)\]].*)?$|.*passwor[dt]|[-.*x_]+$").match(value))


def _is_raw_password(value: str) -> bool:
    """Accept a password with `/`, `?` or `#` in a URL. No URL may hold these, but people write them."""
    return is_password(compiled("[/?#]").sub("", value))


def _is_raw_random(value: str) -> bool:
    """Accept such a password in the URL of a page or a repository if it looks random. Otherwise it may be a path."""
    return not is_worded(value) and is_random(compiled("[/?#]").sub("", value))


def _is_basic(value: str) -> bool:
    """Accept the credentials of HTTP Basic (RFC 7617): Base64 of `user:password`."""
    try:
        user, colon, password = binascii.a2b_base64(value + "==").decode("utf-8").partition(":")
    except (ValueError, UnicodeDecodeError):
        return False
    return bool(colon) and user.isprintable() and user != password and is_password(password)


def _is_sasl(value: str) -> bool:
    """Accept the answer of SASL PLAIN (RFC 4616): Base64 of two names and a password, with zero bytes between them."""
    try:
        return binascii.a2b_base64(value + "==").decode("utf-8").count("\0") == 2
    except (ValueError, UnicodeDecodeError):
        return False


def _is_phrase(value: str) -> bool:
    """Accept as many words as BIP-39 allows."""
    words = value.split()
    return len(words) in (12, 15, 18, 21, 24) and len(set(words)) >= 8


_CHECKS: dict[str, Check] = {
    "password": is_password,
    "raw_password": _is_raw_password,
    "raw_random": _is_raw_random,
    "random": is_random,
    "credential": is_credential,
    "scattered": is_scattered,
    "opaque": is_opaque,
    "token": is_token,
    "basic": _is_basic,
    "sasl": _is_sasl,
    "phrase": _is_phrase,
    "any": bool,
}


def find_places(text: str, lower: str) -> Iterator[Secret]:
    """Find values in URLs, headers and commands."""
    # Searching is quicker in ASCII, and few literals are not.
    plain = lower.replace("\t", " ").encode("ascii", "replace").decode()
    near = [place for needs, places in _literals().items() if needs in plain for place in places]
    held = [place for place in near if place[1] in plain or (not place[1].isascii() and place[1] in lower)]
    for _, literal, number in sorted(held):
        yield from _rule(number).find(text, starts(lower, literal))


_PARTS = (":", "auth", "login", "credential", "admin", "identified", "net ", "phrase", "passw", "(", "_", "/")
"""Parts that several literals share. A text without one of them has none of these."""


@cache
def _literals() -> dict[str, list[tuple[int, str, int]]]:
    """Return the literals of all places, each with its rank and its place's number, by a text that must be there too."""
    rows: dict[str, list[tuple[str, int]]] = {}
    for number, row in enumerate(read_tables("places.toml")["place"]):
        stated = row.get("needs", " -" if "command" in row else "")
        rows.setdefault(stated, []).extend((literal, number) for literal in row["literals"])
    literals: dict[str, list[tuple[int, str, int]]] = {}
    ranked = [(stated, *place) for stated, places in rows.items() for place in places]
    for rank, (stated, literal, number) in enumerate(ranked):
        needs = stated or next((part for part in _PARTS if part in literal), "")
        literals.setdefault(needs, []).append((rank, literal, number))
    return literals


@cache
def _rule(number: int) -> Rule:
    tables = read_tables("places.toml")
    row = tables["place"][number]
    return rule_of(row, tables["parts"][0], _CHECKS[row.get("check", "password")])


# Key blocks

_LABEL = r"(?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}"
_BEGIN = rf"-{{4,5}} ?BEGIN {_LABEL}"
_END = rf"-{{4,5}} ?END {_LABEL}"
_GAP = r"(?:\s|\\[nr]|[>|\"'+,#*\\])*+"  # line ends as they are, escaped, quoted, in a comment or concatenated
_KEY_LINES = (
    rf"(?:{_GAP}(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset):[^\n\\\0]{{1,100}}(?=\n|\\)))*+"
    rf"(?:{_GAP}[A-Za-z0-9+/]{{16,}}+={{0,2}})++(?:{_GAP}=?[A-Za-z0-9+/]{{1,15}}={{0,2}}(?=\s*\n|\s*\Z|\\|\"))?"
)


def find_private_keys(text: str) -> Iterator[Secret]:
    """Find key blocks with their marker lines. One without its END line stops after the last line of Base64."""
    if "PRIVATE KEY" not in text and "Static key" not in text:
        return
    marks = list(compiled(rf"(?P<begin>{_BEGIN})|{_END}").finditer(text))
    for at, mark in enumerate(marks):
        if mark["begin"] is None:
            continue
        closing = marks[at + 1] if at + 1 < len(marks) and marks[at + 1]["begin"] is None else None
        lines = compiled(_KEY_LINES).match(text, mark.end())
        if closing and _is_key_body(text[mark.end() : closing.start()]):
            yield Secret("private-key", mark.start(), closing.end())
        elif lines and _is_no_stopgap(lines[0]):
            yield Secret("private-key", mark.start(), lines.end())


def _is_key_body(body: str) -> bool:
    """Accept a key between two marker lines, also one with lines left out. Reject prose about a key."""
    if MASK in body or len(body) > 65_536 or compiled(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}").search(body):
        return False
    return _is_no_stopgap(body)


def _is_no_stopgap(body: str) -> bool:
    """Judge a key by its first line of Base64: another text may follow it."""
    run = compiled(r"[A-Za-z0-9+/]{16,}").search(body)
    return run is not None and not is_placeholder(run[0])


# Cookies

_COOKIE = (  # a header, an assignment, an option of curl
    r"cookie2?\\?[\"'`]?(?:[ \t]*[:=|][ \t]*\\?[\"'`]?|[ \t]+[\"'])(?P<v>(?:=\"[!#-~]{8,2000}\"|[^\n\0\"'`]){10,4096}+)"
)
_COOKIE_PAIR = r"(?<![\w.-])(?P<name>[\w.-]{1,64}+)=\"?(?P<v>[A-Za-z0-9._~+/%:|!-]{10,2000}+={0,2})"
_COOKIE_CALL = (  # `cookies["session"] = "…"`, `res.cookie("session", "…")`, `cookies.set('session', '…')`
    r"(?i:cookies?)(?:\.set)?[(\[][\"'](?P<name>[\w.-]{1,64})[\"'](?:\][ \t]*=|,)[ \t]*[\"'](?P<v>[!#-&(-~]{10,2000})[\"']"
)


def find_cookies(text: str, lower: str) -> Iterator[Secret]:
    """Find the session among the pairs of a Cookie or Set-Cookie header (RFC 6265), and in code."""
    if "cookie" not in lower:
        return
    headers = Rule("authorization", _COOKIE, "", bool).find(lower, starts(lower, "cookie"))
    pairs = [pair for header in headers for pair in compiled(_COOKIE_PAIR).finditer(text, header.start, header.end)]
    calls = [compiled(_COOKIE_CALL).match(text, at) for at in starts(lower, "cookie")]
    for found in (*pairs, *calls):
        if found and _opens_session(found["name"], found["v"]):
            yield Secret("authorization", *found.span("v"))


def _opens_session(name: str, value: str) -> bool:
    """Return whether a cookie may open a session. Those of analytics and forms do not; a short one must have a telling name."""
    if compiled(r"(?i)_+g[a-z]{1,4}(?:_|$)|_*(?:utm|fbp|csrf|xsrf)|.*(?:csrf|xsrf|consent)").match(name):
        return False
    named = len(value) >= 20 or compiled(r"(?i)sess|sid$|auth|token|login|remember|jwt").search(name)
    return bool(named) and is_random(value)
