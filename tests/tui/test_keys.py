"""Every key of `oracle watch` does in both languages what the foot and the help say."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len
from textual import events

from oracle.app.overview.now import now
from oracle.domain import timestamps
from oracle.domain.names import say_state
from oracle.domain.records.drafts import Draft
from oracle.tui import keys
from oracle.tui.app import WatchApp
from oracle.tui.keys import KEYS, PANES, TITLES
from oracle.tui.rows import Rows
from oracle.wording import say, spoken, visible
from tests.app.test_decisions import ID

if TYPE_CHECKING:
    from tests.app.squad import Squad
    from tests.tui.conftest import Play, Watched

GOLDEN = Path(__file__).parent.parent / "golden"
NEWEST, OLD = "The queue has no bound", "Retries are unbounded"


@pytest.mark.parametrize("key", [key for key in KEYS if key.action], ids=lambda key: key.shown)
def test_a_key_of_the_table_has_an_action(key: keys.Key):
    assert callable(getattr(WatchApp, f"action_{key.action.partition('(')[0]}"))


@pytest.mark.parametrize("pane", PANES)
def test_the_foot_of_a_pane_fits_any_width(play: Play, language: str, pane: str):
    async def scenario(watch: Watched) -> None:
        await watch.press(str(PANES.index(pane) + 1))
        await watch.until(lambda: watch.app.pane == pane)
        foot = watch.app.query_one("#foot").text
        for key in KEYS:
            assert (f"{key.shown} {visible(key.label)}  " in foot) == (key.is_at_foot and pane in key.panes)
        for width in (80, 60, 40, 20, 10):
            await watch.pilot.resize_terminal(width, 24)
            await watch.until(lambda width=width: cell_len(watch.app.query_one("#foot").text.rstrip()) <= width)
            shown = watch.app.query_one("#foot").text
            assert shown.endswith(foot[foot.index("q ") :])
            assert width < 20 or "?" in shown

    play(scenario, size=(100, 24))


@pytest.mark.usefixtures("language")
def test_digits_and_tab_switch_panes(play: Play):
    async def scenario(watch: Watched) -> None:
        for number, pane in enumerate(PANES, 1):
            await watch.press(str(number))
            assert watch.app.pane == pane
        for pane in (*PANES, PANES[0]):
            await watch.press("tab")
            assert watch.app.pane == pane
        await watch.press("shift+tab")
        assert watch.app.pane == PANES[-1]

    play(scenario)


def mask(screen: str) -> str:
    """Return a screen with what differs from run to run replaced by as many zeros, and the path of the Root."""
    text = re.sub(r"\d(?=\S*Z-)", "0", screen)  # the stamp of a slug, of which the middle may be left out
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "0000-00-00 00:00", text)
    return re.sub(r"(?m)(?<= )/\S+$", "ROOT", text) + "\n"


def test_panes_at_80_columns_and_24_rows(play: Play, language: str, monkeypatch: pytest.MonkeyPatch):
    machine = types.SimpleNamespace(nodename="harbor")
    monkeypatch.setattr("oracle.app.overview.now.os", types.SimpleNamespace(uname=lambda: machine))
    monkeypatch.setattr(timestamps, "say_age", lambda seconds: say("{minutes} min", minutes=3))
    screens: list[str] = []

    async def scenario(watch: Watched) -> None:
        async def take(text: str) -> None:
            await watch.shows(text)
            screens.append(mask(watch.screen()))

        await take("harbor")
        await watch.press("2")
        await watch.point_at(OLD)
        await take(OLD)
        await watch.press("enter")
        await take("HARBOR-5.")
        await watch.press("g")
        await take("├─")
        await watch.press("question_mark")
        await take("Shift+Tab")

    play(scenario)
    golden = GOLDEN / f"watch_{language}.txt"
    whole = f"{'=' * 80}\n".join(screens)
    if os.environ.get("APPROVE"):
        golden.write_text(whole, encoding="utf-8")
    assert whole == golden.read_text(encoding="utf-8")
    assert all(cell_len(line) <= 80 for line in whole.splitlines())
    assert all(len(screen.splitlines()) == 24 for screen in screens)


@pytest.mark.usefixtures("language")
def test_enter_opens_a_handoff_and_a_record_and_back_leads_back(play: Play):
    async def scenario(watch: Watched) -> None:
        await watch.point_at("Q-1")
        await watch.press("enter")
        await watch.shows("oracle ack Q-1")
        assert watch.app.pane == keys.RECORD
        await watch.press("2")
        await watch.point_at(NEWEST)
        await watch.press("enter")
        await watch.shows("Measured for HARBOR-5.")
        await watch.point_at("→ HARBOR-5")
        await watch.press("enter")
        await watch.until(lambda: watch.app.pane == keys.GRAPH)
        await watch.point_at("the-queue")
        await watch.press("backspace")
        await watch.shows("Measured for HARBOR-5.")
        await watch.press("backspace")
        await watch.shows("oracle ack Q-1")

    play(scenario)


@pytest.mark.usefixtures("language")
def test_a_record_says_what_replaced_it_and_who_links_to_it(play: Play):
    async def scenario(watch: Watched) -> None:
        await watch.press("2")
        await watch.point_at(OLD)
        told = spoken(say_state("superseded"))
        assert told in watch.rows.line.text
        await watch.press("enter")
        await watch.until(lambda: any("supersedes ←" in text for text in watch.rows.texts))
        whole = "\n".join(watch.rows.texts)
        assert told in whole
        assert "retries-are-bounded" in whole

    play(scenario)


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("opens", [False, True])
def test_the_graph_of_a_handoff_shows_the_records_that_name_its_task(play: Play, squad: Squad, opens: bool):
    squad.open().write(Draft("decision", "demo", "The bound", body="As Q-2 asked."))

    async def scenario(watch: Watched) -> None:
        for task, shown in (("Q-2", "the-bound"), ("Q-1", "")):
            await watch.press("1")
            await watch.point_at(task)
            if opens:
                await watch.press("enter")
                await watch.until(lambda: watch.app.pane == keys.RECORD)
            await watch.press("g")
            if shown:
                await watch.until(lambda: watch.app.pane == keys.GRAPH)
                await watch.shows("the-bound")
            else:
                await watch.until(lambda: "Q-1" in watch.status)
                assert watch.app.pane != keys.GRAPH

    play(scenario)


@pytest.mark.parametrize("pane", PANES)
def test_a_list_out_of_sight_keeps_its_width(play: Play, pane: str):
    """What is opened from another pane is laid out before it is seen."""

    async def scenario(watch: Watched) -> None:
        number, other = PANES.index(pane) + 1, PANES.index(pane) % 2 + 2
        for key in (str(number), str(other if other != number else 1)):
            await watch.press(key)
            await watch.pilot.pause()
            rooms = {rows.id: rows.room for rows in watch.app.query(Rows)}
            assert set(rooms.values()) <= {76, 77, 78}

    play(scenario)


def test_a_graph_grows_and_shrinks(play: Play):
    async def scenario(watch: Watched) -> None:
        await watch.press("2")
        await watch.point_at(OLD)
        await watch.press("g")
        await watch.shows("├─")
        near = len(watch.rows.texts)
        await watch.press("plus")
        await watch.until(lambda: len(watch.rows.texts) > near)
        await watch.press("minus")
        await watch.until(lambda: len(watch.rows.texts) == near)
        assert not watch.status

    play(scenario)


@pytest.mark.usefixtures("language")
def test_typing_filters_at_once_and_searches_everything(play: Play, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("oracle.tui.reading.MOST_RECORDS", 1)

    async def scenario(watch: Watched) -> None:
        await watch.press("slash")
        await watch.shows(NEWEST)
        assert watch.app.pane == keys.RECORDS
        await watch.press(*"unbounded")
        await watch.until(lambda: OLD in watch.screen())  # older than the one that is listed: a search found it
        assert NEWEST not in watch.screen()
        await watch.press("q", "1")  # letters here
        assert watch.app.query_one("#filter").value == "unboundedq1"
        await watch.press("backspace", "backspace")
        await watch.until(lambda: OLD in watch.screen())
        await watch.press("enter")
        await watch.point_at(OLD)
        await watch.press("enter")
        await watch.until(lambda: watch.app.pane == keys.RECORD)
        await watch.press("slash", "escape")
        await watch.until(lambda: NEWEST in watch.screen())

    play(scenario)


def test_a_search_that_finds_nothing_says_so(play: Play):
    async def scenario(watch: Watched) -> None:
        await watch.press("slash", *"zzzz")
        await watch.shows("Nothing was found.")
        assert watch.app.failure is None

    play(scenario)


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("where", ["record", "handoff"])
def test_a_name_is_copied(play: Play, where: str):
    async def scenario(watch: Watched) -> None:
        if where == "record":
            await watch.press("2")
            await watch.point_at(NEWEST)
        else:
            await watch.point_at("Q-1")
        await watch.press("y")
        name = watch.app.clipboard
        assert re.fullmatch(r"projects/demo/decision/\S+the-queue-has-no-bound" if where == "record" else "Q-1", name)
        await watch.until(lambda: name in watch.status)

    play(scenario)


@pytest.mark.usefixtures("language")
def test_the_editor_gets_the_file(play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    seen: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda words, **_: seen.append(words))
    monkeypatch.setattr(WatchApp, "suspend", lambda _: contextlib.nullcontext())
    monkeypatch.setenv("EDITOR", "some-editor --wait")

    async def scenario(watch: Watched) -> None:
        await watch.press("2")
        await watch.point_at(NEWEST)
        await watch.press("o")
        await watch.until(lambda: seen)
        assert seen[0][:2] == ["some-editor", "--wait"]
        assert NEWEST in Path(seen[0][2]).read_text(encoding="utf-8")
        monkeypatch.delenv("EDITOR")
        monkeypatch.delenv("VISUAL", raising=False)
        await watch.press("o")
        await watch.until(lambda: "EDITOR" in watch.status)
        assert len(seen) == 1

    play(scenario)


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize(("editor", "told"), [("/no/such-editor", "/no/such-editor"), ('vim "', "EDITOR")])
def test_an_editor_that_can_not_be_run_is_named(play: Play, monkeypatch: pytest.MonkeyPatch, editor: str, told: str):
    monkeypatch.setattr(WatchApp, "suspend", lambda _: contextlib.nullcontext())
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)

    async def scenario(watch: Watched) -> None:
        await watch.press("2")
        await watch.point_at(NEWEST)
        await watch.press("o")
        await watch.until(lambda: told in watch.status)
        assert watch.app.failure is None

    play(scenario)


@pytest.mark.usefixtures("language")
def test_a_decision_is_asked_once_and_recorded(play: Play, squad: Squad):
    async def scenario(watch: Watched) -> None:
        await watch.point_at("billing")
        await watch.press("d")
        await watch.shows("wait for the audit")
        await watch.press("enter")  # the cursor is on the question itself
        await watch.press("escape")
        assert now(squad.open()).decisions
        await watch.press("d", "d")
        await watch.shows("wait for the audit")
        await watch.press("2")
        await watch.until(lambda: ID in watch.status)
        await watch.until(lambda: "billing" not in watch.screen())
        assert len(watch.app.screen_stack) == 1

    play(scenario)
    (completion,) = (name for name in squad.receipts() if name.startswith(ID) and name.endswith("__memory.json"))
    assert squad.receipt(completion)["chosen_option_id"] == "B"
    assert squad.receipt(completion)["decided_by"] == "operator"


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("key", ["y", "enter"])
def test_an_acknowledgement_is_asked_once(play: Play, squad: Squad, key: str):
    async def scenario(watch: Watched) -> None:
        await watch.point_at("Q-1")
        await watch.press("a", "a")
        await watch.until(lambda: len(watch.app.screen_stack) == 2)
        await watch.press("escape")
        await watch.until(lambda: len(watch.app.screen_stack) == 1)
        assert squad.states()["Q-1"] == "consumed"
        await watch.press("a")
        await watch.until(lambda: len(watch.app.screen_stack) == 2)
        if key == "enter":
            await watch.point_at("y  ")
        await watch.press(key)
        await watch.until(lambda: "Q-1" in watch.status and "Q-1" not in "\n".join(watch.rows.texts))

    play(scenario)
    assert squad.states()["Q-1"] == "acked"


@pytest.mark.usefixtures("language")
def test_what_was_interrupted_is_resumed(play: Play, squad: Squad):
    squad.recorder.away = {"planner"}
    squad.ask("Q-3")
    (squad.path / "responses").mkdir(exist_ok=True)
    (squad.path / "responses" / "Q-3.json").write_text('{"query_id": "Q-3", "answer": "B."}', encoding="utf-8")
    assert squad.states()["Q-3"] == "answered"

    async def scenario(watch: Watched) -> None:
        await watch.press("r")
        await watch.until(lambda: len(watch.app.screen_stack) == 2)
        await watch.press("y")
        await watch.until(lambda: "Q-3" in watch.status)

    play(scenario)
    assert squad.states()["Q-3"] not in ("answered", "open")


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize(("key", "line"), [("d", "Q-1"), ("a", "Q-2")])
def test_a_key_that_does_not_fit_its_line_asks_nothing(play: Play, key: str, line: str):
    async def scenario(watch: Watched) -> None:
        await watch.point_at(line)
        await watch.press(key)
        await watch.until(lambda: watch.status)
        assert len(watch.app.screen_stack) == 1

    play(scenario)


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("close", ["escape", "question_mark", "q", "enter"])
def test_the_help_lists_every_key_and_closes(play: Play, close: str):
    async def scenario(watch: Watched) -> None:
        await watch.press("question_mark")
        await watch.shows("Tab")
        whole = "\n".join(watch.rows.texts)
        for key in KEYS:
            assert key.shown in whole
            assert visible(key.label) in whole
        await watch.press(close)
        await watch.until(lambda: len(watch.app.screen_stack) == 1)

    play(scenario)


@pytest.mark.parametrize(
    "keys_at_once", [["escape", "escape"], ["q", "q"], ["y", "y"], ["question_mark", "enter", "escape"]]
)
def test_keys_that_come_at_once_end_a_question_once(play: Play, keys_at_once: list[str]):
    async def scenario(watch: Watched) -> None:
        await watch.press("r")
        await watch.until(lambda: len(watch.app.screen_stack) == 2)
        for key in keys_at_once:
            watch.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await watch.until(lambda: len(watch.app.screen_stack) == 1 or not watch.app.is_running)
        assert watch.app.failure is None

    play(scenario)


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_it_quits(play: Play, key: str):
    async def scenario(watch: Watched) -> None:
        await watch.press(key)
        await watch.until(lambda: not watch.app.is_running)
        assert watch.app.return_code == 0

    play(scenario)


def test_titles_name_the_pane_in_sight(play: Play, language: str):
    async def scenario(watch: Watched) -> None:
        assert visible(TITLES[keys.NOW]) in watch.app.query_one("#titles").text
        assert (visible(TITLES[keys.NOW]) == "Now") == (language == "en")

    play(scenario)


# What changes ---------------------------------------------------------------------------------------------------------


def test_a_new_record_arrives_by_itself_and_the_cursor_stays_on_its_line(play: Play, squad: Squad):
    async def scenario(watch: Watched) -> None:
        await watch.press("2")
        await watch.point_at(OLD)
        squad.open().write(Draft("decision", "demo", "Another one", body="New."))
        await watch.shows("Another one")
        assert OLD in watch.rows.line.text

    play(scenario)


@pytest.mark.parametrize("pane", [keys.RECORDS, keys.RECORD])
def test_a_record_that_is_edited_in_place_is_shown_as_it_is(play: Play, squad: Squad, pane: str):
    path = squad.path / "projects/demo/builder/decision/2026-04-26-plain.md"
    path.parent.mkdir(parents=True)
    path.write_text("# The old words\n\nBefore.\n", encoding="utf-8")

    async def scenario(watch: Watched) -> None:
        await watch.press("2")
        await watch.point_at("The old words")
        if pane == keys.RECORD:
            await watch.press("enter")
            await watch.shows("Before.")
        await watch.until(lambda: watch.app._watch is not None)
        path.write_text("# The new words\n\nBehind.\n", encoding="utf-8")
        await watch.shows("The new words")
        await watch.until(lambda: "The old words" not in watch.screen())  # a title may be renewed after its text
        assert "The new words" in watch.screen()

    play(scenario)


def test_a_handoff_arrives_by_itself(play: Play, squad: Squad):
    async def scenario(watch: Watched) -> None:
        await watch.point_at("Q-2")
        squad.ask("Q-9", source="reviewer")
        await watch.shows("Q-9")
        assert "Q-2" in watch.rows.line.text
        await watch.press("5")
        await watch.shows("dispatch")

    play(scenario)


@pytest.mark.parametrize("changed", [0, 3, 9])
def test_only_a_line_that_changed_is_drawn_again(play: Play, changed: int, monkeypatch: pytest.MonkeyPatch):
    from oracle.tui.lines import plain

    drawn: list[Any] = []

    async def scenario(watch: Watched) -> None:
        rows = watch.app.query_one("#log", Rows)
        await watch.press("5")
        watch.app.panes[keys.LOG] = types.SimpleNamespace(lines=lambda _: lines)
        lines = [plain(f"line {number}") for number in range(10)]
        rows.show(lines)
        await watch.pilot.pause()
        monkeypatch.setattr(rows, "refresh_line", drawn.append)
        rows.show([plain("other") if number == changed else line for number, line in enumerate(lines)])
        assert drawn == [changed]

    play(scenario)


@pytest.mark.parametrize("where", ["oracle.tui.reading.newest", "oracle.tui.showing.PanesApp._show_bars"])
def test_what_nobody_expected_ends_it(play: Play, where: str, monkeypatch: pytest.MonkeyPatch):
    async def scenario(watch: Watched) -> None:
        monkeypatch.setattr(where, lambda _: 1 / 0)
        watch.app.post_message(events.Key("2", "2"))
        for _ in range(500):
            if watch.app.failure is not None:
                break
            await asyncio.sleep(0.01)
        assert isinstance(watch.app.failure, ZeroDivisionError)

    play(scenario)


def test_a_root_that_disappears_is_named(play: Play, squad: Squad):
    async def scenario(watch: Watched) -> None:
        squad.path.rename(squad.path.with_name("elsewhere"))
        await watch.press("2")
        await watch.until(lambda: str(squad.path)[:20] in watch.status)
        assert watch.app.failure is None
        squad.path.with_name("elsewhere").rename(squad.path)

    play(scenario)
