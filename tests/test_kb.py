"""The knowledge base of the project is a Root like any other, and what its records say can be checked: tasks, commits, files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.records import graph
from oracle.app.records.graph import unresolved
from oracle.app.records.listing import list_problems
from oracle.store.markdown import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).resolve().parent.parent
KB = CHECKOUT / "references" / "kb"
DERIVED = ("_state", "_links", "_backlinks", "_index", "index.json")
HAN = re.compile("[\u4e00-\u9fff]")
OF_THE_MACHINE = {"programs", "clock", "times", "flock", "disk"}
ILLUSTRATIONS = {"index.json", "x.json", "x.md"}
"""Files that records speak about and that are none of this repository."""


def copy_kb(root: Path) -> Path:
    shutil.copytree(KB, root, ignore=shutil.ignore_patterns(*DERIVED), dirs_exist_ok=True)
    root.chmod(0o700)
    return root


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the knowledge base: a Root is written to by being asked."""
    return copy_kb(tmp_path_factory.mktemp("kb") / "memory")


@pytest.fixture
def oracle(kb: Path) -> Iterator[Oracle]:
    with Oracle.open(str(kb)) as opened:
        yield opened


def entities(oracle: Oracle, namespace: str) -> list[str]:
    return [name.split(":", 2)[2] for name, _ in graph.entities(oracle, namespace, top=10_000)]


def test_holds_what_every_seat_knows_in_two_languages(oracle: Oracle):
    records = oracle.records({})
    assert len(records) >= 40
    assert {record.seat for record in records} == {"memory", "planner", "builder", "reviewer", "patrol"}
    assert {record.kind for record in records if record.seat == "memory"} == {"decision", "finding", "task", "plan"}
    in_chinese = [record for record in records if len(HAN.findall((KB / record.path).read_text("utf-8"))) > 40]
    assert len(in_chinese) >= 8


def test_doctor_finds_nothing(oracle: Oracle):
    assert list_problems(oracle) == []
    wrong = [check for check in oracle.doctor() if not check.ok and check.name not in OF_THE_MACHINE]
    assert wrong == []


def test_the_one_unresolved_link_is_explained_where_it_stands(oracle: Oracle):
    [(slug, path, _, written, line, _)] = unresolved(oracle)
    text = (KB / path).read_text(encoding="utf-8").split("\n")[line - 1]
    assert f"[[{written}]]" in text
    assert "not written yet" in text
    assert slug.startswith("projects/oracle/planner/")


def test_every_task_id_is_defined_by_a_task_record(oracle: Oracle):
    defined = {record.task_id for record in oracle.records({"kind": "task"})}
    assert set(entities(oracle, "taskid")) == defined
    assert {record.task_id for record in oracle.records({})} <= {*defined, ""}


def test_relations_of_every_sort_are_there(oracle: Oracle):
    first = oracle.show("2026-11-28T00-31-30-000000Z-a-folder-whose-time-stands-still-is-unchanged")
    assert len(first.chain) == 2
    assert all(oracle.show(slug).chain == first.chain[1:] for slug in first.chain[:1])
    statuses = {record.effective_status for record in oracle.records({})}
    assert {"superseded", "retired"} <= statuses
    types = {kind for record in oracle.records({}) for kind, *_ in oracle.links(record.slug)}
    assert {"supersedes", "retires", "contradicts", "supports", "extends", "derived-from", "related-task"} <= types
    assert {
        "references-record",
        "references-commit",
        "references-file",
        "references-key",
        "references-component",
    } <= types


def git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(CHECKOUT), *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


@pytest.fixture(scope="module")
def history() -> str:
    """Return every commit with the paths it touched; skip where the history is not all there."""
    top = git("rev-parse", "--show-toplevel").strip()
    if not top or Path(top).resolve() != CHECKOUT or git("rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("the history of this repository is not here")
    return git("-c", "core.quotePath=false", "log", "--format=commit %H", "--name-only")


def test_every_commit_is_in_the_history(oracle: Oracle, history: str):
    known = re.findall(r"^commit ([0-9a-f]{40})$", history, re.MULTILINE)
    unknown = [name for name in entities(oracle, "commit") if not any(full.startswith(name) for full in known)]
    assert unknown == []


def test_every_file_is_or_was_in_the_repository(oracle: Oracle, history: str):
    known = {line for line in history.split("\n") if line and not line.startswith("commit ")}
    names = {path.rpartition("/")[2] for path in known}
    unknown = {
        name
        for name in entities(oracle, "file")
        if name not in known and ("/" in name or name not in names) and not (CHECKOUT / name).exists()
    }
    assert unknown <= ILLUSTRATIONS


def test_records_speak_of_the_project_alone():
    odd = re.compile(r"(?<!\w)/(?:home|root|Users|work|tmp)/|\bsession|\bhelper\b|\bissue #?\d", re.IGNORECASE)
    assert {
        path.name: odd.findall(path.read_text("utf-8"))
        for path in KB.rglob("*.md")
        if odd.search(path.read_text("utf-8"))
    } == {}


def test_memory_s_records_are_as_memory_writes_them():
    paths = [
        path for kind in ("decision", "finding", "task", "plan") for path in KB.glob(f"projects/oracle/{kind}/*.md")
    ]
    assert len(paths) > 40
    for path in paths:
        raw = path.read_bytes()
        document = markdown.parse(raw)
        assert document.fields["id"] == path.stem
        assert markdown.render(document.fields, document.body.strip("\n"))[0] == raw


def test_listing_does_not_depend_on_when_the_files_were_checked_out(tmp_path: Path, oracle: Oracle):
    other = copy_kb(tmp_path / "memory")
    for number, path in enumerate(sorted(other.rglob("*.md"), key=lambda path: path.name[::-1])):
        os.utime(path, (10**9 + number, 10**9 + number))
    with Oracle.open(str(other)) as fresh:
        assert fresh.records({}) == oracle.records({})


def test_what_is_derived_comes_back_byte_for_byte(tmp_path: Path):
    root = copy_kb(tmp_path / "memory")
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        before, answer = projections(root), oracle.backlinks("entity:taskid:ORACLE-7")
    for name in ("_state", "_links", "_backlinks"):
        shutil.rmtree(root / name)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        assert projections(root) == before
        assert oracle.backlinks("entity:taskid:ORACLE-7") == answer
    assert len(answer) > 10


def projections(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.glob("_*links/*.jsonl")}


def test_nothing_derived_is_committed(history: str):
    assert history
    tracked = git("-c", "core.quotePath=false", "ls-files", "references/kb").split("\n")
    assert not [path for path in tracked if set(path.split("/")) & set(DERIVED)]
    ignored = git(
        "check-ignore", *(f"references/kb/{name}" for name in ("_state/x", "_links/x", "_backlinks/x", "index.json"))
    )
    assert len(ignored.split()) == 4
