"""A record that several newer ones replace: every door that shows it names them all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.context import Context
from oracle.cli.main import run
from oracle.domain.records.drafts import Draft
from oracle.mcp.binding import Binding
from oracle.mcp.read_tools import show
from oracle.tui.reading import read_record
from tests.web.site import Browser, Seen

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def slugs(root: Path) -> list[str]:
    """Write a record, two that replace it, and one that replaces the newer of them; return their names."""
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "shop", "Retry twice", body="a")).slug
        one = oracle.write(Draft("decision", "shop", "Retry webhooks five times", body="b", supersedes=(old,))).slug
        two = oracle.write(Draft("decision", "shop", "Retry mail four times", body="c", supersedes=(old,))).slug
        last = oracle.write(Draft("decision", "shop", "Retry mail never", body="d", supersedes=(two,))).slug
    return [old, one, two, last]


def test_all_are_named_by_every_door(root: Path, slugs: list[str], capsys: pytest.CaptureFixture[str]):
    old, one, two, last = slugs
    assert run(["show", old, "--memory-dir", str(root)]) == 0
    noted = capsys.readouterr().err
    assert f"by {two}, then {last}" in noted
    assert f"it was also replaced by {one}" in noted
    assert run(["show", old, "--json", "--memory-dir", str(root)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["chain"], told["also_by"]) == ([two, last], [one])
    with Context.open(str(root)) as context:
        pane = " ".join(line.text for line in read_record(context, old).lines(200))
        assert f"it was also replaced by {one}" in pane
        answer = show(context, Binding(str(root)), record=old)
        assert f"also replaced by {one}" in answer.text
    with Browser(root) as browser:
        seen = " ".join(Seen(browser.get(f"/record?name={old}").text).text.split())
    assert "also replaced by: retry-webhooks-five-times" in seen


def test_a_record_with_one_successor_names_it_once(root: Path, slugs: list[str], capsys: pytest.CaptureFixture[str]):
    assert run(["show", slugs[2], "--json", "--memory-dir", str(root)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["chain"], "also_by" in told) == ([slugs[3]], False)
