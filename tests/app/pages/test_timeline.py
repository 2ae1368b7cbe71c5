"""The drawing of records by time: rows in order, columns of seats, chains, and texts that stay texts."""

from xml.etree import ElementTree

import pytest

from oracle.app.context import Context
from oracle.app.pages.timeline import draw, gather
from oracle.app.records import listing
from tests.app.pages.test_graph import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


def write(root, name, *, seat="builder", project="shop", ts="2026-11-28T10:00:00Z", title="A", more=""):
    path = root / "projects" / project / seat / "notes" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nts: {ts}\ntitle: {title!r}\n{more}---\n\nText.\n", encoding="utf-8", errors="surrogatepass")
    return f"projects/{project}/{seat}/notes/{name}"


def drawn(root, filters=None, **options):
    with Context.open(str(root)) as context:
        found = gather(context, filters or {}, **options)
        text = draw(found, link=lambda slug: f"#{slug}", more="?older")
        return found, ElementTree.fromstring(text), listing.list_records(context, filters or {})  # noqa: S314


def test_a_row_for_each_record_in_the_order_of_the_list(root):
    for hour in (12, 9, 15):
        write(root, f"n{hour}", ts=f"2026-11-28T{hour:02}:00:00Z", title=f"At {hour}")
    write(root, "next", ts="2026-11-29T01:00:00Z", seat="planner")
    _, image, records = drawn(root)
    rows = [item for item in image.iter(f"{SVG}a") if item.get("href").startswith("#")]
    assert [row.get("href")[1:] for row in rows] == [one.slug for one in records]
    heights = [float(row.find(f"{SVG}text").get("y")) for row in rows]
    assert heights == sorted(set(heights))
    texts = ["".join(item.itertext()) for item in image.iter(f"{SVG}text")]
    assert [text for text in texts if text.startswith("2026")] == ["2026-11-28", "2026-11-29"]
    assert {"builder", "planner"} <= set(texts)
    assert image.get("role") == "group"


@pytest.mark.parametrize(("relation", "status"), [("supersedes", "superseded"), ("retires", "retired")])
def test_a_chain_is_drawn_and_the_old_record_is_faded(root, relation, status):
    old = write(root, "old", title="Old way")
    write(root, "new", ts="2026-11-28T12:00:00Z", more=f"{relation}: [{old}]\n")
    _, image, _ = drawn(root)
    [curve] = [item for item in image if item.get("class") == f"edge {relation}"]
    assert curve.get("marker-end") == "url(#head-timeline)"
    [row] = [item for item in image.iter(f"{SVG}a") if item.get("href") == f"#{old}"]
    assert row.get("class") == "node retired"
    assert f"[{status}]" in "".join(row.itertext())


def test_older_records_than_the_window_holds_are_announced(root):
    for number in range(8):
        write(root, f"n{number}", ts=f"2026-11-{10 + number}T10:00:00Z", title=f"Note {number}")
    found, image, _ = drawn(root, most=5)
    assert [one.title for one in found.records] == [f"Note {number}" for number in range(3, 8)]
    [sign] = [item for item in image.iter(f"{SVG}a") if item.get("class") == "more"]
    assert sign.get("href") == "?older"
    assert not drawn(root, {"since": "2026-11-15"}, most=5)[0].has_older


def test_several_projects_and_many_seats(root):
    for number in range(20):
        write(root, "n", project=f"p{number % 2}", seat=f"builder-{number // 2}", ts=f"2026-11-28T10:{number}:00Z")
    found, *_ = drawn(root, {"project": "p0"})
    assert set(found.lanes.values()) == {f"builder-{number}" for number in range(10)}
    found, *_ = drawn(root)
    assert set(found.lanes.values()) == {"p0", "p1"}


@pytest.mark.parametrize("title", [text.replace("\0", "").replace("\ud800", "") for text in HOSTILE])
def test_a_hostile_title_stays_text(root, title):
    write(root, "n", title=title)
    _, image, _ = drawn(root)
    tags = {item.tag.removeprefix(SVG) for item in image.iter()}
    assert tags <= {"svg", "rect", "marker", "path", "g", "a", "title", "text"}
    assert all(item.get("href", "#").startswith(("#", "?")) for item in image.iter())
