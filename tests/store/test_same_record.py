"""The record that the same draft gave a moment ago: found among many, and never another one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from oracle.domain import timestamps
from oracle.domain.records.drafts import Draft
from oracle.store.markdown import records
from oracle.store.root.layout import Root
from tests.growth import grows_linearly


@pytest.fixture
def place(tmp_path: Path) -> Root:
    (tmp_path / "projects/arena/decision").mkdir(parents=True)
    return Root(str(tmp_path))


def test_looking_for_many_grows_with_their_number(place: Root) -> None:
    """It once looked at every record of the last minute for each draft."""
    now = datetime.now(UTC)

    def make(kind: str, count: int) -> list[records.CheckedDraft]:
        folder = Path(place.join(f"projects/arena/{kind}"))
        folder.mkdir(exist_ok=True)
        for number in range(count):
            (folder / f"{timestamps.print_stamp(now)}-other-{number}.md").touch()
        return [records.check(place, Draft(kind, "arena", f"One of {n}", body="x"), now) for n in range(count)]

    def look(drafts: Sequence[records.CheckedDraft]) -> None:
        assert records.find_same(place, drafts, now) == [None] * len(drafts)

    assert grows_linearly(look, make("plan", 100), to=make("decision", 1_500))


@pytest.mark.parametrize("title", ["T", "T 2", "T-2", "2", "网关", "T 2 3"])
def test_equal_drafts_get_a_record_each_whatever_ends_their_title(place: Root, title: str) -> None:
    now = datetime.now(UTC)
    twins = [records.check(place, Draft("decision", "arena", title, body="x"), now)] * 3
    made = records.create_all(place, twins, [now] * 3)
    found = records.find_same(place, [*twins, twins[0]], now)
    assert {one.path for one in found if one is not None} == {one.path for one in made}
    assert found[3] is None
