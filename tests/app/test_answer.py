"""Answers from disk: verbatim, current, side by side where records differ, and none where memory does not know."""

from __future__ import annotations

import json
import os
import zlib
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.app import claims
from oracle.app.answers import answer as answering
from oracle.app.answers import choosing, quotes
from oracle.app.answers.question import names_in
from oracle.app.answers.reply import Reply
from oracle.app.codebase import stale_names
from oracle.app.memories.packets import route
from oracle.domain.records.drafts import Draft
from oracle.domain.records.packets import Request
from oracle.errors import InvalidName, UsageError
from tests.app.gitbox import GitBox
from tests.mcp.clients import call
from tests.test_corpora import SHARED, lay_out

BUILDER = "projects/arena/builder"
RETRY = "Webhooks are retried five times with exponential backoff, then parked in the dead letter queue."


def put(root: Path, name: str, text: str) -> Path:
    path = root / (name if name.endswith(".json") else f"{name}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def fill(root: Path) -> None:
    """Write records about other things, so that words weigh differently."""
    topics = (
        "lunch menu",
        "printer paper",
        "office plants",
        "team photo",
        "parking permits",
        "coffee beans",
        "old badges",
    )
    for number, topic in enumerate(topics):
        put(root, f"{BUILDER}/note-{number}", f"# About {topic}\n\nWe talked about {topic} and when to order more.\n")


@pytest.fixture
def oracle(root: Path) -> Oracle:
    fill(root)
    put(
        root,
        f"{BUILDER}/retry",
        f"---\nts: 2026-03-01T10:00:00Z\nkind: decision\nstatus: open\n---\n# Retries\n\n{RETRY}\n",
    )
    return Oracle.open(str(root))


def assert_verbatim(root: Path, reply: Reply) -> None:
    for item in reply.claims:
        lines = (root / item.quote.path).read_bytes().decode("utf-8-sig", "replace")
        first, last = item.quote.lines
        if not item.quote.place:
            there = lines.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            assert item.quote.text in "\n".join(there[first - 1 : last])


# What an answer is ----------------------------------------------------------------------------------------------------


def test_an_answer_is_the_records_own_words(root: Path, oracle: Oracle) -> None:
    reply = oracle.answer("How often are webhooks retried?")
    (claim,) = reply.claims
    assert (reply.status, claim.handle) == ("answered", "f1")
    assert claim.quote.text == RETRY
    assert claim.quote.lines == (8, 8)
    item = claim.as_json()
    assert {key: item[key] for key in ("slug", "seat", "kind", "status", "ts", "project")} == {
        "slug": f"{BUILDER}/retry",
        "seat": "builder",
        "kind": "decision",
        "status": "open",
        "ts": "2026-03-01T10:00:00.000000Z",
        "project": "arena",
    }
    assert str(item["verified_at"]) > str(item["ts"])
    assert reply.answer == f"[f1] {RETRY}"


def test_an_answer_can_be_delivered(root: Path, oracle: Oracle) -> None:
    put(root, "machine/network.json", json.dumps({"proxy": {"host": "10.0.0.7"}}))
    put(
        root,
        f"{BUILDER}/old.json",
        json.dumps({"title": "Dead letters", "body": "The dead letter queue\nis drained weekly."}),
    )
    kinds = set()
    for question in (
        "What is network.proxy.host?",
        "How often are webhooks retried?",
        "Is the dead letter queue drained weekly?",
    ):
        reply = oracle.answer(question)
        kinds |= {"fact" for _ in reply.facts} | {item.record.path.rpartition(".")[2] for item in reply.claims}
        checked = claims.verify(oracle.root, "", json.loads(json.dumps(reply.as_json())))
        assert checked.all_verified is True
        assert checked.count == len(reply.claims) + len(reply.facts)
    assert kinds == {"fact", "md", "json"}


def test_the_same_question_gets_the_same_answer(root: Path, oracle: Oracle) -> None:
    for number in range(4):
        put(root, f"{BUILDER}/twin-{number}", f"# Twin\n\n{RETRY}\n")
    texts = {json.dumps(oracle.answer("webhooks retried?").as_json()["answer"]) for _ in range(3)}
    with Oracle.open(str(root)) as again:
        again.reconcile(rebuild=True)
        texts.add(json.dumps(again.answer("webhooks retried?").as_json()["answer"]))
    assert len(texts) == 1


def test_what_several_records_say_word_for_word_is_quoted_once(root: Path, oracle: Oracle) -> None:
    put(root, f"{BUILDER}/twin", f"---\nts: 2026-03-02T10:00:00Z\n---\n# Retries\n\n{RETRY}\n")
    (claim,) = oracle.answer("How often are webhooks retried?").claims
    assert (claim.record.slug, claim.said_in) == (f"{BUILDER}/twin", (f"{BUILDER}/retry",))
    assert claim.as_json()["said_in"] == [f"{BUILDER}/retry"]


def test_a_heading_brings_what_it_stands_over(root: Path, oracle: Oracle) -> None:
    put(root, f"{BUILDER}/zebra", "# Zebra protocol handshake\n\nThe third packet carries the key.\n")
    (claim,) = oracle.answer("zebra protocol handshake").claims
    assert claim.quote.text.endswith("The third packet carries the key.")
    source = quotes.open_source(oracle, claim.record)
    assert source is not None
    quote = quotes.quote_lines(source, 1, 1, "# Zebra protocol handshake")
    assert quote is not None
    assert (quote.lines, quote.text) == ((1, 3), "# Zebra protocol handshake\n\nThe third packet carries the key.")


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_lines_of_other_ends_are_counted_alike(root: Path, oracle: Oracle, ends: str) -> None:
    path = root / f"{BUILDER}/zebra.md"
    path.write_bytes(ends.join(["# Zebra", "", "The zebra handshake takes", "three packets.", ""]).encode())
    (claim,) = oracle.answer("zebra handshake packets", fresh=True).claims
    assert (claim.quote.text, claim.quote.lines) == ("The zebra handshake takes\nthree packets.", (3, 4))


def test_chinese(root: Path, oracle: Oracle) -> None:
    put(root, f"{BUILDER}/zh", "# 写锁\n\n整个根目录只有一把写锁，由持有者写明进程号。\n")
    put(root, f"{BUILDER}/zh2", "# 午饭\n\n今天中午吃面条，明天吃饺子。\n")
    reply = oracle.answer("写锁有几把？谁写明进程号？")
    assert [item.record.slug for item in reply.claims] == [f"{BUILDER}/zh"]
    assert oracle.answer("数据仓库为什么选 Snowflake？").status == "not_in_memory_db"


# What no longer holds, what contradicts -------------------------------------------------------------------------------


def test_a_superseded_record_is_named_and_not_quoted(root: Path, oracle: Oracle) -> None:
    put(
        root,
        f"{BUILDER}/new",
        f"---\nsupersedes: {BUILDER}/retry\n---\n# Attempts of webhooks\n\nWebhooks are retried no more.\n",
    )
    reply = oracle.answer("How often are webhooks retried with exponential backoff?")
    assert [item.record.slug for item in reply.claims] == [f"{BUILDER}/new"]
    assert reply.claims[0].stands_for == (f"{BUILDER}/retry",)
    assert [(item.record.slug, item.by) for item in reply.replaced] == [(f"{BUILDER}/retry", (f"{BUILDER}/new",))]
    assert RETRY not in reply.answer


@pytest.mark.parametrize("relation", ["supersedes", "retires"])
@pytest.mark.parametrize("place", ["projects/arena/builder/new", "projects/arena/decision/2026-05-01T10-00-00Z-new"])
def test_what_replaced_a_record_is_named_but_not_quoted_below_the_threshold(
    root: Path, oracle: Oracle, place: str, relation: str
) -> None:
    put(root, place, f"---\nts: 2026-05-01T10:00:00Z\n{relation}: {BUILDER}/retry\n---\n# Zebra\n\nStriped.\n")
    reply = oracle.answer("How often are webhooks retried with exponential backoff?", fresh=True)
    assert (reply.status, reply.claims) == ("not_in_memory_db", ())
    assert [item.by for item in reply.replaced] == [(place,)]
    assert f"{BUILDER}/retry, replaced by {place}" in reply.reason


def test_a_chain_is_followed_to_its_end(root: Path, oracle: Oracle) -> None:
    put(root, f"{BUILDER}/b", f"---\nsupersedes: {BUILDER}/retry\n---\nTwo attempts.\n")
    put(root, f"{BUILDER}/c", f"---\nsupersedes: {BUILDER}/b\n---\nWebhooks are retried thrice, with backoff.\n")
    reply = oracle.answer("webhooks retried exponential backoff dead letter")
    assert reply.claims[0].quote.text == "Webhooks are retried thrice, with backoff."
    assert reply.replaced[0].by == (f"{BUILDER}/b", f"{BUILDER}/c")


def test_what_was_retired_without_a_successor_is_no_answer(root: Path, oracle: Oracle) -> None:
    put(root, f"{BUILDER}/retry", f"---\nstatus: superseded\n---\n{RETRY}\n")
    reply = oracle.answer("How often are webhooks retried with exponential backoff?", fresh=True)
    assert reply.status == "not_in_memory_db"
    assert "no longer holds" in reply.reason
    assert f"{BUILDER}/retry" in reply.reason


def test_the_note_that_retires_a_record_stands_for_nothing_but_itself(root: Path, oracle: Oracle) -> None:
    """It holds the title of what it retires, and nothing of what that said."""
    put(root, f"{BUILDER}/hooks", "---\ntitle: Attempts of webhooks\n---\nAttempts of webhooks are doubled.\n")
    oracle.retire(f"{BUILDER}/hooks", "The queue does it.")
    reply = oracle.answer("Attempts of webhooks doubled")
    assert reply.status == "not_in_memory_db"
    assert f"{BUILDER}/hooks" in reply.reason
    asked = oracle.answer("Why were the attempts of webhooks retired?")
    assert any("The queue does it." in item.quote.text for item in asked.claims)


def test_what_a_refresh_puts_in_the_place_of_a_memory_answers_for_it(root: Path, oracle: Oracle) -> None:
    """The note that retires the memory supports the new one; it is no answer itself."""
    put(root, f"{BUILDER}/hooks", "---\ntitle: Attempts of webhooks\n---\nAttempts of webhooks are doubled.\n")
    put(root, f"{BUILDER}/queue", "---\ntitle: The queue\n---\nThe queue holds attempts of webhooks.\n")
    note = f"retires: {BUILDER}/hooks\nsupports: {BUILDER}/queue\ntitle: Retire Attempts of webhooks"
    put(root, "projects/arena/decision/2026-05-01T10-00-00Z-note", f"---\n{note}\n---\nIt changed.\n")
    reply = oracle.answer("Attempts of webhooks doubled", fresh=True)
    assert [(item.record.slug, item.stands_for) for item in reply.claims] == [
        (f"{BUILDER}/queue", (f"{BUILDER}/hooks",))
    ]


OLD = "projects/arena/builder/retry"
ELSEWHERE = {
    "memory of another project": "projects/beta/decision/2026-05-01T10-00-00Z-new",
    "the same seat of another project": "projects/beta/builder/new",
    "another seat of the project": "projects/arena/planner/new",
    "memory of the project": "projects/arena/decision/2026-05-01T10-00-00Z-new",
}


@pytest.mark.parametrize("relation", ["supersedes", "retires", "contradicts"])
@pytest.mark.parametrize("place", ELSEWHERE)
def test_what_ends_a_record_from_elsewhere_passes_the_same_filters(
    root: Path, oracle: Oracle, place: str, relation: str
) -> None:
    """Asked by way of each door: what a filter leaves out is quoted by none, though it replaces what was found."""
    new = ELSEWHERE[place]
    put(root, new, f"---\nts: 2026-05-01T10:00:00Z\n{relation}: {OLD}\n---\n# Zebra\n\nThe zebra is striped.\n")
    question = "How often are webhooks retried with exponential backoff?"
    ends = "decision" in new and relation != "contradicts"
    for wanted in ({"project": "arena"}, {"seat": "builder"}, {"project": "arena", "seat": "builder"}, {}):
        reply = oracle.answer(question, **wanted, fresh=True)
        passes = all(f"/{text}/" in new.replace("decision", "memory") for text in wanted.values())
        is_near = "arena" in new
        quoted = {item.record.slug for item in reply.claims}
        assert quoted <= ({OLD, new} if passes and is_near else {OLD}), wanted
        assert (OLD in quoted) is not ends
        assert {hit.record.slug for hit in oracle.search(question, wanted)} <= {OLD, *([new] if passes else [])}
        assert (new in {record.slug for record in oracle.records(wanted)}) is passes
        told = call(root, "ask", question=question, **wanted)
        assert ("striped" in told.text) is (new in quoted)
        listed = call(root, "list_records", **wanted).data["records"]
        assert (new in {item["slug"] for item in listed}) is passes
        routed = route(oracle, Request(question, "planner", project=wanted.get("project", "")))
        chosen = {choice.memory.id for choice in routed.packet.selected}
        assert "beta" not in " ".join(chosen) or "project" not in wanted
        assert not (ends and OLD in chosen)
    shown = oracle.show(OLD)
    assert bool(shown.chain) is ends
    assert bool(shown.claims) is (not ends and relation != "contradicts")


@pytest.mark.parametrize("wanted", [{}, {"project": "beta"}, {"seat": "memory"}])
def test_a_successor_from_elsewhere_that_was_found_itself_is_quoted(
    root: Path, oracle: Oracle, wanted: dict[str, str]
) -> None:
    new = ELSEWHERE["memory of another project"]
    text = "Webhooks are retried twice with exponential backoff."
    put(root, new, f"---\nts: 2026-05-01T10:00:00Z\nsupersedes: {OLD}\n---\n{text}\n")
    (claim,) = oracle.answer("How often are webhooks retried with exponential backoff?", **wanted, fresh=True).claims
    assert (claim.record.slug, claim.quote.text) == (new, text)


@pytest.mark.parametrize("newer_says", [True, False])
def test_contradicting_records_stand_side_by_side(root: Path, oracle: Oracle, *, newer_says: bool) -> None:
    """Whichever of the two was found, and whichever states the contradiction."""
    other = "# Hooks\n\nNothing is attempted twice.\n"
    if newer_says:
        other = f"---\ncontradicts: {BUILDER}/retry\n---\n{other}"
    else:
        text = (root / f"{BUILDER}/retry.md").read_text()
        put(root, f"{BUILDER}/retry", text.replace("kind:", f"contradicts: {BUILDER}/other\nkind:"))
    put(root, f"{BUILDER}/other", other)
    reply = oracle.answer("How often are webhooks retried with backoff?", fresh=True)
    found = {item.record.slug: (item.handle, item.contradicts) for item in reply.claims}
    assert found == {f"{BUILDER}/retry": ("f1", ("f2",)), f"{BUILDER}/other": ("f2", ("f1",))}
    assert reply.confidence != "high"


# Facts ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def machine(root: Path) -> Path:
    content = {"proxy": {"host": "10.0.0.7", "ports": [80, 443]}, "DnsServers": ["1.1.1.1"], "a.b": {"c": 1}}
    put(root, "machine/network.json", json.dumps(content))
    put(
        root,
        "machine/credentials.json",
        json.dumps(
            {"keys": {"ACME_API_KEY": {"value": "s3cr3t-value", "source": ".env"}}, "acme": {"value": "s3cr3t-2"}}
        ),
    )
    put(root, "projects/arena/dev_env.json", json.dumps({"python": {"version": "3.12"}}))
    put(root, f"{BUILDER}/x", "x")
    return root


@pytest.mark.parametrize(
    ("question", "key", "value"),
    [
        ("What is network.proxy.host?", "network.proxy.host", "10.0.0.7"),
        ("network.proxy.ports.1 please", "network.proxy.ports.1", 443),
        ("network.a.b.c", "network.a.b.c", 1),
        ("Which host is the network proxy?", "network.proxy.host", "10.0.0.7"),
        ("What are the dns servers of the network?", "network.DnsServers", ["1.1.1.1"]),
        ("dev_env.python.version", "dev_env.python.version", "3.12"),
        ("which python version in the dev env", "dev_env.python.version", "3.12"),
    ],
)
def test_facts_are_answered_by_key(machine: Path, question: str, key: str, value: object) -> None:
    with Oracle.open(str(machine)) as oracle:
        (fact,) = oracle.answer(question, project="arena").facts
        assert (fact.key, fact.value) == (key, value)
        (item,) = fact.as_json()["evidence"]
        assert item["file"] == ("projects/arena/dev_env.json" if key.startswith("dev") else "machine/network.json")
        assert claims.verify(oracle.root, "", {"claims": [fact.as_json()]}).all_verified is True


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("credentials.keys.ACME_API_KEY.value", "ACME_API_KEY"),
        ("what is the value of keys ACME_API_KEY in credentials", "ACME_API_KEY"),
        ("credentials.acme.value", "acme"),
    ],
)
def test_a_credential_is_never_told(machine: Path, question: str, name: str) -> None:
    with Oracle.open(str(machine)) as oracle:
        reply = oracle.answer(question)
        assert "s3cr3t" not in json.dumps(reply.as_json())
        assert any(name in fact.key and fact.is_hidden for fact in reply.facts)


