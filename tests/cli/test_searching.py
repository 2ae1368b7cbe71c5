"""The batch of `oracle search --stdin`: a line of JSON for each line, in order, errors among them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from oracle.cli.main import run


def ask(
    root: Path, lines: list[bytes], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, list[dict[str, object]]]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(lines)), encoding="utf-8"))
    code = run(["search", "--stdin", "--json", "--memory-dir", str(root), *words])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def filled(root: Path) -> Path:
    for project in ("arena", "zoo"):
        path = root / f"projects/{project}/builder/note.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\ntitle: Note\nts: 2026-04-01\n---\n\nThe needle of {project}.\n", encoding="utf-8")
    return root


def test_each_line_is_answered_in_order(filled, monkeypatch, capsys) -> None:
    lines = [b'{"id": 1, "query": "needle", "project": "zoo"}', b"", b'{"id": "b", "query": "zeppelin"}']
    code, answers = ask(filled, lines, monkeypatch, capsys)
    assert code == 0
    (hit,) = answers[0]["hits"]
    assert {name: hit[name] for name in ("slug", "path", "lines", "title", "seat", "snippet", "status", "ts")} == {
        "slug": "projects/zoo/builder/note",
        "path": "projects/zoo/builder/note.md",
        "lines": [6, 6],
        "title": "Note",
        "seat": "builder",
        "snippet": "The needle of zoo.",
        "status": "",
        "ts": "2026-04-01T00:00:00.000000Z",
    }
    assert {"kind", "score", "why"} <= set(hit)
    assert answers[1] == {"id": "b", "hits": [], "status": "not_in_memory_db"}
    assert "status" not in answers[0]


@pytest.mark.parametrize(
    ("line", "code", "identifier"),
    [
        (b"not json", "usage", None),
        (b"[1]", "usage", None),
        (b"\xff\xfe", "usage", None),
        (b'{"id": 1e999, "query": "needle"}', "usage", None),
        (b'{"id": NaN, "query": "needle"}', "usage", None),
        (b'{"id": 7}', "usage", 7),
        (b'{"id": 7, "query": 5}', "usage", 7),
        (b'{"id": 7, "query": " "}', "usage", 7),
        (b'{"id": 7, "query": "x", "project": 5}', "usage", 7),
        (b'{"id": 7, "query": "x", "project": "nowhere"}', "not_in_federated_kb", 7),
        (b'{"id": 7, "query": "x", "project": "../x"}', "invalid_name", 7),
    ],
)
def test_a_bad_line_is_answered_by_its_error_and_the_others_go_on(
    filled, monkeypatch, capsys, line: bytes, code: str, identifier: object
) -> None:
    status, answers = ask(filled, [line, b'{"id": 2, "query": "needle"}'], monkeypatch, capsys)
    assert status == 0
    assert answers[0].get("id") == identifier
    assert answers[0]["error"]["code"] == code
    assert set(answers[0]["error"]) >= {"message", "hint"}
    assert answers[1]["id"] == 2
    assert len(answers[1]["hits"]) == 2


@pytest.mark.parametrize("bad", [b"not json", b"[1]", b'{"id": 7}', b'{"query": "x", "project": 5}'])
def test_the_error_of_a_bad_line_says_its_number(filled, monkeypatch, capsys, bad: bytes) -> None:
    _, answers = ask(filled, [b'{"query": "needle"}', b"", bad], monkeypatch, capsys)
    assert "ine 3 " in answers[1]["error"]["message"]


@pytest.mark.parametrize(("lines", "code"), [([b"no", b'{"id": 7}'], 2), ([], 0), ([b"no", b'{"query": "none"}'], 0)])
def test_a_batch_of_which_no_line_can_be_answered_is_a_wrong_call(
    filled, monkeypatch, capsys, lines: list[bytes], code: int
) -> None:
    status, answers = ask(filled, lines, monkeypatch, capsys)
    assert (status, len(answers)) == (code, len(lines))


def test_explain_shows_what_each_signal_gave(filled, monkeypatch, capsys) -> None:
    _, answers = ask(filled, [b'{"query": "needle"}'], monkeypatch, capsys, "--explain")
    hit = answers[0]["hits"][0]
    assert hit["signals"]["words"] > 0
    assert sum(hit["signals"].values()) == pytest.approx(hit["score"], abs=0.01)


def test_words_and_a_batch_are_not_given_together(filled, capsys) -> None:
    assert run(["search", "--stdin", "--memory-dir", str(filled), "needle"]) == 2
    assert "--stdin takes no words" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["web-1"], "Found only in facts: `oracle show box.deploy.host`, `oracle show 'box.a b'`."),
        (["secret-9x"], "Found only in facts: `oracle show credentials.keys.NAME.value`."),
        (["zeppelin"], "Try fewer words, or fewer filters."),
        (["web-1", "--project", "zoo"], "Try fewer words, or fewer filters."),
    ],
)
def test_where_no_record_is_found_a_fact_that_holds_the_words_is_named(
    filled: Path, capsys: pytest.CaptureFixture[str], words: list[str], hint: str
) -> None:
    (filled / "machine").mkdir(exist_ok=True)
    (filled / "machine/box.json").write_text(json.dumps({"deploy": {"host": "web-1"}, "a b": "is web-1"}))
    (filled / "machine/credentials.json").write_text(json.dumps({"keys": {"NAME": {"value": "secret-9x"}}}))
    assert run(["search", *words, "--memory-dir", str(filled)]) == 4
    assert capsys.readouterr().err.splitlines()[1] == f"hint: {hint}"


def test_words_that_stand_in_the_name_of_a_file_alone_are_told(filled, capsys) -> None:
    path = filled / "projects/zoo/builder/Snorkel Policy.md"
    path.write_text("# Another\n\nWe pay for retries.\n")
    assert run(["search", "Snorkel", "--fresh", "--memory-dir", str(filled)]) == 4
    assert capsys.readouterr().err.endswith("hint: Found only in the names of projects/zoo/builder/Snorkel Policy.\n")
    assert run(["search", "Snork", "--memory-dir", str(filled)]) == 4
    assert "names of" not in capsys.readouterr().err


def test_a_root_without_records_is_told(root, capsys) -> None:
    assert run(["search", "anything", "--memory-dir", str(root)]) == 4
    assert "holds no records" in capsys.readouterr().err
