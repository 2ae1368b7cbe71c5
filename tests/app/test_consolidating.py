"""Snapshots of sessions, what of daily notes is worth remembering, and the import of a source."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.records.listing import list_records
from oracle.app.sources import consolidation, importing, registry
from oracle.app.sources.snapshots import snapshot
from oracle.domain.records.daily_notes import propose
from oracle.domain.sources.transcripts import read_turns
from oracle.errors import UsageError
from oracle.hook.prompt import answer
from tests.app.test_source_kinds import memories  # noqa: F401 -- a fixture
from tests.app.test_sources import TOKEN, found, put
from tests.laws.ledger import Clock, assert_like_rebuilt

ENVELOPE = '<oracle-context date="2026-11-29" version="1">\nThe quoll is old news.\n</oracle-context>'


def person(text: str, **more: object) -> dict[str, object]:
    return {"type": "user", "message": {"role": "user", "content": text}, **more}


def agent(text: str, **more: object) -> dict[str, object]:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}, {"type": "tool_use", "name": "x"}]
    return {"type": "assistant", "message": {"role": "assistant", "content": blocks}, **more}


def transcript(folder: Path, *lines: object) -> str:
    path = folder / "session.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


SESSION = (
    {"type": "system", "content": "x"},
    person("Why does the tapir deploy fail?"),
    agent("Let me look."),
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "content": "a secret tool result"}]},
    },
    agent(f"The token {TOKEN} had expired."),
    person("<system-reminder>not typed</system-reminder>"),
    person("A note of a subagent", isSidechain=True),
    person(f"{ENVELOPE}\nFrom now on rotate the token each month."),
    "not json",
    agent("# Done\n---\nIt is rotated."),
)


def test_a_snapshot_holds_what_people_and_the_agent_said_last(root: Path, tmp_path: Path) -> None:
    path = transcript(tmp_path, *SESSION)
    with Oracle.open(str(root)) as oracle:
        kept = snapshot(oracle, path, project="shop", seat="builder")
        day = oracle.stamp()[:10]
        assert kept.path == str(root / f"learnings/sessions/shop/{day}-why-does-the-tapir-deploy-fail.md")
        text = (root / kept.path).read_text()
        assert (kept.messages, kept.is_new) == (4, True)
        for absent in (TOKEN, "tool result", "Let me look", "subagent", "quoll", "system-reminder", "thinking"):
            assert absent not in text
        assert text.count("\n## ") == 4
        (record,) = list_records(oracle, {"project": "shop"})
        assert (record.kind, record.seat, record.title) == ("session", "builder", "why does the tapir deploy fail")
        assert found(oracle, "tapir deploy") == [record.slug]
        again = snapshot(oracle, path, project="shop", seat="builder")
        assert (again.path, again.is_new) == (kept.path, False)
        short = snapshot(oracle, path, project="shop", last=1)
        assert (short.messages, short.path.endswith(".md")) == (1, True)
        assert len(list_records(oracle, {"kind": "session"})) == 2
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize(
    "lines", [(), ("not json",), ({"type": "user"},), (agent(""),), (person("<command-name>/clear"),)]
)
def test_a_session_in_which_nobody_spoke_leaves_nothing(root: Path, tmp_path: Path, lines: tuple[object, ...]) -> None:
    with Oracle.open(str(root)) as oracle:
        assert snapshot(oracle, transcript(tmp_path, *lines), project="shop").path == ""
        with pytest.raises(UsageError):
            snapshot(oracle, str(tmp_path / "nowhere.jsonl"), project="shop")
    assert not (root / "learnings" / "sessions").exists()


def test_a_snapshot_without_words_is_named_by_the_time(root: Path, tmp_path: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        kept = snapshot(oracle, transcript(tmp_path, agent("Hello there.")), project="shop")
        stem = kept.path.rpartition("/")[2].removesuffix(".md")
        assert stem[11:].isdigit()
        assert len(stem) == len("2026-11-29-1430")


@pytest.mark.parametrize(
    "line", [b"5", b"[]", b'{"type": 5}', b'{"type": "user", "message": 5}', b"[" * 99_999, b"\xff"]
)
def test_odd_lines_of_a_transcript_are_skipped(line: bytes) -> None:
    assert [one.text for one in read_turns([line, json.dumps(person("hi")).encode(), line])] == ["hi"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- From now on deploy only from main.", "feedback"),
        ("以后都用中文回复我。", "feedback"),
        ("Lesson: the cache must be cleared first.", "feedback"),
        ("We decided to keep Postgres for billing.", "project"),
        ("Deadline: 2026-12-05 for the mobile release.", "project"),
        ("决定选用 Postgres 作为计费数据库。", "project"),
        ("Bugs are tracked in Linear, project INGEST.", "reference"),
        ("The dashboard is at grafana.example.org/d/api.", "reference"),
        ("I'm a data scientist and new to React.", "user"),
        ("我负责支付系统的后端。", "user"),
        ("Talked about A today.", ""),
        ("Should we always deploy from main?", ""),
        ("> From now on deploy only from main.", ""),
        ("## From now on deploy only from main", ""),
        ("always", ""),
        ("x" * 500 + " always", ""),
    ],
)
def test_what_is_durable_is_proposed(line: str, expected: str) -> None:
    assert [one.type for one in propose([line])] == ([expected] if expected else [])


def test_code_is_not_proposed() -> None:
    assert list(propose(["```", "# From now on deploy from main", "```"])) == []


def test_a_plan_is_reviewed_and_then_remembered(root: Path, tmp_path: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        workspace = tmp_path / "workspace"
        day = oracle.stamp()[:10]
        put(workspace, f"memory/{day}", "# Today\n\n- Bugs are tracked in Linear, project INGEST.\n- Had lunch.\n")
        put(workspace, "memory/2020-01-01", "- We decided to keep Postgres for billing.\n")
        registry.add(oracle, "openclaw", str(workspace), project="shop")
        snapshot(oracle, transcript(tmp_path, *SESSION), project="shop")
        items = consolidation.plan(oracle, days=7)
        assert {(item.type, item.text, item.accept) for item in items} == {
            ("reference", "Bugs are tracked in Linear, project INGEST.", False),
            ("feedback", "From now on rotate the token each month.", False),
        }
        (rule,) = [item for item in items if item.type == "feedback"]
        assert rule.missing == ("why", "how_to_apply")
        assert before_and_after(oracle) == 0
        plan = [{**item.as_json(), "accept": item.type == "reference"} for item in items]
        path = tmp_path / "plan.json"
        path.write_text(json.dumps({"items": plan}))
        (done,) = consolidation.apply(oracle, str(path))
        assert (before_and_after(oracle), done.reason) == (1, "")
        assert [item.type for item in consolidation.plan(oracle, days=7)] == ["feedback"]
        path.write_text(json.dumps({"items": [{**rule.as_json(), "accept": True}]}))
        (refused,) = consolidation.apply(oracle, str(path))
        assert (refused.record, "--why" in refused.reason) == ("", True)
        assert_like_rebuilt(oracle)


def before_and_after(oracle: Oracle) -> int:
    return sum(item.path.startswith("projects/") for item in list_records(oracle, {}))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"items": 5}', '{"items": [5]}'])
def test_what_is_no_plan_is_refused(root: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with Oracle.open(str(root)) as oracle, pytest.raises(UsageError):
        consolidation.apply(oracle, str(path))


def test_a_plan_is_written_when_it_is_time_and_remembers_nothing(root: Path, tmp_path: Path) -> None:
    clock = Clock(frozen_ns=time.time_ns())
    with Oracle.open(str(root), clock=clock) as oracle:
        snapshot(oracle, transcript(tmp_path, *SESSION), project="shop", seat="builder")
        before = {record.slug for record in list_records(oracle, {})}
        path = consolidation.write_plan(oracle, 3600)
        assert path.startswith(f"{oracle.root.plans}/")
        items = json.loads(Path(path).read_bytes())["items"]
        assert ["rotate the token" in item["text"] for item in items] == [True]
        assert [item["accept"] for item in items] == [False]
        assert consolidation.write_plan(oracle, 3600) == ""
        clock.advance(3700)
        assert consolidation.write_plan(oracle, 3600) not in ("", path)
        assert {record.slug for record in list_records(oracle, {})} == before


def test_a_source_is_imported_once(root: Path, memories: Path) -> None:  # noqa: F811
    put(memories, "plain", "A plain note on wallabies.\n")
    put(memories, "feedback_short", "---\nname: Short\ndescription: terse\ntype: feedback\n---\nBe terse.\n")
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "claude-code", str(memories), project="shop")
        dry = importing.import_source(oracle, "claude-code")
        assert before_and_after(oracle) == 0
        outcomes = {one.slug.rpartition("/")[2]: one.outcome for one in dry}
        assert outcomes == {
            "feedback_mocks": "new",
            "feedback_short": "left out",
            "plain": "new",
            "project_freeze": "left out",
            "user_role": "new",
        }
        done = importing.import_source(oracle, "claude-code", dry_run=False)
        assert [one.outcome for one in done] == [one.outcome for one in dry]
        assert before_and_after(oracle) == 3
        for one in done:
            if one.record:
                assert str(memories) in oracle.show(one.record).text
        again = importing.import_source(oracle, "claude-code", dry_run=False)
        assert {one.outcome for one in again} == {"already", "left out"}
        assert before_and_after(oracle) == 3
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize("event", ["SessionEnd", "PreCompact"])
def test_hooks_keep_the_end_of_a_session_once(root: Path, tmp_path: Path, event: str) -> None:
    payload = {"hook_event_name": event, "session_id": "s-1", "cwd": str(tmp_path), "reason": "clear"}
    payload["transcript_path"] = transcript(tmp_path, *SESSION)
    environ = {"ORACLE_PROJECT": "shop", "ORACLE_SEAT": "builder"}
    with Oracle.open(str(root)) as oracle:
        for _ in range(2):
            assert answer(oracle, json.dumps(payload).encode(), environ) == ""
    (kept,) = (root / "learnings").rglob("*.md")
    assert "tapir" in kept.read_text()
    assert TOKEN not in kept.read_text()
