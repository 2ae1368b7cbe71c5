"""What leaves the command: nothing that steers a terminal, whatever stands in a record."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.cli import output
from oracle.cli.main import run
from oracle.cli.output import ReaderGone, Table, as_json, print_table, write_out
from oracle.errors import DiskFailure
from oracle.wording import visible, visible_lines

STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]")
TEXTS = st.text(st.characters(codec=None, categories=None), max_size=60)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def terminal_of(columns: int):
    """Put a terminal of so many columns in the place of standard output."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", Terminal())
        patch.setenv("COLUMNS", str(columns))
        yield


@pytest.fixture
def terminal(monkeypatch):
    """Give a function that puts a terminal in the place of standard output (only the test itself can do that)."""

    def begin() -> Terminal:
        stream = Terminal()
        monkeypatch.setattr(sys, "stdout", stream)
        return stream

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    return begin


@given(TEXTS)
@example("\x1b]0;title\x07\x9b31m\u202e\r\n")
def test_one_line_never_steers(text):
    assert not STEERING.search(visible(text))


@given(TEXTS)
def test_lines_keep_only_line_ends_and_tabs(text):
    shown = visible_lines(text)
    assert not STEERING.search(shown.replace("\n", "").replace("\t", ""))
    assert shown.count("\n") == text.count("\n")


@given(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=30))
def test_letters_of_every_script_stay(text):
    assert visible(text) == text


@given(st.dictionaries(TEXTS, st.lists(TEXTS)))
def test_json_reads_back_and_never_steers(document):
    text = as_json(document)
    assert json.loads(text) == document
    assert not STEERING.search(text.replace("\n", ""))


def test_json_is_ascii_where_the_stream_is(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert as_json(["决定"]).isascii()


def test_a_pipe_gets_tabs_and_no_headings(capsys):
    print_table(Table(("a", "b"), [("x\ty", "[red]决定[/red]"), ("", "z" * 500)]))
    assert capsys.readouterr().out == "x\\ty\t[red]决定[/red]\n\t" + "z" * 500 + "\n"


def test_a_terminal_gets_headings_and_every_letter(terminal):
    title = "[red]决定[/red] :smile: \x1b[31m " + "word" * 40
    stream = terminal()
    print_table(Table(("slug", "empty", "title"), [("projects/a", "", title)], frozenset({0})))
    plain = re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue())
    assert plain.split()[:2] == ["slug", "title"]
    assert "[red]决定[/red]" in plain
    assert ":smile:" in plain
    assert "\\x1b[31m" in plain
    assert plain.count("word") + sum(plain.count(part) for part in ("wor\n", "wo\n", "w\n")) >= 30
    assert "".join(plain.split()).count("o") >= 40  # nothing is cut off, only folded


def test_wide_letters_stay_in_their_column(terminal):
    from rich.cells import cell_len

    stream = terminal()
    print_table(Table(("a", "b"), [("决定决定", "x"), ("abc", "y")]))
    lines = re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue()).splitlines()
    columns = {cell_len(line[: line.index(last)]) for line in lines for last in "xy" if line.rstrip().endswith(last)}
    assert len(columns) == 1


LINES = st.text("aé决🚀 \t`*", max_size=120)


@given(LINES.map(str.rstrip), st.integers(0, 12), st.integers(30, 60))
def test_a_terminal_breaks_long_lines_between_words_and_loses_nothing(line, inset, columns):
    with terminal_of(columns):
        parts = output.indented(" " * inset + line).split("\n")
    assert "".join("".join(parts).split()) == "".join(line.split())
    if "\t" not in line and columns - inset > 30:
        assert all(output.cells(part.rstrip()) <= columns for part in parts)
        assert all(part.startswith(" " * (4 + inset)) for part in parts if part.strip())


def test_lines_are_broken_on_a_terminal_alone(capsys):
    words = "many words " * 30
    assert output.indented(f"{words}\n\nb") == f"    {words}\n    \n    b"
    with terminal_of(40):
        first, *_ = output.indented(words).split("\n")
    assert first.split(" ")[-1] in {"many", "words"}


