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