def test_where_a_credential_lies_is_told(machine: Path) -> None:
    with Oracle.open(str(machine)) as oracle:
        (fact,) = oracle.answer("credentials.keys.ACME_API_KEY.source").facts
        assert fact.value == ".env"


@pytest.mark.parametrize(
    "question", ["network.nothing.here", "Which colour is the proxy of the moon base network host garden?"]
)
def test_no_such_fact(machine: Path, question: str) -> None:
    with Oracle.open(str(machine)) as oracle:
        assert oracle.answer(question).facts == ()


@pytest.mark.parametrize(
    "question", ["dev_env.python.version", "which python version in the dev env", "Dev env 用哪个 Python 版本？"]
)
def test_facts_of_all_projects_stand_side_by_side(machine: Path, question: str) -> None:
    put(machine, "projects/blog/dev_env.json", json.dumps({"python": {"version": "3.11"}}))
    with Oracle.open(str(machine)) as oracle:
        reply = oracle.answer(question)
        told = [(fact.handle, fact.as_json()["project"], fact.path, fact.value) for fact in reply.facts]
        assert told == [
            ("f1", "arena", "projects/arena/dev_env.json", "3.12"),
            ("f2", "blog", "projects/blog/dev_env.json", "3.11"),
        ]
        assert [fact.value for fact in oracle.answer(question, project="blog").facts] == ["3.11"]
        assert claims.verify(oracle.root, "", {"claims": [fact.as_json() for fact in reply.facts]}).all_verified is True


