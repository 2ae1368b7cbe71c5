"""`oracle config`: what is listed, set and trusted."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from oracle.app.configuration import KEYS
from tests.cli.transcript import call


@pytest.fixture
def oracle(root: Path, monkeypatch: pytest.MonkeyPatch):
    (root / "projects").mkdir()
    monkeypatch.setenv("ORACLE_ROOT", str(root))
    return lambda *words: call(list(words), monkeypatch)


def test_every_setting_is_listed_with_its_default(oracle, root: Path):
    code, out, err = oracle("config", "list", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert tuple(item["key"] for item in found["settings"]) == KEYS
    assert not any(item["is_set"] for item in found["settings"])
    assert found["trusted"] is False


def test_a_change_keeps_the_rest_of_the_file(oracle, root: Path):
    path = root / "config.toml"
    path.write_text('# mine\nlanguage = "en" # spoken\n\n[other]\nkept = 1\n', encoding="utf-8")
    assert oracle("config", "set", "language", "zh")[0] == 0
    assert oracle("config", "set", "daemon.hold", "true")[0] == 0
    text = path.read_text(encoding="utf-8")
    assert "# mine" in text
    assert "# spoken" in text
    assert tomllib.loads(text) == {"language": "zh", "other": {"kept": 1}, "daemon": {"hold": True}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert oracle("config", "get", "daemon.hold")[1] == "true\n"
    path.write_text("\ufeffa = 1\n", encoding="utf-8")
    assert oracle("config", "set", "language", "zh")[0] == 0
    assert path.read_text(encoding="utf-8") == '\ufeffa = 1\nlanguage = "zh"\n'


@pytest.mark.parametrize(
    "words",
    [
        ("set", "language", "fr"),
        ("set", "daemon.hold", "maybe"),
        ("set", "daemon.seat_bound", "0"),
        ("set", "synthesizer", "[]"),
        ("set", "nothing", "1"),
        ("get", "nothing"),
        ("trust",),
    ],
)
def test_what_is_wrong_changes_nothing(oracle, root: Path, words: tuple[str, ...]):
    code, out, err = oracle("config", *words)
    assert (code, out) == (2, "")
    assert "hint:" in err
    assert not (root / "config.toml").exists()


def test_a_file_that_cannot_be_read_is_left_alone(oracle, root: Path):
    (root / "config.toml").write_text("language = \n", encoding="utf-8")
    assert oracle("config", "set", "language", "zh")[0] == 2
    assert (root / "config.toml").read_text(encoding="utf-8") == "language = \n"


def test_trust_holds_for_the_content_alone(oracle, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    code, _, err = oracle("config", "set", "synthesizer", '["cat"]')
    assert (code, "oracle config trust" in err) == (0, True)
    assert oracle("config", "trust")[0] == 0
    assert json.loads(oracle("config", "list", "--json")[1])["trusted"] is True
    oracle("config", "set", "language", "zh")
    assert json.loads(oracle("config", "list", "--json", "--lang", "en")[1])["trusted"] is False


def test_what_the_owner_trusts_is_trusted_in_the_sandbox_of_an_agent(
    oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "owner"))
    oracle("config", "set", "synthesizer", '["cat"]')
    assert oracle("config", "trust")[0] == 0
    monkeypatch.setenv("CLAWSEAT_REAL_HOME", str(tmp_path / "owner"))
    monkeypatch.setenv("HOME", str(tmp_path / "sandbox"))
    assert json.loads(oracle("config", "list", "--json")[1])["trusted"] is True


@pytest.mark.parametrize("name", ["trusted.json", "."])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_a_list_that_others_may_write_trusts_nothing(
    oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: int
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    oracle("config", "set", "synthesizer", '["cat"]')
    assert oracle("config", "trust")[0] == 0
    place = tmp_path / "state" / "memory-oracle" / name
    place.chmod(place.stat().st_mode | mode)
    code, out, err = oracle("config", "list", "--json", "--lang", "en")
    assert (code, json.loads(out)["trusted"], "others may write it" in err, "chmod go-w" in err) == (
        0,
        False,
        True,
        True,
    )
    code, _, err = oracle("config", "trust", "--lang", "en")
    assert (code, "others may write it" in err, "chmod go-w" in err) == (5, True, True)
    place.chmod(place.stat().st_mode & ~mode)
    assert json.loads(oracle("config", "list", "--json")[1])["trusted"] is True


BROKEN = {
    "no TOML": ('language = "zh\n', "config.toml: The configuration can't be read: "),
    "no file": (None, "config.toml: The configuration is not a regular file."),
    "unknown key": ("langauge = 'zh'\n", "config.toml: Unknown setting 'langauge'. The settings are language, "),
    "wrong type": ("language = 5\n", "config.toml: Unknown language '5'. Choose one of auto, zh, en."),
}


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize(
    "words", [("list",), ("search", "retry"), ("ask", "--now", "retry"), ("handoffs",)], ids=" ".join
)
def test_a_command_says_once_what_is_wrong_with_the_settings_and_goes_on(
    oracle, root: Path, text: str | None, told: str, words: tuple[str, ...]
):
    code, out, err = oracle(*words)
    if text is None:
        (root / "config.toml").mkdir()
    else:
        (root / "config.toml").write_text(text, encoding="utf-8")
    found = oracle(*words)
    (line,) = [line for line in found[2].splitlines(keepends=True) if "config.toml" in line]
    assert line.startswith(f"warning: {told}")
    assert (*found[:2], found[2].replace(line, "")) == (code, out, err)
    assert "config.toml" not in oracle("--lang", "en", "list")[2], "who does not read it says nothing of it"


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("more", [(), ("--json",), ("--lang", "en")], ids=" ".join)
def test_the_doctor_says_once_what_is_wrong_with_the_settings(
    oracle, root: Path, text: str | None, told: str, more: tuple[str, ...]
):
    if text is None:
        (root / "config.toml").mkdir()
    else:
        (root / "config.toml").write_text(text, encoding="utf-8")
    said = told.removeprefix("config.toml: ").partition(". ")[0]
    _, out, err = oracle("doctor", *more)
    assert (out.count(said), err.count("config.toml")) == (1, 0)
    assert oracle("--memory-dir", str(root), "doctor", *more)[1:] == (out, err)
    assert oracle("search", "doctor")[2].count(said) == 1


@pytest.mark.parametrize(
    "words", [("skill", "list"), ("config", "list"), ("config", "set", "language", "zh")], ids=" ".join
)
def test_a_command_that_needs_the_settings_is_refused_and_says_once_why(oracle, root: Path, words: tuple[str, ...]):
    path = root / "config.toml"
    path.write_text("[skills\n", encoding="utf-8")
    code, out, err = oracle(*words)
    assert (code, out, err.count("config.toml")) == (2, "", 1)
    assert path.read_text(encoding="utf-8") == "[skills\n"


def test_the_listing_names_each_value_that_counts_for_nothing(oracle, root: Path):
    (root / "config.toml").write_text("a = 1\n[experience]\nlimit = 'x'\n[injection]\nmemory = 1\n", encoding="utf-8")
    code, out, err = oracle("config", "list")
    assert (code, bool(out)) == (0, True)
    for told in ("Unknown setting 'a'.", "experience.limit = 'x' is not valid.", "injection.memory = 1 is not valid."):
        assert err.count(told) == 1
