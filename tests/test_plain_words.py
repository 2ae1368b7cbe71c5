"""Code, help and documents are plain English."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import pytest

from tests import catalogues, plain_words


def test_no_package_has_a_finding():
    assert plain_words.count() == {}, "say it in plain words: `python -m tests.plain_words PATH` lists what is meant"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('"""App room."""', "App room"),
        ("# a file that is none", "is none"),
        ('say("`{a}` is no command.")', "is no command"),
        ('f"{a} stands on disk"', "stands"),
        ("class Clerk: ...", "Clerk"),
        (f'"""{"word " * 41}end."""', "a sentence of 42 words"),
    ],
)
def test_dialect_in_code_is_found(text, what):
    assert list(plain_words.in_module("x.py", text)) == [("x.py", 1, what)]


@pytest.mark.parametrize(
    "text",
    ["WORDS = 'stood owed'.split()", "# X stands for Y; there is none", f'"""{"word " * 39}end. {"word " * 39}end."""'],
)
def test_plain_code_and_lists_of_words_are_not(text):
    assert list(plain_words.in_module("x.py", text)) == []


def test_documents_have_short_sentences_and_lines():
    text = f"{'word ' * 30}\n{'word ' * 20}end.\n\n- {'word ' * 25}\n- {'word ' * 25}\n```\n{'x' * 201}\n```\n"
    found = [("x.md", 1, "a sentence of 51 words"), ("x.md", 7, "a line of 201 characters")]
    assert list(plain_words.in_markdown("x.md", text)) == found


def test_a_class_name_has_one_meaning():
    statements = [node for _, tree in catalogues.modules() for node in statements_of(tree)]
    classes = [node.name for node in statements if isinstance(node, ast.ClassDef)]
    counts = Counter(name for name in classes if not name.startswith("_"))
    assert {name for name, number in counts.items() if number > 1} == set()


def statements_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a block and of the blocks in it; an expression holds none."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from statements_of(child)
