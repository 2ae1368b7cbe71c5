"""Try which stretches of a text count as code, and that hiding them moves nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.domain.markdown.masks import blank, mask_code, unify_line_ends
from tests.growth import grows_linearly

MARKDOWN = st.text(alphabet=st.sampled_from("`~>-+*1.)# \t\n\rab<!\\:修"), max_size=120)

HIDDEN = {
    "backtick fence": "```\nCODE\n```\nprose",
    "fence with info string": "``` python title=x\nCODE\n```\nprose",
    "tilde fence with info string": "~~~ a `b` ~~~\nCODE\n~~~\nprose",
    "longer fence holds a shorter one": "````\n```\nCODE\n```\nCODE\n````\nprose",
    "tilde fence holds backticks": "~~~\n```\nCODE\n~~~\nprose",
    "closing fence may be longer": "```\nCODE\n`````  \nprose",
    "a fence with an info string closes nothing": "```\nCODE\n```sh\nCODE\n```\nprose",
    "fence indented by three": "   ```\nCODE\n  ```\nprose",
    "fence in a quote": "> ```\n> CODE\n> ```\n> prose",
    "fence in nested quotes": ">> ~~~\n>> CODE\n>> ~~~\n> prose",
    "the end of a quote ends its fence": "> ```\n> CODE\n\nprose",
    "fence in a list item": "- a\n\n  ```\n  CODE\n  ```\n- prose",
    "fence right behind a list marker": "1. ```\n   CODE\n   ```\n2. prose",
    "the end of a list item ends its fence": "- ```\n  CODE\nprose",
    "fence after a paragraph": "text\n```\nCODE\n```\nprose",
    "windows line ends": "```\r\nCODE\r\n```\r\nprose",
    "old mac line ends": "```\rCODE\r```\rprose",
    "blank lines inside": "```\n\nCODE\n\n\nCODE\n```\nprose",
    "indented code": "text\n\n    CODE\n\nprose",
    "indented code at the start": "    CODE\n\nprose",
    "code indented by a tab": "text\n\n\tCODE\n\nprose",
    "indented code under a heading": "# prose\n    CODE\n",
    "indented code in a list item": "- a\n\n      CODE\n\n  prose",
    "indented code in a quote": ">     CODE\n> \n> prose",
    "inline code": "prose `CODE` prose",
    "inline code of two backticks": "`` CODE ` CODE `` prose",
    "inline code over two lines": "a `CODE\nCODE` prose",
    "backslash in inline code is literal": "`CODE\\` prose",
    "escaped backtick before a span": "\\`prose `CODE` x",
    "inline code in a heading": "# `CODE` prose",
    "inline code in a table": "| `CODE` | prose |",
    "inline comment": "prose <!-- CODE --> prose",
    "comment over paragraphs": "<!--\nCODE\n\nCODE\n--> prose",
    "comment holds a fence": "<!--\n```\nCODE\n-->\nprose",
}

SHOWN = {
    "unclosed fence": "```\nprose\n\nprose",
    "unclosed tilde fence": "text\n~~~ sh\nprose",
    "fence closed by the other kind": "```\nprose\n~~~\nprose",
    "fence closed by a shorter run": "````\nprose\n```\nprose",
    "indented by four after a paragraph": "text\n    prose",
    "paragraph of a list item": "- a\n\n  prose\n- b\n\n    prose",
    "list in a list": "- a\n    - prose\n        - prose",
    "single backtick": "a ` prose",
    "backticks in two paragraphs": "a ` b\n\nprose ` c",
    "backticks in two list items": "- a ` b\n- prose ` c",
    "backtick of a heading": "# a ` b\nprose ` c",
    "runs of other lengths": "`` prose ` x",
    "escaped backticks": "\\`prose\\`",
    "inline backticks of three": "prose ```a``` prose",
    "unclosed comment": "<!-- prose\n\nprose",
    "strikethrough": "~~prose~~",
    "two backticks and one": "``\nprose\n`x",
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_code_is_hidden_and_prose_is_not(text: str) -> None:
    masked = mask_code(text)
    assert "CODE" not in masked
    assert masked.count("prose") == text.count("prose") > 0 or "prose" not in text


@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN)
def test_what_only_looks_like_code_stays(text: str) -> None:
    assert mask_code(text).count("prose") == text.count("prose") > 0


@given(st.one_of(MARKDOWN, st.text(max_size=80)))
def test_offsets_and_lines_are_kept(text: str) -> None:
    masked, plain = mask_code(text), unify_line_ends(text)
    assert len(masked) == len(text) == len(plain)
    assert "\r" not in masked
    assert all(after in (before, " ") for before, after in zip(plain, masked, strict=True))
    assert [at for at, char in enumerate(masked) if char == "\n"] == [
        at for at, char in enumerate(plain) if char == "\n"
    ]


@given(MARKDOWN.filter(lambda text: "`" not in text and "~" not in text))
def test_the_inside_of_a_fence_is_hidden_whatever_it_is(inside: str) -> None:
    for fence in ("```", "~~~~", "   `````"):
        text = f"A\n\n{fence}\n{inside}\n{fence}\n\nZ"
        assert mask_code(text).split() == ["A", "Z"]


@given(st.text(alphabet=st.sampled_from("> -+*1.)# \t\nab"), max_size=60), MARKDOWN)
@example("a `b", "\nc` d")
@example("> - `a`", "\n>     CODE")
@example("> ```", "\n> b")
def test_what_is_hidden_in_a_block_does_not_depend_on_those_before(before: str, after: str) -> None:
    for block in ("# a\n", "- a\n", "+ a `b`\n"):
        assert mask_code(f"{before}\n{block}{after}").endswith("\n" + mask_code(block + after))


def test_spans_that_overlap_are_hidden_once() -> None:
    assert blank("abc\ndef", [(1, 3), (2, 5), (4, 4)], filler="*") == "a**\n*ef"


def test_line_ends_are_unified_in_place() -> None:
    assert unify_line_ends("a\r\nb\rc\n\r\n") == "a \nb\nc\n \n"


@pytest.mark.parametrize(
    "unit",
    [
        "`",
        "` `` ",
        "```x\n",
        "~~~\n",
        "````",
        "> ",
        "- ",
        ">",
        "\t",
        "<!--",
        "<!-- -->\n",
        "\\`",
        "`a`\n",
        "1. ",
        "* ",
        "    a\n",
        "a `b ``c\n\n",
        "a <!-- b\n\n",
        "- a\n  `b\n",
        "> ```\n\n",
    ],
)
def test_time_is_linear(unit: str) -> None:
    assert grows_linearly(mask_code, unit * (12_500 // len(unit)), to=unit * (50_000 // len(unit)))


def test_descending_fences_are_linear() -> None:
    small, large = ("".join("`" * length + "x\n" for length in range(most, 3, -1)) for most in (500, 1400))
    assert grows_linearly(mask_code, small, to=large)
