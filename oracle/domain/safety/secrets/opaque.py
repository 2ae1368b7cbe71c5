"""What looks like a credential and what does not: values judged by themselves. Domain room: pure."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from oracle.domain.values import value


@value
class Secret:
    """Locate one credential: `start` and `end` are character offsets of the value itself."""

    kind: str
    start: int
    end: int


MASK = "\0"  # stands for text that is redacted already; no pattern below can match it
_STOPGAP = (
    r"(?i:example|change.?me|placeholder|dummy|sample|redacted|replace|insert|fixme|x{6}|\*\*\*|\.\.\.|opensesame"
    r"|process\.env|import\.meta|os\.environ|getenv|secrets\.|vars\.)"
    r"|(?i:(?:^|[-_.<{\[ ])your|your[-_ ]|here$|(?:^|[-_.])x{4}|x{4}(?:[-_.]|$))"
    r"|^[$%]?[{(<\[].*[})>\]]$|^\$(?:env:)?(?:[A-Z_][A-Z0-9_]*|[a-z][a-z0-9_]*|[A-Za-z_]+\d?)(?:$|[/.;,)\-])|^%\w+%$|%\(\w+\)|[$#]\{|\$\(|\{\{|<%|\{[a-z_]\w*\}"
    r"|(?:^|[-_.])(?i:fake|test|demo|mock|foo|bar|todo|none|null)(?:[-_.]|$)"
    # widely printed in documentation: two UUIDs of RFC texts, the payload "John Doe" of a well-known JWT
    r"|^123e4567-e89b|^550e8400-e29b-41d4|IkpvaG4gRG9l"
)
_NOT_VALUES = (
    r"://|^(?:data|sha\d+|md5|urn|arn|file|vault|op|ssm|secretsmanager|kms|env|ref)[:\-/]"  # addresses and hashes
    r"|^v?\d+(?:[.,:]\d+)+(?:[-+/_a-z][\w.+/-]*)?$|^\d+$|^[./~]+$"  # versions, network addresses, numbers
    r"|^[A-Z]{2,10}-\d{1,6}[a-z]?$|^[a-z]+(?:_[a-z]+)*=[A-Za-z_.]+$"  # tickets, arguments of calls by their names
    r"|^[A-Z][A-Za-z]+\d?(?:\.\d)?-\d{1,3}(?:x\d{1,3})?[BM]$|^[A-Z][a-z]{2,}\d{1,2}\.\d{1,2}$"  # models, products
    r"|^Ag[A-D][A-Za-z0-9+/]{80,}={0,2}$|&(?:#x3[Cc]|#60|lt);"  # encrypted for a cluster, a SealedSecret; a stand-in of HTML
    r"|^\d{4}-\d\d(?:-\d\d|$)|^[a-z][A-Za-z_]*(?:\.[A-Za-z_]+)+$|^[&*][a-z][\w-]{0,20}$"  # times, references
    r"|^~/[\w./@-]+$|^//[a-z]|^(?:\.{1,2}|~)?/(?:[\w.@-]+/)+[\w.@-]*$|^[A-Za-z]:[\\/]|^[\w./~@:\\-]+\.[a-z]{2,5}$"  # paths
    r"|^[A-Za-z_$][\w.$]*(?:\(|\[|->|::)|=>|^[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,8}$"  # code, mail addresses
    r"|^(?:[a-z_]+\.)?_*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){2,}_*$|#[0-9a-fA-F]{6}$|(?:^|:)%[sd](?:\W|$)"  # constants, colours
    r"|\[\^?(?:A-Z|a-z|0-9|\\)|\\[dwsb]|\{\d+,?\d*\}|\(\?|^--[a-z]"  # regular expressions, options
)
_PIECE = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_RUN = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"
UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled once, for ASCII classes."""
    return re.compile(pattern, re.ASCII)


def is_stopgap(value: str) -> bool:
    """Say whether a value stands in for a real one: named so, repeated, or counted up (`abcdef123456`)."""
    if len(set(value)) < 4 or compiled(_STOPGAP).search(value):
        return True
    steps = sum(ord(after) - ord(before) in (0, 1) for before, after in pairwise(value))
    return steps >= 0.6 * (len(value) - 1)


