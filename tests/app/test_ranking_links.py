"""Questions about the links of a record that they name: the neighbours that answer come first, whatever form the links have."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.search.ranking.links import weigh_links
from oracle.domain.compiling import compiled
from oracle.domain.relations import relations
from oracle.domain.relations.patterns import NAMED
from tests.app.world import World


def as_written(world: World, root: Path) -> dict[str, str]:
    return world.write(root)


def flattened(world: World, root: Path) -> dict[str, str]:
    """All pages in one seat's folder, the kind in the name, Markdown links that resolve to no file."""
    return {title: move(world, root, title, slug) for title, slug in world.write(root).items()}


def move(world: World, root: Path, title: str, slug: str) -> str:
    source = root / f"{slug}.md"
    text = re.sub(
        r"\[\[([^\]]+)\]\]",
        lambda link: f"[{link[1]}]({world.kind_of(link[1])}/{link[1].lower().replace(' ', '-')})",
        source.read_text(encoding="utf-8"),
    )
    new = f"projects/world/builder/{world.kind_of(title)}--{source.stem}"
    (root / f"{new}.md").parent.mkdir(parents=True, exist_ok=True)
    (root / f"{new}.md").write_text(text, encoding="utf-8")
    source.unlink()
    return new


@pytest.mark.parametrize("lay_out", [as_written, flattened])
def test_neighbours_that_answer_come_first(root: Path, lay_out: Callable[[World, Path], dict[str, str]]) -> None:
    world = World(3, people=40, companies=16)
    slugs = lay_out(world, root)
    recalled = reciprocal = 0.0
    questions = world.questions()
    with Oracle.open(str(root)) as oracle:
        for text, answers in questions:
            found = list(dict.fromkeys(hit.record.slug for hit in oracle.search(text)))
            wanted = {slugs[title] for title in answers}
            recalled += len(wanted & set(found[:5])) / min(5, len(wanted))
            reciprocal += next((1 / place for place, slug in enumerate(found, 1) if slug in wanted), 0.0)
    assert recalled / len(questions) >= 0.97
    assert reciprocal / len(questions) >= 0.95


@pytest.mark.parametrize(
    "filters", [{"status": "superseded"}, {"project": "world"}, {"kind": "company"}, {"until": "2000-01-01"}]
)
def test_a_record_that_is_named_may_be_filtered_out(root: Path, filters: dict[str, str]) -> None:
    world = World(3, people=12, companies=6)
    world.write(root)
    with Oracle.open(str(root)) as oracle:
        held = {record.slug for record in oracle.records(filters)}
        for text, _ in world.questions():
            assert {hit.record.slug for hit in oracle.search(text, filters)} <= held


def test_a_question_that_asks_for_no_link_is_answered_by_its_words(root: Path) -> None:
    world = World(3, people=40, companies=16)
    slugs = world.write(root)
    with Oracle.open(str(root)) as oracle:
        company = world.companies[0]
        assert oracle.search(company)[0].record.slug == slugs[company]
        assert not any("relation" in hit.why for hit in oracle.search(f"Tell me about {company}"))


def test_no_pattern_is_kept_for_a_name(root: Path) -> None:
    folder = root / "projects" / "arena" / "builder"
    folder.mkdir(parents=True)
    names = ("Alder", "Birch", "Cedar")
    for name in names:
        (folder / f"{name}.md").write_text(f"# {name}\n\n{name} is a company.\n", encoding="utf-8")
        (folder / f"of-{name}.md").write_text(f"# Of {name}\n\nAnna works at [[{name}]], {name}.\n", encoding="utf-8")
    kept = []
    with Oracle.open(str(root)) as oracle:
        for name in names:
            assert oracle.search(f"Who works at {name}?")
            kept.append(compiled.cache_info().currsize)
    assert kept[1] == kept[2]


@pytest.mark.parametrize("question", ["Which job queue do we run?", "what job queue do we run"])
def test_a_question_for_what_it_names_is_answered_by_that(root: Path, question: str) -> None:
    folder = root / "projects" / "arena" / "builder"
    folder.mkdir(parents=True)
    (folder / "queue.md").write_text("# Job queue\n\nThe job queue is NATS JetStream.\n", encoding="utf-8")
    (folder / "canary.md").write_text("# Canary\n\nThe team lead runs a worker; see [[queue]].\n", encoding="utf-8")
    with Oracle.open(str(root)) as oracle:
        assert oracle.search(question)[0].record.title == "Job queue"


