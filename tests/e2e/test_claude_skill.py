"""The real client offers an installed skill to the model and hands over its text; its transcript says which language to speak."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.domain.language import decide
from oracle.hook import skills
from oracle.hook.payload import read_operator
from tests.e2e import client as real
from tests.e2e.client import Client

pytestmark = [
    pytest.mark.claude_code,
    pytest.mark.skipif(bool(real.why_missing()), reason=real.why_missing() or "everything is there"),
]

CALL = {"tool_use": {"name": "Skill", "input": {"skill": "memory-oracle"}}}


def test_skill_reaches_the_model_and_is_not_taken_for_the_operator(tmp_path: Path):
    client = Client(tmp_path / "seat", [CALL, {"text": "好"}], settings={"permissions": {"allow": ["Skill"]}})
    skills.plan_install(str(client.workspace), tool="claude", seat="memory").apply()
    client.ask("我们选了哪种重试策略？请查一下记录")
    log = client.turns.with_name("turns.json.requests.jsonl")
    requests = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    offered = json.dumps(requests[0], ensure_ascii=False)
    assert "memory-oracle: The memory seat of a coding team." in offered
    assert client.has_been_told("Every value you state is one that you have just read")
    transcript = next(client.home.glob(".claude/projects/*/*.jsonl"))
    assert read_operator(str(transcript)) == ("我们选了哪种重试策略？请查一下记录",)
    assert decide(read_operator(str(transcript))).language == "zh"
