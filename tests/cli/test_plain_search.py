"""`oracle search` without the parser: it reads words as the parser does, or leaves them to it."""

from __future__ import annotations

import pytest

from oracle.cli import plain_search
from oracle.cli.application import command
from oracle.cli.main import run

PLAIN = [
    "search retry policy",
    "search retry --limit 3 policy --json",
    "--json search 重试",
    "--memory-dir /tmp/x search retry --project=shop --seat builder",
    "--lang zh search retry --since 2026-01-01 --until=-1",
    "search a --kind decision --status open --author ann --task T-1",
    "search a --strict --lexical --explain --fresh",
    "search a=b --meaning --limit=2",
    "search",
]
NOT_PLAIN = [
    "list",
    "help search",
    "search --help",
    "search a -h",
    "search --stdin",
    "search -- --project",
    "search a --limit 0",
    "search a --limit -1",
    "search a --limit ٣",
    "search a --limit many",
    "search a --limit 00000000001",
    "search a --project",
    "search a --project --json",
    "search a --project=",
    "search a --json=1",
    "search a --proj shop",
    "search a --project x --project y",
    "search a -x",
    "search -",
    "--project x search a",
    "--version search a",
    "--json search a --json",
]


def read(line: str) -> object:
    return plain_search.read(line.split(), "search", plain_search._SWITCHES, least=1)


@pytest.mark.parametrize("line", [*PLAIN, *NOT_PLAIN])
def test_words_are_read_as_the_parser_reads_them(line: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    asked: list[object] = []

    def search(call, words, filters, **how):
        asked.append((call.memory_dir, call.as_json, words, dict(filters), how))

    monkeypatch.setattr(plain_search, "search", search)
    codes = [run(line.split())]
    monkeypatch.setattr(plain_search, "read", lambda *_, **__: None)
    codes.append(run(line.split()))
    assert codes[0] == codes[1]
    assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]


@pytest.mark.parametrize(("lines", "is_plain"), [(PLAIN[:3], True), (NOT_PLAIN, False)])
def test_what_is_not_plain_is_left_to_the_parser(lines: list[str], is_plain: bool) -> None:
    assert [line for line in lines if (read(line) is not None) is not is_plain] == []


def test_a_shell_that_completes_gets_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ORACLE_COMPLETE", "complete_bash")
    assert read("search a") is None


def test_every_option_of_the_command_is_known() -> None:
    found = command().get_command(None, "search") or command()
    options = {one for param in found.params for one in param.opts if one.startswith("--")}
    known = {*plain_search._FILTERS, *plain_search._SWITCHES, *plain_search._SHARED, "--limit"}
    assert options - known <= {"--stdin", "--hub", "--help", "--lang"}
    assert known <= options
