"""What belongs to persons is told from what only looks like it, and the owner's file is read as people write it."""

from __future__ import annotations

import pytest

from oracle.domain.safety.privacy import PERSONAL_RULES, Guard, find_personal, read_rules
from tests.growth import grows_linearly

PERSONAL = [
    ("mail", "write to zhang.san@corp.cn today"),
    ("mail", "联系li@corp.cn，谢谢"),
    ("mail", "<a_b+c%d@mail.sub.corp.co.uk>"),
    ("phone", "打13812345678找他"),
    ("phone", "+86 138 1234 5678"),
    ("phone", "tel. +1 415 555 0132"),
    ("phone", "(415) 555-0132"),
    ("phone", "+442071838750"),
    ("chat-id", "群oc_" + "a1b2c3d4" * 4),
    ("chat-id", "ou_" + "0" * 32),
    ("chat-id", "chat -1001234567890"),
    ("home-path", "see /home/zhangsan/app/x.py"),
    ("home-path", "/Users/李四/app"),
    ("home-path", r"C:\Users\Li\app"),
]
NOBODYS = [
    "git@github.com:team/app.git and noreply@corp.cn",
    "you@corp.cn, a@example.com, b@sub.example.org, c@host.test, d@users.noreply.github.com",
    "pip install foo@1.2.3; uses actions/checkout@v4; import @babel/core; user@host",
    "https://registry.example/@scope/name",
    "1700000000000 and 2026-11-27T21:29:03+00:00 and 2026-11-28T04-15-00-000000Z",
    "version 1.13.812345678, port 13812, id-13812345678, 0x13812345678, sha 4155550132ab",
    "offset +08:00, +1, diff +12 -3, 192.168.100.200",
    "oc_get and on_delete_cascade_everything_here",
    "~/app, /home/user/app, /Users/runner/work, /home/$USER/x, /home/<you>/x, /home/ alone",
]


@pytest.mark.parametrize(("rule", "text"), PERSONAL)
def test_what_belongs_to_somebody_is_found_where_it_stands(rule: str, text: str) -> None:
    ((found, start, end),) = find_personal(text)
    assert found == rule
    assert text[start:end].strip() == text[start:end] != ""


@pytest.mark.parametrize("text", NOBODYS)
def test_what_is_nobodys_is_left_alone(text: str) -> None:
    assert list(find_personal(text)) == []


def test_every_rule_has_a_case() -> None:
    assert {rule for rule, _ in PERSONAL} == set(PERSONAL_RULES)


@pytest.mark.parametrize("unit", ["a", "a.", "@a.", "a@", "+1 12 ", "(2", "1", "/home/", "oc_", "13 8", "+1(22"])
def test_the_cost_stays_linear_in_the_text(unit: str) -> None:
    small, large = ((unit * size)[:size] + " @ /home/ oc_ 0123456789" for size in (20_000, 160_000))
    assert grows_linearly(lambda text: list(find_personal(text)), small, to=large)


def test_the_owners_file_is_read_in_both_forms() -> None:
    text = """# What must not leave

Prose with BLOCK: in it blocks nothing.
BLOCK: (?i)lotus
  BLOCK:^x$
- `*.corp.internal` and `wiki.?`, our hosts
* 张三
- BLOCK: [0-9]{6}
-
```
- fenced
BLOCK: fenced
```
## Allowed
- example.org
BLOCK: still
## 白名单
- also
## More
+ last
"""
    assert [(one.line, one.pattern, one.is_glob) for one in read_rules(text)] == [
        (4, "(?i)lotus", False),
        (5, "^x$", False),
        (6, "*.corp.internal", True),
        (6, "wiki.?", True),
        (7, "张三", True),
        (8, "[0-9]{6}", False),
        (12, "fenced", False),
        (16, "still", False),
        (20, "last", True),
    ]


@pytest.mark.parametrize(
    "line",
    """BLOCK: lotus|block: lotus|Block: lotus|BLOCK：lotus|BLOCK :lotus|BLOCK:: lotus|**BLOCK:** lotus|**BLOCK**: lotus
    |*BLOCK:* lotus|__BLOCK__: lotus|`BLOCK: lotus`|`BLOCK`: lotus|BLOCK: `lotus`|> BLOCK: lotus|>BLOCK: lotus|- **BLOCK**: lotus
    |1. BLOCK: lotus|- [ ] BLOCK: lotus|• block: lotus|> - BLOCK: lotus|>> BLOCK: lotus""".replace("\n", "").split("|"),
)
def test_a_rule_is_read_in_every_dress_that_people_give_it(line: str) -> None:
    assert [(one.pattern, one.is_glob, one.is_unclear) for one in read_rules(line)] == [("lotus", False, False)]


@pytest.mark.parametrize(
    "line", ["1. lotus", "2) lotus", "• lotus", "> - lotus", "- [x] lotus", "* `lotus`, our client"]
)
def test_an_item_is_read_in_every_sort_of_list(line: str) -> None:
    assert [(one.pattern, one.is_glob, one.is_unclear) for one in read_rules(line)] == [("lotus", True, False)]


@pytest.mark.parametrize(
    "line",
    [
        "BLOCK lotus",
        "BLOCK",
        "- BLOCK lotus",
        "BLOCK = lotus",
        "BLOCK - lotus",
        "| BLOCK: lotus |",
        "BLOCKED: lotus",
        "## BLOCK: lotus",
        "ＢＬＯＣＫ: lotus",
        "BLOCK: lotus\0",
        "BLOCK: lotus\u200b",
        "- lotus\ufeff",
        "```\n- lotus",
        "~~~",
    ],
)
def test_what_looks_like_a_rule_and_is_none_is_unclear(line: str) -> None:
    ((number, is_unclear),) = [(one.line, one.is_unclear) for one in read_rules(line)]
    assert (number, is_unclear) == (1, True)


@pytest.mark.parametrize(
    "line",
    [
        "Block what names a customer.",
        "BLOCKER is a word",
        "Prose with BLOCK: in it.",
        "## BLOCK",
        "## Block:",
        "Block:",
        "<!-- BLOCK: lotus -->",
        "**Block** things: x",
        "blocks are fine",
        "A blocked door",
        "",
    ],
)
def test_prose_and_headings_block_nothing(line: str) -> None:
    assert read_rules(line) == ()


def test_a_finding_names_rule_and_place_and_never_the_value() -> None:
    token = "gh" + "p_" + "q7Rk2Zp9Lx4V" * 3
    text = f"one\ntwo zhang@corp.cn {token}\n"
    found = Guard().look(text, "body")
    assert [(one.rule, one.sort, one.where) for one in found] == [
        ("mail", "personal", "body:2:5"),
        ("github-token", "secret", "body:2:19"),
    ]
    assert not any(value in str(one) + str(one.as_json()) for one in found for value in (token, "zhang"))


KEY = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz"
TOKEN = "gh" + "p_" + "q7Rk2Zp9Lx4V" * 3


@pytest.mark.parametrize("secret", [KEY, TOKEN, "password: hunter2" + "Xy9!"], ids=["key", "token", "password"])
@pytest.mark.parametrize(
    "other",
    ["example", "A" * 50, "-----END", "[REDACTED:", "\u200b", "İ", '"', "sha256:", "password:", "${", "x" * 999],
)
def test_no_field_hides_what_another_holds(secret: str, other: str) -> None:
    assert Guard().finds_in([other, secret])
    assert Guard().finds_in([secret, other])
