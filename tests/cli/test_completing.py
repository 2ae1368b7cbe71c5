"""What the shell is offered: names of the index as it stands, and never a word too much."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from oracle.app.oracle import Oracle
from oracle.cli import completing
from oracle.domain.drafts import Draft

CHECKOUT = Path(__file__).parents[2]
START = "import sys; from oracle.cli.main import run; sys.exit(run())"


@pytest.fixture
def filled(root: Path) -> Path:
    (root / "machine").mkdir(exist_ok=True)
    (root / "machine" / "network.json").write_text("{}")
    path = root / "projects/arena/builder/issues/重试.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nstatus: blocked\nauthor: ada\n---\n\nARENA-7, see GH#12.\n")
    with Oracle.open(str(root)) as oracle:
        slug = oracle.write(Draft("decision", "arena", "Retry three times", "ARENA-12 says so.")).slug
        oracle.retire(slug, "Too many.")
    return root


def offered(root: Path, line: str, **environment: str) -> list[str]:
    """Return what a shell is told for the words typed so far."""
    known = {**os.environ, "ORACLE_ROOT": str(root), **environment}
    known |= {"_ORACLE_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    known |= {"_TYPER_COMPLETE_ARGS": line}
    done = subprocess.run(
        [sys.executable, "-c", START], env=known, cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [word.partition("\t")[0] for word in done.stdout.split("\n") if word]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("oracle list --kind ", ["decision", "issue"]),
        ("oracle list --kind iss", ["issue"]),
        ("oracle list --project a", ["arena"]),
        ("oracle list --seat b", ["builder"]),
        ("oracle list --status ret", ["retired"]),
        ("oracle list --status b", ["blocked"]),
        ("oracle timeline --author a", ["ada"]),
        ("oracle search x --task ARENA-", ["ARENA-12", "ARENA-7"]),
        ("oracle show projects/arena/b", ["projects/arena/builder/issues/重试"]),
        ("oracle show 重", ["重试"]),
        ("oracle backlinks entity:taskid:ARENA-1", ["entity:taskid:ARENA-12"]),
        ("oracle graph x --direction ", ["out", "in", "both"]),
        ("oracle graph x --format m", ["mermaid"]),
        ("oracle links x --type sup", ["supersedes", "supports"]),
        ("oracle entities --namespace c", ["commit", "component"]),
        ("oracle get net", ["network"]),
        ("oracle write f", ["finding"]),
        ("oracle write decision --confidence h", ["high"]),
        ("oracle write decision --supersedes projects/arena/builder/", ["projects/arena/builder/issues/重试"]),
        ("oracle list --kind nothing", []),
    ],
)
def test_values_are_offered(filled: Path, line: str, words: list[str]):
    assert offered(filled, line) == words


def test_the_root_that_was_named_is_asked(filled: Path, tmp_path: Path):
    line = f"oracle list --memory-dir {filled} --project "
    assert offered(tmp_path / "nowhere", line) == ["arena"]
    assert offered(tmp_path / "nowhere", f"oracle --memory-dir {filled} list --project ") == ["arena"]


@pytest.mark.parametrize("state", ["no root", "no index", "damaged"])
def test_nothing_is_offered_made_or_said_where_nothing_is_known(tmp_path: Path, state: str):
    root = tmp_path / "memory"
    if state != "no root":
        (root / "projects" / "arena").mkdir(parents=True)
    if state == "damaged":
        (root / "_state").mkdir()
        (root / "_state" / "oracle.db").write_bytes(b"no database" * 100)
    before = sorted(tmp_path.rglob("*"))
    for line in ("oracle show p", "oracle list --kind d", "oracle get x", "oracle backlinks e"):
        assert offered(root, line) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_whatever_goes_wrong_is_an_empty_offer():
    context = SimpleNamespace(params={"memory_dir": "\0"}, parent=None)
    for offer in (completing.slugs, completing.targets, completing.kinds, completing.tasks, completing.facts):
        assert offer(context, "x") == []