def is_token(value: str) -> bool:
    """Accept the body of a vendor shape: the shape is the evidence, so only stand-ins and written words fall out."""
    if is_stopgap(value) or len(set(value)) < 6:
        return False
    parts = compiled(r"[-_./:]").split(value)
    return len(parts) == 1 or not all(map(compiled(r"[a-z]*\d{0,2}|[A-Z]*|\d+").fullmatch, parts))


def is_dense_token(value: str) -> bool:
    """Accept a body behind a prefix that ordinary names share (`sk-`): one long part of it, or all of it, is opaque."""
    if not is_token(value):
        return False
    parts = compiled(r"[-_]").split(value)
    if any(len(part) >= 16 and any(map(str.isdigit, part)) for part in parts):
        return True
    return len(value) >= 20 and _count_classes(value) >= 2 and not is_worded(value)


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


_VERSIONED = (  # `Qwen2.5-72B-Instruct`: a name, and beside it versions, sizes, dates and further names
    r"[A-Za-z]{2,16}\d{0,3}(?:[-_.:/](?:[A-Za-z]{2,16}\d{0,3}|[A-Za-z]?\d{1,4}[A-Za-z]{0,2}|\d{6}|\d{8})){2,8}"
)
_PART = r"[A-Za-z]*\d{0,5}|\d{6}|\d{8}|(?:[A-Za-z]{2,}|[A-Z])\d{1,5}(?:[A-Z][a-z]{2,})+"
_TERM = (  # what is written with digits or capitals inside of it, and is a word all the same: `OAuth2`, `K8s`, `V2`
    r"(?<![A-Z0-9])(?:OAuth2?|IPv[46]|[Kk][38]s|[Ii]18n|[Ll]10n|[Aa]11y|[Ee]2[Ee]|[BCMP]2[BCMP]|[23]FA|3DSecure|1Password"
    r"|Argon2(?:id?|d)|PBKDF2|X?ChaCha20|Poly1305|(?:Ed|X)25519|X509|PKCS\d{1,2}|(?:SHA\d{1,3}|[EHPR]S(?:256|384|512))(?:with[A-Z]{2,5})?|UTF(?:8|16|32)|Latin1|Log4j2?|Neo4j|GPT\d[a-z]?"
    r"|H26[45]|Win(?:32|64)|SOC2|[CS]3|EC2|MP[34]|V\d{1,2}|v\d{1,2}$|(?:20\d\d)?Q[1-4])(?![a-z])"
)
_PLACED = (  # `db-main-eu1-rw`: short words and numbers between marks, as machines and what they keep are named
    r"(?=.*[a-z]{4})[a-z]{2,}\d{0,3}(?:[-_.](?:[a-z]{2,}\d{0,3}|[a-z]?\d{1,4})){2,}"
)
_MARKED_PART = _PART + r"|[a-z]+\d{1,2}[a-z]+"  # `k8s`, `base64url`


def is_worded(value: str) -> bool:
    """Say whether a value is put together from words: `refresh-token-rotation-2`, `createdAtTimestamp`.

    Digits may stand alone between marks or end a part; so do versions (`Llama-3.1-8B`). Of the pairs of letters
    within the words three in four must be usual ones: one random text of 16 lower-case letters in 500 has that
    many. Marks are evidence too and lower it.
    """
    if _is_versioned(value):
        return True
    value = compiled(_TERM).sub("Terminal", value)
    parts = [part for part in compiled(r"%[0-9A-F]{2}|[-_./:,@+&#*]").split(value) if part]
    if not all(map(compiled(_PART if len(parts) == 1 else _MARKED_PART).fullmatch, parts)):
        return False
    words = [word for part in parts for word in compiled(_RUN).findall(part)]
    letters = sum(map(len, words))
    if letters < 0.5 * len(value) or max(map(len, words)) > 40:
        return False
    one_case = value.islower() or value.isupper()
    if letters < 3.4 * len(words):
        return value.islower() and len(parts) >= 3
    marked = len(parts) > 1 and one_case and max(map(len, words)) <= 14
    humped = len(words) >= 3 and not one_case and letters >= 4 * len(words)
    usual, pairs = _count_pairs(words)
    return usual >= (0.6 if marked or humped else 0.75) * pairs


