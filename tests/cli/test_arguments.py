"""Words with an inner form: bodies, spans of lines, places."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.cli.options import parse_lines, read_body, split_place
from oracle.errors import UsageError
from oracle.process import require_text


@pytest.fixture
def stdin(monkeypatch):
    def put(raw: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="ascii"))

    return put


@pytest.mark.parametrize("places", [("-", None, None), (None, "-", None), (None, None, "-")])
def test_a_dash_reads_standard_input_as_utf_8(stdin, places):
    stdin("\ufeff决定\r\n".encode())
    assert read_body(*places) == "决定\r\n"


def test_bytes_that_are_no_utf_8_are_named_by_their_offset(stdin):
    stdin(b"abc\xff")
    with pytest.raises(UsageError, match=r"standard input is not UTF-8: byte 3"):
        read_body(None, None, "-")


def test_a_file_is_read(tmp_path):
    (tmp_path / "body.md").write_bytes("第一".encode())
    assert read_body(None, str(tmp_path / "body.md"), None) == "第一"


@pytest.mark.parametrize("name", ["missing.md", "", "nul\0byte"])
def test_a_file_that_cannot_be_read_is_a_usage_error(tmp_path, name):
    with pytest.raises(UsageError, match="can't be read"):
        read_body(None, f"{tmp_path}/{name}", None)


@pytest.mark.parametrize(
    "places", [("x", "f", None), ("x", None, "-"), (None, "f", "-"), ("", None, "-"), ("-", "-", "-")]
)
def test_two_places_are_one_too_many(places):
    with pytest.raises(UsageError, match="more than once"):
        read_body(*places)


def test_no_place_is_an_empty_body():
    assert read_body(None, None, None) == ""


@pytest.mark.parametrize(
    ("text", "span"),
    [
        (None, (1, 0)),
        ("3:7", (3, 7)),
        ("3:", (3, 0)),
        (":7", (1, 7)),
        ("5", (5, 5)),
        (" 2:2 ", (2, 2)),
        ("3-7", (3, 7)),
        ("2-2", (2, 2)),
    ],
)
def test_lines(text, span):
    assert parse_lines(text) == span


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "0",
        "0:3",
        "7:3",
        "3:0",
        "a",
        "2-1",
        "1-0",
        "1-",
        "1-2-3",
        "1-2:3",
        "-1",
        "1:2:3",
        "٣",
        "9" * 5000,
        "1:" + "9" * 20,
    ],
)
def test_lines_that_are_none(text):
    with pytest.raises(UsageError, match="--lines"):
        parse_lines(text)


@given(st.text(max_size=12))
def test_any_lines_are_a_span_or_a_usage_error(text):
    try:
        first, last = parse_lines(text)
    except UsageError:
        return
    assert first >= 1
    assert last == 0 or last >= first


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("projects/p/a.md:12-20", ("projects/p/a.md", "12-20")),
        ("a:12:20", ("a", "12:20")),
        ("a:7", ("a", "7")),
        ("a:b:7", ("a:b", "7")),
        ("a", ("a", "")),
        (":7", (":7", "")),
        ("a:", ("a:", "")),
        ("a:x", ("a:x", "")),
        ("决定:3-4", ("决定", "3-4")),
        ("a:٣", ("a:٣", "")),
    ],
)
def test_a_place_is_a_name_and_its_lines(text, place):
    assert split_place(text) == place


def test_words_that_are_no_text_are_named():
    with pytest.raises(UsageError, match="Argument 2"):
        require_text(["write", b"\xff".decode("utf-8", "surrogateescape")])
