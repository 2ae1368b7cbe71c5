"""What the page of clauses points at is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oracle.cli.commands.compat import PROGRAMS
from tests.test_command_words import fault
from tests.test_docs import rows

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = (CHECKOUT / "references" / "specification.md").read_text(encoding="utf-8")
SKILL = (CHECKOUT / "references" / "SKILL.md").read_text(encoding="utf-8")
CLAUSES = [(clause, place) for clause, place in rows(PAGE)]
HEADINGS = set(re.findall(r"^#+ (.+)$", SKILL, re.MULTILINE)) | {"The memory seat"}
PROSE = {"legacy", "not_in_federated_kb", "not_in_memory_db"}


@pytest.mark.parametrize(("clause", "place"), CLAUSES, ids=[clause[:50] for clause, _ in CLAUSES])
def test_what_keeps_a_clause_is_there(clause: str, place: str):
    skill = {name for part in re.split(r"; (?!skill)", place) for name in re.findall(r"skill: ([^;`]+?)(?:;|$)", part)}
    files = re.findall(r"tests/[\w/.]+\w", place)
    pages = re.findall(r"\]\(([\w.-]+)\)", place)
    code = [span.replace("\\|", "|") for span in re.findall(r"`([^`]+)`", place)]
    assert skill <= HEADINGS
    assert [name for name in files if not (CHECKOUT / name).exists()] == []
    assert [span for span in code if not is_known(span)] == []
    assert skill or files or pages or code or "*not built*: " in place, "nothing keeps it, and no reason is given"


def is_known(span: str) -> bool:
    program, _, words = span.partition(" ")
    if program == "oracle":
        return not fault(words, is_code=True)
    return program in PROGRAMS or span in PROSE or span in {"--commit", "--force-commit"}


def test_the_page_covers_the_whole_of_it():
    assert len(CLAUSES) > 60
    assert len({clause for clause, _ in CLAUSES}) == len(CLAUSES)
