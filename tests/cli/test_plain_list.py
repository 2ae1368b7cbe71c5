"""`oracle list` without the parser: it reads words as the parser does, or leaves them to it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.cli import plain_list, plain_search
from oracle.cli.application import command
from oracle.cli.main import run
from oracle.domain.records.drafts import Draft
from tests.cli.test_output import terminal_of

PLAIN = [
    "list",
    "list --limit 20",
    "list --limit 0 --json",
    "--json list --timeline --full --fresh",
    "--memory-dir /tmp/x list --project=shop --seat builder",
    "--lang zh list --since 2026-01-01 --until=2026-02-01",
    "list --kind decision --status open --author ann --task T-1",
]
NOT_PLAIN = [
    "list words",
    "search list",
    "help list",
    "list --help",
    "list --entities",
    "list --entities --top 3 --namespace taskid",
    "list --namespace taskid",
    "list --limit -1",
    "list --limit many",
    "list --limit",
    "list --project=",
    "list --project x --project y",
    "list -- --project",
    "list --until=-1",
    "list -",
    "list --strict",
    "team task list",
    "--project x list",
]


def split(line: str) -> list[str]:
    return line.split()


@pytest.mark.parametrize(
    "words", [*map(split, [*PLAIN, *NOT_PLAIN]), ["list", ""], ["list", "--project", ""]], ids=" ".join
)
def test_words_are_read_as_the_parser_reads_them(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []

    def list_records(call, filters, **how):
        asked.append((call.memory_dir, call.as_json, dict(filters), how))

    monkeypatch.setattr(plain_list, "list_records", list_records)
    codes = [run(words)]
    seen = [capsys.readouterr()]
    monkeypatch.setattr(plain_list, "run", lambda *_: False)
    codes.append(run(words))
    seen.append(capsys.readouterr())
    assert codes[0] == codes[1]
    assert seen[0] == seen[1]
    assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]


@pytest.mark.parametrize(("lines", "is_plain"), [(PLAIN, True), (NOT_PLAIN, False)])
def test_what_is_not_plain_is_left_to_the_parser(
    lines: list[str], is_plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[object] = []
    monkeypatch.setattr(plain_list, "list_records", lambda *_, **__: None)
    monkeypatch.setattr("oracle.cli.main._parse", lambda _, words: parsed.append(words) or 0)
    monkeypatch.setattr(plain_search, "run", lambda *_: False)
    for line in lines:
        run(line.split())
    assert len(parsed) == (0 if is_plain else len(lines))


def test_every_option_of_the_command_is_known() -> None:
    found = command().get_command(None, "list")
    options = {one for param in found.params for one in param.opts if one.startswith("--")}
    known = {*plain_search._FILTERS, *plain_list._SWITCHES, *plain_search._SHARED, "--limit"}
    assert options - known <= {"--entities", "--hub", "--namespace", "--top", "--help", "--lang"}
    assert known <= options


def seen_on(columns: int, words: list[str]) -> str:
    """Return what a command prints on a terminal of so many columns."""
    with terminal_of(columns):
        assert run(words) == 0
        assert isinstance(sys.stdout, io.StringIO)
        return sys.stdout.getvalue()


@pytest.mark.parametrize("more", [[], ["--timeline"]])
@pytest.mark.parametrize("columns", [80, 40])
def test_a_terminal_names_the_project_where_there_are_several(
    tmp_path: Path, columns: int, more: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Oracle.open(str(tmp_path)) as oracle:
        oracle.init()
        for project in ("arena", "shop"):
            oracle.write(Draft("decision", project, "Retry webhooks", body="Five times."), new_project=True)
    place = ["--memory-dir", str(tmp_path)]
    assert run(["list", *more, *place]) == 0
    piped = capsys.readouterr().out
    assert run(["list", *more, "--json", *place]) == 0
    document = json.loads(capsys.readouterr().out)
    several = seen_on(columns, ["list", *more, *place])
    one = seen_on(columns, ["list", *more, "--project", "shop", *place])
    firsts = [line.split()[0] for line in several.splitlines() if line.strip()]
    assert {"project", "arena", "shop"} <= set(firsts)
    assert not {"project", "shop"} & set(one.split())
    assert "\tshop\t" not in piped
    assert {item["project"] for item in document["records"]} == {"arena", "shop"}
