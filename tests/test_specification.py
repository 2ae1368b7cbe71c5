"""The page of clauses: what it points at exists, and each clause has a proof, a test that can fail or a sentence of the skill."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from oracle.cli.commands.compat import PROGRAMS
from tests.test_command_words import fault
from tests.test_docs import rows

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = (CHECKOUT / "references" / "specification.md").read_text(encoding="utf-8")
SKILL = (CHECKOUT / "references" / "SKILL.md").read_text(encoding="utf-8")
ITEM = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
SECTIONS = dict(re.findall(r"^#+ (.+)\n((?:(?!#+ ).*\n)*)", SKILL, re.MULTILINE))
PROSE = {"legacy", "not_in_federated_kb", "not_in_memory_db"}
NODE = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")
SENTENCE = re.compile(r"“([^”]+)”")
PARTS = PAGE.split("\n## ")[1:]
NOT_RUN = {"skip", "skipif", "xfail", "claude_code"}
"""Marks with which a test may prove nothing."""

COLLECT = """
import json, sys, pytest
class Collector:
    def pytest_collection_finish(self, session):
        found = {}
        for item in session.items:
            found.setdefault(item.nodeid.split("[")[0], set()).update(mark.name for mark in item.iter_markers())
        print("found:", json.dumps({node: sorted(marks) for node, marks in found.items()}))
sys.exit(pytest.main(["--collect-only", "-q", "--no-header", "-p", "no:cacheprovider", *sys.argv[1:]], [Collector()]))
"""


def read_clauses() -> list[tuple[str, str, tuple[str, ...]]]:
    """Return clause, place and proofs of every row; the numbers of a row are those of the list below its table."""
    found = []
    for part in PARTS:
        items = dict(ITEM.findall(part))
        for clause, place, *proof in rows(part):
            found.append((clause, place, tuple(items[number] for number in re.findall(r"\d+", "".join(proof)))))
    return found


CLAUSES = read_clauses()
by_clause = pytest.mark.parametrize(
    ("clause", "place", "proofs"), CLAUSES, ids=[clause[:50].replace("::", "") for clause, *_ in CLAUSES]
)


@by_clause
def test_what_keeps_a_clause_is_there(clause: str, place: str, proofs: tuple[str, ...]):
    pages = re.findall(r"\]\(([\w.-]+)\)", place)
    code = [span.replace("\\|", "|") for span in re.findall(r"`([^`]+)`", place)]
    assert skills_of(place) <= set(SECTIONS)
    assert [span for span in code if not is_known(span)] == []
    assert skills_of(place) or pages or code or "*not built*: " in place, "nothing keeps it, and no reason is given"


def skills_of(place: str) -> set[str]:
    """Return the headings of the skill that a clause names."""
    return {name for part in re.split(r"; (?!skill)", place) for name in re.findall(r"skill: ([^;`]+?)(?:;|$)", part)}


def is_known(span: str) -> bool:
    program, _, words = span.partition(" ")
    if program == "oracle":
        return not fault(words, is_code=True)
    return program in PROGRAMS or span in PROSE or span in {"--commit", "--force-commit"}


@by_clause
def test_a_clause_is_proved(clause: str, place: str, proofs: tuple[str, ...]):
    nodes = [found[1] for proof in proofs if (found := NODE.fullmatch(proof))]
    sentences = [found[1] for proof in proofs if (found := SENTENCE.fullmatch(proof))]
    assert len(nodes) + len(sentences) == len(proofs), "a proof is a node in code or a quoted sentence"
    assert proofs or place.startswith("*not built*: "), "nothing proves it"
    said = [" ".join(SECTIONS[name].split()) for name in skills_of(place)]
    assert [words for words in sentences if not any(words in text for text in said)] == []
    assert [node for node in nodes if not can_fail(node)] == []


def can_fail(node: str) -> bool:
    """Return whether a test checks something, itself or by a function of its module."""
    path, _, name = node.partition("::")
    functions = functions_of(path)
    return name in functions and (checks(functions[name]) or any(map(checks, called(functions[name], functions))))


@cache
def functions_of(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((CHECKOUT / path).read_text(encoding="utf-8"))
    return {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef)}


def called(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> list[ast.FunctionDef]:
    names = {
        item.func.id for item in ast.walk(function) if isinstance(item, ast.Call) and isinstance(item.func, ast.Name)
    }
    return [functions[name] for name in sorted(names & set(functions))]


def checks(function: ast.FunctionDef) -> bool:
    """Return whether a function asserts something that is computed, or expects an error."""
    for item in ast.walk(function):
        if isinstance(item, ast.Assert) and any(isinstance(part, ast.Name) for part in ast.walk(item.test)):
            return True
        if isinstance(item, ast.withitem) and "pytest.raises" in ast.unparse(item):
            return True
    return False


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert True", False),
        ("assert 1 == 1", False),
        ("pass", False),
        ("x = f()", False),
        ("assert x", True),
        ("for x in y:\n        assert x == 1", True),
        ("with pytest.raises(ValueError):\n        f()", True),
    ],
)
def test_what_checks_nothing_is_known(body: str, expected: bool):
    (function,) = ast.parse(f"def test_x():\n    {body}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert checks(function) is expected


@pytest.mark.slow
def test_every_proof_is_collected_and_not_skipped():
    nodes = sorted(set(NODE.findall(PAGE)))
    command = [sys.executable, "-c", COLLECT, *nodes]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    said = next((line for line in done.stdout.splitlines() if line.startswith("found: ")), "")
    assert (done.returncode, bool(said)) == (0, True), done.stdout + done.stderr
    found = json.loads(said.removeprefix("found: "))
    assert sorted(found) == nodes
    assert {node: marks for node, marks in found.items() if NOT_RUN & set(marks)} == {}


@pytest.mark.parametrize("part", PARTS, ids=[part.partition("\n")[0] for part in PARTS])
def test_each_proof_is_numbered_in_order_and_used(part: str):
    numbers = [int(number) for number, _ in ITEM.findall(part)]
    used = {int(number) for _, _, *proof in rows(part) for number in re.findall(r"\d+", "".join(proof))}
    assert numbers == sorted(used) == list(range(1, len(numbers) + 1))


def test_the_page_covers_the_whole_of_it():
    assert len(CLAUSES) > 70
    assert len({clause for clause, *_ in CLAUSES}) == len(CLAUSES)
