"""Find credentials in text that is about to be written into a record (domain: pure, touches nothing outside).

Three families are looked for: token shapes that vendors publish, values whose place gives them away (user-info of a
URL, an Authorization header, a key block), and random-looking values assigned to a name such as `API_KEY` or `密码`.
Each search starts from a literal found with `str.find`, and every repetition that starts there is bounded or ends at
the next literal, so the cost stays linear in the text. Patterns are compiled when their literal is first seen.
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from functools import cache, partial
from itertools import pairwise

from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int]
    Check = Callable[[str], bool]


@value
class Secret:
    """Locate one credential: `start` and `end` are character offsets of the value itself."""

    kind: str
    start: int
    end: int


# --- what is not a secret -------------------------------------------------------------------------------------------

_MASK = "\0"  # stands for text that is redacted already; no pattern below can match it
_STOPGAP = (
    r"(?i:example|change.?me|placeholder|dummy|sample|redacted|replace|insert|fixme|x{6}|\*\*\*|\.\.\.|opensesame"
    r"|process\.env|import\.meta|os\.environ|getenv|secrets\.|vars\.)"
    r"|(?i:(?:^|[-_.<{\[ ])your|your[-_ ]|here$|(?:^|[-_.])x{4}|x{4}(?:[-_.]|$))"
    r"|^[$%]?[{(<\[].*[})>\]]$|^\$(?:env:)?(?:[A-Z_][A-Z0-9_]*|[a-z][a-z0-9_]*|[A-Za-z_]+\d?)(?:$|[/.\-])|^%\w+%$|%\(\w+\)|[$#]\{|\$\(|\{\{|<%|\{[a-z_]\w*\}"
    r"|(?:^|[-_.])(?i:fake|test|demo|mock|foo|bar|todo|none|null)(?:[-_.]|$)"
    # widely printed in documentation: two UUIDs of RFC texts, the payload "John Doe" of a well-known JWT
    r"|^123e4567-e89b|^550e8400-e29b-41d4|IkpvaG4gRG9l"
)
_WORDS_IN_URL = r"^(?:[A-Z_]+|[a-z]{1,4}|[a-z]*(?:pass|secret|pwd|user|token|test|demo|guest|admin|root|host)[a-z]*)$"
_NOT_VALUES = (
    r"://|^(?:data|sha\d+|md5|urn|arn|file|vault|op|ssm|secretsmanager|kms|env|ref)[:\-/]"  # addresses and hashes
    r"|^v?\d+(?:[.,:]\d+)+(?:[-+/_a-z][\w.+/-]*)?$|^\d+$|^[./~]+$"  # versions, network addresses, numbers
    r"|^\d{4}-\d\d(?:-\d\d|$)|^[a-z][A-Za-z_]*(?:\.[A-Za-z_]+)+$|^[&*][a-z][\w-]{0,20}$"  # times, references
    r"|^~/[\w./@-]+$|^//[a-z]|^(?:\.{1,2}|~)?/(?:[\w.@-]+/)+[\w.@-]*$|^[A-Za-z]:[\\/]|^[\w./~@:\\-]+\.[a-z]{2,5}$"  # paths
    r"|^[A-Za-z_$][\w.$]*(?:\(|\[|->|::)|=>|^[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,8}$"  # code, mail addresses
    r"|^(?:[a-z_]+\.)?_*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){2,}_*$|#[0-9a-fA-F]{6}$|(?:^|:)%[sd](?:\W|$)"  # constants, colours
    r"|\[\^?(?:A-Z|a-z|0-9|\\)|\\[dwsb]|\{\d+,?\d*\}|\(\?|^--[a-z]"  # regular expressions, options
)
_PIECE = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _is_stopgap(value: str) -> bool:
    """Say whether a value stands in for a real one: named so, repeated, or counted up (`abcdef123456`)."""
    if len(set(value)) < 4 or _compiled(_STOPGAP).search(value):
        return True
    steps = sum(ord(after) - ord(before) in (0, 1) for before, after in pairwise(value))
    return steps >= 0.6 * (len(value) - 1)


def _is_token(value: str) -> bool:
    """Accept the body of a vendor shape: the shape is the evidence, so only stand-ins and written words fall out."""
    if _is_stopgap(value) or len(set(value)) < 6:
        return False
    parts = _compiled(r"[-_./:]").split(value)
    return len(parts) == 1 or not all(map(_compiled(r"[a-z]*\d{0,2}|[A-Z]*|\d+").fullmatch, parts))


def _is_dense_token(value: str) -> bool:
    """Accept a body behind a prefix that ordinary names share (`sk-`): one long part of it, or all of it, is opaque."""
    if not _is_token(value):
        return False
    parts = _compiled(r"[-_]").split(value)
    if any(len(part) >= 16 and any(map(str.isdigit, part)) for part in parts):
        return True
    return len(value) >= 20 and _count_classes(value) >= 2 and not _is_worded(value)


# Two letters that follow one another in words and names, 230 of 676: counted over English prose and names of code.
_FOLLOWERS = {
    "a": "bcdgiklmnprstuvy",
    "b": "aeilorsu",
    "c": "acehiklortu",
    "d": "aeilorsu",
    "e": "acdefglmnprstvwx",
    "f": "aefiloru",
    "g": "aehinorsu",
    "h": "aeiot",
    "i": "abcdefglmnoprstvz",
    "j": "aeosu",
    "k": "eis",
    "l": "adeilostuy",
    "m": "abeimopsu",
    "n": "acdefgiknostuv",
    "o": "abcdfgiklmnoprstuvw",
    "p": "aehiloprstu",
    "q": "u",
    "r": "acdegikmnorstuy",
    "s": "acehilopstuy",
    "t": "acehilorstuy",
    "u": "abcdeilmnprst",
    "v": "aei",
    "w": "aeio",
    "x": "ptx",
    "y": "ps",
    "z": "e",
}
_PAIRS = frozenset(first + second for first, row in _FOLLOWERS.items() for second in row)


_PART = r"[A-Za-z]*\d{0,5}|\d{6}|\d{8}|(?:[A-Za-z]{2,}|[A-Z])\d{1,5}(?:[A-Z][a-z]{2,})+"
_MARKED_PART = _PART + r"|[a-z]+\d{1,2}[a-z]+"  # `k8s`, `base64url`


def _is_worded(value: str) -> bool:
    """Say whether a value is put together from words: `refresh-token-rotation-2`, `createdAtTimestamp`.

    Digits may stand alone between marks or end a part. Of the pairs of letters within the words three in four must be
    usual ones: one random text of 16 lower-case letters in 500 has that many. Marks are evidence too and lower it.
    """
    parts = [part for part in _compiled(r"%[0-9A-F]{2}|[-_./:,@+&#*]").split(value) if part]
    if not all(map(_compiled(_PART if len(parts) == 1 else _MARKED_PART).fullmatch, parts)):
        return False
    words = [word for part in parts for word in _compiled(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall(part)]
    letters = sum(map(len, words))
    if letters < 0.5 * len(value) or max(map(len, words)) > 40:
        return False
    one_case = value.islower() or value.isupper()
    if letters < 3.4 * len(words):
        return value.islower() and len(parts) >= 3
    marked = len(parts) > 1 and one_case and max(map(len, words)) <= 14
    humped = len(words) >= 3 and not one_case and letters >= 4 * len(words)
    pairs = [first + second for word in words for first, second in pairwise(word.lower())]
    return sum(pair in _PAIRS for pair in pairs) >= (0.6 if marked or humped else 0.75) * len(pairs)


def _count_classes(value: str) -> int:
    """Count which of lower case, upper case, digits and the symbols of passwords a value has."""
    return sum(_compiled(kind).search(value) is not None for kind in ("[a-z]", "[A-Z]", "[0-9]", "[!#$%^&*+?@~]"))


def _is_random(value: str) -> bool:
    """Say whether an assigned value is opaque: not an address, a stand-in, a reference or a name made of words.

    From 16 characters on nothing else is asked. A shorter one has to mix three classes of characters, or to change
    class often: names and words have long runs of one class (`oauth2-proxy`: 3.7 on average), random text has short
    ones (base 62: about 1.7).
    """
    size = len(value)
    if not 8 <= size <= 512 or len(set(value)) < 6 or _compiled(_NOT_VALUES).search(value) or _is_stopgap(value):
        return False
    if not any(map(str.isalpha, value)):
        return False
    if size >= 16:
        return not _is_worded(value)
    return _is_mixed(value)


def _is_mixed(value: str) -> bool:
    """Judge a value of 8 to 15 characters by how it mixes the classes of characters."""
    if _compiled(r"[/\[(]").search(value):
        return False
    pieces = _compiled(_PIECE).findall(value)
    average = sum(map(len, pieces)) / len(pieces)
    if value.isalpha():
        return average < (2.5 if len(value) >= 12 else 2.2)
    if _count_classes(value) >= 3:
        return _has_symbols(value) or not _is_worded(value)
    if _has_symbols(value):
        return average < 4.5
    return any(map(str.isdigit, value)) and average < (2.5 if len(value) >= 12 else 2.2)


def _has_symbols(value: str) -> bool:
    """Say whether a value has the punctuation of passwords, with digits or with both cases."""
    if not _compiled(r"[!#$%^&*+?@~]").search(value):
        return False
    return any(map(str.isdigit, value)) or _compiled(r"[a-z].*[A-Z]|[A-Z].*[a-z]").search(value[1:]) is not None


def _is_url_password(value: str) -> bool:
    """Accept the password of a URL's user-info: anything of four characters that is not a stand-in or a port."""
    if len(value) < 4 or any(value in marker for marker in _MARKERS) or _compiled(_WORDS_IN_URL).match(value):
        return False
    return not (_is_stopgap(value) or _compiled(r"(?i)\d{1,5}(?:[,;)\]].*)?$|.*passwor[dt]|[-.*x_]+$").match(value))