def test_the_facts_of_a_scan_are_no_passages(root: Path, oracle: Oracle) -> None:
    put(root, f"{BUILDER}/it", "# Zanzibar\n\nThe zanzibar client reads package.json.\n")
    for kind in ("runtime", "structure", "dev_env"):
        content = {"schema_version": 1, "kind": kind, "title": f"Zanzibar {kind}", "data": {"files": ["package.json"]}}
        put(root, f"projects/arena/{kind}.json", json.dumps({**content, "source": "scanner"}))
    for text in ("zanzibar", "runtime", "the structure of zanzibar", "package.json"):
        assert {hit.record.slug for hit in oracle.search(text)} <= {f"{BUILDER}/it"}, text
        assert {item.record.slug for item in oracle.answer(text).claims} <= {f"{BUILDER}/it"}, text
    assert {record.kind for record in oracle.records({"project": "arena"})} >= {"runtime", "structure", "dev_env"}
    routed = route(oracle, Request("zanzibar structure", "planner", project="arena"))
    assert not any(choice.memory.id.count("/") == 2 for choice in routed.packet.selected)


@pytest.mark.parametrize("question", ["python version", "项目用哪个 Python 版本？", "which versions of Python"])
def test_a_fact_is_found_by_the_words_of_its_key(root: Path, question: str) -> None:
    put(root, "projects/arena/runtime.json", json.dumps({"data": {"versions": {"python": "3.12"}}}))
    put(root, f"{BUILDER}/x", "x")
    with Oracle.open(str(root)) as oracle:
        (fact,) = oracle.answer(question).facts
        assert (fact.key, fact.value) == ("runtime.data.versions.python", "3.12")
        assert oracle.answer("项目用哪个 Python 蓝牙？").facts == ()


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("What is the primary language?", ["box.primary_language"]),
        ("max_retries", ["box.deploy.max_retries"]),
        ("Which target host?", ["box.deploy.target_host"]),
        ("host", []),
        ("Which language?", []),
        ("Which primary language do the zebras speak?", []),
    ],
)
def test_a_key_of_two_words_is_found_by_these_alone(tmp_path: Path, question: str, keys: list[str]) -> None:
    content = {"primary_language": "Python", "deploy": {"target_host": "web-1", "max_retries": 5}, "host": "web-2"}
    put(tmp_path, "machine/box.json", json.dumps(content))
    put(tmp_path, f"{BUILDER}/x", "x")
    with Oracle.open(str(tmp_path)) as oracle:
        assert [fact.key for fact in oracle.answer(question).facts] == keys


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("What is the primary language of pole-star?", ["projects/pole-star/stack.json"]),
        ("which primary language does the arena have", ["projects/arena/stack.json"]),
        ("primary language of zebra", []),
        ("language of the arena", []),
    ],
)
def test_a_question_may_say_of_which_project_it_asks(tmp_path: Path, question: str, paths: list[str]) -> None:
    for project in ("arena", "pole-star"):
        put(tmp_path, f"projects/{project}/stack.json", json.dumps({"primary_language": "Rust"}))
    put(tmp_path, f"{BUILDER}/x", "x")
    with Oracle.open(str(tmp_path)) as oracle:
        assert [fact.path for fact in oracle.answer(question).facts] == paths


