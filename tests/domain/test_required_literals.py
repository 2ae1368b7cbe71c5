"""Required literals: one of them occurs wherever the expression matches. Nothing is claimed of unknown syntax."""

from __future__ import annotations

import sys

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.store.root.privacy import required_literals


@pytest.mark.parametrize(
    ("expression", "literals"),
    [
        ("lotus", {"lotus"}),
        ("(?i)LoTus", {"lotus"}),
        (r"\bacme-\d+\b", {"acme-"}),
        (r"C:\\Secret \[1\]", {"c:\\secret [1]"}),
        ("foo|bars", {"foo", "bars"}),
        (r"(?:foo|bar)\d{2}", {"foo", "bar"}),
        ("ab?cde", {"cde"}),
        ("ab*cd+", {"cd"}),
        ("a{2}b{0,3}", {"a"}),
        ("(?:long name)?short", {"short"}),
        ("x(?:ab|longer)yz", {"yz"}),
        ("[a-z]{3}42[]x]", {"42"}),
        (r"[[:alpha:]\]]客户\pL{1,20}", {"客户"}),
        (r"(?i)\p{Greek}+straße", {"strasse"}),
    ],
)
def test_the_best_is_chosen_that_must_stand_there(expression: str, literals: set[str]) -> None:
    assert required_literals(expression) == literals


@pytest.mark.parametrize(
    "expression",
    [
        *("", ".*", r"\d+", "a*", "a?", "(a|)", "a|", "(?:a|b*)", "[abc]", "x{0}", r"\Qa.b\E", r"\x61b", "a**", "a{,3}", "a{x}"),
        *("(?P<name>a)", "(?=a)b", "(a", "a)b", "*a", "[a", "[[:alpha:", r"\1a", "a\\", r"\p{L", "(" * 60 + "a" + ")" * 60),
        "|".join(f"word{number}" for number in range(40)),
    ],
)  # fmt: skip
def test_nothing_is_claimed_where_nothing_is_known(expression: str) -> None:
    assert required_literals(expression) == frozenset()


LETTERS = "abAB1-ßſK客"
PARTS = st.sampled_from(
    [*LETTERS, ".", "^", "$", r"\d", r"\b", r"\.", r"\-", r"\pL", r"\p{Lu}", "[ab]", "[^a]", "[]a]", r"[\]b]"]
)
REPEATED = st.sampled_from(["", "", "", "?", "*", "+", "{2}", "{0,2}", "{1,}", "+?", "{2,3}?"])
GROUPS = st.sampled_from(["(", "(?:", "(?i:", "(?i-s:", "(?i)(?:"])


def joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Build sequences, alternatives and groups of expressions."""
    repeated = st.tuples(inner, REPEATED).map("".join)
    sequence = st.lists(repeated, min_size=1, max_size=4).map("".join)
    either = st.lists(sequence, min_size=1, max_size=3).map("|".join)
    return st.tuples(GROUPS, either).map(lambda parts: f"{parts[0]}{parts[1]})")


EXPRESSIONS = st.lists(st.tuples(st.recursive(PARTS, joined, max_leaves=10), REPEATED).map("".join), max_size=5).map(
    "".join
)


@settings(max_examples=600, deadline=None)
@given(EXPRESSIONS, st.lists(st.text(LETTERS + "SsKk.]x\n", max_size=8), min_size=1, max_size=8))
def test_one_of_the_literals_occurs_wherever_the_expression_matches(expression: str, texts: list[str]) -> None:
    literals = required_literals(expression)
    assert "" not in literals
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(expression, options)
    except re2.error:
        return
    for text in texts:
        if literals and compiled.search(text):
            assert any(literal in text.casefold() for literal in literals)


def test_every_letter_that_is_taken_for_another_is_folded_to_the_same() -> None:
    cased = [char for char in map(chr, range(0x80, sys.maxunicode)) if len(char.lower()) == 1 and char.lower() != char]
    assert len(cased) > 1000
    for char in cased:
        for other in {char.lower(), char.upper(), char.lower().upper()}:
            if len(other) == 1 and re2.search(f"(?i)^{char}$", other):
                assert required_literals(char) & {other.casefold()}
