"""Values whose place gives them away: key blocks, user-info of a URL, headers, cookies, command lines. Domain room: pure."""

from __future__ import annotations

import binascii

from oracle.domain.secrets.opaque import MASK, Secret, compiled, is_credential, is_random, is_stopgap
from oracle.domain.secrets.shapes import MARKERS, each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[[str], bool]


_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_GAP = r"(?:\s|\\[nr]|[>|\"'+,#*\\])*+"  # line ends as they are, escaped, quoted, in a comment or concatenated
_KEY_LINES = (
    rf"(?:{_GAP}(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset):[^\n\\\0]{{1,100}}(?=\n|\\)))*+"
    rf"(?:{_GAP}[A-Za-z0-9+/]{{16,}}+={{0,2}})++(?:{_GAP}=?[A-Za-z0-9+/]{{1,15}}={{0,2}}(?=\s*\n|\s*\Z|\\|\"))?"
)


def find_private_keys(text: str) -> Iterator[Secret]:
    """Find key blocks, marker lines included; one without its END line stops after the last line of Base64."""
    if "Private-Lines:" in text:  # the format of PuTTY
        for found in each(text, ("Private-Lines:",), rf"Private-Lines: ?\d+(?P<v>{_KEY_LINES})"):
            yield Secret("private-key", *found.span("v"))
    if '"kty"' in text:  # a JSON Web Key (RFC 7517) and what of it is private
        for found in each(text, ('"d"', '"k"'), r'"[dk]"[ \t]{0,9}:[ \t]{0,9}"(?P<v>[A-Za-z0-9_-]{20,2000}+)"'):
            yield Secret("private-key", *found.span("v"))
    if "PRIVATE KEY" not in text:
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
    """Say whether the text between two marker lines is a key, elided or not, and not prose about one."""
    if MASK in body or len(body) > 65_536 or compiled(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}").search(body):
        return False
    return _is_no_stopgap(body)


def _is_no_stopgap(body: str) -> bool:
    """Judge a key by its first line of Base64: what follows it may be another text."""
    run = compiled(r"[A-Za-z0-9+/]{16,}").search(body)
    return run is not None and not is_stopgap(run[0])


_USERINFO = (
    r"(?<=[A-Za-z0-9])://(?P<user>[^\s/:@?#\"'<>`\0]{0,100}):(?P<v>[!$-.0-;=@-_a-~]{1,200})@(?!sha\d+:)[\w\[$<{*%-]"
)


def find_userinfo(text: str) -> Iterator[Secret]:
    """Find passwords in the user-info of URLs (RFC 3986, any scheme)."""
    for found in each(text, ("://",), _USERINFO):
        if found["v"] != found["user"] and _is_url_password(found["v"]):
            yield Secret("url-password", *found.span("v"))


_PGPASS_LINE = (  # port:database:user:password of .pgpass, behind a host; `\:` is a colon within a field
    r":(?P<port>\d{2,5}|\*):(?:[^\s:\\\0]|\\.){1,64}+:(?P<user>(?:[^\s:\\\0]|\\.){1,64}+)"
    r":(?P<v>(?:[!#-&(-9;-\[\]-_a-~]|\\[:\\]){4,200}+)(?=[\s\"'`]|\Z)"
)
_HOST = r"\*|[\w./*-]{1,253}|\[[0-9a-fA-F:]{2,40}\]"
_POSTGRESQL = ("*", "5432", "5433", "6432", "6543")  # its ports and those of its poolers


def find_password_lines(text: str) -> Iterator[Secret]:
    """Find passwords in lines of .pgpass: any at a usual port of PostgreSQL, else one that looks random."""
    for found in compiled(_PGPASS_LINE).finditer(text):
        host = compiled(r"[\s\"'`>=]").split(text[max(0, found.start() - 254) : found.start()])[-1]
        is_password = _is_url_password if found["port"] in _POSTGRESQL else is_random
        if compiled(_HOST).fullmatch(host) and found["v"] != found["user"] and is_password(found["v"]):
            yield Secret("url-password", *found.span("v"))


