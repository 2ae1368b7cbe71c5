"""Text of records, tasks and decisions is data: on the screen of `oracle watch` it steers nothing. And any size will do."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from oracle.app.decisions.handover import send
from oracle.domain.layout import cells
from oracle.tui import keys, markdown
from oracle.tui.keys import PANES
from oracle.tui.lines import Line, TableRow, fitted, plain, table
from tests.app.test_decisions import payload

if TYPE_CHECKING:
    from tests.app.squad import Squad
    from tests.tui.conftest import Play, Watched

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")

HOSTILE = {
    "an escape sequence": "\x1b[31mred\x1b]0;title\x07",
    "a clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "a bell and a return": "a\x07b\rc\x08d",
    "C1": "\x9b31mred\x85next",
    "the order of reading": "abc\u202edef\u2066ghi",
    "markup": "[red]x[/red] [@click=app.quit]quit[/] [/]",
    "an entity reference": "&#x1b;[31m &#27; &#x202e; &#155;",
    "tags": "<b>bold</b> <script>alert(1)</script> </kbd> <!-- hidden -->",
    "links": "[a](javascript:alert(1)) ![b](http://example.com/x.png) <http://example.com>",
    "wide letters": "检索记录" * 40,
    "a letter without width": "e\u0301" * 200,
}


def is_safe(watch: Watched) -> None:
    for strip in watch.strips():
        for segment in strip:
            assert not STEERING.search(segment.text), segment
            assert segment.control is None
            assert segment.style is None or not segment.style.link
            assert segment.style is None or "@click" not in (segment.style.meta or {})


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text_steers_nothing(play: Play, squad: Squad, what: str):
    text = HOSTILE[what]
    folder = squad.path / "projects" / "demo" / "builder" / "decision"
    folder.mkdir(parents=True)
    title = json.dumps(text, ensure_ascii=False)
    head = f"---\ntitle: {title}\nts: 2099-04-27T18:30:00Z\n---\n"
    body = f"{head}\n{text}\n\n    {text}\n\n> {text}\n\n## {text}\n\n`{text}`\n\nEND\n"
    (folder / "2099-04-27-hostile.md").write_text(body, encoding="utf-8")
    (squad.folder / "X-1__builder__memory.json").write_text(
        json.dumps({"kind": "dispatch", "task_id": "X-1", "title": text, "objective": text}), encoding="utf-8"
    )
    other = "6f36a869-8ec8-4c85-99ff-295260d45469"
    asked_at = datetime.now(UTC).isoformat()
    send(squad.oracle, payload(decision_id=other, created_at=asked_at, context=f"Hostile {text}"), notifies=False)
    squad.oracle.note("scan", {"project": "demo", "detail": text})

    async def scenario(watch: Watched) -> None:
        await watch.shows("Hostile")
        is_safe(watch)
        await watch.point_at("Hostile")
        await watch.press("d")
        await watch.until(lambda: len(watch.app.screen_stack) == 2)
        is_safe(watch)
        await watch.press("escape", "2")
        await watch.shows("2099-04-27")
        is_safe(watch)
        await watch.point_at("2099-04-27")
        await watch.press("y", "enter")
        await watch.until(lambda: "END" in watch.rows.texts)
        assert not STEERING.search("".join(watch.rows.texts))
        is_safe(watch)
        if what in ("markup", "tags"):
            assert text.split()[0] in "\n".join(watch.rows.texts)
        for _ in range(6):
            await watch.press("pagedown")
            is_safe(watch)
        await watch.press("g")
        await watch.until(lambda: watch.app.pane == keys.GRAPH)
        is_safe(watch)
        await watch.press("5")
        await watch.shows("scan")
        is_safe(watch)

    play(scenario, (100, 40))


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("size", [(1, 1), (3, 5), (10, 3), (24, 10), (40, 12), (80, 24), (132, 50), (300, 90)])
def test_every_pane_has_any_size(play: Play, size: tuple[int, int]):
    async def scenario(watch: Watched) -> None:
        for number in range(len(PANES)):
            await watch.press(str(number + 1))
            await watch.until(lambda: watch.app.rows.texts)
            for strip in watch.strips():
                assert strip.cell_length <= size[0]
        await watch.press("2", "enter", "g", "question_mark", "escape")
        await watch.pilot.resize_terminal(size[1] + 5, size[0] + 5)
        await watch.press("1", "down", "up")
        assert watch.app.failure is None

    play(scenario, size)


# Lines ----------------------------------------------------------------------------------------------------------------

TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("*_`[]()<>&#|-\n\t 中\x1b\u202e"), max_size=120
)


@given(TEXT, st.integers(8, 90))
def test_markdown_of_any_kind_becomes_safe_lines(text: str, width: int):
    for line in markdown.markdown_lines(text, width):
        assert not STEERING.search(line.text)
        assert "\n" not in line.text


@pytest.mark.parametrize(
    "text",
    [
        ">" * 20_000,
        "- " * 3_000,
        "[a](" * 5_000,
        "</kbd>" * 99,
        "[![a](b)](c)" * 99,
        "x" * 60_000,
        "|a" * 500 + "\n" + "|-" * 500,
    ],
    ids=lambda text: text[:12],
)
def test_markdown_that_goes_too_far_is_read_all_the_same(text: str):
    assert markdown.markdown_lines(text, 78)


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6), st.integers(3, 90))
def test_a_table_fits_its_width(rows: list[tuple[str, str, str]], width: int):
    lines = table(("one", "two", "three"), [TableRow(texts) for texts in rows], width)
    assert len(lines) == len(rows) + 1
    for line in lines:
        assert cells(line.text) <= max(width, 3 + 2 * 2)
        assert not STEERING.search(line.text)


@given(st.lists(TEXT, max_size=5), st.integers(1, 40))
def test_a_line_is_cut_to_its_width(texts: list[str], width: int):
    line = fitted(Line(tuple((plain(text).text, "bold") for text in texts)), width)
    assert cells(line.text) <= width
    assert cell_len(line.text) <= width + 60