def _is_versioned(value: str) -> bool:
    """Say whether a value names a product and a version of it: short parts, and words of usual pairs of letters."""
    if not compiled(_VERSIONED).fullmatch(value):
        return False
    words = [word for word in compiled(_RUN).findall(value) if not word.isupper()]
    usual, pairs = _count_pairs(words)
    return max(map(len, words), default=0) >= 4 and usual >= 0.75 * pairs


def _count_pairs(words: list[str]) -> tuple[int, int]:
    """Count the usual ones among the pairs of letters that follow one another in words, and all of them."""
    pairs = [first + second for word in words for first, second in pairwise(word.lower())]
    return sum(pair in _PAIRS for pair in pairs), len(pairs)


def _is_unspeakable(value: str) -> bool:
    """Say whether most pairs of letters are unusual: one name in 400 of documentation is so, and three random texts in four."""
    usual, pairs = _count_pairs(compiled(_RUN).findall(value))
    return pairs >= 3 and usual < 0.5 * pairs


def _count_classes(value: str) -> int:
    """Count which of lower case, upper case, digits and the symbols of passwords a value has."""
    return sum(compiled(kind).search(value) is not None for kind in ("[a-z]", "[A-Z]", "[0-9]", "[!#$%^&*+?@~]"))


def is_random(value: str) -> bool:
    """Say whether an assigned value is opaque: not an address, a stand-in, a reference or a name made of words.

    From 16 characters on nothing else is asked. A shorter one has to mix three classes of characters, or to change
    class often: names and words have long runs of one class (`oauth2-proxy`: 3.7 on average), random text has short
    ones (base 62: about 1.7).
    """
    size = len(value)
    if not 8 <= size <= 4096 or len(set(value)) < 6 or compiled(_NOT_VALUES).search(value) or is_stopgap(value):
        return False
    if not any(map(str.isalpha, value)):
        return False
    if size >= 16:
        return not is_worded(value)
    return _is_mixed(value)


def _is_mixed(value: str) -> bool:
    """Judge a value of 8 to 15 characters by how it mixes the classes of characters."""
    if compiled(rf"[/\[(]|^{_PLACED}$").search(value):
        return False
    pieces = compiled(_PIECE).findall(value)
    average = sum(map(len, pieces)) / len(pieces)
    if value.isalnum() and _is_unspeakable(value):
        return True
    if value.isalpha():
        return average < (2.5 if len(value) >= 12 else 2.2)
    if _count_classes(value) >= 3:
        return _has_symbols(value) or not is_worded(value)
    if _has_symbols(value):
        return average < 4.5
    return any(map(str.isdigit, value)) and (len(pieces) >= 5 or average < 2.2)


def is_scattered(value: str) -> bool:
    """Say whether a value mixes lower case, capitals and digits so often that no name is put together like that."""
    if len(value) < 10 or compiled(r"[_,;:./()\[\]]").search(value):
        return False
    pieces = compiled(_PIECE).findall(value)
    mixed = all(compiled(kind).search(value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    return mixed and (sum(map(len, pieces)) < 2.2 * len(pieces) or _is_unspeakable(value))


def _has_symbols(value: str) -> bool:
    """Say whether a value has the punctuation of passwords, with digits or with both cases."""
    if not compiled(r"[!#$%^&*+?@~]").search(value):
        return False
    return any(map(str.isdigit, value)) or compiled(r"[a-z].*[A-Z]|[A-Z].*[a-z]").search(value[1:]) is not None


def is_credential(value: str) -> bool:
    """Say whether a value looks random and is long enough to be given away by its place."""
    return len(value) >= 16 and is_random(value)
