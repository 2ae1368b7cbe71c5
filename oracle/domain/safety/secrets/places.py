"""Values whose place gives them away: key blocks, headers, cookies, logins. Domain room: pure."""

from __future__ import annotations

import binascii

from oracle.domain.safety.secrets.opaque import (
    MASK,
    Secret,
    compiled,
    is_credential,
    is_random,
    is_scattered,
    is_stopgap,
)
from oracle.domain.safety.secrets.shapes import each, starts, values_at
from oracle.domain.safety.secrets.urls import is_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_LABEL = r"(?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1) ?-{4,5}"
_BEGIN = rf"-{{4,5}} ?BEGIN {_LABEL}"
_END = rf"-{{4,5}} ?END {_LABEL}"
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
    """Say whether the text between two marker lines is a key, elided or not, and not prose about one."""
    if MASK in body or len(body) > 65_536 or compiled(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}").search(body):
        return False
    return _is_no_stopgap(body)


def _is_no_stopgap(body: str) -> bool:
    """Judge a key by its first line of Base64: what follows it may be another text."""
    run = compiled(r"[A-Za-z0-9+/]{16,}").search(body)
    return run is not None and not is_stopgap(run[0])


def _is_basic(value: str) -> bool:
    """Accept the credentials of HTTP Basic (RFC 7617): Base64 of `user:password`."""
    try:
        user, colon, password = binascii.a2b_base64(value + "==").decode("utf-8").partition(":")
    except (ValueError, UnicodeDecodeError):
        return False
    return bool(colon) and user.isprintable() and user != password and is_password(password)