_BASE64 = r"[A-Za-z0-9+/=_-]"
_OPAQUE = r"[A-Za-z0-9._~+/-]{8,2000}+={0,2}"
_BEARER = rf"(?i:bearer)[ \t]+[\"'`]?(?P<v>{_OPAQUE})"
_BASIC = rf"(?i:basic)[ \t]+[\"'`]?(?P<v>{_BASE64}{{8,2000}}+)"
_DOCKER_AUTH = rf'"auth"[ \t]*:[ \t]*"(?P<v>{_BASE64}{{8,2000}}+)"'  # of a registry, in Docker's config.json
_AUTHORIZATION = (
    r"(?i:authorization)\\?[\"'`]?[ \t]*[:=][ \t]*\\?[\"'`]?(?:(?!(?i:basic|bearer)\b)[A-Za-z][\w-]{0,20}[ \t]+)?"
    rf"(?P<v>{_OPAQUE})"
)
_PAIR = (  # a user and a password, given to `auth`, `HTTPBasicAuth` or `Credentials`
    r"(?i:auth\w{0,20}|credentials?)[ \t]{0,3}[=(][ \t]{0,3}\(?[ \t]{0,3}[\"'][^\"'\n\0]{1,60}[\"'][ \t]{0,3},[ \t]{0,3}"
    r"[\"'](?P<v>[!#-&(-~]{4,200})[\"']"
)
_CURL_USER = r"(?:-u|--user)[ =]?[\"']?[^\s:\"'@/]{1,60}:(?P<v>[!#-&(-;=?-_a-~]{4,200})"


