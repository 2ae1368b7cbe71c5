"""A small world of linked pages with questions about its links: people, companies, meetings, deals, tasks and decisions.

Deterministic. Each page is prose; every relation is said in one of several ways, on one side of the link, beside links that
are not asked for.
"""

from __future__ import annotations

import random
from pathlib import Path

_FIRST = (
    "Alice Bram Chidi Dora Emil Farah Goran Hana Ivo Jana Kofi"
    " Lena Marek Nadia Omar Petra Quinn Rosa Sven Tariq Uma Viktor"
).split()
_LAST = (
    "Adler Bianchi Castell Dvorak Eriksen Fontaine Gruber Haddad"
    " Ivanov Jansen Kovacs Lindqvist Moreau Novak Okafor Pereira"
).split()
_COMPANY = (
    "Kestrel Lumen Marrow Nimbus Orchard Pelagic Quartz Riverbed"
    " Saffron Tundra Umbra Vantage Willow Xylem Yarrow Zephyr"
).split()
_TRADE = "Robotics Health Analytics Foods Energy Logistics Biotech Capital".split()
_FACTS = (
    "The team keeps its notes in plain text.",
    "Last spring was spent on hiring and on a new office.",
    "There is a long waiting list for the product.",
    "Revenue was flat for two quarters and then doubled.",
    "The weekly call moved from Monday to Thursday.",
)
_WAYS = {
    "works": (
        "{a} is a staff engineer at {b}.",
        "{a} joined {b} in 2021 to run sales.",
        "{a} works at {b} on pricing.",
        "{a} has been CTO of {b} since the pivot.",
        "{a} leads product at {b}.",
    ),
    "invested": (
        "{a} invested in {b} in the second round.",
        "{a} backed {b} at seed.",
        "{a} wrote an early check into {b}.",
        "{a} led the Series A of {b}.",
    ),
    "founded": ("{a} founded {b} with a friend.", "{a} is a co-founder of {b}.", "{a} started {b} in a garage."),
    "advises": ("{a} advises {b} on regulation.", "{a} sits on the board of {b}.", "{a} is an advisor to {b}."),
    "attended": ("{a} attended {b}.", "{a} was present at {b}.", "{a} took part, as an attendee, in {b}."),
    "reviewed": ("{b} was reviewed by {a}.", "{a} did the review of {b}."),
    "decided": ("{a} decided {b}.", "{b} was decided by {a} after a long call.", "{a} approved {b}."),
    "met": ("{a} talked about the weather with somebody from {b}.", "{a} once wrote a blog post that mentions {b}."),
}
_ASK = {
    "works": ("Who works at {b}?", "Which people work for {b}?"),
    "invested": ("Who invested in {b}?", "Who are the investors of {b}?"),
    "founded": ("Who founded {b}?", "Who are the founders of {b}?"),
    "advises": ("Who advises {b}?", "Who is an advisor to {b}?"),
    "attended": ("Who attended {b}?", "Who was at {b}?"),
    "reviewed": ("Who reviewed {b}?",),
    "decided": ("Who decided {b}?", "Who took the decision {b}?"),
}
_ASK_BACK = {
    "works": ("Where does {a} work?", "What company does {a} work at?"),
    "invested": ("What did {a} invest in?", "Which companies has {a} invested in?"),
    "founded": ("What company did {a} found?",),
    "advises": ("Which companies does {a} advise?",),
    "attended": ("Which meetings did {a} attend?",),
}


class World:
    """Pages by folder and title, and questions as (text, titles of the pages that answer it)."""

    def __init__(self, seed: int = 1, *, people: int = 70, companies: int = 40) -> None:
        generator = random.Random(seed)
        self.people = [f"{first} {last}" for first in _FIRST for last in _LAST]
        generator.shuffle(self.people)
        self.people = self.people[:people]
        self.companies = [f"{name} {trade}" for name in _COMPANY for trade in _TRADE]
        generator.shuffle(self.companies)
        self.companies = self.companies[:companies]
        self.meetings = [f"{company} offsite" for company in self.companies[:20]]
        self.decisions = [f"Move {company.split()[0]} to monthly billing" for company in self.companies[:20]]
        self.facts: dict[str, list[tuple[str, str]]] = {name: [] for name in _WAYS}
        self.sentences: dict[str, list[str]] = {}
        self._relate(generator)
        self.generator = generator

    def _relate(self, generator: random.Random) -> None:
        for relation, heads, most in (
            ("works", self.companies, 4),
            ("invested", self.companies, 3),
            ("founded", self.companies, 2),
            ("advises", self.companies, 2),
            ("met", self.companies, 5),
            ("attended", self.meetings, 5),
            ("reviewed", self.decisions, 1),
            ("decided", self.decisions, 1),
        ):
            for head in heads:
                for person in generator.sample(self.people, generator.randint(1, most)):
                    if any((person, head) in pairs for pairs in self.facts.values()):
                        continue
                    self.facts[relation].append((person, head))
                    self._say(generator, relation, person, head)

    def _say(self, generator: random.Random, relation: str, person: str, head: str) -> None:
        way = generator.choice(_WAYS[relation])
        if generator.random() < 0.6:
            self.sentences.setdefault(person, []).append(way.format(a=person.split()[0], b=f"[[{head}]]"))
        else:
            short = head.split()[0] if relation not in ("reviewed", "decided", "attended") else "it"
            self.sentences.setdefault(head, []).append(way.format(a=f"[[{person}]]", b=short))

    def kind_of(self, title: str) -> str:
        """Return the folder of a page."""
        for kind, titles in (
            ("people", self.people),
            ("companies", self.companies),
            ("meetings", self.meetings),
            ("decisions", self.decisions),
        ):
            if title in titles:
                return kind
        raise KeyError(title)

    def write(self, root: Path) -> dict[str, str]:
        """Lay the pages out under a Root; return the slug of each title."""
        slugs = {}
        for title in [*self.people, *self.companies, *self.meetings, *self.decisions]:
            kind = self.kind_of(title)
            name = title.lower().replace(" ", "-")
            path = root / "projects" / "world" / kind / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            said = list(self.sentences.get(title, []))
            said += self.generator.sample(_FACTS, 2)
            self.generator.shuffle(said)
            body = "\n\n".join(" ".join(said[at : at + 3]) for at in range(0, len(said), 3))
            path.write_text(f"---\ntitle: {title}\n---\n\n# {title}\n\n{body}\n", encoding="utf-8")
            slugs[title] = f"projects/world/{kind}/{name}"
        return slugs

    def questions(self) -> list[tuple[str, set[str]]]:
        """Return every question with the titles that answer it."""
        found = []
        for relation, pairs in self.facts.items():
            for at, texts in ((1, _ASK.get(relation, ())), (0, _ASK_BACK.get(relation, ()))):
                for name in dict.fromkeys(pair[at] for pair in pairs):
                    answers = {pair[1 - at] for pair in pairs if pair[at] == name}
                    found += [(text.format(a=name, b=name), answers) for text in texts]
        return found
