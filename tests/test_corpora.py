"""Other people's documents as seats' records: read, linked, indexed, asked, rebuilt, without one crash.

The corpora are not ours to keep: they are looked for in the folder that ORACLE_SHARED names, or beside the checkout, and
the tests are skipped where they are absent.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.overview.status import status
from oracle.app.records.graph import entities, graph, unresolved
from oracle.app.records.listing import list_orphans, list_problems
from tests.guard import CHECKOUT
from tests.laws.ledger import assert_like_rebuilt, read_projections

# The environment is emptied of our variables before a test runs, so it is read here.
SHARED = Path(os.environ.get("ORACLE_SHARED") or Path(CHECKOUT).parent / "shared")
SEATS = ("builder", "planner", "reviewer")
CORPORA = {
    "adr-en": ("decision", "architecture record"),
    "docs-zh": ("配置", "安装"),
    "odd-real": ("markdown", "note"),
    "vault-en": ("note", "link"),
    "vault-en-foam": ("note", "link"),
}


def lay_out(corpus: Path, root: Path) -> int:
    """Put every document of a corpus under some seat of the project of its first folder, bytes unchanged."""
    count = 0
    for document in sorted(corpus.rglob("*")):
        relative = document.relative_to(corpus)
        if document.suffix not in (".md", ".mdx", ".json") or len(relative.parts) < 2 or not document.is_file():
            continue
        seat = SEATS[zlib.crc32(str(relative).encode()) % len(SEATS)]
        name = "--".join(relative.parts[1:]).removesuffix(".mdx").removesuffix(".md")
        target = root / "projects" / relative.parts[0] / seat / (name if document.suffix == ".json" else f"{name}.md")
        target.parent.mkdir(parents=True, exist_ok=True)
        if len(target.name.encode()) <= 255:
            target.write_bytes(document.read_bytes())
            count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus(root: Path, name: str) -> None:
    corpus = SHARED / "corpora" / name
    if not corpus.is_dir():
        pytest.skip(f"the corpus {name} is not at {corpus}; name its folder's parent with ORACLE_SHARED")
    count = lay_out(corpus, root)
    assert count > 0
    with Oracle.open(str(root)) as oracle:
        assert oracle.reconcile().taken == count
        records = oracle.records({})
        assert len(records) == count
        ask(oracle, root, name)
        churn(oracle, root)
        assert_like_rebuilt(oracle)
    before = read_projections(root)
    for folder in ("_state", "_links", "_backlinks"):
        shutil.rmtree(root / folder)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        assert read_projections(root) == before


def ask(oracle: Oracle, root: Path, name: str) -> None:
    """Ask every sort of question; every answer can be checked against the files."""
    hits = [hit for text in CORPORA[name] for hit in oracle.search(text)]
    assert hits
    for hit in hits:
        shown = oracle.show(hit.record.slug, first_line=hit.first_line, last_line=hit.last_line)
        assert hit.snippet in shown.text
    for record in oracle.records({}):
        assert oracle.show(record.slug).record.slug == record.slug
        assert len(record.title) <= 300
        for kind, target, snippet, line, _ in oracle.links(record.slug):
            assert kind
            assert target
            assert len(snippet) <= 200
            assert 1 <= line <= len((root / record.path).read_bytes().replace(b"\r", b"\n").split(b"\n"))
    for entity, times in entities(oracle, top=50):
        assert len({row[0] for row in oracle.backlinks(entity)}) == times
    for path, line, reason in list_problems(oracle):
        assert (root / path).exists()
        assert line >= 1
        assert reason.endswith(".")
    for line in (line for path in (root / "_backlinks").iterdir() for line in path.read_bytes().splitlines()):
        assert set(json.loads(line)) == {"extracted_at", "from", "snippet", "to", "type"}
    graph(oracle, hits[0].record.slug, depth=3, direction="both")
    assert status(oracle)["records"] == len(oracle.records({}))
    list_orphans(oracle)
    unresolved(oracle)


def churn(oracle: Oracle, root: Path) -> None:
    """Rename, edit and delete every tenth document, so that the index has grown by steps."""
    for number, record in enumerate(oracle.records({})):
        path = root / record.path
        if number % 10 == 0:
            path.rename(path.with_name(f"moved {number}{path.suffix}"))
        elif number % 10 == 1:
            with path.open("ab") as stream:
                stream.write(f"\nARENA-{number} [[moved {number - 1}]]\n".encode())
        elif number % 10 == 2:
            path.unlink()
    oracle.reconcile(full=True)
