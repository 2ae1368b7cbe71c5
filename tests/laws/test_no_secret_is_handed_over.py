"""A made-up credential in every field that one seat may hand to another: none is anywhere afterwards, on disk or printed.

The scanners' own sources are looked at in tests/scan/test_canary.py. What a seat writes into its own folder is its own matter.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.app.decisions.handover import send
from oracle.app.delivery.decision_log import DecisionEntry, append
from oracle.app.delivery.panes import Notice, notify
from oracle.app.teamwork import push
from oracle.app.teamwork.integration import integrate
from oracle.app.teamwork.peers import synthesise
from oracle.app.teamwork.push import Message
from oracle.app.teamwork.workflow import create_task
from oracle.domain.records.drafts import Draft, Evidence
from oracle.errors import OracleError
from tests.app.squad import Squad
from tests.app.test_decisions import payload
from tests.cli import transcript
from tests.mcp.clients import call
from tests.scan.made_up import Fakes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POLICIES = ("refuse", "redact")


@pytest.fixture
def squad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Squad:
    made = Squad(tmp_path)
    made.oracle.init()
    monkeypatch.setenv("ORACLE_ROOT", str(made.path))
    monkeypatch.setenv("HOME", str(made.home))
    return made


def hand_over(squad: Squad, fake: Fakes, policy: str) -> Iterator[Callable[[], object]]:
    """Yield each way to hand something over, a credential of its own in every field that takes words."""
    said = {name: fake(f"{policy}-{name}") for name in "objective title notes user_summary".split()}
    yield lambda: squad.ask("Q-1", secrets=policy, **said, skill_refs=(fake("ref"),), queue={"finding_id": fake("id")})
    answer = {"answer": fake("answer"), "sources": [fake("source")], "api_key": fake.opaque("key"), fake("as-key"): 1}
    claims = [{"statement": fake("claim"), "evidence": [{"path": "a.md", "quote": fake("quote")}]}]
    yield lambda: squad.ask(fake("task-of-order"), secrets=policy)
    yield lambda: squad.deliver(fake("task-of-answer"), secrets=policy)
    yield lambda: squad.complete(fake("task-of-completion"), secrets=policy, target="planner")
    yield lambda: squad.ask("Q-2")
    yield lambda: squad.deliver("Q-2", secrets=policy, response={**answer, "claims": claims}, summary=fake("summary"))
    yield lambda: squad.ask("T-1", target="builder", kind="task", stacks=True)
    words = {name: fake(f"{policy}-{name}") for name in ("title", "summary", "user_summary", "next_action")}
    yield lambda: squad.complete("T-1", secrets=policy, fields={"pr_number": fake("pr")}, **words)
    draft = Draft(
        *("finding", "demo", fake("t"), fake("b")),
        evidence=(Evidence("high", fake("e"), fake("q")),),
        author=fake("a"),
        extra={"deep": {"list": [fake("x")]}},
    )
    yield lambda: squad.oracle.write(draft, secrets=policy)
    yield lambda: append(
        squad.oracle, DecisionEntry("demo", "T-1", fake("entry"), fake("detail"), reason=fake("reason"))
    )
    yield lambda: notify(squad.oracle, Notice("demo", "planner", "builder", fake("notice"), task_id="T-1"))
    yield lambda: send(squad.oracle, payload(context=fake("context")))
    yield lambda: push.send(squad.oracle, Message(fake("push"), "demo"))
    yield lambda: synthesise(squad.oracle, "demo", "north", summary=fake("peer"))
    yield lambda: integrate(squad.oracle, "demo", "T-1", lane="heavy", reason=fake("lane"))
    yield lambda: create_task(squad.oracle, "demo", fake("task"))
    yield lambda: call(squad.path, "dispatch", target="builder", objective=fake("mcp"), project="demo", kind="task")
    yield lambda: call(squad.path, "deliver", task_id="Q-3", target="planner", response={"answer": fake("mcp-d")})
    yield lambda: call(squad.path, "write_record", kind="decision", title="t", body=fake("mcp-write"), project="demo")


def printed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    """Return what the doors print of all that was handed over, errors with their sentences."""
    said = []
    for line in (
        "handoffs",
        "handoffs show Q-2",
        "log --limit 0",
        "list",
        "search ghp",
        "status",
        "doctor",
        "resume",
        "unresolved",
    ):
        for more in ((), ("--json",)):
            code, out, err = transcript.call([*line.split(), *more], monkeypatch)
            assert code != 70, err
            said += [out, err]
    return "".join((*said, *capfd.readouterr()))


def holding(root: Path, value: str) -> list[str]:
    files = [path for path in root.rglob("*") if path.is_file()]
    return [str(path) for path in files if value in path.name or value.encode() in path.read_bytes()]


@pytest.mark.parametrize("policy", POLICIES)
def test_no_secret_is_on_disk_or_printed_or_told(
    squad: Squad, policy: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fake = Fakes()
    peer = squad.tasks / "peer-deliveries" / "north"
    peer.mkdir(parents=True)
    (peer / "DELIVERY.md").write_text("task_id: T-7\n\nDone.\n", encoding="utf-8")
    told: list[str] = []
    for way in hand_over(squad, fake, policy):
        with contextlib.suppress(OracleError):
            told.append(_told(way()))
            continue
        told.append("")
    said = printed(monkeypatch, capfd)
    assert len(fake.values) > 30
    assert len(said) > 3000
    assert [value for value in fake.values if value in said or any(value in one for one in told)] == []
    assert [place for value in fake.values for place in holding(squad.home.parent, value)] == []
    assert not any(value in line for value in fake.values for line in (*squad.recorder.lines(), *squad.warnings))


def _told(result: Any) -> str:
    return (
        result.whole
        if hasattr(result, "whole")
        else json.dumps(result, default=lambda item: str(getattr(item, "as_json", dict)()))
    )


def test_what_is_let_through_by_who_knows_is_found_by_the_same_look(squad: Squad) -> None:
    value = Fakes()("answer")
    squad.ask("Q-2")
    squad.deliver("Q-2", answer=value, secrets="allow")
    assert "/".join(holding(squad.home.parent, value)[0].rsplit("/", 2)[1:]) == "responses/Q-2.json"
