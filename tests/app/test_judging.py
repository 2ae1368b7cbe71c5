"""A program of the owner judges candidates; it is trusted like the synthesizer, bounded in time, and its word needs passages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.answers import owner_programs
from oracle.app.answers.reply import Reply
from oracle.app.configuration import trust

QUESTION = "Who signs the lease of the office, and for how many years does it run?"


@pytest.fixture
def oracle(root: Path) -> Oracle:
    for number, topic in enumerate(("lunch menu", "printer paper", "office plants", "team photo", "office lease")):
        path = root / f"projects/arena/builder/note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# About {topic}\n\nWe talked about the {topic} on Monday.\n", encoding="utf-8")
    warnings: list[str] = []
    opened = Oracle.open(str(root), warn=warnings.append)
    opened.warnings = warnings  # type: ignore[attr-defined]
    return opened


def configure(root: Path, script: str, *, is_trusted: bool = True) -> None:
    program = root.parent / "judge.py"
    program.write_text(script, encoding="utf-8")
    settings = root / "config.toml"
    settings.write_text(f"judge = [{json.dumps(sys.executable)}, {json.dumps(str(program))}]\n", encoding="utf-8")
    settings.chmod(0o600)
    if is_trusted:
        with Oracle.open(str(root)) as oracle:
            trust(oracle)


def saying(text: str) -> str:
    return f"import sys; sys.stdin.read(); sys.stdout.write({text!r})"


OF_LEASE = """
import json, sys
packet = sys.stdin.read()
evidence = json.loads(packet[packet.index("{"):])["evidence"]
print("".join(f"[{item['handle']}]" for item in evidence if "lease" in item["quote"]) or "none")
"""


def judge(oracle: Oracle) -> Reply:
    return owner_programs.judge(oracle, oracle.answer(QUESTION))


def test_without_a_program_candidates_stay_candidates(oracle: Oracle) -> None:
    reply = judge(oracle)
    assert reply.status == "candidates"
    assert {"claims": [], "answer": "candidates"}.items() <= reply.as_json().items()
    assert all(0 < item.probability < 1 for item in reply.claims)
    assert oracle.warnings == []  # type: ignore[attr-defined]


def test_what_the_program_names_is_the_answer(root: Path, oracle: Oracle) -> None:
    configure(root, OF_LEASE)
    reply = judge(oracle)
    assert reply.status == "answered"
    assert [item.record.title for item in reply.claims] == ["About office lease"]
    assert reply.as_json()["judged_by"] == [sys.executable, str(root.parent / "judge.py")]


@pytest.mark.parametrize("said", ["none", "None.\n", "NONE"])
def test_where_no_passage_answers_memory_does_not_know(root: Path, oracle: Oracle, said: str) -> None:
    configure(root, saying(said))
    reply = judge(oracle)
    assert reply.status == "not_in_memory_db"
    assert reply.claims == ()
    assert reply.nearest
    assert "none of the passages" in reply.reason


@pytest.mark.parametrize("said", ["", "[f99]", "yes", "f1", "none, or [f98]", "\x00"])
def test_a_word_that_names_no_passage_changes_nothing(root: Path, oracle: Oracle, said: str) -> None:
    configure(root, saying(said))
    assert judge(oracle).status == "candidates"
    assert any("judge" in line for line in oracle.warnings)  # type: ignore[attr-defined]


def test_a_program_that_prints_without_end_changes_nothing_and_is_said(root: Path, oracle: Oracle) -> None:
    configure(root, "while True: print('[f1]' * 1000)")
    assert judge(oracle).status == "candidates"
    (line,) = oracle.warnings  # type: ignore[attr-defined]
    assert f"the judge gave nothing: {sys.executable} printed more than 1 MiB and was stopped" in line


@pytest.mark.parametrize("script", ["import sys; sys.exit(3)", "import time; time.sleep(30)"])
def test_a_program_that_fails_or_lingers_changes_nothing(
    root: Path, oracle: Oracle, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(owner_programs.PATIENCE, "judge", 1.0)
    configure(root, script)
    assert judge(oracle).status == "candidates"
    assert any("judge" in line for line in oracle.warnings)  # type: ignore[attr-defined]


def test_an_untrusted_configuration_and_a_call_from_our_own_programs_run_nothing(
    root: Path, oracle: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(root, OF_LEASE, is_trusted=False)
    assert judge(oracle).status == "candidates"
    assert any("not trusted" in line for line in oracle.warnings)  # type: ignore[attr-defined]
    trust(oracle)
    monkeypatch.setenv("ORACLE_INTERNAL", "1")
    assert judge(oracle).status == "candidates"


def test_a_passage_that_changes_while_it_is_judged_is_no_answer(root: Path, oracle: Oracle) -> None:
    path = root / "projects/arena/builder/note-4.md"
    configure(root, OF_LEASE + f"open({str(path)!r}, 'a').write('Changed.')\n")
    assert judge(oracle).status == "candidates"


CHANGE = """
import pathlib, sys
sys.stdin.read()
for path in pathlib.Path({folder!r}).glob("note-{which}.md"):
    path.write_text("# About oranges\\n\\nWe talked about the office lease on Friday.\\n")
{end}
"""


@pytest.mark.parametrize("which", ["4", "*"])
@pytest.mark.parametrize("end", ["sys.exit(3)", "print('none')", "print('')", "print('[f1][f2][f3][f4][f5]')"])
def test_no_passage_is_quoted_as_it_was_before_it_was_judged(root: Path, oracle: Oracle, which: str, end: str) -> None:
    folder = root / "projects/arena/builder"
    configure(root, CHANGE.format(folder=str(folder), which=which, end=end))
    reply = judge(oracle)
    assert reply.status in ("candidates", "answered")
    assert reply.claims
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert all(item.quote.text in texts[Path(item.quote.path).name] for item in reply.claims)


@pytest.mark.parametrize("named", [0, 1])
def test_what_contradicts_a_named_passage_stays_beside_it(root: Path, oracle: Oracle, named: int) -> None:
    path = root / "projects/arena/builder/note-5.md"
    path.write_text(
        "---\ncontradicts: projects/arena/builder/note-4\n---\n# The lease\n\nThe office lease runs nine years.\n",
        encoding="utf-8",
    )
    before = oracle.answer(QUESTION)
    pair = [item for item in before.claims if item.contradicts]
    assert (before.status, len(pair)) == ("candidates", 2)
    configure(root, saying(f"[{pair[named].handle}]"))
    reply = judge(oracle)
    assert reply.status == "answered"
    assert [(item.handle, item.quote, item.contradicts) for item in reply.claims] == [
        (item.handle, item.quote, item.contradicts) for item in pair
    ]
