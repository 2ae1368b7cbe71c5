"""The guard stands before every record, wake-up and notice, and before a commit; it names rule and place, never the value."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app import guard
from oracle.app.delivery.panes import Notice, notify
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.safety.privacy import PERSONAL_RULES
from oracle.domain.safety.telling import PERSONAL, tell_replaced
from oracle.errors import NotFound, PrivacyBlocked, RulesUnusable, SecretFound, UsageError
from oracle.wording import say
from tests.app.gitbox import GitBox
from tests.app.squad import Squad

TOKEN = "gh" + "p_" + "q7Rk2Zp9Lx4V" * 3


def state(root: str, text: str) -> None:
    folder = Path(root) / "machine"
    folder.mkdir(exist_ok=True)
    (folder / "privacy.md").write_text(text, encoding="utf-8")


@pytest.fixture
def oracle(root: Path) -> Oracle:
    opened = Oracle.open(str(root))
    opened.init()
    return opened


# Records --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draft",
    [
        Draft("decision", "arena", "About lotus"),
        Draft("decision", "arena", "One", body="two\nlotus"),
        Draft("finding", "arena", "One", evidence=(Evidence("high", "src/lotus.py"),)),
        Draft("decision", "arena", "One", author="lotus"),
        Draft("decision", "arena", "One", extra={"note": {"deep": ["lotus"]}}),
        Draft("decision", "arena", "One", extra={"lotus": "x"}),
    ],
)
@pytest.mark.parametrize("policy", ["refuse", "allow"])
def test_what_the_owner_blocks_is_not_written_in_any_field(oracle: Oracle, draft: Draft, policy: str) -> None:
    state(oracle.root.path, "BLOCK: lotus\n")
    with pytest.raises(PrivacyBlocked, match=r"privacy\.md:1 blocks, in") as caught:
        oracle.write(draft, secrets=policy)
    assert "lotus" not in str(caught.value)
    assert list(Path(oracle.root.path).glob("projects/*/*/*.md")) == []


WRITTEN = {
    "in small letters": "we met zebra corp today",
    "in capitals": "ZEBRA CORP",
    "in full width": "Ｚｅｂｒａ Ｃｏｒｐ",
    "with another blank": "Zebra\u3000Corp",
    "with two blanks": "Zebra  Corp",
    "over two lines": "Zebra\nCorp",
    "with an invisible character": "Ze\u200bbra Corp",
    "with emphasis": "**Zebra** Corp",
    "as the name of a file": "see src/zebra_corp/a.py",
    "as a link": "[[zebra-corp]]",
    "in one word": "class ZebraCorp",
    "in a URL": "https://x.org/?q=Zebra%20Corp",
    "in escapes of JSON": "\\u005aebra Corp",
    "in references of HTML": "&#90;ebra&nbsp;Corp",
    "in Base64": base64.b64encode(b"We met Zebra Corp today.").decode(),
    "in hexadecimal": b"We met Zebra Corp today.".hex(),
}


@pytest.mark.parametrize("rule", ["BLOCK: Zebra Corp", "- Zebra Corp", "* `zebra corp`"])
@pytest.mark.parametrize("writing", WRITTEN)
def test_a_blocked_text_is_found_however_it_is_written(oracle: Oracle, rule: str, writing: str) -> None:
    state(oracle.root.path, f"{rule}\n")
    text = WRITTEN[writing]
    for draft in (Draft("decision", "arena", "One", body=text), Draft("decision", "arena", text, body="Two.")):
        with pytest.raises(PrivacyBlocked):
            oracle.write(draft)
    written = Path(oracle.write(Draft("decision", "arena", "One", body=f"a {text} b"), secrets="redact").path)
    assert text not in written.read_text(encoding="utf-8")
    assert "[REDACTED:blocked]" in written.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["zebra corporate-wide", "a zebra and a corp", "[A-Z]{3}-1 is abc-1"])
def test_an_expression_is_matched_as_it_is_written(oracle: Oracle, text: str) -> None:
    state(oracle.root.path, "BLOCK: Zebra Corp\\b\nBLOCK: [A-Z]{3}-1\\b\n")
    assert oracle.write(Draft("decision", "arena", "One", body=text)).slug


def test_the_name_of_a_project_may_be_blocked(oracle: Oracle) -> None:
    state(oracle.root.path, "BLOCK: Zebra Corp\n")
    with pytest.raises(PrivacyBlocked):
        oracle.write(Draft("decision", "zebra-corp", "One", body="Two."))


def test_what_is_blocked_is_replaced_when_it_may_be(oracle: Oracle) -> None:
    state(oracle.root.path, "- lotus*\n")
    written = oracle.write(Draft("decision", "arena", "One", body=f"Lotus-7 and {TOKEN}"), secrets="redact")
    text = Path(written.path).read_text(encoding="utf-8")
    assert "[REDACTED:blocked] and [REDACTED:github-token]" in text
    assert set(written.redacted) == {"privacy.md:1 in body", "github-token in body"}
    assert tell_replaced(written.redacted, again=say("What to do.")) == [
        "Taken out: a token or key in a format of its own (github-token) in the field body. [REDACTED:github-token] is "
        "in its place now.",
        "Taken out: what privacy.md:1 blocks, in the field body. [REDACTED:blocked] is in its place now.",
        "What to do.",
    ]
    assert tell_replaced((), again=say("What to do.")) == []


def test_a_secret_is_still_one_and_allow_is_for_it(oracle: Oracle) -> None:
    state(oracle.root.path, "BLOCK: lotus\n")
    draft = Draft("decision", "arena", "One", body=TOKEN)
    with pytest.raises(SecretFound) as caught:
        oracle.write(draft)
    assert caught.value.code == "secret_found"
    assert TOKEN in Path(oracle.write(draft, secrets="allow").path).read_text(encoding="utf-8")


def test_personal_data_is_written_with_a_warning_that_names_the_place(oracle: Oracle) -> None:
    draft = Draft("decision", "arena", "One", body="a\nAsk zhang@corp.cn.", author="li@corp.cn")
    written = oracle.write(draft)
    assert sorted(written.warnings) == [
        "personal data: a mail address in line 1 of the field author",
        "personal data: a mail address in line 2 of the field body",
    ]
    assert set(PERSONAL) == set(PERSONAL_RULES)
    assert not any("zhang" in warning for warning in written.warnings)


@pytest.mark.parametrize("rules", ["ok\nBLOCK: (\n", "ok\nBLOCK lotus\n", "ok\n```\n- lotus\n"])
def test_rules_that_can_not_be_used_let_no_record_through(oracle: Oracle, rules: str) -> None:
    state(oracle.root.path, rules)
    with pytest.raises(RulesUnusable, match=r"machine/privacy\.md:2 "):
        oracle.write(Draft("decision", "arena", "One"))


# What is typed --------------------------------------------------------------------------------------------------------


def test_a_wake_up_with_what_is_blocked_is_not_sent(squad: Squad) -> None:
    squad.recorder.away.add("builder")
    squad.ask("T-LOTUS", target="builder")
    squad.recorder.away.clear()
    state(squad.oracle.root.path, "BLOCK: T-LOTUS\n")
    squad.open(3600).resume()
    assert squad.recorder.lines() == []
    with pytest.raises(PrivacyBlocked, match=r"privacy\.md:1 blocks, in the field task_id"):
        squad.ask("T-LOTUS", target="planner", source="memory")
    squad.ask("T-2", target="planner", source="memory")
    assert [task for _, task in squad.recorder.woken()] == ["T-2"]


def test_a_wake_up_waits_while_the_rules_can_not_be_used(squad: Squad) -> None:
    squad.recorder.away.add("builder")
    squad.ask("T-1", target="builder")
    squad.recorder.away.clear()
    state(squad.oracle.root.path, "BLOCK: (\n")
    squad.open(3600).resume()
    assert squad.recorder.lines() == []
    state(squad.oracle.root.path, "")
    squad.open(7200).resume()
    assert [task for _, task in squad.recorder.woken()] == ["T-1"]


@pytest.mark.parametrize("message", [f"use {TOKEN}", "about lotus"])
def test_a_notice_with_what_must_not_leave_is_refused_and_kept_nowhere(squad: Squad, message: str) -> None:
    state(squad.oracle.root.path, "BLOCK: lotus\n")
    with pytest.raises(PrivacyBlocked):
        notify(squad.oracle, Notice("demo", "planner", "builder", message, task_id="T1"))
    assert squad.recorder.lines() == []
    kept = [path for path in squad.home.rglob("*") if path.is_file() and path.name != "privacy.md"]
    assert [path for path in kept if message.encode() in path.read_bytes()] == []


# Before a commit and a question ---------------------------------------------------------------------------------------


def test_what_the_next_commit_adds_is_looked_at_line_by_line(oracle: Oracle, tmp_path: Path) -> None:
    state(oracle.root.path, "BLOCK: lotus\n")
    box = GitBox(tmp_path / "box")
    box.write("old.md", "lotus stays\nx\n")
    box.write("gone.md", "lotus goes\n")
    box.commit()
    (box.folder / "gone.md").unlink()
    box.write("old.md", f"lotus stays\nx\ny\nkey = {TOKEN}\n")
    box.write("sub/new 名.md", "one\n++ b/fake lotus\nAsk zhang@corp.cn\n")
    box.write("lotus.bin", "\0\n")
    box.git("add", "-A")
    box.write("old.md", "not staged: lotus\n")
    found = guard.check_staged(oracle, str(box.folder))
    assert sorted((one.rule, one.where) for one in found) == [
        ("github-token", "old.md:4:7"),
        ("mail", "sub/new 名.md:3:5"),
        ("privacy.md:1", "(a path):1:1"),
        ("privacy.md:1", "sub/new 名.md:2:11"),
    ]
    with pytest.raises(UsageError):
        guard.check_staged(oracle, str(tmp_path))


def test_a_text_and_a_file_are_looked_at_alike(oracle: Oracle, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"x\n{TOKEN}\n")
    assert [one.where for one in guard.check_text(oracle, f"x\n{TOKEN}\n")] == ["text:2:1"]
    assert [one.where for one in guard.check_file(oracle, str(tmp_path / "a.md"))] == [f"{tmp_path}/a.md:2:1"]
    (tmp_path / "b.bin").write_bytes(b"\0")
    with pytest.raises(UsageError):
        guard.check_file(oracle, str(tmp_path / "b.bin"))
    with pytest.raises(UsageError):
        guard.check_file(oracle, str(tmp_path))
    with pytest.raises(NotFound):
        guard.check_file(oracle, str(tmp_path / "none"))
