"""Find what must not leave: credentials, what the owner of a Root blocks, and personal data.

A finding names a rule and a place, never the value. The owner's patterns are matched by a library that takes linear time
for any of them. The patterns of personal data below have bounded repetitions.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from oracle.domain.compiling import compiled
from oracle.domain.safety.secrets import MASK, find_secrets, readings, redact
from oracle.domain.values import AsJson, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    class Matcher(Protocol):
        """Find a pattern in a text."""

        def spans(self, text: str) -> Iterator[tuple[int, int]]:
            """Yield the places of the pattern, left to right, none empty. Raises RulesUnusable."""

        def require(self) -> None:
            """Make sure that the pattern can be used. Raises RulesUnusable."""


SECRET, PERSONAL, BLOCKED = "secret", "personal", "blocked"
MARK = "[REDACTED:blocked]"
PERSONAL_MARK = "[REDACTED:personal]"
MOST_FINDINGS = 200
_WALL = f"\n{MASK}\n"
"""Between two texts: no credential is read across it, and a line ends in front of it, as at the end of a text."""


@value
class RuleLine:
    """A line of `machine/privacy.md` that blocks something: a regular expression, or a text with `*` and `?` in it.

    A regular expression of nothing but words is a text too: in it, case does not count, and a blank may be any or none.
    An unclear one looks like a rule but is not a valid one, so nobody knows what it was meant to block.
    """

    line: int
    pattern: str
    is_glob: bool = False
    is_unclear: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is written as people write, and not as an expression."""
        return self.is_glob or compiled(r"[\w\s.,'@&/-]+").fullmatch(self.pattern) is not None


@value
class OwnerRule:
    """A pattern of the owner, named by its file and line."""

    name: str
    matcher: Matcher


@value
class PrivacyFinding(AsJson):
    """What was found: its rule, the sort of rule, the place, and the line and column of its first character."""

    rule: str
    sort: str
    place: str
    line: int
    column: int

    @property
    def where(self) -> str:
        """The place as a person reads it."""
        return f"{self.place}:{self.line}:{self.column}"


