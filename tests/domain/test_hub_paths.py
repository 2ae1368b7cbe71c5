"""What leaves for a hub, what never does, and whose it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.delivery.receipts import receipt_name
from oracle.domain.hub.paths import ACKED, FileKind, handoff_path, parse
from oracle.domain.names import role_of

TAKEN = {
    "projects/a/decision/x.md": (FileKind.RECORD, "a", ""),
    "projects/a/notes.json": (FileKind.RECORD, "a", ""),
    "projects/a/memory/x.md": (FileKind.RECORD, "a", ""),
    "projects/a/builder/x.md": (FileKind.RECORD, "a", "builder"),
    "projects/a/builder-1/deep/My notes.md": (FileKind.RECORD, "a", "builder-1"),
    "projects/a/people/x.md": (FileKind.RECORD, "a", ""),
    "shared/patterns/p.json": (FileKind.RECORD, "", ""),
    "learnings/x.md": (FileKind.RECORD, "", ""),
    "responses/T-1.json": (FileKind.RESPONSE, "", ""),
    "tasks/a/patrol/handoffs/T__planner__memory.json": (FileKind.RECEIPT, "a", "planner"),
    "tasks/a/patrol/handoffs/T__planner__memory.json.claim": (FileKind.CLAIM, "a", "memory"),
    "tasks/a/patrol/handoffs/T__planner__memory.json.consumed": (FileKind.CONSUMED, "a", "planner"),
    "tasks/a/patrol/handoffs/T__memory__planner.json.acked": (FileKind.ACKED, "a", "planner"),
}
KEPT_HERE = """machine/privacy.md machine/network.json _state/hub.json _links/x.jsonl _backlinks/x.jsonl events.log index.json
config/sources.json projects/a/_index/files.json projects/a/dev_env.json projects/a/x.txt projects/a/.hidden.md projects/x.md
projects/a/builder/x.md.kept-0123 shared/.x.md shared/_state/x.md sources/a/b/x.md responses/T.conflict-0123456789ab.json
responses/T.superseded-0123456789ab.json responses/a/b.json responses/.new-1.json tasks/a/TASKS.md tasks/a/memory/TODO.md
tasks/a/patrol/handoffs/T__planner__memory.json.lock tasks/a/patrol/handoffs/T__planner__memory.json.claim.acked
tasks/a/patrol/handoffs/T__planner__memory.json.superseded-0123 tasks/a/patrol/handoffs/x.json workspaces/a/x.md""".split()
HOSTILE = [
    "", "/", "projects", "../projects/a/x.md", "projects/../machine/x.md", "projects/a/../../../x.md", "/projects/a/x.md",
    "projects//x.md", "projects/a/./x.md", "projects/a\0/x.md", "projects/a/x\n.md", "projects/-a/x.md", "projects/a b/x.md",
    "projects/a/" + "x" * 300 + ".md", "projects/a/" + "x/" * 600 + "x.md", "projects/a/\udcff.md", "responses/../x.json",
    "projects/a/\u202ex.md",
]  # fmt: skip


@pytest.mark.parametrize("path", TAKEN)
def test_what_a_hub_takes_has_one_kind_and_at_most_one_seat(path: str):
    found = parse(path)
    assert found is not None
    assert (found.kind, found.project, found.seat) == TAKEN[path]


@pytest.mark.parametrize("path", [*KEPT_HERE, *HOSTILE])
def test_nothing_else_leaves_or_arrives(path: str):
    assert parse(path) is None


_NAMES = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    [
        "..",
        ".",
        "",
        "machine",
        "_state",
        "projects",
        "tasks",
        "patrol",
        "handoffs",
        "memory",
        "x.md",
        "builder",
        "x.json",
    ]
)


@given(st.lists(_NAMES, max_size=7).map("/".join))
def test_no_path_of_any_shape_leaves_the_trees(path: str):
    found = parse(path)
    if found is not None:
        parts = path.split("/")
        assert parts[0] in ("projects", "shared", "learnings", "responses", "tasks")
        assert not any(part in ("", ".", "..") or part.startswith(".") or "\0" in part for part in parts)


_SEATS = st.sampled_from(["memory", "planner", "builder", "builder-2", "koder"])


@given(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,20}", fullmatch=True).filter(lambda one: ".." not in one),
    _SEATS,
    _SEATS,
)
def test_a_handoff_is_owned_by_who_writes_each_of_its_files(task: str, source: str, target: str):
    name = receipt_name(task, source, target)
    owners = {suffix: parse(handoff_path("a", name, suffix)) for suffix in ("", ".claim", ".consumed", ACKED)}
    assert {key: one and (one.seat, one.receipt) for key, one in owners.items()} == {
        "": (source, name), ".claim": (target, name), ".consumed": (source, name), ACKED: (target, name),
    }  # fmt: skip


@given(st.sampled_from(sorted(TAKEN)))
def test_only_seats_other_than_memory_own_folders(path: str):
    found = parse(path)
    assert found is not None
    if found.kind is FileKind.RECORD and found.seat:
        assert role_of(found.seat) not in ("", "memory")
