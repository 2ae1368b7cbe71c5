"""A value on a page is the value that the command prints as JSON: both come from one use case."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from oracle.app.context import Context
from oracle.cli.main import run
from oracle.web.rooms import ROOMS, PageQuery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.app.squad import Squad

TWICE = "webhooks-retry-twice"


@pytest.fixture(scope="module")
def context(team: Squad) -> Iterator[Context]:
    with Context.open(str(team.path)) as opened:
        yield opened


@pytest.fixture
def command(team: Squad, capsys: pytest.CaptureFixture[str]) -> Any:
    """Give the JSON that a command prints."""

    def call(*words: str) -> Any:
        run([*words, "--json", "--memory-dir", str(team.path)])
        return json.loads(capsys.readouterr().out)

    return call


def shown(context: Context, path: str, **parameters: str) -> Any:
    return ROOMS[path](context, PageQuery(parameters)).shown


def plain(item: Any) -> Any:
    """Return a value as JSON has it, without what passes with the time."""
    if isinstance(item, dict):
        return {
            name: plain(one)
            for name, one in item.items()
            if name not in ("age_seconds", "verified_at", "moment", "seconds_left")
        }
    return [plain(one) for one in item] if isinstance(item, list | tuple) else item


def as_json(items: Any) -> Any:
    return plain(json.loads(json.dumps([item.as_json() for item in items])))


@pytest.mark.parametrize("words", ["webhooks", "SHOP-12", "缓存"])
@pytest.mark.parametrize("project", ["", "demo"])
def test_search(context: Context, command: Any, words: str, project: str):
    hits = shown(context, "/search", q=words, project=project)["hits"]
    wanted = command("search", words, "--explain", "--limit", "20", *(["--project", project] if project else []))
    assert as_json(hits) == [
        {name: one for name, one in item.items() if name != "signals"} for item in wanted["records"]
    ]
    signals = [{name: round(points, 3) for name, points in hit.parts} for hit in hits]
    assert signals == [item["signals"] for item in wanted["records"]]


@pytest.mark.parametrize("question", ["How often do webhooks retry?", "Who invented the umbrella?"])
def test_ask(context: Context, command: Any, question: str):
    reply = shown(context, "/ask", q=question)["reply"]
    wanted = plain(command("ask", "--now", question, "--no-synthesis"))
    (found,) = as_json([reply])
    assert found == {name: wanted[name] for name in found}


@pytest.mark.parametrize("name", [TWICE, "hostile", "webhooks-retry-five-times"])
def test_record(context: Context, command: Any, name: str):
    data = shown(context, "/record", name=name)
    assert as_json([data["shown"]]) == [command("show", name)]
    links = [(kind, target, line, bool(exists)) for kind, target, _, line, exists in data["links"]]
    wanted = command("show", name, "--links")["links"]
    assert links == [(one["type"], one["to"], one["line"], one["resolved"]) for one in wanted]
    backlinks = [(source, kind, line) for source, kind, _, line, *_ in data["backlinks"]]
    wanted = command("backlinks", data["shown"].record.slug)["backlinks"]
    assert backlinks == [(one["from"], one["type"], one["line"]) for one in wanted]


def test_entity(context: Context, command: Any):
    groups = shown(context, "/entity", name="SHOP-12")["groups"]
    found = sorted((row[0], row[1], row[3]) for _, rows in groups for row in rows)
    wanted = command("backlinks", "SHOP-12")["backlinks"]
    assert found == sorted((one["from"], one["type"], one["line"]) for one in wanted)


def test_graph(context: Context, command: Any):
    walk = shown(context, "/graph", name="SHOP-12", depth="2")["walk"]
    wanted = command("graph", "SHOP-12", "--depth", "2", "--direction", "both")
    assert [one["id"] if isinstance(one, dict) else one for one in wanted["nodes"]] == list(walk.nodes)
    found = [(one.source, one.target, one.type) for one in walk.edges]
    assert found == [(one["from"], one["to"], one["type"]) for one in wanted["edges"]]


def test_timeline(context: Context, command: Any):
    days = shown(context, "/timeline", project="demo")["days"]
    found = as_json([record for _, records in days for record in records])
    wanted = command("list", "--timeline", "--project", "demo")["records"]
    assert found[::-1] == [{name: content for name, content in one.items() if name != "chain"} for one in wanted]


def test_handoffs_and_their_story(context: Context, command: Any):
    items = shown(context, "/handoffs")["items"]
    assert as_json(items) == plain(command("handoffs")["handoffs"])
    story = shown(context, "/handoff", task="Q-1")["story"]
    assert as_json([story]) == [plain(command("handoffs", "show", "Q-1"))]


def test_now(context: Context, command: Any):
    now = shown(context, "/")["now"]
    listed = {one["task_id"]: one for one in plain(command("handoffs")["handoffs"])}
    assert as_json(now.handoffs) == [listed[item.handoff.task_id] for item in now.handoffs]
    overdue = command("index", "status")["overdue_decisions"]
    assert [one.decision_id for one in now.decisions] == [one["decision_id"] for one in overdue]


def test_doctor(context: Context, command: Any):
    checks = shown(context, "/doctor", run="yes")["checks"]
    assert [check.name for check in checks] == [one["name"] for one in command("doctor")["checks"]]
