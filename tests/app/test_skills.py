"""The skills of a workspace on disk: where they come from, which counts, and that nothing leads out of its root."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.skills import catalogue, scan
from oracle.app.skills.catalogue import Skills, list_skills, match, show
from oracle.domain.skills.skill import LARGEST, SOURCES
from oracle.errors import NotFound, UsageError


@pytest.fixture
def oracle(root: Path) -> Iterator[Oracle]:
    with Oracle.open(str(root)) as opened:
        opened.init()
        yield opened


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def put(folder: Path, name: str, description: str = "", body: str = "Steps.") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "SKILL.md"
    path.write_text(f"---\nname: {name}\ndescription: {description or name}\n---\n{body}\n", encoding="utf-8")
    return path


def own(found: Skills) -> dict[str, str]:
    """Return the source of each visible skill that this program did not bring."""
    return {skill.name: skill.source for skill in found.visible if skill.name != "memory-oracle"}


def places(workspace: Path, extra: Path) -> dict[str, Path]:
    home = Path.home()
    return {
        "extra": extra,
        "managed": home / ".openclaw/skills",
        "personal": home / ".agents/skills",
        "project": workspace / ".agents/skills",
        "workspace": workspace / "skills",
    }


def test_the_nearest_of_several_skills_of_one_name_counts(oracle: Oracle, workspace: Path, tmp_path: Path) -> None:
    found = places(workspace, tmp_path / "extra")
    assert [*found] == [source for source in SOURCES if source != "bundled"]
    for source, folder in found.items():
        put(folder / "deploy", "deploy", f"Of {source}.")
        listed = list_skills(oracle, str(workspace), extra=[str(tmp_path / "extra")])
        assert own(listed) == {"deploy": source}
        assert next(item.replaced_by for item in listed.items if item.skill.name == "deploy") == ""
    assert len([item for item in listed.items if item.replaced_by == "workspace"]) == len(found) - 1


@pytest.mark.parametrize("folder", [".claude/skills", ".agents/skills"])
def test_the_folders_of_both_hosts_are_read(oracle: Oracle, workspace: Path, folder: str) -> None:
    put(workspace / folder / "one", "one")
    put(Path.home() / folder / "two", "two")
    assert own(list_skills(oracle, str(workspace))) == {"one": "project", "two": "personal"}


def test_the_program_brings_its_own_skill(oracle: Oracle, workspace: Path) -> None:
    [item] = list_skills(oracle, str(workspace)).items
    assert (item.skill.name, item.skill.source, item.is_visible) == ("memory-oracle", "bundled", True)


def test_a_root_is_a_skill_or_holds_skills(oracle: Oracle, workspace: Path, tmp_path: Path) -> None:
    put(tmp_path / "single", "single")
    put(tmp_path / "single" / "inner", "inner")
    put(tmp_path / "several" / "one", "one")
    put(tmp_path / "several" / ".hidden", "hidden")
    put(tmp_path / "several" / "deep" / "two", "two")
    (tmp_path / "several" / "empty").mkdir()
    found = list_skills(oracle, str(workspace), extra=[str(tmp_path / "single"), str(tmp_path / "several")])
    assert own(found) == {"single": "extra", "one": "extra"}


def test_a_skill_larger_than_the_cap_is_left_out_and_named(oracle: Oracle, workspace: Path) -> None:
    put(workspace / "skills/large", "large", body="x" * LARGEST)
    head = len("---\nname: just\ndescription: just\n---\n\n")
    put(workspace / "skills/just", "just", body="x" * (LARGEST - head))
    found = list_skills(oracle, str(workspace))
    assert own(found) == {"just": "workspace"}
    assert ["large/SKILL.md is larger than 256 KiB" in sentence for sentence in found.problems] == [True]


@pytest.mark.parametrize("shape", ["file", "folder", "chain"])
def test_a_link_out_of_the_root_is_left_out_and_named(
    oracle: Oracle, workspace: Path, tmp_path: Path, shape: str
) -> None:
    secret = put(tmp_path / "outside", "outside")
    skills = workspace / "skills"
    put(skills / "inside", "inside")
    if shape == "folder":
        (skills / "bad").symlink_to(secret.parent)
    else:
        (skills / "bad").mkdir()
        middle = skills / "bad" / "middle"
        if shape == "chain":
            middle.symlink_to(secret)
        (skills / "bad" / "SKILL.md").symlink_to(middle if shape == "chain" else secret)
    (skills / "again").symlink_to(skills / "inside")
    found = list_skills(oracle, str(workspace))
    assert own(found) == {"inside": "workspace"}
    assert ["leads out of" in sentence for sentence in found.problems] == [True]


def test_a_skill_that_became_a_link_is_not_read(oracle: Oracle, workspace: Path, tmp_path: Path) -> None:
    path = put(workspace / "skills/deploy", "deploy")
    found = list_skills(oracle, str(workspace))
    assert show(found, "deploy")[1] == path.read_text("utf-8")
    path.unlink()
    path.symlink_to(put(tmp_path / "outside", "outside"))
    with pytest.raises(UsageError, match="leads out of"):
        show(found, "deploy")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UsageError, match="is not a regular file"):
        show(found, "deploy")
    path.unlink()
    with pytest.raises(UsageError, match="can't be read"):
        show(found, "deploy")
    with pytest.raises(NotFound, match="no skill 'other'"):
        show(found, "other")


@pytest.mark.parametrize(
    "kind", ["folder", "filled folder", "pipe", "socket", "device", "unreadable", "link to a folder"]
)
def test_what_is_no_plain_file_is_left_out_and_named(
    oracle: Oracle, workspace: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(workspace / "skills" / "good", "good")
    path = workspace / "skills" / "odd" / "SKILL.md"
    path.parent.mkdir()
    if "folder" in kind:
        folder = path if "link" not in kind else path.with_name("elsewhere")
        folder.mkdir()
        if kind == "filled folder":
            put(folder, "inner")
        if folder != path:
            path.symlink_to(folder)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        monkeypatch.chdir(path.parent)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    elif kind == "device":  # only root may make one, so a plain file is opened as the terminal's
        put(path.parent, "odd")
        real = os.open
        monkeypatch.setattr(os, "open", lambda name, *rest, **more: real(_device(name, path), *rest, **more))
    else:
        put(path.parent, "odd")
        monkeypatch.setattr(os, "open", _refuse(os.open, path))
    found = list_skills(oracle, str(workspace))
    assert own(found) == {"good": "workspace"}
    assert [str(path) in problem for problem in found.problems] == [True]
    assert match(found, "/good").skill is not None


def _device(name: str, path: Path) -> str:
    return os.devnull if name == str(path) else name


def _refuse(real: Callable[..., int], path: Path) -> Callable[..., int]:
    """Return an `open` that fails for a file, as on a broken disk."""

    def refuse(name: str, *rest: int, **more: int) -> int:
        if name == str(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(name, *rest, **more)

    return refuse


def test_a_file_that_changes_while_it_is_opened_is_not_read(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(workspace / "skills/deploy", "deploy")
    other = put(workspace / "skills/other", "other")
    really = os.open

    def swap(name: str, *rest: int, **more: int) -> int:
        handle = really(name, *rest, **more)
        other.replace(path)
        return handle

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(UsageError, match="changed while it was opened"):
        scan.read(str(path), str(workspace / "skills"))


def test_settings_of_the_root_and_of_openclaw_hold_skills_back(oracle: Oracle, workspace: Path, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        put(workspace / "skills" / name, name)
    put(tmp_path / "more" / "four", "four")
    Path(oracle.root.join("config.toml")).write_text('[skills]\ndisabled = ["one"]\n', encoding="utf-8")
    place = Path(oracle.root.home) / ".openclaw/openclaw.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    entries = {"two": {"enabled": False}, "three": {"enabled": True}}
    stated = {"entries": entries, "allowBundled": ["other"], "load": {"extraDirs": [str(tmp_path / "more")]}}
    place.write_text(json.dumps({"skills": stated}), encoding="utf-8")
    found = list_skills(oracle, str(workspace))
    assert {skill.name for skill in found.visible} == {"three", "four"}
    place.write_text("{ // comments\n}", encoding="utf-8")
    found = list_skills(oracle, str(workspace))
    assert {skill.name for skill in found.visible} == {"two", "three", "memory-oracle"}
    assert ["not a JSON object" in sentence for sentence in found.problems] == [True]


@pytest.mark.parametrize(
    "text", ["skills = 1", "[skills]\nextra = 'x'", "[skills]\nmore = []", "[skills]\ndisabled = [1]"]
)
def test_settings_that_mean_nothing_are_refused(oracle: Oracle, workspace: Path, text: str) -> None:
    Path(oracle.root.join("config.toml")).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="skills"):
        list_skills(oracle, str(workspace))
    assert any("skills" in check.detail for check in oracle.doctor() if check.name == "settings")


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("Deploy the shop to staging", "deploy"),
        ("Please run /review on this", "review"),
        ("use $translate here", "translate"),
        ("Translate the letter into German", "translate"),
        ("部署商店到预发环境", "deploy-zh"),
        ("What is the weather like?", None),
        ("Check the code and the pull request of the parser", "review"),
        ("report the numbers of the month", None),
        ("", None),
    ],
)
def test_one_skill_fits_a_request_or_none(oracle: Oracle, workspace: Path, request_: str, wanted: str | None) -> None:
    skills = workspace / "skills"
    put(skills / "deploy", "deploy", "Deploy the shop to staging or production.")
    put(skills / "deploy-zh", "deploy-zh", "把商店部署到预发环境或生产环境。")
    put(skills / "review", "review", "Review a pull request: check the code, its tests and its words.")
    put(skills / "translate", "translate", "Translate letters into German or French.")
    put(skills / "report-a", "report-a", "Report the numbers of the month to sales.")
    put(skills / "report-b", "report-b", "Report the numbers of the month to finance.")
    found = match(list_skills(oracle, str(workspace)), request_)
    assert (found.skill.name if found.skill else None) == wanted
    assert found.reason


def test_a_hidden_skill_is_listed_and_neither_printed_nor_matched(oracle: Oracle, workspace: Path) -> None:
    path = put(workspace / "skills/secret", "secret", "Deploy the shop.")
    path.write_text(path.read_text("utf-8").replace("---\n", "---\ndisable-model-invocation: true\n", 1), "utf-8")
    found = list_skills(oracle, str(workspace))
    assert "secret" in [item.skill.name for item in found.items]
    assert "secret" not in catalogue.prompt(found).text
    assert match(found, "Deploy the shop /secret").skill is None
    assert show(found, "secret")[0].is_visible is False