_COOKIE = r"cookie2?\\?[\"'`]?[ \t]*[:=][ \t]*\\?[\"'`]?(?P<pairs>[^\n\0\"'`]{20,4096}+)"
_COOKIE_PAIR = r"(?<![\w.-])(?P<name>[\w.-]{1,64}+)=(?P<v>[A-Za-z0-9._~+/%:|!-]{20,2000}+={0,2})"
_COMMANDS = (  # commands that take a token, and those that take a password after an option
    ("authtoken", r"(?i:authtoken)[ \t]+[\"']?(?P<v>[A-Za-z0-9]{20,40}_[A-Za-z0-9]{16,40})(?![A-Za-z0-9])"),
    ("sshpass", r"(?i:sshpass)[ \t]+-p[ \t]*[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("docker login", r"(?i:docker login)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p(?:[ \t]+|=)?[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("mysql", r"(?i:mysql(?:dump|admin|import|sh)?)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("redis-cli", r"(?i:redis-cli)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-a[ \t]+[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("mongo", r"(?i:mongo(?:sh|dump|restore)?)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p[ \t]*[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("az login", r"(?i:az login)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p[ \t]+[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("ldap", r"(?i:ldap[a-z]{3,9})(?=[ \t])[^\n|;\0]{0,200}?[ \t]-w[ \t]*[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("sqlcmd", r"(?i:sqlcmd)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-P[ \t]*[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("zip", r"(?i:zip)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-P[ \t]*[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("7z", r"7za?(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("openssl", r"(?i:openssl)(?=[ \t])[^\n|;\0]{0,200}?(?:[ \t]-k[ \t]+|[ \t]pass:)[\"']?(?P<v>[!#-&(-~]{6,200})"),
    (
        "smbclient",
        r"(?i:smbclient)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-U[ \t]*[\"']?[\w\\.@-]{1,60}%(?P<v>[!#-&(-~]{6,200})",
    ),
    (
        "htpasswd",
        r"(?i:htpasswd)[ \t]+-[A-Za-z]{0,5}b[A-Za-z]{0,5}[ \t]+\S{1,200}[ \t]+\S{1,60}[ \t]+[\"']?(?P<v>[!#-&(-~]{6,200})",
    ),
    (
        "echo",
        r"(?i:echo)[ \t]+(?:-\w{1,3}[ \t]+)?[\"']?(?P<v>[!#-&(-{}~]{6,200}+)[\"']?[ \t]*\|[ \t]*"
        r"(?:sudo[ \t]+(?:-\w+[ \t]+){0,3}?-\w{0,3}S\b|[^\n|\0]{1,100}?--password-stdin)",
    ),
    ("mariadb", r"(?i:mariadb(?:-dump|-admin)?)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p[\"']?(?P<v>[!#-&(-~]{6,200})"),
)


_PHRASE_NAMES = ("mnemonic", "seed phrase", "seed_phrase", "recovery phrase", "助记词", "助記詞")
_PHRASE = (  # the words from which a wallet is restored
    rf"(?i:{'|'.join(_PHRASE_NAMES)})[\"'`]?[ \t]*[:=：][ \t]*[\"'`]?"
    r"(?P<v>[a-z]{3,8}(?:[ \t]{1,3}[a-z]{3,8}){11,23})(?![ \t]{0,3}\w)"
)
_PHRASE_LENGTHS = (12, 15, 18, 21, 24)


def find_phrases(text: str, lower: str) -> Iterator[Secret]:
    """Find seed phrases behind their name: words of three to eight small letters, as many as BIP-39 says."""
    for name in _PHRASE_NAMES:
        if name in lower:
            yield from _values("seed-phrase", text, starts(lower, name), _PHRASE, _is_phrase)


def _is_phrase(value: str) -> bool:
    words = value.split()
    return len(words) in _PHRASE_LENGTHS and len(set(words)) >= 8


def find_headers(text: str, lower: str) -> Iterator[Secret]:
    """Find the credentials of HTTP authorization, in headers and in the options of curl."""
    for literal, pattern, check in (
        ("bearer", _BEARER, is_credential),
        ("basic", _BASIC, _is_basic),
        ('"auth"', _DOCKER_AUTH, _is_basic),
        ("authorization", _AUTHORIZATION, is_credential),
        ("auth", _PAIR, is_random),
        ("credential", _PAIR, is_random),
    ):
        if literal in lower:
            yield from _values("authorization", text, starts(lower, literal), pattern, check)
    if "curl" in lower:
        for option in ("-u", "--user"):
            yield from _values("authorization", text, starts(text, option), _CURL_USER, _is_url_password)
    yield from _find_cookies(text, lower)
    for command, pattern in _COMMANDS if " -" in lower or "\t-" in lower else _COMMANDS[:1]:
        if command in lower:
            yield from _values("assignment", text, starts(lower, command), pattern, _is_url_password)


def _find_cookies(text: str, lower: str) -> Iterator[Secret]:
    """Find what opens a session among the pairs of a Cookie or Set-Cookie header (RFC 6265)."""
    if "cookie" in lower:
        for found in each(lower, ("cookie",), _COOKIE):
            for pair in compiled(_COOKIE_PAIR).finditer(text, *found.span("pairs")):
                if _is_session(pair["name"]) and is_random(pair["v"]):
                    yield Secret("authorization", *pair.span("v"))


def _is_session(name: str) -> bool:
    """Say whether a cookie of this name may open a session: those of analytics and of forms don't."""
    return not compiled(r"(?i)_+g[a-z]{1,4}(?:_|$)|_*(?:utm|fbp|csrf|xsrf)|.*(?:csrf|xsrf|consent)").match(name)


def starts(text: str, literal: str) -> Iterator[int]:
    """Yield where a literal stands, left to right."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


def _values(kind: str, text: str, starts: Iterator[int], pattern: str, check: Check) -> Iterator[Secret]:
    done = 0
    for at in starts:
        found = compiled(pattern).match(text, at) if at >= done else None
        if found and check(found["v"]):
            yield Secret(kind, *found.span("v"))
        if found:
            done = found.end()


_WORDS_IN_URL = r"^(?:[A-Z_]+|[a-z]{1,4}|[a-z]*(?:pass|secret|pwd|user|token|test|demo|guest|admin|root|host)[a-z]*)$"


def _is_url_password(value: str) -> bool:
    """Accept the password of a URL's user-info: anything of four characters that is not a stand-in or a port."""
    if len(value) < 4 or any(value in marker for marker in MARKERS) or compiled(_WORDS_IN_URL).match(value):
        return False
    return not (is_stopgap(value) or compiled(r"(?i)\d{1,5}(?:[,;)\]].*)?$|.*passwor[dt]|[-.*x_]+$").match(value))


def _is_basic(value: str) -> bool:
    """Accept the credentials of HTTP Basic (RFC 7617): Base64 of `user:password`."""
    try:
        user, colon, password = binascii.a2b_base64(value + "==").decode("utf-8").partition(":")
    except (ValueError, UnicodeDecodeError):
        return False
    return bool(colon) and user.isprintable() and user != password and _is_url_password(password)
