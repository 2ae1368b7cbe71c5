"""Relations that frontmatter states: however a record is named there, an edge leads to it and a backlink from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.records import graph

NAME = "2026-01-01T00-00-00-000000Z-old-queue"
OLD, FAR = f"projects/shop/decision/{NAME}", "projects/other/decision/2026-01-01T00-00-00-000000Z-far"
NEW = "projects/shop/decision/2026-02-01T00-00-00-000000Z-new-queue"
WRITTEN = {
    "slug": OLD,
    "path": f"{OLD}.md",
    "absolute path": f"ROOT/{OLD}.md",
    "name": NAME,
    "name without stamp": "old-queue",
    "id": "dec-17",
    "wikilink": f'"[[{OLD}]]"',
    "wikilink with an alias": '"[[old-queue|the old one]]"',
    "link": f'"[old]({NAME}.md)"',
    "address": f"oracle://record/{OLD}",
    "list": f"\n  - {OLD}",
    "another project": FAR,
}


def put(root: Path, slug: str, *fields: str) -> None:
    path = root / f"{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["---", *fields, "kind: decision", "---", "", "Text.", ""]), encoding="utf-8")


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("key", ["supersedes", "superseded_by", "supersededBy"])
def test_each_way_to_name_a_record_gives_an_edge_and_a_backlink(root: Path, key: str, written: str) -> None:
    put(root, OLD, "id: dec-17", "title: Old")
    put(root, FAR, "title: Far")
    put(root, NEW, "title: New", f"{key}: {written.replace('ROOT', str(root))}")
    kind, target = ("supersedes", FAR if written == FAR else OLD) if key == "supersedes" else ("references-record", "")
    with Oracle.open(str(root)) as oracle:
        ((found, name, snippet, _, exists),) = graph.links(oracle, NEW)
        assert (found, name, bool(exists)) == (kind, target or (FAR if written == FAR else OLD), True)
        assert snippet.startswith("supersedes: " if key == "supersedes" else "superseded_by: ")
        assert [row[0] for row in graph.backlinks(oracle, name)] == [NEW]
        assert oracle.show(NEW).record.effective_status == ("" if key == "supersedes" else "superseded")


@pytest.mark.parametrize("nothing", ["null", "", "none", "[]", '"-"'])
def test_a_record_without_a_successor_is_not_superseded(root: Path, nothing: str) -> None:
    put(root, NEW, "title: New", "status: open", f"superseded_by: {nothing}")
    with Oracle.open(str(root)) as oracle:
        assert graph.links(oracle, NEW) == []
        assert oracle.show(NEW).record.effective_status == "open"


def test_a_name_of_a_file_goes_before_an_id(root: Path) -> None:
    put(root, OLD, "id: new-plan", "title: Old")
    put(root, "projects/shop/decision/new-plan", "title: Plan")
    put(root, NEW, "title: New", "supersedes: new-plan")
    with Oracle.open(str(root)) as oracle:
        assert [row[1] for row in graph.links(oracle, NEW)] == ["projects/shop/decision/new-plan"]
