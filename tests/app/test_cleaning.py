"""What is handed over is looked through before anything is written: a response, a completion, an order, in every field of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oracle.errors import PrivacyBlocked, RulesUnusable, SecretFound, UsageError
from tests.app.squad import Squad

TOKEN = "gh" + "p_" + "q7Rk2Zp9Lx4V" * 3
OPAQUE = "Zq8Rk2Lp9Xv4Tn7W" * 2


@pytest.fixture
def squad(tmp_path: Path) -> Squad:
    return Squad(tmp_path)


def holding(squad: Squad, value: str) -> list[str]:
    files = [path for path in squad.home.parent.rglob("*") if path.is_file()]
    return [str(path) for path in files if value.encode() in path.read_bytes()]


DELIVERIES: list[tuple[str, dict[str, Any]]] = [
    ("github-token in response.answer", {"answer": f"use {TOKEN}"}),
    ("github-token in response.sources", {"response": {"sources": ["a", TOKEN]}}),
    ("github-token in response.deep.er", {"response": {"deep": {"er": f"x {TOKEN}"}}}),
    ("assignment in response.api_key", {"response": {"api_key": OPAQUE}}),
    ("github-token in response (a key)", {"response": {TOKEN: 1}}),
    ("github-token in summary", {"summary": TOKEN}),
    ("github-token in title", {"title": TOKEN}),
    ("github-token in verdict", {"verdict": TOKEN}),
    (
        "github-token in response.claims.quote",
        {"response": {"claims": [{"statement": "s", "evidence": [{"file": "a.md", "quote": TOKEN}], "quote": TOKEN}]}},
    ),
]


@pytest.mark.parametrize(("place", "given"), DELIVERIES)
def test_an_answer_with_a_secret_is_refused_and_leaves_no_trace(
    squad: Squad, place: str, given: dict[str, Any]
) -> None:
    squad.ask()
    before = squad.snapshot()
    woken = squad.recorder.lines()
    with pytest.raises(SecretFound) as caught:
        squad.deliver(**given)
    kind, _, field = place.partition(" in ")
    assert f"({kind}) in the field {field}" in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert squad.snapshot() == before
    assert squad.recorder.lines() == woken
    assert holding(squad, TOKEN) == holding(squad, OPAQUE) == []
    assert squad.states() == {"Q-1": "open"}
    assert squad.deliver().is_new  # the question waits for the answer as it did


@pytest.mark.parametrize(("place", "given"), DELIVERIES)
def test_what_is_replaced_is_named_and_the_same_again_is_the_same_delivery(
    squad: Squad, place: str, given: dict[str, Any]
) -> None:
    squad.ask()
    done = squad.deliver(secrets="redact", **given)
    assert any(place in said for said in done.redacted)
    assert holding(squad, TOKEN) == holding(squad, OPAQUE) == []
    assert not squad.deliver(secrets="redact", **given).is_new


IN_PARTS = [
    {"title": "The token", "answer": OPAQUE},
    {"answer": f"it begins with {TOKEN[:15]}", "summary": TOKEN[15:]},
    {"response": {"steps": [TOKEN[:15], TOKEN[15:]]}},
]


@pytest.mark.parametrize("given", IN_PARTS)
def test_a_credential_in_several_fields_is_refused_or_replaced(squad: Squad, given: dict[str, Any]) -> None:
    squad.ask()
    before = squad.snapshot()
    with pytest.raises(SecretFound):
        squad.deliver(**given)
    assert squad.snapshot() == before
    assert squad.deliver(secrets="redact", **given).redacted
    assert holding(squad, TOKEN[15:]) == holding(squad, OPAQUE) == []


def test_who_knows_that_it_is_none_may_say_so(squad: Squad) -> None:
    squad.ask()
    squad.deliver(answer=f"use {TOKEN}", secrets="allow")
    assert squad.response()["answer"] == f"use {TOKEN}"


def test_what_the_owner_blocks_no_word_lets_through_but_replacing(squad: Squad) -> None:
    squad.ask()
    rules = Path(squad.oracle.root.path, "machine", "privacy.md")
    rules.parent.mkdir(exist_ok=True)
    rules.write_text("BLOCK: lotus\n", encoding="utf-8")
    for policy in ("refuse", "allow"):
        with pytest.raises(PrivacyBlocked, match=r"privacy\.md:1 blocks, in the field response\.answer"):
            squad.deliver(answer="about lotus", secrets=policy)
    squad.deliver(answer="about lotus", secrets="redact")
    assert squad.response()["answer"] == "about [REDACTED:blocked]"
    rules.write_text("BLOCK: (\n", encoding="utf-8")
    with pytest.raises(RulesUnusable):
        squad.ask("Q-2")
    with pytest.raises(UsageError, match="Unknown policy"):
        squad.deliver(secrets="perhaps")


@pytest.mark.parametrize("field", ["title", "summary", "user_summary", "next_action", "core_ux_gate"])
def test_a_completion_is_looked_through(squad: Squad, field: str) -> None:
    squad.ask("T1", target="builder", kind="task", objective="Build it.")
    with pytest.raises(SecretFound, match=rf"\(github-token\) in the field {field}"):
        squad.complete(**{field: f"see {TOKEN}"})
    assert holding(squad, TOKEN) == []
    assert squad.complete(**{field: f"see {TOKEN}"}, secrets="redact").redacted == (f"github-token in {field}",)
    assert holding(squad, TOKEN) == []


@pytest.mark.parametrize(
    "given",
    [
        {"objective": f"use {TOKEN}"},
        {"title": TOKEN},
        {"notes": TOKEN},
        {"user_summary": TOKEN},
        {"skill_refs": (TOKEN,)},
        {"queue": {"finding_id": TOKEN}},
        {"receipt": {"rca_override": TOKEN}},
    ],
)
def test_an_order_is_looked_through(squad: Squad, given: dict[str, Any]) -> None:
    before = squad.snapshot()
    with pytest.raises(SecretFound, match="github-token"):
        squad.ask(**given)
    assert squad.snapshot() == before
    squad.ask(**given, secrets="redact")
    assert holding(squad, TOKEN) == []
    assert squad.states() == {"Q-1": "open"}