def test_facts_are_no_other_seats(machine: Path) -> None:
    with Oracle.open(str(machine)) as oracle:
        assert oracle.answer("network.proxy.host", seat="builder").facts == ()
        assert len(oracle.answer("network.proxy.host", seat="memory").facts) == 1


# No answer ------------------------------------------------------------------------------------------------------------


def test_a_name_that_no_record_holds_is_not_answered(root: Path, oracle: Oracle) -> None:
    reply = oracle.answer("Are webhooks retried with exponential backoff by Kafka?")
    assert (reply.status, reply.unknown) == ("not_in_memory_db", ("Kafka",))
    assert reply.nearest[0].record.slug == f"{BUILDER}/retry"
    assert "8 records and the facts were searched" in reply.reason


@pytest.mark.parametrize(("said", "asked"), [*permutations(("RetryBudget", "retry budget", "retry_budget"), 2)])
def test_an_identifier_and_its_words_are_one_name(tmp_path: Path, said: str, asked: str) -> None:
    put(tmp_path, "projects/p/builder/a", f"# Orders\n\nThe {said} allows five tries.\n")
    put(tmp_path, "projects/p/builder/b", "# Tries\n\nA try takes a second.\n")
    with Oracle.open(str(tmp_path)) as oracle:
        reply = oracle.answer(f"How many tries does the {asked} allow?")
        assert reply.unknown == ()
        assert {item.record.slug for item in reply.claims} >= {"projects/p/builder/a"}
        assert oracle.answer("How many tries does the RetryQuota allow?").unknown == ("RetryQuota",)


