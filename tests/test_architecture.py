"""What references/architecture.md and CONTRIBUTING.md say of the code is so: its packages, its imports, its files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import architecture
from tests.test_docs import rows

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = architecture.PAGE.read_text(encoding="utf-8")
NAME = re.compile(r"`((?:oracle|tests|scripts|references|schemas|benchmarks)/[\w./-]+)`")
GRAPH = architecture.imports()


def listed(heading: str) -> list[str]:
    """Return the packages in the table below a heading, from top to bottom."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [row[0].strip("`") for row in rows(section)]


TABLES = [("oracle", listed("Packages")), ("oracle.app", listed("Packages of `app`"))]


def test_graphs_are_what_the_imports_are():
    assert architecture.renewed(PAGE) == PAGE, "run: python -m tests.architecture --write"
    assert len(architecture.BLOCK.findall(PAGE)) == len(TABLES)


@pytest.mark.parametrize(("package", "names"), TABLES)
def test_every_package_has_a_row(package: str, names: list[str]):
    assert len(names) == len(set(names))
    hidden = architecture.EVERYWHERE if package == "oracle" else set()
    assert set(names) == architecture.rooms(GRAPH, package) | hidden


@pytest.mark.parametrize(("package", "names"), TABLES)
def test_imports_go_down_the_table(package: str, names: list[str]):
    up = {(one, other) for one, other in architecture.edges(GRAPH, package) if names.index(one) > names.index(other)}
    assert up == set()


@pytest.mark.parametrize("page", ["references/architecture.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_names_is_there(page: str):
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    named = NAME.findall(text)
    assert len(named) > 10
    assert [name for name in named if not (CHECKOUT / name).exists()] == []


def test_a_circle_is_named():
    with pytest.raises(ValueError, match="a, b"):
        architecture.reduced({("a", "b"), ("b", "a"), ("b", "c")})


def test_arrows_that_follow_from_others_are_left_out():
    assert architecture.reduced({("a", "b"), ("b", "c"), ("a", "c")}) == {("a", "b"), ("b", "c")}
