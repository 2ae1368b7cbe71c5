"""Each program of `benchmarks/` still finds what it imports and reads its options."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forked import run_python
from tests.guard import CHECKOUT

PROGRAMS = sorted(
    path.name for path in Path(CHECKOUT, "benchmarks").glob("*.py") if "__main__" in path.read_text("utf-8")
)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_what_it_does(name: str) -> None:
    done = run_python([f"{CHECKOUT}/benchmarks/{name}", "--help"])
    assert (done.returncode, done.stdout[:6]) == (0, "usage:"), done.stderr
