"""Record files: bytes to documents without fail, JSON of the old layouts, creation under a free name."""

from __future__ import annotations

import errno
import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.records.drafts import Draft
from oracle.domain.records.records import interpret
from oracle.errors import DiskFailure, InvalidRecord, OwnershipError
from oracle.store.disk import files
from oracle.store.markdown import records
from oracle.store.root.layout import Root

MOMENT = datetime(2026, 4, 27, 18, 30, 0, 123456, tzinfo=UTC)


@given(st.binary(max_size=400), st.sampled_from(("x.md", "x.json")))
def test_any_bytes_are_read(raw: bytes, name: str) -> None:
    document = records.parse(f"projects/a/builder/{name}", raw)
    record = interpret(document, "projects/a/builder/x", f"projects/a/builder/{name}", mtime_ns=0)
    json.dumps([document.body, dict(document.fields), record.title], ensure_ascii=False).encode()
    assert all(problem.line >= 1 and problem.reason for problem in document.problems)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(exclude_categories=()), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(alphabet=st.characters(exclude_categories=()), max_size=9), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(_json)
def test_any_json_is_read(value: Any) -> None:
    document = records.parse("x.json", json.dumps(value).encode())
    interpret(document, "projects/a/x", "projects/a/x.json", mtime_ns=0)
    json.dumps([document.body, dict(document.fields)], ensure_ascii=False).encode()
    assert bool(document.problems) == (not isinstance(value, dict))


def test_the_json_record_of_old(root: Path) -> None:
    content = {
        "schema_version": 1, "kind": "finding", "id": "finding-install-1", "project": "install", "author": "memory",
        "ts": "2026-11-27T21:30:00.408841Z", "title": "Z", "body": "line1\nARENA-228", "related_task_ids": ["ARENA-1"],
        "evidence": [{"trust": "high", "source_url": "src/app.py", "quote": "words"}], "supersedes": None, "n": 1.50,
    }  # fmt: skip
    document = records.parse("x.json", json.dumps(content).encode())
    record = interpret(document, "projects/install/findings/x", "projects/install/findings/x.json", mtime_ns=0)
    assert (record.kind, record.project, record.title, record.ts) == ("finding", "install", "Z", content["ts"])
    assert "line1\nARENA-228" in document.body
    assert "words" in document.body
    assert [(relation.type, relation.target) for relation in record.relations] == [
        ("related-task", "entity:taskid:ARENA-1")
    ]
    assert document.problems == ()


@pytest.mark.parametrize(("raw", "line"), [(b"{", 1), (b'{"a": 1,\n\n"b" 2}', 3), (b'{"a": "\n\xff"}', 2), (b"", 1)])
def test_bad_json_is_named_with_its_line(raw: bytes, line: int) -> None:
    assert records.parse("x.json", raw).problems[0].line == line


def test_more_than_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_BYTES", 100)
    path = tmp_path / "x.md"
    for size, problems in ((100, 0), (101, 1), (5_000, 1)):
        path.write_bytes(b"x" * size)
        raw = records.read(str(path))
        assert len(raw) == min(size, 101)
        document = records.parse("x.md", raw)
        assert len(document.problems) == problems
        assert len(document.body) == 100


def create_all(root: Path, drafts: list[Draft]) -> list[records.Created]:
    top = Root(str(root))
    return records.create_all(top, [records.check(top, draft, MOMENT) for draft in drafts], [MOMENT] * len(drafts))


def test_a_taken_name_gets_a_number(root: Path) -> None:
    draft = Draft("decision", "arena", "One two")
    paths = [create_all(root, [draft])[0].path for _ in range(3)]
    first = "projects/arena/decision/2026-04-27T18-30-00-123456Z-one-two"
    assert paths == [f"{first}.md", f"{first}-2.md", f"{first}-3.md"]
    for path in paths:
        assert f'id: "{Path(path).stem}"' in (root / path).read_text()
    assert [path.name for path in (root / "_state/tmp").iterdir()] == []


def test_a_batch_of_which_one_folder_can_not_be_made_leaves_nothing(root: Path) -> None:
    (root / "projects/zeta").mkdir(parents=True)
    (root / "projects/zeta/decision").touch()
    drafts = [Draft("decision", project, "One") for project in ("arena", "zeta", "arena")]
    with pytest.raises(DiskFailure):
        create_all(root, drafts)
    assert [path for path in root.rglob("*") if path.is_file()] == [root / "projects/zeta/decision"]


@pytest.mark.parametrize("fault", ["write_scratch", "sync_file"])
@pytest.mark.parametrize("count", [1, 20])
def test_a_batch_that_finds_the_disk_full_leaves_nothing_in_the_way(
    root: Path, monkeypatch: pytest.MonkeyPatch, fault: str, count: int
) -> None:
    calls = itertools.count(1)
    real = getattr(files, fault)

    def refuse(*given: Any) -> Any:
        if next(calls) == count:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*given)

    monkeypatch.setattr(files, fault, refuse)
    with pytest.raises(DiskFailure, match="the disk is full"):
        create_all(root, [Draft("decision", "arena", "One")] * 20)
    assert [path for path in root.rglob("*") if path.is_file()] == []


def test_a_record_that_could_not_be_read_whole_is_not_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_BYTES", 1 << 20)
    with pytest.raises(InvalidRecord, match="larger than 1 MiB"):
        create_all(root, [Draft("decision", "arena", "One", "x" * (1 << 20))])
    assert [path for path in root.rglob("*") if path.is_file()] == []


def test_where_a_seat_may_not_write(root: Path) -> None:
    for seat in ("builder", "nobody"):
        with pytest.raises(OwnershipError):
            records.check(Root(str(root)), Draft("decision", "arena", "x", seat=seat), MOMENT)
