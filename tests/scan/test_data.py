"""The data files of the scanners: each is as its schema says, its patterns compile, and no name has two owners."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from oracle.scan import formats
from oracle.scan.formats import load_data

CHECKOUT = Path(__file__).resolve().parents[2]
FILES = sorted(path.stem for path in Path(formats.__file__).parent.glob("data/*.toml"))
PATTERNS = ("skip", "pattern", "name", "version", "runtimes", "at_least", "dependencies", "dev_dependencies")


@pytest.mark.parametrize("name", FILES)
def test_a_data_file_is_as_its_schema_says(name: str) -> None:
    schema = json.loads((CHECKOUT / "schemas" / f"scan-{name}.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    assert [error.message for error in validator.iter_errors(load_data(name))] == []


def test_every_schema_of_a_data_file_has_its_file() -> None:
    schemas = (CHECKOUT / "schemas").glob("scan-*.schema.json")
    assert sorted(path.name.split(".")[0].removeprefix("scan-") for path in schemas) == FILES


def strings(value: Any) -> Iterator[str]:
    """Yield every string of a nested value."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(one)


def test_every_pattern_compiles_and_captures() -> None:
    rules = [rule for rule in load_data("manifests")["rules"] if not {"format", "reader"} & rule.keys()]
    rules += [*load_data("versions")["patterns"], *load_data("versions")["own"].values()]
    assert len(rules) > 15
    for rule in rules:
        for key in (*PATTERNS, "members", "tools", "entry_points"):
            for pattern in strings(rule.get(key, [])):
                assert re.compile(pattern).groups >= (key != "skip"), pattern


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("languages", "suffixes"),
        ("packages", "files"),
        ("tests", "dependencies"),
        ("tests", "files"),
        ("lint", "dependencies"),
        ("lint", "files"),
        ("deploy", "platforms"),
        ("ci", "names"),
        ("ci", "version_keys"),
        ("versions", "files"),
        ("versions", "aliases"),
    ],
)
def test_no_name_has_two_owners(name: str, key: str) -> None:
    assert len(formats.owners(name, key)) == sum(map(len, load_data(name)[key].values()))


def test_every_reader_of_a_rule_exists() -> None:
    readers = [rule["reader"].split(":") for rule in load_data("manifests")["rules"] if "reader" in rule]
    assert all(callable(getattr(import_module(f"oracle.scan.{module}"), function)) for module, function in readers)
