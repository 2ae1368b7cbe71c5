"""Try which handoff a marker answers, and what the transcript says of the task at hand."""

from __future__ import annotations

import pytest

from oracle.domain.delivery.addressing import Address, AddressedDispatch, TurnContext, address, read_context
from oracle.domain.delivery.markers import Fault, Marker

ROSTERS = {"install": ("memory", "planner", "builder", "reviewer")}


def test_context_takes_the_last_names_of_user_turns_and_no_odd_ones() -> None:
    turns = ["task_id: T-1\nproject: install", "MEMORY-QUERY-3-4 please\ntask_id: ../x\r\nproject: arena\r\n"]
    assert read_context(turns) == TurnContext("MEMORY-QUERY-3-4", "arena")
    assert read_context(["the task_id: T-1 is old", "xMEMORY-QUERY-3-4-5"]) == TurnContext()


@pytest.mark.parametrize(
    "line",
    [
        *("task_id: T-1", "  task_id:T-1  ", "- task_id: T-1", "> task_id: T-1", "* task_id: T-1,"),
        *("**task_id**: T-1", "**task_id:** T-1", "- **task_id**: `T-1`", '  "task_id": "T-1",', "'task_id': 'T-1'"),
        *("task_id=T-1", "Task_ID: T-1", "task-id: T-1", "Task ID: T-1", '{"task_id":"T-1", "asked": "Who?"}'),
    ],
)
def test_context_is_read_from_lists_quotations_and_json(line: str) -> None:
    assert read_context([f"Please look:\n{line}\nthanks"]) == TurnContext("T-1")


@pytest.mark.parametrize(
    "line", ["my_task_id: T-1", "task_id: T-1 or T-2", "a task_id: T-1", "task_id: 'T-1 x'", "task_id:"]
)
def test_what_only_talks_of_a_task_is_no_context(line: str) -> None:
    assert read_context([f"{line}\n"]) == TurnContext()


DISPATCHES = (
    AddressedDispatch("install", "T-8", "planner"),
    AddressedDispatch("install", "T-9", "planner"),
    AddressedDispatch("arena", "T-9", "planner"),
)


@pytest.mark.parametrize(
    ("marker", "dispatches", "context", "outcome"),
    [
        (Marker("planner"), DISPATCHES, TurnContext("T-8"), Address("install", "T-8", "planner")),
        (Marker("planner"), DISPATCHES, TurnContext("T-9"), "ambiguous_task"),
        (Marker("planner"), DISPATCHES, TurnContext("T-9", "arena"), Address("arena", "T-9", "planner")),
        (Marker("planner", "T-9"), DISPATCHES, TurnContext(), "ambiguous_task"),
        (Marker("planner", "T-8"), DISPATCHES, TurnContext("T-9"), Address("install", "T-8", "planner")),
        (Marker("planner"), DISPATCHES, TurnContext("T-7"), "ambiguous_task"),
        (Marker("planner"), (), TurnContext("T-7", "install"), "missing_task_id"),
        (Marker("ghost", "T-1", "nowhere"), (), TurnContext(), "unknown_project"),
        (
            Marker("planner"),
            (
                AddressedDispatch("install", "T-1", "planner", is_open=False),
                AddressedDispatch("install", "T-2", "planner"),
            ),
            TurnContext("T-1"),
            "already_delivered",
        ),
        (
            Marker("reviewer", "T-1"),
            (AddressedDispatch("install", "T-1", "planner", reply_to="reviewer"),),
            TurnContext(),
            Address("install", "T-1", "reviewer"),
        ),
    ],
)
def test_a_handoff_is_chosen_only_when_no_other_could_be_meant(
    marker: Marker, dispatches: tuple[AddressedDispatch, ...], context: TurnContext, outcome: Address | str
) -> None:
    found = address(marker, dispatches, context=context, rosters=ROSTERS)
    assert (found.code if isinstance(found, Fault) else found) == outcome
