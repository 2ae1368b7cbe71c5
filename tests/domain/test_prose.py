"""What memory may mend in the files of others, and what it may not, one kind of change at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.delivery.task_tree_ownership import may_write_task
from oracle.domain.markdown import prose
from oracle.domain.markdown.prose import Sort


def sorts(before: str, after: str, path: str = "SKILL.md") -> list[str]:
    return [change.sort.value for change in prose.classify_file(path, before, after)]


@pytest.mark.parametrize(
    ("before", "after", "sort"),
    [
        # may
        ("The recieved text.", "The received text.", Sort.PROSE),
        ("One line\nof two.", "One line of two.", Sort.PROSE),
        ("派工决策记录下来。", "派工的决策记录下来。", Sort.PROSE),
        ("Why: it is quick.", "Why: it is quick and cheap.", Sort.PROSE),
        ("", "A sentence that explains.", Sort.PROSE),
        ("1. Read the breif.", "1. Read the brief.", Sort.PROSE),
        ("See [the page](old.md).", "See [the page](new/page.md#top).", Sort.LINK),
        ("See https://a.example/x", "See https://b.example/y", Sort.LINK),
        ("It was made at abc1234.", "It was made at def56789.", Sort.FACT),
        ("Since 2026-04-27, in src/a.py.", "Since 2026-05-01, in src/b/a.py.", Sort.FACT),
        ("It lies in `core/a.py`.", "It lies in `oracle/b.py`.", Sort.FACT),
        ("---\ndescription: Helps a lot\n---", "---\ndescription: Helps\n---", Sort.PROSE),
        # may not
        ("You MUST read it.", "You MUST read them.", Sort.CONTRACT),
        ("Read it.", "You must read it.", Sort.CONTRACT),
        ("You SHOULD wait.", "Wait.", Sort.CONTRACT),
        ("必须先读。", "先读。", Sort.CONTRACT),
        ("不写入。", "禁止写入。", Sort.CONTRACT),
        ("Do not push to main.", "", Sort.CONTRACT),
        ("不要推送。", "", Sort.CONTRACT),
        ("MUST see [x](a.md).", "MUST see [x](b.md).", Sort.CONTRACT),
        ("The seat does push.", "The seat does not push.", Sort.CONTRACT),
        ("席位推送代码。", "席位不推送代码。", Sort.CONTRACT),
        ("触发条件：用户问。", "触发条件：有人问。", Sort.TRIGGER),
        ("When asked, it answers at once.", "When told, it answers at once.", Sort.TRIGGER),
        ("1. Read.\n2. Write.", "1. Read.\n2. Test.\n3. Write.", Sort.STEPS),
        ("1. Read the brief.", "1. Delete the branch.", Sort.STEPS),
        ("1. Push the branch.", "1. Push no branch.", Sort.STEPS),
        ("It has `task_id` in it.", "It has `query_id` in it.", Sort.FIELDS),
        ("status: open", "state: open", Sort.FIELDS),
        ("status: open", "status: done", Sort.FIELDS),
        ("| a | b |", "| a | b | c |", Sort.FIELDS),
        ("---\nname: x\n---", "---\nname: y\n---", Sort.FIELDS),
        ("Hello {{ seat }}.", "Hello {{ name }}.", Sort.TEMPLATE),
        ("Run it as {PROJECT}.", "Run it as {SEAT}.", Sort.TEMPLATE),
        ("```\nrun a\n```", "```\nrun b\n```", Sort.EXAMPLE),
        ("~~~\nrun a\n~~~", "~~~\nrun a\nrun b\n~~~", Sort.EXAMPLE),
    ],
)
def test_change_of_a_page(before: str, after: str, sort: Sort):
    old, new = (text if text.startswith("---") else f"# T\n\n{text}\n" for text in (before, after))
    found = set(sorts(old, new))
    assert found - {Sort.PROSE.value} == {sort.value} - {Sort.PROSE.value}
    assert found


@pytest.mark.parametrize(
    ("path", "before", "after", "sort"),
    [
        ("a.py", "# the recieved one\nx = 1", "# the received one\nx = 1", Sort.PROSE),
        ("a.py", "# fine\nx = 1", "# You must not\nx = 1", Sort.CONTRACT),
        ("a.py", "x = 1", "x = 2", Sort.CODE),
        ("a.sh", "#!/bin/sh", "#!/bin/bash", Sort.CODE),
        ("a.ts", "// recieved", "// received", Sort.PROSE),
        ("a.json", '{"a": 1}', '{"a": 2}', Sort.CODE),
        ("Makefile", "# a", "# b", Sort.CODE),
        ("a.md", "a\0", "b\0", Sort.CODE),
    ],
)
def test_change_of_another_file(path: str, before: str, after: str, sort: Sort):
    assert sorts(before, after, path) == [sort.value]


@pytest.mark.parametrize(("before", "after"), [(None, "x"), ("x", None)])
def test_whole_files_are_not_memorys(before: str | None, after: str | None):
    [change] = prose.classify_file("a.md", before, after)
    assert (change.sort, change.is_allowed) == (Sort.WHOLE, False)


def test_each_stretch_is_judged_by_itself():
    before = "# T\n\nRecieved.\n\nYou MUST wait.\n\nEnd."
    after = "# T\n\nReceived.\n\nYou MUST run.\n\nEnd."
    assert [(change.line, change.sort) for change in prose.classify_file("a.md", before, after)] == [
        (3, Sort.PROSE),
        (5, Sort.CONTRACT),
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