@pytest.mark.parametrize(
    ("question", "sentence", "fits"),
    [
        ("Who invested in X?", "an early investor in x", 1.0),
        ("Who invested in X?", "backed x at seed", relations.FAMILY),
        ("Who invested in X?", "wrote about x", 0.0),
        ("Who invested in X?", "looked at the round and passed on x", 0.0),
        ("Who bought X?", "y took the company over", relations.FAMILY),
        ("Who decided X?", "the decision x was hers", relations.FAMILY),
        ("What is X blocked by?", "x waits for y", relations.FAMILY),
        ("What replaced X?", "y supersedes x", relations.FAMILY),
        ("Who founded X?", "most days she can be found at x", 0.0),
        ("Who advises X?", "x grew out of a consulting contract", 0.0),
    ],
)
def test_a_relation_is_known_by_its_words_and_their_family(question: str, sentence: str, fits: float) -> None:
    cues = [word for word in re.findall(r"\w+", question.lower()) if word not in {"who", "what", "in", "is", "by", "x"}]
    assert relations.read_relation(question, cues).fits(sentence, sentence.split()) == pytest.approx(fits, abs=0.05)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("runs sales at @", "left @ in 2020 after he ran sales"),
        ("joined @ in 2019", "joined the board of @ in 2019"),
        ("joined @ in 2019", "did not join @ in the end"),
        ("hired in 2019, now head of design at @", "compared with @, she works elsewhere"),
        ("joined @ in 2021", "joined \x01 and later invested in @"),
        ("works for \x01, \x01 and @", "works for \x01 and has since invested in @"),
        ("is CTO at @, having left \x01", "is CTO at \x01, having left @"),
        ("joined @ in 2019 and never quite left", "joined @ in 2019 and left"),
        ("runs operations at @", "counsels @ on hiring"),
    ],
)
def test_the_clause_of_a_link_says_what_holds_of_it(better: str, worse: str) -> None:
    asked = relations.read_relation(f"Who works at {NAMED}?", ["works"], "organisation")
    fits = [asked.fits(text.replace("@", NAMED), text.split(), text.index("@")) for text in (better, worse)]
    assert fits[0] > fits[1]


@pytest.mark.parametrize(
    ("question", "about", "kinds", "thing"),
    [
        ("Who works at @?", "organisation", {"person"}, False),
        ("Who employs @?", "person", {"organisation"}, True),
        ("Who does @ advise?", "person", {"organisation"}, True),
        ("Who invested in @?", "organisation", {"person", "organisation"}, False),
        ("What did @ invest in?", "organisation", {"organisation"}, True),
        ("Who was at the @ meeting?", "meeting", {"person"}, False),
        ("Which meetings was @ at?", "person", {"meeting"}, True),
        ("Which people have left @?", "organisation", {"person"}, False),
        ("Who decided @?", "", {"person"}, False),
        ("Who mentors @?", "person", {"person"}, False),
        ("Who mentors @?", "organisation", {"person"}, False),
        ("Who are @'s mentees?", "person", {"person"}, True),
        ("What is in @'s angel portfolio?", "person", {"organisation"}, True),
        ("Who are the partners at @?", "organisation", {"person"}, False),
    ],
)
def test_what_is_asked_for_follows_from_who_can_have_the_relation(
    question: str, about: str, kinds: set[str], thing: bool
) -> None:
    asked = relations.read_relation(question.replace("@", NAMED), [], about)
    assert asked.kinds == kinds
    assert asked.asks_object is thing


def test_links_lift_what_is_supported_and_lower_what_a_newer_record_contradicts() -> None:
    times = {1: "2026-01-01", 2: "2026-02-01", 3: "2026-03-01", 4: "2026-03-02"}
    edges = [(2, "contradicts", 1, "2026-02-01"), (2, "contradicts", 3, "2026-02-01"), (4, "supports", 3, "2026-03-02")]
    points = weigh_links(edges, strong=[], times=times)
    assert points[1] < 0
    assert points[3] > 0
    assert set(points) == {1, 3}
    assert weigh_links([(4, "references-record", 2, "")], strong=[2], times=times)[4] > 0


def test_what_the_best_records_lead_to_comes_behind_the_first_few(root: Path) -> None:
    folder = root / "projects/shop/builder"
    folder.mkdir(parents=True)
    (folder / "retries.md").write_text("# Retries\n\nA webhook is tried again with a backoff, see [[limits]].\n")
    (folder / "limits.md").write_text("# Limits\n\nNobody waits longer than an hour for a webhook.\n")
    for number in range(12):
        (folder / f"note-{number}.md").write_text(
            f"# Note {number}\n\nA webhook and its backoff, again and again {number}.\n"
        )
    with Oracle.open(str(root)) as oracle:
        found = [
            hit.record.slug.rpartition("/")[2] for hit in oracle.search("Retries of a webhook with backoff", limit=14)
        ]
    assert found[0] == "retries"
    assert found.index("limits") == 5
