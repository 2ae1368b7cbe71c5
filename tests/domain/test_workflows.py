"""Workflows as text: every way of writing a list, what may follow what, and one line changed at a time."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.domain.delivery import task_files, workflows
from oracle.domain.delivery.workflows import WorkflowStep
from oracle.domain.values import replace
from oracle.errors import UsageError

TWO = """# Workflow: T1

## Step 1: build

owner_role: builder
status: pending

## Step 2: review
owner_role: reviewer
status: pending
prereq: [build]
"""


def step_with(lines: str) -> WorkflowStep:
    return workflows.steps_of(f"# Workflow: T1\n\n## Step 1: build\n{lines}\n")[0]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("prereq: [a, b]", ("a", "b")),
        ("prereq: []", ()),
        ("prereq:", ()),
        ("prereq: null", ()),
        ("prereq: ~", ()),
        ("prereq: a", ("a",)),
        ("prereq:\n  - a\n  - b", ("a", "b")),
        ("prereq:\n- a\n- b\nstatus: pending", ("a", "b")),
        ("prereq:  # none yet\n  - a  # the first", ("a",)),
        ("prereq: [a, # the first\n  b]", ("a", "b")),
        ("prereq: [\n  a,\n  b,\n]", ("a", "b")),
        ("prereq: [\"a, b\", 'c''d']", ("a, b", "c'd")),
        ('prereq:\n  - "a: b"\n  - c', ("a: b", "c")),
        ("- prereq: [a]\n- status: done", ("a",)),
        ("**prereq:** [a]", ("a",)),
        ("prereq: [a]\r", ("a",)),
        ("prereq:\r\n  - a\r\n  - b\r", ("a", "b")),
        ("prereq: [a]\nprereq: [b]", ("a",)),
        ("prereq: [a", ("[a",)),
    ],
)
def test_every_form_of_a_list_is_read(lines: str, expected: tuple[str, ...]):
    assert step_with(lines).prereq == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", "pending"),
        ("status: done", "done"),
        ("status: Done  # since Monday", "done"),
        ('status: "in_progress"', "in_progress"),
        ("status: In-Progress", "in_progress"),
        ("status: skipped", "skipped"),
        ("- status: blocked", "blocked"),
        ("context: |\n  status: done\nstatus: blocked", "blocked"),
    ],
)
def test_status_is_read(lines: str, expected: str):
    assert step_with(lines).status == expected


def test_headings_in_fences_and_of_other_levels_are_no_steps():
    text = "## Step 1: a\n```\n## Step 2: b\n```\n### Step 3: c\n## Notes\nstatus: done\n## step 4：d ##\r\n"
    found = workflows.steps_of(text)
    assert [(step.number, step.name, step.status) for step in found] == [(1, "a", "pending"), (4, "d", "pending")]


@pytest.mark.parametrize("named", ["review", "REVIEW", " 2 ", "step 2", "Step 2: review"])
def test_step_goes_by_name_or_number(named: str):
    assert workflows.find_step(workflows.steps_of(TWO), named).name == "review"


def test_ready_are_steps_of_the_role_whose_prerequisites_are_done():
    steps = workflows.steps_of(TWO)
    assert [step.name for step in workflows.list_ready(steps, "builder")] == ["build"]
    assert workflows.list_ready(steps, "reviewer") == []
    done = [replace(steps[0], status="done"), steps[1]]
    assert [step.name for step in workflows.list_ready(done, "reviewer")] == ["review"]


@pytest.mark.parametrize("before", workflows.STATUSES)
@pytest.mark.parametrize("after", [*workflows.STATUSES, "finished"])
def test_only_these_changes_are_made(before: str, after: str):
    text = f"## Step 1: a\nstatus: {before}\n"
    allowed = {("pending", "in_progress"), ("in_progress", "done"), ("in_progress", "blocked")}
    if (before, after) in allowed or before == after:
        assert workflows.advance(text, "a", after)[0] == f"## Step 1: a\nstatus: {after}\n"
    else:
        with pytest.raises(UsageError, match="can't become"):
            workflows.advance(text, "a", after)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("## Step 1: a\nprereq: [b]\n## Step 2: b\nprereq: [a]", "wait for each other"),
        ("## Step 1: a\nprereq:\n  - a", "wait for each other"),
        ("## Step 1: a\nprereq: [nowhere]", "nowhere, which is not a step"),
        ("## Step 1: a\n## Step 2: A", "exists twice"),
        ("## Step 1: a\n## Step 1: b", "exists twice"),
    ],
)
def test_workflow_that_can_not_be_followed_is_refused(text: str, fault: str):
    with pytest.raises(UsageError, match=fault):
        workflows.advance(text, "a", "in_progress")
    assert workflows.list_ready(workflows.steps_of(text), "") == []


def test_status_of_another_tool_hinders_no_other_step():
    text = "## Step 1: a\nowner_role: x\nstatus: skipped\n## Step 2: b\nowner_role: x\n## Step 3: c\nowner_role: x\nprereq: [a]\n"
    assert [step.name for step in workflows.list_ready(workflows.steps_of(text), "x")] == ["b"]
    assert workflows.advance(text, "b", "in_progress")[1].status == "in_progress"
    with pytest.raises(UsageError, match="is skipped and can't become done"):
        workflows.advance(text, "a", "done")


@pytest.mark.parametrize(
    ("step", "status", "hint"),
    [
        ("build", "in_progres", "Did you mean in_progress?"),
        ("build", "In_Progress", "Did you mean in_progress?"),
        ("biuld", "in_progress", "Did you mean build?"),
        ("build", "done", "It may become in_progress."),
    ],
)
def test_a_mistyped_step_or_status_is_named_with_the_one_that_was_meant(step: str, status: str, hint: str):
    with pytest.raises(UsageError) as caught:
        workflows.advance(TWO, step, status)
    assert caught.value.hint == hint


def test_unknown_step_names_those_that_are_there():
    with pytest.raises(UsageError) as caught:
        workflows.advance(TWO, "test", "done")
    assert caught.value.hint == "Its steps are: build, review."


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("status: pending", "status: in_progress"),
        ("status:    pending  # soon", "status:    in_progress  # soon"),
        ("- status: pending\r", "- status: in_progress\r"),
        ("status:", "status: in_progress"),
        ("status: # soon", "status: in_progress # soon"),
    ],
)
def test_just_the_line_of_the_status_changes(line: str, expected: str):
    around = "intro\n## Step 1: a\n{}\n\ntext\nstatus: pending\n## Step 2: b\nstatus: pending\n"
    assert workflows.advance(around.format(line), "a", "in_progress")[0] == around.format(expected)


def test_step_without_a_status_gets_one():
    assert workflows.advance("## Step 1: a\nx", "a", "in_progress")[0] == "## Step 1: a\nstatus: in_progress\nx"


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [
        ((), "pending"),
        (("pending", "pending"), "pending"),
        (("done", "pending"), "in_progress"),
        (("in_progress",), "in_progress"),
        (("done", "done"), "done"),
        (("done", "blocked"), "blocked"),
    ],
)
def test_overall_status(statuses: tuple[str, ...], whole: str):
    assert workflows.overall([WorkflowStep(at, str(at), status) for at, status in enumerate(statuses)]) == whole


def test_status_file_keeps_what_people_wrote_and_gets_its_log_back():
    assert task_files.heal_log(workflows.render_status("T1")) == workflows.render_status("T1")
    healed = task_files.heal_log("# Status: T1\nstatus: pending\nA note.\n")
    assert healed.startswith("# Status: T1\nstatus: pending\nA note.\n\n## dispatch log")
    assert workflows.set_overall(healed, "done").count("status: done") == 1


WORD = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)
NAME = st.lists(WORD, min_size=1, max_size=3).map(" ".join).filter(lambda name: name == name.strip(" #"))
NAMES = st.lists(NAME, min_size=1, max_size=6, unique_by=str.casefold)


@st.composite
def chains(draw: st.DrawFn) -> list[WorkflowStep]:
    names = draw(NAMES)
    return [
        WorkflowStep(
            at,
            name,
            draw(st.sampled_from(workflows.STATUSES)),
            draw(st.sampled_from(("builder", "reviewer"))),
            prereq=tuple(draw(st.lists(st.sampled_from(names), max_size=3, unique=True))),
            notify_on_done=tuple(
                draw(st.lists(WORD.filter(lambda text: text.casefold() not in ("null", "~", "none")), max_size=2))
            ),
        )
        for at, name in enumerate(names, 1)
    ]


@example(
    steps=[
        WorkflowStep(1, "0", "pending", "builder"),
        WorkflowStep(2, "0 #0", "pending", "builder", prereq=("0", "0 #0")),
    ]
)
@given(chains())
def test_what_is_rendered_reads_back(steps: list[WorkflowStep]):
    assert workflows.steps_of(workflows.render_workflow("T1", "x", steps)) == tuple(steps)


@given(chains(), st.data())
def test_change_of_one_step_leaves_every_other_as_it_was(steps: list[WorkflowStep], data: st.DataObject):
    text = workflows.render_workflow("T1", "x", steps)
    step = data.draw(st.sampled_from(steps))
    status = data.draw(st.sampled_from(workflows.STATUSES))
    try:
        after, now = workflows.advance(text, step.name, status)
    except UsageError:
        return
    expected = tuple(replace(one, status=status) if one == step else one for one in steps)
    assert (workflows.steps_of(after), now) == (expected, replace(step, status=status))
    assert sum(old != new for old, new in zip(text.split("\n"), after.split("\n"), strict=True)) == (after != text)


@given(chains())
def test_cycle_is_found_just_when_no_order_exists(steps: list[WorkflowStep]):
    done: set[str] = set()
    for _ in steps:
        done |= {step.name for step in steps if set(step.prereq) <= done}
    has_cycle = len(done) < len(steps)
    assert any("wait for each other" in fault for fault in workflows.find_faults(steps)) == has_cycle


@given(st.text(alphabet="#Step1: -[]\"',\nab_prqstus`|"))
def test_no_text_breaks_the_reader(text: str):
    steps = workflows.steps_of(text)
    assert all(step.number >= 0 for step in steps)
    assert isinstance(workflows.find_faults(steps), list)