def _is_basic(value: str) -> bool:
    """Accept the credentials of HTTP Basic (RFC 7617): Base64 of `user:password`."""
    try:
        user, colon, password = binascii.a2b_base64(value + "==").decode("utf-8").partition(":")
    except (ValueError, UnicodeDecodeError):
        return False
    return bool(colon) and user.isprintable() and user != password and _is_url_password(password)


def _is_credential(value: str) -> bool:
    return len(value) >= 16 and _is_random(value)


def _is_any(value: str) -> bool:
    return not _is_stopgap(value)


# --- shapes that vendors publish ------------------------------------------------------------------------------------


@value
class _Rule:
    """One shape: `pattern` is tried where one of `literals` stands; its group `v` (or all of it) is the value."""

    kind: str
    literals: tuple[str, ...]
    pattern: str
    check: Check = _is_token
    before: str = ""  # characters that belong to the value although they stand before the literal
    shape: str = ""  # what the value grown by `before` must match


_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_WORD = r"[A-Za-z0-9_-]"
_ALNUM = r"[A-Za-z0-9]"
_HEX = r"[0-9a-f]"


def _prefixed(kind: str, prefixes: str, body: str, *, check: Check = _is_token) -> _Rule:
    """Build the rule of tokens that start with one of the space-separated prefixes."""
    literals = tuple(prefixes.split())
    start = "|".join(map(re.escape, literals))
    return _Rule(kind, literals, f"{_EDGE}(?P<v>(?:{start}){body})", partial(_checked_body, literals, check))


