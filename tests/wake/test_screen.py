"""What screens say, drawn after those of real clients."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.wake.screen import (
    Screen,
    Sight,
    draft,
    holds,
    is_asked,
    is_at_prompt,
    is_in_shell_mode,
    is_submitted,
    is_working,
    shows,
    sight,
)

RULE = "─" * 60


def screen(*rows: str, at: tuple[int, int], title: str = "") -> Screen:
    """Build a screen of 60 columns; `at` is (column, row)."""
    return Screen(rows, at[0], at[1], 60, title)


def claude(*box: str, column: int, above: tuple[str, ...] = (), below: str = "  ⏵⏵ auto mode on") -> Screen:
    return screen(*above, "", RULE, *box, RULE, below, at=(column, len(above) + 1 + len(box)))


EMPTY = claude("❯ ", column=2)
TEXT = "T-1 is answered: read the receipt in the folder of your handoffs, then acknowledge it"
TYPED = claude(
    "❯ T-1 is answered: read the receipt in the folder of your", "  handoffs, then acknowledge it", column=31
)


@pytest.mark.parametrize(
    ("seen", "works"),
    [
        (EMPTY, False),
        (claude("❯ ", column=2, below="  ⏵⏵ auto mode on · esc to interrupt · ← for agents"), True),
        (claude("❯ ", column=2, above=("✽ Photosynthesizing… (3s · esc to interrupt)",)), True),
        (screen("• Working (3s • Esc to interrupt)", "", "› Ask anything", at=(2, 2)), True),
        (screen("⠏ Thinking (esc to cancel, 3s)", "", "╭──╮", "│ > │", at=(4, 3)), True),
        (claude("❯ ", column=2, above=("● You may press esc to interrupt at any time.",)), False),
        (claude("❯ ", column=2, above=("❯ (esc to interrupt)",)), False),
        (claude("❯ ", column=2, above=("● Thinking", "• Working")), False),
        (screen("$ ", at=(2, 0), title="◐ Claude Code"), True),
        (screen("$ ", at=(2, 0), title="⠂ fix the bug"), True),
        (screen("$ ", at=(2, 0), title="✳ Claude Code"), False),
        (screen("$ ", at=(2, 0), title="host ◐"), False),
    ],
)
def test_is_working(seen: Screen, works: bool):
    assert is_working(seen) is works


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (EMPTY, ""),
        (claude("❯ half a", column=8), "half a"),
        (claude('❯ Try "fix the tests"', column=2), ""),
        (TYPED, TEXT),
        (claude("❯ one", "  ", column=2), "one"),
        (screen("╭────╮", "│ > hello │", "╰────╯", at=(9, 1)), "hello"),
        (screen("› Explain this code", "", "  gpt", at=(2, 0)), ""),
        (screen("user@host:~$ ls -l", at=(18, 0)), ""),
        (screen(">>> ", at=(4, 0)), ""),
        (screen("> quoted", "", at=(0, 1)), ""),
        (screen("x", "─── ↑ 62 more ───", "  xxxx", "  xxx", at=(5, 3)), "xxxx xxx"),
        (screen("x", "─────", "$ ls", at=(4, 2)), ""),
        (screen("● said", "", "  indented", at=(10, 2)), ""),
        (screen("> quoted", "password: ", at=(10, 1)), ""),
        (screen("", at=(0, 0)), ""),
        (screen(at=(3, 5)), ""),
    ],
)
def test_draft(seen: Screen, text: str):
    assert draft(seen) == text


def test_text_is_seen_in_the_box_though_the_client_wrapped_it():
    assert sight(TYPED, TEXT, before=EMPTY) is Sight.IN_BOX
    assert holds(TYPED, TEXT)
    assert not holds(TYPED, TEXT[:-1])


def test_text_is_seen_though_a_small_box_shows_only_its_end():
    small = screen("● said", "─── ↑ 9 more ───", "  handoffs, then ack", "  nowledge it", at=(13, 3))
    assert sight(small, TEXT, before=EMPTY) is Sight.IN_BOX
    assert holds(small, TEXT)
    assert not holds(screen("─── ↑ 9 more ───", "  other text that goes on", at=(26, 1)), TEXT)
    assert sight(screen("─── ↑ 9 more ───", "  it", at=(4, 1)), TEXT, before=EMPTY) is not Sight.IN_BOX


@pytest.mark.parametrize(
    ("row", "expected"), [("!  ls", True), ("!  ", True), ("❯ !", False), ("❯ ", False), ("", False)]
)
def test_is_in_shell_mode(row: str, expected: bool):
    assert is_in_shell_mode(claude(row, column=len(row))) is expected
    assert not is_in_shell_mode(screen(row, at=(len(row), 0)))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        *(
            (row, True)
            for row in ("$ ", "# ", "u@h:~$ ", "[u@h ~]# ", "mac% ", "u@h ~> ", "~/src ❯ ", "╰─➜ ", "»", "λ ", "▶ ")
        ),
        *(
            (row, False)
            for row in ("", " ", "$  ", "$ ls", "$ cat > ", "$ echo $", "❯ git log | awk $", "> ", "quote> ")
        ),
        *((row, False) for row in ("cmdsubst dquote> ", "Delete? [y/N] ", "Password: ", "~ ", ":", "(END)")),
    ],
)
def test_is_at_prompt(row: str, expected: bool):
    assert is_at_prompt(screen("said", row, at=(len(row), 1))) is expected
    assert not is_at_prompt(screen("said", f"{row}x", at=(len(row), 1)))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        *((row, True) for row in ("Go on? ", "Go on? [Y/n] ", "rm: remove 'x'? ", "Go on (y/n)?", "[y/n/a]: ")),
        *((row, False) for row in ("", "❯ ", "❯ is it so?", "You: ", "[a] ", "(venv) $ ", "path/to/file ")),
    ],
)
def test_is_asked(row: str, expected: bool):
    assert is_asked(screen("said", row, at=(len(row), 1))) is expected


def test_an_empty_box_is_as_good_as_a_prompt():
    assert is_at_prompt(claude('❯ Try "fix the tests"', column=2, below=RULE)) is True
    assert is_at_prompt(screen("╭────╮", "│ > │", "╰────╯", at=(4, 1))) is True
    assert is_at_prompt(screen("╭────╮", "│ > a │", "╰────╯", at=(5, 1))) is False
    assert is_at_prompt(screen("› Ask anything", at=(2, 0))) is True
    assert is_at_prompt(screen("› hello", at=(7, 0))) is False
    assert is_at_prompt(screen("─────", "❯ text", "", at=(2, 1))) is False
    assert is_at_prompt(screen("❯ text", "─────", at=(2, 0))) is False


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((f"❯ {TEXT[:58]}", f"  {TEXT[58:]}", "● ok"), True),
        ((f"u@h:~$ {TEXT[:53]}", TEXT[53:]), True),
        (("said", TEXT[:40], TEXT[40:]), True),
        ((f"❯ T-2{TEXT[3:]}",), False),
        ((f"❯ ARENA-{TEXT}",), False),
        ((TEXT[4:],), False),
        ((TEXT[:40],), False),
        ((), False),
    ],
)
def test_shows(rows: tuple[str, ...], expected: bool):
    assert shows(screen(*rows, at=(0, 0)), TEXT) is expected


def test_text_that_a_client_collapsed_is_seen():
    assert sight(claude("❯ [Pasted text #1 +12 lines]", column=28), "x " * 999, before=EMPTY) is Sight.IN_BOX


def test_text_of_a_client_without_a_cursor_is_seen_where_it_was_not_before():
    box = ("╭──╮", "│ > │", "╰──╯", "model: x", "")
    before = screen("T-1 old", *box, at=(0, 5))
    typed = screen("T-1 old", "╭──╮", "│ > T-1 new │", *box[2:], at=(0, 5))
    assert sight(typed, "T-1 new", before=before) is Sight.ELSEWHERE
    assert sight(before, "T-1 new", before=before) is Sight.NOWHERE
    assert sight(before, "T-1 old", before=before) is Sight.NOWHERE
    assert not is_submitted(typed, "T-1 new", before=before, typed=typed)
    after = screen("T-1 old", "> T-1 new", *box, at=(0, 6))
    assert is_submitted(after, "T-1 new", before=before, typed=typed)


SUBMITTED = {
    "box-empty-again": (claude("❯ ", column=2, above=(f"❯ {TEXT}",)), True),
    "client-shows-something-else": (screen("Loading…", at=(8, 0)), True),
    "unchanged": (TYPED, False),
    "line-end-in-the-box": (
        claude(
            "❯ T-1 is answered: read the receipt in the folder of your",
            "  handoffs, then acknowledge it",
            "  ",
            column=2,
        ),
        False,
    ),
    "backslash-taken-for-a-line-end": (claude("❯ other end", "  ", column=2), False),
    "scrolled-and-still-there": (
        claude(
            "❯ T-1 is answered: read the receipt in the folder of your",
            "  handoffs, then acknowledge it",
            column=31,
            above=("x",),
        ),
        False,
    ),
}


@pytest.mark.parametrize(("seen", "expected"), SUBMITTED.values(), ids=SUBMITTED.keys())
def test_is_submitted(seen: Screen, expected: bool):
    assert is_submitted(seen, TEXT, before=EMPTY, typed=TYPED) is expected


def test_line_echoed_by_a_program_without_a_prompt_is_submitted():
    before, typed = screen("", at=(0, 0)), screen(TEXT, at=(len(TEXT), 0))
    assert is_submitted(screen(TEXT, TEXT, "", at=(0, 2)), TEXT, before=before, typed=typed)


def test_wide_characters_take_two_columns():
    assert sight(screen("❯ 任务已答复 tail", at=(12, 0)), "任务已答复", before=EMPTY) is Sight.IN_BOX


@given(st.lists(st.text(), max_size=6), st.integers(0, 300), st.integers(0, 9), st.text(min_size=1))
def test_any_screen_is_judged_without_failing(rows: list[str], column: int, row: int, text: str):
    seen = Screen(tuple(rows), column, row, 80, text)
    assert draft(seen) == draft(seen)
    assert isinstance(is_working(seen), bool)
    assert isinstance(is_at_prompt(seen), bool)
    assert is_submitted(seen, text, before=seen, typed=seen) in (True, False)