@pytest.mark.parametrize(
    ("asked", "unknown"),
    [
        ("What does RETRY_BUDGET do?", ("RETRY_BUDGET",)),
        ("What are RETRY_BUDGET and Kafka?", ("RETRY_BUDGET", "Kafka")),
        ("What is BUDGET for Kafka?", ("BUDGET", "Kafka")),
    ],
)
def test_an_identifier_that_no_record_holds_is_one_name(oracle: Oracle, asked: str, unknown: tuple[str, ...]) -> None:
    assert oracle.answer(asked).unknown == unknown


def test_the_name_of_a_file_is_no_name_that_no_record_holds(root: Path, oracle: Oracle) -> None:
    put(root, f"{BUILDER}/Snorkel Policy.md", "# Another\n\nWe pay for retries.\n")
    reply = oracle.answer("Who wrote the Snorkel Policy?", fresh=True)
    assert reply.status == "not_in_memory_db"
    assert reply.unknown == ()
    assert oracle.answer("Who wrote the Snorkel Rules?").unknown == ("Rules",)
    assert oracle.answer("Who wrote the Snork Policy?").unknown == ("Snork",)


def test_what_is_true_of_another_name_is_no_answer(tmp_path: Path) -> None:
    put(
        tmp_path,
        "projects/p/builder/a",
        "# Ports\n\nThe default port of DolphinScheduler is 12345, of its API 25333.\n",
    )
    put(tmp_path, "projects/p/builder/b", "# Connectors\n\nSeaTunnel reads from JDBC.\n")
    with Oracle.open(str(tmp_path)) as oracle:
        reply = oracle.answer("What is the default port of SeaTunnel?")
        assert reply.status != "answered"
        assert all(claim.record.slug == "projects/p/builder/b" for claim in reply.claims)
        assert oracle.answer("SeaTunnel 的默认端口 default port 是多少？").status != "answered"
        (claim,) = oracle.answer("What is the default port of the DolphinScheduler API?").claims
        assert claim.record.slug == "projects/p/builder/a"


