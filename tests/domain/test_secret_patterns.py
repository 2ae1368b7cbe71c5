"""The tables of patterns: valid by their schema, read as TOML is, and each row finds the example that it gives."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from oracle.domain.safety.secrets import find_secrets, places, rules
from tests.growth import grows_linearly

CHECKOUT = Path(__file__).resolve().parents[2]
FILES = sorted(Path(rules.__file__).parent.glob("*.toml"))
SCHEMA = json.loads((CHECKOUT / "schemas" / "secret-patterns.schema.json").read_text(encoding="utf-8"))
TABLES: dict[str, Any] = {}
for path in FILES:
    TABLES |= tomllib.loads(path.read_text(encoding="utf-8"))

DIGITS, LOWER, UPPER = string.digits, string.ascii_lowercase, string.ascii_uppercase
SETS = {
    "digit": DIGITS,
    "hex": DIGITS + "abcdef",
    "lower": DIGITS + LOWER,
    "upper": DIGITS + UPPER,
    "alnum": DIGITS + LOWER + UPPER,
    "word": DIGITS + LOWER + UPPER + "_-",
    "base64": DIGITS + LOWER + UPPER + "+/",
    "password": DIGITS + LOWER + UPPER,
}


def made(example: str, number: int = 0) -> str:
    """Return an example with random text in the place of what it describes, the same for the same number."""
    random_ = random.Random(f"{example} {number}")

    def draw(size: int, sort: str) -> str:
        return "".join(random_.choices(SETS[sort], k=size))

    example = example.replace("<uuid>", "-".join(draw(size, "hex") for size in (8, 4, 4, 4, 12)))
    example = example.replace("<basic>", base64.b64encode(f"bot:{draw(12, 'password')}".encode()).decode())
    example = re.sub("<(?:password|value)>", lambda _: "s3cr3t" + draw(8, "password"), example)
    return re.sub(r"<(\d+) (\w+)>", lambda found: draw(int(found[1]), found[2]), example)


def plain(tables: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return tables as lists of rows, without examples and sources, which no program reads."""
    rows = {name: table if isinstance(table, list) else [table] for name, table in tables.items()}
    kept = ("example", "examples", "source")
    return {name: [{key: row[key] for key in row if key not in kept} for row in some] for name, some in rows.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_valid_and_read_as_toml_is(path: Path) -> None:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    assert [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(tables)] == []
    assert plain(rules.read_tables(path.name)) == plain(tables)


@pytest.mark.parametrize("row", TABLES["shape"], ids=lambda row: row["example"][:24])
def test_a_shape_finds_tokens_as_the_vendor_hands_them_out(row: dict[str, Any]) -> None:
    texts = [made(row["example"], number) for number in range(20)]
    for text in texts:
        assert any(literal in text for literal in row.get("prefixes") or row["literals"])
    found = find_secrets("\n\n".join(texts))
    assert [secret.kind for secret in found] == [row["kind"]] * len(texts), texts


@pytest.mark.parametrize("row", TABLES["place"], ids=lambda row: row["example"][:40])
def test_a_place_gives_its_value_away(row: dict[str, Any]) -> None:
    text = made(row["example"])
    assert any(literal in text.lower() for literal in row["literals"])
    assert [found.kind for found in find_secrets(text)] == [row.get("kind", "assignment")], text


@pytest.mark.parametrize("row", TABLES["separator"], ids=lambda row: row["name"])
def test_a_separator_leads_to_the_value(row: dict[str, Any]) -> None:
    value = "Kv9mR2tQ7xLw"
    text = row["example"].replace("<value>", value)
    assert [text[found.start : found.end] for found in find_secrets(text)] == [value]
    between = rules.expand(row["pattern"], TABLES["parts"] | ASSIGNMENT_PARTS)
    before = text[: text.index(value)].rstrip("\"'“<")
    assert any(
        re.compile(between, re.ASCII).match(text, at) and re.match(row["first"], text[at:].lstrip(" \t"))
        for at in range(1, len(before) + 1)
    )


ASSIGNMENT_PARTS = tomllib.loads((Path(rules.__file__).parent / "assignments.toml").read_text(encoding="utf-8"))[
    "parts"
]


@pytest.mark.parametrize("row", [*TABLES["placeholder"], *TABLES["harmless"]], ids=lambda row: row["name"])
def test_what_is_no_credential_is_left_alone(row: dict[str, Any]) -> None:
    for example in row["examples"]:
        assert re.search(row["pattern"], example, re.ASCII)
        assert find_secrets(f'API_KEY="{example}"') == ()


CASES = [(table, at) for table in ("unnamed", "unless") for at in range(len(TABLES[table]))]


@pytest.mark.parametrize(("table", "at"), CASES, ids=lambda item: item)
def test_a_value_that_is_not_the_credential_of_the_name_is_left_alone(
    table: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = TABLES[table][at]["example"]
    assert find_secrets(example) == ()
    rows = rules.read_tables("assignments.toml")[table]
    monkeypatch.setitem(rules.read_tables("assignments.toml"), table, [*rows[:at], *rows[at + 1 :]])
    assert len(find_secrets(example)) == 1  # no other row says so


@pytest.mark.parametrize("row", TABLES["blank"], ids=lambda row: row["example"])
def test_a_value_may_follow_a_blank(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    text = made(row["example"].replace("<value>", "Kv9mR2tQ7xLw"))
    assert len(find_secrets(text)) == 1
    monkeypatch.setitem(rules.read_tables("assignments.toml"), "blank", [])
    assert find_secrets(text) == ()


def test_time_grows_with_the_text_for_every_literal() -> None:
    rows = [*TABLES["shape"], *TABLES["place"]]
    literals = [literal for row in rows for literal in (row.get("prefixes") or row["literals"])]
    text = " -p ".join(literals) + "@curl://a:b"
    assert grows_linearly(find_secrets, text * (10_000 // len(text)), to=text * (80_000 // len(text)))


def test_places_are_looked_for_wherever_their_literal_is():
    """What a text must hold besides a literal is stated for its place, or a part of the literal."""
    stated = {row["needs"] for row in TABLES["place"] if "needs" in row} | {" -", ""}
    ranked = [(rank, needs, literal) for needs, found in places._literals().items() for rank, literal, _ in found]
    assert [(needs, literal) for _, needs, literal in ranked if needs not in stated and needs not in literal] == []
    assert sorted(rank for rank, _, _ in ranked) == list(range(sum(len(row["literals"]) for row in TABLES["place"])))