def test_what_is_said_of_a_place_stands_below_it_where_a_terminal_is_narrow():
    notes = ["A title", "", "[retired]"]
    assert output.headed("a.md:1-2", notes) == "a.md:1-2  A title  [retired]"
    with terminal_of(28):
        assert output.headed("a.md:1-2", notes).endswith("  A title  [retired]")
        assert "\n" not in output.headed("a.md:1-2", notes)
    with terminal_of(27):
        assert output.headed("a.md:1-2", notes).endswith("\n  A title  [retired]")
        assert "\n" not in output.headed("projects/a/b/c/d/2026-11-28-e.md:1-2", [])


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_refused(terminal, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    stream = terminal()
    print_table(Table(("a",), [("x",)], frozenset({0})))
    write_out(output.emphasise("bold"))
    assert "\x1b" not in stream.getvalue()


def test_colours_are_there_otherwise(terminal):
    stream = terminal()
    print_table(Table(("a",), [("x",)], frozenset({0})))
    assert "\x1b[" in stream.getvalue()


def test_a_reader_that_is_gone_is_no_error(monkeypatch):
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(ReaderGone):
        write_out("x")


def test_an_output_that_is_full_is_an_error(monkeypatch):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(DiskFailure, match="No space left"):
        write_out("x")


def test_closed_streams_are_nobody_to_talk_to(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    said = [write_out("x"), output.tell(["x"])]
    assert said == [None, None]
    assert (sys.stdout, sys.stderr) == (None, None)


def test_stacked_columns_share_the_last_cell_and_times_go_to_the_minute(terminal):
    stream = terminal()
    rows = [("projects/a", "2026-04-27T18:30:00.000000Z", "Title"), ("projects/b", "", "Other")]
    print_table(Table(("slug", "when", "title"), rows, stacked=(2, 0)))
    plain = re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue())
    lines = [line.split() for line in plain.splitlines() if line.strip()]
    assert lines[0] == ["when", "title", "/", "slug"]
    assert lines[2:] == [
        ["2026-04-27", "18:30Z", "Title"],
        ["projects/a"],
        ["Other"],
        ["projects/b"],
    ]


# Quotes that are cut --------------------------------------------------------------------------------------------------

LONG = " ".join(["needle", *(f"word{number}" for number in range(300))])


@pytest.mark.parametrize(
    ("line", "text", "printed"),
    [
        ("one two three", "one tw", "one tw …"),
        ("one two three", "one two", "one two"),
        ("one two three", "ne two", "… ne two"),
        ("one two three", "one two three", "one two three"),
        ("one two three", "elsewhere", "elsewhere"),
        ("数据存放在哪里", "数据存", "数据存 …"),
    ],
)
def test_text_cut_in_the_middle_of_a_word_is_marked(tmp_path, line: str, text: str, printed: str) -> None:
    path = tmp_path / "note.md"
    path.write_text(f"# Note\r\n{line}\r\n", encoding="utf-8")
    assert output.mark_cuts(text, str(path), (2, 2)) == printed
    assert output.mark_cuts(text, str(path), (1, 2)) == text
    assert output.mark_cuts(text, str(tmp_path / "gone.md"), (2, 2)) == text


@pytest.mark.parametrize("words", [["search", "needle"], ["ask", "--now", "Where is the needle?"]])
def test_quote_is_marked_where_it_is_printed_and_verbatim_in_json(root, capsys, words: list[str]) -> None:
    path = root / "projects/arena/builder/note.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\ntitle: Needle\n---\n{LONG}\n", encoding="utf-8")
    assert run([*words, "--memory-dir", str(root)]) == 0
    assert f"    {LONG[:700]} …\n" in capsys.readouterr().out
    assert run([*words, "--memory-dir", str(root), "--json"]) == 0
    told = capsys.readouterr().out
    assert json.dumps(LONG[:700]) in told


def test_a_terminal_shows_the_first_candidates_and_says_how_to_see_all(root, terminal, capsys):
    for number in range(9):
        path = root / f"projects/shop/builder/note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Oven {number}\n\nThe oven of room {number} is hot on day {number}.\n", encoding="utf-8")
    words = ["ask", "--now", "Which oven is hot?", "--memory-dir", str(root)]
    run([*words, "--json"])
    total = len(json.loads(capsys.readouterr().out)["candidates"])
    assert total > 6
    assert run(words) == 9
    assert capsys.readouterr().out.count("[f") == total
    shown = terminal()
    assert run(words) == 9
    assert shown.getvalue().count("[f") == 5
    assert f"{total - 5} passages more; a pipe (`| less`) or --json shows all" in capsys.readouterr().err
