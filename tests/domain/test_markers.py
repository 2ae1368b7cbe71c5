"""Try which markers of a message count, what they say, and which handoff they answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.delivery.addressing import Address, AddressedDispatch, address, read_context
from oracle.domain.delivery.markers import Fault, Marker, mask_talk, read, strip
from tests.growth import grows_linearly

ROSTERS = {"install": ("memory", "planner", "builder", "reviewer")}
FULL = "[DELIVER:seat=planner task_id=T-1 project=install]"


def message_of(case: dict[str, Any]) -> str:
    """Return the text that may trigger: the last message, or the last main-chain assistant line of the transcript."""
    if "last_assistant_message" in case["payload"]:
        return str(case["payload"]["last_assistant_message"])
    mine = case["payload"].get("session_id")
    lines = [line for line in case["transcript"] if line["type"] == "assistant" and not line.get("isSidechain")]
    lines = [line for line in lines if line.get("sessionId", mine) == mine]
    return "".join(block["text"] for block in lines[-1]["message"]["content"]) if lines else ""


def user_turns(case: dict[str, Any]) -> list[str]:
    turns = [line["message"]["content"] for line in case["transcript"] if line["type"] == "user"]
    return [turn for turn in turns if isinstance(turn, str)]


@pytest.mark.cases("stop_hook", "more_stop_hook")
def test_every_case_delivers_just_what_it_should(case: dict[str, Any]) -> None:
    found = read(message_of(case))
    waiting = [
        AddressedDispatch(item["project"], item["task_id"], item["source"], is_open="delivered" not in item)
        for item in case["open_dispatches"]
    ]
    outcome: Address | Fault | None = None
    if isinstance(found.deliver, Marker):
        outcome = address(found.deliver, waiting, context=read_context(user_turns(case)), rosters=ROSTERS)
    elif found.deliver:
        outcome = found.deliver
    expect = case["expect"]
    delivered = [[outcome.task_id, outcome.seat]] if isinstance(outcome, Address) else []
    assert delivered == expect["delivered"]
    assert found.clear is expect["cleared"]
    assert isinstance(outcome, Fault) is ("stderr" in expect)
    assert bool(isinstance(outcome, Address) and outcome.unsolicited) is expect.get("unsolicited", False)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("[DELIVER: seat=a , task=T]", {"seat": "a", "task_id": "T"}),
        ("[DELIVER:to=a query_id=MEMORY-QUERY-1-2]", {"seat": "a", "task_id": "MEMORY-QUERY-1-2"}),
        ('[DELIVER:target=\'a\',summary="one, [two] \\"three\\""]', {"seat": "a", "summary": 'one, [two] "three"'}),
        ("[DELIVER:seat=a summary=All of it, works verdict=PASS]", {"summary": "All of it works", "verdict": "PASS"}),
        ("[DELIVER:seat=a\n  task_id=T\n  project=项目]", {"task_id": "T", "project": "项目"}),
        ("[DELIVER:SEAT=a commit=abc1234 sweep=3]", {"seat": "a", "commit": "abc1234", "sweep": 3}),
        ("**[DELIVER:seat=a seat=a profile=~/x.toml title=T]**", {"seat": "a", "profile": "~/x.toml", "title": "T"}),
        ("好[DELIVER:seat=a]。", {"seat": "a"}),
        ("> a question\n\n[DELIVER:seat=a]", {"seat": "a"}),
        ("> a question\n[DELIVER:seat=a]", {"seat": "a"}),
        ("```\ncode\n```\r\n[DELIVER:seat=a]\r\n", {"seat": "a"}),
        ("- point\n\n      code\n\n  [DELIVER:seat=a]", {"seat": "a"}),
        ("x < 3 > 2 [DELIVER:seat=a]", {"seat": "a"}),
        ("path \\\\[DELIVER:seat=a]", {"seat": "a"}),
    ],
)
def test_a_marker_says_what_its_writer_meant(text: str, fields: dict[str, object]) -> None:
    marker = read(text).deliver
    assert isinstance(marker, Marker), marker
    assert {name: getattr(marker, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[DELIVER:]", "missing_seat"),
        ("[DELIVER:task_id=T-1]", "missing_seat"),
        ("[DELIVER:seat=]", "marker_malformed"),
        ("[DELIVER:seat=a seat=b]", "marker_malformed"),
        ("[DELIVER:seat=a target=b]", "marker_malformed"),
        ("[DELIVER:seat=a colour=red]", "marker_attribute"),
        ("[DELIVER:seat=a stray]", "marker_malformed"),
        ("[DELIVER:seat=a", "marker_malformed"),
        ('[DELIVER:seat="a]', "marker_malformed"),
        ("[DELIVER:seat=a task_id=../../etc]", "invalid_name"),
        ("[DELIVER:seat=a task_id='T 1']", "invalid_name"),
        ("[DELIVER:seat=a,project=$(x)]", "invalid_name"),
        ("[DELIVER:seat=a;b]", "invalid_name"),
        ("[DELIVER:seat=a sweep=many]", "marker_malformed"),
        ("[DELIVER:seat=a commit=HEAD;rm]", "marker_malformed"),
        ('[DELIVER:seat=a title="x\ny"]', "marker_malformed"),
        ("[DELIVER:seat=a summary=" + "x" * 5000 + "]", "marker_malformed"),
        (FULL + " and [DELIVER:seat=<X>]", "invalid_name"),
        ("Option B. [DELIVER seat=planner task_id=T-1]", "marker_malformed"),
        ("Option B. [DELIVER task_id=T-1 seat=planner", "marker_malformed"),
        ("Option B.\n\nDELIVER:seat=planner task_id=T-1]\n", "marker_malformed"),
        (FULL + " and [DELIVER  to=reviewer]", "marker_malformed"),
    ],
)
def test_a_marker_that_can_not_be_read_is_named_and_stops_the_delivery(text: str, code: str) -> None:
    found = read(text)
    assert isinstance(found.deliver, Fault)
    assert found.deliver.code == code
    assert found.deliver.sentence.endswith(".")


@pytest.mark.parametrize(
    "frame",
    [
        "`{}`",
        "``a ` {}``",
        "```\n{}\n```",
        "~~~~ text\n{}\n~~~~",
        "text\n\n    {}\n",
        "text\n\n\t{}\n",
        "> {}",
        "  > > {}",
        "- > {}",
        "1. a\n   ```\n   {}\n   ```\n",
        "<!-- {} -->",
        '"{}"',
        "“{}”",
        "「{}」",
        "\\{}",
        "```\nnever closed {}",
        "~~~~~\n```\n~~~\n{}",
        "> ```\n> {}\n> ```",
        "write <code>{}</code> at the end",
        "<pre>\n{}\n</pre>",
        "<BlockQuote cite='x'>a {} b</BlockQuote>",
        "<code>a <pre>{}</code>",
        'the skill says "end with {} please".',
        "他说“请打印 {} 即可”",
        "„Bitte {} drucken“",
        "「最後に {} と書く」",
    ],
)
@pytest.mark.parametrize(
    "marker", [FULL, "[CLEAR-REQUESTED]", "[DELIVER seat=planner task_id=T-1]", "【deliver：seat=planner】"]
)
def test_talk_about_markers_asks_for_nothing(frame: str, marker: str) -> None:
    text = frame.format(marker)
    found = read(text)
    assert found.deliver is None
    assert not found.clear
    assert marker in strip(text)


@pytest.mark.parametrize(
    "frame",
    [
        'a 5" pipe {}',
        '"x" and "y" {} "z"',
        '"one\n{}\ntwo"',
        "don't {} don't",
        "he said “yes”. {} And “no”.",
        "use <code> tags {}",
        "<code>a</code> {} <code>b</code>",
        "</code>{}<code>",
        "<codex>{}</codex>",
    ],
)
@pytest.mark.parametrize("marker", [FULL, "[CLEAR-REQUESTED]"])
def test_what_only_stands_beside_talk_counts(frame: str, marker: str) -> None:
    text = frame.format(marker)
    found = read(text)
    assert isinstance(found.deliver, Marker) or found.clear
    assert marker not in strip(text)


@pytest.mark.parametrize(
    "text",
    [
        "I end with the [DELIVER] marker.",
        "A [DELIVER …] without a colon, or [DELIVER it today], is prose.",
        "The seat prints DELIVER:seat=planner task_id=T-1] at the end.",
        "DELIVER: seat by seat [1].",
        "DELIVER the answer, seat=planner.",
    ],
)
def test_prose_that_only_mentions_the_marker_is_none(text: str) -> None:
    assert read(text).deliver is None


def test_what_resembles_a_marker_inside_of_one_is_its_value() -> None:
    found = read('B. [DELIVER:seat=planner summary="not [DELIVER seat=x]"]')
    assert isinstance(found.deliver, Marker)


def test_a_marker_counts_after_one_without_its_colon() -> None:
    assert isinstance(read(f"[DELIVER seat=planner] was wrong. {FULL}").deliver, Marker)


def test_a_marker_after_a_closed_fence_counts_though_another_is_quoted() -> None:
    found = read(f"Print `{FULL}` like this:\n```\n[DELIVER:seat=x]\n```\nDone. [DELIVER:seat=reviewer]")
    assert isinstance(found.deliver, Marker)
    assert found.deliver.seat == "reviewer"


def test_the_answer_is_kept_without_its_markers() -> None:
    assert strip(f"Option B. {FULL}\n[CLEAR-REQUESTED]") == "Option B."
    assert strip("plain ") == "plain"
    assert strip(f"A `{FULL}` B {FULL} C") == f"A `{FULL}` B C"


PIECES = st.sampled_from(
    ["[DELIVER:", "[CLEAR-REQUESTED]", FULL, "seat=a", "task_id=", '"', "'", "]", ",", " ", "\n", "\r", "`", "```", "~~~", ">",
     "    ", "<!--", "-->", "\\", "- ", "x", "\u2028", "\x00", "项"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_read_without_an_error_and_its_mask_keeps_offsets(text: str) -> None:
    found = read(text)
    assert len(mask_talk(text)) == len(text)
    if found.deliver is not None:
        assert text.startswith("[DELIVER:", found.deliver.start)
    rest = read(strip(text))
    assert not (isinstance(found.deliver, Marker) and found.deliver == rest.deliver and strip(text) == text)


@given(st.text(max_size=40), st.text(max_size=40))
def test_quoted_values_come_back_as_they_were_written(seat_tail: str, summary: str) -> None:
    summary = " ".join("".join(char for char in summary if char.isprintable()).split()).strip()
    value = summary.replace("\\", "\\\\").replace('"', '\\"')
    found = read(f'{FULL[:-1]} summary="{value}"]') if value and "[DELIVER:" not in value else None
    if found is not None:
        assert isinstance(found.deliver, Marker)
        assert found.deliver.summary == summary


@pytest.mark.parametrize(
    "unit",
    [
        "[DELIVER:",
        "[DELIVER:seat=a ",
        FULL,
        "`",
        "> ",
        "- ",
        "``` ",
        "```\n",
        "~~~\n",
        "\\",
        '[DELIVER:seat="',
        "[DELIVER:seat=a summary=x ",
        f"> q\nlazy {FULL}\n",
        f'24" {FULL} "x',
        "[DELIVER seat=a ",
        "[DELIVER ",
        "DELIVER:seat=a\n",
        "【 DELIVER ： seat",
    ],
)
def test_a_message_is_read_in_linear_time(unit: str) -> None:
    assert grows_linearly(read, unit * ((1 << 16) // len(unit)), to=unit * ((1 << 19) // len(unit)))


def test_four_mebibytes_are_read_in_linear_time() -> None:
    line = f"{FULL} > q `a` [DELIVER:seat=a summary=x \n"
    assert grows_linearly(read, line * ((1 << 19) // len(line)), to=line * ((1 << 22) // len(line)))


@pytest.mark.parametrize("comma", ["，", "、", "；"])
def test_a_comma_of_another_script_is_no_part_of_a_name(comma: str) -> None:
    found = read(f"x [DELIVER:seat=planner{comma}task_id=T-1]").deliver
    assert isinstance(found, Fault)
    assert found.code == "marker_malformed"


QUOTED = ("> quote\n> {}", "> > quote\n> more {}\n", "- > quote {}")
OWN = (
    "> quote\nmine {}",
    "> quote\nmine\nmore {}",
    "> - item\nmine {}",
    "- > quote\nmine {}",
    "> quote\n\nmine {}",
    ">\nmine {}",
    "> # heading\nmine {}",
    "> ```\n> code\n> ```\nmine {}",
    "> quote\n- mine {}",
    "> quote\n# mine {}",
    "> quote\n---\nmine {}",
    "> quote\n{}",
    "> quote\n  {}",
    "> quote\n>\nmine {}",
    "- item\nlazy {}",
)


@pytest.mark.parametrize("marker", [FULL, "[CLEAR-REQUESTED]"])
@pytest.mark.parametrize("text", [*QUOTED, *OWN])
def test_what_stands_right_below_a_quotation_is_the_writers_own(text: str, marker: str) -> None:
    found = read(text.format(marker))
    assert bool(found.deliver or found.clear) is (text in OWN)


@pytest.mark.parametrize(
    ("text", "is_meant"),
    [
        ('A 24" screen is fine. {} and a 27" one too', True),
        ('A 24" screen is fine. {}', True),
        ('It is 5\'10" tall {} and 6" wide, "they" say', True),
        ('He said "yes" {} and "no"', True),
        ('He said "use 24" and {} and "no"', True),
        ('A 24" screen: "write {} now"', False),
        ('He said "yes and {} "', False),
        ('"at the end: {}"', False),
    ],
)
def test_an_inch_mark_opens_no_quotation(text: str, is_meant: bool) -> None:
    assert isinstance(read(text.format(FULL)).deliver, Marker) is is_meant
