"""What references/architecture.md and CONTRIBUTING.md say of the code is so: its packages, its imports, its files."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
import types
from pathlib import Path

import pytest

from oracle.cli.application import command
from oracle.cli.main import run
from oracle.scan.machine import Machine
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


# Examples -------------------------------------------------------------------------------------------------------------


def example(mark: str) -> str:
    """Return the Python example of CONTRIBUTING.md that holds a mark."""
    text = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = [
        textwrap.dedent(block) for block in re.findall(r"^ *```python\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    ]
    (found,) = [block for block in blocks if mark in block]
    return found


def test_example_of_a_command_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    module = types.ModuleType("oracle.cli.commands.count")
    exec(example("app = single()"), module.__dict__)  # noqa: S102 - our own page
    monkeypatch.setitem(sys.modules, module.__name__, module)
    sections = command().sections
    monkeypatch.setitem(sections, "Knowledge", sections["Knowledge"] + " count")
    monkeypatch.setenv("ORACLE_ROOT", str(tmp_path / "memory"))
    assert run(["init"]) == 0
    assert run(["write", "decision", "--project", "shop", "--title", "T", "--body", "B"]) == 0
    capfd.readouterr()
    assert [run(["count"]), run(["count", "--project", "shop", "--json"])] == [0, 0]
    plain, _, document = capfd.readouterr().out.partition("\n")
    assert (plain, json.loads(document)["count"]) == ("1", 1)


def test_example_of_a_scanner_works(tmp_path: Path):
    names = {"Machine": Machine, "os": os, "Content": dict}
    exec(example("def scan_editors"), names)  # noqa: S102 - our own page
    (tmp_path / ".vim").mkdir()
    assert names["scan_editors"](Machine(str(tmp_path), {}, "")) == {"editors": [".vim"]}
