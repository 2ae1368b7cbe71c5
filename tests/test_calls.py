"""One call enters few files: who follows it from its entry to the disk must be able to read them."""

from __future__ import annotations

import pytest

from benchmarks import calls


@pytest.mark.slow
@pytest.mark.parametrize("name", calls.CALLS)
def test_a_call_enters_few_files(name: str):
    found = calls.walk(name)
    assert found["files"] <= found["bar"], sorted(found["walk"])
