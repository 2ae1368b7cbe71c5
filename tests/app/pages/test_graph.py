"""The drawing of a graph: stable, bounded, with every text harmless."""

import random
import re
from math import dist
from pathlib import Path
from xml.etree import ElementTree

import pytest

from oracle.app.context import Context
from oracle.app.pages.graph import DrawnNode, Neighbourhood, draw, gather, place
from oracle.app.records import graph
from oracle.cli.main import run
from oracle.domain.links.graph import MOST_DRAWN
from oracle.wording import _STEERING

SVG = "{http://www.w3.org/2000/svg}"
KINDS = ("decision", "finding", "task", "plan", "entity", "observation")


def node(name: str, *, title: str = "", kind: str = "decision", status: str = "", backlinks: int = 0) -> DrawnNode:
    return DrawnNode(name, title or f"Title of {name}", kind, status, backlinks, f"{name}.md")


def web(count: int, *, seed: int = 0) -> Neighbourhood:
    """Return a graph in which later nodes link to earlier ones, a few of them very popular."""
    chance = random.Random(seed)
    names = [f"projects/shop/decision/{number:03}" for number in range(count)]
    edges = {(names[at], names[int(at * chance.random() ** 2)], "supports") for at in range(1, count)}
    edges |= {(chance.choice(names), chance.choice(names), "references-record") for _ in range(count // 2)}
    nodes = tuple(node(name, kind=KINDS[at % len(KINDS)], backlinks=at % 7) for at, name in enumerate(names))
    return Neighbourhood(names[0], nodes, tuple(sorted(edge for edge in edges if edge[0] != edge[1])), 0)


def no_link(_: str) -> str:
    return ""


def parse(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)  # noqa: S314 - our own


@pytest.mark.parametrize("count", [1, 2, 5, 40, 200])
def test_the_same_graph_gives_the_same_bytes(count):
    found = web(count)
    other = Neighbourhood(found.root, found.nodes[::-1], found.edges, 0)
    assert draw(found, link=no_link) == draw(found, link=no_link)
    assert place(found) == place(other)


def added(found: Neighbourhood, chance: random.Random) -> Neighbourhood:
    new = "projects/shop/decision/new"
    edge = (new, chance.choice(found.nodes).name, "supports")
    return Neighbourhood(found.root, (*found.nodes, node(new)), (*found.edges, edge), 0)


def unlinked(found: Neighbourhood, chance: random.Random) -> Neighbourhood:
    gone = chance.choice([edge for edge in found.edges if edge[2] == "references-record"])
    return Neighbourhood(found.root, found.nodes, tuple(edge for edge in found.edges if edge != gone), 0)


def linked(found: Neighbourhood, chance: random.Random) -> Neighbourhood:
    one, other = chance.sample([item.name for item in found.nodes], 2)
    return Neighbourhood(found.root, found.nodes, (*found.edges, (one, other, "references-record")), 0)


@pytest.mark.parametrize("change", [added, unlinked, linked])
@pytest.mark.parametrize("count", [40, 200])
def test_a_small_change_moves_the_nodes_little(change, count):
    moved = []
    for seed in range(8):
        before = web(count, seed=seed)
        old, new = place(before), place(change(before, random.Random(seed)))
        size = max(dist(one, other) for one in old.values() for other in old.values())
        moved.append(sum(dist(old[name], new[name]) for name in old) / len(old) / size)
    assert sorted(moved)[len(moved) // 2] < 0.05
    assert max(moved) < 0.2


def test_nodes_do_not_lie_on_each_other():
    places = list(place(web(200)).values())
    nearest = [min(dist(one, other) for other in places if other is not one) for one in places]
    assert sorted(nearest)[20] > 0.15


HOSTILE = [
    "</title><script>alert(1)</script>",
    '"><image href="https://evil.example/x.png"/>',
    "<style>@import 'https://evil.example'</style>",
    "]]><!--&lt;script&gt;",
    "turned \u202e around \u2066 and \x1b[31m red \x9b \x00 \ufffe \ud800",
    "two\nlines",
]


@pytest.mark.parametrize("title", HOSTILE)
@pytest.mark.parametrize("field", ["name", "title", "kind", "status"])
def test_a_hostile_text_stays_text(title, field):
    fields = {"name": "a", "title": "A", "kind": "decision", "status": "", field: title}
    one = DrawnNode(**fields, backlinks=1, path="a.md")
    found = Neighbourhood("b", (one, node("b")), ((one.name, "b", title), ("b", one.name, "supports")), 1)
    text = draw(found, link=lambda name: f"#{name}", more="?more", is_styled=True)
    root = parse(text)
    tags = {item.tag.removeprefix(SVG) for item in root.iter()}
    assert tags <= {"svg", "style", "rect", "marker", "path", "g", "a", "title", "text"}
    assert not [name for item in root.iter() for name in item.attrib if name.startswith("on") or name == "style"]
    assert all(item.get("href", "#").startswith(("#", "?")) for item in root.iter())
    assert not re.search(f"[{_STEERING}]".replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"), text)


def test_what_is_drawn_says_what_it_is():
    retired = node("old", status="superseded", title="The old way")
    found = Neighbourhood("new", (node("new", backlinks=9), retired), (("new", "old", "supersedes"),), 3)
    root = parse(draw(found, link=lambda name: f"/record/{name}", more="?limit=400"))
    nodes = {item.get("href"): item for item in root.iter(f"{SVG}a")}
    assert nodes["/record/old"].get("class") == "node retired"
    assert nodes["/record/new"].get("class") == "node root"
    assert nodes["/record/old"].find(f"{SVG}title").text == "The old way · superseded"
    assert "".join(nodes["?limit=400"].itertext()) == "3 more nodes are not drawn"
    shown = "".join(root.find(f".//{SVG}g[@class='legend']").itertext())
    assert all(word in shown for word in ("decision", "supersedes", "no longer holds", "backlinks"))
    assert root.get("aria-label") == "Graph of 2 nodes"


@pytest.mark.parametrize(("address", "role"), [("", "img"), ("#a", "group")])
def test_a_reader_for_the_blind_gets_at_the_links(address, role):
    root = parse(draw(web(5), link=lambda _: address))
    assert root.get("role") == role
    assert len(list(root.iter(f"{SVG}a"))) == (5 if address else 0)


def write(root: Path, name: str, text: str) -> None:
    path = root / "projects/shop/builder/notes" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_at_most_two_hundred_nodes_and_the_nearest_ones(root):
    for number in range(230):
        write(root, f"n{number}", f"# Note {number}\n\nSee [[hub]].{' See [[n0]].' * (number > 200)}\n")
    write(root, "hub", "# Hub\n")
    with Context.open(str(root)) as context:
        found = gather(context, graph.graph(context, "projects/shop/builder/notes/hub", depth=2, direction="both"))
    names = [one.name for one in found.nodes]
    assert len(names) == MOST_DRAWN
    assert found.left_out == 31
    assert names[0].endswith("/hub")
    assert names[1].endswith("/n0")
    assert found.nodes[0].backlinks == 230
    assert {name for edge in found.edges for name in edge[:2]} <= set(names)


@pytest.mark.parametrize(
    ("form", "nodes", "note"), [("mermaid", 200, True), ("dot", 200, True), ("text", 231, False), ("json", 231, False)]
)
def test_what_another_program_draws_has_no_more_nodes(root, capsys, form, nodes, *, note):
    write(root, "hub", "".join(f"See [[n{number:03}]].\n\n" for number in range(230)))
    assert run(["--memory-dir", str(root), "graph", "hub", "--format", form]) == 0
    printed = capsys.readouterr()
    assert len(set(re.findall(r"notes/n\d{3}\b", printed.out))) == nodes - 1
    assert ("31 more nodes are not drawn" in printed.err) == note


@pytest.mark.parametrize("words", [["a"], ["a", "--depth", "0"], ["missing-one", "--direction", "in"]])
def test_the_command_prints_a_picture(root, capsys, words):
    write(root, "a", "# A <b>\n\nSee [[missing-one]] and ARENA-7.\n")
    assert run(["--memory-dir", str(root), "graph", *words, "--format", "svg"]) in (0, 4)
    printed = capsys.readouterr().out
    if printed:
        links = [item.get("href") for item in parse(printed).iter(f"{SVG}a")]
        assert "projects/shop/builder/notes/a.md" in links
