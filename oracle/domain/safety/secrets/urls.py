"""Passwords in addresses: user-info of URLs, lines of .pgpass, URIs of QR codes. Domain room: pure."""

from __future__ import annotations

from oracle.domain.safety.secrets.opaque import (
    Secret,
    compiled,
    is_credential,
    is_random,
    is_stopgap,
    is_token,
    is_worded,
)
from oracle.domain.safety.secrets.shapes import MARKERS, each, starts, values_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_USER = r"(?<=[A-Za-z0-9])://(?P<user>[^\s/:@?#\"'<>`\0]{0,100}):"
_USERINFO = _USER + r"(?P<v>[!$-.0-;=@-_a-~]{1,200})@(?!sha\d+:)[\w\[$<{*%-]"
_RAW_USERINFO = (  # a password with `/`, `?` or `#` as it is, which no URL may have, though people write it
    _USER + r"(?!(?:\d{1,5}|(?i:port))[/?#]|[!$-.0-;=@-_a-~]{1,200}@[\w\[$<{*%-])"
    r"(?P<v>[!$-.0-;=@-_a-~]{0,200}[#/?][!#-;=?-_a-~]{0,200})@(?!sha\d+:)[\w\[]"
)
_USER_ALONE = (  # but for the public key in the address of Sentry
    r"(?<=[A-Za-z0-9])://(?P<v>[\w.~%+=-]{16,200}+)(?::[^\s/:@?#\"'<>`\0]{0,60})?@(?!(?:[\w-]{1,40}\.){0,4}(?:ingest|sentry)\.)[\w\[]"
)


def find_userinfo(text: str) -> Iterator[Secret]:
    """Find passwords in the user-info of URLs (RFC 3986, any scheme), and tokens in the place of the user."""
    for found in each(text, ("://",), _USERINFO):
        if found["v"] != found["user"] and is_password(found["v"]):
            yield Secret("url-password", *found.span("v"))
    for found in each(text, ("://",), _RAW_USERINFO):
        if _is_raw_password(found["v"], user=found["user"], before=text[max(0, found.start() - 8) : found.start()]):
            yield Secret("url-password", *found.span("v"))
    for found in each(text, ("://",), _USER_ALONE):
        if is_credential(found["v"]):
            yield Secret("url-password", *found.span("v"))


def _is_raw_password(value: str, *, user: str, before: str) -> bool:
    """Say whether what goes on behind `/`, `?` or `#` is a password: on the web and in repositories it may be a path."""
    bare = compiled("[/?#]").sub("", value)
    if not compiled(r"(?i)(?:https?|ssh|git|wss?|ftp|svn|file|go|npm)$").search(before):
        return is_password(bare)
    return "." not in user and not is_worded(value) and is_random(bare)


_WIFI = (  # what a phone reads from the picture at the wall: fields in any order, the password under `P`
    r"(?i:wifi):(?:(?!P:)[A-Z0-9]{1,3}:(?:\\[!-~]|[^\\;\n\0]){0,200}+;){0,7}+P:(?P<v>(?:\\[!-~]|[!-:<-\[\]-~]){4,200}+);"
)
_OTP = (  # a seed of one-time passwords, or several exported at once
    r"(?i:otpauth)(?:-migration)?://[^\s\"'<>`?\0]{1,300}\?(?:[^\s\"'<>`?\0]{1,300}&)??(?:secret|data)=(?P<v>[\w+/%=-]{16,4096}+)"
)


_THIN = r"(?i:jdbc:oracle:thin:)[\w$]{1,60}/(?P<v>[!#-&(-?A-~]{4,100})@"
_DSN = r"(?<![\w.:/-])[\w.-]{1,60}:(?P<v>[!#-&(-9;-?A-~]{4,100})$"  # before `@tcp(host)`, as drivers of Go take it


def find_uris(text: str, lower: str) -> Iterator[Secret]:
    """Find the passwords of wireless networks and the seeds of one-time passwords in QR codes, and those that drivers are given."""
    if "wifi:" in lower:
        yield from values_at("url-password", text, starts(lower, "wifi:"), _WIFI, is_password)
    if "oracle:thin:" in lower:
        yield from values_at("url-password", text, starts(lower, "jdbc:oracle:thin:"), _THIN, is_password)
    for at in starts(lower, "@tcp("):
        found = compiled(_DSN).search(text, max(0, at - 170), at)
        if found and is_password(found["v"]):
            yield Secret("url-password", *found.span("v"))
    if "otpauth" in lower:
        yield from values_at("url-password", text, starts(lower, "otpauth"), _OTP, is_token)


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
        check = is_password if found["port"] in _POSTGRESQL else is_random
        if compiled(_HOST).fullmatch(host) and found["v"] != found["user"] and check(found["v"]):
            yield Secret("url-password", *found.span("v"))


_WORDS_IN_URL = r"^(?:[A-Z_]+|[a-z]{1,4}|[a-z]*(?:pass|secret|pwd|user|token|test|demo|guest|admin|root|host)[a-z]*)$"


def is_password(value: str) -> bool:
    """Accept the password of a URL's user-info: anything of four characters that is not a stand-in or a port."""
    if len(value) < 4 or any(value in marker for marker in MARKERS) or compiled(_WORDS_IN_URL).match(value):
        return False
    return not (is_stopgap(value) or compiled(r"(?i)\d{1,5}(?:[,;)\]].*)?$|.*passwor[dt]|[-.*x_]+$").match(value))
