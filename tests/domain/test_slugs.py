"""Slugs, entities and names from outside."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.names import (
    check_name,
    entity,
    is_entity,
    parse_target,
    project_of,
    slug_of,
    split_entity,
)
from oracle.errors import InvalidName, UsageError


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("projects/a/decision/x", "projects/a/decision/x"),
        (" projects/a/decision/x.md ", "projects/a/decision/x"),
        ("./projects/a/x.json", "projects/a/x"),
        ("projects/a/x/", "projects/a/x"),
        ("/r/projects/a/x.md", "projects/a/x"),
        ("entity:taskid:T-1", "entity:taskid:T-1"),
        ("entity:url:https://x.y/z.md", "entity:url:https://x.y/z.md"),
        ("entity:file:a/b.md", "entity:file:a/b.md"),
        ("entity:key:e\u0301", "entity:key:é"),
        ("a..b", "a..b"),
    ],
)
def test_targets(text: str, target: str) -> None:
    assert parse_target(text, "/r") == target


@pytest.mark.parametrize(
    "text",
    ["", " ", "/", "/x", "/rx/a", "../a", "a/../b", "entity:", "entity:a", "entity::b", "entity:a:", "a\0b", ".md"],
)
def test_what_names_nothing(text: str) -> None:
    with pytest.raises(UsageError):
        parse_target(text, "/r")


def test_entities_come_apart_and_together() -> None:
    assert split_entity(entity("url", "a:b:c")) == ("url", "a:b:c")
    assert is_entity("entity:x:y")
    assert not is_entity("entities/x")
    assert (project_of("projects/a/x"), project_of("projects/a"), project_of("shared/a/x")) == ("a", "", "")
    assert [slug_of(path) for path in ("a/x.md", "a/x.json", "a/x.md.md", "a/x.txt")] == [
        "a/x",
        "a/x",
        "a/x.md",
        "a/x.txt",
    ]


@given(st.text(max_size=30))
def test_a_checked_name_is_composed_and_stays_what_it_is(text: str) -> None:
    try:
        name = check_name(text, "seat")
    except InvalidName as error:
        assert "seat" in error.sentence  # noqa: PT017
        return
    assert name == unicodedata.normalize("NFC", text)


def test_the_limit_is_in_bytes() -> None:
    assert check_name("字" * 42, "project")
    for name in ("字" * 43, "a" * 129):
        with pytest.raises(InvalidName, match="128 bytes"):
            check_name(name, "project")