MARKED = [
    "retry_count",
    "Node.js",
    "MAX_RETRY_COUNT",
    "a.b.c",
    "--dry-run",
    "C++",
    "user.email",
    "v1.2",
    "std::vector",
    "I/O",
]
PLACES = {
    "title": "---\ntitle: {} is ignored\n---\n\nThe runner drops it.\n",
    "heading": "# Notes\n\nOf the runner.\n\n## {} is ignored\n\nThe runner drops it.\n",
    "heading of the record": "# {} is ignored\n\nThe runner drops it.\n",
    "body": "# Notes\n\nThe runner drops it: {} is ignored.\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("word", MARKED)
def test_a_word_with_a_mark_counts_wherever_it_is(root: Path, place: str, word: str) -> None:
    """Other records have its parts, so that these say little."""
    for number in range(8):
        put(
            root, f"{BUILDER}/other-{number}", f"# Note {number}\n\nWe retry a count, node by node: dry std v1 email.\n"
        )
    put(root, f"{BUILDER}/it", PLACES[place].format(word))
    with Oracle.open(str(root)) as opened:
        for question in (f"Why is {word} ignored?", f"What about {word}?", f"`{word}` is ignored"):
            reply = opened.answer(question)
            assert [item.record.slug for item in reply.claims] == [f"{BUILDER}/it"], question
            assert opened.search(question)[0].record.slug == f"{BUILDER}/it"


@pytest.mark.parametrize(
    ("asked", "title"), [("retry_count", "retry_counts"), ("retry_counts", "retry-count"), ("a.test", "a.tests")]
)
def test_a_word_with_a_mark_is_found_in_its_other_forms(root: Path, oracle: Oracle, asked: str, title: str) -> None:
    put(root, f"{BUILDER}/it", f"# The {title} is ignored\n\nThe runner drops it.\n")
    assert [item.record.slug for item in oracle.answer(f"Why is {asked} ignored?").claims] == [f"{BUILDER}/it"]


def test_the_parts_of_a_word_with_a_mark_are_not_the_word(root: Path, oracle: Oracle) -> None:
    put(root, f"{BUILDER}/it", "# We retry and count them\n\nThe runner counts each retry.\n")
    assert oracle.answer("What is retry_count?").status == "not_in_memory_db"


@pytest.mark.parametrize(("language", "quoted"), [("C#", 1), ("c#", 1), ("C++", 0), ("F#", 0)])
def test_a_name_with_signs_is_another_than_without(root: Path, oracle: Oracle, language: str, quoted: int) -> None:
    put(root, f"{BUILDER}/linter", "# C# linter\n\nThe C# linter is StyleCop with the house rules.\n")
    assert len(oracle.answer(f"Which {language} linter do we run?").claims) == quoted
    assert len(oracle.answer(f"{language} 的 linter house rules").claims) == quoted


def test_what_replaces_a_record_comes_behind_one_that_bears_as_much(tmp_path: Path) -> None:
    put(tmp_path, "projects/p/builder/limits", "# Webhook limits\n\nWebhook limits: at most 5 MB.\n")
    put(tmp_path, "projects/p/builder/old", "# Webhook limits of old\n\nWebhook limits: at most 2 MB.\n")
    put(tmp_path, "projects/p/builder/new", "---\nsupersedes: old\n---\n# Limits of sizes\n\nThe webhook is 3 MB.\n")
    with Oracle.open(str(tmp_path)) as oracle:
        claims = oracle.answer("What are the webhook limits?").claims
        assert [claim.record.slug.rpartition("/")[2] for claim in claims] == ["limits", "new"]
        assert claims[1].stands_for == ("projects/p/builder/old",)


def test_what_is_merely_near_is_no_answer(root: Path, oracle: Oracle) -> None:
    reply = oracle.answer("which zoning law governs rooftop antennas, times and permits")
    assert reply.status == "candidates"
    assert reply.as_json()["claims"] == []
    assert all(item.probability < 0.1 for item in reply.claims)


@pytest.mark.parametrize(
    ("question", "is_known"),
    [
        ("What do we know about Unleash?", True),
        ("Tell me about Unleash", True),
        ("Who uses Unleash?", True),
        ("Did we choose LaunchDarkly?", True),
        ("我们为什么选择 Unleash？", True),
        ("What did we decide about retries?", True),
        ("How many attempts?", True),
        ("Which retry policy did we choose?", True),
        ("Which queue did we choose?", False),
        ("What did we decide about queues?", False),
        ("How many queues do we use?", False),
    ],
)
def test_words_with_which_anything_is_asked_for_say_nothing(tmp_path: Path, question: str, *, is_known: bool) -> None:
    put(tmp_path, "projects/arena/decision/a", "# Feature flags through Unleash\n\nLaunchDarkly was too expensive.\n")
    put(tmp_path, "projects/arena/decision/b", "# Retry with linear backoff\n\nThree attempts, linear.\n")
    with Oracle.open(str(tmp_path)) as oracle:
        assert (oracle.answer(question).status in ("answered", "candidates")) is is_known


@pytest.mark.parametrize(("project", "seat"), [("nowhere", ""), ("", "builder-7"), ("arena", "qa")])
def test_an_absent_seat_or_project(root: Path, oracle: Oracle, project: str, seat: str) -> None:
    reply = oracle.answer("webhooks retried?", project=project, seat=seat)
    assert (reply.status, reply.claims) == ("not_in_federated_kb", ())
    assert (seat or project) in reply.reason
    assert reply.nearest[0].record.slug == f"{BUILDER}/retry"


def test_a_seat_that_knows_nothing_of_it(root: Path, oracle: Oracle) -> None:
    put(root, "projects/arena/reviewer/x", "nothing of that sort")
    assert oracle.answer("How often are webhooks retried?", seat="reviewer").status == "not_in_memory_db"


def test_what_is_no_question(root: Path, oracle: Oracle) -> None:
    with pytest.raises(UsageError):
        oracle.answer(" \n")
    with pytest.raises(InvalidName):
        oracle.answer("x", project="../x")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Why was Svelte chosen over GraphQL?", ["Svelte", "GraphQL"]),
        ("Why? Because of it", []),
        ("在 SQLite 里为什么选 WAL？", ["SQLite", "WAL"]),
        ('Who read "Gone Wind" on Monday?', []),
        ("does utf8 or H264 work", ["utf8", "H264"]),
        ("is 3f9a on k8s", ["3f9a", "k8s"]),
        ("in 2h30m at 1920x1080 for 100GiB or 1e6", []),
        ("Is version 1.20 or v2 or Python 3.12 or 1.2.3 used", ["1.20", "3.12", "1.2.3", "Python"]),
        ("costs 3.5 seconds", []),
        ("is c++ or F# or g++ used in section# 3", ["c++", "F#", "g++"]),
        ("how many attempts are allowed 👍", []),
        ("What is the retry limit？", []),
        ("WHAT IS THE RETRY LIMIT?", []),
        ("retry limit — Which one? FYI ASAP", []),
        ("- Could You tell me (Please)?\n* Retries", []),
        ("Why 不使用缓存？ Thanks, please", []),
        ("用户登录 uses Redis", ["uses", "Redis"]),
        ("When did José meet Ｋafka", ["José", "Kafka"]),
    ],
)
def test_names_in_a_question(text: str, names: list[str]) -> None:
    assert names_in(text) == names


# Between index and answer ---------------------------------------------------------------------------------------------