_BASE64 = r"[A-Za-z0-9+/=_-]"
_OPAQUE = r"[A-Za-z0-9._~+/-]{8,2000}+={0,2}"
_BEARER = rf"(?i:bearer)[ \t]+(?:[\"'][ \t]{{0,9}}[+.][ \t]{{0,9}})?[\"'`]?(?P<v>{_OPAQUE})"
_BASIC = rf"(?i:basic)[ \t]+[\"'`]?(?P<v>{_BASE64}{{8,2000}}+)"
_DOCKER_AUTH = rf'"auth"[ \t]*:[ \t]*"(?P<v>{_BASE64}{{8,2000}}+)"'  # of a registry, in Docker's config.json
_AUTHORIZATION = (
    r"(?i:authorization)\\?[\"'`]?[ \t]*[:=][ \t]*\\?[\"'`]?(?:(?!(?i:basic|bearer)\b)[A-Za-z][\w-]{0,20}[ \t]+)?"
    rf"(?P<v>{_OPAQUE})"
)
_PAIR = (  # a user and a password, given to `auth`, `HTTPBasicAuth` or `Credentials`, or behind an address to JDBC
    r"(?i:auth\w{0,20}|credentials?|getconnection)[ \t]{0,3}[=(][ \t]{0,3}\(?[ \t]{0,3}"
    r"(?:(?:[\w.]{1,60}|\"[^\"\n\0]{1,300}\"),[ \t]{0,3})?[\"'][^\"'\n\0]{1,60}[\"'][ \t]{0,3},[ \t]{0,3}"
    r"[\"'](?P<v>[!#-&(-~]{4,200})[\"']"
)
_HEADERS = (  # a word that is looked for, what the pattern begins with, and what judges the value
    ("bearer", "bearer", _BEARER, is_credential),
    ("basic", "basic", _BASIC, _is_basic),
    ("auth", '"auth"', _DOCKER_AUTH, _is_basic),
    ("auth", "authorization", _AUTHORIZATION, is_credential),
    ("auth", "auth", _PAIR, is_random),
    ("credential", "credential", _PAIR, is_random),
    ("getconnection", "getconnection", _PAIR, is_random),
)
_COOKIE = (  # a header, an assignment, an option of curl
    r"cookie2?\\?[\"'`]?(?:[ \t]*[:=|][ \t]*\\?[\"'`]?|[ \t]+[\"'])(?P<pairs>(?:=\"[!#-~]{8,2000}\"|[^\n\0\"'`]){10,4096}+)"
)
_COOKIE_PAIR = r"(?<![\w.-])(?P<name>[\w.-]{1,64}+)=\"?(?P<v>[A-Za-z0-9._~+/%:|!-]{10,2000}+={0,2})"
_COOKIE_CALL = (  # `cookies["session"] = "…"`, `res.cookie("session", "…")`, `cookies.set('session', '…')`
    r"(?i:cookies?)(?:\.set)?[(\[][\"'](?P<name>[\w.-]{1,64})[\"'](?:\][ \t]*=|,)[ \t]*[\"'](?P<v>[!#-&(-~]{10,2000})[\"']"
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
            yield from values_at("seed-phrase", text, starts(lower, name), _PHRASE, _is_phrase)


def _is_phrase(value: str) -> bool:
    words = value.split()
    return len(words) in _PHRASE_LENGTHS and len(set(words)) >= 8


def find_headers(text: str, lower: str) -> Iterator[Secret]:
    """Find the credentials of HTTP authorization, in headers, in pairs and in cookies."""
    for word, literal, pattern, check in _HEADERS:
        if word in lower:
            yield from values_at("authorization", text, starts(lower, literal), pattern, check)
    yield from _find_cookies(text, lower)


def _find_cookies(text: str, lower: str) -> Iterator[Secret]:
    """Find what opens a session among the pairs of a Cookie or Set-Cookie header (RFC 6265), and in code."""
    if "cookie" not in lower:
        return
    for found in each(lower, ("cookie",), _COOKIE):
        for pair in compiled(_COOKIE_PAIR).finditer(text, *found.span("pairs")):
            if _opens_session(pair["name"], pair["v"]):
                yield Secret("authorization", *pair.span("v"))
    for at in starts(lower, "cookie"):
        call = compiled(_COOKIE_CALL).match(text, at)
        if call and _opens_session(call["name"], call["v"]):
            yield Secret("authorization", *call.span("v"))


def _opens_session(name: str, value: str) -> bool:
    """Say whether a cookie may open a session: those of analytics and of forms don't, a short one has to say so."""
    if compiled(r"(?i)_+g[a-z]{1,4}(?:_|$)|_*(?:utm|fbp|csrf|xsrf)|.*(?:csrf|xsrf|consent)").match(name):
        return False
    named = len(value) >= 20 or compiled(r"(?i)sess|sid$|auth|token|login|remember|jwt").search(name)
    return bool(named) and is_random(value)


_LOGIN = r" / [\"'`*]{0,2}(?P<v>[!#-&+-_a-~]{6,64})"  # behind a user's name
_USER_NAMED = (
    r"(?:(?:(?i:log[ -]?in|sign[ -]?in|user|username|account|creds?|credentials?)|账号|帐号|账户|账密|用户名?|登[录陆])"
    r"(?:[*_`\"']{0,2}[ \t]*[:：=][*_]{0,2}[ \t]*|[ \t]+(?:is|as|with)[ \t]+|(?<=[nN])[ \t]+"
    r"|[ \t]*(?:是|为)[ \t]*|(?<=[号户密名])[ \t]+)"
    r"[`\"']?[\w.@-]{1,40}"
    r"|(?<![\w./-])(?:root|admin|administrator|postgres|ubuntu|deploy|sa))[`\"'*]{0,2}$"
)


_JOINED_LOGIN = r"(?<![\w./@:-])(?:root|admin|administrator)/(?P<v>[!-.0-~]{10,64})(?=[\s\"'`,;)]|\Z)"


def find_logins(text: str) -> Iterator[Secret]:
    """Find what stands behind a user's name and a stroke: `login: admin / …`, `root / …`, `admin/…`."""
    for found in each(text, ("root/", "admin/"), _JOINED_LOGIN):
        value = found["v"].rstrip(".,;:")
        if is_scattered(value):
            yield Secret("assignment", found.start("v"), found.start("v") + len(value))
    for found in each(text, (" / ",), _LOGIN):
        value = found["v"].rstrip(".,;:")
        if is_random(value) and compiled(_USER_NAMED).search(text, max(0, found.start() - 80), found.start()):
            yield Secret("assignment", found.start("v"), found.start("v") + len(value))
