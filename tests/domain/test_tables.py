"""The tables of words and patterns: TOML that the package's own reader reads as tomllib does, and valid by their schemas."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from oracle.domain import tables
from oracle.domain.relations import patterns

CHECKOUT = Path(__file__).resolve().parents[2]
TABLES = sorted((CHECKOUT / "oracle" / "domain" / "data").glob("*.toml"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_is_read_as_tomllib_reads_it(path: Path):
    text = path.read_text(encoding="utf-8")
    assert tables.load(path.stem) == tables.parse(text) == tomllib.loads(text)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_is_valid_by_its_schema(path: Path):
    schema = json.loads((CHECKOUT / "schemas" / f"{path.stem}.schema.json").read_text(encoding="utf-8"))
    faults = jsonschema.Draft202012Validator(schema).iter_errors(tomllib.loads(path.read_text(encoding="utf-8")))
    assert [f"{fault.json_path}: {fault.message}" for fault in faults] == []


def test_every_pattern_of_a_relation_and_every_phrase_compiles_and_is_used():
    phrases = [patterns.phrase(name) for name in tables.load("relations")["phrase"]]
    for relation in patterns.relation_patterns():
        phrases += [relation.strong, relation.weak, relation.excludes, relation.any]
    for pattern in (pattern for phrase in phrases for pattern in (phrase.en, phrase.zh)):
        assert "(?&" not in pattern
        re.compile(pattern)
    code = "".join(path.read_text(encoding="utf-8") for path in (CHECKOUT / "oracle").rglob("*.py"))
    unused = [name for name in tables.load("relations")["phrase"] if f'phrase("{name}")' not in code]
    assert unused == []


def test_a_line_break_is_or_and_a_part_is_put_in_its_place():
    assert tables.expand("\na|b\nc (?&two)", {"two": "d\n(?&three)", "three": "e"}) == "a|b|c (?:d|(?:e))"
    assert tables.parse("# none\n[a]\nb = '''\nc\nd'''\n[[e]]\nf = true\n") == {"a": {"b": "c\nd"}, "e": [{"f": True}]}
