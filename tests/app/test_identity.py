"""Whose a record is: the folder says it, not the frontmatter, and a record ends only what its seat may end."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.search.federated import list_whole
from oracle.domain.names import may_end
from oracle.mcp.read_tools import line_of
from tests.forked import run_python

DECISION = "projects/arena/decision/queue"
FORGED = "projects/arena/builder/forged"
FIELDS = "seat: memory\nauthor: memory\nkind: decision\n"


def put(root: Path, slug: str, body: str, fields: str = "") -> None:
    path = root / f"{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{fields}---\n# {slug.rpartition('/')[2]}\n\n{body}\n", encoding="utf-8")


def statuses(root: Path) -> dict[str, str]:
    """Return what retired each record, as the index of changes has it, which is what a rebuild has too."""
    with Oracle.open(str(root)) as oracle:
        found = {record.slug: record.retired_by for record in oracle.records({}, fresh=True)}
    shutil.rmtree(root / "_state")
    with Oracle.open(str(root)) as oracle:
        assert {record.slug: record.retired_by for record in oracle.records({})} == found
    return found


@pytest.mark.parametrize("relation", ["retires", "supersedes"])
def test_a_forged_decision_ends_nothing_and_is_named_everywhere(root: Path, relation: str) -> None:
    put(root, DECISION, "The queue is NATS, because it needs no operator.", "ts: 2026-03-01\n")
    put(root, FORGED, "See the other.", f"ts: 2026-04-01\n{FIELDS}{relation}: [{DECISION}]\n")
    with Oracle.open(str(root)) as oracle:
        assert [(one.slug, one.claims_seat) for one in oracle.records({"seat": "builder"})] == [(FORGED, "memory")]
        assert [one.slug for one in oracle.records({"seat": "memory"})] == [DECISION]
        assert [one.slug for one in oracle.records({"seat": "memory", "kind": "decision"})] == [DECISION]
        (claim,) = oracle.answer("Which queue needs no operator?").claims
        assert (claim.record.slug, claim.record.effective_status) == (DECISION, "")
        shown = oracle.show(DECISION)
        assert (shown.chain, shown.claims) == ((), ((FORGED, f"claims-{relation}"),))
        assert oracle.show(FORGED).supersedes == ()
        assert oracle.show(FORGED).as_json()["claims_seat"] == "memory"
        (entry,) = [one for one in list_whole(oracle, {"project": "arena"}) if one["path"].endswith("forged.md")]
        assert (entry["seat"], entry["claims_seat"]) == ("builder", "memory")
        assert "(decision, builder (claims memory), 2026-04-01)" in line_of(oracle.records({"seat": "builder"})[0])
        owners = [check for check in oracle.doctor() if check.name == "owners"]
    assert [(check.severity, FORGED in check.detail) for check in owners] == [("error", True)]


ENDS = [
    ("projects/arena/builder/new", "projects/arena/builder/old", True),
    ("projects/arena/builder/new", "projects/arena/builder/deep/old", True),
    ("projects/arena/builder/new", "projects/arena/builder-2/old", False),
    ("projects/arena/builder/new", "projects/arena/reviewer/old", False),
    ("projects/arena/builder/new", "projects/other/builder/old", False),
    ("projects/arena/builder/new", "projects/arena/plan/old", False),
    ("projects/arena/builder/new", "shared/patterns/old", False),
    ("projects/arena/decision/new", "projects/arena/builder/old", True),
    ("projects/arena/decision/new", "projects/other/reviewer/old", True),
]


@pytest.mark.parametrize(("new", "old", "ends"), ENDS)
@pytest.mark.parametrize("fields", ["", FIELDS, "seat: reviewer\nproject: other\n"])
def test_a_record_ends_those_of_its_own_seat_and_memory_ends_any(
    root: Path, new: str, old: str, fields: str, *, ends: bool
) -> None:
    put(root, old, "What was.")
    put(root, new, "What is.", f"ts: 2026-04-01\n{fields}supersedes: {old}\n")
    assert statuses(root) == {new: "", old: new if ends else ""}


def test_where_no_folder_names_a_seat_the_frontmatter_does_and_a_change_of_it_counts_at_once(root: Path) -> None:
    old, new = "projects/arena/deliveries/old", "projects/arena/deliveries/new"
    put(root, old, "What was.", "seat: builder\n")
    put(root, new, "What is.", f"seat: reviewer\nts: 2026-04-01\nsupersedes: {old}\n")
    with Oracle.open(str(root)) as oracle:
        assert [(one.slug, one.seat, one.claims_seat) for one in oracle.records({})] == [
            (new, "reviewer", ""),
            (old, "builder", ""),
        ]
        assert oracle.show(old).chain == ()
        put(root, old, "What was.", "seat: reviewer\n")
        assert oracle.show(old, fresh=True).chain == (new,)
        put(root, new, "What is.", f"seat: builder\nts: 2026-04-01\nsupersedes: {old}\n")
        assert oracle.show(old, fresh=True).chain == ()
    assert statuses(root) == {old: "", new: ""}


def test_a_claim_is_a_link_of_its_own_in_files_too(root: Path) -> None:
    put(root, DECISION, "NATS.")
    put(root, FORGED, "Kafka.", f"{FIELDS}supersedes: [{DECISION}]\n")
    with Oracle.open(str(root)) as oracle:
        assert [row[:2] for row in oracle.backlinks(DECISION)] == [(FORGED, "claims-supersedes")]
        oracle.reconcile()
    (printed,) = (root / "_backlinks").glob("*queue*")
    assert json.loads(printed.read_text(encoding="utf-8"))["type"] == "claims-supersedes"


@pytest.mark.parametrize(
    ("source", "target", "ends"),
    [("builder", "builder", True), ("memory", "builder", True), ("builder", "memory", False), ("memory-2", "qa", True)],
)
def test_who_may_end_a_record_of_the_same_project(source: str, target: str, *, ends: bool) -> None:
    assert may_end("projects/p/x", source, "projects/p/y", target) is ends


DOORS = {
    "write": ["oracle", "write", "decision", "--project", "arena", "--title", "T", "--body", "B"],
    "retire": ["oracle", "retire", DECISION, "--reason", "R"],
    "memory_write": [
        "compat",
        "memory_write",
        "--kind",
        "decision",
        "--project",
        "arena",
        "--title",
        "T",
        "--author",
        "memory",
    ],
    "memory_write, dropped": [
        "compat",
        "memory_write",
        "--kind",
        "decision",
        "--project",
        "arena",
        "--content-file",
        "{root}/text",
    ],
    "router add": [
        "compat",
        "memory_router",
        "add",
        '{"memory_type": "preference", "title": "T", "summary": "S", "project": "arena"}',
    ],
    "router reflect": [
        "compat",
        "memory_router",
        "reflect",
        '{"goal": "G", "outcome": "done", "lessons": ["L"], "project": "arena"}',
    ],
    "decision log": ["compat", "decision_log", "append", "arena", "T-1", "Title", "Detail"],
}


@pytest.mark.parametrize("door", DOORS)
def test_no_door_lets_another_seat_write_as_memory(door: str, root: Path) -> None:
    put(root, DECISION, "The queue is NATS.")
    (root / "text").write_text("# Title\n\nText.\n")
    program, *words = [word.replace("{root}", str(root)) for word in DOORS[door]]
    before = set((root / "projects").rglob("*.md"))

    def run(seat: str) -> tuple[int, str]:
        command = [str(Path(sys.executable).with_name("oracle")), *([program] if program == "compat" else []), *words]
        environ = {**os.environ, "ORACLE_ROOT": str(root), "MAR_DB_PATH": str(root), "ORACLE_SEAT": seat}
        done = run_python(command, env=environ)
        return done.returncode, done.stdout + done.stderr

    code, said = run("builder")
    assert (code, "The seat builder may not write projects/arena/" in said) == (5, True), said
    assert set((root / "projects").rglob("*.md")) == before
    code, said = run("memory")
    assert code == 0, said
    assert len(set((root / "projects").rglob("*.md")) - before) >= 1
