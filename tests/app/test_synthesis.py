"""Prose by a program of the person's own: only what leans on evidence that stands is kept, and never below a hook."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.answers.owner_programs import PATIENCE, synthesise
from oracle.app.answers.reply import Reply
from oracle.app.configuration import trust
from oracle.store.root.configuration import load_command

BUILDER = "projects/arena/builder"
QUESTION = "Are webhooks retried, and parked?"


@pytest.fixture
def oracle(root: Path) -> Oracle:
    for number, topic in enumerate(("lunch menu", "printer paper", "office plants", "team photo")):
        write(root, f"{BUILDER}/note-{number}.md", f"About {topic}.\n")
    write(root, f"{BUILDER}/retry.md", "Webhooks are retried 5 times with backoff.\n")
    write(root, f"{BUILDER}/queue.md", "Webhooks that fail are parked in a queue after 30 minutes.\n")
    warnings: list[str] = []
    opened = Oracle.open(str(root), warn=warnings.append)
    opened.warnings = warnings  # type: ignore[attr-defined]
    return opened


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def configure(root: Path, script: str, *, name: str = "speak.py") -> None:
    """Name a Python program as the synthesizer."""
    program = write(root.parent, name, script)
    path = write(root, "config.toml", f"synthesizer = [{json.dumps(sys.executable)}, {json.dumps(str(program))}]\n")
    path.chmod(0o600)
    with Oracle.open(str(root)) as oracle:
        trust(oracle)


def speak(root: Path, said: str) -> None:
    configure(root, f"import sys; sys.stdin.read(); sys.stdout.buffer.write({said.encode()!r})")


def ask(oracle: Oracle) -> Reply:
    return synthesise(oracle, oracle.answer(QUESTION))


def test_off_unless_configured(oracle: Oracle) -> None:
    reply = ask(oracle)
    assert reply.synthesis is None
    assert "synthesised" not in reply.as_json()


def test_sentences_that_lean_on_nothing_are_dropped(root: Path, oracle: Oracle) -> None:
    asked = oracle.answer(QUESTION)
    names = {item.record.slug.rpartition("/")[2]: f"[{item.handle}]" for item in asked.claims}
    retry, queue = names["retry"], names["queue"]
    speak(
        root,
        f"Webhooks are retried 5 times {retry}. They may also explode. Nine lives [f9]. After 30 minutes they are parked."
        f" {queue}\nThey are retried 7 times {retry}. Both hold {retry}{queue}, e.g. here {queue}.",
    )
    reply = synthesise(oracle, asked)
    assert reply.synthesis is not None
    assert reply.synthesis.text == (
        f"Webhooks are retried 5 times {retry}. After 30 minutes they are parked. {queue}\n"
        f"Both hold {retry}{queue}, e.g. here {queue}."
    )
    assert reply.synthesis.dropped == 3
    document = reply.as_json()
    assert (document["synthesised"], document["answer"]) == (True, reply.synthesis.text)
    assert len(document["candidates"]) == 2


def test_the_program_gets_the_evidence_with_its_handles_and_a_mark(root: Path, oracle: Oracle) -> None:
    seen = root.parent / "seen.json"
    configure(
        root,
        f"import sys, os, json; json.dump([sys.stdin.read(), os.environ.get('ORACLE_INTERNAL')], open({str(seen)!r}, 'w'))",
    )
    reply = ask(oracle)
    packet, mark = json.loads(seen.read_text())
    assert mark == "1"
    given = json.loads(packet.partition("\n\n")[2])
    assert [item["handle"] for item in given["evidence"]] == [item.handle for item in reply.claims]
    assert [item["quote"] for item in given["evidence"]] == [item.quote.text for item in reply.claims]
    assert reply.status == "candidates"
    assert any("no sentence" in line for line in oracle.warnings)  # type: ignore[attr-defined]


def test_never_below_a_hook_or_another(root: Path, oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = root.parent / "ran"
    configure(root, f"open({str(ran)!r}, 'w')")
    monkeypatch.setenv("ORACLE_INTERNAL", "1")
    assert ask(oracle).synthesis is None
    assert not ran.exists()


def test_not_for_an_answer_that_there_is_none_of(root: Path, oracle: Oracle) -> None:
    ran = root.parent / "ran"
    configure(root, f"open({str(ran)!r}, 'w')")
    assert synthesise(oracle, oracle.answer("Who likes Kzyzdrk?")).synthesis is None
    assert not ran.exists()


@pytest.mark.parametrize(
    ("script", "why", "patience"),
    [
        ("raise SystemExit(3)", "ended with 3", PATIENCE["synthesizer"]),
        ("import signal; signal.pause()", "took longer", 0.5),
        ("print(b'')", "no sentence", PATIENCE["synthesizer"]),
        ("while True: print('Webhooks are retried 5 times [f1].')", "printed more than 1 MiB", PATIENCE["synthesizer"]),
    ],
)
def test_trouble_leaves_the_quotes(
    root: Path, oracle: Oracle, monkeypatch: pytest.MonkeyPatch, script: str, why: str, patience: float
) -> None:
    monkeypatch.setitem(PATIENCE, "synthesizer", patience)
    configure(root, script)
    reply = ask(oracle)
    assert len(reply.claims) == 2
    assert [item.handle for item in reply.claims] == ["f1", "f2"]
    assert any(why in line for line in oracle.warnings)  # type: ignore[attr-defined]


def test_evidence_that_changes_meanwhile_bears_nothing(root: Path, oracle: Oracle) -> None:
    path = root / BUILDER / "retry.md"
    configure(root, f"open({str(path)!r}, 'a').write('x'); print('A claim [f1]. Another [f2].')")
    reply = ask(oracle)
    (left,) = reply.claims
    assert left.record.slug == f"{BUILDER}/queue"
    assert reply.synthesis is not None
    assert reply.synthesis.dropped == 1
    assert f"[{left.handle}]" in reply.synthesis.text


@pytest.mark.parametrize(
    "text",
    ["synthesizer = 3", "synthesizer = []", 'synthesizer = ["a", 1]', "synthesizer = [''", 'synthesizer = [" "]'],
)
def test_a_configuration_that_names_no_command_is_a_warning(root: Path, oracle: Oracle, text: str) -> None:
    write(root, "config.toml", text).chmod(0o600)
    assert ask(oracle).synthesis is None
    assert any("config.toml" in line for line in oracle.warnings)  # type: ignore[attr-defined]


def test_a_configuration_that_others_can_write_runs_nothing(root: Path, oracle: Oracle) -> None:
    speak(root, "Yes [f1].")
    (root / "config.toml").chmod(0o622)
    assert ask(oracle).synthesis is None
    assert any("by others" in line for line in oracle.warnings)  # type: ignore[attr-defined]


def test_one_word_is_a_command_too(root: Path, oracle: Oracle) -> None:
    write(root, "config.toml", 'synthesizer = "say"\n').chmod(0o600)
    trust(oracle)
    assert load_command(oracle.root, "synthesizer") == ("say",)
    assert ask(oracle).synthesis is not None
    assert any("can't be run" in line for line in oracle.warnings)  # type: ignore[attr-defined]


@pytest.mark.parametrize("said", ["\x00\xff", "[f1", "[f1]" * 50, "。[f1]。", "1. [f1]\n- [f2]", "."])
def test_whatever_it_says_is_read(root: Path, oracle: Oracle, said: str) -> None:
    speak(root, said)
    reply = ask(oracle)
    assert reply.synthesis is not None
    assert len(reply.claims) == 2


def test_an_untrusted_program_is_not_run(root: Path, oracle: Oracle) -> None:
    """A Root may come from elsewhere: the program runs only while config.toml is what its owner trusted."""
    speak(root, "Retries back off [f1].")
    assert ask(oracle).synthesis is not None
    with (root / "config.toml").open("a", encoding="utf-8") as stream:
        stream.write("# changed\n")
    assert ask(oracle).synthesis is None
    assert any("oracle config trust" in line for line in oracle.warnings)  # type: ignore[attr-defined]