def edit(path: Path) -> None:
    """Change a file so that neither its size nor its time tells."""
    stat = path.stat()
    path.write_text(path.read_text().replace("five", "nine"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


CHANGES = {
    "edited": edit,
    "emptied": lambda path: path.write_text(""),
    "deleted": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name("elsewhere.md")),
    "replaced": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("moment", ["searched", "chosen"])
def test_what_changes_meanwhile_is_never_quoted_as_it_was(
    root: Path, oracle: Oracle, monkeypatch: pytest.MonkeyPatch, change: str, moment: str
) -> None:
    path = root / f"{BUILDER}/retry.md"
    done: list[str] = []

    def meddle() -> None:
        if not done:
            done.append(change)
            CHANGES[change](path)

    search, check = answering.search_by_status, stale_names.Checker.check_answer

    def searching(*words: Any, **more: Any) -> Any:
        hits = search(*words, **more)
        meddle()
        return hits

    def checking(self: stale_names.Checker, *words: Any) -> Any:
        meddle()
        return check(self, *words)

    if moment == "searched":
        monkeypatch.setattr(answering, "search_by_status", searching)
    else:
        monkeypatch.setattr(stale_names.Checker, "check_answer", checking)
    reply = oracle.answer("How often are webhooks retried?")
    assert done
    assert RETRY not in reply.answer or change == "renamed"
    assert all((root / item.quote.path).is_file() for item in reply.claims)
    assert_verbatim(root, reply)


# Liveness -------------------------------------------------------------------------------------------------------------


def test_gone_names_are_flagged(root: Path, oracle: Oracle, tmp_path: Path) -> None:
    box = GitBox(tmp_path / "repo")
    box.write("src/kept.py", "x")
    box.commit()
    (root / ".clawseat").mkdir()
    (root / ".clawseat/projects.json").write_text(json.dumps({"arena": {"repo_path": str(box.folder)}}))
    put(root, f"{BUILDER}/zebra", "The zebra handshake is in src/gone.py and src/kept.py.\n")
    (claim,) = oracle.answer("zebra handshake").claims
    (item,) = claim.as_json()["evidence"]
    assert item["liveness"] == "gone"
    assert [(name["name"], name["liveness"]) for name in item["names"]] == [("src/gone.py", "gone")]
    assert (
        oracle.answer("How often are webhooks retried?").claims[0].as_json()["evidence"][0]["liveness"] == "unchecked"
    )


# Any text, any corpus -------------------------------------------------------------------------------------------------

_opened: list[Oracle] = []


def any_oracle(folders: pytest.TempPathFactory) -> Oracle:
    if not _opened or not Path(_opened[0].root.path).is_dir():
        root = folders.mktemp("questions")
        fill(root)
        put(root, f"{BUILDER}/zh", "写锁只有一把 `a_b` [[note-1]]")
        put(root, "machine/network.json", json.dumps({"a": {"b": [1, {"c": None}]}}))
        _opened[:] = [Oracle.open(str(root))]
    return _opened[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.text(max_size=80) | st.sampled_from(["network.a.b.1.c", "-rf --", "a\0b", '"', "\ud800", "写锁", "x" * 9000]))
def test_any_text_is_a_question(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    oracle = any_oracle(tmp_path_factory)
    if not text.strip():
        return
    reply = oracle.answer(text)
    assert (reply.status in ("answered", "candidates")) == bool(reply.claims or reply.facts)
    assert reply.status == "answered" or not reply.facts
    assert_verbatim(Path(oracle.root.path), reply)
    json.dumps(reply.as_json())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["odd-real", "vault-en", "vault-en-foam"])
def test_questions_over_other_peoples_documents(root: Path, name: str) -> None:
    corpus = SHARED / "corpora" / name
    if not corpus.is_dir():
        pytest.skip(f"the corpus {name} is not at {corpus}; name its folder's parent with ORACLE_SHARED")
    lay_out(corpus, root)
    with Oracle.open(str(root)) as oracle:
        titles = [item.title for item in oracle.records({})]
        for title in [title for title in titles if title.strip() and zlib.crc32(title.encode()) % 9 == 0][:60]:
            reply = oracle.answer(title)
            assert_verbatim(root, reply)
        assert oracle.answer("Which zeppelin regulations apply to Kzyzdrk?").status == "not_in_memory_db"


def test_the_thresholds_are_those_that_the_page_names() -> None:
    page = (Path(__file__).parents[2] / "references/answers.md").read_text(encoding="utf-8")
    for figure in (
        choosing._LEAST,
        choosing._ANY,
        choosing._WORDS,
        choosing._MIN_COVERAGE,
        choosing._MIN_COVERAGE_WORDS,
        choosing._NEAR,
    ):
        assert f" {figure:g} " in page


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("windows budget", "candidates"),
        ("Are the windows in the budget?", "candidates"),
        ("windows office", "answered"),
        ("windows", "answered"),
        ("Which windows does a zeppelin office have?", "candidates"),
        ("Has the crew, payload, helm and hull of a zeppelin in the office windows by night?", "candidates"),
    ],
)
def test_one_word_of_few_is_no_answer(root: Path, question: str, status: str) -> None:
    put(root, f"{BUILDER}/house", "# House\n\nThe office has windows to the south.\n")
    put(root, f"{BUILDER}/money", "# Money\n\nThe budget is planned in spring, a large part of it for travel.\n")
    with Oracle.open(str(root)) as oracle:
        assert oracle.answer(question).status == status


