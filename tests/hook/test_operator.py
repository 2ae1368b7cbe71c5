"""What a person typed, told apart from what the client puts into a transcript in their name."""

from __future__ import annotations

import json
from pathlib import Path

from oracle.hook.payload import read_operator


def user(content: object, **more: object) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": content}, **more}, ensure_ascii=False)


def test_only_what_was_typed_counts(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    lines = [
        json.dumps({"type": "queue-operation"}),
        user("请部署"),
        "{broken",
        user([{"type": "tool_result", "content": "a result"}]),
        user("Base directory for this skill", isMeta=True),
        user("a helper's", isSidechain=True),
        user("This session continues", isCompactSummary=True),
        user("<task-notification>done</task-notification>"),
        user([{"type": "text", "text": "[Request interrupted by user]"}]),
        user([{"type": "text", "text": "再看\u2028日志"}, {"type": "image"}]),
        json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "an answer"}]}}),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert read_operator(str(path)) == ("请部署", "再看\u2028日志")


def test_results_of_tools_do_not_push_it_out(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    noise = user([{"type": "tool_result", "content": "x" * 1_000_000}])
    path.write_text("\n".join([user("请部署"), *[noise] * 3]), encoding="utf-8")
    assert read_operator(str(path)) == ("请部署",)


def test_transcript_that_is_not_there_says_nothing(tmp_path: Path):
    assert read_operator(str(tmp_path / "absent")) == ()
