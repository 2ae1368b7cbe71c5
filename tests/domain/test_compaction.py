"""What leaves a memory's index, and when a planner is condensed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.delivery import compaction

INDEX = """# Memory

- [T-1.md](tasks/T-1.md) — ✅ MERGED 2026-04-27
  with a second line

  and a third after a gap
- T-2: ✅ PASS, all green
- T-3: ✅ PASS_NEEDS_INTEGRATION
- T-4: 🚀 in flight, ✅ Done in part
- T-5: ✅ archived → see MEMORY_ARCHIVE_2026_01.md, Done
- plain ✅Done已合并 2025-12-01
  - nested: ✅ Done

Prose: ✅ Done.
```
- T-6: ✅ Done
```
"""


def test_merged_bullets_leave_with_their_lines_and_nothing_else_does():
    after, merged = compaction.archive_merged(INDEX, period="2026_05")
    assert [(one.task_id, one.period) for one in merged] == [
        ("T-1", "2026_04"),
        ("T-2", "2026_05"),
        ("plain", "2025_12"),
    ]
    assert merged[0].block.endswith("  and a third after a gap")
    assert merged[2].block == "- plain ✅Done已合并 2025-12-01\n  - nested: ✅ Done"
    assert after == (
        "# Memory\n\n"
        "- T-1: ✅ archived → see MEMORY_ARCHIVE_2026_04.md\n"
        "- T-2: ✅ archived → see MEMORY_ARCHIVE_2026_05.md\n"
        "- T-3: ✅ PASS_NEEDS_INTEGRATION\n"
        "- T-4: 🚀 in flight, ✅ Done in part\n"
        "- T-5: ✅ archived → see MEMORY_ARCHIVE_2026_01.md, Done\n"
        "- plain: ✅ archived → see MEMORY_ARCHIVE_2025_12.md\n"
        "\nProse: ✅ Done.\n```\n- T-6: ✅ Done\n```\n"
    )


@given(
    st.lists(st.sampled_from([*INDEX.split("\n"), "", "## x", "\r", "- T-9: ✅ Done\r"]), max_size=30).map("\n".join)
)
def test_second_time_nothing_is_left_to_move_and_no_line_is_lost(text: str):
    after, merged = compaction.archive_merged(text, period="2026_05")
    assert compaction.archive_merged(after, period="2026_05") == (after, ())
    blocks = "\n".join(one.block for one in merged)
    kept = {line.rstrip("\r") for line in f"{after}\n{blocks}".split("\n")}
    assert {line.rstrip("\r") for line in text.split("\n")} <= kept


def test_archive_holds_an_entry_once():
    _, merged = compaction.archive_merged(INDEX, period="2026_05")
    once = compaction.add_to_archive("", merged, title="A")
    assert compaction.add_to_archive(once, merged, title="A") == once
    assert once.startswith("# A\n\n## T-1\n\n- [T-1.md]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so [memory: compact-me] now", True),
        ("[Memory: compact-me]", False),
        ("memory: compact-me", False),
        ("", False),
    ],
)
def test_marker(text: str, expected: bool):
    assert compaction.has_marker(text) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("a phase=CLOSED\nb phase=OPEN\nc phase=CLOSED", 2),
        ("phase=CLOSED\nmemory compacted planner\nphase=CLOSED", 1),
        ("compacted planner\nphase=CLOSED\ncompacted planner", 0),
    ],
)
def test_waves(text: str, count: int):
    assert compaction.waves_since(text) == count