TOPICS = "cache retry queue limit deploy owner token gateway".split()
RECORDS = st.lists(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=6), min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(RECORDS, st.lists(st.sampled_from([*TOPICS, "merge", "disk"]), min_size=1, max_size=5, unique=True))
def test_records_without_a_word_of_the_question_never_make_an_answer(
    tmp_path_factory: pytest.TempPathFactory, topics: list[list[str]], asked: list[str]
) -> None:
    root = tmp_path_factory.mktemp("topics")
    for number, words in enumerate(topics):
        put(root, f"{BUILDER}/r{number}", f"# {words[0]}\n\nThe {' '.join(words)} is here.\n")
    refused = False
    with Oracle.open(str(root)) as opened:
        for more in (0, 1, 4, 30):
            for number in range(more):
                put(root, f"{BUILDER}/u{more}-{number}", f"# Violin\n\nA marble lantern lies by tundra {number}.\n")
            answered = opened.answer(f"What about the {' '.join(asked)}?", fresh=True).status == "answered"
            assert not (refused and answered)
            refused = not answered


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(RECORDS, st.lists(st.sampled_from([*TOPICS, "merge"]), min_size=2, max_size=5, unique=True), st.booleans())
@example(
    [["cache", "retry", "queue"], ["cache", "retry"], ["limit", "cache"], ["owner"]], ["cache", "retry", "limit"], True
)
def test_candidates_are_ordered_by_probability(
    tmp_path_factory: pytest.TempPathFactory, topics: list[list[str]], asked: list[str], is_contradicted: bool
) -> None:
    root = tmp_path_factory.mktemp("ordered")
    for number, words in enumerate(topics):
        front = "---\ncontradicts: r0\n---\n" if is_contradicted and number else ""
        put(root, f"{BUILDER}/r{number}", f"{front}# {words[0]}\n\nThe {' '.join(words)} is here.\n")
    with Oracle.open(str(root)) as opened:
        reply = opened.answer(f"What about the {' '.join(asked)}?")
    likely = [item.probability for item in reply.claims]
    assert reply.status != "candidates" or likely == sorted(likely, reverse=True)
    assert [item.handle for item in reply.claims] == [f"f{number}" for number, _ in enumerate(reply.claims, 1)]
    handles = {item.handle: item.contradicts for item in reply.claims}
    assert all(one in handles[other] for one, others in handles.items() for other in others)


@pytest.mark.parametrize("text", ["The cache keeps items for {}ten minutes.", "缓存保留{}十分钟，每个条目一兆。"])
@pytest.mark.parametrize("order", [(2024, 2025, 2026), (2026, 2025, 2024), (2025, 2026, 2024)])
@pytest.mark.parametrize("says", ["", "{} "])
def test_of_equal_notes_the_newest_comes_first(root: Path, order: tuple[int, ...], text: str, says: str) -> None:
    fill(root)
    for number, year in enumerate(order):
        body = text.format(says.format(year))
        put(root, f"{BUILDER}/cache-{number}", f"---\nts: {year}-03-01T10:00:00Z\n---\n# Cache\n\n{body}\n")
    question = "How long does the cache keep items?" if text.isascii() else "缓存保留多久？"
    with Oracle.open(str(root)) as opened:
        hits = [hit.record for hit in opened.search(question)]
        claims = [item.record for item in opened.answer(question).claims]
        chosen = route(opened, Request(question, "planner")).packet.selected
    newest = ["2026", "2025", "2024"]
    assert [record.ts[:4] for record in hits if "cache" in record.slug] == newest
    assert claims
    assert [record.ts[:4] for record in claims] == newest[: len(claims)]
    assert [item.memory.ts[:4] for item in chosen if "cache" in item.memory.id] == newest[: 3 if says else 1]


STONES = "amber basalt cobalt dolomite emerald fluorite garnet hematite iolite jasper kyanite lapis"


def test_what_covers_most_is_the_first_candidate(root: Path) -> None:
    put(root, f"{BUILDER}/most", "# One\n\nWe have amber basalt cobalt.\n")
    put(root, f"{BUILDER}/nearly", "# Two\n\nWe have dolomite and emerald.\n")
    for stone in STONES.split()[5:]:
        put(root, f"{BUILDER}/{stone}", f"# Three\n\nWe have {stone}.\n")
    with Oracle.open(str(root)) as oracle:
        reply = oracle.answer(f"Where are {STONES}?")
    assert reply.status == "candidates"
    assert [item.record.slug.rpartition("/")[2] for item in reply.claims][:2] == ["most", "nearly"]
    assert len(reply.claims) == 9


def test_what_no_longer_holds_is_no_candidate(root: Path) -> None:
    put(root, f"{BUILDER}/most", "---\nstatus: retired\n---\n# One\n\nWe have amber basalt cobalt.\n")
    for stone in STONES.split()[5:]:
        put(root, f"{BUILDER}/{stone}", f"# Three\n\nWe have {stone}.\n")
    with Oracle.open(str(root)) as oracle:
        reply = oracle.answer(f"Where are {STONES}?")
    assert f"{BUILDER}/most" not in [item.record.slug for item in reply.claims]


def test_memorys_own_records_answer_too(root: Path, oracle: Oracle) -> None:
    oracle.write(Draft("decision", "arena", "Choose the zebra codec", body="The zebra codec is lossless."))
    assert [item.record.seat for item in oracle.answer("zebra codec", seat="memory").claims] == ["memory"]


def test_passages_that_hold_the_name_are_looked_for_behind_those_without(root: Path, oracle: Oracle) -> None:
    for number in range(30):
        put(
            root, f"{BUILDER}/shelf-{number}", f"# Shelf {number}\n\nThe budget of retries for queue {number} is set.\n"
        )
    put(root, f"{BUILDER}/svelte-pages", "# Pages\n\nThe budget is small.\n")
    reply = oracle.answer("What is the budget of retries for a queue of Svelte?", fresh=True)
    assert [item.record.title for item in reply.claims] == ["Pages"]
