"""Try the Markdown of the task tree as text: exact ids, data that stays data, files of other tools kept as they are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.delivery import task_files, task_queue
from oracle.domain.delivery.task_files import LOG_HEADER
from oracle.domain.delivery.task_queue import Task

STRUCTURE = ["## [pending] EVIL", "# Completed", "---", "|", "\\", "task_id: EVIL", "### Objective", "```", "===", "x"]
BREAKS = ["\n", "\r\n", "\r", "\u2028", "\x0b", "\x85", "\x1c", " ", "\t", "\ud800", "项"]
ACK = ["Consumed: T1 from a at b", "- [2026-01-01] T1 — done"]
ODD = st.text(max_size=60) | st.lists(st.sampled_from(STRUCTURE + BREAKS + ACK), max_size=12).map("".join)
NAIVE_ENTRY = re.compile(r"^## \[(pending|queued|completed)\] ")


def task(task_id: str, **fields: str) -> Task:
    return Task(task_id, "pending", {"title": "t", "source": "planner", **fields}, "do it")


def states(text: str) -> list[tuple[str, str]]:
    return [(found.task_id, found.state) for found in task_queue.tasks_of(text)]


# Queues ---------------------------------------------------------------------------------------------------------------


def test_a_queue_looks_as_other_tools_write_it() -> None:
    fields = {"task_id": "T1", "title": "t", "source": "planner"}
    text = task_queue.append_task("", Task("T1", "", fields, "do it\n\nwell", ("a/SKILL.md",)), seat="builder")
    assert text == (
        "# Queue: builder\n\n## [pending] T1\ntask_id: T1\ntitle: t\nsource: planner\n\n### Objective\n\ndo it\n\nwell\n\n"
        "### Skill Refs\n- a/SKILL.md\n\n---\n"
    )
    text = task_queue.append_task(text, task("T2"), seat="builder")
    assert states(text) == [("T1", "pending"), ("T2", "queued")]
    (first, _) = task_queue.tasks_of(text)
    assert (first.fields, first.objective, first.skill_refs) == (fields, "do it\n\nwell", ("a/SKILL.md",))
    text = task_queue.complete_task(text, "T1", day="2026-11-27")
    assert states(text) == [("T1", "completed"), ("T2", "pending")]
    assert text.endswith("---\n\n# Completed\n\n- [2026-11-27] T1 — done\n")
    text = task_queue.append_task(text, task("T3"), seat="builder")
    assert states(text)[2:] == [("T3", "queued")]
    assert text.endswith("---\n\n# Completed\n\n- [2026-11-27] T1 — done\n")


@pytest.mark.parametrize("other", ["T10", "T1-foo", "T1.1", "T1_b", "xT1", "t1", "T1__sub"])
def test_only_the_exact_id_is_completed_found_or_acknowledged(other: str) -> None:
    text = task_queue.append_task("", task(other), seat="builder")
    assert task_queue.find_open(text, "T1") is None
    assert task_queue.complete_task(text, "T1", day="d") == text
    assert task_queue.supersede_task(text, "T1") == text
    assert task_queue.drop_task(text, "T1") == text
    acked = task_queue.acknowledge_task(text, other, source="builder", moment="m", seat="planner")
    assert task_queue.find_acknowledgement(acked, "T1", "builder") == ""
    assert task_queue.find_acknowledgement(acked, other, "builder") == f"Consumed: {other} from builder at m"
    assert task_queue.find_acknowledgement(acked, other, "build") == ""


def test_a_completion_promotes_the_first_that_waits_and_only_when_none_is_pending() -> None:
    text = ""
    for number in range(1, 5):
        text = task_queue.append_task(text, task(f"T{number}"), seat="builder")
    text = task_queue.complete_task(text, "T3", day="d")
    assert [state for _, state in states(text)] == ["pending", "queued", "completed", "queued"]
    text = task_queue.supersede_task(text, "T1")
    assert [state for _, state in states(text)] == ["superseded", "pending", "completed", "queued"]
    text = task_queue.drop_task(text, "T2")
    assert states(text) == [("T1", "superseded"), ("T3", "completed"), ("T4", "pending")]
    assert task_queue.complete_task(text, "T3", day="d") == text


def test_an_acknowledgement_is_written_once() -> None:
    text = task_queue.acknowledge_task("", "T1", source="builder", moment="m", seat="planner")
    assert text == "# Queue: planner\n\n# Completed\n\nConsumed: T1 from builder at m\n"
    assert task_queue.acknowledge_task(text, "T1", source="builder", moment="later", seat="planner") == text
    again = task_queue.acknowledge_task(text, "T1", source="reviewer", moment="m", seat="planner")
    assert again.count("Consumed: ") == 2


@given(st.lists(st.tuples(ODD, ODD), max_size=5))
def test_titles_and_objectives_never_make_an_entry(contents: list[tuple[str, str]]) -> None:
    text = ""
    for number, (title, objective) in enumerate(contents):
        new = Task(f"T{number}", "", {"title": title}, objective, (title,))
        text = task_queue.append_task(text, new, seat="builder")
        text = task_queue.acknowledge_task(text, f"A{number}", source="builder", moment="m", seat="builder")
    assert states(text) == [(f"T{number}", "queued" if number else "pending") for number in range(len(contents))]
    assert sum(bool(NAIVE_ENTRY.match(line)) for line in text.splitlines()) == len(contents)
    assert sum(line.startswith("Consumed:") for line in text.splitlines()) == len(contents)
    assert sum(line.startswith("# Completed") for line in text.splitlines()) == bool(contents)
    for number, found in enumerate(task_queue.tasks_of(text)):
        assert found.fields["task_id"] == f"T{number}"
        assert list(found.fields) == ["task_id", "title"]
    for number in range(len(contents)):
        text = task_queue.complete_task(text, f"T{number}", day="d", note=contents[number][0])
        assert task_queue.find_open(text, f"T{number}") is None
    assert all(state == "completed" for _, state in states(text))
    text.encode()


def test_what_was_defused_can_be_seen() -> None:
    text = task_queue.append_task(
        "", Task("T1", "", {"title": "x\n\n## [pending] EVIL"}, "see\n## [pending] P\n# Completed\n---"), seat="b"
    )
    assert "title: x ⏎ ## [pending] EVIL\n" in text
    assert "\\## [pending] P\n\\# Completed\n\\---\n" in text


FOREIGN = """intro of somebody\r
\r
## [pending] T1\r
task_id: T1\r
\r
### Objective\r
\r
see\r
# Completed\r
the old way\r
\r
---\r
\r
## [queued] T2\r
task_id: T2\r
"""


def test_a_file_of_another_tool_keeps_its_lines() -> None:
    assert states(FOREIGN) == [("T1", "pending"), ("T2", "queued")]
    text = task_queue.complete_task(FOREIGN, "T1", day="d")
    assert text.startswith(
        FOREIGN.replace("[pending] T1", "[completed] T1").replace("[queued] T2", "[pending] T2").rstrip()
    )
    text = task_queue.append_task(FOREIGN, task("T3"), seat="builder")
    assert text.startswith(FOREIGN.rstrip("\n"))
    assert states(text)[-1] == ("T3", "queued")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("task_id: OLD\ntitle: x\n", [("OLD", "pending"), ("T1", "queued")]),
        ("task_id: null\ntitle: x\n", [("T1", "pending")]),
        ("\ufeff\n \n", [("T1", "pending")]),
        ("# Completed\n\n- old\n", [("T1", "pending")]),
    ],
)
def test_old_forms_of_a_queue_are_taken_over(text: str, expected: list[tuple[str, str]]) -> None:
    found = task_queue.append_task(text, task("T1"), seat="builder")
    assert states(found) == expected
    assert ("- old" in found) is ("- old" in text)


@given(ODD)
def test_any_file_is_read_and_an_unknown_task_changes_nothing(text: str) -> None:
    task_queue.tasks_of(text)
    task_files.rows_of(text)
    task_files.log_of(text)
    task_files.delivery_fields(text)
    for change in (task_queue.supersede_task, task_queue.drop_task):
        assert change(text, "T-404") == text


# The table ------------------------------------------------------------------------------------------------------------


def test_a_row_is_made_then_changed_and_others_stay() -> None:
    text = task_files.upsert_row("", "v0.8-x", {"Title": "a|b\\c\nd", "Owner": "builder", "Status": "pending"})
    assert text == (
        "| ID | Title | Owner | Status | Notes |\n| --- | --- | --- | --- | --- |\n"
        "| v0.8-x | a\\|b\\\\c ⏎ d | builder | pending |  |\n"
    )
    text = task_files.upsert_row(text, "v0x8-x", {"Status": "pending"})
    text = task_files.upsert_row(text, "v0.8-x", {"Status": "completed"})
    assert [(row["ID"], row["Title"], row["Status"]) for row in task_files.rows_of(text)] == [
        ("v0.8-x", "a|b\\c ⏎ d", "completed"),
        ("v0x8-x", "", "pending"),
    ]


def test_a_foreign_table_keeps_its_columns_and_its_surroundings() -> None:
    text = "# Tasks\n\n|ID|Title|Status|Who|\n|:-|-|-|-|\n| T10 | ten | pending | me |\n\nafter | this\n"
    found = task_files.upsert_row(text, "T1", {"Title": "one", "Status": "pending", "Owner": "x"})
    assert found == text.replace("| me |\n", "| me |\n| T1 | one | pending |  |\n")
    assert task_files.upsert_row(found, "T10", {"Status": "done"}) == found.replace("ten | pending", "ten | done")


@given(st.dictionaries(st.sampled_from(["T1", "T10", "T1-a", "项"]), ODD, max_size=4))
def test_any_title_makes_just_one_row(titles: dict[str, str]) -> None:
    text = "before\n\n"
    for _ in range(2):
        for task_id, title in titles.items():
            text = task_files.upsert_row(text, task_id, {"Title": title, "Status": "s"})
    assert {row["ID"]: row["Title"] for row in task_files.rows_of(text)} == {
        task_id: task_files.one_line(title) for task_id, title in titles.items()
    }
    assert all(row["Status"] == "s" for row in task_files.rows_of(text))
    assert len(text.splitlines()) == (len(titles) + 4 if titles else 2)


# The log and deliveries -----------------------------------------------------------------------------------------------


def test_the_log_keeps_its_last_twenty_lines_and_what_is_around_it() -> None:
    text = f"# Status\n\nphase: x\n- a list\n\n{LOG_HEADER}\n"
    for number in range(25):
        text, healed = task_files.append_log(text, f"m{number}: planner\n- x dispatched T{number}")
        assert not healed
    assert task_files.log_of(text) == tuple(f"m{number}: planner ⏎ - x dispatched T{number}" for number in range(5, 25))
    assert text.startswith(f"# Status\n\nphase: x\n- a list\n\n{LOG_HEADER}\n")
    text, _ = task_files.append_log(text.rstrip() + "\n\n## notes\n\n- mine\n", "last")
    assert task_files.log_of(text)[-1] == "last"
    assert text.endswith("- last\n\n## notes\n\n- mine\n")


def test_a_log_that_lost_its_header_is_healed_once() -> None:
    text, healed = task_files.append_log("# Status: T1\n\nstatus: pending\n", "a line")
    assert healed
    assert text == f"# Status: T1\n\nstatus: pending\n\n{LOG_HEADER}\n{task_files.HEALED}\n\n- a line\n"
    assert task_files.append_log(text, "b")[1] is False
    assert task_files.append_log("", "a") == (f"{LOG_HEADER}\n\n- a\n", False)


@given(ODD, ODD)
def test_a_delivery_says_at_its_head_what_it_was_given(title: str, summary: str) -> None:
    fields = {"task_id": "T1", "owner": "builder", "target": "planner", "commit": "", "branch": title}
    text = task_files.render_delivery(
        fields, title=title, summary=summary, paragraphs={"Verdict": title, "NextAction": ""}
    )
    found = task_files.delivery_fields(text)
    assert (found["task_id"], found["owner"], found["target"]) == ("T1", "builder", "planner")
    assert "commit" not in found
    assert set(found) <= {"task_id", "owner", "target", "branch"}
    assert sum(line.startswith("## Summary") for line in text.splitlines()) == 1
    text.encode()
