"""Conversations in the ranking: what speaks for a turn, which turns make a hit, and how a question is put to the vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.search.ranking.pages import RecordPage, Scored
from oracle.app.search.ranking.query import said_by
from oracle.app.search.ranking.signals import join_turns

BUILDER = "projects/arena/builder"
FILLER = "**Cid:** {}\n\n**Dan:** {}"


def talk(*turns: str) -> str:
    """Return turns with long ones of others between them, so that no two stand in one hit."""
    filler = FILLER.format("Well. " * 60, "Right. " * 60)
    return f"\n\n{filler}\n\n".join(turns) + "\n"


def hits(root: Path, query: str, **records: str) -> list[str]:
    for name, text in records.items():
        path = root / f"{BUILDER}/{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with Oracle.open(str(root)) as oracle:
        return [hit.snippet for hit in oracle.search(query)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What does Melanie's sister paint?", "What does my sister paint?"),
        ("Where did MELANIE go?", "Where did I go?"),
        ("What did Melanie Stone buy?", "What did I buy?"),
        ("What did Melanies buy?", "What did Melanies buy?"),
        ("What is Ann’s plan?", "What is Ann’s plan?"),
    ],
)
def test_a_question_as_the_one_it_names_would_put_it(text: str, said: str) -> None:
    assert said_by(text, {"melanie", "stone"}) == said
    assert said_by(text, ()) == text


def test_those_who_speak_are_known_and_a_field_before_the_turns_is_none_of_them() -> None:
    text = "Date: 8 May\n\n**Ann:** Hello.\n\n**Bob:** Hi.\n\n**Ann:** How are you?\n\n**Bob:** Well."
    assert RecordPage(text, "A talk").parties() == {"ann", "bob"}
    assert RecordPage(f"{text}\n\n" + "Prose.\n\n" * 9, "Prose").parties() == set()


def test_the_reply_to_a_question_is_worth_its_words(root: Path) -> None:
    asked = "**Ann:** Where is the kite?\n\n**Bob:** Behind the shed."
    said = "**Ann:** There is the kite.\n\n**Bob:** Behind the shed."
    found = hits(root, "kite shed", a=talk("**Ann:** Good.", said), b=talk("**Ann:** Good.", asked))
    assert "Where is the kite?" in found[0]


def test_a_turn_among_words_of_the_question_comes_before_one_that_stands_alone(root: Path) -> None:
    among = "**Ann:** The lake is cold.\n\n**Bob:** Really?\n\n**Ann:** No.\n\n**Bob:** A kite flew there."
    alone = "**Ann:** The moon is cold.\n\n**Bob:** Really?\n\n**Ann:** No.\n\n**Bob:** A kite flew there."
    assert "lake" in hits(root, "kite lake", a=talk(alone, "**Ann:** A lake."), b=talk(among, "**Ann:** Yes."))[0]


def scored(page: RecordPage, worth: dict[int, float]) -> list[Scored]:
    found = [Scored(0, page, at, frozenset()) for at in worth]
    for one in found:
        one.add("words", worth[one.at])
    return sorted(found, key=lambda one: -one.score)


TURNS = RecordPage("\n\n".join(f"**{'AB'[at % 2]}nn:** {'word ' * 60}" for at in range(8)), "A talk")
"""Eight turns, two of which make a hit."""


def test_a_hit_is_the_run_of_turns_that_is_worth_most() -> None:
    found = join_turns(1.0, scored(TURNS, {0: 1.0, 4: 0.95, 5: 0.95}), 10)
    assert [one.run for one in found] == [range(4, 6), range(2)]
    assert all(one.score == pytest.approx(sum(one.parts.values())) for one in found)


def test_no_turn_is_in_two_runs_and_each_further_run_of_a_record_loses() -> None:
    found = join_turns(1.0, scored(TURNS, dict.fromkeys(range(8), 1.0)), 10)
    held = [at for one in found for at in one.run or ()]
    assert sorted(held) == list(range(8))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[0].score - found[1].score == pytest.approx(found[1].score - found[2].score)
    assert found[0].score > found[1].score


def test_passages_of_other_records_stay_as_they_are() -> None:
    page = RecordPage("Prose.\n\nMore of it.", "Prose")
    found = join_turns(1.0, scored(page, {0: 1.0, 1: 0.5}), 10)
    assert [(one.at, one.run, one.score) for one in found] == [(0, None, 1.0), (1, None, 0.5)]


def notes(root: Path, seat: str, *turns: tuple[str, str]) -> None:
    """Write a record for each turn, at a time."""
    for ts, text in turns:
        path = root / f"projects/arena/{seat}/finding/{ts.replace(':', '-')}-note.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'---\nseat: {seat}\nkind: finding\nts: "{ts}"\n---\n\n{text}\n', encoding="utf-8")


@pytest.mark.parametrize("day", ["2026-05-08", "2026-05-09"])
def test_the_short_records_beside_one_of_the_same_day_say_what_it_is_about(root: Path, day: str) -> None:
    answer = ("2026-05-08T10:01:00.000000Z", "**Bob:** Behind the green shed.")
    notes(root, "builder", (f"{day}T10:00:00.000000Z", "**Ann:** Where do you keep the kite?"), answer)
    notes(root, "planner", ("2026-05-08T11:00:00.000000Z", "**Cid:** Behind the green shed."))
    with Oracle.open(str(root)) as oracle:
        found = [hit.snippet for hit in oracle.search("kite shed")]
    at = next((at for at, text in enumerate(found) if text.startswith("**Bob:")), -1)
    assert (at < found.index("**Cid:** Behind the green shed.")) is (day == "2026-05-08")


def test_a_short_record_is_found_by_the_words_beside_it_alone(root: Path) -> None:
    asked = ("2026-05-08T10:00:00.000000Z", "**Ann:** Where do you keep the kite?")
    notes(root, "builder", asked, ("2026-05-08T10:01:00.000000Z", "**Bob:** Behind the green shed."))
    with Oracle.open(str(root)) as oracle:
        assert [hit.snippet[:5] for hit in oracle.search("kite")] == ["**Ann", "**Bob"]