class Guard:
    """The rules of one Root. Credentials and personal data are looked for unless they are switched off."""

    __slots__ = ("_personal", "_rules", "_secrets")

    def __init__(self, rules: Sequence[OwnerRule] = (), *, secrets: bool = True, personal: bool = True) -> None:
        self._rules = tuple(rules)
        self._secrets = secrets
        self._personal = personal

    def look(self, text: str, place: str) -> tuple[PrivacyFinding, ...]:
        """Return what a text holds, in order, at most the first 200 findings."""
        return tuple(
            PrivacyFinding(rule, sort, place, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))
            for start, _, sort, rule in sorted(self._spans(text))[:MOST_FINDINGS]
        )

    def clean(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Replace what the guard looks for. Return the text and the rules that matched."""
        secrets: Sequence[str] = ()
        if self._secrets:
            text, found = redact(text)
            secrets = [secret.kind for secret in found]
        spans = [(start, end, MARK, rule) for start, end, rule in self._blocked(text)]
        if self._personal:
            spans += [(start, end, PERSONAL_MARK, name) for name, start, end in find_personal(text)]
        parts: list[str] = []
        done = 0
        for start, end, mark, _ in sorted(spans):
            if end > done:
                parts += (text[done:start], mark)
                done = end
        return "".join((*parts, text[done:])), (*secrets, *(rule for *_, rule in spans))

    def finds_in(self, texts: Iterable[str]) -> bool:
        """Return whether `clean` would replace something in one of several texts.

        Credentials are looked for in all texts at once, with a wall between them. The owner's patterns are matched with
        each text alone, as they may ask for the beginning or the end of it.
        """
        parts = list(texts)
        if self._secrets and find_secrets(_WALL.join(parts)):
            return True
        if self._personal and any(True for part in parts for _ in find_personal(part)):
            return True
        return any(True for part in parts for _ in self._blocked(part))

    def _blocked(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, rule) of what the owner blocks, also where it is written in another way or encoded."""
        found: set[tuple[int, int, str]] = set()
        for plain, place in readings(text) if self._rules else ():
            for rule in self._rules:
                found.update((*place(start, end), rule.name) for start, end in rule.matcher.spans(plain))
        yield from found

    def _spans(self, text: str) -> Iterator[tuple[int, int, str, str]]:
        if self._secrets:
            yield from ((secret.start, secret.end, SECRET, secret.kind) for secret in find_secrets(text))
        yield from ((start, end, BLOCKED, rule) for start, end, rule in self._blocked(text))
        if self._personal:
            yield from ((start, end, PERSONAL, name) for name, start, end in find_personal(text))


# The owner's file

_ALLOWING = r"(?i)^#+.*(?:\ballow|\bexample|允许|白名单|示例|放行)"
_ITEM = r"(?:[-*+•]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?"
_RULE = r"(\*{1,3}|_{1,3}|`)?(?i:block)(?(1)(?:\1)?)\s*[:：]+(?(1)(?:\1)?)\s*(.*)"
_HIDDEN = r"[\0-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
_LIKE_A_RULE = r"[\W_]*(?:BLOCK(?:ED|ING|S)?(?!\w)|(?i:block(?:ed|ing|s)?\W{0,4}[:：]\W*\S))"


def read_rules(text: str) -> tuple[RuleLine, ...]:
    """Return what a `privacy.md` blocks: lines `BLOCK: <regular expression>`, and the items of its lists.

    In an item, `*` stands for anything but a blank and `?` for one character. Of an item with `code` in it, only the code
    counts. Lists under a heading about what is allowed, or about examples, block nothing. Of fenced lines, only `BLOCK:`
    blocks. A line that begins like a rule but is not a valid one is unclear, and so is a fence that is never closed.
    """
    found: list[RuleLine] = []
    fenced = 0
    is_allowing = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = compiled(r"(?:>\s?)*").sub("", raw.strip(), count=1).strip()
        if line.startswith(("```", "~~~")):
            fenced = 0 if fenced else number
        elif line.startswith("#") and not fenced and not _looks_like_a_rule(line):
            is_allowing = compiled(_ALLOWING).match(line) is not None
        else:
            found += _rules_in(line, number, blocks_items=not (is_allowing or fenced))
    return (*found, RuleLine(fenced, "", is_unclear=True)) if fenced else tuple(found)


def _rules_in(line: str, number: int, *, blocks_items: bool) -> list[RuleLine]:
    begun = compiled(_ITEM).match(line)
    item = line[begun.end() :].strip() if begun else line
    rule = compiled(_RULE).match(item)
    if (rule or begun) and compiled(_HIDDEN).search(item):  # no text that anybody writes would match
        return [RuleLine(number, "", is_unclear=True)]
    if rule is not None and (rule[2] or "BLOCK" in rule[0]):  # `Block:` may begin a list
        return [RuleLine(number, _without_marks(rule[1], rule[2].strip()))]
    if _looks_like_a_rule(item):
        return [RuleLine(number, "", is_unclear=True)]
    if begun is None or not blocks_items or not item:
        return []
    codes = compiled(r"`([^`\n]{1,400})`").findall(item)
    return [RuleLine(number, pattern.strip(), is_glob=True) for pattern in codes or [item]]


def _without_marks(around: str | None, pattern: str) -> str:
    """Return a pattern without the `marks` of code around it, or around the whole rule."""
    if around == "`" and pattern.endswith("`") and pattern.count("`") == 1:
        return pattern[:-1].strip()
    is_code = len(pattern) > 1 and pattern.startswith("`") and pattern.endswith("`")
    return pattern.strip("`").strip() if is_code else pattern


def _looks_like_a_rule(line: str) -> bool:
    """Return whether a line begins like a rule. A heading may have such a name, and a comment blocks nothing."""
    if line.startswith("#"):
        headed = compiled(_RULE).match(line.lstrip("# "))
        return headed is not None and bool(headed[2])
    return not line.startswith("<!--") and compiled(_LIKE_A_RULE).match(normalize("NFKC", line)) is not None


# Personal data

_MAIL = r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w@/-]|\.\w)"
_NO_MAIL = (
    r"(?i)(?:git|noreply|no-reply|donotreply|user|username|name|you|me|someone|example)@"
    r"|@(?:.*\.)?(?:example(?:\.(?:com|org|net))?|test|invalid|localhost|local|users\.noreply\.github\.com)$"
)
_PHONE = (
    r"(?<![\w.+/-])(?:"
    r"(?:\+?86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}"  # mobile phones in China
    r"|\+[1-9]\d{0,2}(?:[ .-]?\(?\d{2,4}\)?){2,4}[ .-]?\d{2,4}"  # E.164, with or without blanks
    r"|\(?[2-9]\d{2}\)?[ -]\d{3}-\d{4}"  # North America
    r")(?![\w/-]|\.\d)"
)
_CHAT = r"(?<![\w-])(?:(?:oc|ou|on|om|og)_[0-9A-Za-z]{20,64}|-100\d{10})(?![\w-])"
_HOME = (
    r"(?:/home/|/Users/|(?<![A-Za-z])[A-Za-z]:\\{1,2}Users\\{1,2})"
    r"""(?P<name>[^\s/\\:;,"'`<>|*?()\[\]{}$]{1,64})"""
)
_NOBODY = frozenset(
    """admin all app circleci default guest jovyan linuxbrew me name node public root runner runneradmin shared someone
    somebody travis ubuntu user username vagrant vsts you your-name yourname""".split()
)
_FEWEST_DIGITS = 10

_RULES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "mail": (("@",), _MAIL),
    "phone": ((), _PHONE),
    "chat-id": (("oc_", "ou_", "on_", "om_", "og_", "-100"), _CHAT),
    "home-path": (("/home/", "/Users/", "\\Users\\"), _HOME),
}
"""Rule -> literals of which the text must hold one (or enough digits, if there are none), and the pattern."""

PERSONAL_RULES = tuple(_RULES)


def find_personal(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (rule, start, end) of mail addresses, phone numbers, ids of chats and users, and paths into somebody's home.

    Addresses and names from documentation are not personal: `you@example.com`, `/home/user`.
    """
    for name, (literals, pattern) in _RULES.items():
        is_there = any(literal in text for literal in literals) if literals else _digits(text) >= _FEWEST_DIGITS
        if not is_there:
            continue
        for found in compiled(pattern, re.ASCII).finditer(text):
            if _is_somebodys(name, found[0], found.groupdict().get("name") or ""):
                yield name, found.start(), found.end()


def _is_somebodys(rule: str, text: str, name: str) -> bool:
    if rule == "mail":
        return compiled(_NO_MAIL).search(text) is None
    if rule == "phone":
        return _digits(text) >= _FEWEST_DIGITS
    return rule != "home-path" or name.lower() not in _NOBODY


def _digits(text: str) -> int:
    return sum(map(text.count, "0123456789"))