def _checked_body(prefixes: tuple[str, ...], check: Check, value: str) -> bool:
    return check(value[max(len(p) for p in prefixes if value.startswith(p)) :])


_DIGITS = "0123456789"
_URLSAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

_RULES: tuple[_Rule, ...] = (
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("github-token", "github_pat_", r"[A-Za-z0-9_]{22,}+"),
    _prefixed(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glwt- GR1348941",
        rf"{_WORD}{{16,}}+(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{7,9}})?",
    ),
    _prefixed(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xapp-",
        r"[A-Za-z0-9.%/+-]{10,}+",
    ),
    _Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9/_-]{20,}+)",
    ),
    _prefixed("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _prefixed("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{100,}+={0,2}"),
    _prefixed("google-api-key", "AIza", rf"{_WORD}{{30,}}+"),
    _prefixed("google-oauth", "ya29.", r"[A-Za-z0-9_.-]{20,}+"),
    _prefixed("google-oauth", "GOCSPX-", rf"{_WORD}{{20,}}+"),
    _prefixed("google-oauth", "1//0", rf"{_WORD}{{30,}}+"),
    _prefixed("anthropic-key", "sk-ant-", rf"{_WORD}{{20,}}+"),
    _prefixed("sk-api-key", "sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf-", rf"{_WORD}{{32,}}+"),
    _prefixed("sk-api-key", "sk-", rf"{_WORD}{{20,}}+", check=_is_dense_token),
    _prefixed("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_", rf"{_ALNUM}{{10,}}+"),
    _prefixed("stripe-key", "whsec_", r"[A-Za-z0-9+/]{20,}+={0,2}"),
    _prefixed("npm-token", "npm_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("pypi-token", "pypi-AgE", rf"{_WORD}{{30,}}+"),
    _prefixed("huggingface-token", "hf_ api_org_", rf"{_ALNUM}{{30,}}+"),
    _Rule(
        "telegram-token",
        (":A",),
        rf"(?<=[0-9]{{8}}):A{_WORD}{{30,40}}+",
        before=_DIGITS,
        shape=r"[0-9]{8,11}:.+",
    ),
    _Rule(
        "discord-token",
        (".",),
        rf"(?<=[A-Za-z0-9_-]{{23}})\.{_WORD}{{6}}\.{_WORD}{{27,45}}+",
        before=_URLSAFE,
        shape=r"[MNO][^.]{22,28}\..+",
    ),
    _Rule("discord-webhook", ("/api/webhooks/",), rf"/api/webhooks/\d{{10,25}}/(?P<v>{_WORD}{{30,}}+)"),
    _prefixed("discord-token", "mfa.", rf"{_WORD}{{60,}}+"),
    _prefixed("sendgrid-key", "SG.", rf"{_WORD}{{16,}}+\.{_WORD}{{16,}}+"),
    _prefixed("twilio-key", "SK", rf"{_HEX}{{32}}(?![A-Za-z0-9])"),
    _Rule("mailgun-key", ("key-",), r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))key-[0-9a-z]{32}(?![A-Za-z0-9_-])"),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{32,}}+"),
    _prefixed("linear-key", "lin_api_ lin_oauth_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("notion-token", "ntn_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("notion-token", "secret_", rf"{_ALNUM}{{32,}}+"),
    _Rule("feishu-webhook", ("/open-apis/bot/",), rf"/open-apis/bot/(?:v2/)?hook/(?P<v>{_WORD}{{16,}}+)"),
    _Rule("wecom-webhook", ("/cgi-bin/webhook/",), rf"/cgi-bin/webhook/\w+\?key=(?P<v>{_UUID})"),
    _Rule("teams-webhook", (".webhook.office.com/",), r"\.webhook\.office\.com/(?P<v>webhookb2/[\w@/-]{40,}+)"),
    _Rule(
        "azure-key",
        ("AccountKey", "SharedAccessKey", "SharedSecret"),
        r"(?:AccountKey|SharedAccessKey|SharedSecret)=(?P<v>[A-Za-z0-9+/]{20,}+={0,2})",
    ),
    _Rule("azure-key", ("Q~",), r"Q~[A-Za-z0-9_.~-]{28,40}+", before=_URLSAFE + ".~", shape=r".{3}\dQ~.+"),
    _Rule("azure-sas", ("sig=",), r"(?<=[?&;])sig=(?P<v>[A-Za-z0-9%+/_-]{30,}+={0,2})"),
    _Rule(
        "jwt",
        ("eyJ",),
        rf"{_EDGE}(?P<v>eyJ{_WORD}{{8,}}+\.{_WORD}{{8,}}+\.{_WORD}{{8,}}+(?:\.{_WORD}{{8,}}+){{0,2}})",
    ),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}+"),
    _prefixed("databricks-token", "dapi", rf"{_HEX}{{32}}(?:-\d)?(?![A-Za-z0-9])"),
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32,}+"),
    _prefixed("atlassian-token", "ATATT3 ATCTT3 ATBB", r"[A-Za-z0-9_=-]{24,}+"),
    _prefixed("docker-token", "dckr_pat_ dckr_oat_", rf"{_WORD}{{20,}}+"),
    _prefixed("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{30,}+"),
    _prefixed("fly-token", "fm2_ fm1r_ fm1a_ fo1_", r"[A-Za-z0-9+/_-]{30,}+={0,2}"),
    _prefixed("vault-token", "hvs. hvb. hvr.", rf"{_WORD}{{20,}}+"),
    _Rule("terraform-token", (".atlasv1.",), rf"\.atlasv1\.{_WORD}{{30,}}+", before=_URLSAFE, shape=r".{10,20}\.atl.+"),
    _prefixed("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/_]{30,}+={0,2}"),
    _prefixed("newrelic-key", "NRAK- NRII- NRIQ- NRRA- NRJS-", r"[A-Za-z0-9-]{16,}+"),
    _prefixed("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/_=-]{40,}+"),
    _prefixed("postman-key", "PMAK-", rf"{_HEX}{{20,}}+-{_HEX}{{20,}}+"),
    _prefixed("pulumi-token", "pul-", rf"{_HEX}{{40}}(?![A-Za-z0-9])"),
    _prefixed("supabase-key", "sbp_ sb_secret_", rf"{_WORD}{{20,}}+"),
    _prefixed("square-token", "sq0atp- sq0csp-", rf"{_WORD}{{20,}}+"),
    _prefixed("groq-key", "gsk_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("xai-key", "xai-", rf"{_ALNUM}{{40,}}+"),
    _prefixed("replicate-token", "r8_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("perplexity-key", "pplx-", rf"{_ALNUM}{{30,}}+"),
    _prefixed("tavily-key", "tvly-", rf"{_WORD}{{20,}}+", check=_is_dense_token),
    _prefixed("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f_]{30,}+"),
    _prefixed("figma-token", "figd_", rf"{_WORD}{{30,}}+"),
    _Rule("airtable-token", ("pat",), rf"{_EDGE}(?P<v>pat{_ALNUM}{{14}}\.{_HEX}{{64}})"),
    _prefixed("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.-]{30,}+"),
    _prefixed("rubygems-key", "rubygems_", rf"{_HEX}{{40,}}+"),
    _prefixed("contentful-token", "CFPAT-", rf"{_WORD}{{30,}}+"),
    _prefixed("heroku-key", "HRKU-", rf"{_WORD}{{30,}}+"),
    _prefixed("netlify-token", "nfp_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-fA-F]{40,}+(?:-[A-Za-z0-9]{10,20})?"),
    _prefixed("alibaba-key", "LTAI", rf"{_ALNUM}{{12,26}}(?![A-Za-z0-9])"),
    _prefixed("tencent-key", "AKID", rf"{_ALNUM}{{32,36}}(?![A-Za-z0-9])"),
    _prefixed("onepassword-token", "ops_eyJ", rf"{_WORD}{{60,}}+"),
)
_LITERALS = tuple((literal, at) for at, rule in enumerate(_RULES) for literal in rule.literals)
_DIGITS_OF = frozenset(_DIGITS)


def _each(text: str, literals: tuple[str, ...], pattern: str) -> Iterator[re.Match[str]]:
    """Yield the matches that start at one of the literals, left to right for each literal, none within another."""
    for literal in literals:
        at = text.find(literal)
        while at >= 0:
            found = _compiled(pattern).match(text, at)
            if found:
                yield found
            at = text.find(literal, max(found.end() if found else 0, at + 1))


def _long_words(text: str) -> str:
    """Keep the words of which a part could be a token (15 characters and a digit or capital, or 30): prose has few."""
    ascii_only = text if text.isascii() else text.encode("ascii", "replace").decode().replace("?", " ")
    return " ".join([word for word in ascii_only.split() if len(word) >= 15 and _has_opaque_part(word)])


def _has_opaque_part(word: str) -> bool:
    parts = word.replace("/", " ").replace(".", " ").split()
    return any(
        len(part) >= 15 and (len(part) >= 30 or not _DIGITS_OF.isdisjoint(part) or not part.islower()) for part in parts
    )


def _find_shapes(text: str) -> Iterator[Secret]:
    words = _long_words(text)
    if not words:
        return
    for rule in [_RULES[at] for at in dict.fromkeys([at for literal, at in _LITERALS if literal in words])]:
        for found in _each(text, rule.literals, rule.pattern):
            start, end = found.span("v") if "v" in found.re.groupindex else found.span()
            if rule.before:
                start = _grow_left(text, start, rule.before)
                if not _compiled(rule.shape).fullmatch(text, start, end):
                    continue
            if rule.check(text[start:end]):
                yield Secret(rule.kind, start, end)


def _grow_left(text: str, start: int, characters: str) -> int:
    limit = max(0, start - 40)
    while start > limit and text[start - 1] in characters:
        start -= 1
    if text[start - 1 : start] == "\\" and text[start] in "nrt":
        start += 1  # the letter belongs to an escaped line end
    return start


# --- values whose place gives them away -----------------------------------------------------------------------------

_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_GAP = r"(?:\s|\\[nr]|[>|\"'+,#*\\])*+"  # line ends as they are, escaped, quoted, in a comment or concatenated
_KEY_LINES = (
    rf"(?:{_GAP}(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset):[^\n\\\0]{{1,100}}(?=\n|\\)))*+"
    rf"(?:{_GAP}[A-Za-z0-9+/]{{16,}}+={{0,2}})++(?:{_GAP}=?[A-Za-z0-9+/]{{1,15}}={{0,2}}(?=\s*\n|\s*\Z|\\|\"))?"
)


def _find_private_keys(text: str) -> Iterator[Secret]:
    """Find key blocks, marker lines included; one without its END line stops after the last line of Base64."""
    if "Private-Lines:" in text:  # the format of PuTTY
        for found in _each(text, ("Private-Lines:",), rf"Private-Lines: ?\d+(?P<v>{_KEY_LINES})"):
            yield Secret("private-key", *found.span("v"))
    if "PRIVATE KEY" not in text:
        return
    marks = list(_compiled(rf"(?P<begin>{_BEGIN})|{_END}").finditer(text))
    for at, mark in enumerate(marks):
        if mark["begin"] is None:
            continue
        closing = marks[at + 1] if at + 1 < len(marks) and marks[at + 1]["begin"] is None else None
        lines = _compiled(_KEY_LINES).match(text, mark.end())
        if closing and _is_key_body(text[mark.end() : closing.start()]):
            yield Secret("private-key", mark.start(), closing.end())
        elif lines and not _is_stopgap(lines[0]):
            yield Secret("private-key", mark.start(), lines.end())


def _is_key_body(body: str) -> bool:
    """Say whether the text between two marker lines is a key, elided or not, and not prose about one."""
    if _MASK in body or len(body) > 65_536 or _compiled(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}").search(body):
        return False
    run = _compiled(r"[A-Za-z0-9+/]{16,}").search(body)
    return run is not None and not _is_stopgap(run[0])


_USERINFO = (
    r"(?<=[A-Za-z0-9])://(?P<user>[^\s/:@?#\"'<>`\0]{0,100}):(?P<v>[!$-.0-;=@-_a-~]{1,200})@(?!sha\d+:)[\w\[$<{*%-]"
)


def _find_userinfo(text: str) -> Iterator[Secret]:
    """Find passwords in the user-info of URLs (RFC 3986, any scheme)."""
    for found in _each(text, ("://",), _USERINFO):
        if found["v"] != found["user"] and _is_url_password(found["v"]):
            yield Secret("url-password", *found.span("v"))


_BASE64 = r"[A-Za-z0-9+/=_-]"
_OPAQUE = r"[A-Za-z0-9._~+/-]{8,2000}+={0,2}"
_BEARER = rf"(?i:bearer)[ \t]+[\"'`]?(?P<v>{_OPAQUE})"
_BASIC = rf"(?i:basic)[ \t]+[\"'`]?(?P<v>{_BASE64}{{8,2000}}+)"
_AUTHORIZATION = (
    r"(?i:authorization)\\?[\"'`]?[ \t]*[:=][ \t]*\\?[\"'`]?(?:(?!(?i:basic|bearer)\b)[A-Za-z][\w-]{0,20}[ \t]+)?"
    rf"(?P<v>{_OPAQUE})"
)
_CURL_USER = r"(?:-u|--user)[ =]?[\"']?[^\s:\"'@/]{1,60}:(?P<v>[!#-&(-;=?-_a-~]{4,200})"


_COOKIE = r"cookie2?\\?[\"'`]?[ \t]*[:=][ \t]*\\?[\"'`]?(?P<pairs>[^\n\0\"'`]{20,4096}+)"
_COOKIE_PAIR = r"(?<![\w.-])(?P<name>[\w.-]{1,64}+)=(?P<v>[A-Za-z0-9._~+/%:|!-]{20,2000}+={0,2})"
_COMMANDS = (  # commands that take a password after `-p`
    ("sshpass", r"(?i:sshpass)[ \t]+-p[ \t]*[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("docker login", r"(?i:docker login)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p(?:[ \t]+|=)?[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("mysql", r"(?i:mysql(?:dump|admin|import|sh)?)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p[\"']?(?P<v>[!#-&(-~]{6,200})"),
    ("mariadb", r"(?i:mariadb(?:-dump|-admin)?)(?=[ \t])[^\n|;\0]{0,200}?[ \t]-p[\"']?(?P<v>[!#-&(-~]{6,200})"),
)


def _find_headers(text: str, lower: str) -> Iterator[Secret]:
    """Find the credentials of HTTP authorization, in headers and in the options of curl."""
    for literal, pattern, check in (
        ("bearer", _BEARER, _is_credential),
        ("basic", _BASIC, _is_basic),
        ("authorization", _AUTHORIZATION, _is_credential),
    ):
        if literal in lower:
            yield from _values("authorization", text, _starts(lower, literal), pattern, check)
    if "curl" in lower:
        for option in ("-u", "--user"):
            yield from _values("authorization", text, _starts(text, option), _CURL_USER, _is_url_password)
    yield from _find_cookies(text, lower)
    for command, pattern in _COMMANDS:
        if command in lower:
            yield from _values("assignment", text, _starts(lower, command), pattern, _is_url_password)


def _find_cookies(text: str, lower: str) -> Iterator[Secret]:
    """Find what opens a session among the pairs of a Cookie or Set-Cookie header (RFC 6265)."""
    if "cookie" in lower:
        for found in _each(lower, ("cookie",), _COOKIE):
            for pair in _compiled(_COOKIE_PAIR).finditer(text, *found.span("pairs")):
                if _is_session(pair["name"]) and _is_random(pair["v"]):
                    yield Secret("authorization", *pair.span("v"))


def _is_session(name: str) -> bool:
    """Say whether a cookie of this name may open a session: those of analytics and of forms don't."""
    return not _compiled(r"(?i)_+g[a-z]{1,4}(?:_|$)|_*(?:utm|fbp|csrf|xsrf)|.*(?:csrf|xsrf|consent)").match(name)


def _starts(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


def _values(kind: str, text: str, starts: Iterator[int], pattern: str, check: Check) -> Iterator[Secret]:
    done = 0
    for at in starts:
        found = _compiled(pattern).match(text, at) if at >= done else None
        if found and check(found["v"]):
            yield Secret(kind, *found.span("v"))
        if found:
            done = found.end()


# --- names and the values assigned to them --------------------------------------------------------------------------

_NAMES = ("pass", "pwd", "token", "secret", "key", "credential", "_auth")
_CJK_NAMES = "密码|密碼|口令|密钥|秘钥|金鑰|私钥|令牌|权杖|凭证|凭据|授权码"
_CJK = r"(?![密口秘令])[\u4e00-\u9fff]"  # a name that follows is looked at by itself
_SUFFIX = r"(?P<suffix>(?>s?(?:[_.\-][A-Za-z0-9_.\-]{1,24}|[A-Z0-9][A-Za-z0-9_]{0,24})?))"
_CLOSE = r"(?:\\?[\"'`]|\*\*|[\])]|&quot;|&#3[49];){0,3}+"
_NOTE = r"(?:[ \t]?(?:\([^()\n\0]{1,24}\)|（[^（）\n\0]{1,24}）))?"
_SEPARATOR = (
    r"(?:(?:[ \t]*:[ \t]*&?(?:str|[Ss]tring|bytes|SecretStr|text)(?:[ \t]*\|[ \t]*\w{1,9})?)?"  # a type
    r"[ \t]*(?:=>|:=|={1,3}|＝)[ \t]*"
    r"|[ \t]*&(?:#61|#x3[dD]|equals|#58|#x3[aA]|colon);[ \t]*"  # entities of = and :
    r"|[ \t]*[:：](?:\*\*)?\s{0,12}+(?:`{3}[a-z]{0,10}\n)?"
    r"|[ \t]*\|[ \t]*|>"  # a table's cell, an element
    r"|(?<=[\"'])[ \t]*,[ \t]*(?=[\"'])|\([ \t]*(?=[\"'])"  # a default, an argument
    r"|,?\s{1,20}[\"']?value[\"']?[ \t]*[:=][ \t]*"  # `name: …` over `value: …`
    r"|(?:[ \t]+[A-Za-z]{1,15}){0,3}?[ \t]+(?:is|was|to)[ \t]*:?[ \t]+"
    rf"|(?:{_CJK}){{0,8}}?[ \t]*(?:(?:是|为|為|成)[ \t]*[:：]?|[:：＝=])[ \t]*"
    r"|(?P<bare>[ \t]+))"
)
_UNIT = r"[!#$%*+\-./0-9?@A-Z^_a-z~]"
_VALUE = (
    r"(?:\*\*)?(?:&quot;|&#3[49];)?(?:[rbuf]{1,2}(?=[\"']))?(?=\\?[\"'`“‘「『]?(?:[^\s=\"'`\\\0]{0,48}?[0-9!#$%^*+?@~]|[A-Za-z_+/.&-]{16}|[a-z]{0,16}[A-Z]{1,16}[a-z]{1,16}[A-Z]))"
    r"(?:\\?(?P<quote>[\"'`])(?P<quoted>(?:(?!\\?(?P=quote))[!-~]){4,512}+)\\?(?P=quote)"
    r"|[“‘「『](?P<curly>[!-~]{4,512}+)[”’」』]"
    rf"|[\"'`]?(?P<plain>(?:&(?=[\w&.-]*[0-9!#$%^*+?@~]))?{_UNIT}{{1,512}}+(?:[:&,;=]{{1,2}}(?![\w.-]{{1,40}}[=:]|quot;|#3[49];){_UNIT}{{1,512}}+){{0,4}}+={{0,2}})"
    r"(?P<call>[(\[])?)"
)
_ASSIGNED = rf"(?:(?i:pass(?:word|wd|phrase|code|wort)?)|(?i:{'|'.join(_NAMES[1:])})|{_CJK_NAMES})"
_ASSIGNMENT = _ASSIGNED + _SUFFIX + _CLOSE + _NOTE + _SEPARATOR + _VALUE

_ABOUT = (  # what follows or precedes in names that hold no secret themselves
    r"(?i)(?:hash|sha\d*|digest|fingerprint|checksum|thumbprint|ids?|counts?|name|len|length|size|types?|path|file|dir|url|uri|"
    r"endpoint|expir\w*|ttl|limits?|policy|version|fields?|header|ref|arn|provider|scopes?|format|prefix|suffix|min|max|"
    r"budget|usage|issuer|audience|label|alias|store|manager|mode|rotation|regex|pattern|column|table)\d*$"
)
_KEY_OF = (
    r"(?i)(?:api|access|private|priv|secret|encrypt(?:ion)?|sign(?:ing)?|signature|master|auth|account|app|service|client|"
    r"deploy|licen[cs]e|admin|hmac|aes|jwt|session|cookie|webhook|shared|ssh|storage)[_\-. ]?$"
)
_OPEN_KEY = (
    r"(?:PUBLIC|PUB|PRIMARY|FOREIGN|CACHE|PARTITION|SORT|IDEMPOTENCY|OBJECT|ROW|GROUP|"
    r"UNIQUE|INDEX|HASH|ROUTING|PUBLISHABLE)_$"
)
_PUBLIC = (
    r"(?i)(?:publi[cs]h?(?:able)?|pub|cache|page|next|cursor|csrf|xsrf|idempotency|design|cancel(?:l?ation)?"
    r"|(?<![A-Za-z])(?:max|num))[_\-. ]?$"
)


def _find_assignments(text: str, lower: str) -> Iterator[Secret]:
    """Find random-looking values given to names of secrets, in code, settings, tables and prose."""
    is_random = cache(_is_random)  # for this text only: no value outlives the call
    for name in (*_NAMES, _CJK_NAMES):
        done = 0
        for at in _name_starts(lower, name):
            found = _compiled(_ASSIGNMENT).match(text, at) if at >= done else None
            span = _assigned_span(found, name, is_random=is_random) if found else None
            if span:
                done = span[1]
                yield Secret("assignment", *span)


def _name_starts(lower: str, name: str) -> Iterator[int]:
    if name is not _CJK_NAMES:
        return _starts(lower, name)
    return iter(()) if lower.isascii() else (found.start() for found in _compiled(name).finditer(lower))


def _assigned_span(found: re.Match[str], name: str, *, is_random: Check) -> Span | None:
    """Return the span of the value when both it and the name before it look like a secret's."""
    group = "quoted" if found["quoted"] else "curly" if found["curly"] else "plain"
    start, end = found.span(group)
    value = found[group]
    if group == "plain":
        value = value.rstrip(".,;:?*")
        end = start + len(value)
        if found["call"] and (len(value) < 24 or _is_worded(value)):
            return None
    before = found.string[max(0, found.start() - 24) : found.start()]
    if not is_random(value) or not _names_secret(before, name, found["suffix"]):
        return None
    if found["bare"] and name is not _CJK_NAMES and not _may_follow_blank(before, found, value):
        return None
    if _compiled(_UUID).fullmatch(value) and name not in ("key", "secret", "pass"):
        return None  # tokens of requests, sessions and continuations are mostly UUIDs that open nothing
    if name == "key" and not _compiled(_KEY_OF).search(before) and len(value) < 20:
        return None
    return start, end


def _may_follow_blank(before: str, found: re.Match[str], value: str) -> bool:
    """Say whether a name takes its value after a mere blank: an option, a line of .netrc, or `NAME_API_KEY`."""
    if _compiled(r"(?:^|\s)-{1,2}[\w-]*$|(?i:login|user)[ \t]+\S+\s+$").search(before):
        return True
    head = found[0].split(maxsplit=1)[0]
    named = _compiled(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?").fullmatch(head)
    return bool(named and before[-1:] == "_" and len(value) >= 20 and any(map(str.isdigit, value)))


def _names_secret(before: str, name: str, suffix: str) -> bool:
    """Say whether the name around the word (24 characters before it, and what follows) is that of a secret."""
    if _compiled(_ABOUT).search(suffix) or _compiled(_PUBLIC).search(before):
        return False
    if name == "key":
        named = _compiled(r"[A-Z0-9]_$").search(before) and not _compiled(_OPEN_KEY).search(before)
        return bool(named or _compiled(_KEY_OF).search(before))
    if name == "pass":
        return not _compiled(r"[a-z]$").search(before) or suffix == ""
    return True


def names_secret(name: str) -> bool:
    """Tell whether a field of this name holds a credential, however harmless its value looks: `db_password`, `apiKey`, 口令.

    Names of what is said about one are none: `token_count`, `password_policy`, `private_key_path`.
    """
    plain = _compiled(r"(?<=[a-z0-9])(?=[A-Z])").sub("_", name)
    if not plain.isascii() and _compiled(_CJK_NAMES).search(plain):
        return True
    lower = plain.lower()
    for word in _NAMES:
        for at in _starts(lower, word):
            found = _compiled(_ASSIGNED + _SUFFIX).fullmatch(plain, at)
            if found and _is_a_name(plain[:at], lower[at : found.start("suffix")], found["suffix"], word):
                return True
    return False


def _is_a_name(before: str, said: str, suffix: str, word: str) -> bool:
    """Tell whether the word and what stands around it name a secret: `pass_rate`, `bypass` and `pwd` (a folder) don't."""
    if said in ("pass", "pwd") and (suffix or before[-1:].isalnum()):
        return False
    if said == "pwd" and before.lower() in ("", "old_"):
        return False
    return _names_secret(before, word, suffix)


# --- all together ---------------------------------------------------------------------------------------------------

_KINDS = tuple(
    dict.fromkeys((*(rule.kind for rule in _RULES), "private-key", "url-password", "authorization", "assignment"))
)
_MARKERS = tuple(f"[REDACTED:{kind}]" for kind in _KINDS)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the credentials of a text in order, none overlapping another.

    A value found once is reported wherever it stands. Markers left by `redact` count as a wall that no value crosses,
    and the search is repeated on what is left, so that a redacted text holds no further find.
    """
    work = _masked_markers(text)
    found: list[Secret] = []
    while round_ := _merged(_scan_as_read(work)):
        found += round_
        work = _replaced(work, round_, mark=lambda secret: _MASK * (secret.end - secret.start))
    return tuple(sorted(found, key=lambda secret: secret.start))


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """Replace each credential by `[REDACTED:<kind>]`; return the text and what `find_secrets` found in the original."""
    secrets = find_secrets(text)
    return _replaced(text, secrets, mark=lambda secret: f"[REDACTED:{secret.kind}]"), secrets


def _masked_markers(text: str) -> str:
    if "[REDACTED:" not in text:
        return text
    return _compiled("|".join(map(re.escape, _MARKERS))).sub(lambda found: _MASK * len(found[0]), text)


_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


def _scan_as_read(text: str) -> list[Secret]:
    """Scan a text as a reader sees it: letters of full width as plain ones, and nothing where nothing is seen.

    What is invisible may also part two words, so the text is searched with blanks in its place as well.
    """
    if text.isascii():
        return _repeated(text, _scan(text))
    folded = _folded(text)
    if not any(character in folded for character in _INVISIBLE):
        return _repeated(folded, _scan(folded))
    kept = [at for at, character in enumerate(folded) if character not in _INVISIBLE]
    joined = "".join([folded[at] for at in kept])
    parted = folded.translate(dict.fromkeys(map(ord, _INVISIBLE), " "))
    return [
        *(
            Secret(secret.kind, kept[secret.start], kept[secret.end - 1] + 1)
            for secret in _repeated(joined, _scan(joined))
        ),
        *_repeated(parted, _scan(parted)),
    ]


def _folded(text: str) -> str:
    """Replace the variants of plain letters, digits and the marks of tokens (NFKC), one character by one."""
    table = {}
    for character in set(text):
        if not character.isascii():
            plain = unicodedata.normalize("NFKC", character)
            if len(plain) == 1 and plain.isascii() and (plain.isalnum() or plain in "-_+/=."):
                table[ord(character)] = plain
    return text.translate(table) if table else text


def _scan(text: str) -> list[Secret]:
    """Return every find, overlapping or not, the most telling kind first."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when lowered, and offsets would shift
        lower = text.translate({upper: upper + 32 for upper in range(65, 91)})
    found = [*_find_private_keys(text), *_find_shapes(text)]
    if "://" in text and "@" in text:
        found += _find_userinfo(text)
    found += _find_headers(text, lower)
    found += _find_assignments(text, lower)
    return found


def _repeated(text: str, found: list[Secret]) -> list[Secret]:
    """Add the other places where a found value stands; one pass, however many values there are."""
    if not found:
        return found
    heads: dict[str, dict[int, dict[str, str]]] = {}
    for secret in reversed(found):
        value = text[secret.start : secret.end]
        heads.setdefault(value[:4], {}).setdefault(len(value), {})[value] = secret.kind
    everywhere = list(found)
    for at in range(len(text) - 3):
        sizes = heads.get(text[at : at + 4])
        if sizes:
            for size, kinds in sizes.items():
                kind = kinds.get(text[at : at + size])
                if kind:
                    everywhere.append(Secret(kind, at, at + size))
    return everywhere


def _merged(found: list[Secret]) -> list[Secret]:
    """Join finds that overlap into one, under the kind that was listed first."""
    ranked = sorted(enumerate(found), key=lambda pair: pair[1].start)
    merged: list[tuple[int, Secret]] = []
    for rank, secret in ranked:
        if merged and secret.start < merged[-1][1].end:
            best, last = merged[-1]
            kind = last.kind if best <= rank else secret.kind
            merged[-1] = (min(best, rank), Secret(kind, last.start, max(last.end, secret.end)))
        else:
            merged.append((rank, secret))
    return [secret for _, secret in merged]


def _replaced(text: str, secrets: tuple[Secret, ...] | list[Secret], *, mark: Callable[[Secret], str]) -> str:
    parts: list[str] = []
    done = 0
    for secret in secrets:
        parts += (text[done : secret.start], mark(secret))
        done = secret.end
    return "".join((*parts, text[done:]))
