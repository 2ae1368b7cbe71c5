"""The schemas say what is on disk: every record of the knowledge base, and whatever the writer writes, is valid by them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.domain.names import ORPHAN_KINDS
from oracle.domain.records.drafts import CONFIDENCES, STATUSES, TRUSTS, Draft, Evidence
from oracle.errors import InvalidRecord
from oracle.store.markdown import markdown, records
from oracle.store.root.layout import Root

CHECKOUT = Path(__file__).resolve().parent.parent
SCHEMAS = sorted((CHECKOUT / "schemas").glob("*.schema.json"))
KB = CHECKOUT / "references" / "kb"
RECORDS = sorted(KB.glob("projects/**/*.md"))
MOMENT = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)


def load(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


RECORD = jsonschema.Draft202012Validator(load(CHECKOUT / "schemas" / "record.schema.json"))


def fields_of(raw: bytes) -> dict:
    document = markdown.parse(raw)
    assert document.problems == ()
    return document.fields


def faults(fields: dict) -> list[str]:
    return [error.message for error in RECORD.iter_errors(fields)]


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_schema_is_a_schema(path: Path):
    meta = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    assert [error.message for error in meta.iter_errors(load(path))] == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem[:60])
def test_record_of_the_knowledge_base_is_valid(path: Path):
    assert faults(fields_of(path.read_bytes())) == []


WORDS = st.text(st.characters(codec="utf-8"), max_size=40)
SOME = st.lists(WORDS.filter(lambda text: text.strip() and not set(text) & set("\n\r")), max_size=3).map(tuple)
TASKS = st.from_regex(r"(?:GH)?#[0-9]{1,6}|[A-Z\u4e00-\u4e09][A-Z0-9._-]{0,8}[0-9]", fullmatch=True).filter(
    lambda text: ".." not in text
)
EVIDENCE = st.lists(st.builds(Evidence, st.sampled_from(TRUSTS), WORDS.filter(str.strip), WORDS), max_size=3).map(tuple)


@given(
    st.builds(
        Draft,
        kind=st.sampled_from(ORPHAN_KINDS),
        project=st.sampled_from(["arena", "项目", "a.b_c-1"]),
        title=WORDS,
        body=WORDS,
        author=WORDS.filter(bool),
        status=st.sampled_from(STATUSES),
        detail=WORDS,
        task_id=st.just("") | TASKS,
        confidence=st.sampled_from(CONFIDENCES),
        evidence=EVIDENCE,
        related_task_ids=st.lists(TASKS, max_size=3).map(tuple),
        supersedes=SOME,
        contradicts=SOME,
        extra=st.dictionaries(WORDS, WORDS, max_size=2),
    )
)
def test_whatever_is_rendered_is_valid(draft: Draft):
    try:
        new = records.render(records.check(Root("/nowhere"), draft, MOMENT), MOMENT)
    except InvalidRecord:
        return
    assert faults(fields_of(new.raw)) == []


@pytest.mark.parametrize("kind", ORPHAN_KINDS)
def test_whatever_is_written_is_valid(kind: str, root: Path):
    with Oracle.open(str(root)) as oracle:
        first = oracle.write(
            Draft(kind=kind, project="arena", title="一 'quoted' # title: yes", evidence=(Evidence("high", "a.py:1"),))
        )
        second = oracle.retire(first.slug, "No longer so.")
    for written in (first, second):
        assert faults(fields_of(Path(written.path).read_bytes())) == []


def valid() -> dict:
    draft = Draft(kind="finding", project="arena", title="T", evidence=(Evidence("high", "a.py:1"),))
    return fields_of(records.render(records.check(Root("/nowhere"), draft, MOMENT), MOMENT).raw)


SEAT = {
    "ts": "2026-05-01T10:00:00Z",
    "task_id": "ARENA-1",
    "project": "arena",
    "seat": "builder-1",
    "kind": "finding",
    "title": "T",
    "status": "open",
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "delivery"),
        ("seat", "builder"),
        ("project", "../arena"),
        ("project", "a/b"),
        ("project", ".hidden"),
        ("title", ""),
        ("title", "two\nlines"),
        ("ts", "yesterday"),
        ("status", "done"),
        ("confidence", "sure"),
        ("evidence", []),
        ("evidence", [{"trust": "high"}]),
        ("evidence", [{"trust": "sure", "source_url": "a.py"}]),
        ("supersedes", [["a"]]),
    ],
)
def test_wrong_value_of_a_memory_record_is_found(key: str, value: object):
    assert faults(valid()) == []
    assert faults({**valid(), key: value})


@pytest.mark.parametrize("key", ["schema_version", "id", "project", "kind", "title", "ts", "evidence"])
def test_missing_key_of_a_memory_finding_is_found(key: str):
    assert faults({name: value for name, value in valid().items() if name != key})


@pytest.mark.parametrize(
    ("key", "value"), [("kind", "task"), ("seat", "memory"), ("severity", "urgent"), ("title", "")]
)
def test_wrong_value_of_a_seat_record_is_found(key: str, value: str):
    assert faults(SEAT) == []
    assert faults({**SEAT, key: value})


@pytest.mark.parametrize("key", sorted(SEAT))
def test_missing_key_of_a_seat_record_is_found(key: str):
    assert faults({name: value for name, value in SEAT.items() if name != key})


def test_unknown_keys_survive():
    assert faults({**SEAT, "mood": "good"}) == []
    assert faults({**valid(), "mood": ["good", {"a": "b"}]}) == []


def test_a_seat_is_asked_for_no_more_than_the_tests_here_know():
    schema = load(CHECKOUT / "schemas" / "record.schema.json")
    assert sorted(schema["$defs"]["of_a_seat"]["required"]) == sorted(SEAT)
