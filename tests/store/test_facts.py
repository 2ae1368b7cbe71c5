"""Facts by dotted keys; scanners' folder wins over the old flat one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from oracle.errors import InvalidName, InvalidRecord, NotInMemory
from oracle.store.root import facts
from oracle.store.root.layout import Root


@pytest.fixture
def top(root: Path) -> Root:
    (root / "machine").mkdir()
    (root / "projects/arena").mkdir(parents=True)
    content = {
        "list": [{"a": 1}, 2],
        "with.dot": {"x.y": "deep"},
        "null": None,
        "false": False,
        "zero": 0,
        "with": {"no": 1},
    }
    (root / "machine/net.json").write_text(json.dumps(content))
    (root / "net.json").write_text('{"list": "old"}')
    (root / "flat.json").write_bytes(b'\xef\xbb\xbf{"a": "legacy"}')
    (root / "projects/arena/dev_env.json").write_text('{"python": "3.11"}')
    (root / "machine/bad.json").write_text("{")
    (root / "index.json").write_text('{"a": "catalogue"}')
    return Root(str(root))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("net.list.0.a", 1),
        ("net.list.1", 2),
        ("net.with.dot.x.y", "deep"),
        ("net.with.no", 1),
        ("net.false", False),
        ("net.zero", 0),
        ("flat.a", "legacy"),
        (" net.zero ", 0),
    ],
)
def test_keys(top: Root, key: str, value: Any) -> None:
    fact = facts.find(top, key)
    assert fact.value == value
    assert fact.legacy == (key == "flat.a")


@pytest.mark.parametrize("key", ["../env", "", ".a", " "])
def test_a_key_without_the_name_of_a_file_is_named(top: Root, key: str) -> None:
    with pytest.raises(InvalidName) as caught:
        facts.find(top, key)
    assert repr(key) in caught.value.sentence


def test_a_key_that_is_null_is_said_to_be_there(top: Root) -> None:
    with pytest.raises(NotInMemory, match=r"net\.null is null"):
        facts.find(top, "net.null")


@pytest.mark.parametrize(
    "key",
    [
        "net.nothing",
        "net.null",
        "net.list.9",
        "net.list.-1",
        "net.list.-3",
        "net.list.--1",
        "net.list.x",
        "net.list.²",
        "gone.a",
        "net.zero.a",
    ],
)
def test_absent_keys_are_errors_with_a_code(top: Root, key: str) -> None:
    with pytest.raises(NotInMemory, match="not_in_memory_db") as caught:
        facts.find(top, key)
    assert caught.value.exit_code == 4


def test_a_project_comes_first(top: Root) -> None:
    assert facts.find(top, "dev_env.python", "arena").path == "projects/arena/dev_env.json"
    with pytest.raises(NotInMemory):
        facts.find(top, "dev_env.python")
    with pytest.raises(InvalidName):
        facts.find(top, "dev_env.python", "../arena")


def test_a_file_that_is_no_json(top: Root, root: Path) -> None:
    (root / "machine/deep.json").write_text("[" * 200_000)
    (root / "machine/bytes.json").write_bytes(b"\xff")
    for name in ("bad", "deep", "bytes"):
        with pytest.raises(InvalidRecord, match=f"machine/{name}.json"):
            facts.find(top, f"{name}.x")


def test_search_in_keys_and_values(top: Root) -> None:
    assert facts.search(top, "DEEP", []) == [
        {"file": "machine/net", "path": "with.dot.x.y", "value": "deep", "match": "value"}
    ]
    assert {found["match"] for found in facts.search(top, "list", [])} == {"key"}
    assert facts.search(top, "legacy", ["net"]) == []
    assert facts.search(top, "legacy", ["flat"])[0]["path"] == "a"
    assert facts.search(top, "catalogue", []) == []
    assert len(facts.search(top, "x" * 300, [])) == 0


def test_the_files(top: Root) -> None:
    assert [label for label, _ in facts.fact_files(top)] == ["machine/bad", "machine/net", "flat", "net"]


def test_a_fact_file_without_an_end_is_not_read(root: Path) -> None:
    (root / "machine").mkdir(exist_ok=True)
    with (root / "machine/network.json").open("wb") as stream:
        stream.truncate(10 << 30)
    with pytest.raises(InvalidRecord, match="larger than 64 MiB"):
        facts.find(Root(str(root)), "network.port")
