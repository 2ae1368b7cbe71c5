"""Targets as file names: different targets never share one, ordinary ones keep the known form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.names import MAX_BYTES, flatten

tricky = st.text(alphabet="a_+/:%~.-\n\x7fé字", max_size=12)
targets = tricky | st.text(max_size=40) | st.text(alphabet="a_/", min_size=170, max_size=190)


def unflatten(name: str) -> str | None:
    """Return the target of a flat name, None when the name was shortened."""
    if "~" in name:
        return None
    parts = name.replace("__", "/").replace("++", ":").split("%")
    return parts[0] + "".join(chr(int(part[:2], 16)) + part[2:] for part in parts[1:])


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("projects/arena/decision/foo", "projects__arena__decision__foo"),
        ("entity:taskid:ARENA-228", "entity++taskid++ARENA-228"),
        ("projects/a/dev_env", "projects__a__dev_env"),
        ("entity:file:c++", "entity++file++c%2B%2B"),
        ("a__b", "a%5F%5Fb"),
        ("a_/b", "a%5F__b"),
        (".x", "%2Ex"),
        ("a%b", "a%25b"),
        ("a\nb", "a%0Ab"),
        ("项目/标题", "项目__标题"),
    ],
)
def test_known_forms(target: str, name: str) -> None:
    assert flatten(target) == name
    assert unflatten(name) == target


@given(targets, targets)
def test_it_is_injective(one: str, other: str) -> None:
    assert (flatten(one) == flatten(other)) == (one == other)


@given(targets)
def test_a_name_is_a_plain_file_name_that_leads_back(target: str) -> None:
    name = flatten(target)
    assert "/" not in name
    assert "\0" not in name
    assert not name.startswith(".")
    assert len(name.encode()) <= MAX_BYTES
    assert unflatten(name) == (None if "~" in name else target)


@pytest.mark.parametrize("unit", ["a", "字", "a/", "_", "e\u0301"])
def test_long_targets_are_cut_between_characters_and_told_apart(unit: str) -> None:
    one, other = unit * 300, unit * 300 + "x"
    assert flatten(one) != flatten(other)
    for target in (one, other):
        head, _, tail = flatten(target).partition("~")
        assert len(head.encode()) <= 120
        assert len(tail) == 24
        assert set(tail) <= set("0123456789abcdef")
