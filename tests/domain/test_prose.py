"""What memory may mend in the files of others, and what it may not, one kind of change at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.app.codebase.ownership import may_write_task
from oracle.domain.markdown import prose
from oracle.domain.markdown.prose import ChangeKind


def sorts(before: str, after: str, path: str = "SKILL.md") -> list[str]:
    return [change.sort.value for change in prose.classify_file(path, before, after)]


@pytest.mark.parametrize(
    ("before", "after", "sort"),
    [
        # may
        ("The recieved text.", "The received text.", ChangeKind.PROSE),
        ("One line\nof two.", "One line of two.", ChangeKind.PROSE),
        ("派工决策记录下来。", "派工的决策记录下来。", ChangeKind.PROSE),
        ("Why: it is quick.", "Why: it is quick and cheap.", ChangeKind.PROSE),
        ("", "A sentence that explains.", ChangeKind.PROSE),
        ("1. Read the breif.", "1. Read the brief.", ChangeKind.PROSE),
        ("See [the page](old.md).", "See [the page](new/page.md#top).", ChangeKind.LINK),
        ("See https://a.example/x", "See https://b.example/y", ChangeKind.LINK),
        ("It was made at abc1234.", "It was made at def56789.", ChangeKind.FACT),
        ("Since 2026-04-27, in src/a.py.", "Since 2026-05-01, in src/b/a.py.", ChangeKind.FACT),
        ("It lies in `core/a.py`.", "It lies in `oracle/b.py`.", ChangeKind.FACT),
        ("---\ndescription: Helps a lot\n---", "---\ndescription: Helps\n---", ChangeKind.PROSE),
        # may not
        ("You MUST read it.", "You MUST read them.", ChangeKind.CONTRACT),
        ("Read it.", "You must read it.", ChangeKind.CONTRACT),
        ("You SHOULD wait.", "Wait.", ChangeKind.CONTRACT),
        ("必须先读。", "先读。", ChangeKind.CONTRACT),
        ("不写入。", "禁止写入。", ChangeKind.CONTRACT),
        ("Do not push to main.", "", ChangeKind.CONTRACT),
        ("不要推送。", "", ChangeKind.CONTRACT),
        ("MUST see [x](a.md).", "MUST see [x](b.md).", ChangeKind.CONTRACT),
        ("The seat does push.", "The seat does not push.", ChangeKind.CONTRACT),
        ("席位推送代码。", "席位不推送代码。", ChangeKind.CONTRACT),
        ("触发条件：用户问。", "触发条件：有人问。", ChangeKind.TRIGGER),
        ("When asked, it answers at once.", "When told, it answers at once.", ChangeKind.TRIGGER),
        ("1. Read.\n2. Write.", "1. Read.\n2. Test.\n3. Write.", ChangeKind.STEPS),
        ("1. Read the brief.", "1. Delete the branch.", ChangeKind.STEPS),
        ("1. Push the branch.", "1. Push no branch.", ChangeKind.STEPS),
        ("It has `task_id` in it.", "It has `query_id` in it.", ChangeKind.FIELDS),
        ("status: open", "state: open", ChangeKind.FIELDS),
        ("status: open", "status: done", ChangeKind.FIELDS),
        ("| a | b |", "| a | b | c |", ChangeKind.FIELDS),
        ("---\nname: x\n---", "---\nname: y\n---", ChangeKind.FIELDS),
        ("Hello {{ seat }}.", "Hello {{ name }}.", ChangeKind.TEMPLATE),
        ("Run it as {PROJECT}.", "Run it as {SEAT}.", ChangeKind.TEMPLATE),
        ("```\nrun a\n```", "```\nrun b\n```", ChangeKind.EXAMPLE),
        ("~~~\nrun a\n~~~", "~~~\nrun a\nrun b\n~~~", ChangeKind.EXAMPLE),
    ],
)
def test_change_of_a_page(before: str, after: str, sort: ChangeKind):
    old, new = (text if text.startswith("---") else f"# T\n\n{text}\n" for text in (before, after))
    found = set(sorts(old, new))
    assert found - {ChangeKind.PROSE.value} == {sort.value} - {ChangeKind.PROSE.value}
    assert found


@pytest.mark.parametrize(
    ("path", "before", "after", "sort"),
    [
        ("a.py", "# the recieved one\nx = 1", "# the received one\nx = 1", ChangeKind.PROSE),
        ("a.py", "# fine\nx = 1", "# You must not\nx = 1", ChangeKind.CONTRACT),
        ("a.py", "x = 1", "x = 2", ChangeKind.CODE),
        ("a.sh", "#!/bin/sh", "#!/bin/bash", ChangeKind.CODE),
        ("a.ts", "// recieved", "// received", ChangeKind.PROSE),
        ("a.json", '{"a": 1}', '{"a": 2}', ChangeKind.CODE),
        ("Makefile", "# a", "# b", ChangeKind.CODE),
        ("a.md", "a\0", "b\0", ChangeKind.CODE),
    ],
)
def test_change_of_another_file(path: str, before: str, after: str, sort: ChangeKind):
    assert sorts(before, after, path) == [sort.value]


@pytest.mark.parametrize(("before", "after"), [(None, "x"), ("x", None)])
def test_whole_files_are_not_memorys(before: str | None, after: str | None):
    [change] = prose.classify_file("a.md", before, after)
    assert (change.sort, change.is_allowed) == (ChangeKind.WHOLE, False)


def test_each_stretch_is_judged_by_itself():
    before = "# T\n\nRecieved.\n\nYou MUST wait.\n\nEnd."
    after = "# T\n\nReceived.\n\nYou MUST run.\n\nEnd."
    assert [(change.line, change.sort) for change in prose.classify_file("a.md", before, after)] == [
        (3, ChangeKind.PROSE),
        (5, ChangeKind.CONTRACT),
    ]


LINES = st.lists(
    st.sampled_from(["", "word", "You MUST.", "1. step", "```", "a: b", "`x`", "---", "[l](x)"]), max_size=8
)


@given(LINES, LINES)
def test_duty_that_comes_or_goes_is_never_allowed(before: list[str], after: list[str]):
    changes = prose.classify_file("a.md", "\n".join(before), "\n".join(after))
    assert bool(changes) == (before != after and "\n".join(before) != "\n".join(after))
    if before.count("You MUST.") != after.count("You MUST."):
        assert not all(change.is_allowed for change in changes)


@pytest.mark.parametrize(
    ("seat", "path", "expected"),
    [
        ("memory", "demo/STATUS.md", True),
        ("builder", "demo/STATUS.md", False),
        ("builder", "demo/builder/DELIVERY.md", True),
        ("builder-1", "demo/builder/DELIVERY.md", False),
        ("memory", "demo/planner/TODO.md", False),
        ("planner", "demo/T1/workflow.md", True),
        ("reviewer", "demo/T1/workflow.md", False),
        ("builder", "demo/patrol/handoffs/T1__builder__planner.json", True),
        ("reviewer", "demo/patrol/handoffs/T1__builder__planner.json", False),
        ("memory", "demo/../x", False),
        ("memory", "demo", False),
    ],
)
def test_places_of_the_task_tree(seat: str, path: str, expected: bool):
    assert may_write_task(seat, path) == expected
